# SPDX-License-Identifier: GPL-2.0
"""BENCH=user: its programs run on this machine, and its table says what is held."""

import tempfile
import unittest
from pathlib import Path

import figures
import programs

REPORT = """bench: hz 1000000000
bench: sample record floor 10 100 110 90
bench: sample record list 10 105 105 105
bench: sample record full 10 50 50 50
bench: sample record trace_marker_raw 10 5000 5000 5000
bench: sample off none 10 10 10 10
bench: sample off list 10 10 10 10
bench: sample start none 1 400000 400000 400000
bench: sample start list 1 450000 450000 450000
""".splitlines()
READING = "bench: sample reading packets 10 120 120 120"


class Table(unittest.TestCase):
    """The table of a report."""

    def rows(self, lines, lane="native"):
        """The figures of a report."""
        return programs.rows(figures.parse(lines), lane)

    def test_holds_and_does_not(self):
        text = programs.tables("native", self.rows(REPORT))
        self.assertRegex(text, r"a record, times the floor: 1\.05 \(at most 1\.1\): held")
        self.assertRegex(text, r"full and losing, times the floor: 0\.50 .*: NOT HELD")
        self.assertRegex(text, r"trace_marker_raw: 0\.02 \(at most 0\.05\): held")

    def test_in_a_guest_the_start_counts(self):
        text = programs.tables("um-user", self.rows(REPORT, "um-user"))
        self.assertRegex(text, r"ns longer: 50000\.0 \(at most 100000\): held")
        self.assertIn("### NOT MEASURED: a record out of its ring", text)
        text = programs.tables("um-user", self.rows([*REPORT, READING], "um-user"))
        self.assertRegex(text, r"a record out of its ring .*: 12\.00 \(at most 10\): NOT HELD")
        self.assertNotIn("times ftrace's", text)

    def test_says_what_was_not_measured(self):
        lines = [line for line in REPORT if "raw" not in line and "full" not in line]
        text = programs.tables("native", self.rows(lines))
        self.assertIn("### NOT MEASURED: a record, times ftrace's trace_marker_raw", text)
        self.assertIn("### NOT MEASURED: full and losing", text)

    def test_needs_the_floor(self):
        lines = [line for line in REPORT if "record floor" not in line]
        with self.assertRaisesRegex(figures.FigureError, "no sample of record floor"):
            self.rows(lines)


class Programs(unittest.TestCase):
    """The programs themselves."""

    def test_run_here(self):
        with tempfile.TemporaryDirectory() as folder:
            programs.compile_programs(Path(folder))
            samples = figures.parse(programs.run([Path(folder) / "programs", "2"]))
        for case in (("record", "list"), ("record", "mark"), ("record", "full"),
                     ("off", "mark"), ("start", "list")):
            self.assertEqual(len(samples[case]), 2)
            self.assertTrue(all(ns > 0 for ns in samples[case]))


if __name__ == "__main__":
    unittest.main()
