#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""check.py FOLDER RECORDER: are the binary traces that a guest left there right?

The folder is what scripts/lab/guest/ctf.sh makes. Each trace is read three times: by
babeltrace2, by the format files (which know nothing of the metadata), and, of one
trace, by the text that the kernel printed of the same records. Prints TAP, and after
"###" how much was compared.
"""

import argparse
import re
import sys
from pathlib import Path

import babel
import compare
import cut
import formats
import loss
import packets
import printed
import shown
import tables


class Report:
    """TAP; or, if it is quiet, only the names of the cases that failed."""

    def __init__(self, quiet=False):
        self.quiet, self.count, self.failed = quiet, 0, []

    def say(self, text):
        """How much was done."""
        if not self.quiet:
            print(f"### ctf: {text}", flush=True)

    def skip(self, name, why):
        """Nothing could be found out."""
        self.count += 1
        if not self.quiet:
            print(f"ok {self.count} - {name} # SKIP {why}", flush=True)

    def case(self, name, function, *arguments):
        """One result, of a function that gives sentences on mistakes."""
        self.count += 1
        try:
            wrong = function(*arguments)
        except Exception as error:  # pylint: disable=broad-exception-caught
            # A broken trace can raise almost any exception on the way.
            wrong = [f"{type(error).__name__}: {error}"]
        if wrong:
            self.failed.append(name)
        if self.quiet:
            return
        print(f"{'not ok' if wrong else 'ok'} {self.count} - {name}")
        for line in wrong[:10]:
            print(f"# {line}")
        if len(wrong) > 10:
            print(f"# and {len(wrong) - 10} more")
        sys.stdout.flush()


class Trace:
    """One trace: its files, and the figures that the guest put beside them."""

    def __init__(self, folder):
        self.folder, self.name = folder, folder.name
        self.ctf = folder / "ctf"
        self.data = {int(path.name[3:]): path.read_bytes()
                     for path in self.ctf.glob("cpu*")}
        self.packets = {cpu: packets.packets(data)[0] for cpu, data in self.data.items()}
        self.stats = {int(path.name[9:]): self._stats(path)
                      for path in folder.glob("stats.cpu*")}
        self.records = {}       # by CPU
        contexts = folder / "contexts"
        self.contexts = contexts.read_text() if contexts.exists() else ""

    @staticmethod
    def _stats(path):
        return {name: int(value) for name, value in re.findall(
            r"^([a-z ]+): (\d+)$", path.read_text(), re.M)}

    def hidden(self):
        """{id: name} of the events of trace_marker and its kin, which have no format file."""
        found = re.findall(r'\bid\s*=\s*(\d+)\s*;\s*name\s*=\s*"(etch:marker(?:_raw)?)"',
                           (self.ctf / "metadata").read_text())
        return {int(number): name for number, name in found}

    def lost(self, cpu):
        """Records of a CPU that were not stored, or not for long enough."""
        return sum(self.stats[cpu][name] for name in (
            "overwritten", "lost full", "lost too big", "lost nested", "lost throttled"))

    def decode(self, known):
        """Find all records by the format files."""
        for cpu, found in self.packets.items():
            self.records[cpu] = [record for packet in found for record in
                                 packets.records(self.data[cpu], packet, known, self.more())]

    def more(self):
        """Bytes of each record's contexts."""
        match = re.search(r"^# (\d+) bytes in each record$", self.contexts, re.M)
        return int(match[1]) if match else 0

    # ---- Cases ----

    def whole_packets(self):
        """Files are packets, and nothing else, in order."""
        uuid = babel.uuid_of(self.ctf)
        wrong = []
        if not self.packets or set(self.packets) != set(self.stats):
            wrong.append(f"files of CPUs {sorted(self.packets)}, stats of "
                         f"{sorted(self.stats)}")
        for cpu, found in self.packets.items():
            end = found[-1].end if found else 0
            if end != len(self.data[cpu]):
                wrong.append(f"CPU {cpu}: no packet at {end:#x} of {len(self.data[cpu])}")
            wrong += packets.check_order(found)
            wrong += [f"CPU {cpu}: packet {packet.header.seq} has another uuid than the "
                      "metadata, or another CPU" for packet in found
                      if packet.header.uuid != uuid or packet.header.cpu != cpu]
        return wrong

    def no_complaint(self):
        """babeltrace2's command reads it; lost records are all that it may speak of."""
        count, said = babel.complaints(self.ctf)
        if self.name in loss.TRACES:
            said = [line for line in said if not loss.NOTICE.match(line)]
        expected = sum(len(each) for each in self.records.values())
        if count != expected:
            said.append(f"{count} lines for {expected} records")
        return said

    def counts(self):
        """Packets, and stats, have as many records as were found."""
        wrong = []
        for cpu, stats in self.stats.items():
            found = len(self.records.get(cpu, ()))
            told = sum(packet.header.records for packet in self.packets.get(cpu, ()))
            if not found == told == stats["read"]:
                wrong.append(f"CPU {cpu}: {found} records, {told} by the packets' "
                             f"headers, {stats['read']} by stats")
            if stats["entries"] or stats["written"] != stats["read"] + stats["overwritten"]:
                wrong.append(f"CPU {cpu}: stats do not add up: {stats}")
            if self.name not in loss.TRACES and self.lost(cpu):
                wrong.append(f"CPU {cpu}: {self.lost(cpu)} records lost")
        if not any(self.records.values()):
            wrong.append("there are no records")
        return wrong

    def same_records(self, known):
        """babeltrace2 has the same records at the same times, all CPUs in order."""
        wrong, at, before = [], dict.fromkeys(self.records, 0), 0
        for event in babel.messages(self.ctf):
            if isinstance(event, babel.Lost):
                continue
            index = at[event.cpu]
            at[event.cpu] += 1
            if index >= len(self.records[event.cpu]):
                continue
            record = self.records[event.cpu][index]
            if event.time < before:
                wrong.append(f"CPU {event.cpu}, record {index}: time goes back")
            before = event.time
            if (event.time, event.id, event.name) != (
                    record.time, record.id, known[record.id].full_name):
                wrong.append(f"CPU {event.cpu}, record {index}: {event.name} {event.id} at"
                             f" {event.time} for {record}")
        wrong += [f"CPU {cpu}: {count} events for {len(self.records[cpu])} records"
                  for cpu, count in at.items() if count != len(self.records[cpu])]
        return wrong


def flags(trace, known, least):
    """Every value of flags is a number in base 16: babeltrace2 has a name for none, and calls
    none <unknown>.

    least: how many of them there have to be, and of how many fields.
    Returns (sentences on mistakes, how many values, of how many fields).
    """
    found = babel.flags(trace.ctf, {layout.full_name: printed.flags(layout)
                                    for layout in known.values()})
    wrong = [f"{event}: {field}: {len(others)} of {len(plain) + len(others)} are no plain"
             f" numbers in base 16, as {others[0]!r}"
             for (event, field), (plain, others) in sorted(found.items()) if others]
    count = sum(len(plain) + len(others) for plain, others in found.values())
    wrong += compare.too_few(values=(count, least[0]), fields=(len(found), least[1]))
    return wrong, count, len(found)


def check_flags(report, trace, known, least):
    """Flags, as the command prints them. least: a compare.Least."""
    wrong, count, fields = flags(trace, known, least.flags)
    report.case(f"{trace.name}: flags are plain numbers in base 16, none is <unknown>",
                lambda: wrong)
    report.say(f"{trace.name}: {count} values of {fields} fields with flags")


def check_values(report, trace, known, least):
    """Fields by their bytes, and by the text where there is some.

    least: a compare.Least.
    """
    sample = compare.sample(trace.records)
    result = compare.Comparison(trace, known, sample)
    report.case(f"{trace.name}: each field's value is what its bytes say",
                result.by_bytes, least)
    report.say(f"{trace.name}: {result.count} records of {len(result.events)} events: "
        f"{result.fields} fields compared with their bytes")
    if not result.texts():
        return
    report.case(f"{trace.name}: and what the text says", result.by_text, least)
    report.say(f"{trace.name}: {result.shown} fields of {len(result.shown_events)} events "
        f"compared with the text, {len(result.shown_fields)} different ones; "
        f"{result.named} names of values")
    report.case(f"{trace.name}: times are those of the text", result.times)
    report.say(f"{trace.name}: {result.time_note}")
    for event, field in least.wanted:
        report.case(f"{trace.name}: {event} has shown its {field}",
                    lambda key: [] if key in result.shown_fields else ["it has not"],
                    (event, field))


def check_loss(report, trace):
    """Loss: how much, and where."""
    found = loss.Loss(trace)
    report.case(f"{trace.name}: babeltrace2 tells of as many lost records as stats",
                found.number)
    report.case(f"{trace.name}: and between the records where they are missing",
                found.place)
    report.say(f"{trace.name}: {found.note}")
    report.case(f"{trace.name}: and all records have the instance's contexts",
                found.contexts)
    report.say(f"{trace.name}: {found.note}")


def check_shown(report, trace, known, least, program):
    """The records once more, by our own program."""
    show = shown.Show(trace, known, program)
    report.case(f"{trace.name}: etch show has each record, at the nanosecond",
                show.same_records)
    report.say(f"{trace.name}: etch show: {show.note}")
    if trace.name in loss.TRACES:
        report.case(f"{trace.name}: and each loss, by CPU and cause", show.same_loss)
        report.say(f"{trace.name}: etch show: {show.note}")
    report.case(f"{trace.name}: etch check finds it whole", show.checked)
    if any(trace.folder.glob("text.cpu*")):
        report.case(f"{trace.name}: etch show prints what the kernel prints",
                    show.same_text, least.shown)
        report.say(f"{trace.name}: etch show: {show.note}")


def check_trace(report, trace, known, least):
    """All cases of one trace."""
    for number, name in trace.hidden().items():
        known.setdefault(number, formats.hidden(name, number))
    report.case(f"{trace.name}: files are whole packets, in order", trace.whole_packets)
    report.case(f"{trace.name}: packets are records to their ends",
                lambda: trace.decode(known) or [])
    report.case(f"{trace.name}: babeltrace2 reads it without a complaint",
                trace.no_complaint)
    report.case(f"{trace.name}: as many records as stats say", trace.counts)
    report.case(f"{trace.name}: babeltrace2 has each of them, in order",
                trace.same_records, known)
    report.say(f"{trace.name}: {sum(map(len, trace.records.values()))} records, "
        f"{sum(map(len, trace.packets.values()))} packets, "
        f"{sum(map(len, trace.data.values())) >> 10} KiB, CPUs {sorted(trace.packets)}")
    if trace.name in loss.TRACES:
        check_loss(report, trace)
    else:
        check_flags(report, trace, known, least)
        check_values(report, trace, known, least)


def check_folder(report, folder, least, recorder=None):
    """All there is. recorder: the program, to repair what is cut off; etch is beside it."""
    known = formats.load(folder / "formats")
    for name in ("load", "twice", *loss.TRACES):
        trace = Trace(folder / name)
        check_trace(report, trace, known, least)
        if recorder:
            check_shown(report, trace, known, least, recorder.with_name("etch"))
    if (folder / "probes").exists():
        check_trace(report, Trace(folder / "probes"), known, compare.PROBES)
    else:
        report.skip("probes: fields are those of the text", "the kernel has no kprobe_events")
    files = cut.Cut(folder / "twice/ctf", recorder)
    report.case("a file cut anywhere keeps its whole packets", files.anywhere)
    report.case("and babeltrace2 opens it once it is repaired", files.opens)
    report.say(f"cut off: {files.note}")
    if recorder:
        tables.check(report, recorder.with_name("etch").resolve(), [folder / "load/ctf"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("recorder", type=Path, help="the program etch-record")
    args = parser.parse_args()
    report = Report()
    check_folder(report, args.folder, compare.MANY, args.recorder)
    print(f"1..{report.count}")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
