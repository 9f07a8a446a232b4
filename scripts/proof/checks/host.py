# SPDX-License-Identifier: GPL-2.0
"""Lanes that boot nothing: sources, documents, and code in user space."""

import sys

import tap
from checks.lane import LOGS, SCRIPTS, need, run, show_remarks, tap_lane


def harness():
    """The tests of the harness itself, on recorded logs."""
    need([SCRIPTS / "lab/fetch.sh", "harness"])
    return tap_lane([sys.executable, SCRIPTS / "proof/tests/run.py"], "harness.tap")


def series():
    """Files and patches; checkpatch runs in the lane lint."""
    return tap_lane([SCRIPTS / "series/check-series.py", "--no-checkpatch"], "series.tap")


def docs():
    """The documentation, by kernel-doc and Sphinx."""
    need([SCRIPTS / "lab/fetch.sh", "docs"])
    return tap_lane([SCRIPTS / "proof/check-docs.sh"], "docs.tap")


def lint():
    """The sources, by the compiler, sparse, our rules of Coccinelle, checkpatch, and as prose."""
    need([SCRIPTS / "lab/fetch.sh", "lint"])
    cases = tap_lane([SCRIPTS / "proof/lint/check.py"], "lint.tap")
    show_remarks("lint.tap")
    return cases


def lint_long():
    """W=1, sparse and the rooms with lane um's options; the kernel's rules of Coccinelle."""
    need([SCRIPTS / "lab/fetch.sh", "lint"])
    return tap_lane([SCRIPTS / "proof/lint/check.py", "--long"], "lint-long.tap")


def ring():
    """The ring buffer's source in user space: stress, and the sanitizers."""
    need([SCRIPTS / "lab/fetch.sh", "arm64"])
    return tap_lane(["make", "-s", "-C", "selftests/ring", "check"],
                    "ring.tap")


def ring_long():
    """The ring buffer's source in user space, until 10^9 records are written."""
    need([SCRIPTS / "lab/fetch.sh", "arm64"])
    return tap_lane(["make", "-s", "-C", "selftests/ring", "check-long"],
                    "ring-long.tap")


def fuzz():
    """Parsers and writers in user space, under libFuzzer."""
    need([SCRIPTS / "lab/fetch.sh", "fuzz"])
    cases = tap_lane(["make", "-s", "-C", "selftests/fuzz", "check"], "fuzz.tap")
    show_remarks("fuzz.tap")
    return cases


def fuzz_long():
    """The same for ten minutes each; ten million inputs for the reader of traces."""
    need([SCRIPTS / "lab/fetch.sh", "fuzz"])
    return tap_lane(["make", "-s", "-C", "selftests/fuzz", "check-long"],
                    "fuzz-long.tap")


def model():
    """The ring buffer's protocol, exhausted by SPIN, with each rule taken out once."""
    need([SCRIPTS / "lab/fetch.sh", "model"])
    print("### model: the quick sizes: NOT those that \"make model\" has in addition",
          flush=True)
    return tap_lane([SCRIPTS / "proof/model/check.py", "--quick"], "model.tap")


def model_long():
    """The ring buffer's protocol in larger sizes."""
    need([SCRIPTS / "lab/fetch.sh", "model"])
    return tap_lane([SCRIPTS / "proof/model/check.py", "--long"], "model-long.tap")


def litmus():
    """The barriers, by the kernel's memory model."""
    need([SCRIPTS / "lab/fetch.sh", "litmus"])
    cases = tap_lane([SCRIPTS / "proof/litmus/check.py"], "litmus.tap")
    show_remarks("litmus.tap")
    return cases


def headers():
    """Every event header of the kernel, compiled for some architecture."""
    need([SCRIPTS / "lab/fetch.sh", "headers"])
    return tap_lane([SCRIPTS / "proof/headers.py"], "headers.tap")


def bisect():
    """Each prefix of the series, built and booted in um and x86-64."""
    cases = tap_lane([SCRIPTS / "series/prefixes.py"], "bisect.tap")
    print((LOGS / "bisect.tap").read_text().rpartition("# behind patch")[2])
    return cases


def forecast():
    """What of the series does not fit the newest kernel: printed, and no failure."""
    name = "the series was tried on the newest kernel"
    status, out = run([SCRIPTS / "series/forecast.py"])
    print(out)
    return [tap.Case(name, "skipped", out.strip().splitlines()[-1]) if status
            else tap.Case(name, "passed")]


def cocci_tree():
    """Our Coccinelle rules on the whole kernel tree."""
    need([SCRIPTS / "lab/fetch.sh", "lint"])
    return tap_lane([SCRIPTS / "proof/lint/whole.py"], "cocci-tree.tap")
