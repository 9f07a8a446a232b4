# SPDX-License-Identifier: GPL-2.0
"""Lanes of the other bases: those of the first one, in a check.py for the other base.

A process has one base: what it knows of folders follows from that. So each of these lanes
starts a check.py, which shows what it does and leaves its cases in a file.
"""

import functools
import json
import os
import subprocess
import sys

import layout
import tap
from checks import ahead
from checks.lane import LOGS, SCRIPTS, LaneError

# The status with which scripts/lab/fetch.sh says that it found no source of the base.
NO_SOURCE = 3
# The kernels that are built ahead, by the lane that needs them.
KERNELS = {"um": ["um"], "um-brief": ["um-user"], "x86-64": ["x86-64"],
           "x86-64-brief": ["x86-64-lean"], "layers": ["um-low", "um-core"]}
# Those that run on the first base if nobody gives the source of the other one.
ANYWHERE = ["um-brief"]


def environment(base):
    """The variables of a process for a base. KDIR is a tree of the chosen base's version."""
    return {**{name: value for name, value in os.environ.items() if name != "KDIR"},
            "ETCH_BASE": base}


def fetch(base):
    """Why nobody gives the source of a base; None where it is there. May raise LaneError."""
    command = [str(SCRIPTS / "lab/fetch.sh")]
    with subprocess.Popen(command, cwd=layout.TOP, env=environment(base), text=True,
                          errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        said = []
        for line in process.stdout:
            print(line, end="", flush=True)
            said.append(line.strip())
    if process.returncode == NO_SOURCE:
        errors = [line for line in said if line.startswith("### error: ")] or ["it says nothing"]
        return errors[0].removeprefix("### error: ")
    if process.returncode:
        raise LaneError(f"the source of Linux {base} could not be fetched: "
                        + " ".join(said[-1:]))
    return None


def source(base):
    """The source of a base with the series on it, for who builds ahead. May raise LaneError."""
    why = fetch(base)
    if why:
        raise LaneError(why)
    if run([sys.executable, SCRIPTS / "series/tree.py", "build"], base):
        raise LaneError(f"the series could not be put on Linux {base}")


def run(command, base):
    """The status of a program for a base. If this one is ended, that ends its guests first."""
    process = subprocess.Popen([str(word) for word in command], cwd=layout.TOP,
                               env=environment(base))
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def check(base, name):
    """The cases of a lane for a base whose source is there."""
    LOGS.mkdir(parents=True, exist_ok=True)
    file = LOGS / f"cases-{name}-{base}.json"
    file.unlink(missing_ok=True)
    status = run([sys.executable, SCRIPTS / "proof/check.py", f"--cases={file}", name], base)
    if not file.exists():
        raise LaneError(f"check.py for Linux {base} ended with status {status} and left no cases")
    return read(file)


def read(file):
    """The cases that a check.py left."""
    return [tap.Case(*case) for case in json.loads(file.read_text())]


def write(file, cases):
    """Leave the cases for read()."""
    file.write_text(json.dumps([[case.name, case.status, case.why] for case in cases]))


def lane(base, name, first):
    """The function of a lane: what NAME does on a base; without its source, a skipped case.

    first: the function of the lane for the first base.
    """
    def function():
        why = fetch(base)
        if why:
            print(f"### NOT RUN on Linux {base}: {name}: {why}", flush=True)
            cases = [tap.Case(f"{name} on Linux {base}", "skipped", f"no source: {why}")]
            return cases + (first() if name in ANYWHERE else [])
        for kernel in KERNELS.get(name, ()):
            ahead.wait(f"{base}/{kernel}")
        return check(base, name)

    function.__doc__ = f"Linux {base}: {first.__doc__}"
    return function


def lanes(names, every):
    """{NAME-BASE: function} for these names and each base but the first, where that is chosen.

    every: {name: function}; names: a list of such names, or {name as it is shown: name}.
    """
    first, *others = layout.BASES
    if layout.BASE != first:
        return {}
    runs = names if isinstance(names, dict) else dict(zip(names, names))
    found = {}
    for base in others:
        fetches = functools.partial(source, base)
        for shown, name in runs.items() if base in layout.carried() else ():
            found[f"{shown}-{base}"] = lane(base, name, every[name])
            if name in KERNELS:
                ahead.KERNELS[f"{shown}-{base}"] = (
                    [f"{base}/{kernel}" for kernel in KERNELS[name]], fetches)
    return found
