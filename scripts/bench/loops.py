# SPDX-License-Identifier: GPL-2.0
"""What the compiler made of the loops that are measured, by objdump.

A figure is only worth what its loop is: each case must be one loop, counted
down by one, and must hold its site once. Read from the module as it lies on
disk, where a branch of a static key is a NOP.
"""

import re
import subprocess

FUNCTION = re.compile(r"^[0-9a-f]+ <bench_loop_(\w+)>:$")
# address, bytes, instruction
CODE = re.compile(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t(.*)$")
JUMP = re.compile(r"^(j\w+)\s+([0-9a-f]+)\b")
COUNT = re.compile(r"^(sub[lq]? +\$0x1,|dec[lq]? +)%[er]\w+$")
NOP = re.compile(r"^(nop|xchg +%ax,%ax|data16|cs nop)")


class LoopError(Exception):
    """An error in a loop, as a sentence."""


def functions(text):
    """{case: [(address, bytes, instruction)]} from objdump -dw."""
    found, current = {}, None
    for line in text.splitlines():
        if match := FUNCTION.match(line):
            current = found.setdefault(match[1], [])
        elif not line.strip():
            current = None
        elif current is not None and (match := CODE.match(line)):
            current.append((int(match[1], 16), len(match[2].split()),
                            match[3].strip()))
    return found


def body(case, code):
    """The instructions of the one loop that counts, its last jump included.

    Out of line there may be others: mainline's site may walk its functions.
    """
    closing = []
    for (_, _, before), (address, _, text) in zip(code, code[1:]):
        match = JUMP.match(text)
        if (match and match[1] != "jmp" and COUNT.match(before)
                and int(match[2], 16) <= address):
            closing.append((int(match[2], 16), address))
    if len(closing) != 1:
        raise LoopError(f"{case}: {len(closing)} loops count, not one")
    first, last = closing[0]
    return [item for item in code if first <= item[0] <= last]


def site(case, inside):
    """The code in a loop besides the counting, in words."""
    rest = [(size, text) for _, size, text in inside[:-2]]
    if not rest:
        return "nothing"
    if len(rest) == 1 and NOP.match(rest[0][1]):
        return f"a NOP of {rest[0][0]} bytes"
    words = [text.split()[0] for _, text in rest]
    if words[-1].startswith("j") and 2 <= len(rest) <= 4:
        if words[-2][:4] in ("test", "cmpb", "cmpl", "cmp"):
            return f"load and test, {sum(size for size, _ in rest)} bytes"
    raise LoopError(f"{case}: a loop of {'; '.join(words)}")


def disassemble(module):
    """What objdump says of a module's file."""
    return subprocess.run(["objdump", "-dw", str(module)], check=True,
                          text=True, stdout=subprocess.PIPE).stdout


def look(module):
    """{case: what its site is} of a module's file."""
    return {case: site(case, body(case, code))
            for case, code in functions(disassemble(module)).items()}
