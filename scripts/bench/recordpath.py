#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The machine code of a record's path in two builds, function by function.

  recordpath.py BASE OTHER [EVENT]    default: sched_switch

BASE and OTHER are kernels (vmlinux) of the same configuration. Compared are the stub and
the serializer of one event, and the functions of kernel/etch/ that every record passes.
Addresses do not count, nor how far a jump goes. A function with more instructions than in
BASE, or that only one kernel has, makes the exit status 1.
"""

import re
import subprocess
import sys


EVERY = ("etch_write_begin", "etch_write_begin_mask", "etch_write_begin_several",
         "etch_write_begin_many", "etch_write_begin_other",
         "etch_write_end", "etch_write_end_copied", "etch_ring_reserve_slow", "switch_block")
# What the compiler appends to a copy of its own.
COPY = re.compile(r"\.(?:isra|constprop|part)\.\d+|\.cold")
PLACE = re.compile(r"0x[0-9a-f]{5,}|\b[0-9a-f]+ <.*>|\(%rip\)")
LINE = re.compile(r"^ *[0-9a-f]+:\t(.*)$")


def functions(event):
    return (f"__tracestub_{event}", f"__tracemore_{event}", f"etch_write_{event}", *EVERY)


def symbols(image):
    """{name without what the compiler appends: symbol}"""
    out = subprocess.run(["nm", image], check=True, text=True, stdout=subprocess.PIPE).stdout
    names = [line.split()[-1] for line in out.splitlines() if line.split()[-2] in "tT"]
    return {COPY.sub("", name): name for name in names if not name.endswith(".cold")}


def code(image, symbol):
    """The instructions of a function, without addresses."""
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={symbol}",
                          image], check=True, text=True, stdout=subprocess.PIPE).stdout
    found = []
    for line in filter(None, map(LINE.match, out.splitlines())):
        text = re.sub(r"\s*#.*", "", line[1])
        target = re.search(r"<([^+>]*)", text)
        own = target and target[1] == symbol
        text = PLACE.sub("", text)
        found.append(" ".join(text.split()) + (
            "" if not target else " own" if own else " " + COPY.sub("", target[1])))
    return found


def compare(base, other, event):
    """(function, instructions in base, in other, what differs)"""
    names = symbols(base), symbols(other)
    for name in functions(event):
        one, two = (code(image, there[name]) if name in there else None
                    for image, there in zip((base, other), names))
        if one is None and two is None:
            continue
        if one is None or two is None:
            verdict = "only in " + ("OTHER" if one is None else "BASE")
        elif one == two:
            verdict = "the same"
        elif sorted(one) == sorted(two):
            verdict = "the same instructions, in another order"
        else:
            verdict = "more" if len(two) > len(one) else "fewer" if len(two) < len(one) \
                else "as many, others"
        yield name, one and len(one), two and len(two), verdict


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    base, other, event = [*sys.argv[1:], "sched_switch"][:3]
    worse = False
    print(f"{'function':28} {'BASE':>5} {'OTHER':>5}")
    for name, one, two, verdict in compare(base, other, event):
        print(f"{name:28} {one or '-':>5} {two or '-':>5}  {verdict}")
        worse |= one is None or two is None or two > one
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
