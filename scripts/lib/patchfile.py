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


# How wide a line of a diffstat may be in a mail of git's.
STAT_WIDTH = 72


def _scaled(count, width, most):
    """A count of lines as a number of marks, if most of them are to take width."""
    return 1 + count * (width - 1) // most if count else 0


def _bar(added, removed, width, most):
    """The marks behind a file's count, as git draws them."""
    if width <= most:
        total = _scaled(added + removed, width, most)
        if total < 2 and added and removed:
            total = 2
        if added < removed:
            added = _scaled(added, width, most)
            removed = total - added
        else:
            removed = _scaled(removed, width, most)
            added = total - removed
    return "+" * added + "-" * removed


def _widths(longest, most, digits):
    """(columns for the names, columns for the marks) of a diffstat."""
    names, marks = longest, most
    room = STAT_WIDTH - digits - 6
    if names + marks > room:
        marks = min(marks, max(STAT_WIDTH * 3 // 8 - digits - 6, 6))
        if names > room - marks:
            names = room - marks
        else:
            marks = room - names
    return names, marks


def _short(path, width):
    """A path's end, where there is no room for it all."""
    if len(path) <= width:
        return path
    end = path[len(path) - max(width - 3, 0):]
    return "..." + end[max(end.find("/"), 0):]


def totals(files, added, removed):
    """The last line of a diffstat."""
    words = [f" {files} file{'' if files == 1 else 's'} changed"]
    if added or not removed:
        words.append(f"{added} insertion{'' if added == 1 else 's'}(+)")
    if removed or not added:
        words.append(f"{removed} deletion{'' if removed == 1 else 's'}(-)")
    return ", ".join(words) + "\n"


def diffstat(diffs):
    """What each file gains and loses, then the sum, as git format-patch shows it."""
    if not diffs:
        return ""
    counts = [diff.counts() for diff in diffs]
    most = max(map(sum, counts))
    digits = len(str(most))
    names, marks = _widths(max(len(diff.path) for diff in diffs), most, digits)
    out = []
    for diff, (added, removed) in zip(diffs, counts):
        line = f" {_short(diff.path, names):<{names}} | {added + removed:{digits}} "
        out.append((line + _bar(added, removed, marks, most)).rstrip() + "\n")
    out.append(totals(len(diffs), sum(added for added, _ in counts),
                      sum(removed for _, removed in counts)))
    for diff in diffs:
        if diff.kind != "edit":
            verb = "create" if diff.kind == "new" else "delete"
            out.append(f" {verb} mode {diff.mode()} {diff.path}\n")
    return "".join(out)


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
