# SPDX-License-Identifier: GPL-2.0
"""What BENCH=event is held to."""

import event_cases as cases
import figures
import net
import targets


class Costs:
    """The small event's costs, each without its empty loop."""

    def __init__(self, found, of="median"):
        self.found = found
        self.which = of

    def of(self, how, tracer):
        """In a situation; None if that was not measured."""
        case = cases.title("small", how)
        figure = figures.find(self.found, case, tracer)
        return net.net(self.found, figure, self.which) if figure else None

    def to(self, how, tracer, peer):
        """How many times a peer's, in the same situation."""
        return figures.ratio(self.of(how, tracer), self.of(how, peer))

    def to_floor(self, how):
        """How many times the warm floor."""
        return figures.ratio(self.of(how, "etch"), self.of("warm", "floor"))

    def to_cheapest(self):
        """How many times ftrace's least, by whichever clock."""
        some = [self.of(how, "ftrace") for how in cases.CLOCKS]
        return figures.ratio(self.of("warm", "etch"), min(
            (cost for cost in some if cost is not None), default=None))


def several(costs):
    """What several instances cost, in either unit."""
    return [targets.line(f"16 bytes, {how} instances, times ftrace's",
                         costs.to(how, "etch", "ftrace"), 0.25)
            for how in ("two", "four", "eight")]


def time(found):
    """Those of the lane that measures time."""
    costs, least = Costs(found), Costs(found, "min")
    return [
        targets.line("16 bytes, warm, times the floor",
                     costs.to_floor("warm"), 1.15, 1.05,
                     least.to_floor("warm")),
        targets.line("16 bytes, warm, times ftrace's by its cheapest clock",
                     costs.to_cheapest(), 0.4, least=least.to_cheapest()),
        targets.line("16 bytes, warm, both by mono, times ftrace's",
                     costs.to("clock_mono", "etch", "ftrace"), 0.5, 0.4,
                     least.to("clock_mono", "etch", "ftrace")),
        targets.line("16 bytes, cold, times ftrace's",
                     costs.to("cold", "etch", "ftrace"), 0.4, 0.3,
                     least.to("cold", "etch", "ftrace")),
        targets.line("discarding on a full buffer, times the warm floor",
                     costs.to_floor("discard"), 0.5,
                     least=least.to_floor("discard")),
        *several(costs),
        "held to: tracing_on 0, what a disabled event costs: "
        f"{figures.number(costs.of('off', 'etch'))} beside "
        f"{figures.number(costs.of('warm', 'disabled'))}",
    ]


def instructions(found):
    """Those of the lane that counts."""
    costs = Costs(found)
    return [
        targets.line("16 bytes, instructions", costs.of("warm", "etch"),
                     85, 75),
        targets.line("16 bytes, times ftrace's by its cheapest clock",
                     costs.to_cheapest(), 0.4),
        *several(costs)]


def lines(lane, cost, size):
    """All of them."""
    own = instructions if cases.counts(lane) else time
    return own(cost) + [
        targets.line(f"bytes of {title}, times ftrace's",
                     figures.ratio(
                         figures.find(size, title, "etch").median,
                         figures.find(size, title, "ftrace").median), 1)
        for title in cases.KINDS.values()]
