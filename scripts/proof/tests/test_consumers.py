# SPDX-License-Identifier: GPL-2.0
"""The figures of BENCH=consumers."""

import unittest

import consumers
import figures

COUNTS = ["bench: hits perf 50 50", "bench: hits ftrace 50", "bench: stored 50"]


def samples(etch, mainline):
    """Rounds of both kernels, each case as dear as the others but the empty one."""
    return {tracer: {(name, "warm"): [3 if name == "empty" else cost]
                     for name in consumers.CASES}
            for tracer, cost in (("etch", etch), ("mainline", mainline))}


class Consumers(unittest.TestCase):

    def test_each_hit_reached_its_consumer(self):
        consumers.check(COUNTS)
        for i, line in enumerate(("bench: hits perf 50 49", "bench: hits ftrace 51",
                                  "bench: stored 0")):
            with self.assertRaises(figures.FigureError, msg=line):
                consumers.check(COUNTS[:i] + [line] + COUNTS[i + 1:])

    def test_a_line_is_missed(self):
        for i in range(len(COUNTS)):
            with self.assertRaises(figures.FigureError):
                consumers.check(COUNTS[:i] + COUNTS[i + 1:])

    def test_a_case_is_missed(self):
        some = samples(30, 20)
        del some["mainline"]["perf", "warm"]
        with self.assertRaises(figures.FigureError):
            consumers.rows(some, "x86-64")

    def test_how_many_more(self):
        found = consumers.rows(samples(25, 20), "x86-64")
        self.assertEqual(5, consumers.more(found, consumers.CASES["perf"]))
        self.assertNotIn("NOT HELD", consumers.tables("x86-64", found))
        found = consumers.rows(samples(26, 20), "x86-64")
        self.assertIn("NOT HELD", consumers.tables("x86-64", found))


if __name__ == "__main__":
    unittest.main()
