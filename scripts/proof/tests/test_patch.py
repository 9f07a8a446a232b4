# SPDX-License-Identifier: GPL-2.0
"""Patches and the manifest: reading, writing, whose a file is."""

import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import kconfig
import layout
import manifest
import patchfile
import slices
import tree

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
        self.assertIn(" 2 files changed, 2 insertions(+)\n", text)

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


class Git(unittest.TestCase):
    """A patch looks as git format-patch would have it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)

    def git(self, *words):
        """What git says in the folder."""
        return tree.run(["git", *tree.WHO, *words], self.place)

    def stat(self, before, after):
        """git's diffstat, and ours of git's diffs, from {path: number of lines} to another."""
        for number, state in enumerate((before, after)):
            for path in {*before, *after}:
                file = self.place / path
                file.parent.mkdir(parents=True, exist_ok=True)
                if path in state:
                    file.write_text("".join(f"{i}\n" for i in range(state[path])))
                else:
                    file.unlink(missing_ok=True)
            if not number:
                self.git("init", "-q")
            self.git("add", "-A")
            self.git("commit", "-q", "--allow-empty", "-m", f"x: {number}")
        mail = self.git("format-patch", "--stdout", "-1", "--no-renames")
        said = mail.split("\n---\n", 1)[1].split("\n\ndiff ", 1)[0] + "\n"
        return said, patchfile.diffstat(patchfile.parse(mail).diffs)

    def test_the_diffstat(self):
        long = "a/folder/whose/name/is/so/long/that/there/is/no/room/left/for/the/name/of/x.c"
        for before, after in (({"a": 1}, {"a": 2}), ({"a": 9}, {"a": 1, "b": 700}),
                              ({"a/b": 2000}, {"a/b": 3, "c": 12}), ({"a": 3}, {}),
                              ({}, {long: 1}), ({long: 100}, {long: 4000, "b": 1}),
                              ({"x" * 50: 10, "b": 4}, {"x" * 50: 90, "b": 1})):
            with self.subTest(str(after)[:40]):
                shutil.rmtree(self.place)
                self.place.mkdir()
                self.assertEqual(*self.stat(before, after))

    def test_hunks_that_are_applied(self):
        old = "".join(f"{i}\n" for i in range(30))
        for new in (old, old.replace("3\n", "three\n"), "top\n" + old + "end\n",
                    old.replace("11\n12\n", ""), ""):
            hunks = slices.hunks(old, new)
            self.assertEqual(slices.applied(hunks, old), new)
            if hunks:
                self.assertIsNone(slices.applied(hunks, "other\n"))


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

    def test_a_patch_of_another_base(self):
        first, other = list(layout.BASES)[:2]
        self.assertEqual([manifest.is_others(name) for name in
                          (f"{first}/a.patch", "common/a.patch", f"{other}/a.patch")],
                         [layout.BASE != first, False, layout.BASE != other])

    def test_what_another_base_adds_is_no_file_of_this_one(self):
        other = next(base for base in layout.BASES if base != layout.BASE)
        entries = manifest.parse(f"{other}/1.patch\n\tkernel-trace/compat.h\n"
                                 "common/2.patch\n\tkernel-trace/*\n")
        sources = {f"kernel/etch/{name}": layout.TOP / "kernel-trace" / name
                   for name in ("compat.h", "main.c")}
        with mock.patch.object(manifest, "read", lambda: entries), \
                mock.patch.object(layout, "sources", lambda: sources):
            self.assertEqual(list(manifest.sources()), ["kernel/etch/main.c"])
            chosen = manifest.assign(entries, sources)
        self.assertEqual({name: list(files) for name, files in chosen.items()},
                         {"common/2.patch": ["kernel/etch/main.c"]})

    def test_a_base_cannot_add_to_a_file_that_grows(self):
        with self.assertRaisesRegex(manifest.ManifestError, "cannot add to a file that grows"):
            slices.read([(f"{layout.BASE}/1.patch", ["kernel-trace/Makefile | Rings"])])

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
