# SPDX-License-Identifier: GPL-2.0
"""What a context costs that an instance adds to its records, in Etch and in ftrace.

ftrace's records always have the state of interrupts and of preemption; it has a stack
behind each record as an option, and nothing like the other contexts. There Etch stands beside
ftrace's plain record. Both tracers in one kernel, in one boot, taking turns.
"""

import event
import event_cases
import figures
import kernels
import layout
import net
import targets

TITLE = "What a context costs"
LANES = ("um", "x86-64")
SOURCES = layout.TOP / "scripts/bench/kernel"
TRACERS = ("etch", "ftrace")
SETTINGS = {
    "um": {"rounds": 25, "iterations": 2500, "cheap": "local", "trust": 0},
    "x86-64": {"rounds": 10, "iterations": 500, "cheap": "x86-tsc", "trust": 1},
}


class Situation:
    """A list of contexts. most: times ftrace's.

    stack: ftrace stores one, too, as a record of its own.
    """

    def __init__(self, title, most, stack=False):
        self.title = title
        self.most = most
        self.stack = stack


SITUATIONS = {
    "none": Situation("no context", 0.2),
    "state": Situation("flags and prio", 0.6),
    "perf": Situation("a counter of perf's", 0.7),
    "kstack": Situation("the kernel's stack", 1.05, stack=True),
}
ONLY_COUNTED = ("perf", "kstack")   # um has neither counters nor such a stack in ftrace


def situations(lane):
    """Those that a lane measures."""
    return {how: situation for how, situation in SITUATIONS.items()
            if event_cases.counts(lane) or how not in ONLY_COUNTED}


def due(tracer, situation):
    """Records of a hit."""
    return 2 if tracer == "ftrace" and situation.stack else 1


def check(lines, lane):
    """Each hit was recorded, with its stack."""
    hits, kept = event.sums(event.HITS, lines), event.sums(event.KEPT, lines)
    for how, situation in situations(lane).items():
        for tracer in TRACERS:
            key = f"{tracer}_small", how
            if key not in hits or kept.get(key) != hits[key] * due(tracer, situation):
                raise figures.FigureError(f"{lane}, {situation.title}, {tracer}: "
                                          f"{kept.get(key)} records of {hits.get(key)} hits")


def rows(rounds, lane):
    """The figures of time or instructions."""
    unit, found = "instructions" if event_cases.counts(lane) else "ns", []
    for how, situation in situations(lane).items():
        named = {"empty": "empty", **{f"{tracer}_small": tracer for tracer in TRACERS}}
        for name, tracer in named.items():
            if (name, how) not in rounds:
                raise figures.FigureError(f"{lane}: no sample of {name}, {how}")
            found.append(figures.Figure(situation.title, tracer, lane, unit,
                                        rounds[name, how]))
    return found


def measure(lane):
    """(figures, remarks) of a lane."""
    kernel = kernels.Kernel(lane, "etch", "contexts")
    kernel.build(SOURCES)
    append = [f"bench.{key}={value}" for key, value in SETTINGS[lane].items()]
    append += ["bench.situations=" + ",".join(situations(lane))]
    lines = kernel.boot("bench-contexts", append, event_cases.counts(lane))
    check(lines, lane)
    found = rows(figures.parse(lines, event_cases.counts(lane)), lane)
    return found, [
        f"Etch's clock is its counter (rdtsc), ftrace's {SETTINGS[lane]['cheap']}, its "
        "cheapest here. The thread's number is in each record of both.",
        "ftrace's option for the stack is `stacktrace`; beside the other contexts stands its "
        "plain record.",
        "Net is without the empty loop; ratios are of the net."]


def held(found):
    """What the figures are held to."""
    said = []
    for situation in SITUATIONS.values():
        etch = figures.find(found, situation.title, "etch")
        if etch:
            said.append(targets.line(f"{situation.title}, times ftrace's",
                                     net.ratio(found, etch, "ftrace"), situation.most))
    return said


def tables(_lane, found):
    """All that is printed of a lane."""
    return "\n".join([net.table(found, ["ftrace"]), "", *held(found)])
