# SPDX-License-Identifier: GPL-2.0
"""The sites of tracepoints in machine code, and their figures."""

import contextlib
import io
import unittest
from unittest import mock

import assembled
import disassembly
import elf
import sites
import tracepoint

GOOD = assembled.SITE + assembled.STUB

# Mainline's, as objdump -dr -w shows it in an object.
MAINLINE = """\

core.o:     file format elf64-x86-64


Disassembly of section .text:

0000000000004760 <kick_process>:
    47a7:	66 90                	xchg   %ax,%ax
    47a9:	5b                   	pop    %rbx
    47aa:	c3                   	ret
    47ba:	65 8b 05 00 00 00 00 	mov    %gs:0x0(%rip),%eax        # 47c1 <kick_process+0x61>	47bd: R_X86_64_PC32	pcpu_hot+0x8
    47c1:	48 0f a3 05 00 00 00 00 	bt     %rax,0x0(%rip)        # 47c9 <kick_process+0x69>	47c5: R_X86_64_PC32	__cpu_online_mask-0x4
    47c9:	73 de                	jae    47a9 <kick_process+0x49>
    47e6:	e8 00 00 00 00       	call   47eb <kick_process+0x8b>	47e7: R_X86_64_PLT32	__SCT__tp_func_ipi_send_cpu-0x4
    47eb:	eb bc                	jmp    47a9 <kick_process+0x49>

Disassembly of section .init.text:

0000000000000000 <first>:
   0:	f3 c3                	repz ret
   2:	2e e9 00 00 00 00    	cs jmp 8 <first+0x8>	4: R_X86_64_PLT32	second-0x4
"""


class Disassembly(unittest.TestCase):
    """objdump's lines."""

    def setUp(self):
        self.functions = disassembly.read(
            MAINLINE.splitlines(), bases={".text": 0x10000},
            place=lambda name, addend: {"second": 0x500}.get(name, 0) + addend)
        self.insns = self.functions[0].insns

    def test_functions(self):
        self.assertEqual([(one.name, one.address) for one in self.functions],
                         [("kick_process", 0x14760), ("first", 0)])

    def test_bytes(self):
        self.assertEqual(self.insns[0x147a7].raw, b"\x66\x90")

    def test_operands_are_what_is_relocated(self):
        text = self.insns[0x147ba].text
        self.assertIn("<pcpu_hot+0x8>", text)
        self.assertNotIn("kick_process", text)

    def test_jumps(self):
        one = self.insns[0x147c9]
        self.assertEqual((one.jump, one.target), ("maybe", 0x147a9))
        self.assertEqual(self.insns[0x147eb].jump, "always")
        self.assertEqual(self.insns[0x147aa].jump, "end")

    def test_calls(self):
        one = self.insns[0x147e6]
        self.assertEqual((one.jump, one.callee),
                         ("call", "__SCT__tp_func_ipi_send_cpu"))

    def test_prefixes(self):
        one = self.functions[1].insns[2]
        self.assertEqual((one.jump, one.callee, one.target),
                         ("always", "second", 0x500))

    def test_what_is_not_wanted_is_left_out(self):
        functions = disassembly.read(MAINLINE.splitlines(),
                                     lambda name, address: name == "first")
        self.assertEqual([one.name for one in functions], ["first"])

    def test_names(self):
        names = ["f", "f.cold", "f.isra.0", ".text"]
        self.assertEqual([disassembly.base_name(name) for name in names],
                         ["f", "f", "f", ".text"])


class Sites(unittest.TestCase):
    """What a site is, in a kernel and in a module."""

    def read(self, source, linked=True):
        """The one site."""
        files = assembled.Files(self)
        image = elf.Image(files.kernel(source) if linked
                          else files.module(source))
        found = tracepoint.read(image)[0]
        self.assertEqual(len(found), 1)
        return found[0]

    def test_kernel_and_module(self):
        for linked in (True, False):
            with self.subTest(linked=linked):
                site = self.read(GOOD, linked)
                self.assertEqual(str(site), "sched_switch in __schedule")
                self.assertEqual((site.inline(), site.outline()), (5, 10))
                self.assertEqual(len(site.calls()), 1)

    def test_a_tail_call_ends_it(self):
        source = GOOD.replace("call	__tracestub_sched_switch\n	jmp	.Lback",
                              "jmp	__tracestub_sched_switch")
        for linked in (True, False):
            with self.subTest(linked=linked):
                site = self.read(source, linked)
                self.assertIn(site.outline(), (5, 8))
                self.assertEqual(len(site.calls()), 1)

    def test_a_return_ends_it(self):
        site = self.read(GOOD.replace("	jmp	.Lback", "	pop	%rbx\n	ret"))
        self.assertEqual(site.outline(), 10)

    def test_branches_are_followed(self):
        source = GOOD.replace("	jmp	.Lback", """	test	%eax, %eax
	jne	.Lback
	call	.Lfurther
	jmp	.Lback
.Lfurther:
	nop""")
        # mov 3, call 5, test 2, jne 2, call 5, jmp 2
        self.assertEqual(self.read(source).outline(), 19)

    def test_a_site_that_only_asks(self):
        source = GOOD.replace("	call	__tracestub_sched_switch\n	jmp	.Lback",
                              "	call	etch_write\n	jmp	.Lback")
        self.assertEqual(self.read(source).calls(), [])

    def test_other_jump_labels_are_none(self):
        source = GOOD.replace("__tracepoint_sched_switch + 8 + 2 - .",
                              "__schedule - .")
        image = elf.Image(assembled.Files(self).kernel(source))
        self.assertEqual(tracepoint.read(image)[0], [])

    def test_places(self):
        found = [tracepoint.Site("e", code, 0) for code in (30, 10, 20)]
        found[2].function = "g"
        places = tracepoint.by_place(found)
        self.assertEqual({place: site.code for place, site in places.items()},
                         {("", "e", 0): 10, ("", "e", 1): 30,
                          ("g", "e", 0): 20})


class Figures(unittest.TestCase):
    """What sites.py prints."""

    def test_two_kernels(self):
        files = assembled.Files(self)
        ours = files.module(GOOD, "ours.o")
        theirs = files.module(GOOD.replace(
            "call	__tracestub_sched_switch",
            "call	__SCT__tp_func_sched_switch\n	.nops	20"), "theirs.o")
        out = io.StringIO()
        with mock.patch("sys.argv", ["sites.py", str(ours), str(theirs)]), \
                contextlib.redirect_stdout(out):
            sites.main()
        rows = {" ".join(words[:-3]): words[-3:] for words
                in map(str.split, out.getvalue().splitlines())
                if len(words) > 3}
        self.assertEqual(rows["sched_switch in __schedule"],
                         ["10", "30", "0.33"])
        # in line 5, out of line 10 and 30, an entry of 16
        self.assertEqual(rows["sum for each site"], ["31.0", "51.0", "0.61"])


if __name__ == "__main__":
    unittest.main()
