# SPDX-License-Identifier: GPL-2.0
"""The checkers that go through the kernel's build: the compiler and sparse.

They have a folder of their own, build/lint, configured as the lane um is.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import findings
import layout
import machine

LANE = "um"
OUT = layout.BUILD / "lint"
LOGS = layout.BUILD / "log"
FOLDERS = ("kernel/etch", "samples/etch")
HEADERS = ("include/linux/", "kernel/etch/")
# What make prints of an object, and of a source that is checked.
COMPILED = re.compile(r"^  CC (?:\[M\])? +(\S+)\.o$", re.M)
CHECKED = re.compile(r"^  CHECK +(\S+\.c)$", re.M)


class BuildError(Exception):
    """Why nothing could be checked, as a sentence, and what make said."""


def sources():
    """The C files of the kernel's that are ours. The recorder is a program."""
    return {path for path in layout.sources() if path.endswith(".c")
            and os.path.dirname(path) in FOLDERS}


def run(command, env=None):
    """(status, output) of a command; the output of one that lacks is its error."""
    result = subprocess.run([str(word) for word in command], cwd=layout.TOP, text=True,
                            errors="replace", check=False, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**os.environ, **(env or {})})
    return result.returncode, result.stdout


def make(log, *words):
    """What the kernel's make prints in our folder."""
    karch = machine.lane(LANE)["KARCH"]
    status, out = run(["make", "-C", layout.LINUX, f"O={OUT}", f"ARCH={karch}",
                       "CC=ccache gcc", f"-j{os.cpu_count()}", *words],
                      {"CCACHE_BASEDIR": str(layout.BUILD), "CCACHE_NOHASHDIR": "1",
                       "LC_ALL": "C"})
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / log).write_text(out)
    if status:
        raise BuildError(f"make ended with status {status}:\n"
                         + "\n".join(out.splitlines()[-25:]))
    return out


def prepare():
    """The configuration, and what is generated before anything is compiled."""
    status, out = run([layout.TOP / "scripts/build.sh", LANE],
                      {"OUT": str(OUT), "ONLY": "prepare"})
    if status:
        raise BuildError(out)
    # What is up to date is not compiled, and then there is no warning.
    for folder in FOLDERS:
        shutil.rmtree(OUT / folder, ignore_errors=True)


def ours(tool, out):
    """A tool's findings in our files; those in the kernel's are passed over."""
    found = findings.parse(tool, findings.WARNING, out, layout.LINUX.resolve(),
                           OUT.resolve())
    mine = layout.sources()
    return [finding for finding in found if finding.path in mine]


def missing(tool, seen):
    """A finding for each of our sources that a tool was not shown."""
    return [findings.Finding(f"{tool}:not-built", path, 1, "it was not looked at")
            for path in sorted(sources() - seen)]


def compiler():
    """W=1."""
    out = make("lint-compiler.log", "W=1", *(f"{folder}/" for folder in FOLDERS))
    seen = {f"{stem}.c" for stem in COMPILED.findall(out)}
    return ours("gcc", out) + missing("gcc", seen)


def sparse():
    """sparse, on what compiler() has compiled."""
    out = make("lint-sparse.log", "W=1", "C=2", "CHECK=sparse",
               "CF=-fmax-warnings=unlimited", *(f"{folder}/" for folder in FOLDERS))
    root = layout.LINUX.resolve()
    seen = {os.path.relpath((OUT / path).resolve(), root) for path in CHECKED.findall(out)}
    return ours("sparse", out) + missing("sparse", seen)


def headers():
    """The headers that can be included alone. Those below include/trace/ are parts of
    what <trace/define_trace.h> does."""
    return [path for path in layout.sources()
            if path.endswith(".h") and path.startswith(HEADERS)]


def alone():
    """Every header first, and then again."""
    folder = layout.BUILD / "lint-headers"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = []
    for path in headers():
        name = re.sub(r"\W", "_", path)
        path = Path(layout.LINUX).resolve() / path
        (folder / f"{name}.c").write_text(f'#include "{path}"\n#include "{path}"\n')
        names.append(f"{name}.o")
    (folder / "Kbuild").write_text(f"obj-m := {' '.join(names)}\n")
    out = make("lint-headers.log", "-k", "W=1", f"M={folder.resolve()}", *names)
    built = len(list(folder.glob("*.o")))
    found = ours("gcc", out)
    if built != len(names) or not names:
        found.append(f"{built} of {len(names)} headers were compiled")
    return found


def kernel_doc():
    """What kernel-doc says of the comments that are for it."""
    files = [path for path in layout.sources() if path.endswith((".c", ".h"))
             and not path.startswith("tools/")]
    _, out = run(["env", "-C", layout.LINUX, "perl", "scripts/kernel-doc", "-none", "-Wall",
                  *files])
    return out.splitlines() if files else ["there are no files for kernel-doc"]


def headers_check():
    """The kernel's own headers_check.pl, on what is for user space."""
    paths = [path for path in layout.sources() if path.startswith("include/uapi/")]
    status, out = run(["env", "-C", layout.LINUX, "perl", "usr/include/headers_check.pl",
                       "include/uapi", "x86", *paths])
    found = out.splitlines()
    if status and not found:
        found = [f"headers_check.pl ended with status {status}"]
    return found if paths else ["there are none"]


def uapi():
    """User space's headers, as the kernel's usr/include/Makefile tests its own, and
    pedantic."""
    found = []
    paths = [path for path in layout.sources() if path.startswith("include/uapi/")]
    for path in paths:
        status, out = run(["gcc", "-std=c90", "-Wall", "-Wextra", "-pedantic", "-Werror",
                           "-fsyntax-only", "-include", layout.LINUX / path, "-x", "c",
                           "/dev/null"])
        if status:
            found.append(f"{path}:\n{out}")
    return found if paths else ["there are none"]
