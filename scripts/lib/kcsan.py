# SPDX-License-Identifier: GPL-2.0
"""Data races that KCSAN reported, and whose they are.

A report names two accesses, each with its stack. A race is ours if a function of
ours is in one of the stacks. The code that an interrupt stopped does not count, nor
do the callers of a function that waits by means of a variable on its own stack.
"""

import re
import subprocess

HEAD = re.compile(r"BUG: KCSAN: (.*)$")
# A line of a stack, behind the kernel's time stamp.
FRAME = re.compile(r"^(?:\[[^]]*\])?\s+([A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+")
# The frames below it are of the code that was interrupted.
ENTRY = re.compile(r"^asm_(sysvec_|exc_|common_interrupt)|^common_interrupt_return$")
# These race with the timer that wakes them, for a variable of their own.
WAITS = {"schedule_hrtimeout_range_clock"}
# An access, or the stack of its origin, begins.
ACCESS = re.compile(r"\b(by|on) (task|interrupt)|^(?:\[[^]]*\])?\s*"
                    r"(read|write|race|assert|reordered)")
END = re.compile(r"={20,}\s*$")


class Race:
    """One report."""

    def __init__(self, number, title):
        self.number = number        # of its line
        self.title = title
        self.functions = set()      # of both stacks, interrupted ones left out

    def is_of(self, names):
        """Is a function of these in it?"""
        # The compiler's parts of a function are the function.
        return any(name.split(".")[0] in names for name in self.functions)


def races(text):
    """The reports on a console, in order."""
    found, race, below = [], None, False
    for number, line in enumerate(text.splitlines(), 1):
        head = HEAD.search(line)
        frame = FRAME.match(line)
        if head:
            race, below = Race(number, head[1].strip()), False
            found.append(race)
        elif race is None:
            continue
        elif END.search(line):
            race = None
        elif frame:
            if not below:
                race.functions.add(frame[1])
            below = (below or frame[1] in WAITS
                     or bool(ENTRY.match(frame[1])))
        elif ACCESS.search(line):
            below = False
    return found


def functions(objects):
    """The names of the functions in object files."""
    result = subprocess.run(["nm", "--defined-only", *map(str, objects)],
                            text=True, check=True, stdout=subprocess.PIPE)
    words = (line.split() for line in result.stdout.splitlines())
    return {word[2].split(".")[0] for word in words
            if len(word) == 3 and word[1] in "tT"}
