#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run the commands of the README as they are written there.

A command is an indented line that begins with "$ ". "make check" is left to
whoever calls this: it comes last, so that its count is the last line.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
COMMAND = re.compile(r"^\s+\$ (.+)$", re.M)
LATER = ("make check",)


def commands(text):
    """The commands of a page, in order, each once."""
    return list(dict.fromkeys(COMMAND.findall(text)))


def main():
    found = commands((TOP / "README").read_text())
    if not found:
        sys.exit("error: README has no commands")
    for command in found:
        if command in LATER:
            continue
        print(f"==> README: {command}", flush=True)
        start = time.monotonic()
        status = subprocess.run(command, shell=True, cwd=TOP,
                                check=False).returncode
        if status:
            sys.exit(f"### README: {command} ended with status {status}")
        print(f"==> README: {command}: {time.monotonic() - start:.0f} s",
              flush=True)


if __name__ == "__main__":
    main()
