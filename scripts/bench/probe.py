# SPDX-License-Identifier: GPL-2.0
"""What a hit of a probe costs, in Etch and in ftrace.

Each tracer has an event on a function of its own, with the same body, in one kernel and one
boot; the two take turns. Instructions alone: in QEMU a trap's time says nothing. The second
kernel has ftrace's calls at the beginning of functions, and so probes that use these.
"""

import event
import figures
import kernels
import layout
import net
import targets

TITLE = "What a hit of a probe costs"
LANES = ("x86-64", "x86-64-probes")
SOURCES = layout.TOP / "scripts/bench"
TRACERS = ("etch", "ftrace")
SETTINGS = {"rounds": 5, "iterations": 500, "cheap": "x86-tsc", "trust": 1}
# By lane, what the guest calls a situation: what it is, and what Etch is held to, of ftrace's,
# which has the short cut for plain arguments, too. Of a hit without arguments most is the detour,
# which is the same for both.
SITUATIONS = {
    "x86-64": {
        "jump_none": ("kprobe as a jump, no argument", None, None),
        "jump_three": ("kprobe as a jump, three arguments", 0.55, 0.35),
        "trap_none": ("kprobe as a trap, no argument", None, None),
        "trap_three": ("kprobe as a trap, three arguments", None, None),
        "return_value": ("kretprobe, the value", None, None),
        "uprobe_none": ("uprobe at a NOP, no argument", None, None),
        "uprobe_three": ("uprobe at a NOP, three arguments", 0.75, None),
        "uretprobe_value": ("uretprobe, the value", 0.75, None),
    },
    "x86-64-probes": {
        "ftrace_none": ("kprobe by ftrace's call, no argument", None, None),
        "ftrace_three": ("kprobe by ftrace's call, three arguments", None, None),
        "fprobe_three": ("fprobe, three arguments", 0.55, None),
        "fprobe_value": ("fprobe at the return, the value", None, None),
    },
}


def check(lines, lane):
    """Each hit was recorded."""
    hits, kept = event.sums(event.HITS, lines), event.sums(event.KEPT, lines)
    for how, (title, *_) in SITUATIONS[lane].items():
        for tracer in TRACERS:
            key = f"{tracer}_probed", how
            if key not in hits or kept.get(key) != hits[key]:
                raise figures.FigureError(
                    f"{title}, {tracer}: {kept.get(key)} records of {hits.get(key)} hits")


def rows(samples, lane):
    """The figures."""
    found = []
    for how, (title, *_) in SITUATIONS[lane].items():
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
    kernel.build(SOURCES / "kernel")
    kernels.run(["gcc", "-O2", "-Wall", "-static", "-o", kernel.files / "probed",
                 SOURCES / "user/probed.c"])
    append = [f"bench.{key}={value}" for key, value in SETTINGS.items()]
    append.append("bench.situations=" + ",".join(SITUATIONS[lane]))
    lines = kernel.boot("bench-probe", append, icount=True)
    check(lines, lane)
    return rows(figures.parse(lines, in_ticks=True), lane), [
        "Etch's clock is its counter (rdtsc), ftrace's x86-tsc, its cheapest here.",
        "Net is without the loop that calls the function, without a probe; ratios are of the net.",
        "A uprobe's figures have the way into the kernel and back.",
        "NOT MEASURED: time. A trap's instructions are counted, what it costs a processor is not."]


def tables(lane, found):
    """All that is printed of a lane."""
    said = []
    for title, most, aim in SITUATIONS[lane].values():
        etch = figures.find(found, title, "etch")
        if most is not None:
            said.append(targets.line(f"{title}, times ftrace's",
                                     net.ratio(found, etch, "ftrace"), most, aim))
    return "\n".join([net.table(found, ["ftrace"]), "", *said])
