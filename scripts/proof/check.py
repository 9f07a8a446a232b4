#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every test, lane by lane; the last line counts them.

  check.py [LANE...]     those named; default all but the long ones
  check.py long          all
  check.py --cases=FILE LANE...   for another check.py: no table, but the cases in FILE

LANES and LONG say what there is, the files in checks/ what each does. Lanes without a guest
run beside the others, and lanes in User-mode Linux beside those in QEMU, in a check.py of their
own each. A lane that cannot run, or that runs no test, has failed. A kernel that does not boot,
does not end in time, or has trouble on its console, has failed too, whatever its tests said.
"""

import itertools
import os
import resource
import sys
import textwrap
import time
import traceback
from collections import Counter
from pathlib import Path

# Before what is in lib/: this says where that is.
from checks import (ahead, bases, beside, crashes, guests, host, kunit, lane, layers, mutants, peers,
                    stacks, traces, watched)
import ftracetest
import layout
import lock
import machine
import signals
import tap
import tree

LANES = {"harness": host.harness, "series": host.series, "docs": host.docs,
         "lint": host.lint, "ring": host.ring, "model": host.model, "litmus": host.litmus,
         "um": guests.um, "x86-64": guests.x86_64,
         "ctf-x86-64": traces.ctf_x86_64, "crash-x86-64": crashes.crash_x86_64}
# What is slow, kernels that watch themselves above all: make check-long.
LONG = {"layers": layers.layers, "layers-long": layers.layers_long,
        "lint-long": host.lint_long, "ring-long": host.ring_long,
        "model-long": host.model_long, "fuzz": host.fuzz, "fuzz-long": host.fuzz_long,
        "kunit": kunit.kunit, "um-long": guests.um_long,
        "um-bare": guests.um_bare, "um-kasan": watched.kasan, "um-clang": guests.um_clang,
        "um-plain": guests.um_plain, "um-off": guests.um_off,
        "um-user": guests.um_user, "um-user-mutants": mutants.user,
        "x86-64-long": guests.x86_64_long, "x86-64-probes": guests.probes,
        "x86-64-lockdep": watched.lockdep,
        "x86-64-kcsan": watched.data_races, "x86-64-kasan": watched.memory,
        "x86-64-rt": guests.realtime, "x86-64-clang": guests.clang,
        "arm64-bare": guests.arm64_bare, "arm64": guests.arm64, "arm64-64k": guests.arm64_64k,
        "ctf": traces.ctf, "ctf-x86-64-long": traces.ctf_x86_64_long, "view": traces.view,
        "gallery": traces.gallery, "crash": crashes.crash_um,
        "headers": host.headers, "cocci-tree": host.cocci_tree, "bisect": host.bisect,
        "forecast": host.forecast, "ftracetest": peers.ftracetest,
        "ftracetest-mainline": peers.ftracetest_mainline, "stacks": stacks.stacks,
        "ftracetest-x86-64": peers.ftracetest_x86_64}
# Those of a base that is not the first, in make check: as they are shown, and what they run.
OTHER_BASES = {"series": "series", "um": "um-brief", "x86-64": "x86-64-brief"}
BRIEF = {"um-brief": guests.um_brief, "x86-64-brief": guests.x86_64_brief}
# The same in make check-long: the lanes that know of the kernel, but for those that hold it
# against a list, of findings or of tests, which is the first base's.
OTHER_BASES_LONG = {
    "um-whole": "um", "x86-64-whole": "x86-64",
    **{name: name for name in ("ctf-x86-64", "crash-x86-64")},
    **{name: name for name in LONG if name not in (
        "lint-long", "ring-long", "model-long", "fuzz", "fuzz-long", "view", "gallery",
        "forecast", "headers", "cocci-tree", "ftracetest", "ftracetest-mainline",
        "ftracetest-x86-64")}}
LANES.update(bases.lanes(OTHER_BASES, {**LANES, **BRIEF, **LONG}))
LONG.update(bases.lanes(OTHER_BASES_LONG, {**LANES, **BRIEF, **LONG}))
ALL = {**LANES, **LONG}
# Variables for scripts/lab/build.sh that only lanes set: the user's are dropped.
TOLD = ("OUT", "SOURCE", "M", "MORE", "ONLY", "WITHOUT", "BENCH", "LLVM")


def spent():
    """(now, what programs took of the processors until now), in seconds.

    Kernels that are built ahead count for the lane during which they are finished. Lanes that
    run beside others have their own sums.
    """
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), usage.ru_utime + usage.ru_stime - beside.cpu()


def since(before):
    """The same, since spent() gave this."""
    return tuple(now - then for now, then in zip(spent(), before))


def run_lane(name):
    """(cases, since() the lane began); an error that keeps it from running is a case."""
    start = spent()
    try:
        with lock.alone(layout.BUILD / f"log/lane-{name}.lock",
                        f"Another make check, with lane {name},"):
            lane.say(f"Lane {name}: {ALL[name].__doc__}")
            cases = ALL[name]()
        if not cases:
            raise lane.LaneError("no test ran")
    except (lane.LaneError, machine.MachineError, tree.TreeError,
            ftracetest.FtracetestError, OSError) as error:
        cases = [tap.Case(f"the lane could not run: {error}", "failed")]
    # A mistake in the lane itself shall not keep the others from their turn.
    except Exception as error:
        traceback.print_exc()
        cases = [tap.Case(f"the lane could not run: {error!r}", "failed")]
    return cases, since(start)


def tell(name, cases):
    """Print what did not pass in a lane."""
    for case in cases:
        if case.status != "passed":
            print(f"### {name}: {case.status}: {case.name} {case.why}", flush=True)


def count(cases, status):
    """How many cases have a status."""
    return sum(case.status == status for case in cases)


def passed_nowhere(results):
    """{name: why} of the cases that were skipped, and passed in no lane."""
    every = [case for cases, _ in results.values() for case in cases]
    passed = {case.name for case in every if case.status == "passed"}
    return {case.name: case.why for case in every
            if case.status == "skipped" and case.name not in passed}


def table(results, spent_in_all):
    """Print the lanes with their counts and times, the reasons of skips, the failed cases.

    The cases that every lane skipped are named, too, if all lanes but the long ones were run.
    spent_in_all: of all lanes, with the work that was done for several of them.
    """
    row = "{:<19} {:>6} {:>7} {:>7} {:>8} {:>8} {:>8}"
    print("\n" + row.format("lane", "tests", "passed", "failed", "skipped", "seconds", "CPU s"))
    every = [case for cases, _ in results.values() for case in cases]
    for name, (cases, took) in [*results.items(), ("all", (every, spent_in_all))]:
        print(row.format(name, len(cases), count(cases, "passed"), count(cases, "failed"),
                         count(cases, "skipped"), *(f"{seconds:.0f}" for seconds in took)))
    for name, (cases, _) in results.items():
        for why, number in Counter(case.why for case in cases
                                   if case.status == "skipped").items():
            why = textwrap.shorten(why, 100) or "it is not said why"
            print(f"### {name}: {number} skipped: {why}")
    for name, why in passed_nowhere(results).items() if set(LANES) <= set(results) else ():
        print(f"### skipped in every lane: {name}: {textwrap.shorten(why, 100)}")
    left_out = [name for name in ALL if name not in results]
    if left_out:
        print(f"### NOT run: {' '.join(left_out)}")
    # Last, for a reader who sees only the end of a long log.
    for name, (cases, _) in results.items():
        for case in cases:
            if case.status == "failed":
                print(f"### {name}: FAILED: {case.name} {case.why}")


def arguments(words):
    """(the lanes' names, the file for their cases or None)."""
    file, known = None, ALL
    if words and words[0].startswith("--cases="):
        file, known = Path(words.pop(0).partition("=")[2]), {**ALL, **BRIEF}
    names = words or list(LANES)
    if names == ["long"]:
        names = list(ALL)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no lane {unknown[0]}; there are: {' '.join(ALL)}")
    return names, file


def run_lanes(names, told):
    """{name: what run_lane() gives}. told: whether to print what did not pass, lane by lane."""
    here, rows = beside.split(names)
    results = {}
    try:
        ahead.start([*here, *(name for row in rows for name in row[1:])])
        beside.start(rows)
        for name in here:
            results[name] = run_lane(name)
            if told:
                tell(name, results[name][0])
        results.update(beside.wait())
    finally:
        beside.stop()
        ahead.stop()
    for name in itertools.chain(*rows):
        tell(name, results[name][0])
    return {name: results[name] for name in names}


def main():
    names, file = arguments(sys.argv[1:])
    ALL.update(BRIEF if file else {})
    signals.unwind()
    for variable in TOLD:
        os.environ.pop(variable, None)
    results, start = {}, spent()
    if lane.run(["python3", lane.SCRIPTS / "series/tree.py", "build"], "tree.log")[0]:
        print((lane.LOGS / "tree.log").read_text())
        results["tree"] = ([tap.Case("build/linux could not be made",
                                     "failed")], (0, 0))
        names = [name for name in names if name in ("harness", "series")]
    results.update(run_lanes(names, not file))
    every = [case for cases, _ in results.values() for case in cases]
    if file:
        bases.write(file, every)
        sys.exit()
    # Those beside the others are part of the sum.
    seconds, cpu = since(start)
    table(results, (seconds, cpu + beside.cpu()))
    print("\n{} passed, {} failed, {} skipped".format(
        *(count(every, status)
          for status in ("passed", "failed", "skipped"))))
    sys.exit(1 if count(every, "failed") else 0)


if __name__ == "__main__":
    main()
