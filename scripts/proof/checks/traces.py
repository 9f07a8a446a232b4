# SPDX-License-Identifier: GPL-2.0
"""Binary traces, read by babeltrace2."""

import shutil

import layout
import lock
import tap
from checks.guests import boot, prepare
from checks.lane import (DEBIAN_PYTHON, SCRIPTS, host_tool, need, run, say, show_remarks,
                         tap_lane)

# Binary traces: seconds until the guest is given up, and the words for
# scripts/lab/guest/ctf.sh: KiB of buffers, seconds of load, and the pause of each kind of it;
# seconds of the load that is also read as text; rounds at a time that are too many, and
# how often.
CTF = {"um": (300, "buffer=65536 seconds=30 pause=0.4 twice=3 rounds=10000 times=20"),
       "x86-64": (600, "buffer=65536 seconds=30 pause=0.4 twice=3"
                       " rounds=10000 times=10"),
       "x86-64-events": (900, "buffer=65536 seconds=60 pause=0.4 twice=3"
                              " rounds=10000 times=10")}

# The formats that make check exports, for programs in small packages. The others need a display,
# LTTng's daemon or npm, and apt takes longer to install those than all tests of exports take.
FEW = ("dat", "perf", "perfetto", "lttng", "foreign", "json", "csv", "sqlite", "svg")

# They read Parquet, and Debian has nothing that does.
PARQUET = ("@duckdb/node-api@1.5.6-r.1", "hyparquet@1.31.5", "hyparquet-compressors@1.1.2")


def binary_traces(name):
    """Record in a lane's kernel, and check what was recorded on the host."""
    need([SCRIPTS / "lab/fetch.sh", "ctf"])
    prepare(name)
    folder, archive = layout.BUILD / name / "ctf", layout.BUILD / name / "ctf.tar"
    shutil.rmtree(folder, ignore_errors=True)
    archive.unlink(missing_ok=True)
    folder.mkdir()
    limit, words = CTF[name]
    say(f"Binary traces in {name}, at most {limit} s.")
    cases = boot(name, "ctf", limit, [f"ctf.{word}" for word in words.split()],
                 output=archive)
    if not archive.exists() or not archive.stat().st_size:
        return cases + [tap.Case("the guest sends its traces", "failed")]
    need(["tar", "-C", folder, "-xf", archive])
    log = f"ctf-{name}.tap"
    say(f"babeltrace2 reads {archive.stat().st_size >> 20} MiB.")
    recorder = layout.BUILD / name / "tools/tracing/etch/etch-record"
    cases += tap_lane([DEBIAN_PYTHON, SCRIPTS / "proof/ctf/check.py", folder, recorder], log)
    show_remarks(log)
    return cases


def parquet():
    """Words for exports.py; none where npm cannot get what reads Parquet."""
    folder = layout.BUILD / "npm"
    status, said = run(["npm", "install", "--loglevel", "error", "--prefix", folder, *PARQUET],
                       "npm.log")
    if not status:
        return ["--npm", folder]
    why = (said.strip().splitlines() or ["it does not say why"])[0]
    print(f"### NOT checked by DuckDB and hyparquet: npm install failed: {why}", flush=True)
    return []


def exports(name, few=()):
    """What other programs read in what the tool exports of a lane's traces.

    few: some of the formats that exports.py knows.
    """
    need([SCRIPTS / "lab/fetch.sh", "export" if few else "export-long"])
    if few:
        print(f"### {name}: exports as {', '.join(few)} only: the long lanes have KernelShark,"
              " LTTng's recorder, Parquet, the gallery and completion by shells, too", flush=True)
    folder = layout.BUILD / name / "ctf"
    log = f"exports-{name}.tap"
    say("Other programs read what etch export writes.")
    # Ports, a display and LTTng's daemon are the machine's.
    with lock.alone(layout.BUILD / "log/exports.lock", "Another lane with a trace"):
        cases = tap_lane([DEBIAN_PYTHON, SCRIPTS / "proof/tool/exports.py", folder, host_tool(),
                          *(few or parquet())], log)
    show_remarks(log)
    return cases


def ctf():
    """Binary traces of User-mode Linux, as babeltrace2 reads them, and their exports."""
    return binary_traces("um") + exports("um")


def gallery():
    """One recording of a small x86-64 kernel in each viewer; pictures in build/gallery."""
    for what in ("ctf", "view", "export-long"):
        need([SCRIPTS / "lab/fetch.sh", what])
    folder, archive = layout.BUILD / "x86-64/gallery", layout.BUILD / "x86-64/gallery.tar"
    prepare("x86-64")
    shutil.rmtree(folder, ignore_errors=True)
    archive.unlink(missing_ok=True)
    folder.mkdir(parents=True)
    cases = boot("x86-64", "gallery", 300, [], output=archive)
    if not archive.exists() or not archive.stat().st_size:
        return cases + [tap.Case("the guest sends the gallery's trace", "failed")]
    need(["tar", "-C", folder, "-xf", archive])
    log = "gallery.tap"
    cases += tap_lane([DEBIAN_PYTHON, SCRIPTS / "proof/tool/pictures.py", host_tool(),
                       folder / "trace", layout.BUILD, layout.BUILD / "gallery"], log)
    show_remarks(log)
    return cases


def view():
    """The page of etch view, of the trace that lane ctf-x86-64 records, in Chromium; speed."""
    for what in ("ctf", "view", "export-long"):
        need([SCRIPTS / "lab/fetch.sh", what])
    trace = layout.BUILD / "x86-64/ctf/load/ctf"
    cases = [] if trace.is_dir() else binary_traces("x86-64")
    log = "view.tap"
    etch = layout.BUILD / "x86-64/tools/tracing/etch/etch"
    cases += tap_lane([DEBIAN_PYTHON, SCRIPTS / "proof/ctf/view.py", etch, trace, layout.BUILD],
                      log)
    show_remarks(log)
    cases += tap_lane([DEBIAN_PYTHON, SCRIPTS / "proof/tool/served.py", etch, trace,
                       layout.BUILD], "served.tap")
    cases += tap_lane([DEBIAN_PYTHON, SCRIPTS / "proof/tool/speed.py", host_tool(), trace],
                      "speed.tap")
    show_remarks("speed.tap")
    return cases


def ctf_x86_64():
    """Binary traces of a small x86-64 kernel, which has two CPUs, and most of their exports."""
    need([SCRIPTS / "lab/fetch.sh", "ctf"])
    return (tap_lane([DEBIAN_PYTHON, SCRIPTS / "proof/ctf/broken.py"], "ctf-broken.tap")
            + binary_traces("x86-64") + exports("x86-64", FEW))


def ctf_x86_64_long():
    """Binary traces of an x86-64 kernel with about a thousand events, and their exports."""
    return binary_traces("x86-64-events") + exports("x86-64-events")
