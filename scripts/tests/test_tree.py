# SPDX-License-Identifier: GPL-2.0
"""Build trees: what is written, what is left alone, what is undone."""

import os
import tempfile
import unittest
from pathlib import Path

import manifest
import tree

MAKEFILE = "# SPDX\nVERSION = 6\nPATCHLEVEL = {}\nSUBLEVEL = 117\n"


class Trees(unittest.TestCase):
    """A pristine tree and one that shares its files through hard links."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        top = Path(self.folder.name)
        self.base, self.tree = top / "base", top / "tree"
        for place in (self.base, self.tree):
            (place / "kernel").mkdir(parents=True)
        (self.base / "kernel/fork.c").write_text("old\n")
        os.link(self.base / "kernel/fork.c", self.tree / "kernel/fork.c")

    def tearDown(self):
        self.folder.cleanup()

    def update(self, wanted):
        """Update with {path: text}."""
        return tree.update(self.tree, self.base,
                           {path: (text.encode(), False)
                            for path, text in wanted.items()})

    def test_the_pristine_file_is_not_written(self):
        self.update({"kernel/fork.c": "new\n"})
        self.assertEqual((self.base / "kernel/fork.c").read_text(), "old\n")
        self.assertEqual((self.tree / "kernel/fork.c").read_text(), "new\n")

    def test_what_is_equal_keeps_its_time(self):
        wanted = {"kernel/fork.c": "new\n", "kernel/etch/a.c": "a\n"}
        self.assertEqual(len(self.update(wanted)), 2)
        os.utime(self.tree / "kernel/etch/a.c", (1, 1))
        self.assertEqual(self.update(wanted), [])
        self.assertEqual((self.tree / "kernel/etch/a.c").stat().st_mtime, 1)

    def test_what_is_no_longer_wanted_is_undone(self):
        self.update({"kernel/fork.c": "new\n", "kernel/etch/a.c": "a\n"})
        self.assertEqual(sorted(self.update({})),
                         ["kernel/etch/a.c", "kernel/fork.c"])
        self.assertEqual((self.tree / "kernel/fork.c").read_text(), "old\n")
        self.assertFalse((self.tree / "kernel/etch").exists())

    def test_versions(self):
        (self.base / "Makefile").write_text(MAKEFILE.format(12))
        self.assertEqual(tree.version(self.base), (6, 12, 117))

    def test_no_kernel_tree(self):
        with self.assertRaises(tree.TreeError):
            tree.version(self.base)
        (self.base / "Makefile").write_text("all:\n\ttrue\n")
        with self.assertRaises(tree.TreeError):
            tree.version(self.base)


class Mainline(unittest.TestCase):
    """What stands for mainline's source."""

    def test_what_um_needs_is_in_the_series_and_first(self):
        first = manifest.series()[:len(tree.UM_BOOTS)]
        self.assertEqual(list(tree.UM_BOOTS), first)


if __name__ == "__main__":
    unittest.main()
