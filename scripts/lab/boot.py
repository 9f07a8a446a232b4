#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""boot.py LANE SCRIPT: boot a lane's kernel and run a script of scripts/lab/guest.

The script's output is shown as it comes; it is kept, beside the console, in
build/LANE/SCRIPT.report and SCRIPT.console. SCRIPT "shell" gives a shell on
this terminal instead. Fails when the guest does not boot, does not end in
time, ends with an error, or has trouble on its console.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import guest
import layout
import machine
import signals


def shell(lane, initrd, append, icount):
    """Become the machine, on this terminal."""
    argv, env = machine.command(lane, initrd, ["guest=shell", "quiet",
                                               *append], icount=icount)
    os.execvpe(argv[0], argv, env)


def show(data):
    """The guest's words, without the lines about the guest itself."""
    text = data.decode("utf-8", "replace").replace("\r", "")
    for line in text.splitlines(keepends=True):
        if not line.startswith("guest: "):
            sys.stdout.write(line)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lane")
    parser.add_argument("script")
    parser.add_argument("--limit", type=int, default=300,
                        help="seconds until the guest is given up")
    parser.add_argument("--append", action="append", default=[],
                        help="a word more for the kernel's command line")
    parser.add_argument("--output", type=Path,
                        help="a file here for what the script sends")
    parser.add_argument("--icount", action="store_true",
                        help="one processor, whose TSC counts instructions")
    args = parser.parse_args()
    signals.unwind()
    folder = layout.BUILD / args.lane
    initrd = folder / "initrd.gz"
    try:
        if args.script == "shell":
            shell(args.lane, initrd, args.append, args.icount)
        result = guest.boot(args.lane, initrd, args.script, args.limit, show,
                            args.append, icount=args.icount,
                            output=args.output and args.output.resolve())
    except machine.MachineError as error:
        sys.exit(f"error: {error}")
    problems = result.problems()
    for problem in problems:
        print(f"### {problem}", file=sys.stderr)
    if problems:
        sys.exit(f"### console: {folder / args.script}.console")
    print(f"==> Guest ran {result.seconds:.1f} s and powered off.")


if __name__ == "__main__":
    main()
