# SPDX-License-Identifier: GPL-2.0
# The bindings' types have names with an underscore, and no others.
# pylint: disable=protected-access
"""What babeltrace2 makes of a trace: its command's words, and its bindings.

The bindings are Debian's (python3-bt2), for Debian's Python: /usr/bin/python3.
"""

import re
import subprocess
from collections import namedtuple

import bt2

Error = bt2._Error

# A message is an event, or a report of lost records.
Event = namedtuple("Event", "cpu name id time message")
# count: None if it says that some may be lost and not how many.
Lost = namedtuple("Lost", "cpu count what")


def complaints(folder):
    """(lines that the command prints, what it says on the standard error)."""
    with subprocess.Popen(["babeltrace2", "--log-level=W", str(folder)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # Text in events has its line ends escaped: a line is an event.
        count = 0
        errors = b""
        while chunk := process.stdout.read(1 << 20):
            count += chunk.count(b"\n")
        errors = process.stderr.read()
        status = process.wait()
    said = errors.decode("utf-8", "replace").splitlines()
    if status:
        said.append(f"status {status}")
    return count, said


_EVENT = re.compile(rb" (\w+:\w+): \{")


def flags(folder, wanted):
    """{(event, field): what the command prints of it} of fields, those that are not plain
    numbers in base 16 apart: (plain ones, the others' texts).

    wanted: {event: its fields' names}.
    """
    patterns = {event.encode(): [(name, re.compile(rb"[ {]%s = (?:(0x[0-9A-F]+)[, ]|(.{0,40}))"
                                                   % name.encode())) for name in names]
                for event, names in wanted.items()}
    found = {}
    with subprocess.Popen(["babeltrace2", "--log-level=W", str(folder)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for line in process.stdout:
            event = _EVENT.search(line)
            for name, pattern in patterns.get(event[1], ()) if event else ():
                match = pattern.search(line, event.end())
                plain_ones, others = found.setdefault((event[1].decode(), name), ([], []))
                if match and match[1]:
                    plain_ones.append(match[1])
                else:
                    others.append(match[2].decode("utf-8", "replace") if match else "nothing")
    return found


def messages(folder):
    """Events and Losts, in the order in which babeltrace2 has them."""
    cpus = {}
    waiting = {}
    for message in bt2.TraceCollectionMessageIterator(str(folder)):
        kind = type(message)
        if kind is bt2._EventMessageConst:
            event = message.event
            yield Event(cpus[event.stream.id], event.name, event.cls.id,
                        message.default_clock_snapshot.value, message)
        elif kind is bt2._PacketBeginningMessageConst:
            packet = message.packet
            stream = packet.stream.id
            cpus[stream] = int(packet.context_field["cpu_id"])
            for count, what in waiting.pop(stream, ()):
                yield Lost(cpus[stream], count, what)
        elif kind in (bt2._DiscardedEventsMessageConst,
                      bt2._DiscardedPacketsMessageConst):
            what = ("records" if kind is bt2._DiscardedEventsMessageConst
                    else "packets")
            # They come before the packet that tells of them.
            waiting.setdefault(message.stream.id, []).append((message.count, what))
    for stream, losts in waiting.items():
        for count, what in losts:
            yield Lost(cpus.get(stream), count, what)


def plain(field):
    """A field of a payload as a number, text, or a list of numbers."""
    if isinstance(field, bt2._StringFieldConst):
        # The bindings of 2.0.4 give an empty one the text of the record before.
        return str(field) if len(field) else ""
    if isinstance(field, bt2._BoolFieldConst):
        return int(field)
    if isinstance(field, bt2._IntegerFieldConst):
        return int(field)
    if isinstance(field, bt2._ArrayFieldConst):
        return [plain(each) for each in field]
    if isinstance(field, bt2._StructureFieldConst) and list(field) == ["bytes"]:
        return plain(field["bytes"])
    raise TypeError(f"a field of {type(field).__name__}")


def _labels(field):
    """The names of an enumeration's value."""
    try:
        return list(field.labels)
    except AssertionError:
        return []       # what the bindings of 2.0.4 do if it has none


def payload(message):
    """{name: plain value} of an event's payload, and {name: labels} of enumerations."""
    values, labels = {}, {}
    for name, field in (message.event.payload_field or {}).items():
        values[name] = plain(field)
        if isinstance(field, bt2._EnumerationFieldConst):
            labels[name] = _labels(field)
    return values, labels


def context(message):
    """(context, pid) of an event."""
    common = message.event.common_context_field
    return int(common["context"]), int(common["pid"])


def plain_context(message):
    """{name: value} of what an instance adds to an event's context."""
    return {name: plain(field) for name, field in message.event.common_context_field.items()
            if name not in ("context", "pid")}


def uuid_of(folder):
    """The uuid that the metadata gives; None if there is none, or no stream."""
    for message in bt2.TraceCollectionMessageIterator(str(folder)):
        if type(message) is bt2._StreamBeginningMessageConst:
            uuid = message.stream.trace.uuid
            return uuid.bytes if uuid else None
    return None
