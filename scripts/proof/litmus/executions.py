# SPDX-License-Identifier: GPL-2.0
"""All executions of a litmus test, and which of them the kernel's model allows."""

import itertools

from cat import Events, Relation
from program import orders

TAGS = ["Once", "Acquire", "Release", "Noreturn", "Mb", "Rmb", "Wmb", "Barrier",
        "Before-atomic", "After-atomic", "Rcu-lock", "Rcu-unlock", "Sync-rcu"]
# Of locks and SRCU, which no test here has.
EMPTY = ["LKR", "LKW", "UL", "LF", "RL", "RU", "Srcu-lock", "Srcu-unlock", "Sync-srcu",
         "After-spinlock", "After-unlock-lock", "After-srcu-read-unlock"]


class Candidate:
    """A choice of runs: the events, initial writes in front, and the relations they fix."""

    def __init__(self, test, runs):
        self.test = test
        self.registers = [registers for _, registers in runs]
        self.initial = {place: i for i, place in enumerate(test.places())}
        self.events = [("W", None, place, test.initial(place), None)
                       for place in test.places()]
        self.pairs = {name: [] for name in ("po", "addr", "data", "ctrl", "rmw")}
        self.atomic = set()
        for thread, (events, _) in enumerate(runs):
            first = len(self.events)
            for i, event in enumerate(events):
                self.events.append((event.kind, event.tag, event.loc, event.value,
                                    thread))
                self.pairs["po"] += [(first + k, first + i) for k in range(i)]
                for name in ("addr", "data", "ctrl"):
                    self.pairs[name] += [(first + k, first + i)
                                         for k in getattr(event, name)]
                if event.atomic:
                    self.atomic.add(first + i)
                if event.rmw is not None:
                    self.pairs["rmw"].append((first + event.rmw, first + i))

    def writes(self, place):
        return [i for i, event in enumerate(self.events)
                if event[0] == "W" and event[2] == place]

    def reads(self):
        return [i for i, event in enumerate(self.events) if event[0] == "R"]

    def sources(self, read):
        _, _, place, value, _ = self.events[read]
        return [i for i in self.writes(place) if self.events[i][3] == value]

    def coherences(self):
        """Orders of the writes to each place, the initial one first."""
        places = list(self.initial)
        later = [[i for i in self.writes(place) if i != self.initial[place]]
                 for place in places]
        for choice in itertools.product(*(orders(some) for some in later)):
            yield {place: (self.initial[place], *order)
                   for place, order in zip(places, choice)}

    def base(self):
        """The meaning of the model's names, but for those that with_order() adds."""
        size = len(self.events)

        def some(test):
            return Events(i for i, event in enumerate(self.events) if test(event))

        def relation(test):
            return Relation.of(size, [(a, b) for a in range(size) for b in range(size)
                                      if test(self.events[a], self.events[b])])

        env = {"#": size, "_": Events(range(size)),
               "R": some(lambda e: e[0] == "R"), "W": some(lambda e: e[0] == "W"),
               "M": some(lambda e: e[0] != "F"), "F": some(lambda e: e[0] == "F"),
               "IW": some(lambda e: e[4] is None)}
        for tag in TAGS:
            env[tag] = some(lambda e, tag=tag: e[1] == tag)
        for tag in EMPTY:
            env[tag] = Events()
        for name, pairs in self.pairs.items():
            env[name] = Relation.of(size, pairs)
        env["RMW"] = Events(self.atomic.union(*self.pairs["rmw"]))
        env["id"] = Relation(1 << i for i in range(size))
        env["loc"] = relation(lambda a, b: a[2] == b[2] and "F" not in (a[0], b[0]))
        env["int"] = relation(lambda a, b: a[4] == b[4] and a[4] is not None)
        env["ext"] = relation(lambda a, b: a[4] != b[4])
        env["po-loc"] = env["po"] & env["loc"]
        env["domain"] = lambda r: Events(a for a, _ in r.pairs())
        env["range"] = lambda r: Events(b for _, b in r.pairs())
        env["different-values"] = lambda r: Relation.of(
            size, [(a, b) for a, b in r.pairs()
                   if self.events[a][3] != self.events[b][3]])

        def fencerel(fences):
            inside = Relation.of(size, [(a, a) for a in fences])
            return env["po"].then(inside).then(env["po"])

        env["fencerel"] = fencerel
        return env

    def with_order(self, base, sources, coherence):
        """The model's names for one execution."""
        size = len(self.events)
        env = dict(base)
        env["rf"] = Relation.of(size, [(w, r) for r, w in sources.items()])
        env["co"] = Relation.of(size, [pair for order in coherence.values()
                                       for pair in itertools.combinations(order, 2)])
        env["fr"] = env["rf"].inverse().then(env["co"]) - env["id"]
        for name in ("rf", "co", "fr"):
            env[name + "e"] = env[name] & env["ext"]
            env[name + "i"] = env[name] & env["int"]
        return env


def check(test, model):
    """(whether the condition can be, executions allowed, names of flags raised)"""
    bad, allowed, flags = False, 0, set()
    for runs in itertools.product(*test.all_runs()):
        candidate = Candidate(test, runs)
        reads = candidate.reads()
        sources = [candidate.sources(read) for read in reads]
        if not all(sources):
            continue
        base = candidate.base()
        for coherence in candidate.coherences():
            memory = {place: candidate.events[order[-1]][3]
                      for place, order in coherence.items()}
            holds = test.condition.holds(candidate.registers, memory)
            for choice in itertools.product(*sources):
                env = candidate.with_order(base, dict(zip(reads, choice)), coherence)
                may, raised = model.allows(env)
                if may:
                    allowed += 1
                    flags |= set(raised)
                    bad = bad or holds
    return bad, allowed, flags
