# SPDX-License-Identifier: GPL-2.0
"""build.sh, with a stand-in for make."""

import fakes

# make, which writes the files of a build. The compiler warns of the file named in $TOP/warns.
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
        """Set the file that the compiler warns of when it is newer than its object."""
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
