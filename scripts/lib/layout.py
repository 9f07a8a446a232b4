# SPDX-License-Identifier: GPL-2.0
"""Where the files of this repository live in the kernel tree, and for which kernel.

The table ROOMS is the whole mapping. Everything that moves sources about
(refresh, sync, the checks) asks here. The kernel is one of scripts/series/bases; builds for
another than the first one are in a folder of their own below build/.
"""

import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PATCHES = TOP / "patches"
MANIFEST = PATCHES / "manifest"
# The folder of the patches that every base has: they hold our own files.
COMMON = "common"


class LayoutError(OSError):
    """Why it cannot be said what files there are, as a sentence."""


def _bases():
    """{version: name of its series}, the default first."""
    rows = map(str.split, (TOP / "scripts/series/bases").read_text().splitlines())
    return {row[0]: row[1] for row in rows if row and not row[0].startswith("#")}


BASES = _bases()
# What all bases share is in here. lib/common.sh gives scripts the folder of one base, and says
# of which.
SHARED = Path(os.environ.get("ETCH_BUILD") or TOP / "build")
if os.environ.get("ETCH_BUILD_OF"):
    SHARED = SHARED.parent


def folder(base):
    """The folder with the builds for a base."""
    return SHARED if base == next(iter(BASES)) else SHARED / base


def choose(base):
    """From now on everything is about this base."""
    global BASE, SERIES, BUILD, PRISTINE, LINUX, DEV
    if base not in BASES:
        raise LayoutError(f"there is no base {base}; scripts/series/bases has: "
                          + " ".join(BASES))
    BASE, SERIES, BUILD = base, TOP / BASES[base], folder(base)
    PRISTINE, LINUX, DEV = BUILD / "linux-pristine", BUILD / "linux", BUILD / "linux-dev"


def carried():
    """The bases that have a series."""
    return [base for base, name in BASES.items() if (TOP / name).is_file()]


BASE = SERIES = BUILD = PRISTINE = LINUX = DEV = None
try:
    choose(os.environ.get("ETCH_BASE") or next(iter(BASES)))
except LayoutError as error:
    sys.exit(f"### error: {error}")

# folder here -> folder in the kernel tree
ROOMS = (
    ("include-trace/", "include/"),
    ("kernel-trace/", "kernel/etch/"),
    ("samples/", "samples/etch/"),
    ("tools/lib/", "tools/lib/etch/"),
    ("tools/", "tools/tracing/etch/"),
    ("selftests/", "tools/testing/selftests/etch/"),
    # Before the next one, which begins alike.
    ("Documentation/ABI/testing/", "Documentation/ABI/testing/"),
    ("Documentation/", "Documentation/trace/etch/"),
    ("scripts/series/coccinelle/", "scripts/coccinelle/etch/"),
)
# Files and folders that are made beside the sources; with git .gitignore names them, or
# a folder's own does.
MADE = ("__pycache__", "out", "etch-record")
# The tool has the name of a folder.
MADE_FILES = ("tools/etch",)
MADE_SUFFIXES = (".o", ".ko", ".mod", ".pyc")

# Folders of the kernel tree that hold only our files.
OWN = tuple(there for here, there in ROOMS if "etch" in there)


def to_kernel(path):
    """The place in the kernel tree of a path of this repository, or None."""
    for here, there in ROOMS:
        if path.startswith(here):
            return there + path[len(here):]
    return None


def to_repo(path):
    """The place here of a path of the kernel tree, or None."""
    for here, there in ROOMS:
        if path.startswith(there):
            return here + path[len(there):]
    return None


def _from_git():
    """Tracked and new files, without those that .gitignore names."""
    rooms = [here for here, _ in ROOMS]
    # A repository of another user's, whose scripts are run here anyway.
    result = subprocess.run(
        ["git", "-c", f"safe.directory={TOP}", "-C", TOP, "ls-files", "-z", "-co",
         "--exclude-standard", "--", *rooms],
        check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        said = result.stderr.decode(errors="replace").strip()
        raise LayoutError(f"git cannot say what files are in {TOP}: {said}. Without its "
                          "folder .git every file there is taken for a source")
    return result.stdout.decode().split("\0")


def _from_walk():
    """Every file, for a copy of the repository that is not a git checkout."""
    for here, _ in ROOMS:
        for path in (TOP / here).rglob("*"):
            name = path.relative_to(TOP)
            if (not set(name.parts) & set(MADE) and str(name) not in MADE_FILES and
                    path.suffix not in MADE_SUFFIXES):
                yield str(name)


def sources():
    """Our own files: {path in the kernel tree: path of the file here}."""
    names = _from_git() if (TOP / ".git").exists() else _from_walk()
    found = {}
    for name in names:
        file = TOP / name
        if name and file.is_file():
            found[to_kernel(name)] = file
    return dict(sorted(found.items()))


def is_executable(file):
    """Whether the owner may execute the file: all that git knows of modes."""
    return bool(os.stat(file).st_mode & 0o100)
