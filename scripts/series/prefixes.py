#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every prefix of the series is built and booted: make bisect. Prints TAP.

  prefixes.py [--only LANE]... [--from PATCH] [--to PATCH]

This script puts patch after patch on the pristine tree, in build/bisect/linux; after each
it builds the kernels of the lanes, um and x86-64 unless named otherwise, from that tree
and boots them. A search for a mistake with git bisect goes over each of these kernels.

A prefix is configured with the lane's wishes. The table counts those that the prefix does not
grant yet; a wish that an earlier prefix granted must not be lost again, and the last
prefix must grant all. A warning that the pristine tree's compiler does not give is a
failure. The pristine tree itself is only built: User-mode Linux needs the first patches
to boot on every host. A patch to documentation, tests and tools alone is applied, and not built.
"""

import argparse
import fcntl
import os
import re
import subprocess
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import guest
import kconfig
import layout
import machine
import manifest
import signals
import tap as taps
import tree

SCRIPTS = layout.TOP / "scripts"
PLACE = layout.BUILD / "bisect"
LANES = ("um", "x86-64")
PRISTINE = "(none)"
# Seconds until a guest is given up.
LIMIT = 300
# What no kernel is built from.
NOT_BUILT = ("Documentation/*", "MAINTAINERS", "tools/testing/*", "scripts/coccinelle/*")
WARNING = re.compile(r"^(?P<path>[^\s:]+):\d+(?::\d+)?: (?P<text>warning: .*)$")
# What the linker, objtool, modpost and Kconfig say.
OTHER = re.compile(r"^(?:.*ld: |WARNING: |.*objtool: |.*warning: )(?P<text>.*)$")


class PrefixError(Exception):
    """A mistake in a prefix, as a sentence."""


def prefixes(start, end):
    """(name, {path: (content, executable)}, paths of this patch) of each prefix.

    The first is the one before start, with which the following is compared.
    """
    names = manifest.series()
    for name in filter(None, (start, end)):
        if name not in names:
            raise PrefixError(f"{name} is not in series")
    parsed = dict(tree.patches())
    scratch = PLACE / "small"
    subprocess.run(["rm", "-rf", scratch], check=True)
    scratch.mkdir(parents=True)
    tree.small(layout.PRISTINE, scratch)
    first = names.index(start) if start else 0
    for name in names[:first]:
        tree.run(["quilt", "push", "-q", "--fuzz=0"], scratch, tree.quilt_env())
    yield (names[first - 1] if first else PRISTINE), tree.files(scratch), None
    for name in names[first:]:
        tree.run(["quilt", "push", "-q", "--fuzz=0"], scratch, tree.quilt_env())
        yield name, tree.files(scratch), [diff.path for diff in parsed[name].diffs]
        if name == end:
            return


def is_built(paths):
    """Whether a kernel is made from one of these; paths: None for all."""
    return paths is None or not all(
        any(fnmatchcase(path, pattern) for pattern in NOT_BUILT) for path in paths)


def warnings(log):
    """What the tools said in a build, without places that move."""
    found = set()
    for line in log.splitlines():
        if match := WARNING.match(line):
            path = match["path"].split("bisect/linux/")[-1].removeprefix("../linux/")
            found.add(f"{path}: {match['text']}")
        elif match := OTHER.match(line):
            found.add(re.sub(r"\+?0x[0-9a-f]+", "", match["text"]))
    return found


class Lane:
    """The kernels of a lane, prefix after prefix."""

    def __init__(self, name):
        self.name = name
        self.out = PLACE / f"bisect-{name}"
        self.granted = set()
        self.warned = set()

    def run(self, command, what):
        """Run one of our scripts on this lane's folder."""
        env = {**os.environ, "OUT": str(self.out), "SOURCE": str(PLACE / "linux")}
        for name in ("ONLY", "MORE", "WITHOUT", "M"):
            env.pop(name, None)
        result = subprocess.run([str(word) for word in command], cwd=layout.TOP, env=env,
                                text=True, errors="replace", check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode:
            raise PrefixError(f"{what} failed:\n{result.stdout[-4000:]}")

    def left_out(self, last):
        """The wishes that this prefix does not grant."""
        wishes = kconfig.parse((self.out / "wishes").read_text())
        got = kconfig.parse((self.out / ".config").read_text())
        granted = {symbol for symbol, value in wishes.items()
                   if got.get(symbol, "n") == value}
        lost = self.granted - granted
        self.granted = granted
        if lost:
            raise PrefixError("a patch before had " + " ".join(sorted(lost)))
        missing = sorted(set(wishes) - granted)
        if missing and last:
            raise PrefixError("the whole series does not give " + " ".join(missing))
        return missing

    def build(self, last, first):
        """(seconds, wishes left out)."""
        begin = time.monotonic()
        # Options come with patches: from the wishes anew.
        (self.out / "wishes").unlink(missing_ok=True)
        self.run([SCRIPTS / "lab/build.sh", self.name], "the build")
        log = (layout.BUILD / f"log/build-{self.out.name}.log").read_text(errors="replace")
        said = warnings(log)
        if first:
            self.warned = said
        elif said - self.warned:
            raise PrefixError("warnings:\n" + "\n".join(sorted(said - self.warned)))
        return time.monotonic() - begin, self.left_out(last)

    def boot(self):
        """Seconds, and what the guest said."""
        self.run([SCRIPTS / "lab/rootfs.sh", self.name], "the root file system")
        result = guest.boot(self.name, self.out / "initrd.gz", "bisect", LIMIT,
                            folder=self.out)
        if problems := result.problems():
            raise PrefixError("it does not boot: " + "\n".join(problems))
        return result.seconds, result.lines()


def note(text):
    """A line for people, now."""
    print(f"# {text}", flush=True)


def one(tap, lane, name, first, last):
    """Build and boot a prefix in a lane; its row in the table."""
    title = f"{lane.name}: {name} builds" + (" and boots" if name != PRISTINE else "")
    try:
        built, missing = lane.build(last, first)
        booted, said = lane.boot() if name != PRISTINE else (0, ["not booted"])
    except (PrefixError, machine.MachineError, OSError) as error:
        tap.result(title, [error])
        return ["FAILED", "", ""]
    tap.result(title, [])
    note(f"built in {built:.0f} s, booted in {booted:.1f} s; " + "; ".join(said))
    if missing:
        note("not there yet: " + " ".join(missing))
    return [f"{built:.0f}", f"{booted:.1f}", len(missing) or ""]


def lane_rows(tap, name, start, end):
    """{patch: row} of a lane."""
    lane, rows = Lane(name), {}
    last = [patch for patch, parsed in tree.patches()
            if is_built([diff.path for diff in parsed.diffs])][-1]
    for patch, files, paths in prefixes(start, end):
        tree.update(PLACE / "linux", layout.PRISTINE, files)
        if not is_built(paths):
            rows[patch] = ["not built", "", ""]
            note(f"{lane.name}: {patch}: nothing that a kernel is built from")
            continue
        rows[patch] = one(tap, lane, patch, paths is None, patch == last)
    return rows


def table(lanes):
    """Patches with what became of them, as comments of TAP."""
    names = list(next(iter(lanes.values())))
    width = max(map(len, names))
    heads = "".join(f" | {lane + ': built s':>18} {'booted s':>8} {'lacks':>5}"
                    for lane in lanes)
    note(f"{'behind patch':<{width}}{heads}")
    for name in names:
        note(f"{name:<{width}}" + "".join(
            " | {:>18} {:>8} {:>5}".format(*rows[name]) for rows in lanes.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", help="a lane")
    parser.add_argument("--from", dest="start", metavar="PATCH", help="the first to look at")
    parser.add_argument("--to", dest="end", metavar="PATCH", help="the last")
    args = parser.parse_args()
    signals.unwind()
    PLACE.mkdir(parents=True, exist_ok=True)
    # There is one tree.
    lock = open(PLACE / "lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    print("TAP version 13")
    tap, lanes = taps.Report(), {}
    try:
        tree.clone(PLACE / "linux")
        for name in args.only or LANES:
            lanes[name] = lane_rows(tap, name, args.start, args.end)
    except (PrefixError, tree.TreeError) as error:
        tap.result("the series can be applied patch by patch", [error])
    if lanes:
        table(lanes)
    print(f"1..{tap.count}")
    sys.exit(1 if tap.failed else 0)


if __name__ == "__main__":
    main()
