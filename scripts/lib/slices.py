# SPDX-License-Identifier: GPL-2.0
"""Files of ours that grow, patch by patch: a Makefile, a Kconfig.

Each source is to be built by the patch that adds it. So the Makefile begins in one
patch, which patches/manifest names as for every file, and further patches add
paragraphs to it, named behind a bar by their first line, without "# ":

	kernel-trace/Makefile | Clocks
"""

import difflib
import re

import layout
import manifest
import patchfile

START = re.compile(r"^@@ -(\d+)(?:,(\d+))? ")


class Slice:
    """A paragraph that a patch adds to a file."""

    def __init__(self, patch, line):
        words = [word.strip() for word in line.split("|")]
        if len(words) != 2:
            raise manifest.ManifestError(f"patches/manifest: {line}: not understood")
        self.patch = patch
        self.path, self.title = words


def read(entries):
    """{path in this repository: its slices}, from the manifest's entries."""
    found = {}
    for patch, patterns in entries:
        for pattern in patterns:
            if "|" in pattern:
                if patch.partition("/")[0] in layout.BASES:
                    raise manifest.ManifestError(
                        f"patches/manifest: {patch} | {pattern}: a patch of one base cannot add "
                        "to a file that grows, for the patches behind it are common to all")
                one = Slice(patch, pattern)
                found.setdefault(one.path, []).append(one)
    return found


def paragraphs(text):
    """The parts between blank lines; an indented part belongs to the one before."""
    return re.split(r"\n\n(?=\S)", text)


def title(paragraph):
    """A paragraph's first line."""
    return paragraph.split("\n", 1)[0].removeprefix("# ")


def claims(path, text, slices):
    """[(paragraph, its slice or None)] of a file that grows."""
    parts = paragraphs(text)
    titles = [title(part) for part in parts]
    for one in slices:
        if titles.count(one.title) != 1 or sum(other.title == one.title
                                               for other in slices) != 1:
            raise manifest.ManifestError(
                f"patches/manifest: {path} | {one.title}: not one paragraph of the file, "
                "in one patch")
    by_title = {one.title: one for one in slices}
    return [(part, by_title.get(name)) for part, name in zip(parts, titles)]


def stage(parts, done):
    """The file when the patches in done are applied."""
    kept = []
    for part, one in parts:
        if one is not None and one.patch not in done:
            continue
        kept.append(part.rstrip("\n"))
    return "\n\n".join(kept) + "\n"


def stages(path, text, base, slices, order):
    """{patch: the file's text behind it}, where it changes.

    base: the patch that begins the file. order: the series.
    """
    parts = claims(path, text, slices)
    for patch in sorted({one.patch for one in slices}):
        if patch not in order or order.index(patch) < order.index(base):
            raise manifest.ManifestError(f"patches/manifest: {path}: {patch} does not come "
                                         f"behind {base} in series")
    found, last = {}, None
    for number, patch in enumerate(order):
        if number < order.index(base):
            continue
        now = stage(parts, set(order[:number + 1]))
        if now != last:
            found[patch] = now
        last = now
    if last != text:
        raise manifest.ManifestError(f"{path} is not what its slices make: it has to end "
                                     "with one line end")
    return found


def hunks(old, new):
    """The hunks, as lines, from one text to the next."""
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True))
    return [line for line in lines if not line.startswith(("--- ", "+++ "))]


def applied(hunks, old):
    """The text that hunks, given as lines, make of another one; None if they do not fit."""
    have, made, at = patchfile.split_lines(old), [], 0
    for line in hunks:
        if match := START.match(line):
            start = max(int(match[1]) - (match[2] != "0"), 0)
            made += have[at:start]
            at = max(start, at)
        elif line[0] == "+":
            made.append(line[1:])
        elif line[0] == "\\" or have[at:at + 1] != [line[1:]]:
            return None
        else:
            made += [line[1:]] * (line[0] == " ")
            at += 1
    return "".join(made + have[at:])


def grown(entries, order):
    """{path in the kernel tree: {patch: text behind it}} of the files that grow."""
    return {layout.to_kernel(path):
            stages(path, (layout.TOP / path).read_text(), manifest.owner(entries, path),
                   slices, order)
            for path, slices in read(entries).items()}
