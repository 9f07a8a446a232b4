# SPDX-License-Identifier: GPL-2.0
"""What the series does to a kernel tree, worked out on a small one.

Only a few dozen of a kernel's 86,000 files are touched by the series. They
are copied to a small tree, the series is applied there with quilt or git am,
and the result, the overlay, is compared or copied. So a check takes a second,
a series that does not apply harms nobody, and a build tree keeps the time
stamps of every file that did not change.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import layout
import lock
import machine
import manifest
import misfit
import patchfile

# The names of the overlay's files, kept in a tree that it was copied to.
NOTE = ".etch-overlay"

# Without these User-mode Linux does not boot where the processor has more registers than
# it knows of, and they have nothing to do with tracing.
UM_BOOTS = ("um-restore-the-extended-state-whole.patch",
            "um-stop-at-the-mark-of-a-broken-fork.patch")


def um_boots():
    """Those that the series of this base has: a newer kernel needs fewer."""
    return [name for name in manifest.series() if Path(name).name in UM_BOOTS]


class TreeError(Exception):
    """A mistake in a tree or a series, as a sentence."""


def version(tree):
    """(VERSION, PATCHLEVEL, SUBLEVEL) from a kernel's Makefile."""
    makefile = Path(tree) / "Makefile"
    try:
        lines = makefile.read_text(errors="replace").splitlines()[:20]
    except OSError:
        raise TreeError(f"{tree} holds no Makefile: is it a kernel tree?")
    words = dict(line.split(" = ", 1) for line in lines if " = " in line)
    try:
        return tuple(int(words[key])
                     for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))
    except (KeyError, ValueError):
        raise TreeError(f"{makefile} is not a kernel's: no version in it")


def patches():
    """The series' patches, parsed, in order."""
    for name in manifest.series():
        text = (layout.PATCHES / name).read_bytes().decode("utf-8")
        try:
            yield name, patchfile.parse(text)
        except patchfile.PatchError as error:
            raise TreeError(f"patches/{name}: {error}")


def touched():
    """Every path that the series reads or writes."""
    return sorted({diff.path for _, patch in patches()
                   for diff in patch.diffs})


def small(base, into):
    """Copy what the series touches from base to the empty folder into."""
    for path in touched():
        source = Path(base) / path
        if source.is_file():
            target = into / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def run(command, cwd, env=None):
    """Run; a failure becomes a TreeError with the command's own words.

    Nothing of the user's git is in force: no configuration, no hooks, and not the
    repository for which a hook may have called us.
    """
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith("GIT_")}
    result = subprocess.run(command, cwd=cwd, text=True, errors="replace",
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**inherited, "GIT_CONFIG_GLOBAL": "/dev/null",
                                 "GIT_CONFIG_NOSYSTEM": "1", **(env or {})},
                            check=False)
    if result.returncode:
        raise TreeError(result.stdout.strip() or f"{command} failed")
    return result.stdout


def quilt_env(patches=None, series=None):
    """The environment in which quilt finds a series, ours or another, and nothing else."""
    return {"QUILT_PATCHES": str(patches or layout.PATCHES),
            "QUILT_SERIES": str(series or layout.SERIES),
            "QUILTRC": str(layout.TOP / "scripts/series/quiltrc")}


def quilt_push(tree, patches=None, series=None, top=None):
    """Apply the series with quilt, or another one, up to a patch; no fuzz.

    An error says what of the patch does not fit.
    """
    patches, series = patches or layout.PATCHES, series or layout.SERIES
    names = manifest.names(series.read_text())
    if not names:
        return
    try:
        run(["quilt", "push", "-q", "--fuzz=0", top or "-a"], tree,
            quilt_env(patches, series))
    except TreeError as error:
        done = Path(tree) / ".pc/applied-patches"
        count = len(done.read_text().split()) if done.exists() else 0
        name = names[min(count, len(names) - 1)]
        said = misfit.explain(tree, (patches / name).read_text())
        raise TreeError("\n    ".join([f"{name} does not fit:", *said]) if said else error)


# The repository is thrown away: nothing waits for the disk.
WHO = ("-c", "user.name=Etch", "-c", "user.email=etch@example.org",
       "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false",
       "-c", "core.fsync=none", "-c", "gc.auto=0")


# How git finds the name of the function that a hunk is in, as the kernel's own file says it.
ATTRIBUTES = "*.[ch] diff=cpp\n"


def _repository(tree):
    """Make a repository of a tree, with one commit."""
    run(["git", "init", "-q"], tree)
    attributes = Path(tree) / ".git/info/attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text(ATTRIBUTES)
    run(["git", "add", "-A"], tree)
    run(["git", *WHO, "commit", "-q", "--allow-empty", "-m", "base"], tree)


def git_am(tree, mailbox=None):
    """Apply the whole series with git am, to a new repository there.

    mailbox: its text, with a cover letter, in the patches' place.
    """
    _repository(tree)
    names = [str(layout.PATCHES / name) for name in manifest.series()]
    if mailbox is not None:
        file = Path(tree) / ".git/etch.mbox"
        file.write_bytes(mailbox.encode("utf-8"))
        names = ["--empty=drop", str(file)]
    if names:
        run(["git", *WHO, "am", "-q", *names], tree)


def has_quiltimport():
    """Whether this machine's git has the command; some systems package it apart."""
    where = subprocess.run(["git", "--exec-path"], text=True, check=False,
                           stdout=subprocess.PIPE).stdout.strip()
    return bool(where) and (Path(where) / "git-quiltimport").exists()


def git_quiltimport(tree):
    """Apply the whole series with git quiltimport, to a new repository there."""
    _repository(tree)
    run(["git", *WHO, "quiltimport", "--patches", str(layout.PATCHES),
         "--series", str(layout.SERIES)], tree)


def files(tree):
    """{path: (content, executable)} of a small tree, tools' own left out."""
    found = {}
    for file in sorted(Path(tree).rglob("*")):
        path = str(file.relative_to(tree))
        if file.is_file() and path.split("/")[0] not in (".pc", ".git"):
            found[path] = (file.read_bytes(), layout.is_executable(file))
    return found


def overlay(base, scratch, apply=quilt_push):
    """The touched files of base after the series; scratch is emptied."""
    scratch = Path(scratch)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    small(base, scratch)
    apply(scratch)
    return files(scratch)


def put(file, content, executable):
    """Write a file unless it is already so; says whether it wrote.

    A new file takes the old one's place: the tree may share its files with
    the pristine one through hard links.
    """
    if (file.is_file() and file.read_bytes() == content
            and layout.is_executable(file) == executable):
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(file.name + ".etch-new")
    fresh.write_bytes(content)
    fresh.chmod(0o755 if executable else 0o644)
    fresh.replace(file)
    return True


def drop(tree, base, path):
    """Undo an overlay's file: as in base, or gone. True if it changed."""
    file, original = Path(tree) / path, Path(base) / path
    if original.is_file():
        return put(file, original.read_bytes(),
                   layout.is_executable(original))
    if not file.exists():
        return False
    file.unlink()
    for parent in file.parents:         # a folder that only we filled
        if parent == Path(tree) or any(parent.iterdir()):
            break
        parent.rmdir()
    return True


def update(tree, base, wanted):
    """Make tree equal to base with the overlay; the paths that changed."""
    tree = Path(tree)
    note = tree / NOTE
    before = note.read_text().splitlines() if note.exists() else []
    # Names first: an interrupted update is finished by the next one.
    put(note, "\n".join(sorted({*before, *wanted})).encode() + b"\n", False)
    changed = [path for path, (content, executable) in wanted.items()
               if put(tree / path, content, executable)]
    changed += [path for path in before
                if path and path not in wanted and drop(tree, base, path)]
    put(note, "\n".join(sorted(wanted)).encode() + b"\n", False)
    return changed


def clone(place):
    """A copy of the pristine tree that shares its files, unless it is there: all of it."""
    if place.is_dir():
        return
    new = place.with_name(place.name + ".new")
    run(["rm", "-rf", str(new)], layout.BUILD)
    run(["cp", "-al", str(layout.PRISTINE), str(new)], layout.BUILD)
    new.rename(place)


def alone():
    """The lock of those who write to the trees; scripts/lab/fetch.sh has it, too."""
    return lock.alone(layout.BUILD / "lock", "Another make")


def mainline(lane):
    """The folder of mainline's source for a lane; for um, made so that it boots."""
    if machine.lane(lane)["MACHINE"] != "um":
        return layout.PRISTINE
    tree = layout.BUILD / "linux-um"
    with alone(), tempfile.TemporaryDirectory() as scratch:
        small(layout.PRISTINE, Path(scratch))
        for name in um_boots():
            run(["patch", "-p1", "-s", "-F0", "-i", str(layout.PATCHES / name)], scratch)
        clone(tree)
        update(tree, layout.PRISTINE, files(scratch))
    return tree
