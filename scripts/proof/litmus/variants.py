# SPDX-License-Identifier: GPL-2.0
"""What a litmus test's head says of each barrier: with it taken out.

    Without A: `text` -> `other`, ...       the outcome must then be possible
    Not needed, A: `text` -> `other`, ...   it must be impossible even so
"""

import re

LINE = re.compile(r"^ \* (Without|Not needed,) ([^:`]+): (`.*)$", re.M)
CHANGE = re.compile(r"`([^`]*)` -> `([^`]*)`")


def variants(text):
    """(name, whether the barrier is needed, the changed text) for each such line."""
    out = []
    for kind, name, changes in LINE.findall(text):
        head, end = text.split("*)\n", 1)
        for old, new in CHANGE.findall(changes):
            if end.count(old) != 1:
                raise ValueError(f"{old!r} is there {end.count(old)} times")
            end = end.replace(old, new)
        out.append((name, kind == "Without", head + "*)\n" + end))
    return out
