# SPDX-License-Identifier: GPL-2.0
"""What the lint lane reads of its tools' output, and what it passes over."""

import unittest

import findings

GCC = """\
  CC      kernel/etch/line.o
In file included from ../linux/kernel/etch/line.c:3:
../linux/kernel/etch/line.c: In function 'f':
../linux/kernel/etch/line.c:83:9: warning: 'f' might be a candidate [-Wsuggest-attribute=format]
   83 |         g(fmt, ap);
../linux/kernel/etch/./line.c:90:1: error: unknown type name 'x'
../linux/kernel/etch/line.c:91:1: note: in expansion of macro 'X'
"""
SPARSE = """\
  CHECK   /top/linux/kernel/etch/gate.c
/top/linux/kernel/etch/gate.c: note: in included file:
/top/linux/kernel/etch/gate.h:5:16: warning: incorrect type in argument 1 (different address spaces)
/top/linux/kernel/etch/gate.h:5:16:    expected void const *ptr
/top/linux/kernel/etch/gate.h:5:16: warning: incorrect type in argument 1 (different address spaces)
/top/linux/kernel/etch/gate.c:7:9: warning: context imbalance in 'f' - wrong count at exit
"""
COCCINELLE = """\
warning: line 140: should noop_llseek be a metavariable?
samples/etch/record/pump.c:102:42-43: WARNING opportunity for min()
"""
IGNORE = """\
# Comments
gcc:-Wunused	kernel/etch/a*.c	a reason

sparse	kernel/etch/b.c	another
"""


def finding(kind, path):
    """One about the first line."""
    return findings.Finding(kind, path, 1, "text")


class Read(unittest.TestCase):
    """What a tool's line says."""

    def seen(self, *arguments):
        """(kind, path, line) of each finding."""
        return [(one.kind, one.path, one.line) for one in findings.parse(*arguments)]

    def test_of_the_compiler(self):
        self.assertEqual(self.seen("gcc", findings.WARNING, GCC, "/top/linux", "/top/lint"),
                         [("gcc:-Wsuggest-attribute=format", "kernel/etch/line.c", 83),
                          ("gcc", "kernel/etch/line.c", 90)])

    def test_of_sparse_each_once(self):
        self.assertEqual(self.seen("sparse", findings.WARNING, SPARSE, "/top/linux",
                                   "/top/lint"),
                         [("sparse", "kernel/etch/gate.h", 5),
                          ("sparse", "kernel/etch/gate.c", 7)])

    def test_of_coccinelle(self):
        self.assertEqual(self.seen("coccinelle:misc/minmax", findings.COCCINELLE, COCCINELLE),
                         [("coccinelle:misc/minmax", "samples/etch/record/pump.c", 102)])

    def test_of_codespell(self):
        self.assertEqual(self.seen("spelling", findings.SPELLING, "a.c:7: teh ==> the\n"),
                         [("spelling:teh", "a.c", 7)])

    def test_of_shellcheck(self):
        self.assertEqual(self.seen("shellcheck", findings.SHELL,
                                   "a.sh:7:9: note: Double quote [SC2086]\n"),
                         [("shellcheck:SC2086", "a.sh", 7)])

    def test_of_pyflakes(self):
        self.assertEqual(self.seen("pyflakes", findings.PYTHON,
                                   "a.py:7:1: 're' imported but unused\n"),
                         [("pyflakes", "a.py", 7)])


class Excuse(unittest.TestCase):
    """What is passed over."""

    def test_by_kind_and_place(self):
        excuses = findings.Excuses(IGNORE)
        other = [finding("gcc:-Wunused", "kernel/etch/b.c"),
                 finding("gcc:-Wother", "kernel/etch/a.c"),
                 finding("sparse:x", "kernel/etch/b.c")]
        self.assertEqual(excuses.left([finding("gcc:-Wunused", "kernel/etch/a.c"),
                                       finding("sparse", "kernel/etch/b.c"), *other]),
                         other)
        self.assertEqual(excuses.problems(), [])

    def test_that_nothing_needs(self):
        excuses = findings.Excuses(IGNORE)
        excuses.left([finding("gcc:-Wunused", "kernel/etch/a.c")])
        self.assertEqual(len(excuses.problems()), 1)
        self.assertIn("line 4", excuses.problems()[0])

    def test_without_a_reason(self):
        self.assertIn("no reason", findings.Excuses("sparse kernel/etch/b.c\n").problems()[0])


if __name__ == "__main__":
    unittest.main()
