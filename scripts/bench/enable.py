# SPDX-License-Identifier: GPL-2.0
"""How long it takes to switch all events on, and off, in Etch and in ftrace.

Both in one kernel, in one boot, taking turns; the kernels are those with which
make check runs the kselftests, where both tracers list system calls, too.
"""

import re

import figures
import kernels
import layout

TITLE = "All events on, and off"
LANES = ("um", "x86-64-events")
ROUNDS = 9
SOURCE = layout.TOP / "scripts/bench/user/enable.c"
TREES = ("etch", "ftrace")
EVENTS = re.compile(r"^bench: events (\w+) (\d+)$")


def measure(lane):
    """(figures, remarks) of a lane."""
    kernel = kernels.Kernel(lane, "etch", "enable")
    kernel.build()
    kernels.run(["gcc", "-O2", "-Wall", "-static", "-o",
                 kernel.files / "enable", SOURCE])
    lines = kernel.boot("bench-enable", [f"bench.rounds={ROUNDS}"])
    rounds = figures.parse(lines)
    for tree in TREES:
        for what in ("on", "off"):
            if len(rounds.get((what, tree), [])) != ROUNDS:
                raise figures.FigureError(f"{lane}: rounds of {tree} miss")
    found = [figures.Figure(f"all events {what}", tree, lane, "ns",
                            rounds[what, tree])
             for what in ("on", "off") for tree in TREES]
    return found, [f"The first of {ROUNDS + 1} rounds was not counted.",
                   *remarks_on(lines)]


def remarks_on(lines):
    """How many events the trees have; loud where these are not the same."""
    events = {match[1]: int(match[2])
              for match in map(EVENTS.match, lines) if match}
    said = [f"{number} events in {tree}." for tree, number in events.items()]
    if len(set(events.values())) > 1:
        said.append("NOT THE SAME: the trees do not list the same events.")
    return said


def tables(_lane, found):
    """All that is printed of a lane."""
    return figures.table(found, "ftrace")
