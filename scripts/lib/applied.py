# SPDX-License-Identifier: GPL-2.0
"""The series on a user's kernel tree: put on, made newer, taken off.

Nothing is tried in the tree itself. Its files as they were before the series, which quilt
kept below .pc, go to a small tree; there quilt applies the series as it is today; and the
resulting files replace those of the tree, all of them or none (lib/swap.py).

Beside quilt's own files the tree keeps, in KEPT, the series that was put on it. From that
copy this module tells the user's later changes from the series, and takes the series off,
when the patches here are others. A tree from before KEPT has quilt's files alone: then a
file that is newer than its patch counts as changed.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import layout
import manifest
import swap
import tree

# Files that make apply keeps in a tree: a sum of the series, the series, and the earlier
# content of quilt's folder.
SUM = ".pc/etch-series-sum"
KEPT = ".pc/etch"
BEFORE = ".pc/etch/before"
UNCHANGED = "Nothing was changed"


def series_sum(patches=None, series=None):
    """A sum that changes with the series or any of its patches; "" if some are missing."""
    patches, series = patches or layout.PATCHES, series or layout.SERIES
    try:
        total = hashlib.sha256(series.read_bytes())
        for name in manifest.names(series.read_text()):
            total.update((patches / name).read_bytes())
    except OSError:
        return ""
    return total.hexdigest()


class Applied:
    """What quilt has applied to a tree."""

    def __init__(self, kdir):
        self.kdir = kdir
        note, self.sum = kdir / ".pc/applied-patches", kdir / SUM
        self.names = note.read_text().split() if note.is_file() else []
        self.sum = self.sum.read_text().strip() if self.sum.is_file() and self.names else ""

    def is_ours(self):
        """Whether it was make apply; one that was killed, before KEPT, left no sum."""
        return bool(self.sum) or self.names == manifest.series()[:len(self.names)]

    def is_whole_and_new(self):
        """Whether the series is on the tree as it is today."""
        return bool(self.names) and self.sum == series_sum() and \
            self.names == manifest.series()

    def folders(self):
        """quilt's folders with what each patch replaced, in order. The last may be of a patch
        in whose midst quilt was killed: then it is in no list."""
        names = self.names + [name for name in manifest.series() if name not in self.names]
        found = [self.kdir / ".pc" / name for name in names]
        return [folder for folder in found if folder.is_dir()]

    def before(self):
        """{path: file} of what the patches touched, as it was."""
        found = {}
        for folder in self.folders():
            for file in sorted(folder.rglob("*")):
                path = str(file.relative_to(folder))
                if file.is_file() and path != ".timestamp":
                    # To quilt an empty file is one that was not there.
                    kept = swap.read(file)
                    found.setdefault(path, kept if kept[0] else None)
        return found

    def kept(self):
        """(patches, series) that are on the tree, or None where nobody kept them."""
        if self.sum == series_sum():
            return layout.PATCHES, layout.SERIES
        folder = self.kdir / KEPT
        return (folder, folder / "series") if folder.is_dir() else None

    def changed(self, before):
        """The paths that the user changed since."""
        if self.kept() is None:
            return self._newer(before)
        with small_tree() as scratch:
            write(scratch, before)
            try:
                tree.quilt_push(scratch, *self.kept(), top=self.names[-1])
            except tree.TreeError as error:
                raise tree.TreeError(f"{self.kdir}/.pc is not as make apply left it: {error}\n"
                                     f"{UNCHANGED}")
            return [path for path in before
                    if not same(swap.read(scratch / path), swap.read(self.kdir / path))]

    def _newer(self, before):
        """The paths that are gone, or newer than the patch that touched them last."""
        stamps = {}
        for name in self.names:
            folder = self.kdir / ".pc" / name
            stamp = folder / ".timestamp"
            for path in before:
                if (folder / path).is_file() and stamp.exists():
                    stamps[path] = stamp.stat().st_mtime_ns
        return [path for path, stamp in stamps.items()
                if not (self.kdir / path).is_file()
                or (self.kdir / path).stat().st_mtime_ns > stamp]

    def check(self):
        """The files as they were before; an error if the user's changes would be lost."""
        if not self.is_ours():
            raise tree.TreeError(
                f"{self.kdir} has other quilt patches applied, and quilt keeps one series to "
                f"a tree. git am takes ours as well: make mbox BASE={layout.BASE}. {UNCHANGED}")
        self._check_kept()
        before = self.before()
        changed = self.changed(before)
        if changed:
            raise tree.TreeError(
                f"{self.kdir} has the series, and these of its files were changed since:"
                + "".join(f"\n    {path}" for path in changed)
                + f"\n{UNCHANGED}. Save what you need of them. Then this takes the series off, "
                f"and drops these changes: cd {self.kdir} && quilt pop -a -f")
        return before

    def _check_kept(self):
        """An error if there are patches of the user's among ours."""
        folder = self.kdir / KEPT
        other = []
        if folder.is_dir():
            names = manifest.names((folder / "series").read_text())
            other = self.names != names[:len(self.names)] or \
                self.sum != series_sum(folder, folder / "series")
        elif self.sum == series_sum():
            other = self.names != manifest.series()[:len(self.names)]
        if other:
            raise tree.TreeError(
                f"{self.kdir} has the series, and its patches were changed since, or others "
                f"applied beside them. {UNCHANGED}. Save what is yours ({folder} has the "
                f"patches); then: cd {self.kdir} && quilt pop -a")


def same(left, right):
    """Whether two files are equal, as far as git looks at it."""
    if left is None or right is None:
        return left is right
    return left[0] == right[0] and (left[1] ^ right[1]) & 0o100 == 0


@contextlib.contextmanager
def small_tree():
    """A folder outside the user's tree."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)


def write(place, files):
    """Write {path: file} below a folder."""
    for path, file in files.items():
        if file is not None:
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file[0])
            target.chmod(file[1])


def keep(kdir, pc):
    """Put into quilt's folder what goes with the series; quilt pop then finds it there."""
    kept = pc / "etch"
    for name in manifest.series():
        (kept / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(layout.PATCHES / name, kept / name)
    shutil.copyfile(layout.SERIES, kept / "series")
    if (kdir / BEFORE).is_dir():
        shutil.copytree(kdir / BEFORE, kept / "before", symlinks=True)
    elif (kdir / ".pc").is_dir() and not (kdir / SUM).exists() and not Applied(kdir).names:
        shutil.copytree(kdir / ".pc", kept / "before", symlinks=True)
    (pc / "etch-series-sum").write_text(series_sum() + "\n")
    # Relative: the tree stands for itself, wherever it moves.
    (pc / ".quilt_patches").write_text(KEPT + "\n")
    (pc / ".quilt_series").write_text(f"{KEPT}/series\n")


def choose_base(kdir):
    """From now on the series is that for the kernel of this tree, if there is one."""
    base = "{}.{}".format(*tree.version(kdir))
    if base in layout.carried():
        layout.choose(base)


def check_version(kdir):
    """An error if the series is for another kernel."""
    found = tree.version(kdir)
    if "{}.{}".format(*found) != layout.BASE:
        raise tree.TreeError("{} is Linux {}.{}.{}; there is a series for {}. {}".format(
            kdir, *found, " and one for ".join(f"{base}.y" for base in layout.carried()),
            UNCHANGED))


def check_writable(kdir):
    """An error if some folder that the series changes could not be written to."""
    folders = {kdir, kdir / ".pc"}
    for path in tree.touched():
        folders.add((kdir / path).parent)
        if (kdir / path).is_symlink():
            raise tree.TreeError(f"{kdir / path} is a symbolic link, and the series would "
                                 f"change what it points to. {UNCHANGED}")
    for folder in sorted(folders):
        if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
            raise tree.TreeError(f"{folder} cannot be written to: a read-only tree, or another "
                                 f"user's. {UNCHANGED}")


@contextlib.contextmanager
def alone(kdir):
    """Nobody else is at the tree, and nothing half done is there."""
    check_writable(kdir)
    held = os.open(kdir, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        swap.undo(kdir)
        yield
    except BlockingIOError:
        raise tree.TreeError(f"another make apply is at work in {kdir}. {UNCHANGED}")
    except OSError as error:
        raise tree.TreeError(f"{error}. {kdir} is as it was")
    finally:
        os.close(held)


def exchange(kdir, wanted, pc):
    """Give the tree what differs of {path: file}, and quilt's folder."""
    swap.exchange(kdir, {path: file for path, file in wanted.items()
                         if not same(file, swap.read(kdir / path))}, pc)


def put_on(kdir):
    """Apply the series, or put it in the place of an older one. Gives a sentence on it."""
    kdir = Path(kdir)
    check_version(kdir)
    with alone(kdir), small_tree() as scratch:
        there = Applied(kdir)
        if there.is_whole_and_new():
            return f"This series is already applied to {kdir}. {UNCHANGED}."
        if not there.folders() and (kdir / "kernel/etch/Kconfig").exists():
            return f"{kdir} already holds Etch, though not by quilt. {UNCHANGED}."
        before = there.check() if there.folders() else {}
        given = {**{path: swap.read(kdir / path) for path in tree.touched()}, **before}
        write(scratch, {path: given[path] for path in tree.touched()})
        try:
            tree.quilt_push(scratch)
        except tree.TreeError as error:
            raise tree.TreeError(f"the series does not apply to {kdir}:\n{error}\n{UNCHANGED}")
        keep(kdir, scratch / ".pc")
        wanted = {**before, **{path: swap.read(scratch / path) for path in tree.touched()}}
        exchange(kdir, wanted, scratch / ".pc")
    instead = f", in the place of {len(there.names)} of an older series" if there.names else ""
    return f"{len(manifest.series())} patches applied to {kdir}{instead}."


def take_off(kdir):
    """Take the series off, whichever version of it. Gives a sentence on it."""
    kdir = Path(kdir)
    with alone(kdir):
        there = Applied(kdir)
        if not there.folders():
            return f"make apply put no patches on {kdir}, or they are off. {UNCHANGED}."
        before = there.check()
        kept = kdir / BEFORE
        exchange(kdir, before, kept if kept.is_dir() else None)
    return f"{len(there.names)} patches taken off {kdir}."
