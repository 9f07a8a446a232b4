# SPDX-License-Identifier: GPL-2.0
"""Lanes that run beside others, with a check.py that is none."""

import os
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path
from unittest import mock

import check
from checks import beside

# Writes a case into the file that it is given, or does what its lane's name says.
CHECK = """
    import json, os, pathlib, sys, time
    file, name = sys.argv[1].partition("=")[2], sys.argv[2]
    print("begun", flush=True)
    if name == "nice":
        print(os.nice(0), flush=True)
    if name == "dies":
        sys.exit(3)
    if name == "lasts":
        time.sleep(60)
    if name == "works":
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
    pathlib.Path(file).write_text(json.dumps([["a", "passed", ""], [name, "failed", "why"]]))
"""


class Run(unittest.TestCase):
    """Lanes that run, end, and are ended."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "check.py").write_text(textwrap.dedent(CHECK))
        for name, value in ("LOGS", self.folder), ("layout.TOP", self.folder):
            patch = mock.patch(f"checks.beside.{name}", value)
            patch.start()
            self.addCleanup(patch.stop)
        self.said = []

    def start(self, *names, nice=0):
        return beside.Beside(names, self.said.append, (sys.executable, self.folder / "check.py"),
                             nice)

    def test_their_cases_are_those_that_they_leave(self):
        cases, (seconds, cpu) = self.start("works").wait()["works"]
        self.assertEqual([(case.name, case.status, case.why) for case in cases],
                         [("a", "passed", ""), ("works", "failed", "why")])
        self.assertGreaterEqual(cpu, 0.2)
        self.assertGreaterEqual(seconds, 0.2)

    def test_one_after_the_other_and_each_line_has_its_lane(self):
        run = self.start("one", "two")
        self.assertEqual(list(run.wait()), ["one", "two"])
        self.assertEqual(self.said, ["one: begun\n", "two: begun\n"])
        self.assertEqual(run.cpu, sum(took[1] for _, took in run.results.values()))

    def test_a_row_has_its_priority(self):
        with mock.patch.object(beside.priority, "of_session") as session:
            self.start("nice", nice=3).wait()
        # These tests may be in a row of the lowest priority themselves.
        self.assertEqual(self.said[1:], [f"nice: {min(os.nice(0) + 3, beside.LAST)}\n"])
        self.assertEqual(session.call_args[0][1], 3)

    def test_one_that_leaves_no_cases_has_failed(self):
        cases, _ = self.start("dies", "next").wait()["dies"]
        self.assertEqual([case.status for case in cases], ["failed"])
        self.assertIn("status 3", cases[0].name)

    def test_cases_of_an_earlier_run_do_not_count(self):
        (self.folder / "cases-dies.json").write_text('[["old", "passed", ""]]')
        self.assertEqual(self.start("dies").wait()["dies"][0][0].status, "failed")

    def test_who_stops_them_does_not_wait_for_their_end(self):
        begun = time.monotonic()
        run = self.start("lasts", "next")
        while not self.said:
            time.sleep(0.01)
        run.stop()
        self.assertLess(time.monotonic() - begun, 30)
        self.assertEqual([case.status for name in ("lasts", "next")
                          for case in run.results[name][0]], ["failed", "failed"])


class Chosen(unittest.TestCase):
    """Which lanes run beside others."""

    def test_those_without_a_guest_if_there_is_another(self):
        self.assertEqual(beside.split(["harness", "ring", "um", "lint"]),
                         (["um"], [["harness", "lint"], ["ring"]]))

    def test_none_of_a_row_if_there_is_no_other(self):
        self.assertEqual(beside.split(["harness", "lint"]), (["harness", "lint"], []))
        self.assertEqual(beside.split([]), ([], []))

    def test_without_a_guest_one_row_is_beside_the_other(self):
        self.assertEqual(beside.split(["series", "harness", "docs"]),
                         (["harness", "docs"], [["series"]]))

    def test_those_in_qemu_beside_those_in_user_mode_linux(self):
        self.assertEqual(beside.split(["docs", "um", "um-6.18", "x86-64", "crash-x86-64"]),
                         (["um", "um-6.18"], [["x86-64", "crash-x86-64"], ["docs"]]))

    def test_long_lanes_run_alone(self):
        self.assertEqual(beside.split(["um", "x86-64", "um-long"]),
                         (["um", "x86-64", "um-long"], []))

    def test_all_are_lanes_of_make_check(self):
        known = {*beside.LANES, *beside.USER_MODE, *beside.EMULATED}
        self.assertEqual(known, set(check.LANES))

    def test_each_lane_has_its_results_in_the_order_that_was_asked_for(self):
        with mock.patch.object(beside, "start"), \
                mock.patch.object(check, "run_lane", return_value=([], (1, 1))), \
                mock.patch.object(beside, "wait", return_value={"harness": ([], (2, 2))}):
            self.assertEqual(list(check.run_lanes(["harness", "um"], True)), ["harness", "um"])


if __name__ == "__main__":
    unittest.main()
