# SPDX-License-Identifier: GPL-2.0
"""The table at the end of make check."""

import contextlib
import io
import unittest

import check
import tap


class Table(unittest.TestCase):
    """What it says of lanes."""

    def table(self, cases):
        """Its lines, for one lane with these cases."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            check.table({"um": (cases, 12.3)})
        return out.getvalue().splitlines()

    def test_counts(self):
        lines = self.table([tap.Case("a", "passed"), tap.Case("b", "passed"),
                            tap.Case("c", "failed"), tap.Case("d", "skipped", "no disk")])
        self.assertEqual(["lane", "tests", "passed", "failed", "skipped", "seconds"],
                         lines[1].split())
        self.assertEqual(["um", "4", "2", "1", "1", "12"], lines[2].split())

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
