# SPDX-License-Identifier: GPL-2.0
"""Makefiles of a small tree."""

import tempfile
import unittest
from pathlib import Path

import kbuild

FILES = {
    "drivers/Makefile": "obj-y += far/\nobj-$(CONFIG_NEAR) += near/ \\\n\tmisc/\n",
    "drivers/far/Makefile": "obj-$(CONFIG_FAR) := far.o\nfar-y := core.o \\\n"
                            "  trace.o sub/inner.o\nfar-$(CONFIG_MORE) += more.o\n",
    "drivers/near/Makefile": "obj-y += near.o\n",
    "drivers/misc/Makefile": "old-objs := both.o old.o\nnew-objs := both.o new.o\n"
                             "misc-objs-$(CONFIG_OLD) := $(old-objs)\n"
                             "misc-objs-$(CONFIG_NEW) := $(new-objs)\n"
                             "misc-objs := $(misc-objs-y) $(misc-objs-m)\n"
                             "obj-$(CONFIG_MISC) += misc.o\n",
}
AUTO = 'CONFIG_FAR=m\nCONFIG_TEXT="no=y"\nCONFIG_NEAR=y\n'


class KbuildTest(unittest.TestCase):
    """Objects, lists of lists, folders."""

    def tree(self, auto=AUTO):
        """The tree in a configuration."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in FILES.items():
            file = Path(folder.name) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return kbuild.Tree(folder.name, kbuild.symbols(auto))

    def test_symbols(self):
        self.assertEqual(kbuild.symbols(AUTO), {"CONFIG_FAR", "CONFIG_NEAR"})

    def test_part_of_a_module(self):
        self.assertTrue(self.tree().configured("drivers/far/trace.o"))
        self.assertTrue(self.tree().configured("drivers/far/sub/inner.o"))
        self.assertFalse(self.tree("").configured("drivers/far/trace.o"))

    def test_part_that_is_off(self):
        self.assertFalse(self.tree().configured("drivers/far/more.o"))

    def test_folder_that_is_off(self):
        self.assertTrue(self.tree().configured("drivers/near/near.o"))
        self.assertFalse(self.tree("CONFIG_FAR=y").configured("drivers/near/near.o"))

    def test_lists_that_lists_take_whole(self):
        new = self.tree(AUTO + "CONFIG_MISC=y\nCONFIG_NEW=y\n")
        for name, there in ("both", True), ("new", True), ("old", False):
            self.assertEqual(new.configured(f"drivers/misc/{name}.o"), there, name)
        for auto in "CONFIG_MISC=y\n", "CONFIG_NEW=y\n":
            neither = self.tree(AUTO + auto)
            self.assertFalse(neither.configured("drivers/misc/both.o"), auto)

    def test_what_nobody_names(self):
        self.assertTrue(self.tree().configured("drivers/far/odd.o"))
