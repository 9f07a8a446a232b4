# SPDX-License-Identifier: GPL-2.0
"""The figures of BENCH=rest."""

import unittest

import figures
import rest


def report(without=None):
    """What a guest prints, each round of a case one more than the one before."""
    lines = ["bench: hz 1000000000", "bench: events etch 521", "bench: events ftrace 521"]
    for name, _case, unit in rest.CASES:
        for tree in rest.TREES:
            rounds = 1 if name == "buffer" else rest.ROUNDS
            share = 8 if unit == "bytes" and name != "buffer" else 1
            if name != without:
                lines.append(f"bench: sample {name} {tree} {share} "
                             + " ".join(str(800 + i) for i in range(rounds)))
    return lines


class Rest(unittest.TestCase):

    def test_memory_is_an_instances_share(self):
        found = rest.rows(figures.parse(report()), "um")
        slab = figures.find(found, rest.title_of("slab"), "etch")
        self.assertEqual("bytes", slab.unit)
        self.assertEqual(100, slab.min)
        self.assertEqual(800, figures.find(found, "mkdir of an instance", "etch").min)

    def test_a_round_is_missed(self):
        with self.assertRaises(figures.FigureError):
            rest.rows(figures.parse(report(without="rmdir")), "um")

    def test_too_much_slab_is_said(self):
        much = "bench: sample slab etch 1" + " 800000" * rest.ROUNDS
        lines = [much if " slab etch " in line else line for line in report()]
        for said, some in (": held", report()), ("NOT HELD", lines):
            found = rest.rows(figures.parse(some), "um")
            self.assertIn(said, rest.tables("um", found))


if __name__ == "__main__":
    unittest.main()
