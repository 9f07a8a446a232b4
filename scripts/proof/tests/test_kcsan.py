# SPDX-License-Identifier: GPL-2.0
"""Reports of data races, as a kernel prints them, and whose they are."""

import unittest

import guest
import kcsan

MAINLINE = """\
[    0.120000] ==================================================================
[    0.120000] BUG: KCSAN: data-race in lapic_cal_handler / setup_boot_APIC_clock
[    0.120000]
[    0.120000] write (marked) to 0xffffffff82a1b2c8 of 4 bytes by interrupt on cpu 0:
[    0.120000]  lapic_cal_handler+0x12a/0x150
[    0.120000]  __sysvec_apic_timer_interrupt+0x3b/0x90
[    0.120000]  sysvec_apic_timer_interrupt+0x6c/0x90
[    0.120000]  asm_sysvec_apic_timer_interrupt+0x1a/0x20
[    0.120000]  etch_ring_take+0x1/0x2
[    0.120000]
[    0.120000] read to 0xffffffff82a1b2c8 of 4 bytes by task 1 on cpu 0:
[    0.120000]  setup_boot_APIC_clock+0x2b1/0x9f0
[    0.120000]  ret_from_fork+0x1/0x2
[    0.120000]
[    0.120000] value changed: 0x00000001 -> 0x00000002
[    0.120000]
[    0.120000] Reported by Kernel Concurrency Sanitizer on:
[    0.120000] CPU: 0 UID: 0 PID: 1 Comm: swapper/0 Not tainted 6.12.117 #1
[    0.120000] ==================================================================
"""
OURS = MAINLINE.replace("setup_boot_APIC_clock+", "claim.isra.0+")
NAMES = {"claim", "etch_ring_take"}


class Races(unittest.TestCase):
    """The races in a console's text."""

    def test_none(self):
        self.assertEqual(kcsan.races("[    0.0] Linux version\n"), [])

    def test_one(self):
        race, = kcsan.races("[    0.0] Linux version\n" + MAINLINE)
        self.assertEqual(race.number, 3)
        self.assertEqual(race.title, "data-race in lapic_cal_handler / "
                         "setup_boot_APIC_clock")
        self.assertIn("setup_boot_APIC_clock", race.functions)

    def test_who_was_interrupted_has_no_part(self):
        race, = kcsan.races(MAINLINE)
        self.assertFalse(race.is_of(NAMES))

    def test_a_function_of_ours(self):
        race, = kcsan.races(OURS)
        self.assertTrue(race.is_of(NAMES))

    def test_an_interrupt_of_ours(self):
        race, = kcsan.races(MAINLINE.replace("lapic_cal_handler+", "claim+"))
        self.assertTrue(race.is_of(NAMES))

    def test_who_waits_has_no_part(self):
        frame = "[    0.120000]  setup_boot_APIC_clock+0x2b1/0x9f0\n"
        caller = "[    0.120000]  claim+0x1/0x2\n"
        for waits in ("schedule_hrtimeout_range_clock", "mutex_lock"):
            report = MAINLINE.replace(frame, frame.replace(
                "setup_boot_APIC_clock", waits) + caller)
            race, = kcsan.races(report)
            self.assertEqual(race.is_of(NAMES), waits == "mutex_lock")

    def test_a_report_that_breaks_off(self):
        lines = MAINLINE.splitlines()[:5]
        race, = kcsan.races("\n".join(lines))
        self.assertEqual(race.functions, {"lapic_cal_handler"})

    def test_two(self):
        self.assertEqual([race.is_of(NAMES)
                          for race in kcsan.races(MAINLINE + OURS)],
                         [False, True])


class Verdict(unittest.TestCase):
    """What a boot with races is worth."""

    @staticmethod
    def result(log):
        """A boot that went well but for its console."""
        return guest.Result("guest: boot 6 x\nguest: end 0\n", log, 1.0, True)

    def test_any_race_where_nobody_told_whose_are_ours(self):
        self.assertEqual(len(self.result(MAINLINE).problems()), 1)

    def test_a_race_of_others(self):
        self.assertEqual(self.result(MAINLINE).problems(NAMES), [])
        self.assertEqual(self.result(MAINLINE).others_races(NAMES),
                         ["data-race in lapic_cal_handler / "
                          "setup_boot_APIC_clock"])

    def test_a_race_of_ours(self):
        self.assertEqual(len(self.result(MAINLINE + OURS).problems(NAMES)), 1)

    def test_other_trouble_stays_trouble(self):
        log = MAINLINE + "[ 1.0] WARNING: CPU: 0 PID: 1 at f\n"
        self.assertEqual(len(self.result(log).problems(NAMES)), 1)


if __name__ == "__main__":
    unittest.main()
