# SPDX-License-Identifier: GPL-2.0
"""The console's scanner, on lines as kernels print them."""

import unittest

import console

HEALTHY = """\
[    0.000000] Kernel command line: console=ttyS0 panic=-1 panic_on_warn=1
[    0.000000] Linux version 6.12.117 (etch@etch) (gcc (Debian 12.2.0)) #1 SMP
[    0.070000] Failed to initialize ubd device 0 :Couldn't determine size
[    0.150000] This architecture does not have kernel memory protection.
[    1.200000] debug: initcall_debug off
[    1.300000] kmemleak: Kernel memory leak detector initialized (mem pool available: 62041)
[   90.200000] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
[    2.271144] ACPI: PM: Preparing to enter system sleep state S5
[    2.271765] reboot: Power down
"""

TROUBLE = (
    "[    2.5] Kernel panic - not syncing: Kernel mode fault at addr 0x40e",
    "[   12.3] WARNING: CPU: 1 PID: 77 at kernel/etch/ring.c:120 f+0x1/0x2",
    "[   12.3] WARNING: possible circular locking dependency detected",
    "[   12.3] BUG: sleeping function called from invalid context at mm.c:3",
    "[    5.1] BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "[    5.1] Oops: int3: 0000 [#1] PREEMPT SMP",
    "[   60.1] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "[  240.1] INFO: task sh:77 blocked for more than 120 seconds.",
    "[    5.1] Internal error: SP/PC alignment exception: 000000008a000000 [#1] SMP",
    "[    5.1] kernel BUG at kernel/etch/ring.c:12!",
    "[    5.1] BUG: KASAN: slab-out-of-bounds in etch_ring_take+0x1/0x2",
    "[    5.1] refcount_t: underflow; use-after-free.",
    "[   30.1] kmemleak: Memory pool empty, consider increasing CONFIG_DEBUG_KMEMLEAK_MEM",
    "[   30.1] kmemleak: Kernel memory leak detector disabled",
    "[   30.1] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [cat:90]",
)


OOPS = """\
[    1.786844] Oops: int3: 0000 [#1] PREEMPT SMP
[    1.787364] CPU: 1 UID: 0 PID: 61 Comm: imv_test/1 Tainted: G                 N 6.12.117 #1
[    1.787753] RIP: 0010:imv_test_count+0x4/0xc0
[    1.788317] Code: cc cc cc cc 48 89 fa %s <0f> 00 00 00 be 88 77 00 00 b9 0f ff ee dd
"""


class Scan(unittest.TestCase):
    """Lines that mean trouble, and lines that do not."""

    def test_a_healthy_boot(self):
        self.assertEqual(console.scan(HEALTHY), [])

    def test_each_kind_of_trouble(self):
        for line in TROUBLE:
            with self.subTest(line=line):
                found = console.scan(HEALTHY + line + "\n")
                self.assertEqual(len(found), 1)
                self.assertEqual(found[0][0], HEALTHY.count("\n") + 1)

    def test_a_breakpoint_that_memory_has_no_more(self):
        for byte, said in (("b8", True), ("cc", False)):
            with self.subTest(byte=byte):
                (_, name, _), = console.scan(OOPS % byte)
                self.assertEqual("THREADS" in name, said)

    def test_a_breakpoint_of_which_the_memory_is_not_shown(self):
        first, *rest = (OOPS % "b8").splitlines()
        self.assertEqual(console.scan(first)[0][1], "an oops")
        # The bytes are the second oops's, which is another.
        both = "\n".join([first, first, *rest])
        self.assertEqual(["THREADS" in name for _, name, _ in console.scan(both)],
                         [False, True])


if __name__ == "__main__":
    unittest.main()
