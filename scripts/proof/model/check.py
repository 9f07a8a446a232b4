#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The models of the ring's protocol and of its alarm, exhausted by SPIN. Prints TAP.

  check.py [--quick | --long] [MUTATION...]

The model runs in several sizes and both modes, with readers that take, peek and ask for
figures, and with resizes; then the script takes each rule out, and an assertion must fail
(mutations.py). --long has larger sizes, for hours and some 20 GB. With names, only those
mutations.

Needs spin, gcc and tcc. Two at a time, each with up to 3 GB.
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutations import ALARM_MUTATIONS, DISCARD, MUTATIONS, NOT_NEEDED, OVERWRITE, size

HERE = Path(__file__).resolve().parent
# The first of each is the model; it includes the others.
FILES = ("ring.pml", "reader.pml")
ALARM_FILES = ("alarm.pml",)

# Name, options; each in both modes. Three levels; a bigger block; two levels nested
# more than once; partial reading; peeking; figures; resize both ways; flush beside each;
# closing a block.
QUICK = [
    ("three levels", size(3, 1, 1, 1)),
    ("a task and its interrupt", size(3, 3, 1)),
    ("peek", size(3, 3, 0, 0, "-DPEEK")),
    ("resize 2 to 4", size(3, 3, 0, 0, "-DRESIZE=4")),
    ("flush", size(3, 3, 0, 0, "-DF1=1")),
    ("close", size(4, 3, 0, 0, "-DC1=1")),
    ("look", size(3, 4, 0, 0, "-DLOOK -DPART")),
    ("look, with interrupts", size(3, 2, 1, 0, "-DLOOK")),
]
NORMAL = QUICK + [
    ("larger blocks", size(4, 4, 1)),
    ("interrupted twice", size(3, 2, 2)),
    ("no more than two nested", size(3, 1, 1, 1, "-DMAX_NEST=2")),
    ("one record at a time", size(4, 3, 1, 0, "-DPART")),
    ("peek, with interrupts", size(3, 2, 1, 0, "-DPEEK")),
    ("figures", size(3, 2, 1, 0, "-DSTATS")),
    ("look and resize 2 to 4", size(3, 3, 0, 0, "-DLOOK -DRESIZE=4")),
    ("resize 2 to 4, with interrupts", size(3, 2, 1, 0, "-DRESIZE=4")),
    ("resize 4 to 2", size(3, 5, 0, 0, "-DN=4 -DRESIZE=2")),
    ("flush, interrupted by a writer", size(3, 2, 0, 1, "-DF1=1")),
    ("flush, interrupted by a flush", size(3, 2, 0, 0, "-DF1=1 -DF2=1")),
    ("flush in an interrupt", size(3, 1, 1, 0, "-DF2=1")),
    ("flush, more slots", size(3, 1, 1, 0, "-DF1=1 -DMAX_NEST=1 -DN=4")),
    ("flush and peek", size(3, 2, 0, 0, "-DF1=1 -DPEEK")),
    ("flush and figures", size(3, 2, 0, 0, "-DF1=1 -DSTATS")),
    ("flush and one record at a time", size(4, 3, 0, 0, "-DF1=1 -DPART")),
    ("flush and resize 2 to 4", size(3, 2, 0, 0, "-DF1=1 -DRESIZE=4")),
    ("flush and resize 4 to 2", size(3, 3, 0, 0, "-DF1=1 -DN=4 -DRESIZE=2")),
    ("close in an NMI", size(3, 1, 1, 0, "-DC2=1")),
    ("close and peek", size(3, 2, 0, 0, "-DC1=1 -DPEEK")),
]
LONG = NORMAL + [
    ("close, beside an interrupt's writer", size(3, 2, 1, 0, "-DC1=1")),
    ("close and flush", size(3, 2, 0, 0, "-DF1=1 -DC2=1")),
    ("peek, with more interrupts", size(3, 3, 1, 0, "-DPEEK")),
    ("figures, with more interrupts", size(3, 3, 1, 0, "-DSTATS")),
    ("resize 2 to 4, with more interrupts", size(3, 3, 1, 0, "-DRESIZE=4")),
    ("resize 4 to 2, with interrupts", size(3, 4, 1, 0, "-DN=4 -DRESIZE=2")),
    ("peek and figures", size(3, 3, 0, 0, "-DPEEK -DSTATS -DPART")),
    ("three slots", size(2, 4, 2, 0, "-DN=3")),
    ("three levels, longer", size(3, 2, 1, 1)),
    ("flush, none nested", size(3, 2, 1, 0, "-DF1=1 -DMAX_NEST=1")),
    ("flush, more often", size(3, 3, 0, 0, "-DF1=2")),
    ("flush, on three levels", size(3, 1, 1, 1, "-DF1=1")),
    ("flush, longer", size(3, 3, 0, 1, "-DF1=1")),
]
# Name, options: a reader that waits, beside control, and beside a dump.
ALARM = [
    ("alarm", ""),
    ("alarm, waiting twice", "-DTASK=1 -DWAITS=2"),
    ("alarm, off and on", "-DCONTROL -DTASK=1"),
    ("alarm, off for good", "-DDUMP -DTASK=1"),
]
ALARM_LONG = ALARM + [
    ("alarm, more records, off and on", "-DCONTROL"),
    ("alarm, more interrupts", "-DIRQ=2 -DWAITS=2"),
]


# How a verifier is compiled: one that runs for long; for seconds; one that soon has an error.
THOROUGH, SOON, AT_ONCE = "gcc -O2", "gcc -O1", "tcc"


class ModelError(Exception):
    """Why SPIN gave no answer."""


def verify(texts, options, limit=3000, compiler=THOROUGH):
    """What the verifier says of the model with these options."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text)
        made = subprocess.run(
            f"spin -a {options} {next(iter(texts))} && "
            f"{compiler} -w -DSAFETY -DCOLLAPSE -DMEMLIM={limit} -o pan pan.c",
            shell=True, cwd=folder, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if made.returncode or "rror:" in made.stdout:
            raise ModelError(made.stdout.strip()[-300:])
        return subprocess.run(["./pan", "-m500000"], cwd=folder, text=True, check=False,
                              capture_output=True).stdout


def holds(texts, name, options, limit, compiler):
    """(whether no assertion fails and nothing was left out, a line)"""
    out = verify(texts, options, limit, compiler)
    found = re.search(r"(\d+) states, stored", out)
    whole = not re.search("too small|out of memory|reached -DMEMLIM|not completed", out)
    good = "errors: 0" in out and whole and found is not None
    why = re.search(r"^pan:\d+: (.*)", out, re.M)
    return good, f"{name}: " + (f"{found.group(1)} states" if good else
                                why.group(1) if why else "not completed")


def mutate(texts, changes):
    """The model's texts, changed."""
    texts = dict(texts)
    for old, new in changes:
        where = [name for name in texts if old in texts[name]]
        if len(where) != 1 or texts[where[0]].count(old) != 1:
            raise ModelError(f"not there once: {old!r}")
        texts[where[0]] = texts[where[0]].replace(old, new)
    return texts


def caught(texts, mutation):
    """(whether an assertion fails without this rule, a line)"""
    name, what, options, changes = mutation
    out = verify(mutate(texts, changes), options, compiler=AT_ONCE)
    found = re.search(r"^pan:\d+: (.*?) \(at depth", out, re.M)
    good = found is not None
    return good, f"{name}: {what}: " + (found.group(1) if good else "NOT CAUGHT")


def harmless(texts, mutation):
    """(whether all holds without this rule, a line)"""
    name, what, options, changes = mutation
    good, line = holds(mutate(texts, changes), name, options, 3000, SOON)
    return good, f"{line} (not needed: {what})"


def guarded(work, *arguments):
    """The same; an error that keeps SPIN from working is a failure with a name."""
    try:
        return work(*arguments)
    except ModelError as error:
        named = arguments[1] if isinstance(arguments[1], str) else arguments[1][0]
        return False, f"{named}: " + " ".join(str(error).split())


def main():
    names = [name for name in sys.argv[1:] if not name.startswith("-")]
    unknown = set(names) - {mutation[0] for mutation in MUTATIONS + ALARM_MUTATIONS}
    if unknown:
        sys.exit(f"no mutation {' '.join(sorted(unknown))}")
    sizes, alarms, limit, compiler = NORMAL, ALARM, 3000, THOROUGH
    if "--quick" in sys.argv:
        sizes, compiler = QUICK, SOON
    if "--long" in sys.argv:
        sizes, alarms, limit = LONG, ALARM_LONG, 20000
    texts = {name: (HERE / name).read_text() for name in FILES}
    alarm = {name: (HERE / name).read_text() for name in ALARM_FILES}

    jobs = [] if names else [
        (holds, texts, f"{mode}, {name}", option + options, limit, compiler)
        for name, options in sizes
        for mode, option in (("overwrite", OVERWRITE), ("discard", DISCARD))]
    jobs += [] if names else [(holds, alarm, *case, limit, compiler) for case in alarms]
    jobs += [(caught, model, mutation)
             for model, some in ((texts, MUTATIONS), (alarm, ALARM_MUTATIONS))
             for mutation in some if not names or mutation[0] in names]
    jobs += [(harmless, texts, mutation) for mutation in NOT_NEEDED if not names]
    failed = 0
    workers = 1 if "--long" in sys.argv else min(2, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        results = pool.map(lambda job: guarded(*job), jobs)
        for number, (good, line) in enumerate(results, 1):
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {line}", flush=True)
    print(f"1..{len(jobs)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
