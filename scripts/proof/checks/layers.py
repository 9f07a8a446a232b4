# SPDX-License-Identifier: GPL-2.0
"""Each combination of layers that a kernel can have alone: compiled, booted, tested.

From the ground up. Those on top of "events" are compiled in its folder, one after the other:
a kernel differs from the one before by one layer, which takes seconds.
"""

import elf
import layout
import tap
from checks import ahead, example, first_event, guests
from checks.lane import SCRIPTS, need, say, LaneError

# Seconds until a guest is given up.
LIMIT = 1500

# The kernel with all layers passes these, too; here, other layers are missing.
EVENTS = ["gates", "format", "available"]
TEXT = ["pipe", "control", "accounting", "statedump", "statedump_tells", "markers"]
PACKETS = ["raw", "window", "snapshot", "metadata"]

# All kselftests but those that take long. A test skips itself where the kernel lacks its option.
MOST = None

# The fragment that leaves them out, for a kernel that has text.
WITHOUT_MARKERS = "layers-text"

# The lane whose kernel it is, a fragment for its configuration, and the kselftests that
# run in it. KUnit's suites run in each.
COMBINATIONS = {
    "immediate values": ("um-hook", "", ["immediate"]),
    "the ring": ("um-ring", "", ["ring_sample", "ring_torture"]),
    "immediate values and the ring": ("um-low", "", ["immediate", "ring_sample", "ring_torture"]),
    "events": ("um-core", "", EVENTS),
    "events and text": ("um-core", WITHOUT_MARKERS, TEXT),
    "events and packets": ("um-core", "layers-packets", PACKETS),
    "events, packets and persist": ("um-core", "layers-persist", []),
    "events, text and packets": ("um-core", "layers-both", MOST),
}

# One of two that do not use each other, without the other one: each a kernel to be compiled.
# The lane lint sees that no object of theirs uses what is not below it.
LONE = ["immediate values", "the ring",
        "events and text", "events and packets", "events, packets and persist"]


def without_markers(name, cases):
    """Failed cases of a kernel without the option, where a module has markers in its source."""
    wrong = []
    ran = [case for case in cases if ": markers: " in case.name or ": markers." in case.name]
    if not ran or any(case.status != "skipped" or "CONFIG_ETCH_MARK" not in case.why
                      for case in ran):
        wrong.append(f"the tests of markers ran: {ran}")
    module = elf.Image(layout.BUILD / name / "samples/etch/etch-sample.ko")
    if any(section.name == "_etch_marks" for section in module.sections):
        wrong.append("the module has some")
    return [tap.Case(f"markers are not there: {text}", "failed") for text in wrong]


def combination(title, name, more, tests):
    """The cases of one: KUnit's at boot, the kselftests; with all, the first event of authors."""
    say(f"Layers: {title}.")
    need(["env", f"MORE={more}", SCRIPTS / "lab/build.sh", name])
    with guests.selftests():
        need([SCRIPTS / "lab/rootfs.sh", name, guests.installed(name)])
    there = [test.partition(":")[2] for test in guests.installed_tests(name)]
    has_all = tests is MOST
    if has_all:
        left_out = guests.SLOW_TESTS + guests.NOT_BRIEF
        tests = [test for test in there if f"etch:{test}" not in left_out]
    missing = set(tests) - set(there)
    if missing:
        raise LaneError(f"there is no kselftest {' '.join(sorted(missing))}")
    cases = guests.boot(name, "kunit", LIMIT, guests.AT_BOOT)
    if not cases:
        raise LaneError(f"{title}: KUnit ran no test")
    if tests:
        cases += guests.boot(name, "kselftest", LIMIT, guests.BOOT + guests.KUNIT
                             + [f"kselftest=etch:{test}" for test in tests])
    if more == WITHOUT_MARKERS:
        cases += without_markers(name, cases)
    if has_all:
        cases += first_event.recorded(name, first_event.files())
    for case in cases:
        case.name = f"{title}: {case.name}"
    return cases


def some(titles):
    """The cases of these combinations."""
    cases, installed = [], False
    need([SCRIPTS / "lab/fetch.sh", "user"])
    for title in titles:
        name, more, tests = COMBINATIONS[title]
        ahead.wait(name)
        if not installed:
            with guests.selftests():
                need([SCRIPTS / "lab/selftests.sh", guests.installed(name), name])
            installed = True
        cases += combination(title, name, more, tests)
    return cases


def layers():
    """The layers from the ground up: those that use no other, events, readers, a room more."""
    print(f"### layers: NOT run, but in layers-long: {'; '.join(LONE)}", flush=True)
    return some(title for title in COMBINATIONS if title not in LONE) + example.example()


def layers_long():
    """Layers that do not use each other: each without the other."""
    return some(LONE)
