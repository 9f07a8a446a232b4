# SPDX-License-Identifier: GPL-2.0
"""What a record costs, in Etch and in ftrace, beside a floor.

Both tracers in one kernel, in one boot, taking turns: in um in nanoseconds, in
x86-64 in instructions.
"""

import figures
import kernels
import layout

TITLE = "What a record costs"
LANES = ("um",)
ROUNDS = {"um": 25}
ITERATIONS = {"um": 10000}
CHEAP = {"um": "local"}
SOURCES = layout.TOP / "scripts/bench/kernel"
KINDS = {"small": "16 bytes", "large": "64 bytes",
         "string": "16 characters", "switch": "sched_switch"}
PLAIN = {"empty": "empty", "counter": "clock", "floor": "floor"}


def measure(lane):
    """(figures, remarks) of a lane."""
    kernel = kernels.Kernel(lane, "etch", "event")
    kernel.build(SOURCES)
    lines = kernel.boot("bench-event", [
        f"bench.rounds={ROUNDS[lane]}", f"bench.cheap={CHEAP[lane]}",
        f"bench.iterations={ITERATIONS[lane]}", "bench.situations=warm"])
    rounds = figures.parse(lines)
    found = []
    for kind, title in KINDS.items():
        for name, tracer in PLAIN.items():
            found.append(figures.Figure(f"{title} (warm)", tracer, lane, "ns",
                                        rounds[name, "warm"]))
        for tracer in ("etch", "ftrace"):
            found.append(figures.Figure(f"{title} (warm)", tracer, lane, "ns",
                                        rounds[f"{tracer}_{kind}", "warm"]))
    return found, []


def tables(_lane, found):
    """All that is printed of a lane."""
    return (figures.table(found, "ftrace") + "\n\n"
            + figures.table(found, "floor"))
