# SPDX-License-Identifier: GPL-2.0
"""Whether two builds' objects are the same code."""

import unittest

import assembled
import objects

SOURCE = """
	.text
f:	mov	$1, %eax
	call	g
	ret
	.section .rodata.str1.1, "aMS", @progbits, 1
.Lname:	.string	"../linux/kernel/f.c"
	.section __bug_table, "aw"
	.quad	.Lname
	.short	10, 1
	.section .comment
	.string "compiler"
"""


class Difference(unittest.TestCase):
    """One object of each build."""

    def difference(self, old="", new=""):
        """What differs if this is changed in the source."""
        files = assembled.Files(self)
        self.assertIn(old, SOURCE)
        return objects.difference(
            files.module(SOURCE, "base.o"),
            files.module(SOURCE.replace(old, new), "other.o"))

    def test_equal(self):
        self.assertIsNone(self.difference())

    def test_what_is_not_in_the_kernel_does_not_count(self):
        self.assertIsNone(self.difference("compiler", "another"))

    def test_the_folder_of_the_source_does_not_count(self):
        self.assertIsNone(self.difference("../linux/", "../linux-pristine/"))

    def test_strings(self):
        self.assertEqual(self.difference("kernel/f.c", "kernel/g.c"),
                         (["__bug_table"], 0))

    def test_code(self):
        self.assertEqual(self.difference("$1", "$2"), ([".text"], 0))

    def test_more_code(self):
        self.assertEqual(self.difference("	ret\n", "	nop\n	ret\n"),
                         ([".text"], 1))

    def test_what_is_called(self):
        self.assertEqual(self.difference("	g\n", "	h\n"), ([".text"], 0))

    def test_line_numbers(self):
        self.assertEqual(self.difference("10, 1", "11, 1"), (["lines"], 0))

    def test_flags_are_no_line_numbers(self):
        self.assertEqual(self.difference("10, 1", "10, 2"),
                         (["__bug_table"], 0))

    def test_a_new_section(self):
        self.assertEqual(
            self.difference("	.section .comment",
                            "	.data\n	.long	5\n	.section .comment"),
            ([".data"], 0))


class Folders(unittest.TestCase):
    """Whole builds."""

    def test_compare(self):
        files = assembled.Files(self)
        for name in ("a/kernel/same.o", "b/kernel/same.o", "a/gone.o",
                     "b/new.o", "a/scripts/host.o", "a/vmlinux.o",
                     "b/etch.mod.o"):
            (files.path / name).parent.mkdir(parents=True, exist_ok=True)
            files.module(SOURCE, name)
        self.assertEqual(objects.compare(files.path / "a", files.path / "b"),
                         ({}, {"gone.o"}, {"new.o"}, 1))


if __name__ == "__main__":
    unittest.main()
