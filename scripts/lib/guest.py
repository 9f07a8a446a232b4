# SPDX-License-Identifier: GPL-2.0
"""A guest: one boot, from start to verdict.

The guest's report and its console arrive on a pipe each, and are kept in two
files. The verdict rests on the report: it must begin with "guest: boot", and
its last line must be "guest: end 0". A console with trouble, and a time limit
that runs out, are failures too.
"""

import os
import re
import selectors
import signal
import subprocess
import time

import console
import kcsan
import layout
import machine
import tap

BOOT = re.compile(r"^guest: boot (.*)$", re.M)
END = re.compile(r"^guest: end (\d+)\s*\Z", re.M)


class Result:
    """What became of a boot."""

    def __init__(self, report, log, seconds, in_time):
        self.report = report        # text
        self.console = log          # text
        self.seconds = seconds
        self.in_time = in_time

    def problems(self, ours=None):
        """Why the lane has failed: sentences; none if it has not.

        ours: names of functions; data races without one of them are no
        problem of ours, and others_races() gives them.
        """
        others = set()
        if ours is not None:
            others = {race.number for race in kcsan.races(self.console)
                      if not race.is_of(ours)}
        found = []
        if not BOOT.search(self.report):
            found.append("the guest did not boot: no report came")
        if not self.in_time:
            found.append(f"the time limit of {self.seconds:.0f} s ran out")
        end = END.search(self.report)
        if not end:
            found.append("the report broke off before its last line")
        elif end[1] != "0":
            said = self.lines()[-1:]
            why = "".join(f": {line}" for line in said if not tap.LINE.match(line))
            found.append(f"the guest's script ended with status {end[1]}{why}")
        trouble = [f"{what} on the console, line {number}: {line}"
                   for number, what, line in console.scan(self.console)
                   if number not in others]
        return found + trouble[:5]

    def others_races(self, ours):
        """Titles of the data races without a function of ours."""
        return [race.title for race in kcsan.races(self.console)
                if not race.is_of(ours)]

    def lines(self):
        """The report without the lines about the guest itself."""
        return [line for line in self.report.splitlines()
                if not line.startswith("guest: ")]


def _start(name, initrd, append, how):
    """The process, and the reading ends of (report, console)."""
    pipes = [os.pipe(), os.pipe()]
    (report, report_in), (log, log_in) = pipes
    for end in (report_in, log_in):
        os.set_inheritable(end, True)
    try:
        argv, env = machine.command(name, initrd, append, log_in, report_in,
                                    **how)
        # Kept apart: what the program itself says goes with the console.
        process = subprocess.Popen(
            argv, env=env, stdin=subprocess.DEVNULL, stdout=log_in,
            stderr=log_in, pass_fds=(report_in, log_in),
            start_new_session=True)
    finally:
        os.close(report_in)
        os.close(log_in)
    return process, report, log


def _end(process):
    """End what is left of the process and of its own children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _follow(process, sinks, limit):
    """Read until the process is gone; False when the time ran out.

    sinks: {descriptor: function that takes bytes}.
    """
    start = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for descriptor in sinks:
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            gone = process.poll() is not None
            ready = selector.select(0 if gone else 0.2)
            for key, _ in ready:
                data = os.read(key.fd, 65536)
                if data:
                    sinks[key.fd](data)
                else:
                    selector.unregister(key.fd)
            if not selector.get_map() or (gone and not ready):
                return True
            if time.monotonic() - start > limit:
                return False


def boot(name, initrd, script, limit, show=None, append=(), **how):
    """Boot lane name; run scripts/lab/guest/SCRIPT.sh in it; give the Result.

    show: a function that is given the report's bytes as they come.
    limit: seconds.
    how: folder, icount, output and reboots, as machine.command() takes them.
    """
    folder = how.get("folder") or layout.BUILD / name
    began = time.monotonic()
    process, report, log = _start(name, initrd, [f"guest={script}", *append],
                                  how)
    parts = {report: bytearray(), log: bytearray()}

    def keep(descriptor, file, viewer):
        def sink(data):
            parts[descriptor] += data
            file.write(data)
            if viewer:
                viewer(data)
        return sink

    try:
        with open(folder / f"{script}.report", "wb", 0) as report_file, \
                open(folder / f"{script}.console", "wb", 0) as console_file:
            in_time = _follow(process, {
                report: keep(report, report_file, show),
                log: keep(log, console_file, None)}, limit)
    finally:
        _end(process)
        os.close(report)
        os.close(log)
    texts = [bytes(part).decode("utf-8", "replace").replace("\r", "")
             for part in parts.values()]
    return Result(*texts, time.monotonic() - began, in_time)
