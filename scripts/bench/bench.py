#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Benchmarks: bench.py NAME [LANE...]; NAME is one of those at the end.

Prints a table for each lane, and writes build/bench/NAME.json, an array of
objects (case, tracer, lane, unit, median, min, max), and NAME.svg. Builds what
kernels it needs, from the files as they stand. Figures are no tests: none makes
it fail.
"""

import os
import platform
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE)]
import bases
import consumers
import contexts
import enable
import event
import figures
import gate
import kernels
import layout
import loops
import machine
import marks
import plot
import probe
import programs
import readers
import readout
import recorders
import rest
import rules
import signals
import workload

BENCHES = {"gate": gate, "enable": enable, "event": event,
           "workload": workload, "readers": readers, "readout": readout,
           "rest": rest, "consumers": consumers, "recorders": recorders,
           "rules": rules, "contexts": contexts, "marks": marks, "probe": probe,
           "user": programs, "bases": bases}
ERRORS = (figures.FigureError, kernels.KernelError, loops.LoopError,
          machine.MachineError, OSError)


def processor():
    """The host's processor, by name."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def show(bench, lane, found, remarks):
    """Print one lane's table and the remarks on it."""
    print(f"\n{bench.TITLE}: {lane}, in {found[0].unit}\n")
    print(bench.tables(lane, found))
    for remark in remarks:
        mark = "### " if remark.startswith("NOT ") else "  "
        print(f"{mark}{remark}")
    sys.stdout.flush()


def main():
    name, *lanes = sys.argv[1:] or [None]
    if name not in BENCHES:
        sys.exit(f"{__doc__.splitlines()[0]} There are: {' '.join(BENCHES)}")
    signals.unwind()
    bench, out = BENCHES[name], layout.BUILD / "bench"
    out.mkdir(parents=True, exist_ok=True)
    print(f"==> On {processor()}, load {os.getloadavg()[0]:.1f}.", flush=True)
    results = []
    try:
        kernels.run([kernels.SCRIPTS / "series/tree.py", "build"])
        for lane in lanes or bench.LANES:
            results.append((lane, *bench.measure(lane)))
    except ERRORS as error:
        sys.exit(f"### error: {error}")
    for lane, found, remarks in results:
        show(bench, lane, found, remarks)
    every = [figure for _, found, _ in results for figure in found]
    (out / f"{name}.json").write_text(figures.to_json(every))
    plot.draw(every, bench.TITLE, out / f"{name}.svg")
    print(f"\n==> Written: {out}/{name}.json, {name}.svg")


if __name__ == "__main__":
    main()
