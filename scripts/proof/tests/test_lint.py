# SPDX-License-Identifier: GPL-2.0
"""How the lint lane reads its tools' output, and the findings that it passes over."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import findings
import kernel
import layout
import touched

GCC = """\
  CC      kernel/etch/line.o
In file included from ../linux/kernel/etch/line.c:3:
../linux/kernel/etch/line.c: In function 'f':
../linux/kernel/etch/line.c:83:9: warning: 'f' might be a candidate [-Wsuggest-attribute=format]
   83 |         g(fmt, ap);
../linux/kernel/etch/./line.c:90:1: error: unknown type name 'x'
../linux/kernel/etch/line.c:91:1: note: in expansion of macro 'X'
../linux/kernel/etch/line.c:95: warning: Excess function parameter 'b' description in 'f'
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
tools/tracing/etch/pump.c:102:42-43: WARNING opportunity for min()
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
                          ("gcc", "kernel/etch/line.c", 90),
                          ("gcc", "kernel/etch/line.c", 95)])

    def test_of_sparse_each_once(self):
        self.assertEqual(self.seen("sparse", findings.WARNING, SPARSE, "/top/linux",
                                   "/top/lint"),
                         [("sparse", "kernel/etch/gate.h", 5),
                          ("sparse", "kernel/etch/gate.c", 7)])

    def test_of_coccinelle(self):
        self.assertEqual(self.seen("coccinelle:misc/minmax", findings.COCCINELLE, COCCINELLE),
                         [("coccinelle:misc/minmax", "tools/tracing/etch/pump.c", 102)])

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
    """The findings that are passed over."""

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
        self.assertEqual(excuses.problems([excuses.excuses[-1].kind]), [])

    def test_without_a_reason(self):
        self.assertIn("no reason", findings.Excuses("sparse kernel/etch/b.c\n").problems()[0])


class Touched(unittest.TestCase):
    """Whose line a finding is about."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        for name in ("PRISTINE", "LINUX"):
            (self.top / name).mkdir()
            patch = mock.patch.object(layout, name, self.top / name)
            patch.start()
            self.addCleanup(patch.stop)
        patch = mock.patch.object(touched, "paths", lambda: {"edited.c", "new.c"})
        patch.start()
        self.addCleanup(patch.stop)
        touched.added.cache_clear()
        self.addCleanup(touched.added.cache_clear)
        self.write("PRISTINE", "edited.c", "1\n2\n3\n4\n")
        self.write("LINUX", "edited.c", "1\nours\n2\nalso ours\n4\n")
        self.write("LINUX", "new.c", "1\n")

    def write(self, tree, name, text):
        """A file of one of the trees."""
        (self.top / tree / name).write_text(text)

    def kinds(self, *places):
        """The kinds that findings of the compiler are given."""
        return [one.kind for one in touched.told("gcc", [
            findings.Finding("gcc:-Wx", path, line, "text") for path, line in places])]

    def test_lines_of_an_edited_file(self):
        self.assertEqual(touched.added("edited.c"), {2, 4})
        self.assertEqual(self.kinds(*(("edited.c", line) for line in range(1, 6))),
                         ["gcc:mainline", "gcc:-Wx", "gcc:mainline", "gcc:-Wx",
                          "gcc:mainline"])

    def test_every_line_of_a_new_file(self):
        self.assertEqual(self.kinds(("new.c", 1)), ["gcc:-Wx"])

    def test_other_files_are_passed_over(self):
        self.assertEqual(self.kinds(("other.c", 1)), [])

    def test_an_excuse_for_mainline_does_not_cover_what_is_added(self):
        excuses = findings.Excuses("gcc:mainline\tedited.c\ta reason\n")
        found = touched.told("gcc", [findings.Finding("gcc", "edited.c", line, "text")
                                     for line in (1, 2)])
        self.assertEqual([one.line for one in excuses.left(found)], [2])


class Kernels(unittest.TestCase):
    """Where sources are looked at."""

    def test_by_their_place(self):
        self.assertEqual([kernel.lane_of(path) for path in
                          ("arch/x86/um/patch.c", "arch/x86/kernel/alternative.c",
                           "arch/arm64/kernel/immediate.c", "kernel/tracepoint.c")],
                         ["um", "x86-64", "x86-64", "x86-64"])

    def test_lanes_at_the_same_time_have_folders_of_their_own(self):
        folders = {one.out for one in (*kernel.KERNELS, kernel.LONG)}
        self.assertEqual(len(folders), len(kernel.KERNELS) + 1)

    def test_what_no_kernel_has_is_missing(self):
        one, other = kernel.Kernel("um", "a"), kernel.Kernel("x86-64", "b")
        one.seen = {"gcc": {"a.c", "b.c"}, "sparse": {"b.c"}}
        other.seen = {"gcc": {"c.c"}, "sparse": {"a.c"}}
        with mock.patch.object(kernel, "KERNELS", (one, other)), \
                mock.patch.object(touched, "sources", lambda: {"a.c", "b.c", "c.c", "d.c"}):
            self.assertEqual([(one.kind, one.path) for one in kernel.missing()],
                             [("gcc:not-built", "d.c"), ("sparse:not-built", "c.c"),
                              ("sparse:not-built", "d.c")])

    def test_what_is_planted_is_marked(self):
        self.assertEqual(kernel.marked("x; /* BAD: gcc sparse */\ny;\nz; /* BAD: gcc */\n"),
                         {("gcc", 1), ("sparse", 1), ("gcc", 3)})


if __name__ == "__main__":
    unittest.main()
