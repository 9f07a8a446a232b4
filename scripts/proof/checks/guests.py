# SPDX-License-Identifier: GPL-2.0
"""The kselftests in the kernels of lanes."""

import collections
import re
import shutil
import time

import guest
import layout
import lock
import machine
import site_checks
import tap
from checks import ahead, first_event, peers
from checks.lane import (DEBIAN_PYTHON, SCRIPTS, host_tool, need, run, say, show_remarks,
                         tap_lane, LaneError)

# What tests of early tracing need of the command line. The event is hit as often on
# each machine: once for each initcall that comes after Etch's.
BOOT = ["etch_event=initcall:initcall_finish", "etch_buf_size=2M"]
# At boot, those of KUnit's suites that a kselftest has run again. Newer kernels free the suites
# that a filter chose when they have run, and crash when a file in debugfs runs one again; but
# there no suite needs to run at boot.
KUNIT = ["kunit.enable=1", "kunit.filter_glob=imv*" if layout.BASE == "6.12"
         else "kunit.autorun=0"]
# At boot, all of them. Newer kernels ask for that once more, unless their configuration does.
AT_BOOT = ["kunit.enable=1", *([] if layout.BASE == "6.12" else ["kunit.autorun=1"])]
# The same, for the end of a report.
ALL_KUNIT = [*AT_BOOT, "show=kunit"]
# Those that patch code so often that QEMU, with several threads, soon executes a
# translation of the old code: see THREADS in lib/machine.py. KUNIT's do, too.
PROBING_TESTS = ["etch:probes", "etch:probe_life", "etch:probe_names", "etch:fprobes"]
ONE_THREAD_TESTS = ["etch:immediate", "etch:all_events", *PROBING_TESTS]
# Those with much at once that patch little. Where one boot has all tests, several threads of
# QEMU would end too many of the boots: there these have them, and no others.
RACING_TESTS = ["etch:ring_torture", "etch:accounting", "etch:order", "etch:filter_fire",
                "etch:trigger", "etch:hist", "etch:latency", "etch:user_events",
                "etch:user_protocol", "etch:user_stress", "etch:hotplug.sh"]
# Seconds until a guest with the kselftests is given up.
LIMITS = {"um": 1500, "um-bare": 900, "um-long": 5400, "um-kasan": 5400,
          "x86-64": 1800, "x86-64-lean": 1800, "x86-64-events": 3600,
          "arm64-bare": 2100, "arm64": 3600, "arm64-64k": 3600,
          "x86-64-lockdep": 7200, "x86-64-kcsan": 3600, "x86-64-rt": 7200,
          "x86-64-kasan": 7200, "um-clang": 900, "um-plain": 900, "um-off": 120,
          "um-user": 1500,
          "x86-64-clang": 900, "x86-64-probes": 1800, "planted": 600}
# Those that take long where processors are emulated; User-mode Linux has them always. None of
# the last three depends on the machine.
SLOW_TESTS = ["etch:faults", "etch:killed", "etch:storm", "etch:fuzz_files",
              "etch:access", "etch:badinput", "etch:recorder_ends"]
# These take a third of the time that all others take there. Lane ctf-x86-64 records on two
# processors with the tool, and filters mean the same on each machine.
SAME_TESTS = ["etch:recorder", "etch:live.sh", "etch:filter_equal"]
# Those that take long besides, and are as long in User-mode Linux of another base.
NOT_BRIEF = ["etch:recorder", "etch:live.sh", "etch:filter_fire", "etch:filter_equal",
             "etch:ring_torture"]
# What kselftests run on arm64 in CI: those with much at once. The long lanes run all.
ARM64_TESTS = ["etch:boot", "etch:accounting", "etch:order", "etch:pipe", "etch:instances",
               "etch:raw", "etch:module", "etch:gates", "etch:ring_torture",
               "etch:immediate", "etch:all_events", "etch:hotplug.sh", "etch:user_rseq",
               "etch:user_protocol", "etch:user_events", "etch:statedump_tells"]
# Events of programs.
USER_TESTS = ["etch:user_rseq", "etch:user_events", "etch:user_life", "etch:user_hostile",
              "etch:user_protocol", "etch:user_stress", "etch:user_packets", "etch:user_mark",
              "etch:user_write", "etch:user_sdt", "etch:user_emit", "etch:user_quota",
              "etch:user_abi", "etch:marks", "etch:live.sh", "etch:access"]
# Probes of all kinds.
PROBE_TESTS = ["etch:probes", "etch:uprobes", "etch:fprobes", "etch:probe_names",
               "etch:probe_lines", "etch:probe_life", "etch:markers"]
# How often a probed program starts, and how many definitions come and go, in a long lane.
STARTS = ["etch_test.starts=1000", "etch_test.definitions=1000"]
# An emulated processor's counter is the machine's, and so alike on both. Programs need it.
COUNTER = "tsc=reliable"
# Records of programs in a trace of a long lane.
MANY_RECORDS = "user.records=400000"
# How often gates are opened and values set there: each time both processors are waited
# for, and that is slow where they are emulated.
CYCLES = "etch_test.cycles=2000"
# How often a filter in use is exchanged there, in make check, for the same reason.
EXCHANGES = "etch_test.exchanges=150"
# What kselftests run in the kernel compiled by clang: each way through the code
# once.
CLANG_TESTS = ["etch:format", "etch:gates", "etch:accounting", "etch:module",
               "etch:ring_torture", "etch:raw", "etch:all_events", "etch:markers"]
# What kselftests run in a small x86-64 kernel of a base that is not the first, where User-mode
# Linux has them all: early tracing, both tracers beside each other, both processors, every event.
# Gates come before the tests that switch the event of early tracing off: while one event is on,
# switching another one does not patch the site of exits, too, which takes far longer.
BRIEF_TESTS = ["etch:boot", "etch:immediate", "etch:gates", "etch:pair", "etch:consumers",
               "etch:all_events"]
# In make check, tests that take most of the time in User-mode Linux get fewer of what they draw
# by chance: filters, moments at which readers are killed, allocations that fail, and events whose
# files are opened and written, one in so many. um-long runs these tests whole.
DRAWN = ["etch_test.filters=6000", "etch_test.exchanges=2500", "etch_test.kills=12",
         "etch_test.faults=10", "etch_test.one_event_in=8"]
DRAWN_TESTS = ["etch:filter_equal", "etch:filter_fire", "etch:killed", "etch:faults",
               "etch:access", "etch:badinput"]
# How long the ring is tortured in each mode, by a long lane; how long a storm lasts.
TORTURE = "etch_test.torture_ms=30000"
STORM = "etch_test.storm_ms=60000"


def installed(name):
    """The folder with the kselftests that a lane's guest is given."""
    guest_of = machine.lane(name).get("GUEST")
    return layout.BUILD / (f"kselftest-{guest_of}" if guest_of else "kselftest")


def installed_tests(name):
    """The names of these kselftests."""
    return (installed(name) / "kselftest-list.txt").read_text().split()


def selftests():
    """A lock on the installed kselftests: most lanes have one folder for them."""
    return lock.alone(layout.BUILD / "log/kselftest.lock", "Another lane")


def prepare(name):
    """Kernel, kselftests and root file system of a lane; the tests' names."""
    ahead.wait(name)
    need([SCRIPTS / "lab/build.sh", name])
    with selftests():
        need([SCRIPTS / "lab/selftests.sh", installed(name), name])
        need([SCRIPTS / "lab/rootfs.sh", name, installed(name)])
        return installed_tests(name)


class Shown:
    """Prints a guest's results as they come, each on a line. Before a failed one it prints
    the lines that led to it, too: the report may be gone when somebody asks why. It notes
    how long each kselftest took."""

    LINES = 40
    # How a kselftest's own result is named, behind those of its cases.
    PROGRAM = "selftests: "

    def __init__(self, now=time.monotonic):
        self.rest = b""
        self.said = collections.deque(maxlen=self.LINES)
        self.now = now
        self.took = {}
        self.since = now()

    def __call__(self, data):
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.line(line.decode("utf-8", "replace").rstrip("\r"))

    def line(self, text):
        """One line, without its end."""
        match = tap.LINE.match(text)
        if not match:
            self.said.append(text)
            return
        for said in self.said if match["not"] else ():
            print(f"    {said}")
        self.said.clear()
        print(f"    {text}", flush=True)
        if not match["indent"]:
            self.ended(match["name"].strip())

    def ended(self, name):
        """A result that is no case's."""
        now = self.now()
        if name.startswith(self.PROGRAM):
            self.took[name.removeprefix(self.PROGRAM).replace(": ", ":")] = now - self.since
        self.since = now

    def slowest(self, number=8):
        """The kselftests that took longest, as a list in words."""
        order = sorted(self.took.items(), key=lambda item: -item[1])[:number]
        return ", ".join(f"{name} {seconds:.0f} s" for name, seconds in order)


def unheard(wanted, cases):
    """A failed case for each kselftest that was to run, and of which none is."""
    # As the runner names them: "etch:pipe" is "selftests: etch: pipe".
    heard = {case.name.partition("selftests: ")[2] + ": " for case in cases}
    return [tap.Case(f"{test} did not run to its end", "failed") for test in wanted
            if not any(name.startswith(test.replace(":", ": ", 1) + ": ")
                       for name in heard)]


def boot(name, script, limit, append, ours=None, output=None):
    """The cases that a guest reports.

    ours: names of functions, as guest.Result.problems() has them.
    output: a file for what it leaves to the host: see scripts/lab/guest/output.sh.
    """
    show = Shown()
    result = guest.boot(name, layout.BUILD / name / "initrd.gz", script,
                        limit, show, append, output=output)
    cases = tap.parse(result.lines())
    if script == "kselftest":
        named = [word.partition("=")[2] for word in append if word.startswith("kselftest=")]
        cases += unheard(named or installed_tests(name), cases)
    cases += [tap.Case(problem, "failed") for problem in result.problems(ours)]
    for title in sorted(set(result.others_races(ours) if ours else [])):
        print(f"### {name}: known, and not Etch's: {title}", flush=True)
    longest = show.slowest()
    say(f"Guest ran {result.seconds:.0f} s"
        + (f"; the slowest tests: {longest}." if longest else "."))
    return cases


def kselftest(name, append=()):
    """The kselftests in the kernel of a lane."""
    prepare(name)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    return boot(name, "kselftest", LIMITS[name], BOOT + KUNIT + list(append))


def um():
    """KUnit and the kselftests in User-mode Linux; traces with programs' records."""
    need([SCRIPTS / "lab/fetch.sh", "user"])
    cases = kselftest("um", DRAWN)
    print("### um: run in PART, and whole in um-long: " + " ".join(DRAWN_TESTS), flush=True)
    return (cases + skipped_user_tests(cases) + boot("um", "unused", 60, [])
            + kunit_at_boot("um", 120) + user_traces("um") + first_event.first_event("um"))


def um_brief():
    """KUnit, most kselftests and the demo in a small User-mode Linux with lockdep."""
    name = "um-user"
    need([SCRIPTS / "lab/fetch.sh", "user"])
    tests = prepare(name)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name],
                 BOOT + KUNIT + [f"kselftest={test}" for test in tests
                                 if test not in SLOW_TESTS + NOT_BRIEF])
    print(f"### {name}: NOT run, but in the long lanes: {' '.join(SLOW_TESTS + NOT_BRIEF)}",
          flush=True)
    return (cases + skipped_user_tests(cases) + boot(name, "unused", 60, [])
            + kunit_at_boot(name, 120) + demo(name) + first_event.first_event(name))


def demo(name):
    """The demo of make run, in a lane's kernel."""
    say(f"The demo, in {name}.")
    return boot(name, "demo", 120, []) or [tap.Case("the demo runs to its end", "passed")]


def um_long():
    """A longer storm, every allocation failing once, all of the tests that make check shortens.

    That of a module's loading does so where there is no ftrace, which would warn.
    """
    cases = []
    for name, tests in (("um", ["etch:storm", *DRAWN_TESTS]), ("um-bare", ["etch:faults"])):
        missing = set(tests) - set(prepare(name))
        if missing:
            raise LaneError(f"there is no kselftest {' '.join(missing)}")
        cases += boot(name, "kselftest", LIMITS["um-long"],
                      [STORM, "etch_test.faults=all"]
                      + [f"kselftest={test}" for test in tests])
    return cases


def um_bare():
    """The kselftests in User-mode Linux without ftrace."""
    return kselftest("um-bare")


def um_clang():
    """The kselftests in User-mode Linux, compiled by clang."""
    need([SCRIPTS / "lab/fetch.sh", "clang"])
    return kselftest("um-clang")


def um_plain():
    """The kselftests in User-mode Linux without modules."""
    cases = kselftest("um-plain")
    if not any(case.status == "skipped" and "no modules" in case.why for case in cases):
        cases.append(tap.Case("no test said that there are no modules", "failed"))
    return cases


def um_user():
    """Events of programs, in a small User-mode Linux: none of their tests is skipped. KUnit."""
    name = "um-user"
    need([SCRIPTS / "lab/fetch.sh", "user"])
    missing = set(USER_TESTS) - set(prepare(name))
    if missing:
        raise LaneError(f"there is no kselftest {' '.join(missing)}")
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name],
                 BOOT + [f"kselftest={test}" for test in USER_TESTS])
    print(f"### {name}: run were {' '.join(USER_TESTS)}, and no others", flush=True)
    return (cases + skipped_user_tests(cases) + kunit_at_boot(name, 120)
            + user_traces(name))


def skipped_user_tests(cases):
    """A failed case for each test of programs' events that was skipped."""
    return [tap.Case(f"{case.name} was skipped", "failed") for case in cases
            if case.status == "skipped" and
            (": user_" in case.name or "records_of_programs" in case.name)]


def user_traces(name, append=()):
    """Traces with programs' records, recorded in a lane's kernel and checked on the host."""
    need([SCRIPTS / "lab/fetch.sh", "ctf"])
    folder, archive = layout.BUILD / name / "user", layout.BUILD / name / "user.tar"
    shutil.rmtree(folder, ignore_errors=True)
    archive.unlink(missing_ok=True)
    folder.mkdir()
    say(f"Binary traces in {name}, at most {LIMITS[name]} s.")
    cases = boot(name, "user", LIMITS[name], list(append), output=archive)
    if not archive.exists() or not archive.stat().st_size:
        return cases + [tap.Case("the guest sends its traces", "failed")]
    need(["tar", "-C", folder, "-xf", archive])
    log = f"ctf-{name}.tap"
    cases += tap_lane([DEBIAN_PYTHON, SCRIPTS / "proof/ctf/user.py", folder, host_tool()], log)
    show_remarks(log)
    return cases


def um_off():
    """User-mode Linux with the series and CONFIG_ETCH=n: nothing is there."""
    name = "um-off"
    need([SCRIPTS / "lab/build.sh", name])
    need([SCRIPTS / "lab/rootfs.sh", name])
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
    """A small x86-64 kernel: kselftests, and its code."""
    name = "x86-64"
    # perf makes definitions for one of the tests.
    need([SCRIPTS / "lab/fetch.sh", "probes"])
    tests = prepare(name)
    say(f"Kselftests in {name} with ONE THREAD of QEMU, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name],
                 BOOT + KUNIT + [CYCLES, EXCHANGES]
                 + [f"kselftest={test}" for test in tests
                    if test not in SLOW_TESTS + SAME_TESTS])
    print(f"### {name}: NOT run, but in x86-64-long: {' '.join(SLOW_TESTS + SAME_TESTS)}; "
          "nor with a thread for each processor, but in x86-64-long", flush=True)
    return cases + boot(name, "unused", 120, []) + sites(name)


def x86_64_brief():
    """A smaller x86-64 kernel: what User-mode Linux cannot show, in one boot, and its code."""
    name = "x86-64-lean"
    tests = prepare(name)
    missing = set(BRIEF_TESTS) - set(tests)
    if missing:
        raise LaneError(f"there is no kselftest {' '.join(missing)}")
    say(f"Kselftests in {name} with ONE THREAD of QEMU, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name],
                 BOOT + KUNIT + [CYCLES] + [f"kselftest={test}" for test in BRIEF_TESTS])
    print(f"### {name}: run were {' '.join(BRIEF_TESTS)}, and no others", flush=True)
    return cases + sites(name)


def x86_64_long():
    """An x86-64 kernel with about a thousand events: all tests, and its code."""
    name = "x86-64-events"
    return everything(name, [STORM]) + sites(name)


def kunit_at_boot(name, limit):
    """All of KUnit's suites, as they ran when the lane's kernel booted."""
    say(f"KUnit's suites in {name}, at boot.")
    return boot(name, "kunit", limit, AT_BOOT)


def arm64_guest(name, only=()):
    """KUnit and kselftests, by default all, in an arm64 kernel, two processors."""
    need([SCRIPTS / "lab/fetch.sh", "arm64-guest"])
    tests = prepare(name)
    missing = set(only) - set(tests)
    if missing:
        raise LaneError(f"there is no kselftest {' '.join(missing)}")
    cases = kunit_at_boot(name, 300)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases += boot(name, "kselftest", LIMITS[name],
                  BOOT + KUNIT + [CYCLES] * bool(only)
                  + [f"kselftest={test}" for test in only])
    if only:
        print(f"### {name}: run were {' '.join(only)}, and no others", flush=True)
    return cases


def arm64_bare():
    """An arm64 kernel without ftrace: KUnit, and kselftests with much at once."""
    return arm64_guest("arm64-bare", ARM64_TESTS)


def arm64():
    """An arm64 kernel with pages of 4 KiB: KUnit and all kselftests; programs' records."""
    return arm64_guest("arm64") + user_traces("arm64", [MANY_RECORDS])


def arm64_64k():
    """An arm64 kernel with pages of 64 KiB: KUnit and all kselftests."""
    return arm64_guest("arm64-64k")


def everything(name, append, only=(), threaded=None):
    """All kselftests, or only some, and all of KUnit's in a lane's kernel, in two boots.

    The first one has a thread of QEMU for each processor, and the tests in threaded: by
    default all but those that patch code often. The second one has the others, and KUnit. The
    reports are kept as kselftest-first and kselftest.
    """
    tests = prepare(name)
    missing = set([*only, *(threaded or ())]) - set(tests)
    if missing:
        raise LaneError(f"there is no kselftest {' '.join(missing)}")
    first = [test for test in only or tests
             if (test not in ONE_THREAD_TESTS if threaded is None else test in threaded)]
    second = (ONE_THREAD_TESTS if threaded is None
              else [test for test in only or tests if test not in threaded])
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name], BOOT + append + [machine.THREADS]
                 + [f"kselftest={test}" for test in first])
    keep_boot(name)
    if only:
        print(f"### {name}: run were {' '.join(only)}, and no others", flush=True)
    say("KUnit, and with ONE THREAD of QEMU for both processors " + " ".join(second))
    kunit_and_more = boot(name, "kselftest", LIMITS[name], BOOT + ALL_KUNIT + append
                          + [f"kselftest={test}" for test in second])
    if not any(case.name.startswith("etch_ring: ") for case in kunit_and_more):
        cases.append(tap.Case("KUnit's tests of the ring did not report", "failed"))
    return cases + kunit_and_more


def probes():
    """Probes in an x86-64 kernel that has all kinds, and debug information: none is skipped."""
    name = "x86-64-probes"
    need([SCRIPTS / "lab/fetch.sh", "probes"])
    prepare(name)
    say(f"Kselftests in {name} with ONE THREAD of QEMU, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name],
                 STARTS + [f"kselftest={test}" for test in PROBE_TESTS])
    skipped = [case.name for case in cases if case.status == "skipped"]
    cases += [tap.Case(f"{test} was skipped", "failed") for test in skipped]
    return cases + peers.ftracetest_probes(name)


def realtime():
    """The kselftests and KUnit in an x86-64 kernel with PREEMPT_RT; programs' records."""
    name = "x86-64-rt"
    return everything(name, [TORTURE, COUNTER, CYCLES], threaded=RACING_TESTS) + user_traces(
        name, [machine.THREADS, COUNTER, MANY_RECORDS])


def clang():
    """Some kselftests in a small x86-64 kernel compiled by clang, and its code."""
    name = "x86-64-clang"
    need([SCRIPTS / "lab/fetch.sh", "clang"])
    prepare(name)
    say(f"Kselftests in {name}, at most {LIMITS[name]} s.")
    cases = boot(name, "kselftest", LIMITS[name],
                 BOOT + [f"kselftest={test}" for test in CLANG_TESTS])
    print(f"### {name}: run were {' '.join(CLANG_TESTS)}, and no others", flush=True)
    return cases + kunit_at_boot(name, 300) + sites(name)
