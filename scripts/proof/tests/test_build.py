# SPDX-License-Identifier: GPL-2.0
"""build.sh builds what has changed, and nothing else."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import layout

# A kernel of one source file. Each build leaves a line.
MAKEFILE = """\
x86_64_defconfig:
\ttouch $(O)/.config
olddefconfig:
linux:
\ttest "$(KCFLAGS)" != -Wbad
\techo built >> $(O)/builds
\tcp image.c $(O)/linux
modules:
"""


class BuildTest(unittest.TestCase):
    """A tree that is not ours, in the lane um."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source, self.out = Path(folder.name) / "source", Path(folder.name) / "out"
        self.source.mkdir()
        (self.source / "Makefile").write_text(MAKEFILE)
        self.image = self.source / "image.c"
        self.image.write_text("one\n")
        self.env = {**os.environ, "SOURCE": str(self.source), "OUT": str(self.out),
                    "ETCH_BUILD": str(Path(folder.name) / "build"), "KCFLAGS": "",
                    "MAKEFLAGS": "", "ETCH_BASE": ""}

    def build(self, status=0, **env):
        """What build.sh says."""
        done = subprocess.run([layout.TOP / "scripts/lab/build.sh", "um"], text=True,
                              env={**self.env, **env}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def builds(self):
        """How often the kernel was built so far."""
        return len((self.out / "builds").read_text().splitlines())

    def built_again(self, **env):
        """The next build.sh builds, and the one after it does not."""
        before = self.builds()
        self.build(**env)
        self.assertEqual(self.builds(), before + 1)
        self.assertIn("nothing has changed", self.build(**env))
        self.assertEqual(self.builds(), before + 1)

    def test_nothing_has_changed(self):
        self.build()
        self.assertIn("um: nothing has changed since it was built.", self.build())
        self.assertEqual(self.builds(), 1)

    def test_a_file_of_the_source(self):
        self.build()
        self.image.write_text("two\n")
        self.built_again()
        self.assertEqual((self.out / "linux").read_text(), "two\n")

    def test_a_file_with_an_older_time_in_its_place(self):
        other = self.source / "other"
        other.write_text("older\n")
        os.utime(other, (1, 1))
        self.build()
        other.rename(self.image)
        self.built_again()

    def test_a_file_that_is_gone(self):
        (self.source / "more.c").write_text("")
        self.build()
        (self.source / "more.c").unlink()
        self.built_again()

    def test_the_configuration(self):
        self.build()
        with open(self.out / ".config", "a") as file:
            file.write("CONFIG_MINE=y\n")
        self.built_again()
        self.built_again(MORE="lockdep")

    def test_flags_of_the_compiler(self):
        self.build()
        self.built_again(KCFLAGS="-Wall")

    def test_no_image(self):
        self.build()
        (self.out / "linux").unlink()
        self.built_again()

    def test_a_build_that_failed(self):
        """Some files may have been compiled with its flags."""
        self.build()
        self.build(status=2, KCFLAGS="-Wbad")
        self.built_again()

    def test_one_target_is_always_built(self):
        self.build()
        self.build(ONLY="linux")
        self.assertEqual(self.builds(), 2)

    def test_a_change_while_the_compiler_runs(self):
        with open(self.source / "Makefile", "a") as file:
            file.write("\ttest -e late.c || touch late.c\n")
        self.build()
        self.built_again()


if __name__ == "__main__":
    unittest.main()
