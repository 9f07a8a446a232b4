# SPDX-License-Identifier: GPL-2.0
"""What a kernel's console says that a healthy kernel's does not.

Guests report on a channel of their own; the console is looked at for
trouble only. A lane with trouble on its console has failed, whatever its
tests said.
"""

import re

# Each a pattern, and what it stands for.
TROUBLE = (
    (r"\bWARNING: ", "a warning"),
    (r"\bBUG: ", "a bug report"),
    (r"kernel BUG at ", "a failed assertion"),
    (r"\bOops\b|Internal error: ", "an oops"),
    (r"Kernel panic", "a panic"),
    (r"Kernel mode fault|segfault with no mm", "a fault in kernel mode"),
    (r"general protection fault", "a general protection fault"),
    (r"Unable to handle kernel|unable to handle page fault", "a bad access"),
    (r"INFO: (rcu|task .* blocked|possible|trying|lockdep)", "a stall"),
    (r"rcu: INFO: .* (stall|kthread)", "a stall"),
    (r"soft lockup|hard LOCKUP|hung_task", "a lockup"),
    (r"(suspicious RCU usage|bad unlock balance|DEBUG_LOCKS_WARN_ON|"
     r"(circular|recursive) locking)", "a locking error"),
    (r"\b(KASAN|KCSAN|UBSAN|KFENCE|KMSAN): ", "a sanitizer's report"),
    (r"refcount_t: ", "a reference count gone wrong"),
    (r"scheduling while atomic|sleeping function called", "a bad sleep"),
    (r"list_(add|del) corruption", "a corrupt list"),
    (r"(unreferenced object|memory leak)", "a leak"),
    (r"kmemleak: (Memory pool empty|Cannot allocate)", "a leak detector that gave up"),
)

_PATTERNS = [(re.compile(pattern), name) for pattern, name in TROUBLE]
# The kernel offers to report trouble in its help; that is not trouble.
_HARMLESS = re.compile(r"Kernel command line:|panic_on_warn|lockdep: enabled|"
                       # The leaks themselves are in the report.
                       r"kmemleak: (Kernel memory leak detector initialized|"
                       r"\d+ new suspected memory leaks)")
# Of an oops at a breakpoint: its first line, and the bytes of memory around the next
# instruction, which the kernel puts into brackets. The byte before was executed.
_BREAKPOINT = re.compile(r"\bOops: int3\b")
_EXECUTED = re.compile(r"\bCode: .*\b([0-9a-f]{2}) <[0-9a-f]{2}>")
_STALE = ("an oops at a breakpoint that memory has no more (QEMU's fault, if it had several "
          "threads: see THREADS in scripts/lib/machine.py)")


def _is_stale(lines):
    """Whether memory has no breakpoint where these lines of an oops say that one was."""
    for line in lines[1:16]:
        if _BREAKPOINT.search(line):
            break
        executed = _EXECUTED.search(line)
        if executed:
            return executed[1] != "cc"
    return False


def scan(text):
    """[(line number, what it is, the line), ...]."""
    found = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if _HARMLESS.search(line):
            continue
        for pattern, name in _PATTERNS:
            if pattern.search(line):
                if _BREAKPOINT.search(line) and _is_stale(lines[number - 1:]):
                    name = _STALE
                found.append((number, name, line.strip()))
                break
    return found
