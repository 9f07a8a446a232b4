# SPDX-License-Identifier: GPL-2.0
"""What a trace has, as babeltrace2 reads it, and how an export is held against it."""

import re
import shutil
import subprocess
from collections import Counter, defaultdict, namedtuple
from pathlib import Path

import babel

# name: SYSTEM:EVENT, or EVENT alone where the format has no more.
Row = namedtuple("Row", "cpu ns name")
# Behind which record of the CPU (from 0 on) they are missing.
Lost = namedtuple("Lost", "cpu count at")

# Of how many records one is compared field by field; a prime, so that all events have a turn.
_SAMPLE = 61

# The fields of contexts, and their bytes.
_CONTEXTS = {"flags": (("flags", 1), ("preempt_count", 1), ("migrate_disable", 2)),
             "prio": (("prio", 4),), "cgroup": (("cgroup", 8),)}

LOSSES = ("discard", "overwrite", "throttled")


class Content:
    """Records and losses, by CPU."""

    def __init__(self, rows):
        """rows: Rows, and (cpu, count) of losses, in order."""
        self.rows, self.losts = defaultdict(list), []
        for each in rows:
            if isinstance(each, Row):
                self.rows[each.cpu].append((each.ns, each.name))
            elif each[1]:
                self.losts.append(Lost(*each, len(self.rows[each[0]])))

    def count(self):
        """All records."""
        return sum(map(len, self.rows.values()))

    def lost(self):
        """{cpu: how many were lost}."""
        sums = Counter()
        for each in self.losts:
            sums[each.cpu] += each.count
        return sums

    def between(self):
        """The same content without what was lost behind the last record of a CPU."""
        less = Content(())
        less.rows = self.rows
        less.losts = [each for each in self.losts if each.at < len(self.rows[each.cpu])]
        return less


class Trace:
    """A folder of the guest, copied so that .etch can be added to it."""

    def __init__(self, folder, work):
        self.name, self.folder = folder.name, folder
        self.ctf = work / folder.name
        shutil.copytree(folder / "ctf", self.ctf, copy_function=_link)
        kept = self.ctf / ".etch"
        kept.mkdir(exist_ok=True)
        self._keep(kept / "formats", "\n".join(
            self._format(path) for path in sorted((folder.parent / "formats").glob("*/*"))))
        if (folder / "symbols").exists():
            self._keep(kept / "symbols", (folder / "symbols").read_text())
        self.symbols = (kept / "symbols").exists()
        self._truth = None
        # (CPU, which record of it): the values of its fields, and of its contexts.
        self.samples = {}

    def _format(self, path):
        """A format file as the trace's instance has it: contexts, and fields behind them."""
        contexts, text = self.folder / "contexts", path.read_text()
        names = contexts.read_text().partition("\n")[0].split() if contexts.exists() else []
        head, fields = text.partition("\n\n")[::2]
        more = 0
        for name in names:
            for field, size in _CONTEXTS.get(name, ()):
                head += (f"\n\tfield:u{8 * size} common_{field};\toffset:{12 + more};\t"
                         f"size:{size};\tsigned:0;")
                more += size
        return head + "\n\n" + re.sub(
            r"\toffset:(\d+);", lambda match: f"\toffset:{int(match[1]) + more};", fields)

    @staticmethod
    def _keep(path, text):
        if not path.exists():
            path.write_text(text)

    def wall(self):
        """Nanoseconds from the clock's zero to that of the wall clock."""
        metadata = (self.ctf / "metadata").read_text()
        block = re.search(r"\nclock \{.*?\n\}", metadata, re.S)[0]
        seconds, ticks = (int(re.search(rf"\b{name} = (-?\d+);", block)[1])
                          for name in ("offset_s", "offset"))
        return seconds * 1000000000 + ticks * 1000000000 // self.clock()

    def clock(self):
        """Ticks a second."""
        metadata = (self.ctf / "metadata").read_text()
        return int(re.search(r"\nclock \{.*?\bfreq = (\d+);", metadata, re.S)[1])

    def truth(self):
        """The Content that babeltrace2 reads."""
        if self._truth is None:
            self._truth = Content(self._read())
        return self._truth

    def _read(self):
        at = Counter()
        freq = self.clock()
        for each in babel.messages(self.ctf):
            if isinstance(each, babel.Event):
                index = at[each.cpu]
                at[each.cpu] += 1
                if not index % _SAMPLE:
                    self.samples[each.cpu, index] = (
                        babel.payload(each.message)[0],
                        babel.plain_context(each.message))
                yield Row(each.cpu, each.time * 1000000000 // freq, each.name)
            elif each.what == "records":
                yield each.cpu, each.count


def _link(source, target):
    Path(target).hardlink_to(source)


def bare(name):
    """Without the system."""
    return name.rpartition(":")[2]


def compare(truth, found, systems=True):
    """Sentences on records that differ. systems: the format has names of systems."""
    wrong = []
    if truth.count() != found.count():
        wrong.append(f"{found.count()} records for {truth.count()}")
    for cpu, rows in sorted(truth.rows.items()):
        others = found.rows.get(cpu, [])
        if len(rows) != len(others):
            wrong.append(f"CPU {cpu}: {len(others)} records for {len(rows)}")
        for i, (row, other) in enumerate(zip(rows, others)):
            name = row[1] if systems else bare(row[1])
            if (row[0], name) != other:
                wrong.append(f"CPU {cpu}, record {i}: {other} for {row}")
                break
    return wrong


def compare_loss(truth, found, places=True):
    """Sentences on losses that differ: sums by CPU, and each one at its place."""
    wrong = [f"CPU {cpu}: {found.lost()[cpu]} lost for {count}"
             for cpu, count in sorted(truth.lost().items()) if found.lost()[cpu] != count]
    if places and not wrong:
        one, two = ([each for cpu in sorted(truth.rows) for each in content.losts
                     if each.cpu == cpu] for content in (truth, found))
        wrong += [f"{b} for {a}" for a, b in zip(one, two) if a != b]
    return wrong


def output(command, **options):
    """(what a command prints, what it says on the standard error). It must succeed."""
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True,
                          text=True, errors="replace", **options)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout, done.stderr


def ns(text):
    """Nanoseconds of "12.345678901"."""
    seconds, _, rest = text.partition(".")
    return int(seconds) * 1000000000 + int(rest.ljust(9, "0"))
