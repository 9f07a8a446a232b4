# SPDX-License-Identifier: GPL-2.0
"""Kernels that watch themselves: lockdep, KCSAN, KASAN, kmemleak."""

import re

import guest
import kcsan
import kmemleak
import layout
import machine
import tap
from checks.crashes import PERSIST, locked_down
from checks.guests import (BOOT, COUNTER, CYCLES, KUNIT, LIMITS, RACING_TESTS, STORM, TORTURE,
                           boot, everything, prepare)
from checks.lane import say, LaneError

# What kselftests run where data races are looked for: those that have readers,
# writers and control at work at the same time.
KCSAN_TESTS = ["etch:ring_torture", "etch:pipe", "etch:control",
               "etch:accounting", "etch:order", "etch:instances", "etch:gates",
               "etch:raw", "etch:snapshot", "etch:window", "etch:recorder",
               "etch:recorder_ends", "etch:storm", "etch:filter_fire", "etch:budget",
               "etch:trigger", "etch:hist", "etch:latency", "etch:user_events",
               "etch:user_hostile", "etch:user_packets", "etch:user_stress"]
# What kselftests run where memory is watched and processors are emulated: those in which
# it comes and goes, with two of them. All run in um-kasan.
MEMORY_TESTS = ["etch:control", "etch:raw", "etch:snapshot", "etch:window", "etch:module",
                "etch:metadata", "etch:ring_torture", "etch:storm", "etch:instances",
                "etch:recorder", "etch:recorder_ends", "etch:filter_fire", "etch:trigger",
                "etch:hist", "etch:latency", "etch:user_events", "etch:user_life",
                "etch:user_hostile", "etch:user_packets", "etch:user_stress", "etch:user_quota"]
# How many writes the fuzzer makes where accesses to memory are watched.
# Beside another guest, a million take longer than the 900 s that a kselftest has.
FUZZ_WRITES = ["etch_test.fuzz_writes=1000000", "kselftest.timeout=3600"]
# What a kernel that watches memory says of errors made on purpose.
ON_PURPOSE = ("BUG: KASAN: slab-out-of-bounds in kmalloc_oob_right",
              "UBSAN: array-index-out-of-bounds in")
# The kernel's own objects, of whose functions a data race is ours: Etch, and what
# the series changes.
OURS = ("kernel/etch/*.o", "kernel/etch/*/*.o", "samples/etch/*.o", "kernel/tracepoint.o",
        "kernel/jump_label.o", "kernel/trace/trace_print.o")


def lockdep():
    """The kselftests, and KUnit, in an x86-64 kernel that proves its locking, in two boots."""
    return everything("x86-64-lockdep", [TORTURE, STORM, COUNTER, CYCLES],
                      threaded=RACING_TESTS)


def last_boot(name, script, kind):
    """The report or the console of a lane's last boot."""
    return (layout.BUILD / name / f"{script}.{kind}").read_text(errors="replace")


def leaks(report, ours):
    """Cases of what kmemleak said in a report; ours: names of functions."""
    lines = [line.removeprefix("kmemleak: ") for line in report.splitlines()
             if line.startswith("kmemleak: ")]
    if "end" not in lines:
        return [tap.Case("kmemleak did not report", "failed")]
    found = kmemleak.leaks("\n".join(lines))
    mine = [leak for leak in found if leak.is_of(ours)]
    for leak in found:
        if leak not in mine:
            print(f"### known, and not Etch's: a leak of {leak}", flush=True)
    return ([tap.Case(f"a leak of {leak}", "failed") for leak in mine]
            or [tap.Case("kmemleak knows no leak of Etch's", "passed")])


def planted(name):
    """KASAN and kmemleak must report modules that do wrong on purpose."""
    say("Modules that do wrong on purpose.")
    result = guest.boot(name, layout.BUILD / name / "initrd.gz", "planted",
                        LIMITS["planted"], append=["kasan_multi_shot", "panic_on_warn=0"])
    found = leaks(result.report, {"kmemleak_test_init"})
    return [tap.Case("KASAN reports a planted access", "passed"
                     if re.search(r"BUG: KASAN: .*copy_user_test", result.console)
                     else "failed"),
            tap.Case("kmemleak reports planted leaks", "passed"
                     if any(case.name.startswith("a leak of ") for case in found)
                     else "failed")]


def memory():
    """Some kselftests, and KUnit, in an x86-64 kernel with KASAN and kmemleak."""
    name = "x86-64-kasan"
    cases = everything(name, [COUNTER], MEMORY_TESTS)
    for script in ("kselftest-first", "kselftest"):
        cases += leaks(last_boot(name, script, "report"), our_functions(name))
    return cases + planted(name)


def our_functions(name):
    """The names of our functions in a lane's kernel."""
    folder = layout.BUILD / name
    objects = [file for pattern in OURS for file in folder.glob(pattern)]
    if not objects:
        raise LaneError(f"{folder} has no objects of ours")
    # And what event headers expand to, wherever they are expanded.
    expanded = {function for function in kcsan.functions([folder / "vmlinux"])
                if function.startswith(("etch_", "__tracestub_"))}
    return kcsan.functions(objects) | expanded


def data_races():
    """Those kselftests with much at once, in an x86-64 kernel with KCSAN."""
    name = "x86-64-kcsan"
    tests = prepare(name)
    missing = set(KCSAN_TESTS) - set(tests)
    if missing:
        raise LaneError(f"there is no kselftest {' '.join(missing)}")
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    # A race of the kernel's own at boot shall not end it.
    cases = boot(name, "kselftest", LIMITS[name],
                 ["panic_on_warn=0", machine.THREADS, TORTURE, COUNTER]
                 + [f"kselftest={test}" for test in KCSAN_TESTS],
                 our_functions(name))
    if "kcsan: enabled" not in last_boot(name, "kselftest", "console"):
        cases.append(tap.Case("KCSAN was not enabled: nothing was looked for",
                              "failed"))
    print(f"### {name}: run were {' '.join(KCSAN_TESTS)}, and no others",
          flush=True)
    return cases


def memory_is_watched(name):
    """Errors made on purpose are found: a case for each kind of them."""
    folder = layout.BUILD / name
    guest.boot(name, folder / "initrd.gz", "on-purpose", 120, None,
               ["panic_on_warn=0", "kunit.enable=1",
                "kunit.filter_glob=kasan.kmalloc_oob_right"])
    log = (folder / "on-purpose.console").read_text(errors="replace")
    return [tap.Case(f"found when made on purpose: {error}",
                     "passed" if error in log else "failed")
            for error in ON_PURPOSE]


def kasan():
    """The kselftests, and a million fuzzed writes, in um with KASAN and UBSAN."""
    name = "um-kasan"
    prepare(name)
    cases = memory_is_watched(name)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases += boot(name, "kselftest", LIMITS[name], BOOT + KUNIT + FUZZ_WRITES)
    for mode in ("integrity", "confidentiality"):
        say(f"The same kernel locked down: {mode}.")
        locked = boot(name, "lockdown", 120, [f"lockdown={mode}", *PERSIST])
        if [case.status for case in locked] != ["passed"]:
            locked.append(tap.Case(f"locked down for {mode}", "failed"))
        cases += [*locked, locked_down(name, mode)]
    return cases
