# SPDX-License-Identifier: GPL-2.0
"""What a record takes on each kernel that there is a series for, in instructions.

BENCH=event in each, one after the other: the same events, situations and checks. The bases'
sources are fetched, and their kernels built, in the folders that BASE=VERSION has.
"""

import contextlib
import os

import event
import event_cases as cases
import figures
import kernels
import layout
import net
import targets

TITLE = "What a record takes on each base"
LANES = ("x86-64",)
# A record may take so many times the first base's instructions, or one such part of them.
MOST = 1.02
# Where much of what runs is the kernel's own: its clocks, its timer's interrupts.
OTHERS = ("clock_mono", "clock_local", "storm")


@contextlib.contextmanager
def chosen(base):
    """Everything, also scripts that are started, is about a base meanwhile.

    KDIR is a tree of the version that BASE names.
    """
    before, said = layout.BASE, {"ETCH_BASE": "", **os.environ}
    layout.choose(base)
    os.environ["ETCH_BASE"] = base
    if base != before:
        os.environ.pop("KDIR", None)
    try:
        yield
    finally:
        layout.choose(before)
        os.environ.update(said)


def of_base(found, base):
    """Etch's figures and those of the empty loops, net, as the base's."""
    return [figures.Figure(figure.case, base, figure.lane, figure.unit,
                           [net.net(found, figure, "median")])
            for figure in found
            if figure.tracer == "etch" and figure.unit == "instructions"]


def measure(lane):
    """(figures, remarks) of a lane."""
    if not cases.counts(lane):
        raise figures.FigureError(f"lane {lane} cannot count instructions")
    rows = {}
    for base in layout.carried():
        with chosen(base):
            kernels.run([kernels.SCRIPTS / "lab/fetch.sh"])
            kernels.run([kernels.SCRIPTS / "series/tree.py", "build"])
            for figure in of_base(event.measure(lane)[0], base):
                rows.setdefault(figure.case, []).append(figure)
    return [figure for some in rows.values() for figure in some], [
        "Net, that is without the empty loop. By mono and local the kernels' own clocks "
        "count, in the storm their interrupts: these rows are held to nothing."]


def held(found):
    """{case: times the first base's} that is the farthest from 1 of each other base."""
    first, *others = layout.carried()
    free = [cases.SITUATIONS[how] for how in OTHERS]
    worst = {}
    for base in others:
        ratios = {figure.case: figures.ratio(figure.median,
                                             figures.find(found, figure.case, first).median)
                  for figure in found if figure.tracer == base
                  and figure.case.partition(", ")[2] not in free}
        if ratios:
            worst[base] = max(ratios.items(), key=lambda row: abs(row[1] - 1))
    return worst


def tables(_, found):
    """All that is printed of a lane."""
    first = layout.carried()[0]
    lines = [figures.table(found, first), ""]
    for base, (case, times) in held(found).items():
        lines.append(targets.line(f"instructions on {base}, times those on {first}, where "
                                  f"they differ most ({case}), or {first}'s times {base}'s",
                                  max(times, 1 / times), MOST))
    return "\n".join(lines)
