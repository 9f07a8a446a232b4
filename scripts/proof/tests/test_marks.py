# SPDX-License-Identifier: GPL-2.0
"""etch_mark(): an expression that cannot be a field does not compile; one line says so."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import layout

HEADER = layout.TOP / "include-trace/linux/etch_mark.h"

# As much of the kernel's headers as the macro needs.
SHIM = {
    "args.h": """
#define COUNT_ARGS_(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, n, \\
		    X...) n
#define COUNT_ARGS(X...) COUNT_ARGS_(, ##X, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PASTE(a, b) a ## b
#define CONCATENATE(a, b) PASTE(a, b)
""",
    "build_bug.h": "#define static_assert(expr, msg...) ASSERT(expr, ##msg, #expr)\n"
                   "#define ASSERT(expr, msg, ...) _Static_assert(expr, msg)\n",
    "compiler.h": """
#define __force
#define __used __attribute__((used))
#define __aligned(n) __attribute__((aligned(n)))
#define __section(name) __attribute__((section(name)))
#define __same_type(a, b) __builtin_types_compatible_p(typeof(a), typeof(b))
#define is_signed_type(type) ((type)-1 < (type)1)
""",
    "jump_label.h": """
struct static_key { long enabled, entries; };
#define static_key_false(key) __builtin_expect((key)->enabled, 0)
""",
    "types.h": """
#define bool _Bool
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
""",
}

SOURCE = """
#include <linux/etch_mark.h>

struct thing {
	unsigned int bits : 3;
	u64 many : 40;
	bool truth;
	char name[16];
	u8 address[6];
	const char *label;
	struct { int x; } inner;
	enum { RED } colour;
};

int site(struct thing *p);
int site(struct thing *p)
{
	etch_mark(%s);
	return 0;
}
"""

# Kernels are built by either.
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]

NO_FIELD = "etch_mark(): neither a number, nor a pointer, nor a string"


class Marks(unittest.TestCase):
    """With the option and without."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.top = Path(self.folder.name)
        (self.top / "linux").mkdir()
        for name, text in SHIM.items():
            (self.top / "linux" / name).write_text(text)
        (self.top / "linux/etch_mark.h").write_text(HEADER.read_text())

    def tearDown(self):
        self.folder.cleanup()

    def errors(self, compiler, arguments, *options):
        """What the compiler has against a marker."""
        result = subprocess.run(
            [compiler, "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
             "-Wno-unused-parameter", "-I", self.top,
             *options, "-x", "c", "-"], input=SOURCE % arguments, text=True, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return [line for line in result.stderr.split("\n") if "error:" in line]

    def both(self, arguments):
        """With CONFIG_ETCH_MARK and without it, by each compiler."""
        return [self.errors(compiler, arguments, *options) for compiler in COMPILERS
                for options in (("-DCONFIG_ETCH_MARK=1",), ())]

    def test_fields(self):
        for arguments in ('"m"', '"m", p->bits, p->many, p->truth, p->name, p->colour',
                          '"m", p->label, p, &p->inner, p->address + 1, p->address[0], 1L',
                          '"m", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12'):
            for errors in self.both(arguments):
                self.assertEqual([], errors, arguments)

    def test_what_is_no_field(self):
        for wrong in ("p->inner", "*p", "p->address", "1.5"):
            for errors in self.both(f'"m", p->truth, {wrong}'):
                self.assertEqual(1, len(errors), errors)
                self.assertIn(NO_FIELD, errors[0])

    def test_too_many(self):
        for errors in self.both('"m", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13'):
            self.assertEqual(1, len(errors), errors)
            self.assertIn("etch_mark(): too many expressions", errors[0])

    def test_a_name_that_is_no_literal(self):
        for errors in self.both("p->label, 1"):
            self.assertEqual(1, len(errors), errors)


if __name__ == "__main__":
    unittest.main()
