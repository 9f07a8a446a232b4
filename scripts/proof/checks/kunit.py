# SPDX-License-Identifier: GPL-2.0
"""KUnit through the kernel's own runner."""

import json
import os
import sys

import console
import layout
import tap
from checks.lane import LOGS, run, LaneError


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
