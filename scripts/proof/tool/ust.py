# SPDX-License-Identifier: GPL-2.0
"""A trace that LTTng has recorded of a program, and what etch makes of it.

LTTng's tracer for programs runs on any kernel; that for kernels needs modules, which nobody
can load here. It has no record of tasks, so tables of them say that, and no more.
"""

import json
import os
import re
import shutil
import signal
import time
from pathlib import Path

import truth

TURNS = 500
PROGRAM = """
#include <lttng/tracef.h>
#include <pthread.h>
#include <sys/prctl.h>
static void *turn(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < %d; i++)
		lttng_ust_tracef("turn %%d of %%s", i, (char *)name);
	return 0;
}
int main(void)
{
	pthread_t other;
	pthread_create(&other, 0, turn, "second");
	turn("first");
	return pthread_join(other, 0);
}
"""
PATIENCE = 60
COMMANDS = (("create", "some", "--output={out}"),
            ("enable-event", "--userspace", "lttng_ust_tracef:*"),
            ("add-context", "--userspace", "--type=vtid", "--type=procname"), ("start",))
LAST = (("stop",), ("destroy", "some"))


class Daemon:
    """LTTng's, with what it writes in a folder of ours."""

    def __init__(self, folder):
        self.pid = folder / "pid"
        # A program waits until the daemon knows it.
        self.environment = {**os.environ, "LTTNG_HOME": str(folder),
                            "LTTNG_UST_REGISTER_TIMEOUT": "-1"}
        self.run("lttng-sessiond", "--daemonize", "--no-kernel", f"--pidfile={self.pid}")

    def run(self, *command):
        """It must succeed."""
        truth.output(command, env=self.environment, timeout=PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pid = int(self.pid.read_text())
        os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + PATIENCE
        while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
            time.sleep(0.05)


def record(work):
    """The folder of a trace, with 2 * TURNS records of two threads."""
    folder = work / "ust"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "turns.c").write_text(PROGRAM % TURNS)
    truth.output(["gcc", "-O2", "-pthread", "-o", folder / "turns", folder / "turns.c",
                  "-llttng-ust"])
    with Daemon(folder) as daemon:
        for command in COMMANDS:
            daemon.run("lttng", *(word.format(out=folder / "out") for word in command))
        daemon.run(str(folder / "turns"))
        for command in LAST:
            daemon.run("lttng", *command)
    return next((folder / "out").rglob("metadata")).parent


def _lines(etch, trace):
    """Sentences on lines of etch show that are not those of the two threads, in order."""
    text = truth.output([etch, "show", "-H", trace])[0]
    found = re.findall(r"^ *(\w+)-\d+ .* event: msg=turn (\d+) of (\w+) ", text, re.M)
    wrong = [f"a line of {says} has the name {task}" for task, _, says in found if task != says]
    for name in "first", "second":
        turns = [int(turn) for _, turn, says in found if says == name]
        if turns != list(range(TURNS)):
            wrong.append(f"{name} has {len(turns)} turns in etch show, or another order")
    return wrong


def _json(etch, trace, work):
    """Sentences on what the JSON of it lacks."""
    truth.output([etch, "export", "-f", "json", "-o", work / "ust.json", trace])
    rows = [json.loads(line) for line in (work / "ust.json").read_text().splitlines()]
    texts = sorted(row["fields"]["msg"] for row in rows if "fields" in row)
    wanted = sorted(f"turn {i} of {name}" for i in range(TURNS) for name in ("first", "second"))
    return [] if texts == wanted else [f"JSON has {len(texts)} texts, not {len(wanted)}"]


def read(etch, work):
    """Sentences on what etch does not say of it."""
    trace = record(work)
    nr = len(truth.output(["babeltrace2", trace])[0].splitlines())
    if nr != 2 * TURNS:
        return [f"babeltrace2 has {nr} records, not {2 * TURNS}"]
    said = truth.output([etch, "check", trace])[0]
    wrong = [] if f"is whole: {nr} records of" in said else [f"etch check: {said}"]
    said = truth.output([etch, "top", trace])[0]
    if f", {nr} records, 0 lost" not in said or "no record tells of tasks" not in said:
        wrong.append(f"etch top: {said}")
    said = truth.output([etch, "view", "-o", work / "ust.html", trace])[0]
    if f"{nr} records, " not in said or "</html>" not in (work / "ust.html").read_text():
        wrong.append(f"etch view: {said}")
    return wrong + _lines(etch, trace) + _json(etch, trace, work)
