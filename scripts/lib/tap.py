# SPDX-License-Identifier: GPL-2.0
"""Test results from TAP, nested or not.

Three kinds of output are read: plain TAP ("ok 1 - name # SKIP why"), the
kselftest runner's, which puts "# " before the lines of each program and gives
it a result line of its own, and KTAP, which indents subtests by two spaces.

This module counts the leaves: a result line whose test had subtests stands for
them and is not counted again, unless it failed while none of them did, as that
of a program that crashed after its last test.

TAP leaves open whether comments on a failed test stand before its result line or
behind it. Of those before it the last few are taken, and if there are none, the
first few behind it. Of a skipped test without a reason, the last one before it is.
Lines with "###" are remarks on the run, not on a test.
"""

import re
import sys

LINE = re.compile(
    r"^(?P<indent>(?:# |  )*)(?P<not>not )?ok\s+\d*\s*(?:- )?(?P<name>.*?)"
    r"(?:#\s*(?P<directive>[A-Za-z]+)(?P<why>.*))?$")
# Where a stream begins; those of subtests are indented.
VERSION = re.compile(r"^K?TAP version \d+")
PLAN = re.compile(r"^(?P<indent>(?:# |  )*)1\.\.(?P<count>\d+)(?P<rest>.*)$")
COMMENT = re.compile(r"^(?!\W*###)\s*#[\s#]*(?P<text>.*?)\s*$")
# What the runner and the harness of kselftests say of each test, failed or not.
FRAME = re.compile(r"(?:RUN|OK|FAIL)\b|\S+: Test (?:failed|terminated)|timeout set to |"
                   r"selftests: |TAP version |Starting \d+ tests|(?:PASSED|FAILED): \d|Totals: ")
COMMENTS = 3        # of a failed test


class Case:
    """One counted result."""

    def __init__(self, name, status, why=""):
        self.name = name
        self.status = status        # "passed", "failed" or "skipped"
        self.why = why

    def __repr__(self):
        return f"{self.status}: {self.name}"


def _status(match):
    """What a result line says."""
    directive = (match["directive"] or "").upper()
    if match["not"]:
        return "failed"
    if directive.startswith(("SKIP", "XFAIL", "TODO")):
        return "skipped"
    return "passed"


def _depth(match):
    """How many levels a line is nested; both indents are two wide."""
    return len(match["indent"]) // 2


class _Level:
    """The results at one depth since its parent's last result."""

    def __init__(self):
        self.cases = []
        self.results = 0
        self.plan = None

    def missing(self):
        """How many planned results never came."""
        if self.plan is None:
            return 0
        return max(self.plan - self.results, 0)


def _close(level, name):
    """The cases of a finished level, its unmet plan among them."""
    cases = list(level.cases)
    if level.missing():
        cases.append(Case(f"{name}: {level.missing()} planned results never "
                          "came", "failed"))
    return cases


def _result(match, inner):
    """The cases that a result line stands for."""
    name = match["name"].strip() or "unnamed"
    status = _status(match)
    why = (match["why"] or "").strip()
    if not inner:
        return [Case(name, status, why)]
    cases = [Case(f"{name}: {case.name}", case.status, case.why)
             for case in inner]
    if status == "failed" and all(c.status != "failed" for c in inner):
        cases.append(Case(f"{name}: failed as a whole", "failed", why))
    return cases


class _Comments:
    """The comments since the last result."""

    def __init__(self):
        self.texts = []
        self.wanting = []       # failed cases without a comment so far

    def add(self, line):
        """Take a line that is no result."""
        match = COMMENT.match(line)
        if not match or not match["text"] or FRAME.match(match["text"]):
            return
        if not self.wanting:
            self.texts.append(match["text"][:200])
        for case in self.wanting:
            case.why += ("; " if case.why else "") + match["text"][:200]
        self.wanting = [case for case in self.wanting if case.why.count("; ") < COMMENTS - 1]

    def explain(self, cases):
        """Give the cases of a result line their comments."""
        self.wanting = [case for case in cases if case.status == "failed" and not case.why]
        if self.texts:
            for case in self.wanting:
                case.why = "; ".join(self.texts[-COMMENTS:])
            self.wanting = []
            for case in cases:
                if case.status == "skipped" and not case.why:
                    case.why = self.texts[-1]
        self.texts = []


def parse(lines):
    """The counted cases of TAP streams, one after the other, in order."""
    streams = [[]]
    for line in lines:
        if VERSION.match(line):
            streams.append([])
        streams[-1].append(line)
    return [case for stream in streams for case in _parse(stream)]


def _parse(lines):
    """The counted cases of one stream."""
    levels = {}
    comments = _Comments()
    for line in lines:
        line = line.rstrip("\r\n")
        plan, match = PLAN.match(line), LINE.match(line)
        if plan:
            level = levels.setdefault(_depth(plan), _Level())
            level.plan = int(plan["count"])
            if not level.plan and "skip" in plan["rest"].lower():
                why = re.sub(r"(?i)^\W*skip\w*\s*", "", plan["rest"])
                level.cases.append(Case("all", "skipped", why))
        elif match:
            depth = _depth(match)
            inner = []
            for below in sorted(d for d in levels if d > depth):
                inner += _close(levels.pop(below), match["name"].strip())
            level = levels.setdefault(depth, _Level())
            level.results += 1
            result = _result(match, inner)
            comments.explain(result)
            level.cases += result
        else:
            comments.add(line)
    cases = []
    for depth in sorted(levels):
        cases += _close(levels[depth], "end")
    return cases


class Report:
    """TAP of our own: numbers results, and remembers whether one failed."""

    def __init__(self):
        self.count = 0
        self.failed = False

    def result(self, name, problems):
        """A test that passes when there are no problems."""
        self.count += 1
        self.failed |= bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.count} - {name}")
        for problem in problems:
            for line in str(problem).splitlines():
                print(f"# {line}")
        sys.stdout.flush()

    def skip(self, name, why):
        """A test that could not be made."""
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}", flush=True)
