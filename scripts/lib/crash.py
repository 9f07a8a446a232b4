# SPDX-License-Identifier: GPL-2.0
"""What a kernel's last words are: dumps of records on its console.

The guest shows its traces in the report, between "trace: NAME" and "trace: end",
before it crashes; the console has to show the same lines then.
"""

import re

import tap

_STAMP = re.compile(r"^\[\s*\d+\.\d+\](?:\[[^]]*\])? ?")
_BEGIN = re.compile(r"^etch: dump of (.+), (all CPUs|CPU \d+): (?:the last )?(\d+) records$")
_END = re.compile(r"^etch: dump of (.+) ends$")


def dumps(console):
    """{name: (which CPUs, how many it speaks of, its lines)} of a console."""
    found, name = {}, None
    for line in console.splitlines():
        text = _STAMP.sub("", line)
        begin = _BEGIN.match(text)
        if begin:
            name = begin[1]
            if name in found:
                raise ValueError(f"{name} is dumped twice")
            found[name] = (begin[2], int(begin[3]), [])
        elif name and _END.match(text):
            name = None
        elif name:
            found[name][2].append(text)
    if name:
        raise ValueError(f"the dump of {name} has no end")
    return found


def traces(report):
    """{name: lines} that the guest showed, comments left out."""
    found, name = {}, None
    for line in report.splitlines():
        if line == "trace: end":
            name = None
        elif line.startswith("trace: "):
            name = line[len("trace: "):]
            found[name] = []
        elif name and not line.startswith("#"):
            found[name].append(line)
    return found


def compare(name, dump, trace, most):
    """Sentences on the differences between a dump and the last lines of the file trace."""
    which, number, lines = dump
    wanted = trace[-most:]
    if not wanted:
        return [f"{name}: there is nothing to compare"]
    wrong = []
    if which != "all CPUs":
        wrong.append(f"{name}: of {which}")
    if number != len(lines) or len(lines) != len(wanted):
        wrong.append(f"{name}: {number} records told, {len(lines)} lines, "
                     f"{len(wanted)} wanted")
    wrong += [f"{name}: {have!r} instead of {want!r}"
              for have, want in zip(lines, wanted) if have != want][:3]
    return wrong


def panic_cases(result, most):
    """The cases of a guest that crashed by a panic, as scripts/lab/guest/crash.sh does.

    most: etch_dump_lines.
    """
    shown = traces(result.report)
    try:
        found = dumps(result.console)
    except ValueError as error:
        return [tap.Case(f"the dump: {error}", "failed")]
    names = {"main": "the main tree", "named": "named"}
    cases = []
    for short, name in names.items():
        wrong = [f"{name} was not dumped"]
        if name in found and short in shown:
            wrong = compare(name, found[name], shown[short], most)
        cases += [tap.Case(line, "failed") for line in wrong]
        if not wrong:
            cases.append(tap.Case(f"{name}: dumped as trace shows it", "passed"))
    others = set(found) - set(names.values())
    cases.append(tap.Case("nothing else is dumped: " + " ".join(sorted(others)),
                          "failed" if others else "passed"))
    if "as it was asked to" not in result.console:
        cases.append(tap.Case("the kernel did not panic as it was asked to", "failed"))
    return cases


# System calls have no colon behind their name.
_RECORD = re.compile(r"^ *\S.*-\d+ +\[(\d+)\] .{5} +(\d+\.\d+): \w+(?:: |\(| -> )")


def busy_cases(result, most):
    """The cases of a guest that oopsed while all its processors recorded.

    most: etch_dump_lines. Of the processor that oopsed alone there are as many
    records, in order.
    """
    said = re.search(r"^crash on CPU (\d+)$", result.report, re.M)
    try:
        found = dumps(result.console)
    except ValueError as error:
        return [tap.Case(f"busy: the dump: {error}", "failed")]
    if not said or list(found) != ["the main tree"]:
        return [tap.Case(f"busy: crash: {said and said[0]}, dumps: {list(found)}", "failed")]
    which, number, lines = found["the main tree"]
    records = [match for match in map(_RECORD.match, lines) if match]
    cpus = sorted({int(match[1]) for match in records})
    times = [float(match[2]) for match in records]
    wanted = {f"of the processor that oopsed: {which}, {cpus}":
              which == f"CPU {said[1]}" and cpus == [int(said[1])],
              f"as many as were asked for: {number}, {len(records)}":
              number == most == len(records),
              "in order": times == sorted(times),
              "once": result.console.count("etch: dump of") == 2}
    return [tap.Case(f"busy: the dump is {name}", "passed" if good else "failed")
            for name, good in wanted.items()]


def record_cases(result):
    """The cases of a task that died in the middle of a record, and the guest's own."""
    cases = tap.parse(result.lines())
    wanted = {"the task died of it": "unable to handle page fault",
              "the log tells of its record": "1 record(s) of pid",
              "the other instance was dumped": "etch: dump of dumped ends",
              "with the mark in it": "tracing_mark_write: the last words"}
    cases += [tap.Case(name, "passed" if text in result.console else "failed")
              for name, text in wanted.items()]
    if "guest: end 0" not in result.report:
        cases.append(tap.Case("the guest did not go on to its end", "failed"))
    return cases
