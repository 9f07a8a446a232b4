# SPDX-License-Identifier: GPL-2.0
"""The kernel's selftests of ftrace: what they gave, and what they were to give.

Results come from scripts/lab/guest/ftracetest.sh. A test is named by its file in
test.d/ without ".tc", and with " (instance)" behind it if it was run in one. What
its result is to be says, for ftrace's tree, mainline's kernel; for Etch's, the page
scripts/proof/ftracetest/expected.rst: a definition list, whose terms are "RESULT: why" and
whose definitions are the tests.
"""

import re
import shutil
from pathlib import PurePath

import layout
from tap import Case

TESTS = layout.LINUX / "tools/testing/selftests/ftrace"
# The tests for the guest, and which of them are run in Etch's tree.
WORK = layout.BUILD / "ftracetest"
PAGE = layout.TOP / "scripts/proof/ftracetest/expected.rst"
# The same of the tests of probes, which need a kernel that has all kinds of these.
PROBES = layout.TOP / "scripts/proof/ftracetest/probes.rst"
PROBE_FOLDERS = ("dynevent", "kprobe")
INSTANCE = " (instance)"
NOT_RUN = "NOT RUN"
RESULTS = ("PASS", "FAIL", "UNRESOLVED", "UNTESTED", "UNSUPPORTED", "XFAIL",
           "UNDEFINED")

_SEEN = re.compile(r"^ftracetest: ([A-Z]+) (\S+)\.tc( \(instance\))?$")
_LOG = re.compile(r"^    \| (.*)$")
_TERM = re.compile(rf"^({'|'.join(RESULTS)}|{NOT_RUN})(?:: (.*))?$")
_NAME = re.compile(r"``([^`]+)``")


class FtracetestError(Exception):
    """Why results cannot be understood, as a sentence."""


class Seen:
    """What a guest reported: {test: result}, and {test: end of its log}."""

    def __init__(self, lines):
        self.results = {}
        self.logs = {}
        name = None
        for line in lines:
            match, log = _SEEN.match(line), _LOG.match(line)
            if match:
                name = match[2] + (match[3] or "")
                if name in self.results:
                    raise FtracetestError(f"two results of {name}")
                self.results[name] = match[1]
                self.logs[name] = []
            elif log and name:
                self.logs[name].append(log[1])


def page(text):
    """{test or folder: (result, why)} of the page, from its definition list."""
    found, term = {}, None
    for line in text.splitlines():
        match = _TERM.match(line)
        if match:
            term = (match[1], match[2] or "")
            if term[0] != "PASS" and not term[1]:
                raise FtracetestError(f"{match[1]} without a reason")
        elif line and not line.startswith(" "):
            term = None
        elif term:
            for name in _NAME.findall(line):
                if name in found:
                    raise FtracetestError(f"{name} is on the page twice")
                found[name] = term
    return found


def _is_left_out(name, expected):
    """Whether a test, or a folder that it is in, is said not to be run."""
    parts = name.split("/")
    folders = ["/".join(parts[:n]) + "/" for n in range(1, len(parts))]
    return any(expected.get(place, ("",))[0] == NOT_RUN
               for place in [name, *folders])


def unknown(expected, files):
    """Of the tests that there are, those the page says nothing of, and the reverse."""
    run = {name.removesuffix(INSTANCE) for name, (result, _) in expected.items()
           if result != NOT_RUN}
    problems = [f"{name} is not on the page" for name in sorted(files)
                if name not in run and not _is_left_out(name, expected)]
    there = set(files) | {f"{folder}/" for name in files
                          for folder in map(str, PurePath(name).parents)}
    problems += [f"{name} is on the page, but there is no such test"
                 for name in sorted({name.removesuffix(INSTANCE)
                                     for name in expected} - there)]
    return problems


def files(folders=("",)):
    """The tests that the kernel's tree has, or those in some folders."""
    top = TESTS / "test.d"
    return {str(file.relative_to(top).with_suffix("")) for folder in folders
            for file in (top / folder).rglob("*.tc")}


def prepare(expected):
    """The folder that the guest gets."""
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(TESTS, WORK)
    chosen = {name.removesuffix(INSTANCE) for name, (result, _) in expected.items()
              if result != NOT_RUN}
    (WORK / "chosen").write_text(
        "".join(f"test.d/{name}.tc\n" for name in sorted(chosen)))
    return WORK


def _other(name, result, wanted, log):
    """A result that is not the wanted one."""
    tail = "".join(f"\n    | {line}" for line in log)
    return Case(name, "failed", f"{result}, not {wanted}{tail}")


def _left_over(groups, where):
    """A case for what did not pass, and was not to: of each reason one."""
    cases = []
    for (result, why), names in sorted(groups.items()):
        cases.append(Case(f"{where}: {result} as expected", "skipped",
                          f"({len(names)}) {why}: {', '.join(sorted(names))}"))
    return cases


def compare(seen, wanted, where):
    """The cases of a run: each test has the wanted (result, why), or has failed."""
    cases, groups = [], {}
    for name in sorted(set(seen.results) | set(wanted)):
        result = seen.results.get(name, "no result")
        expected, why = wanted.get(name, ("anything known", ""))
        if result != expected:
            cases.append(_other(f"{where}: {name}", result, expected,
                                seen.logs.get(name, [])))
        elif result == "PASS":
            cases.append(Case(f"{where}: {name}", "passed"))
        else:
            groups.setdefault((result, why), []).append(name)
    return cases + _left_over(groups, where)


def in_etch(seen, expected):
    """The cases of a run in Etch's tree."""
    wanted = {name: outcome for name, outcome in expected.items()
              if outcome[0] != NOT_RUN}
    return compare(seen, wanted, "Etch's tree")


def as_mainline(seen, mainline):
    """The cases of a run in ftrace's tree; mainline: {test: result} there."""
    wanted = {name: (result, "in mainline, too") for name, result in mainline.items()}
    return compare(seen, wanted, "ftrace's tree")


def stored(lane):
    """Where it is kept what mainline's kernel of a lane gave."""
    return layout.TOP / f"scripts/proof/ftracetest/mainline-{lane}"


def to_list(results):
    """{test: result} as the text of such a file."""
    return ("# SPDX-License-Identifier: GPL-2.0\n"
            "# What ftrace's selftests gave in mainline's kernel. Written by\n"
            "# scripts/proof/check.py ftracetest-mainline, into build/log/.\n"
            + "".join(f"{result} {name}\n"
                      for name, result in sorted(results.items())))


def from_list(text):
    """The results in such a text."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            result, name = line.split(" ", 1)
            if result not in RESULTS or name in found:
                raise FtracetestError(f"cannot be understood: {line}")
            found[name] = result
    return found


def kept(lane):
    """{test: result} of mainline's kernel, as it is kept; None if it is not."""
    path = stored(lane)
    return from_list(path.read_text()) if path.exists() else None
