# SPDX-License-Identifier: GPL-2.0
"""The checkers that go through the kernel's build: the compiler and sparse.

They look at kernels of two architectures, configured as lanes are, each in a folder
of its own. No whole kernel is built: only the files that make generates before it compiles
anything, and the objects that are looked at.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import findings
import layout
import machine
import manifest
import touched

LOGS = layout.BUILD / "log"
HEADERS = ("include/linux/", "kernel/etch/")
# A C file with lines to report; each names the tools that have to report it.
PLANTED = layout.TOP / "scripts/proof/tests/lint/planted.c"
MARK = re.compile(r"/\* BAD: ([\w ]+) \*/$")
# What make prints of an object, and of a source that is checked.
COMPILED = re.compile(r"^  CC (?:\[M\])? +(\S+)\.o$", re.M)
CHECKED = re.compile(r"^  CHECK +(\S+\.c)$", re.M)
SPARSE = ("C=2", "CHECK=sparse", "CF=-fmax-warnings=unlimited")
# No results of another folder's: their warnings have its paths, and would be taken for
# those of files that are not ours.
CACHE = {"CCACHE_BASEDIR": "", "CCACHE_DEPEND": "1", "LC_ALL": "C"}
# Where sources are that one of the kernels has; x86-64's has all others.
PLACES = {"arch/um/": "um", "arch/x86/um/": "um"}


class BuildError(Exception):
    """Why nothing could be checked, as a sentence, and what make said."""


def run(command, env=None):
    """(status, output) of a command; the output of one that lacks is its error."""
    result = subprocess.run([str(word) for word in command], cwd=layout.TOP, text=True,
                            errors="replace", check=False, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**os.environ, **(env or {})})
    return result.returncode, result.stdout


def lane_of(path):
    """The lane of the kernel in which a source outside FOLDERS is looked at."""
    return next((lane for place, lane in PLACES.items() if path.startswith(place)),
                "x86-64")


class Kernel:
    """A configuration, and the sources that each tool has looked at in it."""

    def __init__(self, lane, out, folders=(), more=""):
        self.lane = lane
        self.out = layout.BUILD / out
        self.folders = folders
        self.more = more            # a fragment on top of the lane's
        self.seen = {"gcc": set(), "sparse": set()}

    def sources(self):
        """The sources to look at besides the folders. Programs have Makefiles of their own."""
        return sorted(path for path in touched.sources()
                      if not touched.built_whole(path) and not path.startswith("tools/")
                      and lane_of(path) == self.lane)

    def make(self, log, *words):
        """What the kernel's make prints in our folder."""
        lane = machine.lane(self.lane)
        cross = lane.get("CROSS", "")
        status, out = run(["make", "-C", layout.LINUX, f"O={self.out}",
                           f"ARCH={lane['KARCH']}", f"CROSS_COMPILE={cross}",
                           f"CC=ccache {cross}gcc",
                           f"-j{os.environ.get('JOBS', os.cpu_count())}", "W=1", *words], CACHE)
        LOGS.mkdir(parents=True, exist_ok=True)
        (LOGS / f"{self.out.name}-{log}.log").write_text(out)
        if status:
            raise BuildError(f"make ended with status {status}:\n"
                             + "\n".join(out.splitlines()[-25:]))
        return out

    def prepare(self):
        """Make the configuration, and the files that are generated before compiling."""
        status, out = run([layout.TOP / "scripts/lab/build.sh", self.lane],
                          {"OUT": str(self.out), "ONLY": "prepare", "MORE": self.more})
        if status:
            raise BuildError(out)
        # make would not compile an object that is up to date, and so not warn.
        for folder in self.folders:
            shutil.rmtree(self.out / folder, ignore_errors=True)
        for path in self.sources():
            (self.out / path).with_suffix(".o").unlink(missing_ok=True)

    def targets(self):
        """The targets for make."""
        return [*(f"{folder}/" for folder in self.folders),
                *(f"{path.removesuffix('.c')}.o" for path in self.sources())]

    def parse(self, tool, out, root=layout.LINUX):
        """A tool's findings below a folder."""
        return findings.parse(tool, findings.WARNING, out, root.resolve(),
                              self.out.resolve())

    def compiler(self):
        """W=1, of which kernel-doc is a part."""
        out = self.make("compiler", *self.targets())
        self.seen["gcc"] |= {f"{stem}.c" for stem in COMPILED.findall(out)}
        return touched.told("gcc", self.parse("gcc", out))

    def sparse(self):
        """sparse, on what compiler() has compiled."""
        out = self.make("sparse", *SPARSE, *self.targets())
        root = layout.LINUX.resolve()
        self.seen["sparse"] |= {os.path.relpath((self.out / path).resolve(), root)
                                for path in CHECKED.findall(out)}
        return touched.told("sparse", self.parse("sparse", out))

    def planted(self):
        """Lines that the tools report, or miss, against the marks of a file with mistakes."""
        folder = layout.BUILD / f"{self.out.name}-planted"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copy(PLANTED, folder)
        (folder / "Kbuild").write_text("obj-m := planted.o\n")
        module = (f"M={folder.resolve()}", "planted.o")
        wanted = marked(PLANTED.read_text())
        got = {(one.kind.split(":")[0], one.line)
               for tool, words in (("gcc", ()), ("sparse", SPARSE))
               for one in self.parse(tool, self.make(f"planted-{tool}", *words, *module),
                                     folder)}
        return ([f"line {line}: not reported by {tool}" for tool, line in wanted - got]
                + [f"line {line}: reported by {tool}" for tool, line in got - wanted]
                + ([] if wanted else ["there is no line to report"]))

    def alone(self):
        """Every header first, and then again."""
        folder = layout.BUILD / f"{self.out.name}-headers"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        names = []
        for path in headers():
            name = re.sub(r"\W", "_", path)
            path = Path(layout.LINUX).resolve() / path
            (folder / f"{name}.c").write_text(f'#include "{path}"\n#include "{path}"\n')
            names.append(f"{name}.o")
        # Rooms of kernel/etch/ name headers from there.
        (folder / "Kbuild").write_text(f"obj-m := {' '.join(names)}\n"
                                       "ccflags-y := -I$(srctree)/kernel/etch\n")
        out = self.make("headers", "-k", f"M={folder.resolve()}", *names)
        built = len(list(folder.glob("*.o")))
        found = touched.told("gcc", self.parse("gcc", out))
        if built != len(names) or not names:
            found.append(f"{built} of {len(names)} headers were compiled")
        return found


KERNELS = (Kernel("um", "lint"), Kernel("x86-64", "lint-x86-64", touched.FOLDERS, "lint"))
# With other options, so that the tools see other lines of the same sources.
LONG = Kernel("um", "lint-long", touched.FOLDERS)


def marked(text):
    """(tool, line) of the planted mistakes."""
    return {(who, number) for number, line in enumerate(text.splitlines(), 1)
            if (match := MARK.search(line)) for who in match[1].split()}


def missing():
    """A finding for each source that no kernel had, or that a tool was not shown."""
    found = []
    for tool in ("gcc", "sparse"):
        seen = set().union(*(kernel.seen[tool] for kernel in KERNELS))
        found += [findings.Finding(f"{tool}:not-built", path, 1, "it was not looked at")
                  for path in sorted(touched.sources() - seen)]
    return found


def headers():
    """The headers that can be included alone. Those below include/trace/ are parts of
    what <trace/define_trace.h> does, and a *_class.h is an event header of a test."""
    return [path for path in manifest.sources()
            if path.endswith(".h") and path.startswith(HEADERS)
            and not path.endswith("_class.h")]


def kernel_doc():
    """What kernel-doc says of the comments that are for it."""
    files = [path for path in manifest.sources() if path.endswith((".c", ".h"))
             and not path.startswith("tools/testing/")]
    _, out = run(["env", "-C", layout.LINUX, "perl", "scripts/kernel-doc", "-none", "-Wall",
                  *files])
    return out.splitlines() if files else ["there are no files for kernel-doc"]


def headers_check():
    """The kernel's own headers_check.pl, on the headers for user space."""
    paths = [path for path in manifest.sources() if path.startswith("include/uapi/")]
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
    paths = [path for path in manifest.sources() if path.startswith("include/uapi/")]
    for path in paths:
        status, out = run(["gcc", "-std=c90", "-Wall", "-Wextra", "-pedantic", "-Werror",
                           "-fsyntax-only", "-include", layout.LINUX / path, "-x", "c",
                           "/dev/null"])
        if status:
            found.append(f"{path}:\n{out}")
    return found if paths else ["there are none"]
