# SPDX-License-Identifier: GPL-2.0
"""The dumps and records of kernels that crash."""

import re
import shutil

import console
import crash
import guest
import layout
import tap
from checks.guests import prepare
from checks.lane import DEBIAN_PYTHON, SCRIPTS, need, say, show_remarks, tap_lane, LaneError

# Guests that crash: seconds until one is given up, and the lines that its dump may have.
CRASH_LIMIT = 300
CRASH_LINES = 300
# The kernel's parameters for memory that survives the kernel, and for the events in it.
PERSIST = ["reserve_mem=16M:4096:etch", "etch_persist=etch,sched:sched_process_fork"]


def crash_boot(name, *append):
    """A guest that is to crash: its Result, kept under the crash's name."""
    result = guest.boot(name, layout.BUILD / name / "initrd.gz", "crash", CRASH_LIMIT,
                        None, append)
    for kind in ("report", "console"):
        file = layout.BUILD / name / f"crash.{kind}"
        file.replace(file.with_stem(append[0].replace("=", "-")))
    if not result.in_time:
        raise LaneError(f"{append[0]}: the time limit of {CRASH_LIMIT} s ran out")
    return result


def panic_dumped(name):
    """A kernel that panics shows its last records."""
    result = crash_boot(name, "crash=panic", f"etch_dump_lines={CRASH_LINES}",
                        "etch_dump_on_oops,named")
    return crash.panic_cases(result, CRASH_LINES)


def crash_um():
    """The last words of a kernel that panics, in User-mode Linux."""
    prepare("um")
    return panic_dumped("um")


def locked_down(name, mode):
    """A kernel that is locked down dumps what may be read in that mode, and nothing else."""
    result = crash_boot(name, "crash=locked", f"lockdown={mode}", "etch_dump_on_oops",
                        "etch_event=sched:sched_process_fork")
    dumped = re.search(r"etch: dump of the main tree, all CPUs: .*[1-9]", result.console)
    right = bool(dumped) == (mode == "integrity") and "Kernel panic" in result.console
    return tap.Case(f"a panic dumps {'what' if dumped else 'nothing'}: {mode}",
                    "passed" if right else "failed")


def crash_x86_64():
    """The dumps and records of a kernel that oopses, panics, and is booted again: x86-64."""
    name = "x86-64"
    prepare(name)
    cases = panic_dumped(name)
    cases += crash.record_cases(crash_boot(name, "crash=record", "etch_dump_on_oops"))
    cases += crash.busy_cases(crash_boot(name, "crash=busy", "etch_dump_on_oops=orig_cpu",
                                         f"etch_dump_lines={CRASH_LINES}"), CRASH_LINES)
    return cases + persist_boots(name)


def persist_boots(name):
    """Two boots of one machine: the second finds the records of the first."""
    need([SCRIPTS / "lab/fetch.sh", "ctf"])
    folder, archive = layout.BUILD / name / "persist", layout.BUILD / name / "persist.tar"
    shutil.rmtree(folder, ignore_errors=True)
    archive.unlink(missing_ok=True)
    folder.mkdir()
    say(f"Two boots of {name}, at most {2 * CRASH_LIMIT} s.")
    result = guest.boot(name, layout.BUILD / name / "initrd.gz", "persist", 2 * CRASH_LIMIT,
                        None, PERSIST, output=archive, reboots=True)
    cases = tap.parse(result.lines())
    # The first boot's trouble is what was asked for.
    second = result.console.rpartition("Linux version")[2]
    cases += [tap.Case(f"{what} on the second boot's console: {line}", "failed")
              for _, what, line in console.scan(second)[:5]]
    if not result.in_time or "guest: end 0" not in result.report or not cases:
        return cases + [tap.Case("the second boot did not come to its end", "failed")]
    need(["tar", "-C", folder, "-xf", archive])
    cases += tap_lane([DEBIAN_PYTHON, SCRIPTS / "proof/ctf/kept.py", folder,
                       layout.BUILD / name / "persist.report"], "persist.tap")
    show_remarks("persist.tap")
    return cases
