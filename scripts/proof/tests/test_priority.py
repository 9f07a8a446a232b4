# SPDX-License-Identifier: GPL-2.0
"""Priorities of sessions."""

import subprocess
import unittest
from pathlib import Path
from unittest import mock

import priority


def value(pid):
    """The nice value of a process's session, or None where the kernel has none."""
    try:
        words = Path(f"/proc/{pid}/autogroup").read_text().split()
    except OSError:
        return None
    return int(words[-1]) if words else None


class Session(unittest.TestCase):
    """A session of a process that sleeps."""

    def setUp(self):
        self.process = subprocess.Popen(["sleep", "60"], start_new_session=True)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.had = value(self.process.pid)

    def test_it_has_the_value(self):
        if self.had is None:
            self.skipTest("this kernel shares the processors among processes alone")
        priority.of_session(self.process.pid, 7)
        self.assertEqual(value(self.process.pid), 7)

    def test_a_kernel_that_is_asked_too_often(self):
        with mock.patch.object(Path, "write_text",
                               side_effect=[BlockingIOError, BlockingIOError, None]) as write:
            priority.of_session(self.process.pid, 7)
        self.assertEqual(write.call_count, 3)

    def test_a_kernel_without_them(self):
        with mock.patch.object(Path, "write_text", side_effect=FileNotFoundError) as write:
            priority.of_session(self.process.pid, 7)
        self.assertEqual(write.call_count, 1)


if __name__ == "__main__":
    unittest.main()
