# SPDX-License-Identifier: GPL-2.0
"""Traces of other tracers, as etch reads them by libbabeltrace2.

What LTTng records of programs is in ust.py. Its tracer for kernels does not run here; three
traces stand in: one that babeltrace2 has written anew, in a layout of its own; a trace by LTTng's
names; and one that is made here with what LTTng's traces have and Etch's have not: several streams
of a CPU, integers in place of names, records that tell their thread in a context, or not at all.
"""

import json
import re
import sqlite3
import subprocess

import bt2
import dat
import duck
import truth

TABLES = (["top", "-n", "0"], ["latency"], ["syscalls", "-n", "0"], ["irqs", "-n", "0"],
          ["block", "-n", "0"])


def tables(etch, folder):
    """What the tables of a trace say, by verb."""
    return {verb: truth.output([etch, verb, *options, folder])[0]
            for verb, *options in TABLES}


def _of_streams(text, ours):
    """A table that counts the CPUs with packets alone: others have no stream without one."""
    empty = sum(not path.stat().st_size for path in ours.glob("cpu*"))
    return re.sub(r"\b(\d+) CPUs?,", lambda match: "{} CPU{},".format(
        nr := int(match[1]) - empty, "s" if nr != 1 else ""), text, count=1)


def compare(etch, ours, theirs):
    """Sentences on tables that differ."""
    two = tables(etch, theirs)
    one = {verb: _of_streams(text, ours) for verb, text in tables(etch, ours).items()}
    return [f"etch {verb}: {b!r} for {a!r}" for verb in one
            for a, b in zip(one[verb].splitlines() + [""], two[verb].splitlines() + [""])
            if a != b]


def bare(trace, work):
    """The trace without the recorder's notes, which others do not have."""
    folder = work / f"{trace.name}-bare"
    folder.mkdir()
    for path in trace.ctf.iterdir():
        if path.is_file():
            (folder / path.name).hardlink_to(path)
    return folder


def rewritten(trace, work):
    """The trace as babeltrace2 writes it."""
    folder = work / f"{trace.name}-rewritten"
    truth.output(["babeltrace2", trace.ctf, "--component", "sink.ctf.fs", "--params",
                  f'path="{folder}",assume-single-trace=yes'])
    return folder


def whole(etch, folder, content):
    """Sentences on what etch check does not say of it."""
    said = truth.output([etch, "check", folder])[0]
    lost = sum(content.lost().values())
    want = (f"is whole: {content.count()} records of", f", {lost} lost")
    return [f"{word!r} is not in {said}" for word in want if word not in said]


# ---- A trace with what LTTng has ----

# Of each channel of each CPU: packets, each with (how many were lost before it, where it ends,
# records); a record is (time, thread, event, fields).
_MADE = {
    (0, "tasks"): [(0, 9500, [
        (1000, 7, "sched_switch", {"prev_comm": "one", "prev_tid": 7, "prev_state": 1,
                                   "next_comm": "two", "next_tid": 8}),
        (1500, 8, "sched_waking", {"comm": "one", "tid": 7, "target_cpu": 0}),
        (4000, 8, "sched_switch", {"prev_comm": "two", "prev_tid": 8, "prev_state": 0,
                                   "next_comm": "one", "next_tid": 7}),
        (9000, 7, "sched_switch", {"prev_comm": "one", "prev_tid": 7, "prev_state": 1,
                                   "next_comm": "two", "next_tid": 8})])],
    # This channel does not tell whose records they are.
    (0, "rest"): [(0, 9600, [
        (1100, None, "syscall_entry_read", {"fd": 3, "count": 64}),
        (1200, None, "irq_softirq_entry", {"vec": 9}),
        (1300, None, "irq_softirq_exit", {"vec": 9}),
        (1700, None, "block_rq_issue", {"dev": 253 << 20, "sector": 8, "nr_sector": 2,
                                        "bytes": 1024, "rwbs": 4 | 8 | 64}),
        (2100, None, "syscall_exit_read", {"ret": -2}),
        (2700, None, "block_rq_complete", {"dev": 253 << 20, "sector": 8, "nr_sector": 2,
                                           "error": 0, "rwbs": 4}),
        (4100, None, "syscall_entry_close", {"fd": 3}),
        (9550, None, "misc_shapes", {"list": [1, 2, 3], "half": 0.5, "text": "words",
                                     "pair": {"a": -1, "b": [2]}})])],
    (3, "tasks"): [
        (0, 9400, [(1050, 9, "sched_waking", {"comm": "two", "tid": 8, "target_cpu": 0})]),
        (5, 9800, [(9700, 9, "sched_waking", {"comm": "six", "tid": 6, "target_cpu": 0})])],
}
_ZERO = 1700000000

# Lines that the tables begin with, their blanks aside.
_TABLES = {
    "top": ("# 8.7 us, 2 CPUs, 14 records, 5 lost", "one 5.0 us 57.5% 1 2.5 us",
            "two 3.7 us 42.5% 1 5.0 us"),
    "syscalls": ("read 1 1.0 us 1.0 us 1.0 us 1.0 us 0.000002 two-8",
                 "# not counted: 1 whose ends are unknown"),
    "irqs": ("softirq RCU 1 0.1 us 0.1 us 0.1 us 0.1 us 0.000001 two-8",),
    "block": ("253,0 RAM 1 1.0 us 1.0 us 1.0 us 1.0 us 0.000002 two-8",),
    "show": ("two-8 [000] ..... 0.000001: sys_read(fd: 3, count: 40)",
             "two-8 [000] ..... 0.000009: misc_shapes: list={1,2,3} half=0.5 text=words "
             "pair={a=-1 b=[2]}",
             "CPU:3 [LOST 5 EVENTS] 5 or more, and the trace does not tell why",
             "<...>-9 [003] ..... 0.000009: sched_waking: comm=six pid=6 target_cpu=0"),
}


def _field_class(trace_class, value):
    """A class of fields for such a value."""
    if isinstance(value, float):
        return trace_class.create_double_precision_real_field_class()
    if isinstance(value, str):
        return trace_class.create_string_field_class()
    if isinstance(value, list):
        return trace_class.create_static_array_field_class(
            _field_class(trace_class, value[0]), len(value))
    if isinstance(value, dict):
        field_class = trace_class.create_structure_field_class()
        for name, each in value.items():
            field_class.append_member(name, _field_class(trace_class, each))
        return field_class
    return trace_class.create_signed_integer_field_class(64)


class _Messages(bt2._UserMessageIterator):
    """Of one stream."""

    def __init__(self, _config, port):
        self._messages = self._all(*port.user_data)

    def __next__(self):
        return next(self._messages)

    def _all(self, stream, cpu, packets, classes):
        before = 0
        yield self._create_stream_beginning_message(stream)
        for lost, end, records in packets:
            if lost:
                yield self._create_discarded_events_message(stream, lost, before, end)
            packet = stream.create_packet()
            packet.context_field["cpu_id"] = cpu
            yield self._create_packet_beginning_message(packet, max(before, 1000))
            for record in records:
                yield self._event(packet, classes, *record)
            yield self._create_packet_end_message(packet, end)
            before = end
        yield self._create_stream_end_message(stream)

    def _event(self, packet, classes, time, tid, name, fields):
        message = self._create_event_message(classes[name], packet, time)
        for field, value in fields.items():
            message.event.payload_field[field] = value
        if tid is not None:
            message.event.common_context_field["tid"] = tid
        return message


class _Made(bt2._UserSourceComponent, message_iterator_class=_Messages):
    """The streams of _MADE."""

    def __init__(self, _config, _params, _object):
        trace_class = self._create_trace_class()
        clock = self._create_clock_class(name="monotonic", frequency=10**9,
                                         offset=bt2.ClockClassOffset(_ZERO, 0))
        channels = {name: self._channel(trace_class, clock, name)
                    for name in sorted({name for _, name in _MADE})}
        trace = trace_class(environment={
            "tracer_name": "lttng-modules", "tracer_major": 2, "tracer_minor": 13,
            "tracer_patchlevel": 0, "hostname": "far", "domain": "kernel"})
        for (cpu, name), packets in _MADE.items():
            stream_class, classes = channels[name]
            stream = trace.create_stream(stream_class, name=f"{name}_{cpu}")
            self._add_output_port(f"{name}{cpu}", (stream, cpu, packets, classes))

    @staticmethod
    def _channel(trace_class, clock, name):
        def structure(member):
            return _field_class(trace_class, {member: 0})

        stream_class = trace_class.create_stream_class(
            name=name, default_clock_class=clock, supports_packets=True,
            packets_have_beginning_default_clock_snapshot=True,
            packets_have_end_default_clock_snapshot=True, supports_discarded_events=True,
            discarded_events_have_default_clock_snapshots=True,
            packet_context_field_class=structure("cpu_id"),
            event_common_context_field_class=structure("tid") if name == "tasks" else None)
        shapes = {event: fields for (_, of), packets in _MADE.items() if of == name
                  for _, _, records in packets for _, _, event, fields in records}
        return stream_class, {
            event: stream_class.create_event_class(
                name=event, payload_field_class=_field_class(trace_class, fields))
            for event, fields in shapes.items()}


def make(folder):
    """Write it."""
    graph = bt2.Graph()
    find = bt2.find_plugin
    source = graph.add_component(_Made, "made")
    merged = graph.add_component(find("utils").filter_component_classes["muxer"], "merged")
    sink = graph.add_component(find("ctf").sink_component_classes["fs"], "sink",
                               {"path": str(folder), "assume-single-trace": True})
    for port in source.output_ports.values():
        graph.connect_ports(port, list(merged.input_ports.values())[-1])
    graph.connect_ports(merged.output_ports["out"], sink.input_ports["in"])
    graph.run()


def lttng(etch, folder):
    """Sentences on what etch does not say of the trace that make() has written."""
    said = tables(etch, folder)
    said["show"] = truth.output([etch, "show", "-H", folder])[0]
    lines = {verb: [" ".join(line.split()) for line in text.splitlines()]
             for verb, text in said.items()}
    return [f"etch {verb} has no line {want!r} in {lines[verb]}"
            for verb, wanted in _TABLES.items() for want in wanted
            if not any(line.startswith(want) for line in lines[verb])]


def _losses(work):
    """Sentences on exports in which losses of an unknown cause are not those of the trace."""
    found = {"SQLite": sqlite3.connect(work / "foreign-sqlite").execute(
        "SELECT common_cpu, lost, unknown FROM lost WHERE lost").fetchall(),
             "trace-cmd report --stat": [
                 (cpu, lost, lost) for cpu, lost in dat.stats(work / "foreign-trace.dat").items()
                 if lost]}
    if duck.NPM:
        # It raises an error if a sum is not that of the causes.
        found["Parquet"] = [(cpu, lost, lost) for cpu, lost in
                            duck.Lake(work / "foreign-parquet", work).lost.items() if lost]
    return [f"{name} has other losses: {rows}" for name, rows in found.items()
            if rows != [(3, 5, 5)]]


def exports(etch, folder, work):
    """Sentences on formats in which the trace lacks records."""
    wrong = []
    for name in ("json", "csv", "perfetto", "trace.dat", "perf", "sqlite", "parquet"):
        said = truth.output([etch, "export", "-f", name, "-o", work / f"foreign-{name}",
                             folder])[1]
        if "14 records of 2 CPUs, 5 lost" not in said:
            wrong.append(f"{name}: {said}")
    rows = [json.loads(line) for line in (work / "foreign-json").read_text().splitlines()]
    if [row["causes"] for row in rows if "lost" in row] != [{"unknown": 5}]:
        wrong.append(f"JSON has other losses: {rows}")
    wrong += _losses(work)
    done = subprocess.run([etch, "export", "-f", "ctf-lttng", "-o", work / "foreign-again", folder],
                          check=False, capture_output=True, text=True)
    if done.returncode != 1 or "is another tracer's" not in done.stderr:
        wrong.append(f"ctf-lttng: {done.returncode} {done.stderr}")
    return wrong


def broken(etch, folder):
    """Sentences on what etch does with the trace if a file of it is damaged."""
    path = folder / "tasks_3"
    data = bytearray(path.read_bytes())
    # The event's number, which nothing describes.
    at = data.index(b"six\0") - 24
    data[at:at + 8] = b"\x7f" * 8
    path.write_bytes(data)
    done = subprocess.run([etch, "check", folder], check=False, capture_output=True, text=True)
    wrong = [] if done.returncode == 1 and "cannot be read to its end" in done.stderr and \
        "cpu3 has 1 records that make no sense" in done.stdout else [f"check: {done}"]
    done = subprocess.run([etch, "top", folder], check=False, capture_output=True, text=True)
    return wrong + ([] if not done.returncode and "one " in done.stdout else [f"top: {done}"])
