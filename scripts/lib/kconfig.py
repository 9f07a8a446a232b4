#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""kconfig.py CONFIG FRAGMENT...: what became of a configuration's wishes.

Kconfig silently drops a wish that it cannot grant. This script compares each wish
of the fragments (the last one for a symbol counts) with the resulting .config; one
that was dropped is an error.
"""

import re
import sys
from pathlib import Path

SET = re.compile(r"^(CONFIG_\w+)=(.*)$")
UNSET = re.compile(r"^# (CONFIG_\w+) is not set$")


def parse(text):
    """{symbol: value}; "n" for "is not set"."""
    values = {}
    for line in text.splitlines():
        if match := SET.match(line):
            values[match[1]] = match[2]
        elif match := UNSET.match(line):
            values[match[1]] = "n"
    return values


def dropped(result, wishes):
    """["SYMBOL: wanted VALUE, got VALUE", ...]."""
    got = parse(result)
    return [f"{symbol}: wanted {value}, got {got.get(symbol, 'n')}"
            for symbol, value in wishes.items()
            if got.get(symbol, "n") != value]


def main():
    config, *fragments = sys.argv[1:]
    wishes = {}
    for fragment in fragments:
        wishes.update(parse(Path(fragment).read_text()))
    lost = dropped(Path(config).read_text(), wishes)
    if lost:
        sys.exit(f"error: {config} does not grant each wish:\n  "
                 + "\n  ".join(lost))


if __name__ == "__main__":
    main()
