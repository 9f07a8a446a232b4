# SPDX-License-Identifier: GPL-2.0
"""make apply and make unapply: a user's tree changes as a whole, or not at all."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import applied
import fakes
import layout
import manifest
import misfit
import patchfile
import slices
import swap
import tree

MAKEFILE = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n"
FORK = "".join(f"line {number}\n" for number in range(1, 31))
OLDER = {
    "0001-fork.patch": {"kernel/fork.c": (FORK, FORK.replace("line 5\n", "line five\n"))},
    "0002-ring.patch": {"kernel/etch/Kconfig": (None, "config\n"),
                        "kernel/etch/ring.c": (None, "ring, version 1\n"),
                        "kernel/etch/gone.c": (None, "gone\n"),
                        "kernel/exit.c": ("exit\n", "exit, traced\n")},
    "0003-dropped.patch": {"init/main.c": ("main\n", "main, traced\n"),
                           "lib/etch/deep/a.c": (None, "a\n")},
}
# One patch has another name, one is dropped, one added, and one has other text.
NEWER = {
    "0001-fork-again.patch": {"kernel/fork.c": (FORK, FORK.replace("line 6\n", "line six\n"))},
    "0002-ring.patch": {"kernel/etch/Kconfig": (None, "config\n"),
                        "kernel/etch/ring.c": (None, "ring, version 2\n"),
                        "kernel/exit.c": ("exit\n", "exit, traced\n")},
    "0004-added.patch": {"kernel/cpu.c": ("cpu\n", "cpu, traced\n"),
                         "kernel/etch/tree.c": (None, "tree\n")},
}


def patch_text(changes):
    """A patch with these changes, {path: (old text or None, new)}."""
    diffs = [patchfile.new_file(path, new, False) if old is None
             else patchfile.Diff(path, "edit", slices.hunks(old, new))
             for path, (old, new) in changes.items()]
    return patchfile.Patch("Subject: [PATCH] x: y\n\nWhy.\n", diffs).text()


def snapshot(place):
    """All that is in a tree: {path: (kind or content, mode)}."""
    return {str(path.relative_to(place)):
            (path.read_bytes() if path.is_file() else "folder", path.stat().st_mode)
            for path in place.rglob("*")}


class Case(unittest.TestCase):
    """A user's tree, and a series of ours that the test gives."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        self.kdir = self.top / "mine"
        for path, text in {"Makefile": MAKEFILE, "kernel/fork.c": FORK,
                           "kernel/exit.c": "exit\n", "kernel/cpu.c": "cpu\n",
                           "init/main.c": "main\n", "lib/x.c": "x\n"}.items():
            self.put(path, text)
        (self.kdir / "kernel/exit.c").chmod(0o664)
        self.plain = snapshot(self.kdir)
        # A program that changes a tree ends soon, and ignores signals; this one does not.
        for number in swap.SIGNALS:
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        for name, place in ("PATCHES", "patches"), ("SERIES", "series"):
            patched = mock.patch.object(layout, name, self.top / place)
            patched.start()
            self.addCleanup(patched.stop)

    def put(self, path, text):
        """Write a file of the user's."""
        file = self.kdir / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def ours(self, patches):
        """The series is this one from now on."""
        shutil.rmtree(layout.PATCHES, ignore_errors=True)
        layout.PATCHES.mkdir()
        for name, changes in patches.items():
            (layout.PATCHES / name).parent.mkdir(exist_ok=True)
            (layout.PATCHES / name).write_text(patch_text(changes))
        layout.SERIES.write_text("".join(f"{name}\n" for name in patches))

    def older(self):
        """The tree has the older series; ours is the newer."""
        self.ours(OLDER)
        applied.put_on(self.kdir)
        self.ours(NEWER)

    def before_copies_were_kept(self, patches=None):
        """The same, by a make apply that kept nothing but quilt's files."""
        self.ours(patches or OLDER)
        tree.quilt_push(self.kdir)
        (self.kdir / applied.SUM).write_text(applied.series_sum() + "\n")
        self.ours(NEWER)

    def fresh(self):
        """What a tree without any series would become."""
        other = self.top / "fresh"
        shutil.copytree(self.kdir, other)
        applied.take_off(other)
        self.assertEqual(snapshot(other), self.plain)
        applied.put_on(other)
        return self.sources(other)

    def files(self, what):
        """A snapshot's files: quilt leaves empty folders."""
        return {path: file for path, file in what.items() if file[0] != "folder"}

    def sources(self, place):
        """A snapshot, without quilt's times and files."""
        return {path: what for path, what in snapshot(place).items()
                if not path.startswith(".pc/")}

    def quilt(self, *words):
        """The user's quilt, which knows nothing of ours."""
        env = {name: value for name, value in os.environ.items() if "QUILT" not in name}
        return subprocess.run(["quilt", "--quiltrc", "-", *words], cwd=self.kdir, check=True,
                              env=env, text=True, stdout=subprocess.PIPE).stdout

    def refused(self, what, words):
        """An error, and the tree as it was."""
        was = snapshot(self.kdir)
        with self.assertRaisesRegex(tree.TreeError, words) as caught:
            what(self.kdir)
        self.assertIn("Nothing was changed", str(caught.exception))
        self.assertEqual(snapshot(self.kdir), was)
        return str(caught.exception)


class OnAndOff(Case):
    """All goes well."""

    def test_on_and_off(self):
        self.ours(OLDER)
        self.assertIn("3 patches applied", applied.put_on(self.kdir))
        self.assertIn("line five", (self.kdir / "kernel/fork.c").read_text())
        self.assertEqual(self.quilt("applied").split(), list(OLDER))
        was = snapshot(self.kdir)
        self.assertIn("already applied", applied.put_on(self.kdir))
        self.assertEqual(snapshot(self.kdir), was)
        self.assertIn("3 patches taken off", applied.take_off(self.kdir))
        self.assertEqual(snapshot(self.kdir), self.plain)
        self.assertIn("no patches", applied.take_off(self.kdir))

    def test_a_newer_series(self):
        for prepare in self.older, self.before_copies_were_kept:
            with self.subTest(prepare.__name__):
                prepare()
                self.assertIn("in the place of 3", applied.put_on(self.kdir))
                self.assertEqual(self.sources(self.kdir), self.fresh())
                self.assertFalse((self.kdir / "kernel/etch/gone.c").exists())
                self.assertFalse((self.kdir / "lib/etch").exists())
                applied.take_off(self.kdir)
                self.assertEqual(snapshot(self.kdir), self.plain)
                shutil.rmtree(self.top / "fresh")

    def test_off_whatever_version(self):
        for prepare in self.older, self.before_copies_were_kept:
            with self.subTest(prepare.__name__):
                prepare()
                applied.take_off(self.kdir)
                self.assertEqual(snapshot(self.kdir), self.plain)

    def test_what_is_equal_is_not_built_again_and_what_differs_is(self):
        self.older()
        same, other = self.kdir / "kernel/exit.c", self.kdir / "kernel/fork.c"
        for file in same, other:
            os.utime(file, (1, 1))
        applied.put_on(self.kdir)
        self.assertEqual(same.stat().st_mtime, 1)
        self.assertNotEqual(other.stat().st_mtime, 1)
        os.utime(other, (1, 1))
        applied.take_off(self.kdir)
        self.assertNotEqual(other.stat().st_mtime, 1)

    def test_quilt_takes_it_off_when_our_patches_are_others(self):
        self.older()
        self.quilt("pop", "-a")
        self.assertEqual((self.kdir / "kernel/fork.c").read_text(), FORK)
        # What is left of it in .pc is in nobody's way.
        applied.put_on(self.kdir)
        applied.take_off(self.kdir)
        self.assertEqual(self.files(snapshot(self.kdir)), self.files(self.plain))

    def test_the_user_took_some_off(self):
        self.older()
        self.quilt("pop")
        applied.take_off(self.kdir)
        self.assertEqual(self.files(snapshot(self.kdir)), self.files(self.plain))
        self.older()
        self.quilt("pop")
        applied.put_on(self.kdir)
        self.assertIn("six", (self.kdir / "kernel/fork.c").read_text())
        self.assertEqual((self.kdir / "init/main.c").read_text(), "main\n")
        self.assertTrue((self.kdir / "kernel/etch/tree.c").exists())

    def test_what_was_built_stays(self):
        self.older()
        self.put("kernel/etch/ring.o", "object\n")
        applied.take_off(self.kdir)
        self.assertEqual([path.name for path in (self.kdir / "kernel/etch").iterdir()],
                         ["ring.o"])
        applied.put_on(self.kdir)
        self.assertTrue((self.kdir / "kernel/etch/tree.c").exists())

    def test_a_quilt_folder_of_the_users_comes_back(self):
        self.put(".pc/.quilt_patches", "/home/me/debian/patches\n")
        was = snapshot(self.kdir)
        self.older()
        applied.put_on(self.kdir)
        applied.take_off(self.kdir)
        self.assertEqual(snapshot(self.kdir), was)

    def test_quilt_was_killed(self):
        """In the midst of a patch, by a make apply that ran it in the tree itself."""
        self.ours(NEWER)
        tree.quilt_push(self.kdir)
        self.put(".pc/applied-patches", "0001-fork-again.patch\n")
        shutil.rmtree(self.kdir / ".pc/0004-added.patch")
        self.put("kernel/cpu.c", "cpu\n")
        (self.kdir / "kernel/etch/tree.c").unlink()
        (self.kdir / ".pc/0002-ring.patch/.timestamp").unlink()
        applied.take_off(self.kdir)
        self.assertEqual(snapshot(self.kdir), self.plain)

    @unittest.skipIf(os.getuid(), "only root gives files away")
    def test_a_users_files_stay_the_users(self):
        self.ours(OLDER)
        subprocess.run(["chown", "-R", "65534:65534", self.kdir], check=True)
        applied.put_on(self.kdir)
        self.assertEqual({path.stat().st_uid for path in self.kdir.rglob("*")}, {65534})


class TwoBases(Case):
    """The tree's kernel says which series is put on it."""

    def setUp(self):
        super().setUp()
        self.addCleanup(layout.choose, layout.BASE)
        first, self.other = list(layout.BASES)[:2]
        patched = mock.patch.object(layout, "TOP", self.top)
        patched.start()
        self.addCleanup(patched.stop)
        # Each base's patch makes another line of the same file.
        self.ours({"common/ring.patch": {"kernel/etch/Kconfig": (None, "config\n")},
                   **{f"{base}/fork.patch":
                      {"kernel/fork.c": (FORK, FORK.replace("line 5\n", f"for {base}\n"))}
                      for base in (first, self.other)}})
        for base in first, self.other:
            (self.top / layout.BASES[base]).write_text(
                f"# {base}\ncommon/ring.patch\n{base}/fork.patch\n")

    def test_each_tree_gets_its_series(self):
        for base in layout.BASES:
            with self.subTest(base):
                self.put("Makefile", "VERSION = {}\nPATCHLEVEL = {}\nSUBLEVEL = 7\n".format(
                    *base.split(".")))
                was = snapshot(self.kdir)
                applied.choose_base(self.kdir)
                self.assertIn("2 patches applied", applied.put_on(self.kdir))
                self.assertIn(f"for {base}\n", (self.kdir / "kernel/fork.c").read_text())
                self.assertEqual(self.quilt("applied").split(),
                                 ["common/ring.patch", f"{base}/fork.patch"])
                self.assertIn("already applied", applied.put_on(self.kdir))
                self.quilt("pop", "-a")
                self.assertEqual((self.kdir / "kernel/fork.c").read_text(), FORK)
                self.quilt("push", "-a")
                applied.take_off(self.kdir)
                self.assertEqual(snapshot(self.kdir), was)

    def test_a_tree_of_no_base(self):
        self.put("Makefile", MAKEFILE.replace("12", "13"))
        applied.choose_base(self.kdir)
        self.refused(applied.put_on, "is Linux 6.13.1; there is a series for "
                     + " and one for ".join(f"{base}.y" for base in layout.BASES))

    def test_a_base_that_has_no_series_yet(self):
        (self.top / layout.BASES[self.other]).unlink()
        self.put("Makefile", "VERSION = {}\nPATCHLEVEL = {}\nSUBLEVEL = 7\n".format(
            *self.other.split(".")))
        applied.choose_base(self.kdir)
        self.refused(applied.put_on, f"is Linux {self.other}.7; there is a series for ")


class Refused(Case):
    """A refused operation changes nothing."""

    def test_a_newer_series_that_does_not_fit(self):
        for prepare in self.older, self.before_copies_were_kept:
            with self.subTest(prepare.__name__):
                self.put("kernel/cpu.c", "cpu, of mine\n")
                prepare()
                said = self.refused(applied.put_on, "0004-added.patch does not fit")
                self.assertIn('kernel/cpu.c, hunk 1 of 1 (line 1 in the patch): none of', said)
                applied.take_off(self.kdir)

    def test_the_user_changed_a_file(self):
        for path in "kernel/fork.c", "kernel/etch/ring.c":
            for prepare in self.older, self.before_copies_were_kept:
                with self.subTest(path, how=prepare.__name__):
                    prepare()
                    file = self.kdir / path
                    good = file.read_text()
                    file.write_text(good + "mine\n")
                    os.utime(file, (2 ** 31, 2 ** 31))
                    for what in applied.put_on, applied.take_off:
                        said = self.refused(what, "were changed since")
                        self.assertEqual(re.findall(r"^    (.*)$", said, re.M), [path])
                    self.quilt("pop", "-a", "-f")
                    shutil.rmtree(self.kdir / ".pc")

    def test_the_user_removed_a_file(self):
        for prepare in self.older, self.before_copies_were_kept:
            prepare()
            (self.kdir / "kernel/etch/ring.c").unlink()
            self.refused(applied.put_on, "were changed since:\n    kernel/etch/ring.c")
            self.quilt("pop", "-a", "-f")
            shutil.rmtree(self.kdir / ".pc")

    def test_a_copy_of_the_tree_with_other_times(self):
        """put_on() compares the kept files, not times."""
        self.older()
        for file in self.kdir.rglob("*.c"):
            os.utime(file, (2 ** 31, 2 ** 31))
        applied.put_on(self.kdir)
        self.assertEqual(self.sources(self.kdir), self.fresh())

    def test_patches_of_the_users(self):
        self.older()
        self.quilt("new", "mine.patch")
        for what in applied.put_on, applied.take_off:
            self.refused(what, "its patches were changed")

    def test_others(self):
        self.ours(NEWER)
        self.put(".pc/applied-patches", "theirs.patch\n")
        self.put(".pc/theirs.patch/kernel/cpu.c", "c\n")
        for what in applied.put_on, applied.take_off:
            self.refused(what, "other quilt patches")

    def test_a_link_in_the_place_of_a_file(self):
        self.ours(NEWER)
        (self.kdir / "kernel/cpu.c").rename(self.kdir / "cpu.c")
        (self.kdir / "kernel/cpu.c").symlink_to("../cpu.c")
        self.refused(applied.put_on, "symbolic link")

    def test_etch_by_git(self):
        self.ours(NEWER)
        self.put("kernel/etch/Kconfig", "config\n")
        was = snapshot(self.kdir)
        self.assertIn("not by quilt", applied.put_on(self.kdir))
        self.assertEqual(snapshot(self.kdir), was)


class Interrupted(Case):
    """Each rename is the last that is done."""

    def setUp(self):
        """A tree with the older series, and what would make the newer of it."""
        super().setUp()
        self.older()
        self.was = snapshot(self.kdir)
        with mock.patch.object(swap, "exchange", self.take):
            applied.put_on(self.kdir)

    def take(self, _, files, pc):
        """In exchange()'s place: what it would be given."""
        self.wanted, self.pc = files, self.top / "pc"
        shutil.copytree(pc, self.pc)

    def stopped(self, number, stop):
        """In a child: exchange the series, and stop at a rename. Its status."""
        child = os.fork()
        if child:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        real, count = Path.rename, 0

        def rename(self, target):
            nonlocal count
            count += 1
            if count == number:
                stop()
            return real(self, target)

        status = 4
        try:
            with mock.patch.object(Path, "rename", rename):
                swap.exchange(self.kdir, self.wanted, self.pc)
            status = 0
        except OSError:
            status = 3
        finally:
            os._exit(status)

    def every(self, stop, status, after):
        """Stop at each rename in turn, until there is none."""
        for number in range(1, 100):
            got = self.stopped(number, stop)
            if got == 0:
                break
            self.assertEqual(got, status)
            after()
            self.assertEqual(snapshot(self.kdir), self.was, f"rename {number}")
        self.assertGreater(number, 15)
        self.assertEqual(self.sources(self.kdir), self.fresh())

    def test_an_error_at_each_step(self):
        def fail():
            raise OSError(28, "No space left on device")

        self.every(fail, 3, lambda: None)

    def test_a_kill_at_each_step(self):
        self.every(lambda: os.kill(os.getpid(), 9), -9, lambda: swap.undo(self.kdir))

    def test_a_kill_while_what_was_killed_is_taken_back(self):
        for number in range(1, 12):
            self.assertEqual(self.stopped(12, lambda: os.kill(os.getpid(), 9)), -9)
            # The first renames of the next one are those that take back.
            self.stopped(number, lambda: os.kill(os.getpid(), 9))
            swap.undo(self.kdir)
            self.assertEqual(snapshot(self.kdir), self.was, f"rename {number}")

    def test_the_next_one_takes_back_what_was_killed(self):
        self.assertEqual(self.stopped(12, lambda: os.kill(os.getpid(), 9)), -9)
        self.assertNotEqual(snapshot(self.kdir), self.was)
        applied.take_off(self.kdir)
        self.assertEqual(snapshot(self.kdir), self.plain)


class Misfit(Case):
    """The explanation of a patch that does not fit."""

    def explain(self, path, old, new, have):
        """Of a file that has this text, when the patch makes new of old."""
        self.put(path, have)
        return misfit.explain(self.kdir, patch_text({path: (old, new)}))

    def test_reasons(self):
        new = FORK.replace("line 5\n", "line five\n").replace("line 25\n", "line 5+20\n")
        for have, said in (
                (FORK, []),
                ("top\n" * 9 + FORK, []),
                (FORK.replace("line 24\n", "line of mine\n"),
                 ["hunk 2 of 2 (line 22 in the patch): "
                  'line 24 is "line of mine" where it expects "line 24"']),
                (FORK.replace("line 4\n", " line 4\n"),
                 ['hunk 1 of 2 (line 2 in the patch): '
                  'line 4 differs in white space from "line 4"']),
                (FORK.replace("line 5\n", "line five\n"),
                 ["hunk 1 of 2 (line 2 in the patch): what it makes is there already"]),
                ("".join(FORK.splitlines(True)[:25]),
                 ["hunk 2 of 2 (line 22 in the patch): "
                  'the file ends where it expects "line 26"']),
                ("x\n", ["hunk 1 of 2 (line 2 in the patch): "
                         "none of the lines that it expects is there",
                         "hunk 2 of 2 (line 22 in the patch): "
                         "none of the lines that it expects is there"])):
            self.assertEqual(self.explain("kernel/fork.c", FORK, new, have),
                             [f"kernel/fork.c, {line}" for line in said])

    def test_files(self):
        self.assertEqual(self.explain("new.c", None, "x\n", "y\n"),
                         ["new.c: the patch adds this file, and it is there already"])
        self.assertEqual(misfit.explain(self.kdir, patch_text({"a.c": ("x\n", "y\n")})),
                         ["a.c: the patch changes this file, and it is not there"])

    def test_what_patch_takes_is_no_misfit(self):
        """The real series, on the real source."""
        if not layout.PRISTINE.is_dir():
            self.skipTest("there is no kernel source")
        for name in tree.UM_BOOTS:
            for file in (layout.TOP / "patches" / layout.BASE).glob(name):
                self.assertEqual(misfit.explain(layout.PRISTINE, file.read_text()), [])


# quilt, which is interrupted in the midst of the series.
QUILT = """echo quilt >> "$TOP/said"
echo half >> kernel/fork.c
kill -INT "$PPID"
sleep 1
exit 1"""


class Script(fakes.ScriptTest):
    """apply.sh, as the Makefile calls it."""

    def setUp(self):
        super().setUp()
        self.kdir = self.tree("mine", {"Makefile": MAKEFILE, "kernel/fork.c": "fork\n"})
        self.was = snapshot(self.kdir)

    def test_interrupted(self):
        self.fake("quilt", QUILT)
        said = self.bad("apply.sh", KDIR=self.kdir)
        self.assertIn(f"interrupted. {self.kdir} is as it was", said)
        self.assertEqual(snapshot(self.kdir), self.was)

    def test_a_tree_that_cannot_be_written_to(self):
        self.fake("quilt", QUILT)
        # To root everything can be written.
        limit = ["setpriv", "--bounding-set=-dac_override"] if os.getuid() == 0 else []
        for where in self.kdir, self.kdir / "kernel":
            where.chmod(0o555)
            made = subprocess.run([*limit, "scripts/series/apply.sh"], cwd=fakes.SCRIPTS.parent,
                                  env=self.environment(KDIR=self.kdir), text=True,
                                  check=False, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            where.chmod(0o755)
            self.assertEqual(made.returncode, 1)
            self.assertIn(f"{where} cannot be written to", made.stdout)
            self.assertFalse((self.top / "said").exists())
        self.assertEqual(snapshot(self.kdir), self.was)

    def test_what_does_not_fit_is_named(self):
        said = self.bad("apply.sh", KDIR=self.kdir)
        self.assertIn(f"{manifest.series()[0]} does not fit:\n    arch/", said)
        self.assertIn(": the patch changes this file, and it is not there", said)
        self.assertEqual(snapshot(self.kdir), self.was)

    def test_another_kernel(self):
        (self.kdir / "Makefile").write_text(MAKEFILE.replace("12", "13"))
        self.assertIn("is Linux 6.13.1", self.bad("apply.sh", KDIR=self.kdir))

    def test_without_python(self):
        for name in "dirname", "realpath", "quilt", "flock", "env", "bash":
            where = subprocess.run(["which", name], text=True, stdout=subprocess.PIPE,
                                   check=False).stdout.strip() or "/bin/true"
            os.symlink(where, self.top / "bin" / name)
        said = self.bad("apply.sh", KDIR=self.kdir, PATH=self.top / "bin")
        self.assertIn("python3 is missing", said)


@unittest.skipUnless(layout.PRISTINE.is_dir(), "there is no kernel source: make fetch")
class WhatNext(fakes.ScriptTest):
    """The commands that make apply prints, in a real tree."""

    WANTED = ("ETCH", "SMP", "MODULES", "NET", "JUMP_LABEL", "DEBUG_FS")

    def printed(self, said):
        """The commands up to the one that builds."""
        commands = re.findall(r"^    (.*)$", said.split("What next")[1], re.M)
        return commands[:commands.index("make")]

    def test_they_make_a_kernel(self):
        # Nothing is written to files that are there: they are shared.
        kdir = self.build / "linux"
        kdir.mkdir()
        subprocess.run(["cp", "-al", f"{layout.PRISTINE}/.", kdir], check=True)
        self.addCleanup(subprocess.run, ["rm", "-rf", kdir], check=False)
        for _ in range(2):              # without a configuration, and then with one
            for command in self.printed(self.good("apply.sh", KDIR=kdir)):
                made = subprocess.run(command, shell=True, cwd=kdir, check=False, text=True,
                                      env=self.environment(), stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT)
                self.assertEqual(made.returncode, 0, f"{command}: {made.stdout}")
            config = (kdir / ".config").read_text().splitlines()
            for option in self.WANTED:
                self.assertIn(f"CONFIG_{option}=y", config)
        self.assertNotIn("make defconfig", self.printed(self.good("apply.sh", KDIR=kdir)))


if __name__ == "__main__":
    unittest.main()
