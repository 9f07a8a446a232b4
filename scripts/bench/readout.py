# SPDX-License-Identifier: GPL-2.0
"""Taking records out in binary form, through trace_pipe_raw.

How much CPU time a record takes that is spliced or read, Etch's and ftrace's in
turns, in one kernel, in one boot; in another boot, with a reader beside, how
many events in a second are the most at which nothing is lost; and where instructions
are counted, what it costs to wake a reader that waits.
"""

import re
import statistics

import event_cases
import figures
import kernels
import layout
import targets

TITLE = "Taking records out"
LANES = ("um", "x86-64")
SOURCES = layout.TOP / "scripts/bench"
TRACERS = ("etch", "ftrace", "ftrace-16K")
WAYS = {
    "null": "splice to /dev/null",
    "file": "splice to a file",
    "socket": "splice to a socket",
    "read": "read, 64 KiB at a time",
    "mmap": "mmap, copied by the reader",
}
SIZE = "a record, as it comes out"
SIZES = (1408, 8192)            # of a buffer; the first is the tracers' own
# Words for the guest, and what they are of: of hits, half of the records.
DRAIN = {"um": {"rounds": 101, "hits": 25000, "size": 2048},
         "x86-64": {"rounds": 5, "hits": 12500, "size": 1024}}
RATE = {"um": {"rounds": 5, "ticks": 500, "producer": 0, "consumer": 0},
        "x86-64": {"rounds": 3, "ticks": 1000, "producer": 1, "consumer": 0}}
# Of x86-64: hits that fill ten sub-buffers of Etch's, none of which is overwritten.
WAKE = {"rounds": 4, "hits": 5800, "size": 1024}
WAKE_TITLE = "hits that wake a reader, less those that wake none"
BYTES = re.compile(r"^bench: bytes (\S+) (\S+) (\d+) (\d+)$")
FOUND = re.compile(r"^bench: rate (\S+) (\d+) (lost|producer)$")


def words(part, settings):
    """The words that are appended to the kernel's command line."""
    return [f"bench.part={part}",
            *(f"bench.{key}={value}" for key, value in settings.items())]


def measure(lane):
    """(figures, remarks) of a lane."""
    counts = event_cases.counts(lane)
    kernel = kernels.Kernel(lane, "etch", "readout")
    kernel.build(SOURCES / "kernel")
    for program in ("readout", "rate"):
        kernels.run(["gcc", "-O2", "-Wall", "-static",
                     "-I", layout.TOP / "include-trace/uapi", "-o",
                     kernel.files / program, SOURCES / f"user/{program}.c"])
    drain = kernel.boot("bench-readout", words("drain", DRAIN[lane]), counts)
    beside = {size: kernel.boot("bench-readout", words(
        "rate", {**RATE[lane], "size": size})) for size in SIZES}
    found = rows(figures.parse(drain, counts), lane) + sizes(drain, lane)
    if counts:
        found += wake_rows(figures.parse(kernel.boot(
            "bench-readout", words("wake", WAKE), counts), counts), lane)
    for size, lines in beside.items():
        found += rate_rows(lines, size, lane)
    return found, remarks_on(beside, lane)


def rows(rounds, lane):
    """The figures of a record; every round must be there."""
    unit, found = "ns", []
    if event_cases.counts(lane):
        unit = "instructions"
    for way, title in WAYS.items():
        for tracer in TRACERS:
            some = rounds.get((way, tracer), [])
            if len(some) != DRAIN[lane]["rounds"]:
                raise figures.FigureError(f"{lane}: rounds of {title} miss")
            found.append(figures.Figure(title, tracer, lane, unit, some))
    return found


def wake_rows(rounds, lane):
    """What one wake-up costs the writers, in each round."""
    found = []
    for tracer in TRACERS[:2]:
        quiet, waited = (rounds.get((f"{tracer}_small", how), [])
                         for how in ("quiet", "waited"))
        if len(quiet) != WAKE["rounds"] or len(waited) != WAKE["rounds"]:
            raise figures.FigureError(f"{lane}: rounds of {WAKE_TITLE} miss")
        usual = statistics.median(quiet)
        found.append(figures.Figure(
            WAKE_TITLE, tracer, lane, "instructions",
            [(cost - usual) * WAKE["hits"] for cost in waited]))
    return found


def rate_title(size):
    """What the case is called of a buffer of so many KiB."""
    return f"rate, splice to a file, {size} KiB"


def rates(lines):
    """{tracer: [(events in a second, why not more)]}."""
    found = {}
    for match in filter(None, map(FOUND.match, lines)):
        found.setdefault(match[1], []).append((int(match[2]), match[3]))
    return found


def rate_rows(lines, size, lane):
    """The figures of rates; every round must be there."""
    found, rows_ = rates(lines), []
    for tracer in TRACERS:
        some = found.get(tracer, [])
        if len(some) != RATE[lane]["rounds"]:
            raise figures.FigureError(
                f"{lane}: rounds of {rate_title(size)} miss")
        rows_.append(figures.Figure(rate_title(size), tracer, lane,
                                    "events/s", [rate for rate, _ in some]))
    return rows_


def sizes(lines, lane):
    """The figures of bytes that come out for a record, padding and all."""
    found = {}
    for match in filter(None, map(BYTES.match, lines)):
        if match[1] == "file":
            found.setdefault(match[2], []).append(
                int(match[3]) / int(match[4]))
    return [figures.Figure(SIZE, tracer, lane, "bytes",
                           found.get(tracer, [])) for tracer in TRACERS]


def remarks_on(beside, lane):
    """The remarks that belong to the figures.

    beside: {KiB: a report of rates}.
    """
    said = ["Equal events of 16 bytes, "
            f"{DRAIN[lane]['hits'] * 2} in a buffer.",
            "Sub-buffers are of 16 KiB in Etch, 4 KiB in ftrace, 16 KiB in "
            "ftrace-16K.",
            "Every record was counted as it came out (or, if it went to "
            "/dev/null, by counting the rest); none is missing.",
            "One thread that does not sleep, so what passes is CPU time; it "
            "has both ends of the socket.",
            "Rates: readers wait as is the tracer's default."]
    if event_cases.counts(lane):
        said.append("A wake-up: what the writer does for it, with interrupts off. The "
                    "interrupt that wakes the reader comes later, and is not in there.")
    if RATE[lane]["producer"] == RATE[lane]["consumer"]:
        said.append("Rates: there is one processor. Events come in an "
                    "interrupt each millisecond, and the reader has what "
                    "these leave: a rate is what writing a record and taking "
                    "it out cost together, or how late the reader is woken.")
    for size, lines in beside.items():
        said += [f"NOT AN END: {rate_title(size)}: {tracer} lost nothing; "
                 "the processor could not hit more often."
                 for tracer, some in rates(lines).items()
                 if any(why == "producer" for _, why in some)]
    return said


def seconds(found):
    """Records in a second."""
    return figures.grid(
        ["records in a second", "", *TRACERS],
        [[title, "", *(f"{1e9 / figures.find(found, title, name).median:,.0f}"
                       for name in TRACERS)] for title in WAYS.values()])


def gigabytes(found):
    """CPU time for a gigabyte."""
    return figures.grid(
        ["seconds for a GB", "", *TRACERS],
        [[title, "", *(figures.number(
            figures.find(found, title, name).median
            / figures.find(found, SIZE, name).median) for name in TRACERS)]
         for title in WAYS.values()])


def held(found, title, name):
    """What a record costs, beside one of ftrace's."""
    etch = figures.find(found, title, "etch")
    peer = figures.find(found, title, name)
    return targets.line(f"{title}: a record's cost, times {name}'s",
                        figures.ratio(etch.median, peer.median), 1,
                        least=figures.ratio(etch.min, peer.min))


def outrun(found, title, name):
    """The same of rates, of which more is better."""
    etch = figures.find(found, title, "etch")
    peer = figures.find(found, title, name)
    return targets.line(f"{title}: {name}'s, times Etch's",
                        figures.ratio(peer.median, etch.median), 1)


def tables(_lane, found):
    """All that is printed of a lane."""
    parts = [figures.table(found, "ftrace"), ""]
    if found[0].unit == "ns":
        parts += [seconds(found), "", gigabytes(found), ""]
    for title in WAYS.values():
        parts += [held(found, title, name) for name in TRACERS[1:]]
    for size in SIZES:
        parts += [outrun(found, rate_title(size), name)
                  for name in TRACERS[1:]]
    return "\n".join(parts)
