# SPDX-License-Identifier: GPL-2.0
"""The comparison of a record's path in two builds."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import recordpath


class Compared(unittest.TestCase):
    """On objects that the compiler made."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def verdicts(self, base, other):
        """{function: verdict} of two sources."""
        for name, text in (("base.o", base), ("other.o", other)):
            subprocess.run(["cc", "-O1", "-w", "-x", "c", "-c", "-o", self.folder / name, "-"],
                           input=text, text=True, check=True)
        return {name: verdict for name, _, _, verdict in
                recordpath.compare(self.folder / "base.o", self.folder / "other.o", "hit")}

    def test_where_a_function_lies_does_not_count(self):
        end = "int etch_write_end(int *x) { return x[1] ? *x + 3 : 0; }"
        self.assertEqual(self.verdicts(end, "int other(int x) { return x + x; }" + end),
                         {"etch_write_end": "the same"})

    def test_one_more_instruction_is_seen(self):
        self.assertEqual(self.verdicts("int etch_write_hit(int x) { return x; }",
                                       "int etch_write_hit(int x) { return x ^ (x >> 3); }"),
                         {"etch_write_hit": "more"})

    def test_another_callee_is_seen(self):
        text = ("static __attribute__((noipa)) void a(void) {}"
                "static __attribute__((noipa)) void b(void) {}"
                "void etch_write_end(void) { %s(); a(); }")
        self.assertEqual(self.verdicts(text % "a", text % "b"),
                         {"etch_write_end": "as many, others"})

    def test_so_is_a_function_that_only_one_has(self):
        self.assertEqual(self.verdicts("void etch_write_end(void) {}", "int x;"),
                         {"etch_write_end": "only in BASE"})
