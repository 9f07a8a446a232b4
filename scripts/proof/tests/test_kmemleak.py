# SPDX-License-Identifier: GPL-2.0
"""kmemleak's file, as it was once printed."""

import unittest

import kmemleak
from checks import watched

FILE = """\
unreferenced object 0xffff8881049a6c00 (size 32):
  comm "insmod", pid 312, jiffies 4294945000
  hex dump (first 32 bytes):
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................
  backtrace (crc 0):
    __kmalloc_cache_noprof+0x1b5/0x2b0
    kmemleak_test_init+0x37/0x200 [kmemleak_test]
    do_one_initcall+0x51/0x310
unreferenced object 0xffff888100aa2000 (size 1024):
  comm "etch reader", pid 99, jiffies 4294946000
  backtrace (crc 4c1ab6d5):
    __kmalloc_cache_noprof+0x1b5/0x2b0
    etch_loan_get.part.0+0x44/0x120
    [<00000000f4a3c8d1>] vfs_read+0xa1/0x2e0
"""


class KmemleakTest(unittest.TestCase):
    """Blocks, and whose they are."""

    def setUp(self):
        self.found = kmemleak.leaks(FILE)

    def test_nothing(self):
        self.assertEqual(kmemleak.leaks(""), [])

    def test_blocks(self):
        self.assertEqual([leak.size for leak in self.found], [32, 1024])
        self.assertEqual([leak.who for leak in self.found], ["insmod", "etch reader"])

    def test_stacks(self):
        self.assertEqual(self.found[1].stack, ["__kmalloc_cache_noprof",
                                               "etch_loan_get.part.0", "vfs_read"])
        self.assertIn("etch_loan_get.part.0 < vfs_read", str(self.found[1]))

    def test_ours_by_a_part_of_a_function(self):
        self.assertTrue(self.found[1].is_of({"etch_loan_get"}))
        self.assertFalse(self.found[0].is_of({"etch_loan_get"}))

    def test_ours_by_a_module_that_is_gone(self):
        gone = kmemleak.leaks(FILE.replace("kmemleak_test_init+0x37/0x200 [kmemleak_test]",
                                           "0xffffffffc0005037"))
        self.assertTrue(gone[0].is_of(set()))

    def test_cases(self):
        report = "".join(f"kmemleak: {line}\n" for line in FILE.splitlines())
        cases = watched.leaks(report + "kmemleak: end\n", {"etch_loan_get"})
        self.assertEqual([case.status for case in cases], ["failed"])
        cases = watched.leaks(report + "kmemleak: end\n", {"nobody"})
        self.assertEqual([case.status for case in cases], ["passed"])

    def test_a_report_that_broke_off(self):
        cases = watched.leaks("kmemleak: unreferenced object 0x1 (size 1):\n", {"nobody"})
        self.assertEqual([case.status for case in cases], ["failed"])
