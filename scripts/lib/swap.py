# SPDX-License-Identifier: GPL-2.0
"""Files of a tree that change together, or not at all.

All that is new is first laid out in a folder of the tree, STAGE. Then each old file moves
into that folder, and the new one takes its place: renames only, in which a signal is not
heeded. An error takes every step back. A program that was killed leaves the folder, and
with it what the next one needs to take the steps back.

A file is (content, mode). None stands for a file that is not to be there.
"""

import json
import os
import shutil
import signal
from pathlib import Path

STAGE = ".etch-apply"
# The stage of an exchange that is complete.
DONE = ".etch-apply-done"
PLAN = "plan"
# quilt's folder is exchanged like a file.
PC = ".pc"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def read(file):
    """A file's content and mode, or None."""
    file = Path(file)
    if not file.is_file():
        return None
    return file.read_bytes(), file.stat().st_mode & 0o7777


def _own(path, like):
    """What root makes in a user's tree belongs to that user."""
    if os.geteuid() == 0:
        there = os.stat(like)
        os.chown(path, there.st_uid, there.st_gid, follow_symlinks=False)


def _folders(tree, path):
    """The folders of a path in the tree, the outermost first."""
    return [tree / folder for folder in reversed(Path(path).parents[:-1])]


def _lay_out(tree, files, pc):
    """Write what is new below the stage."""
    new = tree / STAGE / "new"
    new.mkdir(parents=True)
    for path, file in files.items():
        if file is not None:
            target = new / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file[0])
            target.chmod(file[1])
            _own(target, tree / path if (tree / path).exists() else tree)
    if pc is not None:
        shutil.copytree(pc, new / PC, symlinks=True)
        for made in (new / PC, *(new / PC).rglob("*")):
            _own(made, tree)
            # quilt takes a file for changed that is newer than this one.
            if made.name == ".timestamp":
                os.utime(made)


def _plan(tree, files, pc):
    """Write what undo() needs to know; from now on it has something to do."""
    staged = [path for path, file in files.items() if file is not None]
    staged += [PC] if pc is not None else []
    made = {str(folder) for path in staged for folder in _folders(tree, path)
            if not folder.exists()}
    fresh = tree / STAGE / "plan.new"
    fresh.write_text(json.dumps({"paths": [*files, PC], "staged": staged,
                                 "made": sorted(made)}))
    fresh.rename(tree / STAGE / PLAN)


def _move(source, target):
    """Rename; the target's folder is made."""
    for folder in reversed(target.parents):
        if not folder.exists():
            folder.mkdir()
            _own(folder, folder.parent)
    source.rename(target)


def _exchange(tree, files, pc):
    """Move the old out and the new in."""
    stage = tree / STAGE
    for path in [*files, PC]:
        if os.path.lexists(tree / path):
            _move(tree / path, stage / "old" / path)
        if os.path.lexists(stage / "new" / path):
            _move(stage / "new" / path, tree / path)
    for path, file in files.items():
        if file is None:
            _remove_empty(reversed(_folders(tree, path)))


def _remove_empty(folders):
    """Remove these folders, up to the first that is in use."""
    for folder in folders:
        if not folder.is_dir() or any(folder.iterdir()):
            return
        folder.rmdir()


def undo(tree):
    """Take back what an exchange did that did not come to its end."""
    stage = Path(tree) / STAGE
    if (stage / PLAN).exists():
        plan = json.loads((stage / PLAN).read_text())
        for path in reversed(plan["paths"]):
            new, old, place = stage / "new" / path, stage / "old" / path, tree / path
            if path in plan["staged"] and os.path.lexists(place) and not os.path.lexists(new):
                _move(place, new)
            if os.path.lexists(old):
                _move(old, place)
        for folder in sorted(plan["made"], reverse=True):
            _remove_empty([Path(folder)])
        (stage / PLAN).unlink()
    for place in (stage, Path(tree) / DONE):
        shutil.rmtree(place, ignore_errors=True)


def exchange(tree, files, pc):
    """Give the tree these files, {path: file}, and quilt's folder pc (None: no such folder).

    An OSError or a signal on the way leaves the tree as it was. Once the renames have begun
    the program's signals are ignored: the end is near.
    """
    tree = Path(tree)
    undo(tree)
    try:
        _lay_out(tree, files, pc)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        _plan(tree, files, pc)
        _exchange(tree, files, pc)
        (tree / STAGE).rename(tree / DONE)
    except BaseException:
        undo(tree)
        raise
    shutil.rmtree(tree / DONE, ignore_errors=True)
