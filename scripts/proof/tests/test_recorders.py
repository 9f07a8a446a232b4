# SPDX-License-Identifier: GPL-2.0
"""The figures of BENCH=recorders."""

import unittest

import figures
import recorders


def report(lane, etch, peer, missing=0):
    """What a guest prints: each round, of ten records."""
    lines = ["bench: hz 1000000000"]
    rounds = recorders.RUNS[lane]["rounds"]
    lines += [f"bench: sample record etch-record 10 {etch}"] * (rounds - missing)
    lines += [f"bench: sample record trace-cmd 10 {peer}"] * rounds
    return lines


class Recorders(unittest.TestCase):

    def said(self, lane, etch, peer):
        """The verdict on two recorders."""
        counts = lane != "um"
        found = recorders.rows(figures.parse(report(lane, etch, peer), counts), lane)
        return recorders.tables(lane, found)

    def test_a_round_is_missed(self):
        with self.assertRaises(figures.FigureError):
            recorders.rows(figures.parse(report("um", 500, 3000, missing=1)), "um")

    def test_time_is_held_to_a_limit(self):
        self.assertIn(": held", self.said("um", 600, 3000))
        self.assertIn("NOT HELD", self.said("um", 610, 3000))

    def test_instructions_are_held_to_half_of_the_peers(self):
        self.assertIn(": held", self.said("x86-64", 1000, 2000))
        self.assertIn("NOT HELD", self.said("x86-64", 1010, 2000))


if __name__ == "__main__":
    unittest.main()
