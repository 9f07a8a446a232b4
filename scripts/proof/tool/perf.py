# SPDX-License-Identifier: GPL-2.0
"""perf.data, as perf reads it; and what its reports count."""

import re
import subprocess

import truth

SUFFIX = ".perf.data"
_LINE = re.compile(r"^ *.*? +-?\d+ \[(\d+)\] +(\d+\.\d+): +"
                   r"(?:(\w+:\w+): *$|PERF_RECORD_LOST lost (\d+))")


def read(path):
    """The file's Content."""
    text, _ = truth.output(["perf", "script", "-i", path, "--ns", "--show-lost-events",
                            "-F", "comm,tid,cpu,time,event"])
    return truth.Content(_rows(text.splitlines()))


def _rows(lines):
    for line in lines:
        match = _LINE.match(line)
        if not match:
            raise RuntimeError(f"perf script: {line!r}")
        if match[3]:
            yield truth.Row(int(match[1]), truth.ns(match[2]), match[3])
        else:
            yield int(match[1]), int(match[4])


def reports(path, content):
    """Sentences on reports that count otherwise than the records do."""
    names = [name for rows in content.rows.values() for _, name in rows]
    found = {
        "switches by perf sched timehist": (
            _number(path, r"context switches: (\d+)", "sched", "timehist", "-s"),
            names.count("sched:sched_switch")),
        "softirqs by perf kwork": (_kwork(path), names.count("irq:softirq_exit")),
        "system calls by perf trace": (
            _calls(path), names.count("raw_syscalls:sys_exit")),
    }
    # The beginning and the end of a trace cut some. um's kernel has no events of all calls.
    wrong = [f"{got} {what} for {count}" for what, (got, count) in found.items()
             if abs(got - count) > 4 + count // 50]
    if not _number(path, r"TOTAL: +\| +[\d.]+ ms \| +(\d+)", "sched", "latency"):
        wrong.append("perf sched latency has no switch")
    return wrong, {what: got for what, (got, _) in found.items()}


def _number(path, pattern, *words):
    """A number in what a report prints."""
    text, _ = truth.output(["perf", *words, "-i", path])
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


def _kwork(path):
    """All counts of softirqs."""
    text, _ = truth.output(["perf", "kwork", "-k", "softirq", "report", "-i", path])
    return sum(int(count) for count in re.findall(
        r"^ *\(s\)\w+:\d+ *\| \d+ *\| +[\d.]+ ms \| +(\d+) \|", text, re.M))


def _calls(path):
    """Lines of calls that have returned."""
    lines = path.with_suffix(".calls")
    truth.output(["perf", "trace", "-i", path, "-o", lines])
    return sum(" = " in line for line in lines.read_text(errors="replace").splitlines())


def chart(path):
    """Sentences on a picture of perf timechart that is none."""
    picture = path.with_suffix(".svg")
    truth.output(["perf", "timechart", "-i", path, "-o", picture])
    done = subprocess.run(["xmllint", "--noout", picture], check=False, capture_output=True,
                          text=True)
    if done.returncode:
        return [done.stderr]
    return [] if picture.read_text().count("<rect") > 10 else ["it is empty"]
