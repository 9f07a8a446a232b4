# SPDX-License-Identifier: GPL-2.0
"""Kernels built ahead of their lanes."""

import contextlib
import io
import os
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from checks import ahead
from checks.lane import LaneError


class Ahead(unittest.TestCase):
    """With a shell's command in the place of what builds a kernel."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        logs = mock.patch.object(ahead, "LOGS", self.folder)
        logs.start()
        self.addCleanup(logs.stop)

    def builder(self, names, script):
        """A Builder of what the shell does for the kernel "$1"."""
        builder = ahead.Builder(names, ("sh", "-c", script, "sh"))
        self.addCleanup(builder.stop)
        return builder

    def wait(self, builder, name):
        """The output of the wait for a kernel."""
        with contextlib.redirect_stdout(io.StringIO()) as said:
            builder.wait(name)
        return said.getvalue()

    def test_one_after_the_other_and_waited_for(self):
        place = self.folder / "made"
        builder = self.builder(["a", "b"], f"sleep 0.2; echo $1 >> {place}")
        self.assertIn("Waiting for the kernel of lane b", self.wait(builder, "b"))
        self.assertEqual(place.read_text(), "a\nb\n")
        self.assertEqual(self.wait(builder, "a"), "")

    def test_a_sign_of_life_while_waiting(self):
        # Each is built until what was to be said of it has been said.
        builder = self.builder(["a", "b"], f"""
            echo 9 files of $1
            for i in $(seq 1000); do
                grep -qs $1 {self.folder}/seen && exit
                sleep 0.01
            done
            exit 1""")
        told = {"    not begun": "a", "9 files of b": "b"}

        def show(line, **_):
            with open(self.folder / "seen", "a") as seen:
                print(told.get(line, ""), file=seen)

        with mock.patch.object(ahead, "PATIENCE", 0.05), \
                mock.patch.object(ahead, "print", show, create=True):
            self.wait(builder, "b")
        self.assertEqual(builder.status, {"a": 0, "b": 0})

    @unittest.skipIf(os.getuid(), "only root gives a process more of the processors")
    def test_a_lane_that_waits_gives_its_priority(self):
        builder = self.builder(["a", "b"], f"""
            renice -n 5 -p $$ > /dev/null
            for i in $(seq 500); do
                sleep 0.02
                [ $(nice) = 5 ] || break
            done
            echo $1 $(nice) >> {self.folder}/made""")
        with mock.patch.object(ahead, "PATIENCE", 0.05):
            self.wait(builder, "b")
        mine = os.getpriority(os.PRIO_PROCESS, 0)
        self.assertEqual((self.folder / "made").read_text(), f"a {mine}\nb {mine}\n")

    def test_what_is_not_built_ahead_is_not_waited_for(self):
        self.assertEqual(self.wait(self.builder(["a"], "sleep 60"), "other"), "")

    def test_a_failure_is_the_failure_of_the_lane_that_waits(self):
        builder = self.builder(["a", "b"], 'echo "no compiler for $1"; [ $1 = b ]')
        with self.assertRaisesRegex(LaneError, r"lane a .*\(1\):\nno compiler for a"):
            self.wait(builder, "a")
        self.wait(builder, "b")

    def test_a_command_that_is_not_there_is_a_failure(self):
        builder = ahead.Builder(["a"], (self.folder / "nothing",))
        with self.assertRaisesRegex(LaneError, "No such file"):
            self.wait(builder, "a")

    def test_stopping_ends_it_and_what_was_to_come(self):
        place = self.folder / "made"
        builder = self.builder(["a", "b"], f"echo $1 >> {place}; sleep 60")
        while not place.exists():
            time.sleep(0.01)
        start = time.monotonic()
        builder.stop()
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(place.read_text(), "a\n")
        with self.assertRaisesRegex(LaneError, "stopped"):
            self.wait(builder, "b")

    def test_the_first_lane_does_not_wait_for_what_it_needs_at_once(self):
        with mock.patch.object(ahead, "Builder") as built:
            ahead.start(["x86-64"])
            ahead.start(["um", "x86-64"])
        self.assertEqual([call.args for call in built.call_args_list],
                         [([],), (["x86-64"],)])

    def test_a_lane_may_need_several(self):
        with mock.patch.object(ahead, "Builder") as built, \
                mock.patch.dict(ahead.KERNELS, {"layers": (["low", "core"], None)}):
            ahead.start(["um", "layers", "x86-64"])
        self.assertEqual(built.call_args.args,
                         (["low", "core", *ahead.KERNELS["x86-64"][0]],))

    def test_a_kernel_of_another_base_is_built_for_it(self):
        place = self.folder / "made"
        builder = self.builder(["9.9/a", "a"], f"echo $1 $ETCH_BASE >> {place}")
        self.wait(builder, "a")
        self.assertEqual(place.read_text(), f"a 9.9\na {ahead.layout.BASE}\n")
        self.assertTrue((self.folder / "ahead-9.9-a.log").exists())

    def test_what_a_function_fetches(self):
        fetch = mock.Mock(side_effect=[None, LaneError("no source")])
        with mock.patch.dict(ahead.KERNELS, {"um-9.9": (["9.9/um"], fetch)}), \
                mock.patch.object(ahead, "Builder") as built:
            ahead.start(["um", "um-9.9"])
            ahead.start(["um", "um-9.9"])
        self.assertEqual([call.args for call in built.call_args_list], [(["9.9/um"],), ([],)])

    def test_what_several_need_is_fetched_once(self):
        fetch = mock.Mock()
        with mock.patch.dict(ahead.KERNELS, {f"{name}-9.9": ([f"9.9/{name}"], fetch)
                                             for name in ("um", "x86-64")}), \
                mock.patch.object(ahead, "Builder") as built:
            ahead.start(["um", "um-9.9", "x86-64-9.9"])
        fetch.assert_called_once_with()
        self.assertEqual(built.call_args.args, (["9.9/um", "9.9/x86-64"],))

    def test_what_cannot_be_fetched_is_left_to_its_lane(self):
        with mock.patch.object(ahead, "need", side_effect=LaneError("no packages")), \
                mock.patch.object(ahead, "Builder") as built:
            ahead.start(["um", "x86-64", "arm64-bare"])
        self.assertEqual(built.call_args.args, (["x86-64"],))
