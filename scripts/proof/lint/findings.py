# SPDX-License-Identifier: GPL-2.0
"""The findings of checkers about our sources, and the excuses for some of them.

A finding has a kind, "tool:what": the tool's own name for it, where it has one.
Places are paths in the kernel tree for the files that go there, and in this repository
for the rest.
"""

import os
import re
from fnmatch import fnmatchcase

# "PATH:LINE:COLUMN: warning: TEXT [-Wname]", by the compiler and by sparse, and without
# a column by the kernel-doc that is run with W=1.
WARNING = re.compile(r"^(?P<path>[^\s:]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?"
                     r"(?:warning|error): (?P<text>.*?)(?: \[(?P<type>-W[^\]]*)\])?$")
# "PATH:LINE:FROM-TO: TEXT"
COCCINELLE = re.compile(r"^(?P<path>[^\s:]+):(?P<line>\d+):\d+-\d+: (?P<text>.*)$")
SPELLING = re.compile(r"^(?P<path>[^:]+):(?P<line>\d+): (?P<text>(?P<type>\S+) ==> .*)$")
# "PATH:LINE:COLUMN: note: TEXT [SCnumber]"
SHELL = re.compile(r"^(?P<path>[^:]+):(?P<line>\d+):\d+: \w+: "
                   r"(?P<text>.*) \[(?P<type>SC\d+)\]$")
PYTHON = re.compile(r"^(?P<path>[^:]+):(?P<line>\d+):(?:\d+:?)? (?P<text>.*)$")


class Finding:
    """What a tool says about a line."""

    def __init__(self, kind, path, line, text):
        self.kind = kind
        self.path = path
        self.line = line
        self.text = text

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text} ({self.kind})"


def parse(tool, form, text, root=None, base=None):
    """Findings in what a tool printed, each once.

    form: one of the expressions above. root: the folder that places are below, as
    they are named from the folder base.
    """
    found = {}
    for match in filter(None, map(form.match, text.splitlines())):
        path = match["path"]
        if root is not None:
            path = os.path.relpath(os.path.normpath(os.path.join(base or root, path)), root)
        what = match.groupdict().get("type")
        finding = Finding(f"{tool}:{what}" if what else tool, path, int(match["line"]),
                          match["text"])
        found.setdefault(str(finding), finding)
    return list(found.values())


class Excuse:
    """A line of the file of excuses."""

    def __init__(self, number, kind, pattern):
        self.number = number
        self.kind = kind
        self.pattern = pattern
        self.needed = False

    def covers(self, finding):
        """Whether it is for this finding."""
        return self.kind == finding.kind and fnmatchcase(finding.path, self.pattern)


class Excuses:
    """The file of excuses, which remembers what was needed of it."""

    def __init__(self, text):
        self.excuses = []
        self.wrong = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split(None, 2)
            if not words or words[0].startswith("#"):
                continue
            if len(words) < 3:
                self.wrong.append(f"line {number} gives no reason")
                continue
            self.excuses.append(Excuse(number, *words[:2]))

    def left(self, findings):
        """The findings that nothing excuses."""
        left = []
        for finding in findings:
            covers = [one for one in self.excuses if one.covers(finding)]
            for one in covers:
                one.needed = True
            if not covers:
                left.append(finding)
        return left

    def problems(self, elsewhere=()):
        """Lines that say too little, and excuses that no finding needs.

        elsewhere: the kinds of findings that another lane looks for.
        """
        return self.wrong + [f"line {one.number}: nothing needs the excuse for "
                             f"{one.kind} in {one.pattern}"
                             for one in self.excuses
                             if not one.needed and one.kind not in elsewhere]
