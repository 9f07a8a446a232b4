# SPDX-License-Identifier: GPL-2.0
"""Fields as babeltrace2 has them, beside the bytes of the record and its text."""

import collections
import re

import babel
import formats
import printed
from cexpr import Array, Unsupported, fit

# How much is to be compared at least: with the bytes, and with the text; how many names
# of values are to be in the text; which fields, as (event, name), must have been
# compared with it; and how many values of flags there are to be, and of how many fields.
Least = collections.namedtuple("Least", "records events fields shown shown_events names wanted"
                               " flags")
MANY = Least(10000, 80, 30000, 10000, 60, 500, (
    ("etch_sample:etch_sample_greet", "name"),          # a string
    ("etch_sample:etch_sample_greet", "digest"),        # an array
    ("etch_sample:etch_sample_list", "values"),         # a sequence, signed
    ("etch_sample:etch_sample_masks", "bits"),          # a bit mask
    ("etch_sample:etch_sample_masks", "cpus"),
    ("etch_sample:etch_sample_message", "topic"),       # a relative string
    ("etch_sample:etch_sample_pause", "result"),        # negative
    ("etch_sample:etch_sample_state", "state"),         # an enumeration
    ("etch_sample:etch_sample_state", "flags"),
    ("etch:marker", "buf"),
    ("markers:sample_value", "value_name"),             # of a marker
    ("markers:sample_value", "value_number")), (500, 5))
# Of the trace with probes alone.
PROBES = Least(30, 3, 100, 60, 3, 0, (
    ("kprobes:ctf_open", "small"), ("kprobes:ctf_open", "dfd"), ("kprobes:ctf_open", "name"),
    ("kprobes:ctf_read", "ret"), ("uprobes:ctf_start", "argc"), ("uprobes:ctf_start", "comm")),
    (0, 0))
RECORDS = 10000
# Times in lines are whole microseconds, rounded down; both sides compute with
# frequencies in whole hertz.
TIME_SLACK = 3000


def sample(records, wanted=RECORDS):
    """{(cpu, index)} of all events that there are, and about evenly over time."""
    by_event = collections.defaultdict(list)
    for cpu, each in records.items():
        for index, record in enumerate(each):
            by_event[record.id].append((cpu, index))
    chosen = set()
    # Rare ones are taken whole; what they leave over goes to the others.
    left, groups = wanted, len(by_event)
    for places in sorted(by_event.values(), key=len):
        share = min(len(places), -(-left // groups))
        chosen.update(places[i * len(places) // share] for i in range(share))
        left, groups = max(left - share, 1), groups - 1
    return chosen


class Comparison:
    """Of one trace."""

    def __init__(self, trace, known, chosen):
        self.trace, self.known, self.chosen = trace, known, chosen
        self.count = self.fields = self.shown = self.named = 0
        self.events, self.shown_events, self.shown_fields = set(), set(), set()
        self.values = {}        # {(cpu, index): {name: value}}
        self.labels = {}        # {(cpu, index): {name: names of its value}}
        self.ns = {}            # {(cpu, index): nanoseconds since 1970}
        self.time_note = "no times"
        self._prints = {}
        self._lines = None

    def texts(self):
        """{cpu: its file of text}."""
        return {int(path.name[8:]): path
                for path in self.trace.folder.glob("text.cpu*")}

    # ---- By bytes ----

    def by_bytes(self, least):
        """Each field of the sample is what the format file says of the bytes."""
        wrong, at = [], dict.fromkeys(self.trace.records, 0)
        for event in babel.messages(self.trace.ctf):
            if isinstance(event, babel.Lost):
                continue
            place = event.cpu, at[event.cpu]
            at[event.cpu] += 1
            if place in self.chosen:
                wrong += self._record(place, event.message)
        return wrong + too_few(records=(self.count, least.records),
                               events=(len(self.events), least.events),
                               fields=(self.fields, least.fields))

    def _record(self, place, message):
        """One record."""
        cpu, index = place
        record, data = self.trace.records[cpu][index], self.trace.data[cpu]
        layout = self.known[record.id]
        where = f"{layout.full_name}, CPU {cpu}, record {index}"
        if babel.context(message) != (record.context, record.pid):
            return [f"{where}: its context or pid is {babel.context(message)}"]
        values, labels = babel.payload(message)
        self.count += 1
        self.events.add(layout.full_name)
        self.values[place], self.labels[place] = values, labels
        self.ns[place] = message.default_clock_snapshot.ns_from_origin
        rest = dict(values)
        wrong = []
        for field in layout.fields:
            if field.name not in rest:
                wrong.append(f"{where}: no {field.name} among {list(values)}")
                continue
            why = formats.differs(field, field.bytes(data, record.at),
                                  rest.pop(field.name))
            if why:
                wrong.append(f"{where}: {field.name}: {why}")
            self.fields += 1
        return wrong + [f"{where}: {name} is no field" for name in
                        surplus(rest, layout)]

    # ---- By text ----

    def lines(self):
        """{cpu: its Lines}."""
        if self._lines is None:
            self._lines = {cpu: [printed.parse(line) for line in printed.lines(
                path.read_text(errors="surrogateescape"))]
                for cpu, path in self.texts().items()}
        return self._lines

    def by_text(self, least):
        """Every line is the record's at its place; those of the sample agree."""
        wrong = []
        for cpu, lines in self.lines().items():
            records = self.trace.records[cpu]
            if len(lines) != len(records):
                wrong.append(f"CPU {cpu}: {len(lines)} lines for {len(records)} records")
            for index, (line, record) in enumerate(zip(lines, records)):
                wrong += self._line(cpu, index, line, record)
        return wrong + too_few(fields=(self.shown, least.shown),
                               names=(self.named, least.names),
                               events=(len(self.shown_events), least.shown_events))

    def _line(self, cpu, index, line, record):
        """One line."""
        layout = self.known[record.id]
        where = f"{layout.full_name}, CPU {cpu}, record {index}"
        if line is None or (line.cpu, line.pid) != (cpu, record.pid):
            return [f"{where}: pid {record.pid}, and the line: {line}"]
        if line.flags[2] != ".shz"[record.context]:
            return [f"{where}: context {record.context}, and the line: {line}"]
        body = line.body.removeprefix(f"{layout.name}: ")
        if body == line.body and not nameless(layout):
            return [f"{where}: the line is of another event: {line}"]
        if (cpu, index) not in self.values:
            return []
        shown = self._agrees(layout, self.values[cpu, index], body)
        if shown is None:
            return [f"{where}: {self.values[cpu, index]}, and the line: {body!r}"]
        names = {name: self.labels[cpu, index][name] for name in shown
                 if self.labels[cpu, index].get(name)}
        for name, labels in names.items():
            if not any(label in body for label in labels):
                return [f"{where}: {name} is {labels}, and the line: {body!r}"]
        self.named += len(names)
        self.shown += len(shown)
        if shown:
            self.shown_events.add(layout.full_name)
        self.shown_fields.update((layout.full_name, name) for name in shown)
        return []

    def _agrees(self, layout, values, body):
        """The fields that the line shows as they are; None if it does not agree."""
        if layout.id not in self._prints:
            try:
                self._prints[layout.id] = printed.Print(printed.form_of(layout))
            except Unsupported:
                self._prints[layout.id] = None
        form = self._prints[layout.id]
        if not form:
            return set()
        if nameless(layout):
            body = body.removeprefix("tracing_mark_write: ")
        return form.agrees(environment(layout, values), body)

    # ---- Times ----

    def times(self):
        """Those of the lines, but for where they begin: and that is 1970."""
        apart = [ns - self.lines()[cpu][index].us * 1000
                 for (cpu, index), ns in self.ns.items()]
        if not apart:
            return ["there are none"]
        width = max(apart) - min(apart)
        began, ended = (int((self.trace.folder / name).read_text())
                        for name in ("began", "ended"))
        first, last = min(self.ns.values()), max(self.ns.values())
        self.time_note = (f"{len(apart)} times of {(last - first) / 1e9:.1f} s agree with"
                          f" the text's within {width} ns")
        wrong = []
        if width > TIME_SLACK:
            wrong.append(f"they are {width} ns apart")
        # A second before and after: date tells whole ones.
        if first < (began - 1) * 10 ** 9 or last > (ended + 2) * 10 ** 9:
            wrong.append(f"from {first} to {last} ns, while it was {began} to {ended} s")
        return wrong


def nameless(layout):
    """Do its lines begin without the event's name?"""
    return layout.system == "syscalls" or layout.full_name in formats.HIDDEN


def surplus(rest, layout):
    """The names that belong to no field, to no padding, and to no dynamic field's word."""
    parts = {f"_{field.name}_{part}" for field in layout.fields if field.dynamic
             for part in ("offset", "rest", "length")}
    return [name for name in rest
            if name not in parts and not re.fullmatch(r"_pad_\d+", name)]


def environment(layout, values):
    """Values as C has them, for print formats."""
    env = {}
    for field in layout.fields:
        value = values.get(field.name)
        if isinstance(value, int):
            env[field.name] = fit(value, field.size * 8, field.signed)
        elif isinstance(value, list):
            env[field.name] = Array(value, formats.WIDTHS.get(field.type, 8))
        elif value is not None:
            env[field.name] = value
    return env


def too_few(**pairs):
    """Sentences on counts that are smaller than they should be."""
    return [f"only {have} {what}, not {least}"
            for what, (have, least) in pairs.items() if have < least]
