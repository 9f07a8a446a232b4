# SPDX-License-Identifier: GPL-2.0
"""The table at the end of make check."""

import contextlib
import io
import unittest

import check
import tap
from checks import guests


class Table(unittest.TestCase):
    """What it says of lanes."""

    def table(self, cases):
        """Its lines, for one lane with these cases."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            check.table({"um": (cases, 12.3)}, 45.6)
        return out.getvalue().splitlines()

    def test_counts(self):
        lines = self.table([tap.Case("a", "passed"), tap.Case("b", "passed"),
                            tap.Case("c", "failed"), tap.Case("d", "skipped", "no disk")])
        self.assertEqual(["lane", "tests", "passed", "failed", "skipped", "seconds"],
                         lines[1].split())
        self.assertEqual(["um", "4", "2", "1", "1", "12"], lines[2].split())
        self.assertEqual(["all", "4", "2", "1", "1", "46"], lines[3].split())

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


class Shown(unittest.TestCase):
    """What is seen of a guest's results while it runs."""

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
