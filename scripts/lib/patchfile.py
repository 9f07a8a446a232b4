# SPDX-License-Identifier: GPL-2.0
"""One patch of the series: a mail that git am and quilt both take.

A patch is a message, a line of three dashes, a diffstat, and one diff for
each file. parse() reads any unified diff, quilt's own output included;
Patch.text() writes the one form in which patches are kept here. So reading
and writing a patch that is in that form changes nothing.
"""

import re

HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
STARTS = re.compile(r"^(diff --git |Index: |--- (a/|b/|/dev/null))")


class PatchError(Exception):
    """A mistake in a patch, as a sentence."""


class Diff:
    """The change of one file; path is relative to the kernel tree."""

    def __init__(self, path, kind, hunks, executable=False):
        self.path = path
        self.kind = kind            # "edit", "new" or "delete"
        self.hunks = hunks          # lines, each with its line end
        self.executable = executable

    def counts(self):
        """Lines added and lines removed."""
        added = sum(line.startswith("+") for line in self.hunks)
        removed = sum(line.startswith("-") for line in self.hunks)
        return added, removed

    def mode(self):
        """The file's mode as git writes it."""
        return "100755" if self.executable else "100644"

    def text(self):
        """The diff in git's form, without blob names."""
        old, new = f"a/{self.path}", f"b/{self.path}"
        head = [f"diff --git {old} {new}\n"]
        if self.kind == "new":
            head.append(f"new file mode {self.mode()}\n")
            old = "/dev/null"
        elif self.kind == "delete":
            head.append(f"deleted file mode {self.mode()}\n")
            new = "/dev/null"
        if self.hunks:
            head += [f"--- {old}\n", f"+++ {new}\n"]
        return "".join(head + self.hunks)


class Patch:
    """A message and its diffs."""

    def __init__(self, message, diffs):
        self.message = message
        self.diffs = diffs

    def header(self, name):
        """The value of a mail header such as Subject, or None."""
        match = re.search(rf"^{name}: (.+(?:\n .+)*)", self.message, re.M)
        return match and match.group(1)

    def text(self):
        """The whole patch as it is kept."""
        return (self.message.rstrip("\n") + "\n---\n" + diffstat(self.diffs)
                + "\n" + "".join(diff.text() for diff in self.diffs))


def new_file(path, content, executable):
    """The diff that adds a file with this content."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return Diff(path, "new", [], executable)
    count = "+1" if len(lines) == 1 else f"+1,{len(lines)}"
    hunk = [f"@@ -0,0 {count} @@\n"] + ["+" + line for line in lines]
    if not hunk[-1].endswith("\n"):
        hunk[-1] += "\n"
        hunk.append("\\ No newline at end of file\n")
    return Diff(path, "new", hunk, executable)


def _plus_minus(added, removed, width):
    """The bar of a diffstat, at most width marks long."""
    total = added + removed
    if total > width:
        plus = round(added * width / total)
        plus = max(plus, 1) if added else 0
        minus = max(width - plus, 1) if removed else 0
        added, removed = plus, minus
    return "+" * added + "-" * removed


def diffstat(diffs):
    """What each file gains and loses, then the sum, as git shows it."""
    if not diffs:
        return ""
    name = max(len(diff.path) for diff in diffs)
    added = sum(diff.counts()[0] for diff in diffs)
    removed = sum(diff.counts()[1] for diff in diffs)
    out = []
    for diff in diffs:
        plus, minus = diff.counts()
        bar = _plus_minus(plus, minus, 30)
        out.append(f" {diff.path:<{name}} | {plus + minus:4} {bar}".rstrip())
    files = "file" if len(diffs) == 1 else "files"
    out.append(f" {len(diffs)} {files} changed, {added} insertions(+), "
               f"{removed} deletions(-)")
    for diff in diffs:
        if diff.kind != "edit":
            verb = "create" if diff.kind == "new" else "delete"
            out.append(f" {verb} mode {diff.mode()} {diff.path}")
    return "\n".join(out) + "\n"


def split_lines(text):
    """Lines with their ends; form feeds and the like do not end a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _hunk_end(lines, i):
    """The index behind the hunk that begins at lines[i]."""
    match = HUNK.match(lines[i])
    old = int(match.group(1) or 1)
    new = int(match.group(2) or 1)
    i += 1
    while old > 0 or new > 0:
        if i >= len(lines):
            raise PatchError("a hunk ends before its last line")
        mark = lines[i][:1]
        old -= mark in " -\n"
        new -= mark in " +\n"
        i += 1
    if i < len(lines) and lines[i].startswith("\\"):
        i += 1
    return i


def _strip_name(line):
    """The path in a "--- a/path" or "+++ b/path" line; None: no file."""
    name = line[4:].split("\t")[0].strip()
    return None if name == "/dev/null" else name.split("/", 1)[1]


def _parse_diff(lines, i):
    """One file's diff from lines[i]; gives it and the index behind it."""
    kind, executable, path = "edit", False, None
    while i < len(lines) and not lines[i].startswith("--- "):
        line = lines[i]
        if line.startswith("diff --git "):
            if path is not None:
                break               # the one before has no content
            path = line.split(" b/", 1)[1].strip()
        elif line.startswith(("new file mode ", "deleted file mode ")):
            kind = "new" if line.startswith("new") else "delete"
            executable = line.rstrip().endswith("755")
        i += 1
    if i >= len(lines) or not lines[i].startswith("--- "):
        return Diff(path, kind, [], executable), i
    old, new = _strip_name(lines[i]), _strip_name(lines[i + 1])
    kind = "new" if old is None else "delete" if new is None else "edit"
    start = i = i + 2
    while i < len(lines) and HUNK.match(lines[i]):
        i = _hunk_end(lines, i)
    return Diff(new or old, kind, lines[start:i], executable), i


def parse(text):
    """A patch from its text; its old diffstat is dropped."""
    lines = split_lines(text)
    first = next((i for i, line in enumerate(lines) if STARTS.match(line)),
                 len(lines))
    head = "".join(lines[:first])
    message = re.split(r"^---$\n?", head, maxsplit=1, flags=re.M)[0]
    diffs, i = [], first
    while i < len(lines):
        if not STARTS.match(lines[i]):
            if lines[i].strip() in ("", "--") or lines[i] == "-- \n":
                break               # the signature of a mail
            raise PatchError(f"line {i + 1} is in no hunk: {lines[i]!r}")
        diff, i = _parse_diff(lines, i)
        diffs.append(diff)
    return Patch(message, diffs)
