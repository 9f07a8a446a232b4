# SPDX-License-Identifier: GPL-2.0
"""What whole workloads lose: with nothing on, and with all events of some
systems on in Etch, and in ftrace.

One program, in one boot, taking turns: in um in nanoseconds, in x86-64 in
instructions. Of the systems those are switched on that list the same events in
both trees.
"""

import re

import event_cases
import figures
import kernels
import layout
import targets

TITLE = "Whole workloads"
LANES = ("um", "x86-64-events")
ROUNDS = {"um": 40, "x86-64-events": 10}
CONFIGURATION = {
    "um": "This kernel is built without preemption.",
    "x86-64-events": "This kernel is built with PREEMPT, DEBUG_ATOMIC_SLEEP "
                     "and DEBUG_LIST.",
}
SOURCES = layout.TOP / "scripts/bench"
TRACERS = ("etch", "ftrace")
LOADS = {
    "turns": "tasks in turn, in the kernel",
    "pipe": "a byte through pipes",
    "fork": "commands, one after the other",
    "files": "files in memory",
}
SYSTEM = re.compile(r"^bench: system (\S+) (\d+) (\d+) (same|other)$")
CLOCK = re.compile(r"^bench: clock (\S+) (\S+)$")
KEPT = re.compile(r"^bench: stored (\S+) (\S+) (\d+)$")


def measure(lane):
    """(figures, remarks) of a lane."""
    counts = event_cases.counts(lane)
    kernel = kernels.Kernel(lane, "etch", "workload")
    kernel.build(SOURCES / "kernel")
    kernels.run(["gcc", "-O2", "-Wall", "-static", "-o",
                 kernel.files / "workload", SOURCES / "user/workload.c"])
    lines = kernel.boot("bench-workload", [f"bench.rounds={ROUNDS[lane]}"],
                        counts)
    rounds = figures.parse(lines, counts)
    check(lines, rounds, lane)
    found = [figures.Figure(title, tracer, lane,
                            "instructions" if counts else "ns",
                            rounds[load, tracer])
             for load, title in LOADS.items()
             for tracer in ("nothing", *TRACERS)]
    return found, [f"The first of {ROUNDS[lane] + 1} rounds was not counted.",
                   CONFIGURATION[lane], *remarks_on(lines, ROUNDS[lane])]


def stored(lines):
    """{(load, tracer): records}."""
    return {(match[1], match[2]): int(match[3])
            for match in filter(None, map(KEPT.match, lines))}


def check(lines, rounds, lane):
    """All rounds are there, and tracers recorded; an error otherwise."""
    kept = stored(lines)
    for load in LOADS:
        for tracer in ("nothing", *TRACERS):
            if len(rounds.get((load, tracer), [])) != ROUNDS[lane]:
                raise figures.FigureError(f"{lane}: rounds of {load} miss")
        for tracer in TRACERS:
            if not kept.get((load, tracer)):
                raise figures.FigureError(f"{lane}: {tracer} recorded nothing "
                                          f"of {load}")


def remarks_on(lines, rounds):
    """Which systems were on, loud about those that were not; the records.

    lines: the report; rounds: how many were counted.
    """
    said, on = [], []
    for match in filter(None, map(SYSTEM.match, lines)):
        if match[4] == "same" and int(match[2]):
            on.append(f"{match[1]} ({match[2]} events)")
        else:
            said.append(f"NOT COMPARED: {match[1]}: {match[2]} events in "
                        f"Etch, {match[3]} in ftrace, not the same.")
    said.insert(0, "On were " + ", ".join(on) + ".")
    said += [f"{match[1]}'s clock was {match[2]}, its default."
             for match in filter(None, map(CLOCK.match, lines))]
    kept = stored(lines)
    for load, title in LOADS.items():
        etch, ftrace = (kept[load, tracer] for tracer in TRACERS)
        said.append(f"Records a round, {title}: {etch / rounds:.0f} in Etch, "
                    f"{ftrace / rounds:.0f} in ftrace.")
        if abs(etch - ftrace) > 0.05 * max(etch, ftrace):
            said.append("NOT THE SAME: these differ by more than 5 %.")
    return said


def slower(found, title, tracer, of="median"):
    """How much slower than with nothing on: 0.1 is a tenth.

    of: "median", or "min" for the least rounds.
    """
    base = figures.find(found, title, "nothing")
    return getattr(figures.find(found, title, tracer), of) / \
        getattr(base, of) - 1


def noise(found, title):
    """Below this a slow-down says nothing: the scatter with nothing on."""
    base = figures.find(found, title, "nothing")
    return base.scatter / base.median


def tables(_lane, found):
    """All that is printed of a lane."""
    rows, held = [], []
    for title in LOADS.values():
        etch, ftrace = (slower(found, title, tracer) for tracer in TRACERS)
        loud = ftrace > noise(found, title)
        ratio = etch / ftrace if loud else None
        least = [slower(found, title, tracer, "min") for tracer in TRACERS]
        rows.append([title, "slower by", f"{etch:.2%}", f"{ftrace:.2%}",
                     figures.number(ratio), f"{noise(found, title):.2%}"])
        held.append(targets.line(f"{title}: Etch's slow-down, times ftrace's",
                                 ratio, 0.5, least=figures.ratio(*least))
                    if loud else
                    f"### NOT COMPARED: {title}: ftrace's slow-down is lost "
                    "in the noise")
    head = ["workload", "", *TRACERS, "ratio", "scatter"]
    return "\n".join([figures.table(found, "nothing"), "",
                      figures.grid(head, rows), "", *held])
