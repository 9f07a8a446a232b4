# SPDX-License-Identifier: GPL-2.0
"""What "etch show" and "etch check" make of a trace, beside what is known of it.

check.py has compared the records with babeltrace2's before: here each of them has to be a
line, with its time to the nanosecond, and each loss has to stand on its CPU, by cause.
"""

import collections
import re
import subprocess
import tempfile
from pathlib import Path

import printed

_LINE = re.compile(rb"^ *(.*)-(-?\d+) +\[(\d+)\] [.a-zA-Z]{5} +(\d+)\.(\d{9}): (.*)$")
_LOST = re.compile(rb"^CPU:(\d+) \[LOST (\d+) EVENTS\] (.*)$")
_CAUSES = (("overwritten", "overwritten"), ("lost full", "because the buffer was full"),
           ("lost throttled", "because the budget was spent"),
           ("lost nested", "because of where an interrupt came"),
           ("lost too big", "because they fit in no sub-buffer"))
# What the kernel prints without the event's name, or finds in its own memory: strings and
# symbols, and enumerators that it has not told the value of.
_KERNEL_ONLY = re.compile(r"%p[sSfFB]|\(\{|\{ [A-Z]|jiffies|mem_map|^\"%s\"$")
_POINTER = re.compile(r"\b[0-9a-f]{16}\b|\(____ptrval____\)")

Shown = collections.namedtuple("Shown", "cpu pid ns body")


def folder_with_formats(trace, folder):
    """A copy by links, with what the recorder keeps if this trace was not made by it."""
    for file in trace.ctf.glob("[!.]*"):
        (folder / file.name).symlink_to(file.resolve())
    notes = trace.ctf / ".etch"
    if notes.is_dir():
        (folder / ".etch").symlink_to(notes.resolve())
        return
    (folder / ".etch").mkdir()
    (folder / ".etch/formats").write_text("\n".join(
        path.read_text() for path in sorted((trace.folder.parent / "formats").glob("*/*"))))


class Show:
    """A trace, as the program shows it."""

    def __init__(self, trace, known, program):
        self.trace, self.known, self.program = trace, known, program
        self.note = "not read"
        metadata = (trace.ctf / "metadata").read_text()
        self.freq = int(re.search(r"\tfreq = (\d+);", metadata)[1])
        self.shift = self._shift(metadata)

    def _shift(self, metadata):
        """Nanoseconds between the clock's time and the kernel's, of which the recorder tells."""
        command = self.trace.ctf / ".etch/command"
        if "name = counter;" not in metadata or not command.exists():
            return 0
        boot = re.search(r"^boot: (\d+)\.(\d{9})$", command.read_text(), re.M)
        offset = {name: int(number) for name, number in
                  re.findall(r"\t(offset_s|offset) = (\d+);", metadata)}
        return (offset["offset_s"] * 10**9 + offset["offset"] * 10**9 // self.freq
                - int(boot[1]) * 10**9 - int(boot[2]))

    def run(self, verb, *options):
        """(what it prints, what it says besides, its exit status)"""
        with tempfile.TemporaryDirectory() as name:
            folder_with_formats(self.trace, Path(name))
            done = subprocess.run([self.program, verb, *options, name], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            return done.stdout, done.stderr.decode(), done.returncode

    def lines(self):
        """Shown records by CPU, and losses by CPU: ({cpu: [Shown]}, {cpu: {cause: count}})."""
        out, said, status = self.run("show", "-N", "-H")
        if said or status:
            raise ValueError(f"status {status}: {said}")
        records = collections.defaultdict(list)
        lost = collections.defaultdict(collections.Counter)
        before = 0
        for line in out.splitlines():
            match = _LINE.match(line)
            if match:
                ns = int(match[4]) * 10**9 + int(match[5])
                if ns < before:
                    raise ValueError(f"time goes back: {line!r}")
                before = ns
                records[int(match[3])].append(Shown(int(match[3]), int(match[2]), ns, match[6]))
            elif _LOST.match(line):
                self._lost(lost, _LOST.match(line))
        return records, lost

    @staticmethod
    def _lost(lost, match):
        cpu, text = int(match[1]), match[3].decode()
        for part in text.split(", "):
            count, why = part.split(" ", 1)
            lost[cpu][dict((words, name) for name, words in _CAUSES)[why]] += int(count)
        lost[cpu]["all"] += int(match[2])

    # ---- Cases ----

    def same_records(self):
        """Each record is a line: its CPU, thread, time and event; and there is no other."""
        wrong, shown = [], self.lines()[0]
        for cpu, records in self.trace.records.items():
            if len(records) != len(shown[cpu]):
                wrong.append(f"CPU {cpu}: {len(shown[cpu])} lines for {len(records)} records")
            for index, (record, line) in enumerate(zip(records, shown[cpu])):
                ns = record.time * 10**9 // self.freq + self.shift
                if (record.pid, ns) != (line.pid, line.ns) or not self._named(record, line):
                    wrong.append(f"CPU {cpu}, record {index}: {line} for {record}")
        self.note = f"{sum(map(len, shown.values()))} lines"
        return wrong

    def _named(self, record, line):
        """Does the line begin with the event's name? Some have another one in text."""
        layout = self.known[record.id]
        if layout.system == "syscalls":
            name = "sys_" + layout.name.split("_", 2)[2]
        elif layout.full_name == "etch:marker":
            name = "tracing_mark_write:"
        elif layout.full_name == "etch:marker_raw":
            name = "# "
        else:
            name = layout.name + ":"
        return line.body.startswith(name.encode())

    def same_loss(self):
        """Losses are those of stats, by CPU and cause."""
        wrong, lost = [], self.lines()[1]
        for cpu, stats in self.trace.stats.items():
            for cause, _ in _CAUSES:
                if stats[cause] != lost[cpu][cause]:
                    wrong.append(f"CPU {cpu}: {lost[cpu][cause]} {cause} for {stats[cause]}")
            if self.trace.lost(cpu) != lost[cpu]["all"]:
                wrong.append(f"CPU {cpu}: {lost[cpu]['all']} for {self.trace.lost(cpu)}")
        self.note = f"{sum(each['all'] for each in lost.values())} lost"
        return wrong

    def checked(self):
        """etch check finds the trace whole, with as many records and losses."""
        out, said, status = self.run("check")
        records = sum(map(len, self.trace.records.values()))
        lost = sum(map(self.trace.lost, self.trace.stats))
        first = out.decode().partition("\n")[0]
        wrong = [] if f" is whole: {records} records of " in first and f", {lost} lost," in (
            first) else [first]
        if said or status:
            wrong.append(f"status {status}: {said}")
        return wrong

    def comparable(self):
        """Names of events whose text needs nothing but the record."""
        return {layout.name for layout in self.known.values()
                if not _KERNEL_ONLY.search(layout.print) and not any(
                    field.number and field.type.startswith("char *") or
                    field.type.startswith("const char *") for field in layout.fields)}

    def same_text(self, least):
        """What the kernel printed of the same records; pointers are hashed there."""
        wrong, names, equal, events = [], self.comparable(), 0, set()
        for cpu, records in self.trace.records.items():
            path = self.trace.folder / f"text.cpu{cpu}"
            theirs = printed.lines(path.read_text(errors="replace"))
            out = self.run("show", "-H", "-c", str(cpu))[0].decode(errors="replace")
            ours = printed.lines(out)
            if not len(theirs) == len(ours) == len(records):
                wrong.append(f"CPU {cpu}: {len(ours)} lines for {len(theirs)}")
            for one, two in zip(map(printed.parse, theirs), map(printed.parse, ours)):
                name = one.body.partition(":")[0]
                if name not in names and not name.startswith(("sys_", "tracing_mark")):
                    continue
                if (one.pid, one.cpu, one.flags, _POINTER.sub("P", one.body)) != (
                        two.pid, two.cpu, two.flags, _POINTER.sub("P", two.body)):
                    wrong.append(f"{two.body!r} for {one.body!r}")
                equal += 1
                events.add(name.partition("(")[0].partition(" ")[0])
        self.note = f"{equal} lines of {len(events)} events are the kernel's"
        if equal < least:
            wrong.append(f"too few to say anything: {self.note}")
        return wrong
