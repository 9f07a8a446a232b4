# SPDX-License-Identifier: GPL-2.0
"""What a record costs, in Etch and in ftrace, beside a floor.

Both tracers in one kernel, in one boot, taking turns: in um in nanoseconds, in
x86-64 in instructions. Beside the samples, which figures.py reads, the guest
reports how often an event was hit, what the buffers say was stored, and their
bytes:

    bench: hits NAME HOW HITS
    bench: stored NAME HOW RECORDS
    bench: bytes NAME BYTES RECORDS

The last two must agree with the first: if they do not, a figure's name does not
describe the measurement.
"""

import re

import event_cases as cases
import event_targets
import figures
import kernels
import layout
import loops
import net

TITLE = "What a record costs"
LANES = ("um", "x86-64")
SOURCES = layout.TOP / "scripts/bench/kernel"

HITS = re.compile(r"^bench: hits (\S+) (\S+) (\d+)$")
KEPT = re.compile(r"^bench: stored (\S+) (\S+) (-?\d+)$")
BYTES = re.compile(r"^bench: bytes (\S+) (\d+) (\d+)$")


def sums(pattern, lines):
    """{(name, how): the sum of the numbers} of lines of a kind."""
    found = {}
    for match in filter(None, map(pattern.match, lines)):
        key = match[1], match[2]
        found[key] = found.get(key, 0) + int(match[3])
    return found


def check(lines, lane):
    """Everything was hit, and stored as often as its situation says.

    Gives the hits that were lost in interrupt storms, {tracer: (lost, of)}.
    """
    hits, kept, lost = sums(HITS, lines), sums(KEPT, lines), {}
    for kind, how in cases.pairs(lane):
        for tracer in cases.TRACERS:
            key = f"{tracer}_{kind}", how
            if key not in hits or key not in kept:
                raise figures.FigureError(f"{lane}: nothing of {key}")
            due = hits[key] * cases.STORED.get(how, 1)
            if how == "storm":
                lost[tracer] = due - kept[key], due
            elif kept[key] != due:
                raise figures.FigureError(
                    f"{lane}, {cases.title(kind, how)}, {tracer}: {kept[key]} "
                    f"records of {due}")
    return lost


def rows(rounds, lane):
    """The figures of time or instructions."""
    unit, found = "instructions" if cases.counts(lane) else "ns", []
    for kind, how in cases.pairs(lane):
        named = [(name, tracer) for name, tracer in cases.PLAIN.items()
                 if kind == "small" or tracer in ("empty", "floor")]
        # Of these not all make sense everywhere; the tracers' rows are due.
        named = [row for row in named if (row[0], how) in rounds]
        named += [(f"{tracer}_{kind}", tracer) for tracer in cases.TRACERS]
        for name, tracer in named:
            if (name, how) not in rounds:
                raise figures.FigureError(f"{lane}: no sample of {name}, "
                                          f"{how}")
            found.append(figures.Figure(cases.title(kind, how), tracer, lane,
                                        unit, rounds[name, how]))
    return found


def sizes(lines, lane):
    """The figures of bytes in a record."""
    rounds = {}
    for match in filter(None, map(BYTES.match, lines)):
        if int(match[3]):
            rounds.setdefault(match[1], []).append(
                int(match[2]) / int(match[3]))
    return [figures.Figure(cases.KINDS[kind], tracer, lane, "bytes",
                           rounds.get(f"{tracer}_{kind}", []))
            for kind in cases.KINDS for tracer in cases.TRACERS]


def look(text):
    """The loops in objdump's text are what they are called, or an error."""
    functions = loops.functions(text)
    for case in ("empty", "floor"):
        if case not in functions:
            raise loops.LoopError(f"there is no loop {case}")
    for case, code in functions.items():
        inside = loops.body(case, code)
        if case == "floor":
            check_floor(inside)
        elif case == "empty" and loops.site(case, inside) != "nothing":
            raise loops.LoopError("the empty loop is not empty")
        elif case.endswith("_pair"):
            continue            # two sites, which rules.py looks at
        elif case.endswith("_probed"):
            check_probed(case, inside)
        elif case.startswith(cases.TRACERS) or case == "nobody":
            if "NOP" not in loops.site(case, inside):
                raise loops.LoopError(f"{case}: its site is no NOP")


def check_probed(case, inside):
    """One call, of the function that probe.py puts a probe on, and its arguments."""
    words = [text.split()[0] for _, _, text in inside]
    if words.count("call") != 1 or any(word.startswith("j") for word in words[:-1]):
        raise loops.LoopError(f"{case}: a loop of {'; '.join(words)}, not of one call")


def check_floor(inside):
    """One reading of the counter, one exchange without a lock, no call."""
    words = [word for _, _, text in inside for word in text.split()[:2]]
    if (words.count("rdtsc"), words.count("cmpxchg")) != (1, 1) or \
            "lock" in words or "call" in words:
        raise loops.LoopError("the floor is not what it should be")


def measure(lane):
    """(figures, remarks) of a lane."""
    kernel = kernels.Kernel(lane, "etch", "event")
    kernel.build(SOURCES)
    look(loops.disassemble(kernel.files / "bench-event.ko"))
    append = [f"bench.{key}={value}"
              for key, value in cases.SETTINGS[lane].items()]
    append.append("bench.situations=" + ",".join(cases.situations(lane)))
    lines = kernel.boot("bench-event", append, cases.counts(lane))
    lost = check(lines, lane)
    found = rows(figures.parse(lines, cases.counts(lane)), lane)
    found += sizes(lines, lane)
    return found, remarks_on(lane, lines, lost)


def remarks_on(lane, lines, lost):
    """What a reader of the table must know."""
    cheap = cases.SETTINGS[lane]["cheap"]
    said = [f"Where no clock is named: Etch's counter (rdtsc), ftrace's {cheap}"
            + (", which is jiffies here." if lane == "um" else "."),
            "Net is without the empty loop; ratios are of the net.",
            "sched_switch is an event of its own with the same fields and "
            "assignments: modules cannot hit the real one."]
    if lane == "um":
        said += ["This kernel is built without preemption. A module of um "
                 "calls the kernel through a register (-mcmodel=large), in "
                 "both tracers."]
    else:
        said += ["This kernel is built with PREEMPT. A parameter makes it trust "
                 "QEMU's counter, which counts instructions.",
                 "NOT MEASURED in instructions: cold caches."]
    return said + storms(lines, lost)


def storms(lines, lost):
    """How heavy the storms were, and how many hits were lost in them."""
    hits = sums(HITS, lines)
    quiet = hits["empty", "storm"]      # too short for an interrupt
    said = ["The storms' interrupts are in their rows: "
            + ", ".join(f"{hits[f'{tracer}_small', 'storm'] - quiet} in "
                        f"{tracer}'s" for tracer in cases.TRACERS)
            + ". Each hits what the loop hits."]
    said += [f"{tracer}: {missing} of {due} hits of the storm were lost."
             for tracer, (missing, due) in lost.items() if missing]
    return said


def tables(lane, found):
    """All that is printed of a lane."""
    cost = [figure for figure in found if figure.unit != "bytes"]
    size = [figure for figure in found if figure.unit == "bytes"]
    return "\n".join([net.table(cost, ["floor", "ftrace"]), "",
                      "Bytes in a record", net.table(size, ["ftrace"]), "",
                      *event_targets.lines(lane, cost, size)])
