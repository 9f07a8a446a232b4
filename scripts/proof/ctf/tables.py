#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""tables.py ETCH TRACE...: are the tables that etch prints of traces right?

babeltrace2 prints the records, and what etch top, latency, syscalls, irqs, block and diff
should print is computed here from that text. A copy of each trace in which packets are
missing is compared, too: gaps are found by the packets' headers. Prints TAP.
"""

import bisect
import fnmatch
import re
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple
from pathlib import Path

import packets

_LINE = re.compile(r"\[(\d+)\] \S+ (\w+:\w+): \{ cpu_id = (\d+) \}, \{.*?pid = (-?\d+)[^}]*\}"
                   r"(?:, \{(.*)\})?$")
_WANTED = re.compile(r" (?:sched:sched_(?:switch|waking|wakeup|wakeup_new|process_free"
                     r"|process_fork)|task:task_rename|statedump:statedump_task"
                     r"|raw_syscalls:\w+|syscalls:\w+|irq:(?:irq_handler|softirq)_e\w+"
                     r"|irq_vectors:\w+_(?:entry|exit)|block:block_rq_(?:issue|complete|requeue))"
                     r": \{")
_SOFTIRQS = "HI TIMER NET_TX NET_RX BLOCK IRQ_POLL TASKLET SCHED HRTIMER RCU".split()

Record = namedtuple("Record", "time event cpu pid fields")
# A gap begins, or ends.
Edge = namedtuple("Edge", "time cpu begins")
# fate: "" if it has an end, "open", or "lost".
Span = namedtuple("Span", "kind begin end cpu tid task label fate woken")


def number(text, name):
    """A number of a record's text; of an enumeration its value."""
    match = re.search(rf"[ {{]{name} = (?:\( .*? : container = )?(0x[0-9A-F]+|-?\d+)", text)
    return int(match[1], 0)


def string(text, name):
    """The same of a text."""
    return re.search(rf'[ {{]{name} = "((?:[^"\\]|\\.)*)"', text)[1]


class Read:
    """A trace, as babeltrace2 prints it. cut: the CPU whose file is cut off where it ends."""

    def __init__(self, folder, cut=None):
        self.folder = folder
        metadata = (folder / "metadata").read_text()
        self.freq = int(re.search(r"^\tfreq = (\d+);", metadata, re.M)[1])
        self.records, self.count, self.first, self.last = [], 0, None, None
        command = ["babeltrace2", "--clock-cycles", "--no-delta", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, errors="replace") as process:
            for line in process.stdout:
                self.count += 1
                if self.first is None:
                    self.first = self.ns(int(line[1:line.index("]")]))
                last = line
                if _WANTED.search(line):
                    cycles, event, cpu, pid, fields = _LINE.match(line).groups()
                    self.records.append(Record(self.ns(int(cycles)), event, int(cpu), int(pid),
                                               fields or ""))
        self.last = self.ns(int(last[1:last.index("]")]))
        self.cpus = sorted(int(path.name[3:]) for path in folder.glob("cpu*"))
        self.gaps, self.lost = self._gaps(cut)

    def ns(self, cycles):
        """Cycles of the clock as nanoseconds."""
        return cycles * 1000000000 // self.freq

    def _gaps(self, cut):
        found, lost = [], 0
        for cpu in self.cpus:
            all_packets, _ = packets.packets((self.folder / f"cpu{cpu}").read_bytes())
            if cpu == cut:
                found.append(Edge(self.ns(all_packets[-1].header.end), cpu, True))
            for one, two in zip(all_packets, all_packets[1:]):
                missing = two.header.discarded - one.header.discarded
                if missing or two.header.seq != one.header.seq + 1:
                    found += [Edge(self.ns(one.header.end), cpu, True),
                              Edge(self.ns(two.header.begin), cpu, False)]
                    lost += missing
        return sorted(found, key=lambda edge: edge.time), lost

    def steps(self):
        """Records, with the edges of gaps between them."""
        edges, at = self.gaps, 0
        for record in self.records:
            while at < len(edges) and edges[at].time <= record.time and not (
                    edges[at].begins and edges[at].time == record.time
                    and edges[at].cpu == record.cpu):
                yield edges[at]
                at += 1
            yield record
        yield from (edge for edge in edges[at:] if edge.time <= self.last)


class Spans:
    """The spans of time in a trace."""

    def __init__(self, read):
        self.names, self.found = self.noted(read.folder), []
        self.runs = {}          # by CPU: (tid, since)
        self.states = {}        # by tid: (kind, since, woken), of those that do not run
        self.where = {}         # by tid: the CPU, of those that run
        self.calls = {}         # by tid: [name, number, since, told by]
        self.irqs = {}          # by CPU: [(kind, label, since, tid, task)]
        self.io = {}            # by (dev, sector, empty): [label, since, left, tid, task]
        self.numbers = {}       # of calls: names
        self.gaps = set()
        handlers = {
            "sched:sched_switch": self.switch, "sched:sched_waking": self.wake,
            "sched:sched_wakeup": self.wake, "sched:sched_wakeup_new": self.wake,
            "sched:sched_process_free": lambda r: self.gone(number(r.fields, "pid")),
            "sched:sched_process_fork": lambda r: self.name(r, "child_pid", "child_comm"),
            "task:task_rename": self.renamed,
            "statedump:statedump_task": lambda r: self.name(r, "tid", "comm"),
            "block:block_rq_issue": self.issue, "block:block_rq_complete": self.complete,
            "block:block_rq_requeue": lambda r: self.io.pop(self.request(r), None),
        }
        for step in read.steps():
            if isinstance(step, Edge):
                (self.gap if step.begins else lambda edge: self.gaps.discard(edge.cpu))(step)
            elif step.event in handlers:
                handlers[step.event](step)
            elif "sys_enter" in step.event:
                self.enter(step)
            elif "sys_exit" in step.event:
                self.leave(step)
            else:
                self.interrupt(step)
        self.drop(read.last, "open")

    @staticmethod
    def noted(folder):
        """Names that the recorder found when it began: records may name a thread later."""
        notes = folder / ".etch/tasks"
        lines = notes.read_text(errors="replace").splitlines() if notes.exists() else []
        words = (line.split(" ", 4) for line in lines if line.startswith("start "))
        return {int(tid): name for _, tid, _, _, name in words if name}

    def task(self, tid):
        """A thread's name now."""
        return self.names.get(tid, "?") if tid else "<idle>"

    def name(self, record, tid, comm):
        """A record names a thread."""
        self.names[number(record.fields, tid)] = string(record.fields, comm)

    def renamed(self, record):
        """A record gives a thread another name; since Linux 6.18 it has no number of one."""
        has = re.search(r"[ {]pid = ", record.fields)
        self.names[number(record.fields, "pid") if has else record.pid] = string(
            record.fields, "newcomm")

    def add(self, kind, begin, end, cpu, tid, label=None, fate="", woken=False, task=None):
        """A span; label and task: the thread's name unless given."""
        task = task or self.task(tid)
        self.found.append(Span(kind, begin, end, cpu, tid, task, label or task, fate, woken))

    # ---- Tasks ----

    def gone(self, tid):
        """A thread is no more."""
        for cpu in [cpu for cpu, run in self.runs.items() if run[0] == tid]:
            _, since = self.runs.pop(cpu)
            self.add("run", since, since, cpu, tid, fate="lost")
        for each in (self.states, self.where, self.calls, self.names):
            each.pop(tid, None)

    def switch(self, record):
        """One thread leaves a CPU, and another gets it."""
        text, now, cpu = record.fields, record.time, record.cpu
        prev, following = number(text, "prev_pid"), number(text, "next_pid")
        state = number(text, "prev_state")
        if prev:
            self.name(record, "prev_pid", "prev_comm")
        if cpu in self.runs:
            tid, since = self.runs[cpu]
            if tid == prev:
                self.add("run", since, now, cpu, tid)
            else:
                self.add("run", since, since, cpu, tid, fate="lost")
            del self.runs[cpu]
        self.states.pop(prev, None)
        self.where.pop(prev, None)
        if prev and state & 0x30 and not state & 0x100:
            self.gone(prev)
        elif prev and self.gaps:
            self.drop_call(prev, now, "lost")
        elif prev:
            kind = ("blocked" if state & 2 else
                    "ready" if not state or state & 0x100 else "sleep")
            self.states[prev] = (kind, now, False)
        if following:
            self.name(record, "next_pid", "next_comm")
            self.end_state(following, now, cpu)
            self.where[following] = cpu
        if cpu not in self.gaps:
            self.runs[cpu] = (following, now)

    def end_state(self, tid, now, cpu, fate=""):
        """What a thread did while it did not run is over."""
        if tid in self.states:
            kind, since, woken = self.states.pop(tid)
            self.add(kind, since, now, cpu, tid, fate=fate, woken=woken)

    def wake(self, record):
        """A thread is woken."""
        tid = number(record.fields, "pid")
        self.name(record, "pid", "comm")
        if tid in self.where or self.states.get(tid, ("",))[0] == "ready":
            return
        self.end_state(tid, record.time, record.cpu)
        if not self.gaps:
            self.states[tid] = ("ready", record.time, True)

    # ---- Calls ----

    def enter(self, record):
        """A call begins."""
        raw = record.event.startswith("raw")
        nr = number(record.fields, "id" if raw else "__syscall_nr")
        if not raw:
            self.numbers[nr] = record.event.removeprefix("syscalls:sys_enter_")
        call = self.calls.get(record.pid)
        if not call or raw in call[3] or call[1] != nr:
            call = self.calls[record.pid] = [None, nr, record.time, set()]
        call[0] = self.numbers.get(nr, f"call {nr}")
        call[3].add(raw)

    def leave(self, record):
        """A call ends."""
        raw = record.event.startswith("raw")
        nr = number(record.fields, "id" if raw else "__syscall_nr")
        label, began, since, _ = self.calls.pop(record.pid, (None, None, None, None))
        if began == nr:
            self.add("call", since, record.time, record.cpu, record.pid, label)

    def drop_call(self, tid, now, fate):
        """A call has no end that is known."""
        if tid in self.calls:
            label, _, since, _ = self.calls.pop(tid)
            self.add("call", since, now, -1, tid, label, fate)

    # ---- Interrupts ----

    def interrupt(self, record):
        """One begins or ends."""
        system, event = record.event.split(":")
        name, edge = event.rsplit("_", 1)
        label = "vector " + name
        key = label
        if name == "softirq":
            vec = number(record.fields, "vec")
            key = label = "softirq " + (_SOFTIRQS[vec] if vec < 10 else str(vec))
        elif system == "irq":
            key = number(record.fields, "irq")
            if edge == "entry":
                label = f"irq {key} {string(record.fields, 'name')}"
        stack = self.irqs.setdefault(record.cpu, [])
        if edge == "entry":
            stack.append((key, label, record.time, record.pid, self.task(record.pid)))
            return
        for at in reversed(range(len(stack))):
            if stack[at][0] == key:
                _, label, since, tid, task = stack[at]
                self.add("irq", since, record.time, record.cpu, tid, label, task=task)
                del stack[at:]
                return

    # ---- Requests ----

    @staticmethod
    def request(record):
        """What a request is found by."""
        return (number(record.fields, "dev"), number(record.fields, "sector"),
                not number(record.fields, "nr_sector"))

    def issue(self, record):
        """A driver gets a request."""
        dev, sector, empty = self.request(record)
        label = f"{dev >> 20},{dev & 0xfffff} {string(record.fields, 'rwbs')}"
        if not self.gaps:
            self.io[dev, sector, empty] = [label, record.time, number(record.fields, "nr_sector"),
                                           record.pid, self.task(record.pid)]

    def complete(self, record):
        """All of it is complete, or a part."""
        dev, sector, empty = self.request(record)
        done = number(record.fields, "nr_sector")
        request = self.io.pop((dev, sector, empty), None)
        if not request:
            return
        if request[2] > done:
            request[2] -= done
            self.io[dev, sector + done, empty] = request
            return
        label, since, _, tid, task = request
        self.add("io", since, record.time, record.cpu, tid, label, task=task)

    # ---- Losses, and the end ----

    def gap(self, edge):
        """Records of a CPU are missing from now on: things that can end there are unknown."""
        if edge.cpu in self.gaps:
            return
        self.gaps.add(edge.cpu)
        self.drop(edge.time, "lost", edge.cpu)

    def drop(self, now, fate, cpu=None):
        """All that is open, but for what runs on another CPU than that."""
        def certain(other):
            return cpu is not None and other is not None and other != cpu

        for each in [each for each in self.runs if not certain(each)]:
            tid, since = self.runs.pop(each)
            self.add("run", since, now, each, tid, fate=fate)
        for tid in list(self.states):
            self.end_state(tid, now, -1, fate)
        for tid in [tid for tid in self.calls if not certain(self.where.get(tid))]:
            self.drop_call(tid, now, fate)
        for tid in [tid for tid, where in self.where.items() if not certain(where)]:
            del self.where[tid]
        for each in [each for each in self.irqs if not certain(each)]:
            for _, label, since, tid, task in self.irqs.pop(each):
                self.add("irq", since, now, each, tid, label, fate, task=task)
        for label, since, _, tid, task in self.io.values():
            self.add("io", since, now, -1, tid, label, fate, task=task)
        self.io.clear()


# ---- What etch should print ----

def length(nanoseconds):
    """A length as etch prints it."""
    if nanoseconds < 1000000:
        return f"{nanoseconds / 1e3:.1f} us"
    if nanoseconds < 1000000000:
        return f"{nanoseconds / 1e6:.2f} ms"
    return f"{nanoseconds / 1e9:.3f} s"


def nanoseconds_of(text):
    """And back."""
    value, unit = text.split()
    return float(value) * {"us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def about(text, exact):
    """Is a percentile right to 1/32, and to the digits that are printed?"""
    printed = nanoseconds_of(text)
    step = {"us": 1e2, "ms": 1e4, "s": 1e6}[text.split()[1]]
    return abs(printed - exact) <= exact / 32 + step / 2 + 1


class Expected:
    """Tables of a trace, of the spans that were chosen."""

    def __init__(self, read, spans, begin=0, end=None, task="*", cpu=None):
        self.begin, self.end = begin, end or read.last
        self.spans = [span for span in spans if span.end >= begin
                      and (fnmatch.fnmatch(span.task, task) or str(span.tid) == task)
                      and cpu in (None, span.cpu, -1 if span.cpu == -1 else None)]

    def whole(self, *kinds):
        """Spans that have an end."""
        return [span for span in self.spans if span.kind in kinds and not span.fate]

    def tasks(self):
        """{name: (run, switches, worst wait or None)}"""
        run, switches, worst = Counter(), Counter(), {}
        for span in self.spans:
            if span.kind == "run":
                run[span.task] += max(0, span.end - max(span.begin, self.begin))
                switches[span.task] += not span.fate
        for span in self.whole("ready"):
            worst[span.task] = max(worst.get(span.task, 0), span.end - span.begin)
        return {name: (run[name], switches[name], worst.get(name)) for name in {*run, *worst}}

    def lengths(self, *kinds):
        """{label: lengths in order}"""
        found = {}
        for span in self.whole(*kinds):
            found.setdefault(span.label, []).append(span.end - span.begin)
        return {label: sorted(each) for label, each in found.items()}

    def waits(self):
        """Lengths from being woken to running, in order."""
        return sorted(span.end - span.begin for span in self.whole("ready") if span.woken)

    def fates(self, fate, *kinds):
        """How many have that fate."""
        return sum(span.fate == fate for span in self.spans if span.kind in kinds)


class Tables:
    """What etch prints of one trace, beside what it should."""

    def __init__(self, etch, folder, name, read=None):
        self.etch, self.folder, self.name = etch, folder, name
        self.read = read or Read(folder)
        self.spans = Spans(self.read).found
        self.note = "nothing"

    def run(self, *words):
        """The lines of a table."""
        result = subprocess.run([self.etch, *map(str, words)], capture_output=True, text=True,
                                check=False, errors="replace")
        if result.returncode or (result.stderr and "it was cut off there" not in result.stderr):
            raise ValueError(f"etch {words[0]}: status {result.returncode}, {result.stderr}")
        return result.stdout.splitlines()

    @staticmethod
    def fate_lines(expected, *kinds):
        """The lines below a table, on losses and on spans that have not ended."""
        lost, left = expected.fates("lost", *kinds), expected.fates("open", *kinds)
        return ([f"# not counted: {lost} whose ends are unknown, because records are missing"]
                * (lost > 0) +
                [f"# not counted: {left} that had not ended with the last record"] * (left > 0))

    def head(self):
        """The first line."""
        line = self.run("top", self.folder)[0]
        cpus = len(self.read.cpus)
        wanted = (f"# {length(self.read.last - self.read.first)}, {cpus} CPU{'s' * (cpus != 1)}, "
                  f"{self.read.count} records, {self.read.lost} lost")
        return [] if line == wanted else [f"{line!r}, not {wanted!r}"]

    def top(self, expected, *words):
        """Each task's line, in order."""
        lines = self.run("top", "-n", 0, *words, self.folder)
        span = expected.end - max(expected.begin, self.read.first)
        wanted = []
        for name, (run, switches, wait) in sorted(expected.tasks().items(),
                                                  key=lambda item: -item[1][0]):
            wanted.append(f"{name:22} {length(run):>10} {100 * run / span:6.1f}% {switches:9} "
                          f"{'-' if wait is None else length(wait):>12}")
        told = [line for line in lines if not line.startswith(("#", "TASK "))]
        wrong = [f"not printed: {line}" for line in sorted({*wanted} - {*told})]
        wrong += [f"printed: {line}" for line in sorted({*told} - {*wanted})]
        wrong += [f"not told: {line}" for line in self.fate_lines(expected, "ready")
                  if line not in lines]
        if not wanted:
            wrong.append("there is no task")
        return wrong

    def latency(self, expected, *words):
        """The bars, and the line below them."""
        lines = self.run("latency", *words, self.folder)
        waits = expected.waits()
        bars = Counter(max(wait.bit_length() - 1, 0) for wait in waits)
        wanted = [(length(1 << bits if bits else 0), length(2 << bits), count,
                   count * 40 // max(bars.values())) for bits, count in sorted(bars.items())]
        told = [(match[1], match[2], int(match[3]), len(match[4])) for match in
                (re.match(r" *(\S+ \S+) \.\. (\S+ \S+) +(\d+) (#*)$", line) for line in lines)
                if match]
        wrong = [] if told == wanted else [f"bars {told}, not {wanted}"]
        match = re.search(r"^p50 (.*), p99 (.*), worst (\S+ \S+): (.*)-(\d+) at ([\d.]+)$",
                          "\n".join(lines), re.M)
        if not match:
            return [*wrong, f"there is no worst case in {lines[-1:]}"]
        if match[3] != length(waits[-1]):
            wrong.append(f"the worst is {match[3]}, not {length(waits[-1])}")
        worst = [span for span in expected.whole("ready") if span.woken
                 and span.end - span.begin == waits[-1]]
        if not any((match[4], int(match[5])) == (span.task, span.tid) for span in worst):
            wrong.append(f"the worst is of {match[4]}-{match[5]}, not of {worst}")
        wrong += [f"p{percent} is {text}, not {length(waits[len(waits) * percent // 100])}"
                  for percent, text in ((50, match[1]), (99, match[2]))
                  if not about(text, waits[len(waits) * percent // 100])]
        return wrong + [f"not told: {line}" for line in self.fate_lines(expected, "ready")
                        if line not in lines]

    def lengths(self, verb, kind, expected, *words):
        """A table of lengths by name."""
        lines = self.run(verb, "-n", 0, *words, self.folder)
        told = {}
        for line in lines:
            match = re.match(r"(.*\S) +(\d+)((?: +[\d.]+ [mu]?s){4}) +([\d.]+) (.*)-(\d+)$", line)
            if match:
                told[match[1]] = (int(match[2]), re.findall(r"[\d.]+ [mu]?s", match[3]),
                                  match[5], int(match[6]))
        wanted = expected.lengths(kind)
        wrong = [f"{name}: only on one side" for name in {*wanted} ^ {*told}]
        for name in {*wanted} & {*told}:
            each, (count, texts, task, tid) = wanted[name], told[name]
            if (count, texts[0], texts[3]) != (len(each), length(sum(each)), length(each[-1])):
                wrong.append(f"{name}: {told[name]}, not {len(each)}, {length(sum(each))}, "
                             f"worst {length(each[-1])}")
            wrong += [f"{name}: p{percent} is {text}, not "
                      f"{length(each[len(each) * percent // 100])}"
                      for percent, text in ((50, texts[1]), (99, texts[2]))
                      if not about(text, each[len(each) * percent // 100])]
            if not any((task, tid) == (span.task, span.tid) for span in expected.whole(kind)
                       if span.label == name and span.end - span.begin == each[-1]):
                wrong.append(f"{name}: the worst is not of {task}-{tid}")
        sums = [sum(wanted.get(name, [0])) for name in told]
        if sums != sorted(sums, reverse=True):
            wrong.append("the order is not that of the sums")
        return wrong + [f"not told: {line}" for line in self.fate_lines(expected, kind)
                        if line not in lines]

    def verbs(self, expected, *words):
        """All of them."""
        return [*self.top(expected, *words), *self.latency(expected, *words),
                *self.lengths("syscalls", "call", expected, *words),
                *self.lengths("irqs", "irq", expected, *words),
                *self.lengths("block", "io", expected, *words)]

    def everything(self):
        """All verbs, of the whole trace."""
        expected = Expected(self.read, self.spans)
        kinds = Counter(span.kind for span in self.spans if not span.fate)
        lost = Counter(span.kind for span in self.spans if span.fate == "lost")
        self.note = (", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) +
                     f"; in {len(self.read.gaps) // 2} gaps {sum(lost.values())} lost")
        return self.verbs(expected)

    def chosen(self):
        """All verbs, of some tasks, and of a CPU."""
        wrong = self.verbs(Expected(self.read, self.spans, task="s*"), "-t", "s*")
        cpu = self.read.cpus[-1]
        return wrong + self.verbs(Expected(self.read, self.spans, cpu=cpu), "-c", cpu)

    def between(self):
        """All verbs, of the middle third of the trace."""
        third = (self.read.last - self.read.first) // 3
        begin, end = self.read.first + third, self.read.first + 2 * third
        part = Read.__new__(Read)
        part.__dict__.update(self.read.__dict__)
        times = [record.time for record in self.read.records]
        part.records = self.read.records[:bisect.bisect_right(times, end)]
        part.gaps = [edge for edge in self.read.gaps if edge.time <= end]
        # The last record of any event is the end; those in part.records may be earlier.
        said = self.run("top", "--from", f"+{third / 1e9:.9f}", "--to", f"+{2 * third / 1e9:.9f}",
                        self.folder)[0]
        part.last = max(end - 10000000, part.records[-1].time)
        spans = [span for span in Spans(part).found if span.fate != "open"]
        lines = self.run("syscalls", "-n", 0, "--from", f"+{third / 1e9:.9f}", "--to",
                         f"+{2 * third / 1e9:.9f}", self.folder)
        told = {match[1]: int(match[2]) for match in
                (re.match(r"(.*\S) +(\d+)(?: +[\d.]+ [mu]?s){4} ", line) for line in lines)
                if match}
        wanted = {label: len(each) for label, each in
                  Expected(part, spans, begin).lengths("call").items()}
        waits = Expected(part, spans, begin).waits()
        bars = self.run("latency", "--from", f"+{third / 1e9:.9f}", "--to",
                        f"+{2 * third / 1e9:.9f}", self.folder)
        count = sum(int(match[1]) for match in
                    (re.search(r" \.\. .* (\d+) #*$", line) for line in bars) if match)
        wrong = [] if told == wanted else [f"calls {told}, not {wanted}"]
        if count != len(waits) or not count:
            wrong.append(f"{count} waits, not {len(waits)}; {said}")
        return wrong

    def diff(self, other):
        """Beside another trace."""
        lines = self.run("diff", "-n", 0, self.folder, other.folder)
        one, two = (Expected(each.read, each.spans) for each in (self, other))
        wrong = []
        for name in {*one.tasks()} | {*two.tasks()}:
            (run, switches, _), (to, after, _) = (each.tasks().get(name, (0, 0, None))
                                                  for each in (one, two))
            change = ("new" if to else "-") if not run else f"{100 * (to - run) / run:+.1f}%"
            line = (f"{name:22} {length(run):>10} {length(to):>11} {change:>8} {switches:9} "
                    f"{after:11}")
            if line not in lines:
                wrong.append(f"not printed: {line}")
        counts = f"{'N':22} {len(one.waits()):10} {len(two.waits()):11}"
        wrong += [f"not printed: {counts}"] * (counts not in lines)
        for label in {*one.lengths("call")} | {*two.lengths("call")}:
            each, others = (side.lengths("call").get(label, []) for side in (one, two))
            pattern = (rf"{re.escape(label)} +{re.escape(length(sum(each)))} +"
                       rf"{re.escape(length(sum(others)))} +\S+ +{len(each)} +{len(others)} ")
            if not any(re.match(pattern, line) for line in lines):
                wrong.append(f"not printed: {label}, {len(each)} and {len(others)}")
        return wrong


def short(folder, to, each, holes):
    """A copy of a trace that has the first packets of each CPU, and of these not the ones at
    holes: as if they had been overwritten."""
    to.mkdir()
    (to / "metadata").write_bytes((folder / "metadata").read_bytes())
    for path in folder.glob("cpu*"):
        data, out, gone = path.read_bytes(), bytearray(), 0
        for at, packet in enumerate(packets.packets(data)[0][:each]):
            if at % 16 in holes and at:
                gone += packet.header.records
                continue
            header = packet.header._replace(
                discarded=packet.header.discarded + gone,
                overwritten=(packet.header.overwritten + gone) % (1 << 64))
            out += packets.pack(header) + data[packet.at + packets.HEADER_BYTES:packet.end]
        (to / path.name).write_bytes(out)


def cut_off(etch, folder, scratch, name):
    """Tables of a trace whose first file is cut off in the middle of a packet."""
    whole, broken = scratch / f"{name}-whole", scratch / f"{name}-cut"
    short(folder, whole, 400, ())
    short(folder, broken, 400, ())
    path = min(broken.glob("cpu*"))
    data = path.read_bytes()
    found = packets.packets(data)[0]
    middle = found[len(found) // 2]
    path.write_bytes(data[:middle.at + 1000])
    # babeltrace2 refuses the file as it is.
    (whole / path.name).write_bytes(data[:middle.at])
    return Tables(etch, broken, name, Read(whole, int(path.name[3:])))


def check(report, etch, folders):
    """All cases. report: a check.Report."""
    with tempfile.TemporaryDirectory(prefix="etch-tables-") as scratch:
        for folder in folders:
            name = f"{folder.parent.parent.name}-{folder.parent.name}" if len(folders) > 1 else folder.parent.name
            whole = Tables(etch, folder, name)
            report.case(f"{name}: etch counts what babeltrace2 does", whole.head)
            report.case(f"{name}: tables are what the records say", whole.everything)
            report.say(f"{name}: {whole.note}")
            report.case(f"{name}: also of some tasks, and of a CPU", whole.chosen)
            report.case(f"{name}: also of a part of the time", whole.between)
            holes = Path(scratch) / name
            short(folder, holes, 400, {5, 6, 11})
            lossy = Tables(etch, holes, name)
            report.case(f"{name} with gaps: etch counts the lost records", lossy.head)
            report.case(f"{name} with gaps: tables count certain spans only", lossy.everything)
            report.say(f"{name} with gaps: {lossy.note}")
            report.case(f"{name} with gaps: diff has both", whole.diff, lossy)
            report.case(f"{name} cut off: tables count certain spans only",
                        cut_off(etch, folder, Path(scratch), name).everything)


def main():
    import check as cases  # pylint: disable=import-outside-toplevel,cyclic-import
    report = cases.Report()
    check(report, Path(sys.argv[1]).resolve(), [Path(each) for each in sys.argv[2:]])
    print(f"1..{report.count}")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
