# SPDX-License-Identifier: GPL-2.0
"""What BENCH=event is held to."""

import event_cases as cases
import figures
import net
import targets


class Costs:
    """The small event's costs, each without its empty loop."""

    def __init__(self, found):
        self.found = found

    def of(self, how, tracer):
        """In a situation; None if that was not measured."""
        case = cases.title("small", how)
        figure = figures.find(self.found, case, tracer)
        return net.net(self.found, figure) if figure else None

    def to(self, how, tracer, peer):
        """How many times a peer's, in the same situation."""
        return figures.ratio(self.of(how, tracer), self.of(how, peer))

    def cheapest(self):
        """ftrace's least, by whichever clock."""
        some = [self.of(how, "ftrace") for how in cases.CLOCKS]
        return min((cost for cost in some if cost is not None), default=None)


def time(costs):
    """Those of the lane that measures time."""
    etch, floor = costs.of("warm", "etch"), costs.of("warm", "floor")
    off, none = costs.of("off", "etch"), costs.of("warm", "disabled")
    return [
        targets.line("16 bytes, warm, times the floor",
                     figures.ratio(etch, floor), 1.15, 1.05),
        targets.line("16 bytes, warm, times ftrace's by its cheapest clock",
                     figures.ratio(etch, costs.cheapest()), 0.4),
        targets.line("16 bytes, warm, both by mono, times ftrace's",
                     costs.to("clock_mono", "etch", "ftrace"), 0.4),
        targets.line("16 bytes, cold, times ftrace's",
                     costs.to("cold", "etch", "ftrace"), 0.4, 0.3),
        targets.line("discarding on a full buffer, times the warm floor",
                     figures.ratio(costs.of("discard", "etch"), floor), 0.5),
        "held to: tracing_on 0, what a disabled event costs: "
        f"{figures.number(off)} beside {figures.number(none)}",
    ]


def instructions(costs):
    """Those of the lane that counts."""
    return [
        targets.line("16 bytes, instructions", costs.of("warm", "etch"),
                     100, 75),
        targets.line("16 bytes, times ftrace's by its cheapest clock",
                     figures.ratio(costs.of("warm", "etch"),
                                   costs.cheapest()), 0.4)]


def lines(lane, cost, size):
    """All of them."""
    own = instructions if cases.counts(lane) else time
    return own(Costs(cost)) + [
        targets.line(f"bytes of {title}, times ftrace's",
                     figures.ratio(
                         figures.find(size, title, "etch").median,
                         figures.find(size, title, "ftrace").median), 1)
        for title in cases.KINDS.values()]
