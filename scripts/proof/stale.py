#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""stale.py [CHANGES]: does QEMU execute instructions that memory has no more?

The kernel of lane x86-64, and mainline's in its configuration, change code CHANGES times
(default 1000) while both processors execute it: scripts/bench/kernel/stale.c. Each does so
with one thread of QEMU for each processor, and with one for both. An experiment, no test: it
prints the counts, and fails only if a kernel cannot be built or booted.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE.parent / "bench")]
import figures
import kernels
import layout
import machine
import signals

LANE = "x86-64"
LINE = re.compile(r"^bench: stale (\w+)((?: \w+ \d+)+)$")
THREADS = {"two": [machine.THREADS], "one": []}
COLUMNS = {"changes": "changes", "present": "in memory", "absent": "not in memory",
           "after": "after so many changes", "quiet": "in quiet code", "wrong": "old state"}


def parse(lines):
    """{what: {name: count}} of a guest's report."""
    found = {}
    for match in filter(None, map(LINE.match, lines)):
        words = match[2].split()
        found[match[1]] = dict(zip(words[::2], map(int, words[1::2])))
    return found


def rows(tracer, threads, found):
    """The rows of the table that one boot gives."""
    return [[f"{tracer}, {what}", threads, *(str(counts[name]) for name in COLUMNS)]
            for what, counts in found.items()]


def measure(tracer, changes):
    """The rows of one kernel."""
    kernel = kernels.Kernel(LANE, tracer, "stale")
    kernel.build(layout.TOP / "scripts/bench/kernel")
    table = []
    for threads, words in THREADS.items():
        lines = kernel.boot("stale", [f"stale.times={changes}", *words])
        found = parse(lines)
        if "jump" not in found:
            raise kernels.KernelError(f"{tracer}: bench-stale.ko reported nothing")
        table += rows(tracer, threads, found)
    return table


def main():
    signals.unwind()
    changes = int(sys.argv[1]) if sys.argv[1:] else 1000
    try:
        kernels.run([kernels.SCRIPTS / "series/tree.py", "build"])
        table = measure("mainline", changes) + measure("etch", changes)
    except (kernels.KernelError, machine.MachineError, OSError) as error:
        sys.exit(f"### error: {error}")
    print("\nBreakpoints that the kernel does not know\n")
    print(figures.grid(["kernel", "threads", *COLUMNS.values()], table))


if __name__ == "__main__":
    main()
