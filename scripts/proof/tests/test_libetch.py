# SPDX-License-Identifier: GPL-2.0
"""The library for programs with events: compiling with it, installing it, its Python module.

No kernel of ours is needed: a library that stands in for libetch prints its arguments.
The kselftests user_* look at records.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import layout

TOP = layout.TOP
LIBRARY = TOP / "tools/lib"
UAPI = TOP / "include-trace/uapi"

COMPILERS = {"c": ("gcc", "clang"), "c++": ("g++", "clang++")}
STANDARDS = {"c": ("gnu11", "c11"), "c++": ("c++17", "gnu++17")}

PROGRAM = """
#include <etch/mark.h>
#include <sys/sdt.h>
#define P_EVENTS(event) event(p, e, (u32, a), (string, s))
ETCH_PROVIDER(p, P_EVENTS);
ETCH_PROVIDER_DEFINE(p, P_EVENTS);
struct s { unsigned int bits : 3; char text[4]; const char *name; };
static inline void inlined(int x) { etch_mark("inlined", x); }
int main(int argc, char **argv)
{
	struct s s = { 1, "abc", "n" };

	etch_mark("none");
	etch_mark("all", argc, argv[0], s.bits, s.text, s.name, &s, "literal", 'c', 1UL, argc > 1);
	inlined(argc);
	DTRACE_PROBE2(p, probe, argc, argv[0]);
	STAP_PROBEV(p, listed, 1, 2L);
	p_e(argc, argv[0]);
	return !etch_mark_error();
}
"""
# Lines that must not compile, and a part of the message that the compilers must give.
REFUSED = {
    "etch_mark(\"x\", s);": "neither a number",
    "etch_mark(\"x\", 1.5);": "neither a number",
    "etch_mark(\"x\", numbers);": "neither a number",
    "etch_mark(\"x\", (__int128)1);": "neither a number",
    "etch_mark(\"x\", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);": "more than 12",
}
REFUSES = """
#include <etch/mark.h>
int main(void)
{
	struct { int a; } s = { 0 };
	int numbers[2] = { 0 };

	(void)s;
	(void)numbers;
	%s
	return 0;
}
"""

# Prints what it is called with. Its gates are open.
STANDS_IN = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
static uint32_t gate = 1;
int etch_event(const char *provider, const char *event, const char *fields)
{
	printf("event %s:%s %s\n", provider, event, fields);
	return 3;
}
const volatile uint32_t *etch_event_gate(int event) { return &gate; }
int etch_emit(int event, const unsigned char *fields, size_t len)
{
	printf("emit %d ", event);
	for (size_t i = 0; i < len; i++)
		printf("%02x", fields[i]);
	printf("\n");
	fflush(stdout);
	return 0;
}
"""


class Scratch(unittest.TestCase):
    """Has a folder for what a test makes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        # Of the kernel's headers this one alone: the others are made for user space.
        (self.folder / "uapi/linux").mkdir(parents=True)
        shutil.copy(UAPI / "linux/etch_user.h", self.folder / "uapi/linux")

    def run_(self, *words, **more):
        """(status, output) of a command."""
        done = subprocess.run([str(word) for word in words], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
        return done.returncode, done.stdout

    def compile(self, compiler, language, text, *flags):
        """(status, output) of compiling a program."""
        source = self.folder / "program"
        source.write_text(text)
        return self.run_(compiler, "-Wall", "-Wextra", "-O1", *flags,
                         "-I", LIBRARY / "include", "-I", LIBRARY / "include/etch/sdt",
                         "-I", self.folder / "uapi", "-x", language, source,
                         "-o", self.folder / "program.out")


class Compiles(Scratch):
    """The headers, by each compiler that is here."""

    def each(self):
        """(compiler, language, standard) of those there are."""
        for language, compilers in COMPILERS.items():
            for compiler in compilers:
                for standard in STANDARDS[language] if shutil.which(compiler) else ():
                    yield compiler, language, standard

    def test_programs(self):
        for compiler, language, standard in self.each():
            for more in ("-fPIE", "-fPIC", "-DETCH_SDT_ADDRESSES"):
                with self.subTest(compiler=compiler, standard=standard, more=more):
                    said = self.compile(compiler, language, PROGRAM, f"-std={standard}",
                                        "-D_DEFAULT_SOURCE", more)
                    self.assertEqual(said, (0, ""))
                    # There is no /dev/etch here, and the program goes on.
                    status = self.run_(self.folder / "program.out")
                    self.assertEqual(status, (1 if os.path.exists("/dev/etch") else 0, ""))

    def test_a_strict_compiler_is_told_of(self):
        status, said = self.compile("gcc", "c", PROGRAM, "-std=c11")
        self.assertNotEqual(status, 0)
        self.assertIn("_DEFAULT_SOURCE", said)

    def test_what_must_not(self):
        for compiler, language, standard in self.each():
            for line, why in REFUSED.items():
                with self.subTest(compiler=compiler, standard=standard, line=line):
                    status, said = self.compile(compiler, language, REFUSES % line,
                                                f"-std={standard}", "-D_DEFAULT_SOURCE")
                    self.assertNotEqual(status, 0)
                    self.assertIn(why, said)

    def test_semaphores_are_warned_of(self):
        status, said = self.compile("gcc", "c", PROGRAM, "-std=gnu11", "-D_SDT_HAS_SEMAPHORES")
        self.assertEqual(status, 0)
        self.assertIn("nothing sets semaphores", said)

    def test_a_site_that_is_off_is_short(self):
        """Two loads, a comparison and a branch: 16 bytes."""
        status, said = self.compile("gcc", "c", """
#include <etch/mark.h>
int site(int x) { etch_mark("site", x); return x; }
int main(void) { return site(0); }
""", "-std=gnu11", "-O2")
        self.assertEqual((status, said), (0, ""))
        _, text = self.run_("objdump", "-d", "--no-show-raw-insn", "--disassemble=site",
                            self.folder / "program.out")
        code = re.findall(r"^ +([0-9a-f]+):\t(\S+)", text, re.M)
        branch = next(i for i, (_, word) in enumerate(code) if word in ("jne", "je"))
        at, behind = int(code[0][0], 16), int(code[branch + 1][0], 16)
        self.assertLessEqual(behind - at, 16 + 6, text)


class Python(Scratch):
    """The module, with a library that stands in for libetch."""

    def python(self, text, **env):
        """(status, output) of a program."""
        return self.run_(sys.executable, "-c", text, env={
            **os.environ, "PYTHONPATH": LIBRARY / "python", "PYTHONDONTWRITEBYTECODE": "1", **env})

    def stand_in(self):
        """The library's path."""
        library = self.folder / "libstand.so"
        (self.folder / "stand.c").write_text(STANDS_IN)
        self.assertEqual(self.run_("gcc", "-shared", "-fPIC", "-o", library,
                                   self.folder / "stand.c"), (0, ""))
        return str(library)

    def test_without_the_library(self):
        status, said = self.python("import etch\n"
                                   "e = etch.Event('p', 'e', a='u8')\n"
                                   "e(1)\nprint(e.error, e.enabled())", LIBETCH="/nowhere")
        self.assertEqual((status, said), (0, "no libetch.so.1 False\n"))

    def test_packs_records(self):
        status, said = self.python(
            "import etch\n"
            "e = etch.Event('p', 'e', a='u8', b='u64', s='string', c='s16', t='string')\n"
            "e(1, 2, 'ab', -3, None)\n"
            "e(1, 2, c=-3, t='', s='x\\0y')\n"
            "etch.Event('p', 'bare')()\n", LIBETCH=self.stand_in())
        self.assertEqual(status, 0, said)
        self.assertEqual(said.splitlines(), [
            "event p:e u8 a;u64 b;string s;s16 c;string t",
            # At 12: a, b at 16, s at 24, c at 28, t at 32; strings from 36 on.
            "emit 3 01000000" "0200000000000000" "24000300" "fdff0000" "27000700"
            "616200" "286e756c6c2900" "0000",
            "emit 3 01000000" "0200000000000000" "24000200" "fdff0000" "26000100"
            "7800" "00" "00",
            "event p:bare ",
            "emit 3 "])

    def test_refuses_a_type(self):
        status, said = self.python("import etch\netch.Event('p', 'e', a='float')")
        self.assertNotEqual(status, 0)
        self.assertIn("no type 'float'", said)

    def test_the_sample(self):
        status, said = self.run_(sys.executable, TOP / "samples/etch-user.py", 2, env={
            **os.environ, "PYTHONPATH": LIBRARY / "python", "LIBETCH": self.stand_in(),
            "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(status, 0, said)
        self.assertEqual(len([line for line in said.splitlines() if line.startswith("emit")]), 4)


@unittest.skipUnless((layout.LINUX / "tools/lib/etch/Makefile").is_file(),
                     "there is no kernel tree: make tree")
class Installed(Scratch):
    """The files that make install leaves, and a program that is made with them."""

    def test_install(self):
        (self.folder / "out").mkdir()
        root = self.folder / "root"
        status, said = self.run_("make", "-s", "-C", layout.LINUX / "tools/tracing/etch",
                                 f"O={self.folder}/out/", f"DESTDIR={root}", "install-lib")
        self.assertEqual(status, 0, said)
        for name in ("lib/libetch.so.1", "lib/libetch.so", "lib/pkgconfig/etch.pc",
                     "include/etch/mark.h", "include/etch/user.h", "include/etch/sdt/sys/sdt.h",
                     "include/etch/uapi/linux/etch_user.h",
                     "lib/python3/dist-packages/etch.py"):
            self.assertTrue((root / "usr" / name).exists(), name)
        (self.folder / "p.c").write_text("#include <etch/emit.h>\n#include <etch/mark.h>\n"
                                         "int main(void) { etch_mark(\"a\", 1);\n"
                                         "return etch_event(\"a\", \"b\", \"u32 c\") < 0; }\n")
        # The paths of pkg-config, below the folder.
        _, flags = self.run_("pkg-config", "--cflags", "--libs", "etch", env={
            **os.environ, "PKG_CONFIG_LIBDIR": root / "usr/lib/pkgconfig",
            "PKG_CONFIG_SYSROOT_DIR": root, "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1",
            "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"})
        flags = flags.replace("-idirafter /usr", f"-idirafter {root}/usr").split()
        self.assertEqual(self.run_("gcc", "-Wall", "-o", self.folder / "p", self.folder / "p.c",
                                   *flags), (0, ""))
        status, said = self.run_(self.folder / "p", env={
            **os.environ, "LD_LIBRARY_PATH": root / "usr/lib"})
        self.assertEqual((status, said), (0 if os.path.exists("/dev/etch") else 1, ""))


if __name__ == "__main__":
    unittest.main()
