# SPDX-License-Identifier: GPL-2.0
"""The page of one trace in each viewer: its commands, and the one answer that all of them have."""

import os
import re
import sqlite3
import subprocess

import layout

PAGE = layout.TOP / "Documentation/gallery.rst"
_UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def _blocks():
    """The page's examples."""
    return [re.sub(r"(?m)^    ", "", block).strip()
            for block in re.findall(r"(?m)::\n\n((?:    .*\n|\n)+)", PAGE.read_text())]


def _ns(text):
    """Nanoseconds of "1.25 ms"."""
    number, unit = text.split()
    return float(number) * _UNITS[unit]


def _near(one, two):
    """Whether two times are one, as far as they have digits."""
    return abs(one - two) <= 0.01 * max(one, two)


class Gallery:
    """The page's commands, run in a folder beside a trace, in the page's order."""

    def __init__(self, etch, trace, work):
        self.work, self.said, self.wrong = work, {}, []
        work.mkdir()
        (work / "trace").symlink_to(trace)
        (work / "bin").mkdir()
        (work / "bin/etch").symlink_to(etch)
        blocks = _blocks()
        self.commands = [line[2:] for block in blocks for line in block.splitlines()
                         if line.startswith("$ ")]
        for block in blocks:
            if re.match("WITH|SELECT", block):
                (work / "wait.sql").write_text(block)
        for command in self.commands:
            self._run(command)

    def _run(self, command):
        """A command as a user types it."""
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.work, check=False, capture_output=True, text=True,
            errors="replace",
            env={**os.environ, "PATH": f"{self.work}/bin:{os.environ['PATH']}"})
        self.said[command] = done.stdout
        if done.returncode:
            self.wrong.append(f"{command}: status {done.returncode}, {done.stderr[-300:]}")
        elif not (done.stdout or self._made(command)):
            self.wrong.append(f"{command}: it says nothing and makes nothing")

    def _made(self, command):
        """Whether the file behind -o is there."""
        to = re.search(r" -o (\S+)", command)
        path = self.work / to[1] if to else None
        return path and path.exists() and (path.is_dir() or path.stat().st_size)

    def answer(self, begin):
        """What the command printed that begins so."""
        return next(text for command, text in self.said.items() if command.startswith(begin))

    def commands_work(self):
        """Sentences on commands that fail."""
        return self.wrong if len(self.commands) > 12 else [f"only {len(self.commands)} commands"]

    def _worst(self, since, leaving=True):
        """(task, wait, end) of the longest wait, by the page's query, since this event.

        leaving: a task that leaves its CPU after it was woken waits for something else. A wake-up
        may come to a task that has not left yet, and then another one takes its place.
        """
        query = (self.work / "wait.sql").read_text().replace("sched_waking", since)
        lines = [line for line in query.splitlines() if leaving or "'leaves'" not in line]
        if not leaving and len(lines) + 1 != len(query.splitlines()):
            raise ValueError(f"the page's query has another form: {query}")
        query = "\n".join(lines)
        return sqlite3.connect(self.work / "trace.sqlite").execute(query).fetchone()

    def one_answer(self):
        """Sentences on programs that have another worst wait than SQL has, to the nanosecond."""
        tid, wait, end = (int(word) for word in
                          self.answer("sqlite3").splitlines()[1].split("|"))
        wrong = []
        found = re.search(r"worst ([\d.]+ [mun]?s): \S*-(\d+) at ([\d.]+)",
                          self.answer("etch latency"))
        if not found or int(found[2]) != tid or not _near(_ns(found[1]), wait):
            wrong.append(f"etch latency: {found and found[0]} for {wait} ns of {tid}")
        return wrong + self._shown(tid, wait, end) + self._since_wakeup()

    def _since_wakeup(self):
        """The same of those that count from sched_wakeup on."""
        _tid, wait, _end = self._worst("sched_wakeup", leaving=False)
        wrong = []
        found = re.search(r"Maximum Latency: *([\d.]+) usecs", self.answer("trace-cmd"))
        if not found or not _near(float(found[1]) * 1e3, wait):
            wrong.append(f"trace-cmd report -w: {found and found[0]} for {wait} ns")
        tid, wait, _end = self._worst("sched_wakeup")
        # It also counts waits of tasks whose place another one took.
        found = re.findall(r":(\d+) *\|.*?max: *([\d.]+) ms", self.answer("perf sched latency"))
        if not any(int(one) == tid and float(most) * 1e6 >= 0.99 * wait for one, most in found):
            wrong.append(f"perf sched latency: {found[:5]} for {wait} ns of {tid}")
        return wrong

    def _shown(self, tid, wait, end):
        """Sentences on a line of etch show -D that has another wait."""
        waits = [_ns(match[1]) for line in self.answer("etch show").splitlines()
                 for match in [re.search(rf"-{tid} waited ([\d.]+ [mun]?s)", line)] if match]
        return [] if any(_near(each, wait) for each in waits) else [
            f"etch show -D: {waits[:5]} for {wait} ns of {tid} at {end}"]
