# SPDX-License-Identifier: GPL-2.0
"""The commands that machines are started with."""

import unittest
from unittest import mock

import machine


def words(name, append=()):
    """QEMU's words for a machine, where there is a QEMU with many threads."""
    with mock.patch.object(machine, "qemu", lambda arch: (
            {}, [f"qemu-{arch}", "-accel", "tcg,thread=multi"])):
        command, _ = machine.emulated(name, "Image", "initrd.gz", append, "serial", "report")
    return command


class Emulated(unittest.TestCase):
    """Machines of QEMU's."""

    def test_each_has_its_board_and_its_console(self):
        arm, x86 = words("arm64"), words("x86-64")
        self.assertEqual((arm[0], x86[0]), ("qemu-aarch64", "qemu-x86_64"))
        self.assertIn("virt", arm)
        self.assertIn("q35", x86)
        self.assertIn("console=ttyAMA0", arm[-1])
        self.assertIn("console=ttyS0", x86[-1])

    def test_two_processors(self):
        for name, threads in (("arm64", "multi"), ("x86-64", "single")):
            with self.subTest(name=name):
                command = words(name)
                self.assertEqual(command[command.index("-smp") + 1], "2")
                self.assertIn(f"tcg,thread={threads}", command)

    def test_a_thread_for_each_where_a_lane_asks(self):
        command = words("x86-64", [machine.THREADS])
        self.assertIn("tcg,thread=multi", command)
        self.assertIn(machine.THREADS, command[-1])

    def test_one_thread_for_a_suite_that_changes_code_at_boot(self):
        for append in (["kunit.enable=1"], ["kunit.enable=1", "kunit.filter_glob=imv*"],
                       ["kunit.filter_glob=*.under_fire", "kunit.enable=y"]):
            with self.subTest(append=append):
                self.assertIn("tcg,thread=single", words("x86-64", [machine.THREADS, *append]))
                self.assertIn("tcg,thread=multi", words("arm64", append))
        for append in ([], ["kunit.enable=0"], ["kunit.filter_glob=imv*"],
                       ["kunit.enable=1", "kunit.autorun=0"],
                       ["kunit.enable=1", "kunit.filter_glob=etch_ring*"]):
            with self.subTest(append=append):
                self.assertIn("tcg,thread=multi", words("x86-64", [machine.THREADS, *append]))

    def test_lanes_of_arm64_differ_in_the_size_of_a_page(self):
        small, large = machine.lane("arm64"), machine.lane("arm64-64k")
        self.assertIn("arm64-4k", small["FRAGMENTS"].split())
        self.assertIn("arm64-64k", large["FRAGMENTS"].split())
        for setting in ("MACHINE", "CROSS", "GUEST", "IMAGE"):
            self.assertEqual(small[setting], large[setting])


if __name__ == "__main__":
    unittest.main()
