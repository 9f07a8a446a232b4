# SPDX-License-Identifier: GPL-2.0
"""Small x86-64 files for the tests: one event, one site, one stub, as gcc and
objtool leave them in a kernel with Etch. What a test breaks it replaces."""

import pathlib
import subprocess
import tempfile

SITE = """
	.text
	.globl	__schedule
	.type	__schedule, @function
__schedule:
	push	%rbx
.Lsite:	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
.Lback:	pop	%rbx
	ret
.Lout:	mov	%rbx, %rdi
	call	__tracestub_sched_switch
	jmp	.Lback
	.size	__schedule, . - __schedule

	.section __jump_table, "aw"
	.balign	8
	.long	.Lsite - .
	.long	.Lout - .
	.quad	__tracepoint_sched_switch + 8 + 2 - .
"""

# In a preemptible kernel.
COUNTED = SITE.replace("""	call	__tracestub_sched_switch
""", """	incl	%gs:0x20
	call	__tracestub_sched_switch
	decl	%gs:0x20
	jne	.Lback
	call	preempt_schedule_notrace_thunk
""")

STUB = """
	.text
	.globl	__tracestub_sched_switch
	.type	__tracestub_sched_switch, @function
__tracestub_sched_switch:
.Lgate:	mov	$0, %edx
	test	%edx, %edx
	jle	.Lother
.Lsome:	jmp	etch_write
.Lother:	test	$1, %dl
	jne	.Lfuncs
	test	%edx, %edx
	je	.Ldone
	jmp	__tracemore_sched_switch
.Ldone:	ret
.Lfuncs:	jmp	__SCT__tp_func_sched_switch
	.size	__tracestub_sched_switch, . - __tracestub_sched_switch

	.type	__tracemore_sched_switch, @function
__tracemore_sched_switch:
	mov	__tracepoint_sched_switch + 0x50(%rip), %rax
	test	%rax, %rax
	je	.Lnone
	jmp	__SCT__tp_func_sched_switch
.Lnone:	ret
	.size	__tracemore_sched_switch, . - __tracemore_sched_switch

	.section __imv_table, "a"
	.balign	8
	.long	.Lgate - .
	.long	4
	.quad	__tracepoint_sched_switch + 8 - .

	.data
	.balign	32
	.globl	__tracepoint_sched_switch
	.type	__tracepoint_sched_switch, @object
__tracepoint_sched_switch:
	.zero	96
	.size	__tracepoint_sched_switch, 96
"""

# As the kernel's linker script: tables are parts of other sections, between
# two symbols.
SCRIPT = """
SECTIONS
{
	. = 0xffffffff81000000;
	.text : { *(.text) }
	.data : {
		*(.data)
		__start___jump_table = .; *(__jump_table) __stop___jump_table = .;
		__start___imv_table = .; *(__imv_table) __stop___imv_table = .;
	}
}
"""


def run(*command):
    """A tool of binutils; it must succeed."""
    subprocess.run([str(word) for word in command], check=True)


class Files:
    """A folder for one test's files."""

    def __init__(self, test):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def module(self, source, name="module.o"):
        """An assembled file: relocatable, like a module."""
        text = self.path / "source.s"
        text.write_text(source)
        run("as", "--64", "-o", self.path / name, text)
        return self.path / name

    def kernel(self, source):
        """A linked file, like vmlinux."""
        script = self.path / "script"
        script.write_text(SCRIPT)
        run("ld", "-T", script, "--no-warn-rwx-segments",
            "--defsym=etch_write=0xffffffff81800000",
            "--defsym=preempt_schedule_notrace_thunk=0xffffffff81a00000",
            "--defsym=__SCT__tp_func_sched_switch=0xffffffff81900000",
            "-o", self.path / "vmlinux", self.module(source))
        return self.path / "vmlinux"
