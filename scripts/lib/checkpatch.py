# SPDX-License-Identifier: GPL-2.0
"""What the kernel's checkpatch.pl says of a patch, and what of it is passed over."""

import concurrent.futures
import os
import re
import subprocess
import tempfile
from fnmatch import fnmatchcase

import layout

IGNORE = layout.TOP / "scripts/series/checkpatch.ignore"
FINDING = re.compile(r"^(?:(?P<file>\S*?):\d+: )?"
                     r"(?:ERROR|WARNING|CHECK):(?P<type>[A-Z_]+): (?P<text>.*)$")


def ignored(kind, path):
    """Whether scripts/series/checkpatch.ignore passes a finding over."""
    for line in IGNORE.read_text().splitlines():
        words = line.split("#")[0].split(None, 2)
        if (len(words) == 3 and words[0] == kind
                and fnmatchcase(path, words[1])):
            return True
    return False


def problems(name):
    """The errors and warnings about a patch that nothing excuses."""
    command = ["perl", str(layout.PRISTINE / "scripts/checkpatch.pl"),
               f"--root={layout.PRISTINE}", "--strict", "--terse", "--showfile",
               "--show-types", "--no-summary", "-"]
    with open(layout.PATCHES / name, "rb") as patch, \
            tempfile.TemporaryDirectory() as scratch:
        # From a pipe and elsewhere: in this repository it would take the
        # patch for a source file.
        result = subprocess.run(command, stdin=patch, cwd=scratch,
                                check=False, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True,
                                errors="replace")
    lines = result.stdout.splitlines()
    findings = [match for match in map(FINDING.match, lines) if match]
    if result.returncode and not findings:
        return [f"checkpatch did not run: {result.stdout.strip()}"]
    return [match[0] for match in findings
            if not ignored(match["type"], match["file"] or "")]


def of_each(names):
    """Pairs of a patch's name and its problems; as many patches at a time as processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from zip(names, pool.map(problems, names))
