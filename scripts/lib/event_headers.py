# SPDX-License-Identifier: GPL-2.0
"""Event headers of a kernel tree, the sources that expand them, and what of it is
in the objects.

A source expands the headers that it includes once CREATE_TRACE_POINTS is defined. No
list says which those are; so a header counts as expanded in an object that was made
with it and has an event or a class which the header names.
"""

import os
import re
import subprocess

import elf

# Folders that are not compiled for the kernel, and headers that are not of events.
NOT_KERNEL = ("tools/", "Documentation/", "scripts/")
NOT_EVENTS = ("include/trace/define_trace.h", "include/trace/define_custom_trace.h",
              "include/trace/etch/")
# A macro in capitals, and the first two names that it is given: class or event.
NAMED = re.compile(r"^[ \t]*[A-Z][A-Z0-9_]*\(\s*(\w+)(?:\s*,\s*(\w+))?", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
EVENT_MACRO = re.compile(r"^[ \t]*(?:TRACE_EVENT|DEFINE_EVENT|DECLARE_EVENT_CLASS)", re.M)
# make's lines: it begins with a file; it has no rule for an object; an object failed.
STEP = re.compile(r"^  [A-Z]+(?: \[M\])? +(\S+)$")
NO_RULE = re.compile(r"No rule to make target '([^']+\.o)'|Nothing to be done for '([^']+\.o)'")
FAILED = re.compile(r"\*\*\* \[[^]]*?([^\s:\]]+\.o)\] Error")
DEPENDS = re.compile(r"^  (?:\$\(wildcard )?(\S+\.h)\)? \\?$", re.M)
# Both tracers' pointers to an event, each in a section of its own.
ETCH = re.compile(r"^etch_event_ptr_(\w+)$")
FTRACE = re.compile(r"^__event_(\w+)$")
EXPANDED = re.compile(r"^etch_(?:event|class|print|fields|write)_(\w+?)(?:\.\w+)*$")
SYSCALL = re.compile(r"^__p_syscall_meta_(\w+)$")


def _grep(tree, pattern, suffix):
    """Paths of the tree's files that have a line like the pattern."""
    out = subprocess.run(["grep", "-rlE", f"--include=*.{suffix}", pattern, "."],
                         cwd=tree, text=True, check=True, stdout=subprocess.PIPE).stdout
    return sorted(path for path in (line[2:] for line in out.splitlines())
                  if not path.startswith(NOT_KERNEL))


def sources(tree):
    """C files in which headers are expanded."""
    return _grep(tree, r"^[ \t]*#[ \t]*define[ \t]+CREATE_TRACE_POINTS", "c")


def headers(tree):
    """{path: names} of headers with events: the names are of events and classes."""
    found = {}
    for path in _grep(tree, r"#[ \t]*include[ \t]+<trace/define_trace\.h>", "h"):
        text = (tree / path).read_text(errors="replace")
        if not path.startswith(NOT_EVENTS) and EVENT_MACRO.search(text):
            found[path] = names(text)
    return found


def names(text):
    """The first two arguments of each macro in a header."""
    text = COMMENT.sub(" ", text)
    return {name for pair in NAMED.findall(text) for name in pair if name}


def steps(log):
    """{file that make made: the lines about it}; make -O keeps these together."""
    said, lines = {}, []
    for line in log.splitlines():
        if step := STEP.match(line):
            lines = said.setdefault(step[1], [])
        else:
            lines.append(line)
    return said


def outcome(log):
    """(objects without a rule, {object that failed: why}) by what make -O said."""
    said = steps(log)
    missing = {one or other for one, other in NO_RULE.findall(log)}
    return missing, {path: "\n".join(said.get(path, ())) for path in FAILED.findall(log)}


def depends(text, out, tree):
    """The headers of the tree in an object's .cmd file; out: where it was built."""
    paths = (os.path.relpath(os.path.join(out, path), tree)
             for path in DEPENDS.findall(text))
    return {path for path in paths if not path.startswith("../")}


class Object:
    """What an object has of events."""

    def __init__(self, path):
        image = elf.Image(path)
        symbols = {symbol.name for symbol in image.symbols}
        calls = set(self._named(SYSCALL, symbols))
        self.etch = self._named(ETCH, symbols)
        # The events of system calls are made by other macros.
        self.ftrace = {name for name in self._named(FTRACE, symbols)
                       if name.partition("_")[0] not in ("enter", "exit")
                       or name.partition("_")[2] not in calls}
        self.names = self.etch | self._named(EXPANDED, symbols)
        section = image.section("_etch_events")
        self.pointers = section.size // 8 if section else 0

    @staticmethod
    def _named(pattern, symbols):
        return {match[1] for match in map(pattern.match, symbols) if match}

    def problems(self):
        """Sentences; none if it has each event of ftrace's for Etch, too."""
        found = []
        if self.pointers != len(self.etch):
            found.append(f"_etch_events has {self.pointers} pointers, "
                         f"and there are {len(self.etch)} events")
        for what, names_ in (("ftrace's but not Etch's", self.ftrace - self.etch),
                             ("Etch's but not ftrace's", self.etch - self.ftrace)):
            if names_:
                found.append(f"{what}: {' '.join(sorted(names_))}")
        return found
