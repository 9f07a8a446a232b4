#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# The bindings' types have names with an underscore, and no others.
# pylint: disable=protected-access
"""user.py FOLDER ETCH: are the traces right in which programs have recorded by themselves?

The folder is what scripts/lab/guest/user.sh makes, ETCH the tool. Each trace has two streams for
a CPU, the kernel's and that of programs. babeltrace2 reads it without a warning; each record of
a program lies between two switches of tasks, of which the first one is to its thread; a record
that was tried is there or counted; and the tool reads the same. Prints TAP.
"""

import itertools
import json
import re
import subprocess
import sys
from collections import Counter, namedtuple
from pathlib import Path

import bt2

import babel
import check
import loss

KERNEL, USER = 0, 1
WORDS = "the quick brown fox jumps over the lazy dog"

Record = namedtuple("Record", "stream cpu name time pid fields")


class Trace:
    """A trace, as babeltrace2 has it."""

    def __init__(self, folder):
        self.name, self.ctf = folder.name, folder / "ctf"
        self.tried = int((folder / "tried").read_text())
        self.records, self.discarded = [], Counter()
        cpus = {}
        for message in bt2.TraceCollectionMessageIterator(str(self.ctf)):
            kind = type(message)
            if kind is bt2._PacketBeginningMessageConst:
                packet = message.packet
                cpus[packet.stream.id] = int(packet.context_field["cpu_id"])
            elif kind is bt2._DiscardedEventsMessageConst:
                self.discarded[message.stream.cls.id] += message.count
            elif kind is bt2._EventMessageConst:
                self.add(message, cpus)

    def add(self, message, cpus):
        """One event."""
        stream = message.event.stream
        self.records.append(Record(
            stream.cls.id, cpus[stream.id], message.event.name,
            message.default_clock_snapshot.value, babel.context(message)[1],
            babel.payload(message)[0]))

    def of_programs(self):
        """Their records."""
        return [each for each in self.records if each.stream == USER]

    # ---- Cases ----

    def no_complaint(self):
        """babeltrace2's command reads both streams; losses are all that it may speak of."""
        count, said = babel.complaints(self.ctf)
        said = [line for line in said if not loss.NOTICE.match(line)]
        if count != len(self.records):
            said.append(f"{count} lines for {len(self.records)} records")
        return said

    def streams(self):
        """Each event is in its stream, and both have some."""
        wrong = {(each.stream, each.name) for each in self.records
                 if each.name.startswith("uload:") != (each.stream == USER)}
        sentences = [f"{name} is in stream {stream}" for stream, name in sorted(wrong)]
        sentences += [f"stream {stream} has only {count} records" for stream in (KERNEL, USER)
                      if (count := sum(each.stream == stream for each in self.records)) < 50]
        return sentences

    def account(self):
        """Each record that was tried is there, or the packets count it as lost."""
        found, lost = len(self.of_programs()), self.discarded[USER]
        wrong = []
        if found + lost != self.tried or not self.tried:
            wrong.append(f"{found} records and {lost} lost, {self.tried} tried")
        # The recorder may be too slow, and may not; without a reader some are lost.
        if not lost and self.name in ("discard", "overwrite"):
            wrong.append("none is lost")
        return wrong

    def content(self):
        """The program has written these records, in this order."""
        wrong, last = [], {}
        for each in self.of_programs():
            number, key = each.fields["nr"], (each.pid, each.name)
            if each.name == "uload:text" and each.fields["words"] != WORDS[number % 44:]:
                wrong.append(f"{each.fields} is not the program's text")
            if number <= last.get(key, -1):
                wrong.append(f"{each.name} {number} comes after {last[key]}")
            last[key] = number
        if len({pid for pid, _ in last}) != 3:
            wrong.append(f"records are of {sorted(last)}")
        return wrong

    def in_slices(self):
        """A record's thread was running when it was written."""
        running, wrong, sure = {}, [], 0
        for each in self.records:
            if each.name == "sched:sched_switch":
                running[each.cpu] = each.fields["next_pid"]
            elif each.stream == USER and each.cpu in running:
                sure += 1
                if running[each.cpu] != each.pid:
                    wrong.append(f"{each.name} of {each.pid} at {each.time}, when "
                                 f"{running[each.cpu]} ran")
        if sure < len(self.of_programs()) * 0.9:
            wrong.append(f"only {sure} records have a switch before them")
        return wrong

    def at_one_time(self):
        """(first, end) of the records with one time, if they are of several streams."""
        numbers = range(len(self.records))
        for _, group in itertools.groupby(numbers, lambda i: self.records[i].time):
            first, *others = group
            if len({self.records[i][:2] for i in (first, *others)}) > 1:
                yield first, others[-1] + 1

    def same_in_the_tool(self, etch):
        """etch show has the same records in the same order.

        Two processors may have read the same counter: the order of those is nobody's.
        """
        out = subprocess.run([etch, "show", self.ctf], text=True, check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        names = re.findall(r"^[^#\n]*?\d+\.\d+: (\w+):", out.stdout, re.M)
        ours = [each.name.partition(":")[2] for each in self.records]
        for first, end in self.at_one_time():
            names[first:end] = sorted(names[first:end])
            ours[first:end] = sorted(ours[first:end])
        wrong = [out.stderr] if out.stderr.strip() else []
        if names != ours:
            at = next((i for i, pair in enumerate(zip(names, ours)) if pair[0] != pair[1]),
                      min(len(names), len(ours)))
            wrong.append(f"{len(names)} records, and babeltrace2 has {len(ours)}; they differ "
                         f"from {at} on: {names[at:at + 3]} for {ours[at:at + 3]}")
        return wrong

    def checked_by_the_tool(self, etch):
        """etch check finds the trace whole, and as many losses."""
        out = subprocess.run([etch, "check", self.ctf], text=True, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lost = sum(self.discarded.values())
        want = f" whole: {len(self.records)} records of "
        wrong = [] if not out.returncode else [f"status {out.returncode}"]
        if want not in out.stdout or f" {lost} lost, " not in out.stdout or "not whole" in \
                out.stdout:
            wrong.append(f"it does not say '{want}' and '{lost} lost'")
        return wrong + out.stdout.splitlines() if wrong else []

    def exported(self, etch):
        """etch export has all of them."""
        out = subprocess.run([etch, "export", "-f", "json", "-o", "-", self.ctf], text=True,
                             check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = [json.loads(line) for line in out.stdout.splitlines()]
        found = Counter(line["event"] for line in lines if "event" in line)
        ours = Counter(each.name for each in self.records)
        contexts = [line["event"] for line in lines if line.get("contexts")
                    and line["event"].startswith("uload:")]
        return ([f"{dict(found)} for {dict(ours)}"] if found != ours else []) + contexts


def main():
    folder, etch = Path(sys.argv[1]), sys.argv[2]
    report = check.Report()
    for path in sorted(each for each in folder.iterdir() if each.is_dir()):
        trace = Trace(path)
        name = f"programs, {trace.name}"
        report.case(f"{name}: babeltrace2 reads both streams without a warning",
                    trace.no_complaint)
        report.case(f"{name}: each event is in its stream", trace.streams)
        report.case(f"{name}: each record that was tried is there, or counted", trace.account)
        report.case(f"{name}: the program wrote these records, in this order", trace.content)
        report.case(f"{name}: a record lies in a slice of its thread", trace.in_slices)
        report.case(f"{name}: etch show has the same", trace.same_in_the_tool, etch)
        report.case(f"{name}: etch check has the same", trace.checked_by_the_tool, etch)
        report.case(f"{name}: etch export has them", trace.exported, etch)
        report.say(f"{name}: {len(trace.records)} records, {len(trace.of_programs())} of "
                   f"programs, {trace.discarded[USER]} lost")
    return 1 if report.failed or not report.count else 0


if __name__ == "__main__":
    sys.exit(main())
