# SPDX-License-Identifier: GPL-2.0
"""Lanes that run beside others, in rows: those of a row one after the other.

A guest seldom keeps more than one processor busy. So guests in QEMU are a row beside those in
User-mode Linux, which wait most and so get a processor first; and lanes that start no guest and
share no folder with one are two more, at the lowest priority, which take what is left, and both
processors at the end. Each is a check.py of its own, which shows what it does, with the lane's name
before each line, and leaves its cases in a file.
"""

import os
import signal
import subprocess
import sys
import threading
import time

import layout
import priority
import tap
from checks import bases
from checks.lane import LOGS, SCRIPTS

# Without a guest: two rows that take as long, each with the longest first. The harness comes even
# before: its tests sleep most of their time, which costs the guests nothing.
QUIET = (["harness", "lint", "docs"],
         ["model", "ring", "series", "litmus", "series-6.18"])
LANES = [*QUIET[0], *QUIET[1]]
# With guests: no lane of one row has a folder of the other. What both need has a lock.
USER_MODE = ["um", "um-6.18"]
EMULATED = ["x86-64", "ctf-x86-64", "crash-x86-64", "x86-64-6.18"]
COMMAND = (sys.executable, SCRIPTS / "proof/check.py")
# The nice values of rows without a guest, and of the one with QEMU.
LAST, BEHIND = 19, 5


def split(names):
    """(lanes for this process, rows of lanes beside them), of those that were asked for.

    Where there is no other lane, the first row is for this process. Long lanes run alone: nothing
    is known of what they share.
    """
    here = [name for name in names if name not in LANES]
    emulated = [name for name in EMULATED if name in here]
    rest = [name for name in here if name not in emulated]
    if rest and set(rest) <= set(USER_MODE):
        here = rest
    else:
        emulated = []
    rows = [row for row in (emulated, *([name for name in quiet if name in names]
                                        for quiet in QUIET)) if row]
    return (here, rows) if here or not rows else (rows[0], rows[1:])


class Beside:
    """Runs a row in a thread. show: gets each line; command: the words of check.py; nice: what
    its processes and sessions have."""

    def __init__(self, names, show=None, command=COMMAND, nice=0):
        self.names, self.nice = names, nice
        self.command = ["nice", "-n", str(nice), *(str(word) for word in command)]
        self.show = show or self._print
        # {name: (cases, (seconds, CPU seconds))} of those that have ended, and the sum of these.
        self.results, self.cpu = {}, 0.0
        self.lock = threading.Lock()
        self.process, self.stopped = None, False
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    @staticmethod
    def _print(line):
        """One write: others may print at the same time."""
        sys.stdout.write(line)
        sys.stdout.flush()

    def _work(self):
        LOGS.mkdir(parents=True, exist_ok=True)
        for name in self.names:
            try:
                self.results[name] = self._lane(name)
            except OSError as error:
                self.results[name] = ([tap.Case(f"the lane could not run: {error}", "failed")],
                                      (0, 0))

    def _lane(self, name):
        file, begun = LOGS / f"cases-{name}.json", time.monotonic()
        file.unlink(missing_ok=True)
        with self.lock:
            if self.stopped:
                return [tap.Case("the lane was not run", "failed")], (0, 0)
            self.process = subprocess.Popen(
                [*self.command, f"--cases={file}", name], cwd=layout.TOP, text=True,
                errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, start_new_session=True)
            priority.of_session(self.process.pid, self.nice)
        with self.process.stdout as said:
            for line in said:
                self.show(f"{name}: {line}")
        _, status, usage = os.wait4(self.process.pid, 0)
        with self.lock:
            self.process.returncode = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        self.cpu += cpu
        cases = bases.read(file) if file.exists() else [tap.Case(
            f"the lane's check.py ended with status {self.process.returncode} and left no cases",
            "failed")]
        return cases, (time.monotonic() - begun, cpu)

    def wait(self):
        """The results, when all have ended."""
        self.thread.join()
        return self.results

    def stop(self):
        """End the lane that runs, and run no other."""
        with self.lock:
            self.stopped = True
            if self.process and self.process.returncode is None:
                os.killpg(self.process.pid, signal.SIGTERM)
        self.thread.join()


rows = []


def start(wanted):
    """Begin with these rows of lanes."""
    global rows
    rows = [Beside(row, nice=LAST if set(row) <= set(LANES) else BEHIND) for row in wanted]


def cpu():
    """What lanes that have ended took of the processors, in seconds."""
    return sum(row.cpu for row in rows)


def wait():
    """{lane: (cases, (seconds, CPU seconds))}, when all have ended."""
    return {name: result for row in rows for name, result in row.wait().items()}


def stop():
    """At the end of all lanes, also after an error: give up the rest."""
    for row in rows:
        row.stop()
