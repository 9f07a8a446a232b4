# SPDX-License-Identifier: GPL-2.0
"""What every lane is made of: running commands, and reading their TAP."""

import subprocess

import layout
import lock
import machine
import tap

SCRIPTS = layout.TOP / "scripts"
LOGS = layout.BUILD / "log"
# What babeltrace2's bindings are for.
DEBIAN_PYTHON = "/usr/bin/python3"


class LaneError(Exception):
    """Why a lane could not run, as a sentence."""


def say(text):
    """A step, as the shell scripts say it."""
    print(f"==> {text}", flush=True)


def build_environment():
    """The variables that make builds repeatable and the compiler's cache hit."""
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


def host_tool():
    """The tool for this machine, with the libraries that a static one lacks."""
    need([SCRIPTS / "lab/fetch.sh", "tool"])
    out = layout.BUILD / "tools"
    out.mkdir(exist_ok=True)
    with lock.alone(LOGS / "tools.lock", "Another lane"):
        status, said = run(["make", "-C", layout.BUILD / "linux/tools/tracing/etch",
                            f"O={out}"], "tools.log")
    if status:
        raise LaneError(f"etch could not be built for this machine:\n{said[-2000:]}")
    return out / "etch"


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
