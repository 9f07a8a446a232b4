# SPDX-License-Identifier: GPL-2.0
"""Kernels built ahead of their lanes, with what other lanes leave of the processors.

User-mode Linux and much that looks at sources use one processor. Meanwhile the kernels
of later lanes are built, one after the other and at the lowest priority. A lane that
wants its kernel waits until it is there: from then on the build has the priority of that
lane, for other lanes may run beside it all the time.
"""

import contextlib
import os
import signal
import subprocess
import threading

import layout
import priority
from checks.lane import LOGS, SCRIPTS, need, say, LaneError

# By the first lane that needs them: the kernels, each with "BASE/" before its name if it is one
# of another base; and the packages that fetch.sh gets for them, or a function that fetches.
KERNELS = {"x86-64": (["x86-64"], None), "arm64-bare": (["arm64-bare"], "arm64-guest")}
# Seconds between two signs of life while a lane waits.
PATIENCE = 30


class Builder:
    """Builds kernels in a thread. command: the words that build one, but for its name."""

    def __init__(self, names, command=("nice", "-n", "19", SCRIPTS / "lab/build.sh")):
        self.command = [str(word) for word in command]
        self.status = {}
        self.done = {name: threading.Event() for name in names}
        self.lock = threading.Lock()
        self.process = None
        self.stopped = False
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        LOGS.mkdir(parents=True, exist_ok=True)
        for name in self.done:
            self.log(name).unlink(missing_ok=True)
        for name, done in self.done.items():
            self.status[name] = "it was not tried"
            try:
                with open(self.log(name), "w") as log:
                    self.status[name] = self._build(name, log)
            except OSError as error:
                self.status[name] = error
            finally:
                done.set()

    def _build(self, name, log):
        """The status of the command, which stop() may end."""
        with self.lock:
            if self.stopped:
                return "stopped"
            base, _, kernel = name.rpartition("/")
            self.process = subprocess.Popen(
                [*self.command, kernel], cwd=layout.TOP, stdout=log,
                env={**os.environ, "ETCH_BASE": base or layout.BASE},
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                start_new_session=True)
            priority.of_session(self.process.pid, 19)
        return self.process.wait()

    @staticmethod
    def log(name):
        """The file with the messages of a kernel's build."""
        return LOGS / f"ahead-{name.replace('/', '-')}.log"

    def said(self, name):
        """The text of the log; empty if the kernel's turn has not come."""
        log = self.log(name)
        return log.read_text() if log.exists() else ""

    def wait(self, name):
        """Return when a kernel is built, or if it is none of these. May raise LaneError."""
        done = self.done.get(name)
        if done is None:
            return
        if not done.is_set():
            say(f"Waiting for the kernel of lane {name}, which is being built.")
            self.hurry()
        while not done.wait(PATIENCE):
            # The builder may have begun with another kernel.
            self.hurry()
            print((self.said(name).splitlines() or ["    not begun"])[-1], flush=True)
        if self.status[name]:
            raise LaneError(f"the kernel of lane {name} could not be built "
                            f"({self.status[name]}):\n"
                            + self.said(name)[-4000:])

    def hurry(self):
        """Give the build the waiting lane's priority; only root may do so to processes."""
        with self.lock:
            if self.process and self.process.poll() is None:
                nice = os.getpriority(os.PRIO_PROCESS, 0)
                priority.of_session(self.process.pid, nice)
                with contextlib.suppress(PermissionError, ProcessLookupError):
                    os.setpriority(os.PRIO_PGRP, self.process.pid, nice)

    def stop(self):
        """Give up what is not built yet."""
        with self.lock:
            self.stopped = True
            if self.process and self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGTERM)
        self.thread.join()


builder = Builder(())


def start(lanes):
    """Begin to build what these lanes need, but for the first, which needs it now."""
    global builder
    names, fetched = [], [None]
    for kernels, packages in (KERNELS[lane] for lane in lanes[1:] if lane in KERNELS):
        try:
            if callable(packages) and packages not in fetched:
                packages()
            elif packages not in fetched:
                need([SCRIPTS / "lab/fetch.sh", packages])
        except LaneError:
            # The lane tries it again, and fails of it.
            continue
        fetched.append(packages)
        names += kernels
    builder = Builder(names)


def wait(name):
    """Wait for a lane's kernel if the builder has it, before the lane builds it."""
    builder.wait(name)


def stop():
    """At the end of all lanes, also after an error: give up the rest."""
    builder.stop()
