# SPDX-License-Identifier: GPL-2.0
"""Where the files of this repository live in the kernel tree.

The table ROOMS is the whole mapping. Everything that moves sources about
(refresh, sync, the checks) asks here.
"""

import os
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ETCH_BUILD", TOP / "build"))
PATCHES = TOP / "patches"
SERIES = TOP / "series"
MANIFEST = PATCHES / "manifest"
PRISTINE = BUILD / "linux-pristine"
LINUX = BUILD / "linux"
DEV = BUILD / "linux-dev"

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


class LayoutError(OSError):
    """Why it cannot be said what files there are, as a sentence."""

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
