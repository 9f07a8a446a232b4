# SPDX-License-Identifier: GPL-2.0
"""Machine code as objdump shows it, read once: functions and instructions."""

import re
import subprocess
from collections import namedtuple

import elf

# target: where a jump or a call goes, or None; callee: the symbol at the target,
# without "+offset"; jump: "" (none), "always", "maybe", "call", "end"
Insn = namedtuple("Insn", "address raw text target callee jump")

HEAD = re.compile(r"^([0-9a-f]+) <(.*)>:$")
SECTION = re.compile(r"^Disassembly of section (.*):$")
CODE = re.compile(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)$")
RELOC = re.compile(r"\t[0-9a-f]+: R_X86_64_\w+\t(\S+)")
TARGET = re.compile(r"^(j\w+|call|xbegin)(?:,p[nt])? +([0-9a-f]+)(?: <(.*)>)?$")
PREFIX = re.compile(r"^(?:(?:bnd|notrack|cs|ds|rex\S*|data16) )+(?=j|call|ret)")


def kind(text):
    """What an instruction does to the flow of control."""
    word = text.split(" ", 1)[0].split(",")[0]
    if word == "jmp":
        return "always"
    if word == "call":
        return "call"
    if word[:1] == "j" or word.startswith("loop"):
        return "maybe"
    if word in ("ret", "iret", "iretq", "ud2", "hlt", "sysret", "sysretq"):
        return "end"
    return ""


def insn(address, raw, text):
    """An instruction from its address, bytes and text."""
    text = PREFIX.sub("", text.strip())
    target, callee = None, ""
    match = TARGET.match(text)
    if match:
        target = int(match.group(2), 16)
        callee = (match.group(3) or "").split("+0x")[0]
    return Insn(address, bytes.fromhex(raw), text, target, callee, kind(text))


class Function:
    """A symbol's code."""

    def __init__(self, name, address):
        self.name, self.address = name, address
        self.insns = {}


def base_name(name):
    """A function's name in the source: without .cold, .isra.0 and the like."""
    return name.split(".")[0] or name


class _Reader:
    """Collects the functions of objdump's lines, those that are wanted."""

    def __init__(self, bases, wanted, place):
        self.bases, self.wanted, self.place = bases, wanted, place
        self.base = 0
        self.functions = []
        self.function = None

    def line(self, line):
        """Take a line."""
        match = CODE.match(line)
        if match:
            if self.function:
                self._code(match)
            return
        match = HEAD.match(line)
        if match:
            self._head(match)
            return
        match = SECTION.match(line)
        if match:
            self.base = self.bases.get(match.group(1), 0)
            self.function = None

    def _head(self, match):
        function = Function(match.group(2),
                            int(match.group(1), 16) + self.base)
        self.function = None
        if self.wanted(function.name, function.address):
            self.function = function
            self.functions.append(function)

    def _code(self, match):
        text, *relocations = RELOC.split(match.group(3))[:2]
        one = insn(int(match.group(1), 16) + self.base, match.group(2), text)
        if relocations:
            one = self._relocate(one, relocations[0])
        elif one.target is not None:
            one = one._replace(target=one.target + self.base)
        self.function.insns[one.address] = one

    def _relocate(self, one, operand):
        """What the linker, or the loader, will put there."""
        if one.target is None:
            return one._replace(text=f"{one.text.split('#')[0]}# <{operand}>")
        name, addend = split_addend(operand)
        # Counted from the end of the operand, four bytes on.
        return one._replace(target=self.place(name, addend + 4), callee=name)


def split_addend(text):
    """("name", -4) of "name-0x4"."""
    match = re.match(r"^(.*?)([+-]0x[0-9a-f]+)?$", text)
    return match.group(1), int(match.group(2) or "0", 16)


def read(lines, wanted=lambda name, address: True, bases=None,
         place=lambda name, addend: None):
    """The functions in objdump's lines. bases: addresses of sections, for
    files whose own addresses all begin at 0; place: address of a name."""
    reader = _Reader(bases or {}, wanted, place)
    for line in lines:
        reader.line(line.rstrip("\n"))
    return reader.functions


def disassemble(image, wanted=lambda name, address: True):
    """The functions of an image that are wanted, by one objdump."""
    relocatable = image.type == elf.RELOCATABLE
    options = ["-dr", "-w"] if relocatable else ["-d", "-w"]
    bases = {}
    if relocatable:
        bases = {section.name: section.address for section in image.sections
                 if section.allocated()}

    def place(name, addend):
        address = image.address(name)
        if address is None and name in bases:
            address = bases[name]
        return None if address is None else address + addend

    with subprocess.Popen(["objdump", *options, image.path], text=True,
                          stdout=subprocess.PIPE) as process:
        functions = read(process.stdout, wanted, bases, place)
    if process.returncode:
        raise elf.ElfError(f"objdump could not read {image.path}")
    return functions
