# SPDX-License-Identifier: GPL-2.0
"""What recording to a file costs: etch-record and trace-cmd, each as a user starts it.

CPU time of the recorder, its threads and its children, for each event that it records;
in one kernel, in one boot, taking turns.
"""

import event_cases
import figures
import kernels
import layout
import targets

TITLE = "Recording to a file"
LANES = ("um", "x86-64")
SOURCES = layout.TOP / "scripts/bench"
TOOLS = ("etch-record", "trace-cmd")
CASE = "CPU time of the recorder, an event of 16 bytes"
# Twice as many hits are a chunk. With the part of a buffer that trace-cmd leaves unread, it
# is less than a buffer.
RUNS = {"um": {"rounds": 7, "chunks": 261, "hits": 6000},
        "x86-64": {"rounds": 3, "chunks": 41, "hits": 6000}}
MOST = 60                       # ns an event
HALF = 0.5                      # of trace-cmd's instructions


def measure(lane):
    """(figures, remarks) of a lane."""
    counts = event_cases.counts(lane)
    kernels.run([kernels.SCRIPTS / "lab/fetch.sh", "bench"])
    kernel = kernels.Kernel(lane, "etch", "recorders")
    kernel.build(SOURCES / "kernel")
    kernels.run(["gcc", "-O2", "-Wall", "-static",
                 "-I", layout.TOP / "include-trace/uapi", "-o",
                 kernel.files / "recorders", SOURCES / "user/recorders.c"])
    lines = kernel.boot("bench-recorders", [
        f"bench.{key}={value}" for key, value in RUNS[lane].items()], counts,
        programs=["trace-cmd"])
    return rows(figures.parse(lines, counts), lane), [
        "Each writes to a file in memory, with its own buffers and settings, but "
        "trace-cmd does not compress. Nothing was lost.", "What a recorder does at its start and end falls out: a run with "
        f"{RUNS[lane]['chunks']} chunks of events, less one with a single chunk."]


def rows(samples, lane):
    """The figures; every round must be there."""
    unit, found = "instructions" if event_cases.counts(lane) else "ns", []
    for tool in TOOLS:
        some = samples.get(("record", tool), [])
        if len(some) != RUNS[lane]["rounds"]:
            raise figures.FigureError(f"{lane}: rounds of {tool} miss")
        found.append(figures.Figure(CASE, tool, lane, unit, some))
    return found


def tables(lane, found):
    """All that is printed of a lane."""
    etch, peer = (figures.find(found, CASE, tool) for tool in TOOLS)
    if event_cases.counts(lane):
        held = targets.line("instructions of etch-record, times trace-cmd's",
                            figures.ratio(etch.median, peer.median), HALF)
    else:
        held = targets.line("ns of etch-record an event", etch.median, MOST,
                            least=etch.min)
    return "\n".join([figures.table(found, "trace-cmd"), "", held])
