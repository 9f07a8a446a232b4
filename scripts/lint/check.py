#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What can be said of our sources without running them. Prints TAP.

  check.py

The compiler's W=1 and sparse, each header alone, kernel-doc, Coccinelle with the
kernel's rules and ours, spelling, shell and Python. scripts/lint/ignore is what is passed over, with
reasons.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
import coccinelle
import findings
import kernel
import layout
import tap as taps

IGNORE = HERE / "ignore"
# Not ours, and the list of words itself.
NOT_PROSE = ("COPYING", "scripts/lint/ignore")
SHELL = ("#!/bin/sh", "#!/bin/bash", "# shellcheck shell=")


def ours():
    """Every file of this repository, but for the patches, which hold them again."""
    if (layout.TOP / ".git").exists():
        names = subprocess.run(["git", "-C", layout.TOP, "ls-files", "-z", "-co",
                                "--exclude-standard"], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.split("\0")
    else:
        names = [str(path.relative_to(layout.TOP)) for path in layout.TOP.rglob("*")
                 if layout.BUILD not in path.parents and "__pycache__" not in path.parts]
    return sorted(name for name in names
                  if name and (layout.TOP / name).is_file() and not name.endswith(".patch"))


def begins(name):
    """The first lines of a file."""
    return (layout.TOP / name).read_text(errors="replace").splitlines()[:3]


def tool(name, form, command, files):
    """The findings of a tool that is given files; one that cannot run is a finding."""
    if not files:
        return [f"there are no files for {name}"]
    status, out = kernel.run([*command, *files])
    found = findings.parse(name, form, out)
    # What is not understood is not passed over.
    unread = [line for line in out.splitlines() if line.strip() and not form.match(line)]
    if status and not found and not unread:
        unread = [f"{name} ended with status {status}"]
    return found + unread


def spelling():
    """codespell's, on everything that is read."""
    return tool("spelling", findings.SPELLING, ["codespell"],
                [name for name in ours() if name not in NOT_PROSE])


def shell():
    """shellcheck's, with its suggestions."""
    scripts = [name for name in ours()
               if any(line.startswith(SHELL) for line in begins(name))]
    return tool("shellcheck", findings.SHELL,
                ["shellcheck", "-x", "-P", "SCRIPTDIR", "-f", "gcc"], scripts)


def python():
    """pyflakes'."""
    scripts = [name for name in ours() if name.endswith(".py")
               or any(line.startswith("#!/usr/bin/env python3") for line in begins(name))]
    return tool("pyflakes", findings.PYTHON, ["pyflakes3"], scripts)


def left(excuses, found):
    """What nothing excuses; what is no finding cannot be excused."""
    known = [one for one in found if isinstance(one, findings.Finding)]
    return excuses.left(known) + [one for one in found if one not in known]


def attempt(tap, excuses, name, check):
    """One test, of a function that gives findings."""
    try:
        found = check()
    except (kernel.BuildError, OSError) as error:
        tap.result(name, [error])
        return
    tap.result(name, left(excuses, found))


def cocci(tap, excuses):
    """Coccinelle's rules."""
    run = coccinelle.rules()
    mine = [rule for rule in run if rule.startswith(coccinelle.OURS)]
    tap.result("Coccinelle has the kernel's rules and ours",
               [] if mine and len(run) > len(mine) else [f"there are {run}"])
    # One in OCaml as well: whether Coccinelle can run them depends on what is installed.
    for rule in (*mine, coccinelle.IN_OCAML):
        tap.result(f"{rule} reports what is planted", coccinelle.planted(rule))
    for rule, found, why in coccinelle.all_rules(run):
        tap.result(rule, [why] if why else left(excuses, found))


def main():
    tap = taps.Report()
    print("TAP version 13")
    excuses = findings.Excuses(IGNORE.read_text())
    attempt(tap, excuses, "spelling", spelling)
    attempt(tap, excuses, "shellcheck", shell)
    attempt(tap, excuses, "pyflakes", python)
    attempt(tap, excuses, "headers of user space are C90", kernel.uapi)
    attempt(tap, excuses, "headers_check", kernel.headers_check)
    attempt(tap, excuses, "kernel-doc", kernel.kernel_doc)
    try:
        kernel.prepare()
    except kernel.BuildError as error:
        tap.result("build/lint is configured", [error])
    else:
        attempt(tap, excuses, "each header compiles alone", kernel.alone)
        attempt(tap, excuses, "no warning with W=1", kernel.compiler)
        attempt(tap, excuses, "no warning of sparse", kernel.sparse)
    cocci(tap, excuses)
    tap.result("each excuse in scripts/lint/ignore has a reason and a use",
               excuses.problems())
    print(f"1..{tap.count}")
    sys.exit(1 if tap.failed else 0)


if __name__ == "__main__":
    main()
