# SPDX-License-Identifier: GPL-2.0
"""The verdict on a boot."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import guest

GOOD = "guest: boot 6.12.117 x86_64\nTAP version 13\nok 1 - a\nguest: end 0\n"


def problems(report=GOOD, log="[ 0.0] Linux version\n", in_time=True):
    """The problems of a boot."""
    return guest.Result(report, log, 1.0, in_time).problems()


class Verdict(unittest.TestCase):
    """Each way in which a lane fails."""

    def test_a_good_boot(self):
        self.assertEqual(problems(), [])

    def test_no_boot(self):
        self.assertEqual(len(problems(report="")), 2)

    def test_no_end(self):
        report = GOOD.replace("guest: end 0\n", "")
        self.assertIn("broke off", problems(report)[0])

    def test_an_end_that_is_not_the_last_line(self):
        self.assertIn("broke off", problems(GOOD + "more\n")[0])

    def test_a_bad_status(self):
        self.assertIn("status 3", problems(GOOD.replace("end 0", "end 3"))[0])

    def test_what_a_failing_script_said_last(self):
        report = GOOD.replace("guest: end 0", "ctf: no room\nguest: end 1")
        self.assertEqual(problems(report), ["the guest's script ended with status 1: ctf: no room"])

    def test_a_result_is_no_reason(self):
        report = GOOD.replace("guest: end 0", "not ok 2 b\nguest: end 1")
        self.assertEqual(problems(report), ["the guest's script ended with status 1"])

    def test_time(self):
        self.assertIn("time limit", problems(in_time=False)[0])

    def test_trouble_on_the_console(self):
        log = "[ 1.0] WARNING: CPU: 0 PID: 1 at f\n"
        self.assertIn("a warning", problems(log=log)[0])

    def test_the_guests_own_lines_are_left_out(self):
        lines = guest.Result(GOOD, "", 1.0, True).lines()
        self.assertEqual(lines, ["TAP version 13", "ok 1 - a"])


# A guest that says what number it has, and stays.
BOOT = """
import pathlib, sys
sys.path[:0] = sys.argv[1:2]
import guest, machine, signals
machine.command = lambda name, initrd, append, console, report, **how: (
    ["bash", "-c", f"echo $$ >&{report}; exec sleep 600"], None)
signals.unwind()
guest.boot("um", None, "test", 600, folder=pathlib.Path(sys.argv[2]))
"""


class Signals(unittest.TestCase):
    """A program that is ended ends its guest."""

    def boot(self, folder, **how):
        """(the program, the guest's number)."""
        process = subprocess.Popen([sys.executable, "-c", BOOT,
                                    str(Path(guest.__file__).parent), folder],
                                   stderr=subprocess.DEVNULL, **how)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        report = Path(folder) / "test.report"
        while not report.exists() or not report.read_text().endswith("\n"):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        return process, int(report.read_text())

    def test_each(self):
        for number in signal.SIGTERM, signal.SIGHUP:
            with tempfile.TemporaryDirectory() as folder:
                # Whatever our own caller ignores.
                process, pid = self.boot(folder, preexec_fn=lambda: signal.signal(
                    number, signal.SIG_DFL))
                process.send_signal(number)
                self.assertEqual(process.wait(), 128 + number)
                with self.assertRaises(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def test_one_that_the_caller_ignores_is_ignored(self):
        with tempfile.TemporaryDirectory() as folder:
            process, _ = self.boot(folder, preexec_fn=lambda: (
                signal.signal(signal.SIGHUP, signal.SIG_IGN),
                signal.signal(signal.SIGTERM, signal.SIG_DFL)))
            process.send_signal(signal.SIGHUP)
            time.sleep(0.3)
            self.assertIsNone(process.poll())
            process.terminate()
            self.assertEqual(process.wait(), 128 + signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
