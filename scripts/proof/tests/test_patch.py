# SPDX-License-Identifier: GPL-2.0
"""Patches and the manifest: reading, writing, whose a file is."""

import unittest

import kconfig
import manifest
import patchfile

QUILT = """\
From: A <a@example.org>
Date: Fri, 1 Nov 2024 00:00:00 +0000
Subject: [PATCH] a: b

Why.

Signed-off-by: A <a@example.org>
---
 old | 1 +

--- a/kernel/fork.c
+++ b/kernel/fork.c
@@ -1,3 +1,4 @@ f
 one
+--- a/not/a/file
 two
 three
--- /dev/null
+++ b/kernel/new.c
@@ -0,0 +1 @@
+int x;
"""


class Patches(unittest.TestCase):
    """Patches of every form become one form."""

    def test_reads_what_quilt_writes(self):
        patch = patchfile.parse(QUILT)
        self.assertEqual([(diff.path, diff.kind) for diff in patch.diffs],
                         [("kernel/fork.c", "edit"), ("kernel/new.c", "new")])

    def test_headers(self):
        patch = patchfile.parse(QUILT)
        self.assertEqual(patch.header("Subject"), "[PATCH] a: b")
        self.assertIsNone(patch.header("Cc"))

    def test_writing_is_stable(self):
        once = patchfile.parse(QUILT).text()
        self.assertEqual(patchfile.parse(once).text(), once)

    def test_the_old_diffstat_goes(self):
        text = patchfile.parse(QUILT).text()
        self.assertNotIn(" old | 1 +", text)
        self.assertIn(" 2 files changed, 2 insertions(+), 0 deletions(-)",
                      text)

    def test_a_hunk_that_is_too_short(self):
        with self.assertRaises(patchfile.PatchError):
            patchfile.parse("m\n---\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n")

    def test_files_without_a_last_line_end(self):
        diff = patchfile.new_file("x", "a\nb", False)
        self.assertEqual(diff.hunks[-1], "\\ No newline at end of file\n")
        text = patchfile.Patch("m", [diff]).text()
        self.assertEqual(patchfile.parse(text).text(), text)

    def test_modes(self):
        diff = patchfile.new_file("x.sh", "a\n", True)
        self.assertIn("new file mode 100755", diff.text())


class Manifest(unittest.TestCase):
    """Whose a file is."""

    ENTRIES = manifest.parse("# c\n1.patch\n\tkernel-trace/ring*\n"
                             "2.patch\n\tkernel-trace/*\n")

    def test_the_first_pattern_has_it(self):
        self.assertEqual(manifest.owner(self.ENTRIES, "kernel-trace/ring.c"),
                         "1.patch")
        self.assertEqual(manifest.owner(self.ENTRIES, "kernel-trace/x.c"),
                         "2.patch")

    def test_a_homeless_file(self):
        self.assertIsNone(manifest.owner(self.ENTRIES, "samples/x.c"))

    def test_a_pattern_without_a_patch(self):
        with self.assertRaises(manifest.ManifestError):
            manifest.parse("\tkernel-trace/*\n")


class Kconfig(unittest.TestCase):
    """Wishes that Kconfig drops."""

    def test_dropped(self):
        wishes = kconfig.parse("CONFIG_A=y\nCONFIG_B=m\n"
                               "# CONFIG_C is not set\n")
        self.assertEqual(kconfig.dropped("CONFIG_A=y\nCONFIG_B=m\n", wishes),
                         [])
        lost = kconfig.dropped("CONFIG_A=m\nCONFIG_C=y\n", wishes)
        self.assertEqual([text.split(":")[0] for text in lost],
                         ["CONFIG_A", "CONFIG_B", "CONFIG_C"])


if __name__ == "__main__":
    unittest.main()
