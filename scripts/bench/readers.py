# SPDX-License-Identifier: GPL-2.0
"""How fast records are read as text, through trace and through trace_pipe.

The same records in both tracers' buffers, in one kernel, in one boot, taking
turns: in um in nanoseconds for a record, in x86-64 in instructions.
"""

import event_cases
import figures
import kernels
import layout
import targets

TITLE = "Reading records as text"
LANES = ("um", "x86-64")
ROUNDS = {"um": 21, "x86-64": 5}
HITS = {"um": 25000, "x86-64": 2500}      # half of the records
SOURCES = layout.TOP / "scripts/bench"
TRACERS = ("etch", "ftrace")
FILES = ("trace", "trace_pipe")


def measure(lane):
    """(figures, remarks) of a lane."""
    counts = event_cases.counts(lane)
    kernel = kernels.Kernel(lane, "etch", "readers")
    kernel.build(SOURCES / "kernel")
    kernels.run(["gcc", "-O2", "-Wall", "-static", "-o",
                 kernel.files / "readers", SOURCES / "user/readers.c"])
    lines = kernel.boot("bench-readers", [f"bench.rounds={ROUNDS[lane]}",
                                          f"bench.hits={HITS[lane]}"], counts)
    rounds = figures.parse(lines, counts)
    return rows(rounds, lane), [
        "What the reading program does, its system calls included, is in the "
        "figures.", "Lines are of equal events of 16 bytes, "
        f"{HITS[lane] * 2} in a buffer."]


def rows(rounds, lane):
    """The figures; every round must be there."""
    unit, found = "ns", []
    if event_cases.counts(lane):
        unit = "instructions"
    for name in FILES:
        for tracer in TRACERS:
            some = rounds.get((name, tracer), [])
            if len(some) != ROUNDS[lane]:
                raise figures.FigureError(f"{lane}: rounds of {name} miss")
            found.append(figures.Figure(name, tracer, lane, unit, some))
    return found


def rates(found):
    """Records in a second."""
    return figures.grid(
        ["records in a second", "", *TRACERS],
        [[name, "", *(f"{1e9 / figures.find(found, name, tracer).median:,.0f}"
                      for tracer in TRACERS)] for name in FILES])


def tables(_lane, found):
    """All that is printed of a lane."""
    parts = [figures.table(found, "ftrace"), ""]
    if found[0].unit == "ns":
        parts += [rates(found), ""]
    parts += [targets.line(
        f"{name}: a record's cost, times ftrace's", figures.ratio(
            figures.find(found, name, "etch").median,
            figures.find(found, name, "ftrace").median), 1)
        for name in FILES]
    return "\n".join(parts)
