# SPDX-License-Identifier: GPL-2.0
"""The table at the end of make check."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check
import machine
import tap
from checks import guests
from checks.lane import LaneError


class Table(unittest.TestCase):
    """What it says of lanes."""

    def table(self, cases):
        """Its lines, for one lane with these cases."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            check.table({"um": (cases, (12.3, 20.4))}, (45.6, 70.8))
        return out.getvalue().splitlines()

    def test_counts(self):
        lines = self.table([tap.Case("a", "passed"), tap.Case("b", "passed"),
                            tap.Case("c", "failed"), tap.Case("d", "skipped", "no disk")])
        self.assertEqual(["lane", "tests", "passed", "failed", "skipped", "seconds",
                          "CPU", "s"],
                         lines[1].split())
        self.assertEqual(["um", "4", "2", "1", "1", "12", "20"], lines[2].split())
        self.assertEqual(["all", "4", "2", "1", "1", "46", "71"], lines[3].split())

    def test_says_why_once(self):
        lines = self.table([tap.Case("a", "skipped", "no disk"),
                            tap.Case("b", "skipped", "no disk"),
                            tap.Case("c", "skipped")])
        self.assertIn("### um: 2 skipped: no disk", lines)
        self.assertIn("### um: 1 skipped: it is not said why", lines)

    def test_names_lanes_that_were_not_run(self):
        last = self.table([])[-1]
        self.assertTrue(last.startswith("### NOT run: "))
        self.assertIn("arm64", last.split())
        self.assertNotIn("um", last.split())

    def test_names_what_was_skipped_everywhere(self):
        results = {name: ([tap.Case("a", "skipped", "no disk"), tap.Case("b", status, "no eye")],
                          (0, 0)) for name, status in (("one", "skipped"), ("two", "passed"))}
        for lanes, expected in ((results, ["### skipped in every lane: a: no disk"]),
                                ([*results, "three"], [])):
            with self.subTest(lanes=list(lanes)), mock.patch.object(check, "LANES", lanes), \
                    contextlib.redirect_stdout(io.StringIO()) as out:
                check.table(results, (0, 0))
                self.assertEqual([line for line in out.getvalue().splitlines()
                                  if "every lane" in line], expected)

    def test_names_what_failed_last(self):
        lines = self.table([tap.Case("a", "failed", "why"), tap.Case("b", "passed")])
        self.assertEqual(lines[-1], "### um: FAILED: a why")


class Lanes(unittest.TestCase):
    """What becomes of a lane."""

    def run_lane(self, function):
        """(cases, text on stdout and stderr) of a lane that is this function."""
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(check.layout, "BUILD", Path(folder)), \
                mock.patch.dict(check.ALL, {"one": function}), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return check.run_lane("one")[0], out.getvalue()

    def test_a_mistake_in_a_lane_is_its_failure(self):
        cases, said = self.run_lane(lambda: {}["nothing"])
        self.assertEqual([case.status for case in cases], ["failed"])
        self.assertIn("KeyError", cases[0].name)
        self.assertIn("Traceback", said)

    def test_no_test_is_a_failure(self):
        self.assertEqual([case.status for case in self.run_lane(list)[0]], ["failed"])

    def test_an_end_that_is_asked_for_is_the_end(self):
        with self.assertRaises(SystemExit):
            self.run_lane(mock.Mock(side_effect=SystemExit(143)))


class Rows(unittest.TestCase):
    """Lanes beside each other."""

    def test_kernels_of_all_but_the_first_of_each_row_are_built_ahead(self):
        other = list(check.layout.BASES)[1]
        names = ["um", "x86-64", f"um-{other}", f"x86-64-{other}"]
        rows = {name: ([], (0, 0)) for name in names if name.startswith("x86")}
        with mock.patch.multiple(check.beside, start=mock.DEFAULT, stop=mock.DEFAULT,
                                 wait=mock.Mock(return_value=rows)), \
                mock.patch.multiple(check.ahead, start=mock.DEFAULT, stop=mock.DEFAULT) as ahead, \
                mock.patch.multiple(check, tell=mock.DEFAULT,
                                    run_lane=mock.Mock(return_value=([], (0, 0)))):
            self.assertEqual(list(check.run_lanes(names, False)), names)
        ahead["start"].assert_called_once_with(["um", f"um-{other}", f"x86-64-{other}"])


class Wanted(unittest.TestCase):
    """Kselftests of which nothing is heard."""

    REPORT = """\
TAP version 13
1..4
# selftests: etch: recorder_ends
# TAP version 13
# 1..1
# ok 1 ends
ok 1 selftests: etch: recorder_ends
# selftests: etch: absent
ok 2 selftests: etch: absent # SKIP
# selftests: etch: hotplug.sh
not ok 3 selftests: etch: hotplug.sh # exit=1
# selftests: etch: silent
ok 4 selftests: etch: silent
"""

    def boot(self, append):
        """The cases of a guest that reports that."""
        result = guests.guest.Result(f"guest: boot 6.12\n{self.REPORT}guest: end 0\n", "",
                                     1, True)
        with mock.patch.object(guests.guest, "boot", return_value=result), \
                mock.patch.object(guests, "installed_tests", return_value=[
                    "etch:recorder_ends", "etch:pipe"]), \
                contextlib.redirect_stdout(io.StringIO()):
            return [case.name for case in guests.boot("um", "kselftest", 1, append)
                    if "did not run" in case.name and case.status == "failed"]

    def test_of_those_installed(self):
        self.assertEqual(self.boot(["kunit.enable=1"]),
                         ["etch:pipe did not run to its end"])

    def test_of_those_named(self):
        named = ["recorder", "recorder_ends", "absent", "hotplug.sh", "silent"]
        self.assertEqual(self.boot([f"kselftest=etch:{name}" for name in named]),
                         ["etch:recorder did not run to its end"])


class Everything(unittest.TestCase):
    """All kselftests in two boots."""

    TESTS = ["etch:pipe", *guests.RACING_TESTS, *guests.ONE_THREAD_TESTS]

    def boots(self, **how):
        """(the first boot's words, the second one's)."""
        with mock.patch.object(guests, "prepare", return_value=self.TESTS), \
                mock.patch.object(guests, "keep_boot"), \
                mock.patch.object(guests, "boot", return_value=[]) as boot, \
                contextlib.redirect_stdout(io.StringIO()):
            guests.everything("x86-64-rt", ["a=b"], **how)
        return [call.args[3] for call in boot.call_args_list]

    @staticmethod
    def named(words):
        """The tests that are named."""
        return [word.partition("=")[2] for word in words if word.startswith("kselftest=")]

    def test_each_runs_once(self):
        for how in {}, {"threaded": guests.RACING_TESTS}:
            first, second = self.boots(**how)
            self.assertEqual(sorted(self.named(first) + self.named(second)),
                             sorted(self.TESTS))
            self.assertIn("a=b", first)
            self.assertIn("a=b", second)

    def test_what_patches_code_has_one_thread(self):
        for how in {}, {"threaded": guests.RACING_TESTS}:
            first, second = self.boots(**how)
            self.assertIn(machine.THREADS, first)
            self.assertNotIn(machine.THREADS, second)
            self.assertFalse(set(guests.ONE_THREAD_TESTS) & set(self.named(first)))

    def test_those_that_are_named_alone_have_threads(self):
        first, _ = self.boots(threaded=["etch:pipe"])
        self.assertEqual(self.named(first), ["etch:pipe"])

    def test_a_name_that_no_test_has_is_an_error(self):
        with self.assertRaisesRegex(LaneError, "etch:poem"):
            self.boots(threaded=["etch:poem"])


class Shown(unittest.TestCase):
    """The lines of a guest's results that are shown while it runs."""

    def shown(self, *parts):
        """The lines that are, of output that comes in parts."""
        show = guests.Shown()
        with contextlib.redirect_stdout(io.StringIO()) as out:
            for part in parts:
                show(part)
        return [line.strip() for line in out.getvalue().splitlines()]

    def test_results_alone(self):
        self.assertEqual(self.shown(b"# # RUN a\r\n# o", b"k 1 a\r\n# # RUN b\n"), ["# ok 1 a"])

    def test_what_a_failed_test_said(self):
        self.assertEqual(self.shown(b"# # of a\n# ok 1 a\n# # of b\n# not ok 2 b\n# ok 3 c\n"),
                         ["# ok 1 a", "# # of b", "# not ok 2 b", "# ok 3 c"])

    def test_the_last_of_much(self):
        said = b"".join(b"# %d\n" % i for i in range(100))
        lines = self.shown(said + b"not ok 1 a\n")
        self.assertEqual(len(lines), guests.Shown.LINES + 1)
        self.assertEqual(lines[-2:], ["# 99", "not ok 1 a"])

    def test_which_tests_took_longest(self):
        show = guests.Shown(iter((0, 2, 9, 10)).__next__)
        with contextlib.redirect_stdout(io.StringIO()):
            show(b"# ok 1 case\nok 1 selftests: etch: pipe\n# ok 1 case\n"
                 b"ok 2 selftests: etch: raw\nnot ok 3 selftests: etch: faults # exit=1\n")
        self.assertEqual(show.slowest(2), "etch:raw 7 s, etch:pipe 2 s")
