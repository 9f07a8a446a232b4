# SPDX-License-Identifier: GPL-2.0
"""Lost records: as many as stats say, and where they are missing.

One event is hit in rounds with numbers, so and so many times the same: each record
says which one it is, and the gaps are known to the record.
"""

import re

import babel

TRACES = ("discard", "overwrite", "throttled")
NOTICE = re.compile(r"^WARNING: Tracer discarded \d+ (events?|packets?) between ")


class Loss:
    """What babeltrace2 tells of one trace."""

    def __init__(self, trace):
        self.trace = trace
        self.rounds, self.times = map(
            int, (trace.folder / "rounds").read_text().split())
        self.seen = []
        self.note = "not read"

    def number(self):
        """The losses that the trace reports add up to those of stats, by CPU."""
        self.seen = list(babel.messages(self.trace.ctf))
        wrong, told = [], dict.fromkeys(self.trace.stats, 0)
        losts = [each for each in self.seen if isinstance(each, babel.Lost)
                 and each.what == "records"]
        for each in losts:
            if each.count is None:
                wrong.append(f"CPU {each.cpu}: it says that some may be lost")
            else:
                told[each.cpu] += each.count
        wrong += [f"CPU {cpu}: {told[cpu]} for {self.trace.lost(cpu)}"
                  for cpu in told if told[cpu] != self.trace.lost(cpu)]
        self.note = f"{sum(told.values())} records lost in {len(losts)} places"
        if len(losts) < self.times // 2:
            wrong.append(f"too few to say anything: {self.note}")
        return wrong

    def contexts(self):
        """All records have the contexts that the instance adds, and sensible values of them."""
        names = set() if self.trace.contexts.startswith("#") else set(
            self.trace.contexts.partition("\n")[0].split())
        wrong, events = [], [each for each in self.seen if isinstance(each, babel.Event)]
        for each in events:
            found = each.message.event.common_context_field
            have = {name for name in ("flags", "prio", "cgroup") if name in found}
            if have != names:
                wrong.append(f"{sorted(have)} for {sorted(names)}")
            elif names and (int(found["prio"]) != 120 or int(found["preempt_count"]) > 3 or
                            int(found["migrate_disable"]) > 3 or
                            ("cgroup" in names and int(found["cgroup"]) > 1 << 32)):
                wrong.append(f"strange values: {found}")
        self.note = f"{len(events)} records with {', '.join(sorted(names)) or 'none'}"
        return wrong if events else ["no record"]

    def place(self):
        """The trace reports each gap in the rounds' numbers at its place."""
        wrong, at, records = [], 0, 0
        for each in self.seen:
            if isinstance(each, babel.Event):
                number = int(each.message.event.payload_field["round"])
                if number != at % self.rounds:
                    wrong.append(f"record {records} is of round {number}, after "
                                 f"{at} rounds")
                    at = number
                at += 1
                records += 1
            elif each.what == "records" and each.count:
                at += each.count
        if at != self.rounds * self.times:
            wrong.append(f"{at} rounds for {self.rounds * self.times}")
        return wrong
