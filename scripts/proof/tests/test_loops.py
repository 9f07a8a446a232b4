# SPDX-License-Identifier: GPL-2.0
"""The look at measured loops, on what objdump prints."""

import unittest

import loops

# Nothing, a static key's branch, and a site whose slow path has a loop and a
# count of its own.
GOOD = """\
0000000000000100 <bench_loop_empty>:
 100:\t48 83 ef 01          \tsub    $0x1,%rdi
 104:\t75 fa                \tjne    100 <bench_loop_empty>
 106:\tc3                   \tret

0000000000000140 <bench_loop_key>:
 140:\t0f 1f 44 00 00       \tnopl   0x0(%rax,%rax,1)
 145:\t48 83 ef 01          \tsub    $0x1,%rdi
 149:\t75 f5                \tjne    140 <bench_loop_key>
 14b:\tc3                   \tret
 14c:\teb f7                \tjmp    145 <bench_loop_key+0x5>

0000000000000200 <bench_loop_off>:
 200:\t55                   \tpush   %rbp
 201:\ta1 00 00 00 00 00    \tmovabs 0x0,%eax
 20a:\t85 c0                \ttest   %eax,%eax
 20c:\t7f 08                \tjg     216 <bench_loop_off+0x16>
 20e:\t48 83 eb 01          \tsub    $0x1,%rbx
 212:\t75 ed                \tjne    201 <bench_loop_off+0x1>
 214:\tc9                   \tleave
 215:\tc3                   \tret
 216:\tff d0                \tcall   *%rax
 218:\t48 83 3b 00          \tcmpq   $0x0,(%rbx)
 21c:\t75 f8                \tjne    216 <bench_loop_off+0x16>
 21e:\t65 ff 0d 00 00 00 00 \tdecl   %gs:0x0(%rip)
 225:\t75 e7                \tjne    20e <bench_loop_off+0xe>
 227:\teb e5                \tjmp    20e <bench_loop_off+0xe>
"""


def look(text):
    """{case: site} of objdump's text."""
    return {case: loops.site(case, loops.body(case, code))
            for case, code in loops.functions(text).items()}


class Look(unittest.TestCase):
    """Loops that are recognised, and loops that are refused."""

    def test_what_the_sites_are(self):
        self.assertEqual(look(GOOD), {
            "empty": "nothing", "key": "a NOP of 5 bytes",
            "off": "load and test, 10 bytes"})

    def test_a_loop_that_was_optimised_away(self):
        lines = GOOD.splitlines(keepends=True)
        with self.assertRaises(loops.LoopError):
            look("".join(lines[:2] + lines[3:5]))

    def test_a_site_that_is_there_twice(self):
        nop = " 140:\t0f 1f 44 00 00       \tnopl   0x0(%rax,%rax,1)\n"
        with self.assertRaises(loops.LoopError):
            look(GOOD.replace(nop, nop + nop))

    def test_a_second_loop_that_counts(self):
        second = GOOD.splitlines(keepends=True)[1:3]
        with self.assertRaises(loops.LoopError):
            look(GOOD.splitlines(keepends=True)[0] + "".join(second * 2))

    def test_a_site_that_moved_registers(self):
        with self.assertRaises(loops.LoopError):
            look(GOOD.replace("test   %eax,%eax", "mov    %eax,%edx"))


if __name__ == "__main__":
    unittest.main()
