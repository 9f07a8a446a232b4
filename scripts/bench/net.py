# SPDX-License-Identifier: GPL-2.0
"""Figures without their empty loop, beside a peer's."""

import figures


def net(found, figure, of="median"):
    """A figure without its empty loop; itself where it has none.

    of: "median" or, for the least of each, "min".
    """
    base = figures.find(found, figure.case, "empty")
    return getattr(figure, of) - (getattr(base, of) if base else 0)


def ratio(found, figure, other):
    """Net, to another tracer's in the same case; None if there is none."""
    peer = figures.find(found, figure.case, other)
    if not peer or peer is figure:
        return None
    return figures.ratio(net(found, figure), net(found, peer))


def table(found, peers):
    """The figures beside these peers."""
    head = ["case", "tracer", "median", "min", "max", "net",
            *[f"to {peer}" for peer in peers]]
    lines = [[figure.case, figure.tracer, *map(figures.number, (
        figure.median, figure.min, figure.max, net(found, figure),
        *[ratio(found, figure, peer) for peer in peers]))]
        for figure in found]
    return figures.grid(head, lines)
