# SPDX-License-Identifier: GPL-2.0
"""What a hit costs that rules decide on, in Etch and in ftrace.

A hit that a filter rejects or accepts, by the record or by the task that hits; several
instances with a filter each; a histogram that counts the hit; and the latency from a hit to
another, in a histogram. Both tracers in one kernel, in one boot, taking turns: in um in
nanoseconds, in x86-64 in instructions. The buffers say afterwards what was recorded, which must
be what the situation is called.
"""

import re

import event
import event_cases
import figures
import kernels
import layout
import net
import targets

TITLE = "What a rule costs"
LANES = ("um", "x86-64")
SOURCES = layout.TOP / "scripts/bench/kernel"
TRACERS = ("etch", "ftrace")
SETTINGS = {
    "um": {"rounds": 25, "iterations": 2500, "cheap": "local", "trust": 0},
    "x86-64": {"rounds": 10, "iterations": 500, "cheap": "x86-tsc", "trust": 1},
}
ONLY_UM = ("cold_reject", "cold_accept")
# ftrace's histograms are for machines whose interrupts may come within a cmpxchg: um has none.
ONLY_COUNTED = ("hist_key", "hist_value", "hist_log2", "hist_two",
                "latency")
COUNTED = re.compile(r"^bench: counted (\S+) (\S+) (\d+)$")


class Situation:
    """A case, its event, and the limits that it is held to.

    share: of the hits that is recorded. most, aim: {"ns" or "instructions": of ftrace's}.
    """

    def __init__(self, title, kind="small", share=0, most=None, aim=None):
        self.title = title
        self.kind = kind
        self.share = share
        self.most = most or {}
        self.aim = aim or {}


def held(time, instructions, aim_time=None, aim_instructions=None):
    """The words for most and aim."""
    return {"most": {"ns": time, "instructions": instructions},
            "aim": {"ns": aim_time, "instructions": aim_instructions}}


SITUATIONS = {
    "unfiltered": Situation("no rule", share=1),
    "reject_one": Situation("rejected by one integer", **held(0.42, 0.47, 0.35, 0.40)),
    "reject_four": Situation("rejected by four", **held(0.50, 0.53, 0.40, 0.42)),
    "reject_string": Situation("rejected by a string", "string",
                               **held(0.58, 0.60, 0.45, 0.45)),
    "reject_pid": Situation("rejected by common_pid", **held(0.28, 0.25, 0.22, 0.22)),
    "reject_comm": Situation("rejected by comm", **held(0.28, 0.25, 0.22, 0.22)),
    "reject_cpu": Situation("rejected by cpu", **held(0.28, 0.25, 0.22, 0.22)),
    "set_event_pid": Situation("not of the tasks in set_event_pid"),
    "accept_one": Situation("accepted by one integer", share=1,
                            **held(0.40, 0.40, 0.35, 0.35)),
    "eight": Situation("eight instances, eight filters, one accepts", share=1,
                       **held(0.35, 0.35)),
    "cold_reject": Situation("rejected by one integer, cold", **held(0.70, None, 0.5)),
    "cold_accept": Situation("accepted by one integer, cold", share=1,
                             **held(0.45, None, 0.30)),
    "hist_key": Situation("a histogram of one key", **held(None, 0.24, None, 0.18)),
    "hist_value": Situation("a histogram of one key, and a sum", **held(None, 0.22, None, 0.18)),
    "hist_log2": Situation("a histogram of one key's power of two", **held(None, 0.24, None, 0.18)),
    "hist_two": Situation("a histogram of two keys", **held(None, 0.30, None, 0.24)),
    "latency": Situation("two events, and a histogram of the time between", "pair",
                         **held(None, 0.15, None, 0.08)),
}


def situations(lane):
    """Those that a lane measures."""
    left_out = ONLY_UM if event_cases.counts(lane) else ONLY_COUNTED
    return {how: situation for how, situation in SITUATIONS.items() if how not in left_out}


def check(lines, lane):
    """As much was recorded as the situation says, and histograms have counted all."""
    hits, kept = event.sums(event.HITS, lines), event.sums(event.KEPT, lines)
    counted = event.sums(COUNTED, lines)
    for how, situation in situations(lane).items():
        for tracer in TRACERS:
            key = f"{tracer}_{situation.kind}", how
            if key not in hits or key not in kept:
                raise figures.FigureError(f"{lane}: nothing of {key}")
            if kept[key] != hits[key] * situation.share:
                raise figures.FigureError(
                    f"{lane}, {situation.title}, {tracer}: {kept[key]} records of "
                    f"{hits[key]} hits")
            if how in ONLY_COUNTED and counted.get(key) != hits[key]:
                raise figures.FigureError(
                    f"{lane}, {situation.title}, {tracer}: {counted.get(key)} of "
                    f"{hits[key]} hits counted")


def rows(rounds, lane):
    """The figures of time or instructions."""
    unit, found = "instructions" if event_cases.counts(lane) else "ns", []
    for how, situation in situations(lane).items():
        named = {"empty": "empty", "floor": "floor",
                 **{f"{tracer}_{situation.kind}": tracer for tracer in TRACERS}}
        for name, tracer in named.items():
            if (name, how) not in rounds:
                raise figures.FigureError(f"{lane}: no sample of {name}, {how}")
            found.append(figures.Figure(situation.title, tracer, lane, unit,
                                        rounds[name, how]))
    return found


def measure(lane):
    """(figures, remarks) of a lane."""
    kernel = kernels.Kernel(lane, "etch", "rules")
    kernel.build(SOURCES)
    append = [f"bench.{key}={value}" for key, value in SETTINGS[lane].items()]
    append.append("bench.situations=" + ",".join(situations(lane)))
    lines = kernel.boot("bench-rules", append, event_cases.counts(lane))
    check(lines, lane)
    found = rows(figures.parse(lines, event_cases.counts(lane)), lane)
    return found, remarks_on(lane)


def remarks_on(lane):
    """What a reader of the table must know."""
    said = ["Etch's clock is its counter (rdtsc), ftrace's "
            f"{SETTINGS[lane]['cheap']}, its cheapest here; a rejected hit reads none in Etch.",
            "Net is without the empty loop; ratios are of the net."]
    if event_cases.counts(lane):
        said.append("NOT MEASURED in instructions: cold caches.")
    return said


def lines(found):
    """What the figures are held to."""
    said = []
    for situation in SITUATIONS.values():
        etch = figures.find(found, situation.title, "etch")
        peer = figures.find(found, situation.title, "ftrace")
        most = situation.most.get(etch.unit) if etch else None
        if most is None:
            continue
        least = figures.ratio(net.net(found, etch, "min"), net.net(found, peer, "min"))
        said.append(targets.line(f"{situation.title}, times ftrace's",
                                 net.ratio(found, etch, "ftrace"), most,
                                 situation.aim.get(etch.unit), least))
    return said


def tables(_lane, found):
    """All that is printed of a lane."""
    return "\n".join([net.table(found, ["floor", "ftrace"]), "", *lines(found)])
