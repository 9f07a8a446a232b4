# SPDX-License-Identifier: GPL-2.0
"""Build trees: files that are written, left alone, or undone."""

import contextlib
import os
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import layout
import lock
import mail
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


class Copies(unittest.TestCase):
    """Copies of the pristine tree, what git has to do with them, and one at a time."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)

    def pristine(self):
        """layout's folders are here; the pristine tree has one file."""
        for name, place in ("BUILD", "."), ("PRISTINE", "linux-pristine"):
            patch = mock.patch.object(layout, name, self.top / place)
            patch.start()
            self.addCleanup(patch.stop)
        layout.PRISTINE.mkdir()
        (layout.PRISTINE / "a").write_text("a\n")

    def test_a_copy_that_was_interrupted_is_not_used(self):
        self.pristine()
        place = self.top / "bisect/linux"
        place.parent.mkdir()
        with mock.patch.dict(os.environ, {"PATH": f"{self.top}:{os.environ['PATH']}"}):
            copier = self.top / "cp"
            copier.write_text("#!/bin/sh\nmkdir $3\nexit 1\n")
            copier.chmod(0o755)
            with self.assertRaises(tree.TreeError):
                tree.clone(place)
            copier.unlink()
            tree.clone(place)
        self.assertEqual((place / "a").read_text(), "a\n")

    def test_the_users_git_is_not_asked(self):
        (self.top / "tree").mkdir()
        (self.top / "tree/a.tmp").write_text("a\n")
        hook = self.top / "hooks/pre-commit"
        hook.parent.mkdir()
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
        (self.top / "excluded").write_text("*.tmp\n")
        (self.top / ".gitconfig").write_text(
            f"[core]\nhooksPath = {hook.parent}\nexcludesFile = {self.top}/excluded\n")
        subprocess.run(["git", "init", "-q", self.top / "other"], check=True)
        with mock.patch.dict(os.environ, {"HOME": str(self.top),
                                          "GIT_DIR": str(self.top / "other/.git")}), \
                mock.patch.object(manifest, "series", return_value=[]):
            tree.git_am(self.top / "tree")
            self.assertEqual(tree.run(["git", "ls-files"], self.top / "tree"), "a.tmp\n")
        self.assertTrue((self.top / "tree/.git").is_dir())

    def test_one_at_a_time(self):
        entered = []

        def second():
            with lock.alone(self.top / "lock", "Another"):
                entered.append(1)

        with mock.patch("sys.stderr"), lock.alone(self.top / "lock", "Another"):
            thread = threading.Thread(target=second)
            thread.start()
            time.sleep(0.2)
            self.assertEqual(entered, [])
        thread.join()
        self.assertEqual(entered, [1])

    def sources(self):
        """What layout takes for sources in the test's folder."""
        with mock.patch.object(layout, "TOP", self.top):
            return list(layout.sources())

    def room(self):
        """A room with a source, and with built files beside it."""
        for path in ("ring_test.c", "ring/out/basic", "etch-record", "a.o",
                     "__pycache__/a.pyc"):
            file = self.top / "selftests" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()

    def test_sources_without_git(self):
        self.room()
        self.assertEqual(self.sources(), ["tools/testing/selftests/etch/ring_test.c"])

    @unittest.skipIf(os.getuid(), "only root gives files away")
    def test_sources_of_another_user(self):
        self.room()
        (self.top / ".gitignore").write_text("out\netch-record\n*.o\n__pycache__\n")
        subprocess.run(["git", "init", "-q", self.top], check=True)
        subprocess.run(["chown", "-R", "65534", self.top], check=True)
        self.assertEqual(self.sources(), ["tools/testing/selftests/etch/ring_test.c"])

    def test_what_git_refuses_is_a_sentence(self):
        (self.top / ".git").write_text("nonsense\n")
        with self.assertRaisesRegex(layout.LayoutError, "git cannot say"):
            self.sources()


class Mainline(unittest.TestCase):
    """The source that stands for mainline's."""

    def test_what_um_needs_is_in_the_series_and_first(self):
        for base in layout.carried():
            with chosen(base):
                _, first = mail.groups()[0]
                self.assertTrue(tree.um_boots())
                self.assertLessEqual(set(tree.um_boots()), set(first))


@contextlib.contextmanager
def chosen(base):
    """All is about this base."""
    before = layout.BASE
    layout.choose(base)
    try:
        yield
    finally:
        layout.choose(before)


class Bases(unittest.TestCase):
    """A kernel among those that there is a series for."""

    def test_each_has_folders_of_its_own(self):
        first, *others = layout.BASES
        for base in others:
            with chosen(base):
                self.assertEqual(layout.PRISTINE, layout.SHARED / base / "linux-pristine")
                self.assertEqual(layout.SERIES.name, layout.BASES[base])
        with chosen(first):
            self.assertEqual(layout.LINUX, layout.SHARED / "linux")

    def test_one_that_is_none(self):
        with self.assertRaisesRegex(layout.LayoutError, "no base 2.4; .* has: 6.12"):
            layout.choose("2.4")

    def scripts(self, **env):
        """What shell scripts and Python's say, the one started by the other: the folder."""
        show = ('. scripts/lib/common.sh; echo "$ETCH_BUILD $ETCH_SHARED"; python3 -c '
                '"import sys; sys.path.insert(0, \'scripts/lib\'); import layout; '
                'print(layout.BUILD, layout.SHARED)"')
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("ETCH_")}
        said = subprocess.run(["bash", "-c", show + "; bash -c '. scripts/lib/common.sh; "
                               'echo "$ETCH_BUILD $ETCH_SHARED"\''],
                              cwd=layout.TOP, env={**kept, **env}, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return said.stdout.splitlines()

    def test_shell_and_python_agree_however_they_start_each_other(self):
        first, *others = layout.BASES
        for base, folder in [("", "/x"), (first, "/x"), *((one, f"/x/{one}") for one in others)]:
            self.assertEqual(self.scripts(ETCH_BUILD="/x", ETCH_BASE=base), [f"{folder} /x"] * 3)

    def test_a_script_names_those_that_there_are(self):
        self.assertEqual(self.scripts(ETCH_BASE="2.4"),
                         ["### error: there is no base 2.4; scripts/series/bases has: "
                          + " ".join(layout.BASES)])


if __name__ == "__main__":
    unittest.main()
