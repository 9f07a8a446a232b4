#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every event header of the kernel, expanded: compiled, not booted. Prints TAP.

  headers.py [ARCHITECTURE...]

For each architecture (default: all in ARCHITECTURES) that is allmodconfig's kernel, and
of it the objects of the sources in which event headers are expanded. What one
architecture has compiled, the next ones need not. An object must have each of
ftrace's events for Etch, too; a header must have been expanded in one of the objects.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import elf
import event_headers
import kbuild
import layout
import machine
import tap as taps

# 64 bits and little-endian, as Etch needs it, and Debian has a compiler.
ARCHITECTURES = ("x86-64", "arm64", "riscv", "powerpc")
LOGS = layout.BUILD / "log"
# An object that another folder's makefile builds, by the name that this makefile has for
# it; and an object whose source is included by that of another object.
NAMED = {"drivers/gpu/drm/amd/display/amdgpu_dm/amdgpu_dm.o":
         "drivers/gpu/drm/amd/amdgpu/../display/amdgpu_dm/amdgpu_dm.o",
         "kernel/sched/ext.o": "kernel/sched/build_policy.o"}
# Lines about an object that failed.
SHOWN = 12


class BuildError(Exception):
    """Why nothing could be compiled: the end of what the build printed."""


def build(lane, only=None):
    """Call build.sh; gives (status, make's log)."""
    words = {"ONLY": only} if only else {}
    command = ["env", *(f"{key}={value}" for key, value in words.items()),
               str(layout.TOP / "scripts/lab/build.sh"), lane]
    result = subprocess.run(command, text=True, check=False, errors="replace",
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    log = LOGS / f"build-{lane}.log"
    if not log.exists():
        raise BuildError(result.stdout)
    return result.returncode, log.read_text(errors="replace")


class Architecture:
    """What became of the sources that were to be compiled for one."""

    def __init__(self, name, sources):
        self.name = name
        self.lane = f"headers-{name}"
        self.out = layout.BUILD / self.lane
        self.objects = {}           # {source: event_headers.Object}
        self.depends = {}           # {source: headers}
        self.problems = {}          # {source: sentences}
        self.empty = set()          # sources without an event here
        self._compile(sources)

    def _compile(self, sources):
        status, log = build(self.lane)
        if status:
            raise BuildError("\n".join(log.splitlines()[-25:]))
        paths = {source: source.removesuffix(".c") + ".o" for source in sources}
        wanted = {NAMED.get(path, path): source for source, path in paths.items()}
        status, log = build(self.lane, " ".join(["-k", "-O", *wanted]))
        missing, failed = event_headers.outcome(log)
        auto = (self.out / "include/config/auto.conf").read_text()
        makefiles = kbuild.Tree(layout.LINUX, kbuild.symbols(auto))
        for path, source in wanted.items():
            if path in failed and not makefiles.configured(path):
                continue            # tried all the same, and not for this one
            if path in failed:
                lines = failed[path].splitlines()
                self.problems[source] = ["\n".join(lines[:SHOWN])]
            elif path in missing or not (self.out / path).exists():
                continue
            else:
                self._look_at(source, self.out / path)
        if status and not failed and not missing:
            raise BuildError("\n".join(log.splitlines()[-25:]))

    def _look_at(self, source, path):
        try:
            found = event_headers.Object(path)
        except elf.ElfError as error:
            self.problems[source] = [error]
            return
        note = path.with_name(f".{path.name}.cmd").read_text()
        self.depends[source] = event_headers.depends(note, self.out, layout.LINUX)
        self.objects[source] = found
        if found.problems():
            self.problems[source] = found.problems()
        elif not found.etch:
            self.empty.add(source)

    def expanded(self, header, names):
        """The first source in which a header was expanded, or None."""
        for source, found in self.objects.items():
            if (header in self.depends[source] and names & found.names
                    and source not in self.problems):
                return source
        return None


def folder_of_another(path, name):
    """Is it below arch/, and not of this architecture?"""
    if not path.startswith("arch/"):
        return False
    karch = machine.lane(f"headers-{name}")["KARCH"]
    return not path.startswith(f"arch/{'x86' if karch == 'x86_64' else karch}/")


def compile_all(tap, names):
    """Each source for the first architecture that has it; gives what was compiled."""
    left, compiled = set(event_headers.sources(layout.LINUX)), []
    for name in names:
        wanted = sorted(source for source in left
                        if not folder_of_another(source, name))
        arch = Architecture(name, wanted)
        compiled.append(arch)
        for source in wanted:
            problems = arch.problems.get(source, [])
            if problems or source in arch.objects and source not in arch.empty:
                tap.result(f"{name}: {source}", problems)
                left.discard(source)
    for source in sorted(left):
        tap.skip(source, "no event in it for " + ", ".join(names))
    return compiled


def check_headers(tap, compiled):
    """Each header, by the objects."""
    for header, names in event_headers.headers(layout.LINUX).items():
        if any(arch.expanded(header, names) for arch in compiled):
            tap.result(header, [])
        elif any(header in arch.depends.get(source, ()) and source in arch.problems
                 for arch in compiled for source in arch.objects):
            tap.result(header, ["the objects with it are not as they should be"])
        else:
            tap.skip(header, "nothing expands it for "
                     + ", ".join(arch.name for arch in compiled))


def main():
    names = sys.argv[1:] or ARCHITECTURES
    unknown = [name for name in names if name not in ARCHITECTURES]
    if unknown:
        sys.exit(__doc__)
    tap = taps.Report()
    print("TAP version 13")
    try:
        check_headers(tap, compile_all(tap, names))
    except BuildError as error:
        tap.result("the objects can be compiled", [error])
    print(f"1..{tap.count}")
    sys.exit(1 if tap.failed else 0)


if __name__ == "__main__":
    main()
