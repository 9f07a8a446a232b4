# SPDX-License-Identifier: GPL-2.0
"""Leaks that kmemleak found, and whose they are.

/sys/kernel/debug/kmemleak has for each block that nobody points to when and by whom it
was allocated, and the stack then. A leak is ours if a function of ours is in it, or an
address that nobody has any more: modules that come and go are ours.
"""

import re

HEAD = re.compile(r"^unreferenced object (0x[0-9a-f]+) \(size (\d+)\):$")
WHO = re.compile(r'^  comm "(.*)", pid (\d+),')
FRAME = re.compile(r"^\s+(?:\[<[0-9a-f]+>\]\s)?"
                   r"(?:([A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+|0x[0-9a-f]{16}$)")
# What stands for an address without a name.
GONE = "a module that is gone"


class Leak:
    """One block."""

    def __init__(self, size):
        self.size = size
        self.who = ""               # the task's name
        self.stack = []             # functions, the innermost first

    def is_of(self, names):
        """Is a function of these in its stack, or of a module that is gone?"""
        # The compiler's parts of a function are the function.
        return any(name == GONE or name.split(".")[0] in names for name in self.stack)

    def __str__(self):
        return (f"{self.size} bytes of {self.who or 'nobody'}: "
                + " < ".join(self.stack or ["no stack"]))


def leaks(text):
    """The leaks in a copy of the file, in order."""
    found = []
    for line in text.splitlines():
        head = HEAD.match(line)
        if head:
            found.append(Leak(int(head[2])))
        elif found and (who := WHO.match(line)):
            found[-1].who = who[1]
        elif found and (frame := FRAME.match(line)):
            found[-1].stack.append(frame[1] or GONE)
    return found
