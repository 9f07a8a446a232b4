# SPDX-License-Identifier: GPL-2.0
"""Why a patch does not fit a tree: which file, which hunk, which line.

patch(1) says "1 out of 3 hunks FAILED". Here the lines that a hunk expects are looked for in
the file, and the first that differs is named.
"""

import re
from pathlib import Path

import patchfile

WHERE = re.compile(r"^@@ -(\d+)")


class Hunk:
    """One hunk: the lines it expects, and those it leaves."""

    def __init__(self, lines):
        self.start = max(int(WHERE.match(lines[0]).group(1)) - 1, 0)
        self.old = [line[1:] for line in lines[1:] if line[0] in " -"]
        self.new = [line[1:] for line in lines[1:] if line[0] in " +"]


def hunks(diff):
    """The hunks of one file's diff."""
    starts = [i for i, line in enumerate(diff.hunks) if patchfile.HUNK.match(line)]
    return [Hunk(diff.hunks[start:end])
            for start, end in zip(starts, starts[1:] + [len(diff.hunks)])]


def places(have, want):
    """Where in the lines of a file these lines stand."""
    return [at for at in range(len(have) - len(want) + 1)
            if have[at:at + len(want)] == want]


def nearest(have, hunk):
    """Where most of the hunk's lines stand, and how many of them do."""
    def score(at):
        same = sum(a == b for a, b in zip(have[at:], hunk.old))
        return same, -abs(at - hunk.start)

    at = max(range(max(len(have), 1)), key=score)
    return at, score(at)[0]


def shown(line):
    """A line as it is quoted."""
    return f'"{" ".join(line.split())}"' if line.strip() else "an empty line"


def reason(have, hunk):
    """Why a hunk that fits nowhere does not."""
    if hunk.new != hunk.old and places(have, hunk.new):
        return "what it makes is there already"
    at, same = nearest(have, hunk)
    if not same:
        return "none of the lines that it expects is there"
    for i, want in enumerate(hunk.old):
        got = have[at + i] if at + i < len(have) else None
        if got is None:
            return f"the file ends where it expects {shown(want)}"
        if got != want and got.split() == want.split():
            return f"line {at + i + 1} differs in white space from {shown(want)}"
        if got != want:
            return f"line {at + i + 1} is {shown(got)} where it expects {shown(want)}"
    return "its lines stand only before those of the hunk above it"


def of_file(tree, diff):
    """The parts of one file's diff that do not fit, as sentences."""
    file = Path(tree) / diff.path
    if diff.kind == "new":
        return [f"{diff.path}: the patch adds this file, and it is there already"] \
            if file.exists() else []
    if not file.is_file():
        return [f"{diff.path}: the patch changes this file, and it is not there"]
    have = patchfile.split_lines(file.read_bytes().decode("utf-8", "replace"))
    found, behind, every = [], 0, hunks(diff)
    for number, hunk in enumerate(every, 1):
        fits = [at for at in places(have, hunk.old) if at >= behind]
        if fits:
            behind = min(fits, key=lambda at, hunk=hunk: abs(at - hunk.start)) + len(hunk.old)
        else:
            found.append(f"{diff.path}, hunk {number} of {len(every)} (line "
                         f"{hunk.start + 1} in the patch): {reason(have, hunk)}")
    return found


def explain(tree, text):
    """The parts of a patch, given as text, that do not fit, as sentences; [] if all seem to."""
    return [line for diff in patchfile.parse(text).diffs for line in of_file(tree, diff)]
