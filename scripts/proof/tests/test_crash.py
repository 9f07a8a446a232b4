# SPDX-License-Identifier: GPL-2.0
"""Dumps of records on a console, beside what the file trace had."""

import unittest

import crash

REPORT = """\
guest: boot 6.12.117 x86_64
trace: main
# tracer: etch
#
  sh-39  [000] .....     0.1: tracing_mark_write: mark 1
  sh-39  [000] .....     0.2: tracing_mark_write: mark 2
trace: end
trace: named
  sh-39  [000] .....     0.3: tracing_mark_write: mark 3
trace: end
"""
CONSOLE = """\
[    1.160000] Kernel panic - not syncing: etch_ring_test: as it was asked to
[    1.160000] etch: dump of the main tree, all CPUs: the last 1 records
[    1.160000]   sh-39  [000] .....     0.2: tracing_mark_write: mark 2
[    1.160000] etch: dump of the main tree ends
[    1.160000] etch: dump of named, all CPUs: 1 records
[    1.160000]   sh-39  [000] .....     0.3: tracing_mark_write: mark 3
[    1.160000] etch: dump of named ends
"""


class Result:
    """As guest.Result, as far as it is looked at."""

    def __init__(self, report, console):
        self.report, self.console = report, console


def failed(console, most=1):
    """The names of the cases that failed."""
    return [case.name for case in crash.panic_cases(Result(REPORT, console), most)
            if case.status == "failed"]


class Dumps(unittest.TestCase):
    """Right dumps pass, and wrong ones fail."""

    def test_right(self):
        self.assertEqual(failed(CONSOLE), [])

    def test_line_missing(self):
        text = CONSOLE.replace("[    1.160000]   sh-39  [000] .....     0.3: "
                               "tracing_mark_write: mark 3\n", "")
        self.assertEqual(len(failed(text)), 1)

    def test_other_line(self):
        self.assertEqual(len(failed(CONSOLE.replace("mark 2", "mark 1"))), 1)

    def test_too_few(self):
        self.assertTrue(failed(CONSOLE, 2))

    def test_no_dump(self):
        self.assertEqual(len(failed("[    1.0] as it was asked to\n")), 2)

    def test_twice(self):
        self.assertEqual(len(failed(CONSOLE + CONSOLE)), 1)

    def test_no_end(self):
        self.assertEqual(len(failed(CONSOLE.replace("named ends", "named"))), 1)

    def test_not_wanted(self):
        text = CONSOLE + CONSOLE.replace("the main tree", "a").replace("named", "b")
        self.assertEqual(len(failed(text)), 1)


BUSY = """\
[    2.1] etch: dump of the main tree, CPU 1: the last 2 records
[    2.1]   ls-40  [001] d....     2.001: sched_switch: prev_comm=ls
[    2.1]   a b-41  [001] .....     2.002: sys_enter: NR 1
[    2.1] etch: dump of the main tree ends
"""


class Busy(unittest.TestCase):
    """The dump of one processor of several."""

    def failed(self, console, said="crash on CPU 1\n"):
        """How many cases failed."""
        return sum(case.status == "failed"
                   for case in crash.busy_cases(Result(said, console), 2))

    def test_right(self):
        self.assertEqual(self.failed(BUSY), 0)

    def test_other_processor(self):
        self.assertEqual(self.failed(BUSY, "crash on CPU 0\n"), 1)
        self.assertEqual(self.failed(BUSY.replace("a b-41  [001]", "a b-41  [000]")), 1)

    def test_order(self):
        self.assertEqual(self.failed(BUSY.replace("2.002", "1.002")), 1)

    def test_too_few(self):
        self.assertEqual(self.failed(BUSY.replace("NR 1", "NR 1\n[ 2.1] x").replace("a b-41", "?")), 1)

    def test_none(self):
        self.assertEqual(self.failed(""), 1)
        self.assertEqual(self.failed(BUSY, ""), 1)
