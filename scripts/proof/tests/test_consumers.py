# SPDX-License-Identifier: GPL-2.0
"""The figures of BENCH=consumers."""

import unittest

import consumers
import figures

COUNTS = ["bench: hits 50", "bench: counted perf 50", "bench: stored ftrace 50",
          "bench: stored etch 50"]


def samples(etch, mainline):
    """Rounds of both kernels, each case as dear as the others but the empty one."""
    return {tracer: {(name, "warm"): [3 if name == "empty" else cost]
                     for name in consumers.cases(tracer)}
            for tracer, cost in (("etch", etch), ("mainline", mainline))}


class Consumers(unittest.TestCase):

    def test_each_hit_reached_its_consumer(self):
        consumers.check(COUNTS, "etch")
        consumers.check(COUNTS[:3], "mainline")
        for i, line in enumerate(("bench: hits 51", "bench: counted perf 49",
                                  "bench: stored ftrace 0", "bench: stored etch 25")):
            with self.assertRaises(figures.FigureError, msg=line):
                consumers.check(COUNTS[:i] + [line] + COUNTS[i + 1:], "etch")

    def test_a_line_is_missed(self):
        for i in range(len(COUNTS)):
            with self.assertRaises(figures.FigureError):
                consumers.check(COUNTS[:i] + COUNTS[i + 1:], "etch")
            with self.assertRaises(figures.FigureError):
                consumers.check(COUNTS + COUNTS[i:i + 1], "etch")

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
