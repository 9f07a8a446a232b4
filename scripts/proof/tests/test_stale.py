# SPDX-License-Identifier: GPL-2.0
"""What scripts/proof/stale.py makes of a guest's report."""

import unittest

import stale

REPORT = """\
bench: stale jump changes 300 passes 6145958 present 1 absent 6472 after 4 quiet 0 stuck 0 wrong 0 unknown 0
bench: other jump changes 1
bench: stale operand changes 300 passes 7143210 present 0 absent 13440 after 2 quiet 20 stuck 1 wrong 0 unknown 0
""".splitlines()


class Stale(unittest.TestCase):
    """A module's lines."""

    def test_each_kind_of_site_has_its_counts(self):
        found = stale.parse(REPORT)
        self.assertEqual(sorted(found), ["jump", "operand"])
        self.assertEqual(found["operand"]["quiet"], 20)

    def test_a_row_has_a_cell_for_each_column(self):
        rows = stale.rows("mainline", "two", stale.parse(REPORT))
        self.assertEqual(rows[0], ["mainline, jump", "two", "300", "1", "6472", "4", "0", "0"])
        self.assertEqual(len(rows), 2)


if __name__ == "__main__":
    unittest.main()
