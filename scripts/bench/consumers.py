# SPDX-License-Identifier: GPL-2.0
"""What a hit costs that mainline's consumers get, in Etch's kernel and in mainline's.

Functions, as BPF and modules register them, ftrace, and a counter of perf's; Etch records
nothing. In instructions, which are the same in each boot. The guest reports how often an
event was hit and how many hits the consumers counted; these must be equal:

    bench: hits perf HITS COUNTED
    bench: hits ftrace HITS
    bench: stored RECORDS
"""

import re

import figures
import gate
import kernels
import loops
import targets

TITLE = "What a hit costs mainline's consumers"
LANES = ("x86-64",)
CASES = {
    "empty": "empty loop",
    "function": "one function",
    "functions": "two functions",
    "ftrace": "ftrace, an event of 16 bytes",
    "perf": "perf, a counter",
}
MOST = 5                        # instructions more than in mainline

PERF = re.compile(r"^bench: hits perf (\d+) (\d+)$")
FTRACE = re.compile(r"^bench: hits ftrace (\d+)$")
STORED = re.compile(r"^bench: stored (\d+)$")


def numbers(pattern, lines):
    """Those of the one line of its kind."""
    found = list(filter(None, map(pattern.match, lines)))
    if len(found) != 1:
        raise figures.FigureError(f"{len(found)} lines like {pattern.pattern}")
    return [int(word) for word in found[0].groups()]


def check(lines):
    """Each hit reached its consumer."""
    hits, counted = numbers(PERF, lines)
    if hits != counted:
        raise figures.FigureError(f"perf counted {counted} hits of {hits}")
    [hits], [stored] = numbers(FTRACE, lines), numbers(STORED, lines)
    if hits != stored:
        raise figures.FigureError(f"ftrace has {stored} records of {hits}")


def rows(samples, lane):
    """The figures, {tracer: {(name, how): rounds}} given."""
    for tracer, rounds in samples.items():
        for name in CASES:
            if (name, "warm") not in rounds:
                raise figures.FigureError(f"{lane}, {tracer}: no sample of {name}")
    return [figures.Figure(title, tracer, lane, "instructions",
                           rounds[name, "warm"])
            for name, title in CASES.items()
            for tracer, rounds in samples.items()]


def boot(kernel):
    """A kernel's rounds."""
    lines = kernel.boot("bench-consumers", icount=True)
    check(lines)
    return figures.parse(lines, in_ticks=True)


def measure(lane):
    """(figures, remarks) of a lane."""
    pair = [kernels.Kernel(lane, tracer, "consumers")
            for tracer in gate.TRACERS]
    for kernel in pair:
        kernel.build(gate.SOURCES)
        loops.look(kernel.files / "bench-consumers.ko")
    samples = {kernel.tracer: boot(kernel) for kernel in pair}
    return rows(samples, lane), [
        "Each figure holds its loop; nothing was subtracted but in the column "
        "\"over empty\".",
        "NOT MEASURED: a program of BPF. Its way to the program begins as that "
        "of one function."]


def more(found, title):
    """Instructions that Etch's kernel needs more than mainline's."""
    own, other = (figures.over(found, figures.find(found, title, tracer),
                               CASES["empty"]) for tracer in gate.TRACERS)
    return own - other


def tables(_lane, found):
    """All that is printed of a lane."""
    return "\n".join([
        figures.table(found, "mainline", lambda _: CASES["empty"]), "",
        *(targets.line(f"{title}, instructions more than in mainline",
                       more(found, title), MOST)
          for name, title in CASES.items() if name != "empty")])
