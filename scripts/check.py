#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Every test, lane by lane; the last line counts them.

  check.py [LANE...]     those named; default all but the long ones
  check.py long          all

LANES and LONG, further down, say what there is. A lane that cannot run, or that
runs no test, has failed. A kernel that does not boot, does not end in time, or
has trouble on its console, has failed too, whatever its tests said.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import console
import crash
import ftracetest as peer
import guest
import kcsan
import kmemleak
import layout
import machine
import site_checks
import tap
import tree

SCRIPTS = layout.TOP / "scripts"
LOGS = layout.BUILD / "log"
# What tests of early tracing need of the command line.
BOOT = ["etch_event=sched:sched_process_fork", "etch_buf_size=2M"]
# At boot, those of KUnit's suites that a kselftest has run again.
KUNIT = ["kunit.enable=1", "kunit.filter_glob=imv*"]
# At boot, all of them, for the end of the report.
ALL_KUNIT = ["kunit.enable=1", "show=kunit"]
# Those that patch code more often than QEMU can follow: see lib/machine.py. KUNIT's
# do, too.
ONE_THREAD_TESTS = ["etch:immediate"]
# Seconds until a guest with the kselftests is given up.
LIMITS = {"um": 900, "um-bare": 900, "um-long": 3600, "um-kasan": 5400,
          "x86-64-events": 2100,
          "arm64": 2100, "arm64-64k": 3600,
          "x86-64-lockdep": 3600, "x86-64-kcsan": 3600, "x86-64-rt": 3600,
          "x86-64-kasan": 3600, "um-clang": 900, "um-plain": 900, "um-off": 120,
          "x86-64-clang": 900, "planted": 600}
# What kselftests run where data races are looked for: those that have readers,
# writers and control at work at the same time.
KCSAN_TESTS = ["etch:ring_torture", "etch:pipe", "etch:control",
               "etch:accounting", "etch:order", "etch:instances", "etch:gates",
               "etch:raw", "etch:snapshot", "etch:window", "etch:recorder"]
# What kselftests run on arm64 when all lanes do: those with much at once, and those of
# what is written and how it is told. The long lanes run all.
ARM64_TESTS = ["etch:boot", "etch:format", "etch:accounting", "etch:order", "etch:pipe",
               "etch:instances", "etch:metadata", "etch:raw", "etch:snapshot",
               "etch:window", "etch:module", "etch:gates", "etch:ring_torture",
               "etch:immediate", "etch:all_events", "etch:recorder", "etch:storm",
               "etch:hotplug.sh"]
# How often gates are opened and values set there: each time both processors are waited
# for, and that is slow where they are emulated.
ARM64_CYCLES = "etch_test.cycles=2000"
# What kselftests run in the kernel compiled by clang: each way through the code
# once.
CLANG_TESTS = ["etch:format", "etch:gates", "etch:accounting", "etch:module",
               "etch:ring_torture", "etch:raw", "etch:all_events"]
# What babeltrace2's bindings are for.
DEBIAN_PYTHON = "/usr/bin/python3"
# Binary traces: seconds until the guest is given up, and what scripts/guest/ctf.sh is
# told: KiB of buffers, seconds of load, and the pause of each kind of it; seconds of
# what is recorded as text, too; rounds at a time that are too many, and how often.
CTF = {"um": (300, "buffer=65536 seconds=60 pause=0.4 twice=3 rounds=10000 times=20"),
       "x86-64-events": (900, "buffer=65536 seconds=60 pause=0.4 twice=3"
                              " rounds=10000 times=10")}
# Seconds until a guest with ftrace's own selftests is given up.
PEER_LIMITS = {"um": 600, "x86-64-ftrace": 3600}
# Guests that crash: seconds until one is given up, and the lines that its dump may have.
CRASH_LIMIT = 300
CRASH_LINES = 300
# What a kernel is told of memory that is to survive it, and of what it records there.
PERSIST = ["reserve_mem=16M:4096:etch", "etch_persist=etch,sched:sched_process_fork"]
# How long the ring is tortured in each mode, by a long lane; how long a storm lasts.
TORTURE = "etch_test.torture_ms=30000"
STORM = "etch_test.storm_ms=60000"
# How many writes the fuzzer makes where accesses to memory are watched.
FUZZ_WRITES = "etch_test.fuzz_writes=1000000"
# What a kernel that watches memory says of errors made on purpose.
ON_PURPOSE = ("BUG: KASAN: slab-out-of-bounds in kmalloc_oob_right",
              "UBSAN: array-index-out-of-bounds in")
# The kernel's own objects, of whose functions a data race is ours: Etch, and what
# the series changes.
OURS = ("kernel/etch/*.o", "samples/etch/*.o", "kernel/tracepoint.o",
        "kernel/jump_label.o", "kernel/trace/trace_print.o")


class LaneError(Exception):
    """Why a lane could not run, as a sentence."""


def say(text):
    """A step, as the shell scripts say it."""
    print(f"==> {text}", flush=True)


def build_environment():
    """What makes builds repeatable and the compiler's cache hit."""
    return {**machine.um_environment(), "KBUILD_BUILD_USER": "etch",
            "KBUILD_BUILD_HOST": "etch",
            "KBUILD_BUILD_TIMESTAMP": "Fri Nov  1 00:00:00 UTC 2024",
            "CCACHE_BASEDIR": str(layout.BUILD), "CCACHE_NOHASHDIR": "1"}


def run(command, log=None):
    """Run a command; gives (status, its output), kept in log if named."""
    result = subprocess.run([str(word) for word in command], cwd=layout.TOP,
                            env=build_environment(), text=True, check=False,
                            errors="replace", stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    if log:
        LOGS.mkdir(parents=True, exist_ok=True)
        (LOGS / log).write_text(result.stdout)
    return result.returncode, result.stdout


def need(command):
    """Run a command that shows its own progress; it must succeed."""
    words = [str(word) for word in command]
    if subprocess.run(words, cwd=layout.TOP, check=False).returncode:
        raise LaneError(" ".join(words) + " failed")


def tap_lane(command, log):
    """The cases of a command that prints TAP; a failed status counts."""
    status, out = run(command, log)
    cases = tap.parse(out.splitlines())
    if status and all(case.status != "failed" for case in cases):
        tail = "\n".join(out.splitlines()[-15:])
        raise LaneError(f"{command[0]} ended with status {status}:\n{tail}")
    return cases


def show_remarks(log):
    """What a command said that is no result: what it did not do."""
    for line in (LOGS / log).read_text().splitlines():
        if line.startswith("###"):
            print(line, flush=True)


def harness():
    """The tests of the harness itself, on recorded logs."""
    return tap_lane([sys.executable, SCRIPTS / "tests/run.py"], "harness.tap")


def series():
    """Files and patches."""
    return tap_lane([SCRIPTS / "check-series.py"], "series.tap")


def docs():
    """The documentation, by kernel-doc and Sphinx."""
    return tap_lane([SCRIPTS / "check-docs.sh"], "docs.tap")


def lint():
    """The sources, by the compiler, sparse, Coccinelle, and as prose."""
    need([SCRIPTS / "fetch.sh", "lint"])
    cases = tap_lane([SCRIPTS / "lint/check.py"], "lint.tap")
    show_remarks("lint.tap")
    return cases


def ring():
    """The ring buffer's source in user space: stress, and the sanitizers."""
    need([SCRIPTS / "fetch.sh", "arm64"])
    return tap_lane(["make", "-s", "-C", "selftests/ring", "check"],
                    "ring.tap")


def model():
    """The ring buffer's protocol, exhausted by SPIN, with each rule taken out once."""
    need([SCRIPTS / "fetch.sh", "model"])
    return tap_lane([SCRIPTS / "model/check.py"], "model.tap")


def ring_long():
    """The ring buffer's source in user space, until 10^9 records are written."""
    need([SCRIPTS / "fetch.sh", "arm64"])
    return tap_lane(["make", "-s", "-C", "selftests/ring", "check-long"],
                    "ring-long.tap")


def model_long():
    """The ring buffer's protocol in larger sizes."""
    need([SCRIPTS / "fetch.sh", "model"])
    return tap_lane([SCRIPTS / "model/check.py", "--long"], "model-long.tap")


def litmus():
    """The ring buffer's barriers, by the kernel's memory model."""
    need([SCRIPTS / "fetch.sh", "litmus"])
    cases = tap_lane([SCRIPTS / "litmus/check.py"], "litmus.tap")
    show_remarks("litmus.tap")
    return cases


def kunit_cases(group, prefix=""):
    """The leaves of kunit.py's JSON."""
    names = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
    cases = []
    for case in group.get("test_cases", []):
        status = names.get(case["status"], "failed")
        cases.append(tap.Case(prefix + case["name"], status))
    for sub in group.get("sub_groups", []):
        cases += kunit_cases(sub, f"{prefix}{sub['name']}: ")
    return cases


def kunit_run(name, *options):
    """The KUnit suites, through the kernel's own runner.

    name: of the folder to build in.
    """
    folder, report = layout.BUILD / name, LOGS / f"{name}.json"
    folder.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    # It must be run in the tree, and calls make there.
    status, out = run(
        ["env", "-C", layout.LINUX, sys.executable,
         "tools/testing/kunit/kunit.py", "run",
         "--kunitconfig=kernel/etch/.kunitconfig", f"--build_dir={folder}",
         f"--jobs={os.cpu_count()}", "--timeout=600", f"--json={report}",
         *options], f"{name}.log")
    if not report.exists():
        tail = "\n".join(out.splitlines()[-25:])
        raise LaneError(f"kunit.py ended with status {status}:\n{tail}")
    cases = kunit_cases(json.loads(report.read_text()))
    log = (folder / "test.log").read_text(errors="replace")
    cases += [tap.Case(f"{what} in the kernel's log, line {number}: {line}",
                       "failed")
              for number, what, line in console.scan(log)[:5]]
    if status and all(case.status != "failed" for case in cases):
        raise LaneError(f"kunit.py ended with status {status}")
    return cases


def kunit():
    """The KUnit suites in um."""
    # um's PCI, which kunit.py turns on, warns at boot that it has no device;
    # a warning would fail the lane, and nothing here uses it.
    return kunit_run("kunit", "--arch=um", "--make_options=CC=ccache gcc",
                     "--kconfig_add=CONFIG_UML_PCI_OVER_VIRTIO=n")


def prepare(name):
    """Kernel, kselftests and root file system of a lane; the tests' names."""
    guest_of = machine.lane(name).get("GUEST")
    installed = layout.BUILD / (f"kselftest-{guest_of}" if guest_of else "kselftest")
    need([SCRIPTS / "build.sh", name])
    need([SCRIPTS / "selftests.sh", installed, name])
    need([SCRIPTS / "rootfs.sh", name, installed])
    return (installed / "kselftest-list.txt").read_text().split()


def boot(name, script, limit, append, ours=None, output=None):
    """The cases that a guest reports.

    ours: names of functions, as guest.Result.problems() has them.
    output: a file for what it leaves to the host: see scripts/guest/output.sh.
    """
    def show(data):
        """Results as they come, each on a line."""
        for line in data.decode("utf-8", "replace").splitlines():
            if tap.LINE.match(line):
                print(f"    {line}", flush=True)

    result = guest.boot(name, layout.BUILD / name / "initrd.gz", script,
                        limit, show, append, output=output)
    cases = tap.parse(result.lines())
    cases += [tap.Case(problem, "failed") for problem in result.problems(ours)]
    for title in sorted(set(result.others_races(ours) if ours else [])):
        print(f"### {name}: known, and not Etch's: {title}", flush=True)
    say(f"Guest ran {result.seconds:.0f} s.")
    return cases


def kselftest(name):
    """The kselftests in the kernel of a lane."""
    prepare(name)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    return boot(name, "kselftest", LIMITS[name], BOOT + KUNIT)


def um():
    """The kselftests in User-mode Linux."""
    return kselftest("um")


def um_long():
    """A longer storm, and every allocation failing once, in User-mode Linux."""
    tests = ["etch:storm", "etch:faults"]
    missing = set(tests) - set(prepare("um"))
    if missing:
        raise LaneError(f"there is no kselftest {' '.join(missing)}")
    return boot("um", "kselftest", LIMITS["um-long"],
                [STORM, "etch_test.faults=all"]
                + [f"kselftest={test}" for test in tests])


def um_bare():
    """The kselftests in User-mode Linux without ftrace."""
    return kselftest("um-bare")


def um_clang():
    """The kselftests in User-mode Linux, compiled by clang."""
    need([SCRIPTS / "fetch.sh", "clang"])
    return kselftest("um-clang")


def um_plain():
    """The kselftests in User-mode Linux without modules."""
    cases = kselftest("um-plain")
    if not any(case.status == "skipped" and "no modules" in case.why for case in cases):
        cases.append(tap.Case("no test said that there are no modules", "failed"))
    return cases


def um_off():
    """User-mode Linux with the series and CONFIG_ETCH=n: nothing is there."""
    name = "um-off"
    need([SCRIPTS / "build.sh", name])
    need([SCRIPTS / "rootfs.sh", name])
    cases = boot(name, "off", LIMITS[name], [])
    status, out = run(["nm", layout.BUILD / name / "vmlinux"])
    words = {line.split()[-1] for line in out.splitlines()}
    if status or "start_kernel" not in words:
        raise LaneError(f"nm could not read {name}'s vmlinux")
    left = sorted(word for word in words if re.search(r"(^|_)(etch|imv)_|__trace(stub|more)_",
                                                      word))
    cases.append(tap.Case("vmlinux has no symbol of Etch's " + " ".join(left),
                          "failed" if left else "passed"))
    return cases


def sites(name):
    """The code of a lane's kernel where events are hit."""
    folder = layout.BUILD / name
    say(f"Code at the tracepoints of {name}.")
    return site_checks.cases(folder / "vmlinux",
                             folder / "samples/etch/etch-sample.ko")


def keep_boot(name):
    """The report and the console of the first boot, beside those of the next."""
    for kind in ("report", "console"):
        file = layout.BUILD / name / f"kselftest.{kind}"
        file.replace(file.with_stem("kselftest-first"))


def x86_64():
    """An x86-64 kernel with about a thousand events: kselftests, and its code."""
    name = "x86-64-events"
    tests = prepare(name)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name],
                 BOOT + [f"kselftest={test}" for test in tests
                         if test not in ONE_THREAD_TESTS])
    keep_boot(name)
    say("Once more, with ONE THREAD of QEMU for both processors, for "
        + " ".join(ONE_THREAD_TESTS))
    cases += boot(name, "kselftest", LIMITS[name],
                  BOOT + KUNIT + [machine.ONE_THREAD]
                  + [f"kselftest={test}" for test in ONE_THREAD_TESTS])
    return cases + sites(name)


def lockdep():
    """The kselftests in an x86-64 kernel that proves its locking."""
    name = "x86-64-lockdep"
    tests = prepare(name)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name],
                 BOOT + [TORTURE, STORM]
                 + [f"kselftest={test}" for test in tests
                    if test not in ONE_THREAD_TESTS])
    print(f"### {name}: NOT run: {' '.join(ONE_THREAD_TESTS)}, which patch code "
          "too often", flush=True)
    return cases


def kunit_at_boot(name, limit):
    """All of KUnit's suites, as they ran when the lane's kernel booted."""
    say(f"KUnit's suites in {name}, at boot.")
    return boot(name, "kunit", limit, ["kunit.enable=1"])


def arm64_guest(name, only=()):
    """KUnit and kselftests, by default all, in an arm64 kernel, two processors."""
    need([SCRIPTS / "fetch.sh", "arm64-guest"])
    tests = prepare(name)
    missing = set(only) - set(tests)
    if missing:
        raise LaneError(f"there is no kselftest {' '.join(missing)}")
    cases = kunit_at_boot(name, 300)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases += boot(name, "kselftest", LIMITS[name],
                  BOOT + KUNIT + [ARM64_CYCLES] * bool(only)
                  + [f"kselftest={test}" for test in only])
    if only:
        print(f"### {name}: run were {' '.join(only)}, and no others", flush=True)
    return cases


def arm64():
    """An arm64 kernel with pages of 4 KiB: KUnit, and kselftests with much at once."""
    return arm64_guest("arm64", ARM64_TESTS)


def arm64_long():
    """The same arm64 kernel: KUnit and all kselftests."""
    return arm64_guest("arm64")


def arm64_64k():
    """An arm64 kernel with pages of 64 KiB: KUnit and all kselftests."""
    return arm64_guest("arm64-64k")


def everything(name, append):
    """All kselftests and all of KUnit's in a lane's kernel, in two boots.

    The second one is for what patches code often; the reports are kept as
    kselftest-first and kselftest.
    """
    tests = prepare(name)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name],
                 BOOT + append + [f"kselftest={test}" for test in tests
                                  if test not in ONE_THREAD_TESTS])
    keep_boot(name)
    say("KUnit, and with ONE THREAD of QEMU for both processors "
        + " ".join(ONE_THREAD_TESTS))
    kunit_and_more = boot(name, "kselftest", LIMITS[name],
                          BOOT + ALL_KUNIT + [machine.ONE_THREAD]
                          + [f"kselftest={test}" for test in ONE_THREAD_TESTS])
    if not any(case.name.startswith("etch_ring: ") for case in kunit_and_more):
        cases.append(tap.Case("KUnit's tests of the ring did not report", "failed"))
    return cases + kunit_and_more


def realtime():
    """The kselftests and KUnit in an x86-64 kernel with PREEMPT_RT."""
    return everything("x86-64-rt", [TORTURE])


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
    """What does wrong on purpose is noticed by KASAN and by kmemleak."""
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
    """The kselftests and KUnit in an x86-64 kernel with KASAN and kmemleak."""
    name = "x86-64-kasan"
    cases = everything(name, [])
    for script in ("kselftest-first", "kselftest"):
        cases += leaks(last_boot(name, script, "report"), our_functions(name))
    return cases + planted(name)


def clang():
    """Some kselftests in a small x86-64 kernel compiled by clang, and its code."""
    name = "x86-64-clang"
    need([SCRIPTS / "fetch.sh", "clang"])
    prepare(name)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name],
                 BOOT + [f"kselftest={test}" for test in CLANG_TESTS])
    print(f"### {name}: run were {' '.join(CLANG_TESTS)}, and no others", flush=True)
    return cases + sites(name)


def headers():
    """Every event header of the kernel, compiled for some architecture."""
    need([SCRIPTS / "fetch.sh", "headers"])
    return tap_lane([SCRIPTS / "headers.py"], "headers.tap")


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
                 ["panic_on_warn=0", TORTURE]
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
    cases += boot(name, "kselftest", LIMITS[name], BOOT + KUNIT + [FUZZ_WRITES])
    for mode in ("integrity", "confidentiality"):
        say(f"The same kernel locked down: {mode}.")
        locked = boot(name, "lockdown", 120, [f"lockdown={mode}"])
        if [case.status for case in locked] != ["passed"]:
            locked.append(tap.Case(f"locked down for {mode}", "failed"))
        cases += locked
    return cases


def fuzz():
    """Parsers and writers in user space, under libFuzzer."""
    need([SCRIPTS / "fetch.sh", "fuzz"])
    cases = tap_lane(["make", "-s", "-C", "selftests/fuzz", "check"], "fuzz.tap")
    show_remarks("fuzz.tap")
    return cases


def fuzz_long():
    """The same for ten minutes each."""
    need([SCRIPTS / "fetch.sh", "fuzz"])
    return tap_lane(["make", "-s", "-C", "selftests/fuzz", "check-long"],
                    "fuzz-long.tap")


def binary_traces(name):
    """Record in a lane's kernel, and check what was recorded on the host."""
    need([SCRIPTS / "fetch.sh", "ctf"])
    prepare(name)
    folder, archive = layout.BUILD / name / "ctf", layout.BUILD / name / "ctf.tar"
    shutil.rmtree(folder, ignore_errors=True)
    archive.unlink(missing_ok=True)
    folder.mkdir()
    limit, words = CTF[name]
    say(f"Binary traces in {name}, at most {limit} s.")
    cases = boot(name, "ctf", limit, [f"ctf.{word}" for word in words.split()],
                 output=archive)
    need(["tar", "-C", folder, "-xf", archive])
    log = f"ctf-{name}.tap"
    say(f"babeltrace2 reads {archive.stat().st_size >> 20} MiB.")
    recorder = layout.BUILD / name / "samples/etch/record/etch-record"
    cases += tap_lane([DEBIAN_PYTHON, SCRIPTS / "ctf/check.py", folder, recorder], log)
    show_remarks(log)
    return cases


def ctf():
    """Binary traces of User-mode Linux, as babeltrace2 reads them."""
    return (tap_lane([DEBIAN_PYTHON, SCRIPTS / "ctf/broken.py"], "ctf-broken.tap")
            + binary_traces("um"))


def ctf_x86_64():
    """Binary traces of an x86-64 kernel with about a thousand events."""
    return binary_traces("x86-64-events")


def peer_kernel(name, mainline=False):
    """A lane's kernel with ftrace's selftests, or mainline's: the folder of it."""
    folder = layout.BUILD / (f"bench-{name}" if mainline else name)
    env = ["env", f"OUT={folder}"]
    if mainline:
        need([*env, f"SOURCE={layout.PRISTINE}", "WITHOUT=etch",
              SCRIPTS / "build.sh", name])
    else:
        need([*env, SCRIPTS / "build.sh", name])
    expected = peer.page(peer.PAGE.read_text())
    need([*env, SCRIPTS / "rootfs.sh", name, peer.prepare(expected)])
    return folder


def peer_boot(name, folder, kind):
    """ftrace's selftests in a kernel: (what was seen, cases of what went wrong).

    kind: "etch" in Etch's tree; else in ftrace's, and only a name for the files.
    """
    def show(data):
        """The runner's lines as they come: what is run, and then the result."""
        for line in data.decode("utf-8", "replace").splitlines(keepends=True):
            if line.startswith(("[", "\t[")):
                print(f"    {line}" if line[0] == "[" else line, end="", flush=True)

    say(f"ftrace's selftests in {folder.name} ({kind}), at most {PEER_LIMITS[name]} s.")
    result = guest.boot(name, folder / "initrd.gz", "ftracetest", PEER_LIMITS[name],
                        show, [f"ftracetest.tree={kind}"], folder=folder)
    for file in folder.glob("ftracetest.*"):
        file.replace(file.with_stem(f"ftracetest-{kind}"))
    say(f"Guest ran {result.seconds:.0f} s.")
    return (peer.Seen(result.lines()),
            [tap.Case(problem, "failed") for problem in result.problems()])


def peer_both(name, folder, mainline):
    """Both trees of a lane's kernel. mainline: {test: result} there, or None."""
    expected = peer.page(peer.PAGE.read_text())
    cases = [tap.Case(problem, "failed")
             for problem in peer.unknown(expected, peer.files())]
    seen, problems = peer_boot(name, folder, "etch")
    cases += problems + peer.in_etch(seen, expected)
    if mainline is None:
        return cases + [tap.Case("ftrace's tree", "skipped",
                                 "it is not kept what mainline gives")]
    seen, problems = peer_boot(name, folder, "ftrace")
    return cases + problems + peer.as_mainline(seen, mainline)


def ftracetest():
    """ftrace's own selftests in User-mode Linux, in ftrace's tree and in Etch's."""
    return peer_both("um", peer_kernel("um"), peer.kept("um"))


def ftracetest_mainline():
    """The same in mainline's User-mode Linux: what they gave is what is kept of it."""
    seen, problems = peer_boot("um", peer_kernel("um", mainline=True), "mainline")
    new = LOGS / "ftracetest-mainline-um"
    new.write_text(peer.to_list(seen.results))
    kept = peer.kept("um")
    if kept is None:
        raise LaneError(f"{peer.stored('um')} is missing; what it should be is in {new}")
    return problems + peer.as_mainline(seen, kept)


def ftracetest_x86_64():
    """ftrace's own selftests in x86-64 kernels with all its tracers."""
    name = "x86-64-ftrace"
    seen, problems = peer_boot(name, peer_kernel(name, mainline=True), "mainline")
    return problems + peer_both(name, peer_kernel(name), seen.results)


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
                        "etch_dump_on_oops")
    return crash.panic_cases(result, CRASH_LINES)


def crash_um():
    """The last words of a kernel that panics, in User-mode Linux."""
    prepare("um")
    return panic_dumped("um")


def crash_x86_64():
    """What is left by a kernel that oopses, panics, and is booted again: x86-64."""
    name = "x86-64-events"
    prepare(name)
    cases = panic_dumped(name)
    result = crash_boot(name, "crash=record")
    return cases + crash.record_cases(result) + persist_boots(name)


def persist_boots(name):
    """Two boots of one machine: what the second finds of what the first recorded."""
    need([SCRIPTS / "fetch.sh", "ctf"])
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
    cases += tap_lane([DEBIAN_PYTHON, SCRIPTS / "ctf/kept.py", folder,
                       layout.BUILD / name / "persist.report"], "persist.tap")
    show_remarks("persist.tap")
    return cases


def bisect():
    """Each prefix of the series, built and booted in um and x86-64."""
    cases = tap_lane([SCRIPTS / "bisect.py"], "bisect.tap")
    print((LOGS / "bisect.tap").read_text().rpartition("# behind patch")[2])
    return cases


def cocci_tree():
    """Our Coccinelle rules on the whole kernel tree."""
    need([SCRIPTS / "fetch.sh", "lint"])
    return tap_lane([SCRIPTS / "lint/whole.py"], "cocci-tree.tap")


LANES = {"harness": harness, "series": series, "docs": docs, "lint": lint,
         "ring": ring, "fuzz": fuzz, "model": model, "litmus": litmus, "kunit": kunit,
         "um": um, "um-bare": um_bare,
         "x86-64": x86_64, "arm64": arm64, "ctf": ctf, "ctf-x86-64": ctf_x86_64,
         "ftracetest": ftracetest}
# What is slow, kernels that watch themselves above all: make check-long.
LONG = {"ring-long": ring_long, "model-long": model_long, "fuzz-long": fuzz_long,
        "um-long": um_long, "um-kasan": kasan,
        "crash": crash_um, "crash-x86-64": crash_x86_64,
        "bisect": bisect, "cocci-tree": cocci_tree,
        "arm64-long": arm64_long, "arm64-64k": arm64_64k,
        "x86-64-lockdep": lockdep, "x86-64-kcsan": data_races,
        "x86-64-rt": realtime, "x86-64-kasan": memory, "x86-64-clang": clang,
        "um-clang": um_clang, "um-plain": um_plain, "um-off": um_off,
        "headers": headers,
        "ftracetest-mainline": ftracetest_mainline,
        "ftracetest-x86-64": ftracetest_x86_64}
ALL = {**LANES, **LONG}


def run_lane(name):
    """(cases, seconds) of a lane; whatever keeps it from running is a case."""
    start = time.monotonic()
    say(f"Lane {name}: {ALL[name].__doc__}")
    try:
        cases = ALL[name]()
        if not cases:
            raise LaneError("no test ran")
    except (LaneError, machine.MachineError, tree.TreeError,
            peer.FtracetestError, OSError) as error:
        cases = [tap.Case(f"the lane could not run: {error}", "failed")]
    for case in cases:
        if case.status != "passed":
            print(f"### {name}: {case.status}: {case.name} {case.why}",
                  flush=True)
    return cases, time.monotonic() - start


def count(cases, status):
    """How many cases have a status."""
    return sum(case.status == status for case in cases)


def table(results):
    """The lanes with their counts and times."""
    row = "{:<14} {:>7} {:>7} {:>8} {:>8}"
    print("\n" + row.format("lane", "passed", "failed", "skipped", "seconds"))
    for name, (cases, seconds) in results.items():
        print(row.format(name, count(cases, "passed"), count(cases, "failed"),
                         count(cases, "skipped"), f"{seconds:.0f}"))
    left_out = [name for name in ALL if name not in results]
    if left_out:
        print(f"### NOT run: {' '.join(left_out)}")


def main():
    names = sys.argv[1:] or list(LANES)
    if names == ["long"]:
        names = list(ALL)
    unknown = [name for name in names if name not in ALL]
    if unknown:
        sys.exit(f"no lane {unknown[0]}; there are: {' '.join(ALL)}")
    results = {}
    if run(["python3", SCRIPTS / "tree.py", "build"], "tree.log")[0]:
        print((LOGS / "tree.log").read_text())
        results["tree"] = ([tap.Case("build/linux could not be made",
                                     "failed")], 0)
        names = [name for name in names if name in ("harness", "series")]
    for name in names:
        results[name] = run_lane(name)
    table(results)
    every = [case for cases, _ in results.values() for case in cases]
    print("\n{} passed, {} failed, {} skipped".format(
        *(count(every, status)
          for status in ("passed", "failed", "skipped"))))
    sys.exit(1 if count(every, "failed") else 0)


if __name__ == "__main__":
    main()
