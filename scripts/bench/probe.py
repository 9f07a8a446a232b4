# SPDX-License-Identifier: GPL-2.0
"""What a hit of a kprobe costs, in Etch and in ftrace.

Each tracer has an event on a function of its own, with the same body, in one kernel and one
boot; the two take turns. Instructions alone: in QEMU a trap's time says nothing.
"""

import event
import figures
import kernels
import layout
import net
import targets

TITLE = "What a hit of a kprobe costs"
LANES = ("x86-64",)
SOURCES = layout.TOP / "scripts/bench/kernel"
TRACERS = ("etch", "ftrace")
SETTINGS = {"rounds": 5, "iterations": 500, "cheap": "x86-tsc", "trust": 1}
# What the guest calls a situation: what it is, and what Etch is held to, of ftrace's, which has
# the short cut for plain arguments, too. Of a hit without arguments most is the detour, which is
# the same for both.
SITUATIONS = {
    "jump_none": ("kprobe as a jump, no argument", None, None),
    "jump_three": ("kprobe as a jump, three arguments", 0.55, 0.35),
    "trap_none": ("kprobe as a trap, no argument", None, None),
    "trap_three": ("kprobe as a trap, three arguments", None, None),
    "return_value": ("kretprobe, the value", None, None),
}


def check(lines):
    """Each hit was recorded."""
    hits, kept = event.sums(event.HITS, lines), event.sums(event.KEPT, lines)
    for how, (title, *_) in SITUATIONS.items():
        for tracer in TRACERS:
            key = f"{tracer}_probed", how
            if key not in hits or kept.get(key) != hits[key]:
                raise figures.FigureError(
                    f"{title}, {tracer}: {kept.get(key)} records of {hits.get(key)} hits")


def rows(samples, lane):
    """The figures."""
    found = []
    for how, (title, *_) in SITUATIONS.items():
        for name, tracer in (("nobody_probed", "empty"),
                             *((f"{tracer}_probed", tracer) for tracer in TRACERS)):
            if (name, how) not in samples:
                raise figures.FigureError(f"{lane}: no sample of {name}, {how}")
            found.append(figures.Figure(title, tracer, lane, "instructions",
                                        samples[name, how]))
    return found


def measure(lane):
    """(figures, remarks) of a lane."""
    kernel = kernels.Kernel(lane, "etch", "probe")
    kernel.build(SOURCES)
    append = [f"bench.{key}={value}" for key, value in SETTINGS.items()]
    append.append("bench.situations=" + ",".join(SITUATIONS))
    lines = kernel.boot("bench-probe", append, icount=True)
    check(lines)
    return rows(figures.parse(lines, in_ticks=True), lane), [
        "Etch's clock is its counter (rdtsc), ftrace's x86-tsc, its cheapest here.",
        "Net is without the loop that calls the function, without a probe; ratios are of the net.",
        "NOT MEASURED: time. A trap's instructions are counted, what it costs a processor is not."]


def tables(_lane, found):
    """All that is printed of a lane."""
    said = []
    for title, most, aim in SITUATIONS.values():
        etch = figures.find(found, title, "etch")
        if most is not None:
            said.append(targets.line(f"{title}, times ftrace's",
                                     net.ratio(found, etch, "ftrace"), most, aim))
    return "\n".join([net.table(found, ["ftrace"]), "", *said])
