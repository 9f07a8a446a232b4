#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A Python program with events of its own: it computes, and tells of each step.

    # echo 1 > /sys/kernel/debug/etch/events/pysample/enable
    # samples/etch/etch-user.py 3
    # cat /sys/kernel/debug/etch/trace

The module is tools/lib/etch/python/etch.py, which needs libetch.so.1.
"""

import sys

import etch

# Types are those of C. A string may have any length up to 1024 bytes.
step = etch.Event("pysample", "step", n="u32", square="u64", half="s32", word="string")
# An event may have no fields.
done = etch.Event("pysample", "done")


def main(steps):
    """Each call costs a look at one word while the event is off."""
    if step.error:
        print(f"etch-user.py: no events: {step.error}", file=sys.stderr)
    for n in range(steps):
        step(n, n * n, -(n // 2), f"step {n}")
    # Names are slower, and easier to read. Values that cost time are for a guard.
    if step.enabled():
        step(n=steps, square=sum(range(1000)), half=-1, word="last")
    done()
    return 1 if step.error else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
