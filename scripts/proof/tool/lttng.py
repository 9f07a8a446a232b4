# SPDX-License-Identifier: GPL-2.0
"""A trace by LTTng's names, as babeltrace2 reads it."""

import re

import babel
import loss
import truth

SUFFIX = "-lttng"

# What the views of the kernel read: events, and fields of them.
WANTED = {
    "sched_switch": ("prev_tid", "prev_state", "next_tid", "next_comm", "next_prio"),
    "sched_wakeup": ("tid", "target_cpu"), "sched_waking": ("tid", "target_cpu"),
    "sched_process_fork": ("parent_tid", "child_tid", "child_comm"),
    "sched_process_exit": ("tid",), "sched_process_free": ("tid",),
    "irq_softirq_entry": ("vec",), "irq_softirq_exit": ("vec",), "irq_softirq_raise": ("vec",),
    "timer_hrtimer_start": ("hrtimer",),
}
_PREFIXES = ("kmem", "rcu", "timer", "writeback")


class Read:
    """The folder's Content, and the part of WANTED that is missing."""

    def __init__(self, path, freq):
        self.path = path
        self.missing = {(event, field) for event, names in WANTED.items() for field in names}
        self.left = set(WANTED)
        self.content = truth.Content(self._rows(freq))

    def _rows(self, freq):
        for each in babel.messages(self.path):
            if not isinstance(each, babel.Event):
                if each.what == "records":
                    yield each.cpu, each.count
                continue
            if each.name in self.left:
                self._look(each)
            yield truth.Row(each.cpu, each.time * 1000000000 // freq, each.name)

    def _look(self, each):
        """An event's first record."""
        self.left.remove(each.name)
        event = each.message.event
        if "tid" in event.common_context_field:
            self.missing -= {(each.name, field) for field in event.payload_field}

    def wanted(self):
        """Sentences on events and fields that are not there."""
        text = (self.path / "metadata").read_text()
        wrong = [f"{word} is not in the metadata" for word in (
            'tracer_name = "lttng-modules"', "tracer_major = 2", 'domain = "kernel"')
            if word not in text]
        if "enum" in text:
            wrong.append("there is an enumeration")
        return wrong + [f"{event} has no {field}" for event, field in sorted(self.missing)]


def _same(ours, theirs):
    """Is it the event by another name?"""
    system, name = ours.split(":")
    if theirs == ours:
        return system not in ("sched", "irq", "syscalls", *_PREFIXES)
    if system == "syscalls":
        return theirs == re.sub("^sys_(enter|exit)_", lambda match: "syscall_" + {
            "enter": "entry", "exit": "exit"}[match[1]] + "_", name)
    return theirs in (name, f"{system}_{name}")


def compare(content, found):
    """Sentences on records that differ."""
    wrong = []
    for cpu, rows in content.rows.items():
        others = found.rows[cpu]
        if len(rows) != len(others):
            wrong.append(f"CPU {cpu}: {len(others)} records for {len(rows)}")
        for row, other in zip(rows, others):
            if row[0] != other[0] or not _same(row[1], other[1]):
                wrong.append(f"CPU {cpu}: {other} for {row}")
                break
    return wrong


def complaints(path):
    """What babeltrace2 says but for lost records."""
    return [line for line in babel.complaints(path)[1] if not loss.NOTICE.match(line)]

