# SPDX-License-Identifier: GPL-2.0
"""What a hit costs that mainline's consumers get, in Etch's kernel and in mainline's.

Functions, as BPF and modules register them, ftrace, and a counter of perf's; and a function
beside each of the tracers. In instructions, which are the same in each boot. The guest reports
how often an event was hit, and how many hits perf and each tracer counted of it; these must be
equal:

    bench: hits HITS
    bench: counted perf HITS
    bench: stored TRACER RECORDS
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
    "both": "ftrace, and one function",
    "etch": "Etch, an event of 16 bytes",
    "shared": "Etch, and one function",
}
ONLY_ETCH = ("etch", "shared")  # mainline has no Etch
MOST = 5                        # instructions more than in mainline

HITS = re.compile(r"^bench: hits (\d+)$")
COUNTED = re.compile(r"^bench: (?:counted|stored) (perf|ftrace|etch) (\d+)$")
WHO = {"etch": {"perf", "ftrace", "etch"}, "mainline": {"perf", "ftrace"}}


def check(lines, tracer):
    """Each hit reached its consumer."""
    hits = [int(match[1]) for match in filter(None, map(HITS.match, lines))]
    counted = [(match[1], int(match[2])) for match in filter(None, map(COUNTED.match, lines))]
    if len(hits) != 1:
        raise figures.FigureError(f"{tracer}: {len(hits)} lines say how many hits there were")
    if len(counted) != len(WHO[tracer]) or set(dict(counted)) != WHO[tracer]:
        raise figures.FigureError(f"{tracer}: lines of the consumers {counted}, "
                                  f"not one of each of {sorted(WHO[tracer])}")
    for who, number in counted:
        if number != hits[0]:
            raise figures.FigureError(f"{who} counted {number} hits of {hits[0]}")


def cases(tracer):
    """Those of a kernel: {name: title}."""
    return {name: title for name, title in CASES.items()
            if tracer == "etch" or name not in ONLY_ETCH}


def rows(samples, lane):
    """The figures, {tracer: {(name, how): rounds}} given."""
    for tracer, rounds in samples.items():
        for name in cases(tracer):
            if (name, "warm") not in rounds:
                raise figures.FigureError(f"{lane}, {tracer}: no sample of {name}")
    return [figures.Figure(title, tracer, lane, "instructions",
                           rounds[name, "warm"])
            for name, title in CASES.items()
            for tracer, rounds in samples.items() if name in cases(tracer)]


def boot(kernel):
    """A kernel's rounds."""
    lines = kernel.boot("bench-consumers", icount=True)
    check(lines, kernel.tracer)
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


def beside(found, alone, both):
    """Instructions that one function adds to a tracer's hit, in Etch's kernel."""
    return figures.find(found, CASES[both], "etch").median - \
        figures.find(found, CASES[alone], "etch").median


def tables(_lane, found):
    """All that is printed of a lane."""
    return "\n".join([
        figures.table(found, "mainline", lambda _: CASES["empty"]), "",
        *(targets.line(f"{title}, instructions more than in mainline",
                       more(found, title), MOST)
          for name, title in cases("mainline").items() if name != "empty"),
        "one function more, in the kernel with the series: "
        f"{figures.number(beside(found, 'etch', 'shared'))} instructions beside Etch, "
        f"{figures.number(beside(found, 'ftrace', 'both'))} beside ftrace"])
