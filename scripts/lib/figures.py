# SPDX-License-Identifier: GPL-2.0
"""Figures: what a benchmark measured, as lines, as a table, as JSON.

A guest reports every single round, in ticks of a counter:

    bench: hz TICKS-PER-SECOND
    bench: sample NAME HOW ITERATIONS TICKS...

Everything else is worked out here.
"""

import json
import re
import statistics

HZ = re.compile(r"^bench: hz (\d+)$")
SAMPLE = re.compile(r"^bench: sample (\S+) (\S+) (\d+)((?: \d+)+)$")
UNITS = ("ns", "instructions", "bytes", "events/s")


class FigureError(Exception):
    """Why there are no figures, as a sentence."""


def scatter(rounds):
    """Half of the rounds lie within this of their middle."""
    if len(rounds) < 2:
        return 0
    first, _, third = statistics.quantiles(rounds)
    return (third - first) / 2


class Figure:
    """One case: the rounds of it, in a unit."""

    def __init__(self, case, tracer, lane, unit, rounds):
        if unit not in UNITS or not rounds:
            raise FigureError(f"{case}: {len(rounds)} rounds in {unit}")
        self.case = case
        self.tracer = tracer
        self.lane = lane
        self.unit = unit
        self.median = statistics.median(rounds)
        self.min = min(rounds)
        self.max = max(rounds)
        self.scatter = scatter(rounds)

    def as_dict(self):
        """The figure as it is written to the file, in the file's order."""
        numbers = {key: round(getattr(self, key), 3)
                   for key in ("median", "min", "max")}
        return {"case": self.case, "tracer": self.tracer, "lane": self.lane,
                "unit": self.unit, **numbers}


def parse(lines, in_ticks=False):
    """{(name, how): [each round's cost of one iteration]}, in ns or ticks."""
    hertz, found = None, {}
    for line in lines:
        if match := HZ.match(line):
            hertz = int(match[1])
        elif match := SAMPLE.match(line):
            rounds = found.setdefault((match[1], match[2]), [])
            rounds += [int(word) / int(match[3]) for word in match[4].split()]
        elif line.startswith("bench: sample"):
            raise FigureError(f"not a sample: {line}")
    if in_ticks:
        return found
    if not hertz:
        raise FigureError("the report does not tell how fast its counter is")
    return {key: [ticks * 1e9 / hertz for ticks in rounds]
            for key, rounds in found.items()}


def find(figures, case, tracer):
    """The figure of a case and a tracer, or None."""
    for figure in figures:
        if (figure.case, figure.tracer) == (case, tracer):
            return figure
    return None


def over(figures, figure, base):
    """How much more a figure is than the same tracer's case base, or None."""
    below = find(figures, base, figure.tracer)
    return figure.median - below.median if below else None


def number(value):
    """Three digits or more, "-" for None."""
    if value is None:
        return "-"
    if abs(value) >= 1e6:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.1f}"


def ratio(value, other):
    """How many times the other; None where there is no other."""
    if value is None or not other:
        return None
    return value / other


def grid(head, rows):
    """Columns of text as wide as they must be; the first two to the left."""
    widths = [max(len(row[i]) for row in [head, *rows])
              for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                  for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in [head, *rows])


def table(figures, peer, base_of=None):
    """Every figure; beside the peer's in the same case.

    base_of: a function from a case to the case that must not count, the empty
    loop; then the table also shows by how much the figure is above it.
    """
    head = ["case", "tracer", "median", "min", "max", f"to {peer}"]
    head += ["over empty"] if base_of else []
    rows = []
    for figure in figures:
        other = find(figures, figure.case, peer)
        other = other.median if other and figure.tracer != peer else None
        row = [figure.case, figure.tracer, number(figure.median),
               number(figure.min), number(figure.max),
               number(ratio(figure.median, other))]
        if base_of:
            row.append(number(over(figures, figure, base_of(figure.case))))
        rows.append(row)
    return grid(head, rows)


def to_json(figures):
    """The array of objects, one to a line."""
    lines = [json.dumps(figure.as_dict()) for figure in figures]
    return "[\n" + ",\n".join(lines) + "\n]\n"
