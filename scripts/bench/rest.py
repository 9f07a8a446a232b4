# SPDX-License-Identifier: GPL-2.0
"""What the trees cost while nobody uses them: memory, and the time of control.

Etch's and ftrace's in one kernel, in one boot, taking turns; in a kernel of some
500 events and in one of some 2,400.
"""

import enable
import figures
import kernels
import layout
import targets

TITLE = "At rest, and under control"
LANES = ("um", "x86-64-events")
ROUNDS = 5
SOURCE = layout.TOP / "scripts/bench/user/rest.c"
TREES = ("etch", "ftrace")
# The guest's names, the table's, and the unit.
CASES = (
    ("mkdir", "mkdir of an instance", "ns"),
    ("rmdir", "rmdir of it", "ns"),
    ("on", "all events on", "ns"),
    ("off", "all events off", "ns"),
    ("tasks-off", "a task's begin and end, nothing on", "ns"),
    ("tasks-on", "the same, with an event on", "ns"),
    ("buffer", "a CPU's buffer before first use", "bytes"),
    ("slab", "slab of an instance nobody looked into", "bytes"),
    ("slab-looked-into", "the same when each file was looked at", "bytes"),
    ("slab-forgotten", "the same when memory got short", "bytes"),
    ("percpu", "its memory for each CPU", "bytes"),
    ("all-memory", "all its memory, with buffers", "bytes"),
)
MOST_SLAB = 200_000


def measure(lane):
    """(figures, remarks) of a lane."""
    kernel = kernels.Kernel(lane, "etch", "rest")
    kernel.build()
    kernels.run(["gcc", "-O2", "-Wall", "-static", "-o",
                 kernel.files / "rest", SOURCE])
    lines = kernel.boot("bench-rest", [f"bench.rounds={ROUNDS}"])
    return rows(figures.parse(lines), lane), [
        f"Memory is an instance's share of 8 instances', in {ROUNDS} rounds.",
        *enable.remarks_on(lines)]


def title_of(name):
    """What a case is called in the table."""
    return next(case for known, case, _unit in CASES if known == name)


def rows(samples, lane):
    """The figures; every round must be there."""
    found = []
    for name, case, unit in CASES:
        for tree in TREES:
            some = samples.get((name, tree), [])
            if len(some) != (1 if name == "buffer" else ROUNDS):
                raise figures.FigureError(f"{lane}: rounds of {name} miss")
            found.append(figures.Figure(case, tree, lane, unit, some))
    return found


def tables(_lane, found):
    """All that is printed of a lane."""
    times = [figure for figure in found if figure.unit == "ns"]
    bytes_ = [figure for figure in found if figure.unit == "bytes"]
    return "\n".join([
        figures.table(times, "ftrace"), "", "In bytes", "",
        figures.table(bytes_, "ftrace"), "",
        targets.line("slab of an instance nobody looked into, bytes",
                     figures.find(found, title_of("slab"), "etch").median,
                     MOST_SLAB)])
