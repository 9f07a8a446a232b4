# SPDX-License-Identifier: GPL-2.0
"""build.sh and apply.sh, with stand-ins for make and quilt."""

import os
import subprocess
import sys

import fakes
import manifest

# make, which writes what it is to write. The compiler warns of $TOP/warns.
MAKE = """[ -z "$LLVM" ] || exit 1
for word in "$@"; do
	case $word in
	O=*)	out=${word#O=} ;;
	esac
done
case "$*" in
*_defconfig)	[ ! -e "$TOP/fails" ] && : > "$out/.config" ;;
*olddefconfig)	;;
*)	file=$(cat "$TOP/warns")
	if [ "$file" -nt "$out/made" ]; then
		touch -r "$file" "$out/made"
		echo "../${file#"$ETCH_BUILD/"}:1:1: warning: it is wrong"
	fi ;;
esac"""


class Build(fakes.ScriptTest):
    """build.sh, in lane um."""

    def setUp(self):
        super().setUp()
        self.fake("make", MAKE)
        self.linux = self.tree("build/linux", {
            "kernel/etch/ring.c": "", "kernel/fork.c": "", "drivers/etch.c": "",
            ".etch-overlay": "kernel/etch/ring.c\nkernel/fork.c\n"})
        self.warns("nothing")

    def warns(self, path):
        """What the compiler warns of, when it is newer than what was made of it."""
        (self.top / "warns").write_text(str(self.linux / path))

    def test_a_configuration_that_failed_is_made_again(self):
        (self.top / "fails").touch()
        self.assertIn("failed", self.bad("build.sh", "um"))
        self.assertFalse((self.build / "um/wishes").exists())
        (self.top / "fails").unlink()
        self.good("build.sh", "um")
        self.assertIn("CONFIG_ETCH=y", (self.build / "um/wishes").read_text())

    def test_a_warning_fails_the_next_build_too(self):
        self.warns("kernel/etch/ring.c")
        for _ in range(2):
            self.assertIn("the compiler warned", self.bad("build.sh", "um"))
        self.warns("nothing")
        self.good("build.sh", "um")

    def test_a_warning_of_what_is_not_ours(self):
        for path in "kernel/fork.c", "drivers/etch.c":
            self.warns(path)
            self.good("build.sh", "um")

    def test_names_that_a_shell_may_have(self):
        self.good("build.sh", "um", CDPATH=fakes.SCRIPTS.parent)
        self.good("build.sh", "um", LLVM=1)


# quilt, which in the user's tree is interrupted in the midst of the series.
QUILT = """echo "$1" >> "$TOP/said"
case $PWD,$1 in
*/mine,push)	echo 0001-x > .pc/applied-patches
		kill -INT "$PPID"
		exit 1 ;;
*/mine,pop)	rm -f .pc/applied-patches ;;
esac"""


class Apply(fakes.ScriptTest):
    """apply.sh, on a tree with a history."""

    def setUp(self):
        super().setUp()
        self.kdir = self.tree("mine", {
            "Makefile": "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n", ".pc/.version": "2\n"})
        self.names = manifest.series()
        self.sum = subprocess.run([sys.executable, str(fakes.SCRIPTS / "tree.py"), "sum"],
                                  check=True, text=True, stdout=subprocess.PIPE).stdout

    def apply(self, names, series_sum=None):
        """What is said of a tree with these patches."""
        pc = self.kdir / ".pc"
        (pc / "applied-patches").write_text("".join(f"{name}\n" for name in names))
        if series_sum is None:
            (pc / "etch-series-sum").unlink(missing_ok=True)
        else:
            (pc / "etch-series-sum").write_text(series_sum)
        return self.run_script("apply.sh", KDIR=self.kdir)

    def test_all_of_them(self):
        status, said = self.apply(self.names, self.sum)
        self.assertEqual(status, 0)
        self.assertIn("already applied", said)

    def test_the_user_took_some_off(self):
        status, said = self.apply(self.names[:-2], self.sum)
        self.assertEqual(status, 1)
        self.assertRegex(said, r"holds \d+ of this series' \d+ patches\. To have all: ")

    def test_it_was_killed(self):
        for names in self.names[:3], self.names:
            status, said = self.apply(names)
            self.assertEqual(status, 1)
            self.assertIn("interrupted. cd", said.replace("### ", ""))

    def test_others(self):
        self.assertIn("other quilt patches", self.apply(["theirs.patch"])[1])
        self.assertIn("another version", self.apply(self.names, "0\n")[1])

    def test_interrupted(self):
        self.fake("quilt", QUILT)
        said = self.bad("apply.sh", KDIR=self.kdir)
        self.assertIn("interrupted; what was applied was taken off", said)
        self.assertFalse((self.kdir / ".pc/applied-patches").exists())
        self.assertFalse((self.kdir / ".pc/etch-series-sum").exists())

    def test_without_python(self):
        for name in "dirname", "realpath", "quilt", "flock", "env", "bash":
            where = subprocess.run(["which", name], text=True, stdout=subprocess.PIPE,
                                   check=False).stdout.strip() or "/bin/true"
            os.symlink(where, self.top / "bin" / name)
        said = self.bad("apply.sh", KDIR=self.kdir, PATH=self.top / "bin")
        self.assertIn("python3 is missing", said)
