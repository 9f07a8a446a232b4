# SPDX-License-Identifier: GPL-2.0
"""make forecast: what of the series does not fit another kernel."""

import test_apply
from test_series import script

OTHER = test_apply.FORK.replace("line 5\n", "line of a newer kernel\n")
PATCHES = {
    "6.12/fork.patch": {"kernel/fork.c": (test_apply.FORK, test_apply.FORK.replace(
        "line 5\n", "line five\n").replace("line 25\n", "line twenty-five\n"))},
    "common/ring.patch": {"kernel/etch/ring.c": (None, "ring\n")},
    "6.12/again.patch": {"kernel/fork.c": ("".join(
        f"line {'twenty-five' if number == 25 else number}\n" for number in range(11, 31)),
        "".join(f"line {'XXV' if number == 25 else number}\n" for number in range(11, 31)))},
}


class Forecast(test_apply.Case):
    """On a tree of the user's."""

    script = script("forecast")

    def rows(self):
        """forecast()'s rows, without the sentences' ends."""
        self.ours(PATCHES)
        return [(name, hunks, [line.partition(" (")[0] for line in said])
                for name, hunks, said in self.script.forecast(self.kdir)]

    def test_a_kernel_that_fits(self):
        was = test_apply.snapshot(self.kdir)
        self.assertEqual(self.rows(), [("6.12/fork.patch", 2, []), ("common/ring.patch", 1, []),
                                       ("6.12/again.patch", 1, [])])
        self.assertEqual(test_apply.snapshot(self.kdir), was)

    def test_hunks_that_do_not_fit_are_named_and_the_others_are_applied(self):
        self.put("kernel/fork.c", OTHER)
        self.put("kernel/etch/ring.c", "theirs\n")
        self.assertEqual(self.rows(), [
            ("6.12/fork.patch", 2, ["kernel/fork.c, hunk 1 of 2"]),
            ("common/ring.patch", 1, ["kernel/etch/ring.c: the patch adds this file, and it is "
                                      "there already"]),
            ("6.12/again.patch", 1, [])])
