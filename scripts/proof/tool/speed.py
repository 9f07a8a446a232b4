#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""speed.py ETCH TRACE: how fast is a large trace read, and with how much memory?

Ten million records are made of TRACE by copying its streams, each time as those of further
CPUs. Times are those of the processor, in seconds, of one run on this machine, so only ratios
count. babeltrace2, trace-cmd report and perf script read TRACE itself. Prints TAP.
"""

import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "proof/ctf")]
sys.path.append(str(Path(__file__).resolve().parents[2] / "lib"))
import check
import made

MANY = 10**7
MOST = 5                        # seconds for etch top of so many
MEMORY = 200                    # megabytes
FASTER = 3                      # records a second of etch show, beside babeltrace2's
ROUNDS = 3
GROWTH = 1.25                   # of memory, when there are ten times as many records
CPU_ID = 64                     # of struct etch_packet_header, in bytes


@dataclass
class Run:
    """What a command took."""

    seconds: float
    megabytes: float


# A small process that starts the command: what its parent had counts as the command's memory.
STARTER = """
import os, sys
null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)]
_, status, usage = os.wait4(os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,
                                            file_actions=null), 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


def run(*words):
    """One command's Run; it must succeed."""
    status, seconds, kilobytes = subprocess.run(
        [sys.executable, "-S", "-E", "-c", STARTER, *(str(word) for word in words)],
        check=True, capture_output=True, text=True).stdout.split()
    if int(status):
        raise RuntimeError(f"{words[0]} {words[1]} ended with {status}")
    return Run(float(seconds), int(kilobytes) / 1024)


def best(*words):
    """The quickest of some runs."""
    return min((run(*words) for _ in range(ROUNDS)), key=lambda one: one.seconds)


def packets(data):
    """Where packets begin, how many bytes they have, and how many records."""
    at = 0
    while at < len(data):
        fields = made.HEADER.unpack_from(data, at)
        yield at, fields[16] // 8, fields[12]
        at += fields[16] // 8


def count(trace):
    """How many records a trace has."""
    return sum(records for path in trace.glob("cpu[0-9]*")
               for _, _, records in packets(path.read_bytes()))


def enlarge(trace, folder, times):
    """The trace's CPUs, so often as others."""
    paths = sorted(trace.glob("cpu[0-9]*"))
    (folder / ".etch").mkdir(parents=True)
    for path in (trace / "metadata", *trace.glob(".etch/*")):
        (folder / path.relative_to(trace)).write_bytes(path.read_bytes())
    for n, path in enumerate(paths):
        data = bytearray(path.read_bytes())
        starts = [at for at, _, _ in packets(data)]
        for turn in range(times):
            cpu = turn * len(paths) + n
            for at in starts:
                struct.pack_into("<I", data, at + CPU_ID, cpu)
            (folder / f"cpu{cpu}").write_bytes(data)


class Speed:
    """The figures."""

    def __init__(self, etch, trace, work):
        self.etch, self.trace, self.work = etch, trace, work
        self.few, self.large = count(trace), work / "large"
        self.times = -(-MANY // self.few)
        self.many = self.few * self.times
        enlarge(trace, self.large, self.times)
        self.lines = []

    def _say(self, what, records, took):
        """A line of the table; returns the run."""
        self.lines.append(f"{what:<26} {records:>9} records {took.seconds:7.2f} s "
                          f"{records / max(took.seconds, 1e-3) / 1e6:7.2f} million/s "
                          f"{took.megabytes:6.0f} MB")
        return took

    def made(self):
        """Sentences on a large trace that is none."""
        said = subprocess.run([self.etch, "top", "-n", "1", self.large], check=True,
                              capture_output=True, text=True).stdout
        wanted = f"{self.many} records"
        return [] if wanted in said else [f"{wanted} are not in {said}"]

    def show(self):
        """etch show, and what others take for as many lines."""
        ours = self._say("etch show", self.few, best(self.etch, "show", self.trace))
        peer = self._say("babeltrace2", self.few, best("babeltrace2", self.trace))
        for name, words in (("trace.dat", ["trace-cmd", "report"]),
                            ("perf", ["perf", "script", "-i"])):
            path = self.work / f"few.{name}"
            run(self.etch, "export", "-f", name, "-o", path, self.trace)
            self._say(" ".join(words[:2]), self.few, best(*words, path))
        ratio = peer.seconds / ours.seconds
        self.lines.append(f"etch show prints {ratio:.1f} times as many records a second as "
                          "babeltrace2")
        return [] if ratio >= FASTER else [f"{ratio:.2f} times as many, not {FASTER}"]

    def top(self):
        """etch top of many."""
        took = self._say("etch top", self.many, run(self.etch, "top", self.large))
        return [f"{took}"] if took.seconds >= MOST or took.megabytes > MEMORY else []

    def view(self):
        """The writer of the page, which has a million records at most."""
        took = self._say("etch view", self.few, run(self.etch, "view", "-o",
                                                    self.work / "few.html", self.trace))
        return [f"{took}"] if took.megabytes > MEMORY else []

    def grows(self):
        """Verbs whose memory is to be the same for more records of as many CPUs."""
        # The beginning of each of its streams.
        tenth, wrong = self.work / "tenth", []
        enlarge(self.trace, tenth, self.times)
        for path in tenth.glob("cpu[0-9]*"):
            data = path.read_bytes()
            starts = [at for at, _, _ in packets(data)]
            path.write_bytes(data[:starts[len(starts) // 10]])
        some = count(tenth)
        for words in (["show"], *(["export", "-f", name, "-o", to] for name, to in (
                ("json", "-"), ("perfetto", "-"), ("trace.dat", self.work / "out")))):
            name = " ".join(["etch", *words[:3:2]])
            small = self._say(name, some, run(self.etch, *words, tenth))
            large = self._say(name, self.many, run(self.etch, *words, self.large))
            if large.megabytes > GROWTH * small.megabytes:
                wrong.append(f"{name}: {small.megabytes:.0f} MB, and "
                             f"{large.megabytes:.0f} MB for {self.many} records")
        return wrong


def main():
    etch, trace = (Path(word).resolve() for word in sys.argv[1:])
    report = check.Report()
    with tempfile.TemporaryDirectory(prefix="etch-speed-", dir=trace.parent) as work:
        speed = Speed(etch, trace, Path(work))
        report.case("ten million records are made", speed.made)
        report.case("etch show prints three times as many as babeltrace2", speed.show)
        report.case("etch top of ten million takes 5 s and 200 MB at most", speed.top)
        report.case("etch view takes 200 MB at most", speed.view)
        report.case("memory does not grow with the records", speed.grows)
        for line in speed.lines:
            report.say(line)
    print(f"1..{report.count}")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
