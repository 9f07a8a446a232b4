# SPDX-License-Identifier: GPL-2.0
"""The stack at an event, as ftrace, perf and BPF tell it: in Etch's kernel as in mainline's.

A kselftest prints it in both, as "stack: WHO HOW EVENT: FUNCTION...".
"""

import re

import guest
import layout
import lock
import tap
import tree
from checks import ahead, guests
from checks.lane import SCRIPTS, need, say, LaneError

TEST = "etch:frames"
LINE = re.compile(r"^[# ]*stack: (\S+) (.+) (\S+): (.*)$")
# What mainline cannot have is as if Etch were not there.
WITH_ETCH, ALONE = "with Etch", "alone"
LIMIT = 900                     # seconds until a guest is given up
# Those that must tell a stack in a lane's kernel.
WHO = {"um": {"ftrace", "trigger"}, "x86-64": {"ftrace", "trigger", "perf", "BPF"}}


def told(lines):
    """{(who, how, event): functions} of a guest's report."""
    return {match.group(1, 2, 3): match[4].split()
            for match in map(LINE.match, lines) if match}


def compare(mainline, etch, who):
    """A case for each stack of Etch's kernel, and for each one that is not there."""
    wanted = {**mainline, **{(one, WITH_ETCH, event): stack
                             for (one, how, event), stack in mainline.items() if how == ALONE}}
    cases = [tap.Case(f"{one} told no stack", "failed")
             for one in sorted(who - {one for one, _, _ in mainline})]
    for key in sorted({*wanted, *etch}):
        title = "{}, {}: the stack of {} is mainline's".format(*key)
        if etch.get(key) == wanted.get(key):
            cases.append(tap.Case(title, "passed"))
        else:
            cases.append(tap.Case(title, "failed", " ".join(
                [*etch.get(key, ["none"]), "is not", *wanted.get(key, ["none"])])))
    return cases


def boot(name, folder):
    """The stacks that a kernel of a lane tells."""
    with lock.alone(layout.BUILD / "log/kselftest.lock", "Another make check"):
        need([SCRIPTS / "lab/selftests.sh", guests.installed(name), name])
        need(["env", f"OUT={folder}", SCRIPTS / "lab/rootfs.sh", name, guests.installed(name)])
    result = guest.boot(name, folder / "initrd.gz", "kselftest", LIMIT,
                        append=[f"kselftest={TEST}"], folder=folder)
    say(f"Guest {folder.name} ran {result.seconds:.0f} s.")
    problems = result.problems()
    if problems:
        raise LaneError(f"{folder.name}: " + "; ".join(problems))
    return told(result.lines())


def stacks_of(name):
    """The cases of a lane's two kernels."""
    mainline = layout.BUILD / f"bench-{name}"
    need(["env", f"OUT={mainline}", f"SOURCE={tree.mainline(name)}", "WITHOUT=etch",
          SCRIPTS / "lab/build.sh", name])
    ahead.wait(name)
    need([SCRIPTS / "lab/build.sh", name])
    cases = compare(boot(name, mainline), boot(name, layout.BUILD / name), WHO[name])
    for case in cases:
        case.name = f"{name}: {case.name}"
    return cases


def stacks():
    """The stack at an event by ftrace, perf and BPF, with the series and without: equal."""
    return [case for name in WHO for case in stacks_of(name)]
