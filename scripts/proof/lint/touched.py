# SPDX-License-Identifier: GPL-2.0
"""What of the kernel tree the series touches, and which lines are its own.

A finding about a line that is mainline's, in a file that the series edits, is of the
kind "tool:mainline": an edit can cause it elsewhere in the file, so that it has to be
excused, and what excuses it does not excuse what we write there.
"""

import functools
import subprocess

import findings
import layout
import manifest
import tree

# The kernel's folders that are built whole.
FOLDERS = ("kernel/etch", "samples/etch")


@functools.lru_cache(None)
def paths():
    """Every file, our own and those that patches add or edit."""
    return {path for path in {*manifest.sources(), *tree.touched()}
            if (layout.LINUX / path).is_file()}


def built_whole(path):
    """Whether a source lies in one of FOLDERS, at any depth."""
    return path.startswith(tuple(f"{folder}/" for folder in FOLDERS))


def sources():
    """The kernel's C files among them; of programs, only mainline's."""
    own = manifest.sources()
    return {path for path in paths() if path.endswith(".c")
            and (path not in own or built_whole(path))}


@functools.lru_cache(None)
def added(path):
    """The numbers of the lines of a file that are not mainline's, which has it."""
    result = subprocess.run(["diff", "--old-line-format=", "--unchanged-line-format=",
                             "--new-line-format=%dn\n", layout.PRISTINE / path,
                             layout.LINUX / path],
                            text=True, check=False, stdout=subprocess.PIPE)
    if result.returncode not in (0, 1):
        raise OSError(f"{path} cannot be compared with mainline's")
    return frozenset(map(int, result.stdout.split()))


def mainline(finding):
    """Whether a finding is about a line of mainline's."""
    return ((layout.PRISTINE / finding.path).is_file()
            and finding.line not in added(finding.path))


def told(tool, found):
    """The findings in files that are touched, each of its kind; others are passed over."""
    return [findings.Finding(f"{tool}:mainline", one.path, one.line, one.text)
            if mainline(one) else one for one in found if one.path in paths()]
