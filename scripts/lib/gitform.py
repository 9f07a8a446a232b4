# SPDX-License-Identifier: GPL-2.0
"""The diffs of the patches as git writes them.

quilt, diff and git lay some hunks differently, and not all of them say behind "@@" in which
function a hunk is. From a repository in which git am applied the series git says what each
patch changed, so that the patches read like those of git format-patch.
"""

import tempfile
from pathlib import Path

import layout
import patchfile
import tree

MARK = "@patch@"
LOG = ("git", "-c", "core.quotePath=false", "log", "--reverse", f"--format=tformat:{MARK}", "-p",
       "--no-renames", "--no-color", "--min-parents=1")


def keeps_its_form(diff):
    """Whether a diff stays as it is: one without context, which git would add."""
    return diff.kind == "edit" and not any(line.startswith(" ") for line in diff.hunks)


def _as_git(patch, said):
    """A patch with the diffs that git shows of its commit."""
    made = patchfile.parse("\n---\n" + said.lstrip("\n")).diffs
    kept = {diff.path: diff for diff in patch.diffs if keeps_its_form(diff)}
    return patchfile.Patch(patch.message, [kept.get(diff.path, diff) for diff in made])


def stale(place):
    """{name: text} of the patches that git would write differently; git am was at work here."""
    commits = tree.run(LOG, place).split(MARK + "\n")[1:]
    patches = list(tree.patches())
    if len(commits) != len(patches):
        raise tree.TreeError(f"git am made {len(commits)} commits of {len(patches)} patches")
    texts = {name: _as_git(patch, said).text()
             for (name, patch), said in zip(patches, commits)}
    return {name: text for name, text in texts.items()
            if (layout.PATCHES / name).read_bytes() != text.encode("utf-8")}


def stale_on(base):
    """The same, on this source."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / "git"
        tree.overlay(base, place, tree.git_am)
        return stale(place)
