# SPDX-License-Identifier: GPL-2.0
"""What a marker costs, beside an event of Etch's and of ftrace's, and trace_printk().

Three integers, 16 bytes in all, and a string of 16 characters. All in one kernel, in one boot,
taking turns. The buffers say afterwards what was recorded, which must be what was hit.
"""

import event
import figures
import kernels
import layout
import loops
import net
import targets

TITLE = "What a marker costs"
LANES = ("x86-64",)
SOURCES = layout.TOP / "scripts/bench/kernel"
SETTINGS = {"rounds": 10, "iterations": 500, "cheap": "x86-tsc", "trust": 1}

# {case: {what it is shown as: (row, round)}}
CASES = {
    "off": {"marker": ("mark_off", "marks"), "event": ("nobody", "events")},
    "three integers": {"marker": ("mark_three", "marks"), "etch": ("etch_small", "events"),
                       "ftrace": ("ftrace_small", "events"),
                       "trace_printk": ("printk_three", "marks")},
    "a string": {"marker": ("mark_text", "marks"), "etch": ("etch_string", "events"),
                 "ftrace": ("ftrace_string", "events"),
                 "trace_printk": ("printk_text", "marks")},
}
# What each buffer has of a round.
RECORDED = {("etch", "marks"): ("mark_three", "mark_text"),
            ("ftrace", "marks"): ("printk_three", "printk_text"),
            ("etch", "events"): ("etch_small", "etch_string"),
            ("ftrace", "events"): ("ftrace_small", "ftrace_string")}
# (case, peer): times the peer's, at most.
HELD = {("three integers", "ftrace"): 0.35, ("a string", "ftrace"): 0.5,
        ("three integers", "trace_printk"): 0.2, ("a string", "trace_printk"): 0.4}
OFF = 1.5                       # instructions: a NOP


def check(lines):
    """All that was hit with its marker or event on was recorded, and nothing else."""
    hits, kept = event.sums(event.HITS, lines), event.sums(event.KEPT, lines)
    for key, names in RECORDED.items():
        due = sum(hits.get((name, key[1]), 0) for name in names)
        if not due or kept.get(key) != due:
            raise figures.FigureError(f"{key[0]}, {key[1]}: {kept.get(key)} records of {due}")


def rows(rounds, lane):
    """The figures, each case with its empty loop."""
    found = []
    for title, shown in CASES.items():
        for tracer, key in {"empty": ("empty", "marks"), **shown}.items():
            if key not in rounds:
                raise figures.FigureError(f"{lane}: no sample of {key[0]}")
            found.append(figures.Figure(title, tracer, lane, "instructions", rounds[key]))
    return found


def look(text):
    """A marker's site is a NOP, or an error."""
    for case, code in loops.functions(text).items():
        if case.startswith("mark_") and "NOP" not in loops.site(case, loops.body(case, code)):
            raise loops.LoopError(f"{case}: its site is no NOP")


def measure(lane):
    """(figures, remarks) of a lane."""
    kernel = kernels.Kernel(lane, "etch", "marks")
    kernel.build(SOURCES)
    look(loops.disassemble(kernel.files / "bench-marks.ko"))
    append = [f"bench.{key}={value}" for key, value in SETTINGS.items()]
    lines = kernel.boot("bench-marks", append, icount=True)
    check(lines)
    return rows(figures.parse(lines, in_ticks=True), lane), [
        "Etch's clock is its counter (rdtsc), ftrace's and trace_printk()'s "
        f"{SETTINGS['cheap']}, its cheapest here.",
        "Net is without the empty loop; ratios are of the net.",
        "trace_printk() stores its arguments, and formats them when they are read."]


def held(found):
    """What the figures are held to."""
    off = figures.find(found, "off", "marker")
    said = [targets.line("a marker that is off, instructions", net.net(found, off), OFF)]
    for (title, peer), most in HELD.items():
        said.append(targets.line(f"{title}, times {peer}'s",
                                 net.ratio(found, figures.find(found, title, "marker"), peer),
                                 most))
    return said


def tables(_lane, found):
    """All that is printed of a lane."""
    return "\n".join([net.table(found, ["ftrace", "trace_printk"]), "", *held(found)])
