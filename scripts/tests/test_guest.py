# SPDX-License-Identifier: GPL-2.0
"""The verdict on a boot."""

import unittest

import guest

GOOD = "guest: boot 6.12.117 x86_64\nTAP version 13\nok 1 - a\nguest: end 0\n"


def problems(report=GOOD, log="[ 0.0] Linux version\n", in_time=True):
    """The problems of a boot."""
    return guest.Result(report, log, 1.0, in_time).problems()


class Verdict(unittest.TestCase):
    """Each way in which a lane fails."""

    def test_a_good_boot(self):
        self.assertEqual(problems(), [])

    def test_no_boot(self):
        self.assertEqual(len(problems(report="")), 2)

    def test_no_end(self):
        report = GOOD.replace("guest: end 0\n", "")
        self.assertIn("broke off", problems(report)[0])

    def test_an_end_that_is_not_the_last_line(self):
        self.assertIn("broke off", problems(GOOD + "more\n")[0])

    def test_a_bad_status(self):
        self.assertIn("status 3", problems(GOOD.replace("end 0", "end 3"))[0])

    def test_time(self):
        self.assertIn("time limit", problems(in_time=False)[0])

    def test_trouble_on_the_console(self):
        log = "[ 1.0] WARNING: CPU: 0 PID: 1 at f\n"
        self.assertIn("a warning", problems(log=log)[0])

    def test_the_guests_own_lines_are_left_out(self):
        lines = guest.Result(GOOD, "", 1.0, True).lines()
        self.assertEqual(lines, ["TAP version 13", "ok 1 - a"])


if __name__ == "__main__":
    unittest.main()
