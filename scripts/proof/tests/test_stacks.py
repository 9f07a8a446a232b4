# SPDX-License-Identifier: GPL-2.0
"""Stacks of two kernels are compared whole."""

import unittest

from checks import stacks

MAINLINE = """TAP version 13
# # stack: perf alone kmalloc: __kmalloc alloc_pipe_info
# # stack: perf with a function kmalloc: __traceiter_kmalloc __kmalloc alloc_pipe_info
"""
ETCH = MAINLINE + "# # stack: perf with Etch kmalloc: __kmalloc alloc_pipe_info\n"


class Stacks(unittest.TestCase):
    """What a guest printed, and the verdicts."""

    def failed(self, etch, mainline=MAINLINE, who=frozenset({"perf"})):
        """The names of the failed cases."""
        cases = stacks.compare(stacks.told(mainline.splitlines()),
                               stacks.told(etch.splitlines()), who)
        return [case.name for case in cases if case.status != "passed"]

    def test_lines(self):
        self.assertEqual(stacks.told(ETCH.splitlines())["perf", "with a function", "kmalloc"],
                         ["__traceiter_kmalloc", "__kmalloc", "alloc_pipe_info"])

    def test_equal(self):
        self.assertEqual(self.failed(ETCH), [])

    def test_a_frame_more(self):
        for how in ("alone", "with a function", "with Etch"):
            with self.subTest(how=how):
                self.assertEqual(
                    self.failed(ETCH.replace(f"{how} kmalloc:",
                                             f"{how} kmalloc: __tracestub_kmalloc")),
                    [f"perf, {how}: the stack of kmalloc is mainline's"])

    def test_a_stack_that_is_missing(self):
        self.assertEqual(len(self.failed(MAINLINE)), 1)
        self.assertEqual(len(self.failed("")), 3)
        self.assertEqual(len(self.failed(ETCH, mainline="")), 4)

    def test_somebody_who_told_nothing(self):
        self.assertEqual(self.failed(ETCH, who={"perf", "BPF"}), ["BPF told no stack"])


if __name__ == "__main__":
    unittest.main()
