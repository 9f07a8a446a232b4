#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks our sources without running them. Prints TAP.

  check.py [--long]

The compiler's W=1, sparse, and which rooms use which, each header alone, kernel-doc, Coccinelle
with our rules, checkpatch on each patch, spelling, plain English, shell and Python. --long is
W=1, sparse and the rooms in User-mode Linux, which has other options, Coccinelle with the
kernel's own rules, and nothing else. scripts/proof/lint/ignore lists the findings that are
passed over, with reasons; scripts/series/checkpatch.ignore lists those of checkpatch.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
import checkpatch
import coccinelle
import english
import findings
import kernel
import layout
import manifest
import rooms
import tap as taps

IGNORE = HERE / "ignore"
NOT_RUN = ("### NOT run here: our Coccinelle rules on the whole kernel tree (make cocci-tree)",
           "### NOT run here: W=1 and sparse with the options of lane um, and the kernel's own "
           "rules of Coccinelle (make check CHECK=lint-long)")
# Not ours, and the list of words itself.
NOT_PROSE = ("COPYING", "scripts/proof/lint/ignore")
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
    # A line that is not understood is not passed over.
    unread = [line for line in out.splitlines() if line.strip() and not form.match(line)]
    if status and not found and not unread:
        unread = [f"{name} ended with status {status}"]
    return found + unread


def spelling():
    """codespell's, on everything that is read."""
    return tool("spelling", findings.SPELLING, ["codespell"],
                [name for name in ours() if name not in NOT_PROSE])


def sentences():
    """Sentences that hide their subject, also in the messages of the patches."""
    patches = sorted(str(path.relative_to(layout.TOP))
                     for path in layout.PATCHES.rglob("*.patch"))
    return [one for name in filter(english.readable, ours() + patches)
            for one in english.problems(name)]


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
    """The entries that nothing excuses; an entry that is no finding cannot be excused."""
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


def patches(tap):
    """What checkpatch says of each patch."""
    names = manifest.series()
    tap.result("there are patches", [] if names else ["series is empty"])
    for name, found in checkpatch.of_each(names):
        tap.result(f"{name} passes checkpatch", found)


def cocci(tap, excuses, whose, rules, planted):
    """What these rules of Coccinelle say of our sources, and of those made for some of them."""
    tap.result(f"Coccinelle has {whose} rules", [] if rules else ["there are none"])
    for rule in planted:
        tap.result(f"{rule} reports planted mistakes", coccinelle.planted(rule))
    for rule, found, why in coccinelle.all_rules(rules):
        tap.result(rule, [why] if why else left(excuses, found))


def built(tap, excuses, one):
    """The checks that build a kernel, or its objects that are ours."""
    try:
        one.prepare()
    except kernel.BuildError as error:
        tap.result(f"{one.lane} is configured", [error])
        return
    attempt(tap, excuses, f"{one.lane}: planted mistakes are reported", one.planted)
    attempt(tap, excuses, f"{one.lane}: no warning with W=1", one.compiler)
    if rooms.PLACE in one.folders:
        attempt(tap, excuses, f"{one.lane}: each room uses those below it, and no other",
                lambda: rooms.check(one.out))
    attempt(tap, excuses, f"{one.lane}: no warning of sparse", one.sparse)


def everything(tap, excuses):
    """All checks, but for those of --long."""
    attempt(tap, excuses, "spelling", spelling)
    attempt(tap, excuses, "each sentence names its subject", sentences)
    attempt(tap, excuses, "shellcheck", shell)
    attempt(tap, excuses, "pyflakes", python)
    attempt(tap, excuses, "headers of user space are C90", kernel.uapi)
    attempt(tap, excuses, "headers_check", kernel.headers_check)
    attempt(tap, excuses, "kernel-doc", kernel.kernel_doc)
    for one in kernel.KERNELS:
        built(tap, excuses, one)
    attempt(tap, excuses, "each header compiles alone", kernel.KERNELS[0].alone)
    attempt(tap, excuses, "each source was looked at in one of the kernels",
            kernel.missing)
    patches(tap)
    mine, others = coccinelle.split()
    cocci(tap, excuses, "our", mine, mine)
    tap.result("each excuse in scripts/proof/lint/ignore has a reason and a use",
               excuses.problems(list(map(coccinelle.kind, others))))
    print(*NOT_RUN, sep="\n")


def the_rest(tap, excuses):
    """All checks of --long."""
    built(tap, excuses, kernel.LONG)
    # One in OCaml with planted mistakes: Coccinelle runs those only if OCaml is installed.
    _, others = coccinelle.split()
    cocci(tap, excuses, "the kernel's", others, [coccinelle.IN_OCAML])
    kinds = set(map(coccinelle.kind, others))
    tap.result("each excuse in scripts/proof/lint/ignore for the kernel's rules has a use",
               excuses.problems([one.kind for one in excuses.excuses if one.kind not in kinds]))


def main():
    tap = taps.Report()
    print("TAP version 13")
    excuses = findings.Excuses(IGNORE.read_text())
    if sys.argv[1:] == ["--long"]:
        the_rest(tap, excuses)
    else:
        everything(tap, excuses)
    print(f"1..{tap.count}")
    sys.exit(1 if tap.failed else 0)


if __name__ == "__main__":
    main()
