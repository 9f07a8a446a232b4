# SPDX-License-Identifier: GPL-2.0
"""What is checked of a kernel's code: each check is seen to fail on code that is
wrong in one thing."""

import unittest

import assembled
import site_checks

GOOD = assembled.COUNTED + assembled.STUB
NOP = ".byte	0x0f, 0x1f, 0x44, 0x00, 0x00"


class Checks(unittest.TestCase):
    """The checks of a kernel and a module."""

    def failed(self, *changes, module=None):
        """Names of the checks that fail on a kernel with changes."""
        source = GOOD
        for old, new in changes:
            self.assertIn(old, source)
            source = source.replace(old, new)
        files = assembled.Files(self)
        kernel = files.kernel(source)
        found = site_checks.cases(kernel, files.module(module or GOOD))
        self.assertEqual(len(found), 9)
        return [case.name.split(": ")[1] for case in found
                if case.status != "passed"]

    def test_good(self):
        self.assertEqual(self.failed(), [])
        self.assertEqual(self.failed((assembled.COUNTED, assembled.SITE)), [])

    def test_a_short_nop(self):
        self.assertEqual(self.failed((NOP, ".byte 0x66, 0x90")), [])

    def test_a_jump_that_objtool_forgot(self):
        # Then the code is in line, and nothing is out of line.
        self.assertEqual(self.failed((NOP, "jmp .Lout")),
                         ["each is one NOP in the kernel",
                          "they call stubs in the kernel",
                          "sched_switch is arguments and a call"])

    def test_another_nop(self):
        self.assertIn("each is one NOP in the kernel",
                      self.failed((NOP, ".byte 0x0f, 0x1f, 0x40, 0x00")))

    def test_a_module(self):
        self.assertEqual(self.failed(module=GOOD.replace(NOP, "nop; nop")),
                         ["each is one NOP in a module"])

    def test_a_call_that_is_not_the_stub(self):
        self.assertEqual(
            self.failed(("call	__tracestub_sched_switch",
                         "call	__SCT__tp_func_sched_switch")),
            ["they call stubs in the kernel"])

    def test_two_calls(self):
        self.assertEqual(self.failed(("	jmp	.Lback",
                                      "	call	etch_write\n	jmp	.Lback")),
                         ["sched_switch is arguments and a call"])

    def test_a_branch_out_of_line(self):
        self.assertEqual(
            self.failed((".Lout:", ".Lout:	test	%eax, %eax\n	jne	.Lback\n")),
            ["sched_switch is arguments and a call"])

    def test_a_second_count(self):
        self.assertEqual(
            self.failed((".Lout:", ".Lout:	decl	%gs:0x20\n	jne	.Lback\n")),
            ["sched_switch is arguments and a call"])

    def test_a_site_that_is_gone(self):
        self.assertEqual(self.failed(("__schedule", "elsewhere")),
                         ["sched_switch is arguments and a call"])

    def test_an_operand_that_is_not_zero(self):
        self.assertEqual(
            self.failed(("mov	$0, %edx", "mov	$1, %edx")),
            ["patched reads in the kernel",
             "sched_switch's stub reads no memory to record"])

    def test_a_register_with_a_prefix(self):
        self.assertIn("patched reads in the kernel",
                      self.failed(("mov	$0, %edx", "mov	$0, %r9d")))

    def test_a_width_that_is_not_patched(self):
        self.assertEqual(self.failed(("	.long	4\n", "	.long	8\n")),
                         ["patched reads in the kernel"])

    def test_no_table(self):
        module = assembled.COUNTED + assembled.STUB.split("	.section")[0]
        self.assertEqual(self.failed(module=module),
                         ["patched reads in a module"])

    def test_a_stub_that_loads_first(self):
        for place in (".Lgate:", ".Lsome:"):
            with self.subTest(place=place):
                load = "	mov	__tracepoint_sched_switch + 16(%rip), %rcx\n"
                self.assertEqual(
                    self.failed((f"\n{place}", f"\n{place}{load}")
                                if place == ".Lsome:" else
                                (f"\n{place}", f"\n{load}{place}")),
                    ["sched_switch's stub reads no memory to record"])

    def test_a_stub_that_tests_another_bit(self):
        self.assertEqual(
            self.failed(("%edx\n	jle", "%edx\n	je")),
            ["sched_switch's stub reads no memory to record"])

    def test_a_stub_that_forgets_the_others(self):
        self.assertEqual(
            self.failed(("jmp	__tracemore_sched_switch", "nop")),
            ["sched_switch's stub reads no memory to record"])

    def test_a_stub_that_calls(self):
        for what in ("etch_write", "__tracemore_sched_switch"):
            with self.subTest(what=what):
                self.assertEqual(self.failed((f"jmp	{what}", f"call	{what}\n	ret")),
                                 ["sched_switch's stub leaves no frame"])

    def test_functions_that_are_called(self):
        for place in (".Lfuncs:	", "je	.Lnone\n	"):
            with self.subTest(place=place):
                self.assertEqual(
                    self.failed((f"{place}jmp	__SCT__tp_func_sched_switch",
                                 f"{place}call	__SCT__tp_func_sched_switch\n	ret")),
                    ["sched_switch's stub leaves no frame"])

    def test_a_stub_that_never_looks(self):
        self.assertEqual(
            self.failed(("__tracepoint_sched_switch + 0x50(%rip)", "(%rdi)")),
            ["sched_switch's stub reads no memory to record"])

    def test_files_that_cannot_be_read(self):
        files = assembled.Files(self)
        (files.path / "text").write_text("no ELF")
        for path in (files.path / "absent", files.path / "text"):
            found = site_checks.cases(files.kernel(GOOD), path)
            self.assertEqual([case.status for case in found], ["failed"])


if __name__ == "__main__":
    unittest.main()
