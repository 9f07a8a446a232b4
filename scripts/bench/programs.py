# SPDX-License-Identifier: GPL-2.0
"""What an event of a program costs, beside the floor: the counter read and 28 bytes stored.

Natively, the rings are in the program's own memory, for this machine's kernel is not ours: all
else is as the library has it. In User-mode Linux the kernel has the rings; a system call is
slow there, so nothing is compared with one. All cases take turns in one run.
"""

import shutil
import subprocess
from pathlib import Path

import figures
import kernels
import layout
import targets

TITLE = "What an event of a program costs"
LANES = ("native", "um-user")
SOURCES = layout.TOP / "scripts/bench/user"
ROUNDS = {"native": 101, "um-user": 31}
# (name, how, as it is shown, what it is): those that a lane lacks are left out.
CASES = (
    ("record", "floor", "record of 28 bytes", "floor"),
    ("record", "list", "record of 28 bytes", "event of a list"),
    ("record", "mark", "record of 28 bytes", "etch_mark()"),
    ("record", "full", "record of 28 bytes", "list, full and losing"),
    ("record", "call", "record of 28 bytes", "without rseq"),
    ("record", "trace_marker_raw", "record of 28 bytes", "ftrace's trace_marker_raw"),
    ("off", "none", "site that is off", "floor"),
    ("off", "list", "site that is off", "event of a list"),
    ("off", "mark", "site that is off", "etch_mark()"),
    ("reading", "packets", "taking a record out, in packets", "event of a list"),
    ("start", "none", "process, from start to end", "floor"),
    ("start", "list", "process, from start to end", "event of a list"),
)
# This machine's ftrace: an instance that comes and goes.
INSTANCE = Path("/sys/kernel/tracing/instances/bench-user")
MOST_TEXT = 16


def compile_programs(folder):
    """The programs of the guest, or of this machine; the header of the kernel's beside them."""
    headers = folder / "uapi/linux"
    headers.mkdir(parents=True, exist_ok=True)
    shutil.copy(layout.TOP / "include-trace/uapi/linux/etch_user.h", headers)
    common = ["gcc", "-O2", "-Wall", "-static", "-I", layout.TOP / "tools/lib/include",
              "-I", headers.parent]
    for name, source, more in (("programs", "programs.c", []), ("start-bare", "start.c", []),
                               ("start-events", "start.c", ["-DEVENTS"])):
        kernels.run([*common, *more, "-o", folder / name, SOURCES / source])


def native():
    """The report of a run on this machine, with ftrace's marker if we may have it."""
    folder = layout.BUILD / "bench/user-native"
    shutil.rmtree(folder, ignore_errors=True)
    compile_programs(folder)
    command = [folder / "programs", str(ROUNDS["native"])]
    try:
        INSTANCE.mkdir()
    except OSError:
        return run(command)
    try:
        return run([*command, INSTANCE / "trace_marker_raw"])
    finally:
        INSTANCE.rmdir()


def run(command):
    """The lines that a program prints."""
    done = subprocess.run(command, text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        raise kernels.KernelError(f"{command[0]} failed: {done.stdout.strip()}")
    return done.stdout.splitlines()


def guest(lane):
    """The report of a run in a lane's kernel."""
    kernel = kernels.Kernel(lane, "etch", "user")
    kernel.build()
    compile_programs(kernel.files)
    return kernel.boot("bench-user", [f"bench.rounds={ROUNDS[lane]}"])


def site_bytes():
    """{how: bytes in line of one site that is off}: one function less another without it."""
    folder = layout.BUILD / "bench/user-native"
    source = folder / "site.c"
    source.write_text('#include "programs.h"\n#include <etch/mark.h>\n'
                      "extern uint64_t work(uint64_t);\n"
                      "uint64_t none(uint64_t x) { x = work(x); return work(x); }\n"
                      "uint64_t list(uint64_t x) "
                      "{ x = work(x); ubench_off0(x); return work(x); }\n"
                      'uint64_t mark(uint64_t x) '
                      '{ x = work(x); etch_mark("off", x); return work(x); }\n')
    kernels.run(["gcc", "-O2", "-c", "-o", folder / "site.o", source, "-I", SOURCES,
                 "-I", layout.TOP / "tools/lib/include", "-I", folder / "uapi"])
    out = run(["nm", "-S", folder / "site.o"])
    sizes = {words[3]: int(words[1], 16) for words in map(str.split, out) if len(words) == 4}
    return {how: sizes[how] - sizes["none"] for how in ("list", "mark")}


def rows(samples, lane):
    """The figures of all cases that were measured."""
    found = [figures.Figure(title, tracer, lane, "ns", samples[name, how])
             for name, how, title, tracer in CASES if (name, how) in samples]
    for name, how in (("record", "floor"), ("record", "list"), ("off", "none"), ("off", "list")):
        if (name, how) not in samples:
            raise figures.FigureError(f"{lane}: no sample of {name} {how}")
    return found


def measure(lane):
    """(figures, remarks) of a lane."""
    lines = native() if lane == "native" else guest(lane)
    samples = figures.parse(lines)
    remarks = ["On one CPU, in one run; all cases take turns in each round."]
    if lane == "native":
        remarks.append("Rings are in the program's memory: this machine's kernel has no Etch.")
        remarks += [f"Bytes in line of a site that is off, {how}: {size} (held to {MOST_TEXT})"
                    for how, size in site_bytes().items()]
        if ("record", "trace_marker_raw") not in samples:
            remarks.append(f"NOT MEASURED: ftrace's trace_marker_raw; {INSTANCE} cannot be made.")
    else:
        remarks.append("A system call is slow in User-mode Linux: compare none with another case.")
    return rows(samples, lane), remarks


def times(found, tracer, peer):
    """How many times the peer's a record is; None where one was not measured."""
    title = CASES[0][2]
    one, other = (figures.find(found, title, name) for name in (tracer, peer))
    return figures.ratio(one.median, other.median) if one and other else None


def tables(lane, found):
    """All that is printed of a lane."""
    held = [targets.line("a record, times the floor", times(found, "event of a list", "floor"),
                         1.10),
            targets.line("full and losing, times the floor",
                         times(found, "list, full and losing", "floor"), 0.4)]
    if lane == "native":
        held.append(targets.line("a record, times ftrace's trace_marker_raw",
                                 times(found, "event of a list", "ftrace's trace_marker_raw"),
                                 0.05))
    else:
        out = figures.find(found, "taking a record out, in packets", "event of a list")
        held.append(targets.line("a record out of its ring and into a packet, ns, with the"
                                 " system calls", out.median if out else None, 10))
        start = [figures.find(found, CASES[-1][2], tracer).median
                 for tracer in ("floor", "event of a list")]
        held.append(targets.line("a process's start, ns longer", start[1] - start[0], 100_000))
    return "\n".join([figures.table(found, "floor"), "", *held])
