# SPDX-License-Identifier: GPL-2.0
"""What is made of a benchmark's report."""

import json
import unittest

import enable
import figures
import gate

REPORT = """\
bench: hz 2000000000
bench: sample empty warm 1000 2000 2200 1800
bench: sample off warm 1000 4000
bench: sample off warm 1000 6000 8000
bench: events etch 521
""".splitlines()


def figure(case, tracer, *rounds):
    """A figure of lane um in nanoseconds."""
    return figures.Figure(case, tracer, "um", "ns", rounds)


class Parse(unittest.TestCase):
    """From lines to rounds."""

    def test_nanoseconds_are_ticks_by_the_counters_rate(self):
        found = figures.parse(REPORT)
        self.assertEqual(found["empty", "warm"], [1.0, 1.1, 0.9])

    def test_rounds_go_on_in_the_next_line(self):
        found = figures.parse(REPORT)
        self.assertEqual(found["off", "warm"], [2.0, 3.0, 4.0])

    def test_ticks_need_no_rate(self):
        found = figures.parse(REPORT[1:], in_ticks=True)
        self.assertEqual(found["off", "warm"], [4.0, 6.0, 8.0])

    def test_time_needs_one(self):
        with self.assertRaises(figures.FigureError):
            figures.parse(REPORT[1:])

    def test_a_torn_line_is_an_error(self):
        for line in ("bench: sample off warm 1000",
                     "bench: sample off warm 1000 40[ 1.0] x",
                     "bench: sample off warm 1000 4000 "):
            with self.subTest(line=line):
                with self.assertRaises(figures.FigureError):
                    figures.parse([REPORT[0], line])


class Figures(unittest.TestCase):
    """Medians, differences to the empty loop, ratios."""

    def test_the_median_and_the_spread(self):
        one = figure("a", "etch", 5, 1, 9, 3)
        self.assertEqual((one.median, one.min, one.max), (4, 1, 9))

    def test_half_of_the_rounds_lie_within_the_scatter(self):
        self.assertEqual(figure("a", "etch", 0, 4, 6, 10, 8, 2, 12).scatter, 4)
        self.assertEqual(figure("a", "etch", 7).scatter, 0)

    def test_no_rounds_no_figure(self):
        with self.assertRaises(figures.FigureError):
            figure("a", "etch")

    def test_only_known_units(self):
        with self.assertRaises(figures.FigureError):
            figures.Figure("a", "etch", "um", "furlongs", [1])

    def test_above_the_same_tracers_empty_loop(self):
        found = [figure("empty", "etch", 1), figure("empty", "mainline", 2),
                 figure("site", "etch", 5)]
        self.assertEqual(figures.over(found, found[2], "empty"), 4)
        self.assertIsNone(figures.over(found, found[2], "none such"))

    def test_the_table_compares_with_the_peer(self):
        found = [figure("site", "etch", 1), figure("site", "mainline", 4),
                 figure("alone", "etch", 1)]
        lines = [line.split() for line in
                 figures.table(found, "mainline").splitlines()]
        self.assertEqual([line[-1] for line in lines[1:]], ["0.25", "-", "-"])

    def test_nothing_is_divided_by_nothing(self):
        self.assertIsNone(figures.ratio(1, 0))
        self.assertIsNone(figures.ratio(None, 1))
        self.assertEqual(figures.number(None), "-")

    def test_json(self):
        text = figures.to_json([figure("a", "etch", 1 / 3, 2, 3),
                                figure("b", "mainline", 1)])
        self.assertEqual(json.loads(text), [
            {"case": "a", "tracer": "etch", "lane": "um", "unit": "ns",
             "median": 2, "min": 0.333, "max": 3},
            {"case": "b", "tracer": "mainline", "lane": "um", "unit": "ns",
             "median": 1, "min": 1, "max": 1}])


class Enable(unittest.TestCase):
    """The remarks on the trees."""

    def test_other_events_are_told_of(self):
        lines = ["bench: events etch 9", "bench: events ftrace 9"]
        self.assertEqual(len(enable.remarks_on(lines)), 2)
        lines[1] = "bench: events ftrace 5"
        self.assertTrue(enable.remarks_on(lines)[-1].startswith("NOT "))


class FakeKernel:
    """A kernel as far as the gate's benchmark asks."""

    tracer = "etch"

    def __init__(self, lane, *symbols):
        self.lane = lane
        self.symbols = symbols

    def has(self, symbol):
        return symbol in self.symbols


class Gate(unittest.TestCase):
    """No case goes missing in silence."""

    def lines(self, kernel):
        """A report with a round of each case that is due."""
        return ["bench: hz 1000000000"] + [
            f"bench: sample {name} {how} 1 7"
            for name, how in gate.wanted(kernel)]

    def test_rounds_of_all_boots_are_one_pool(self):
        kernel = FakeKernel("um")
        rounds = gate.pool([self.lines(kernel)] * 3, kernel)
        self.assertEqual(rounds["off", "cold"], [7.0] * 3)

    def test_each_case_that_misses_is_an_error(self):
        for kernel in (FakeKernel("um"), FakeKernel("x86-64", "KPROBES")):
            lines = self.lines(kernel)
            for i in range(1, len(lines)):
                with self.subTest(line=lines[i]):
                    with self.assertRaises(figures.FigureError):
                        gate.pool([lines[:i] + lines[i + 1:]], kernel)

    def test_a_kernel_without_kprobes_is_told_of(self):
        said = gate.remarks_on("um", [FakeKernel("um")])
        self.assertTrue(any("NOT MEASURED" in line for line in said))
        said = gate.remarks_on("x86-64", [FakeKernel("x86-64", "KPROBES")])
        self.assertFalse(any("NOT MEASURED" in line for line in said))

    def test_the_empty_loop_of_a_case(self):
        self.assertEqual(gate.empty("site off (cold)"), "empty loop (cold)")


if __name__ == "__main__":
    unittest.main()
