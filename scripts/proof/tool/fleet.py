# SPDX-License-Identifier: GPL-2.0
"""The page about many machines: its commands and queries, on the traces of two."""

import csv
import json
import re
from collections import defaultdict

import duck
import layout
import truth

PAGE = layout.TOP / "Documentation/fleet.rst"


def _blocks():
    """The page's examples."""
    return [re.sub(r"(?m)^    ", "", block).strip()
            for block in re.findall(r"(?m)::\n\n((?:    .*\n|\n)+)", PAGE.read_text())]


def queries():
    """The page's queries."""
    return [block.rstrip(";") for block in _blocks() if re.match("SELECT|WITH", block)]


def exports():
    """The words of the page's commands that export."""
    return [line[2:].split() for block in _blocks() for line in block.splitlines()
            if line.startswith("$ etch export ")]


def machine(trace, folder, host):
    """A copy of a trace's folder, as if another machine had recorded it."""
    folder.mkdir()
    for path in trace.iterdir():
        if path.is_file() and path.name != "metadata":
            (folder / path.name).hardlink_to(path)
    (folder / "metadata").write_text(re.sub(
        r'(?m)^(\thostname = ").*"', rf'\1{host}"', (trace / "metadata").read_text()))


class Fleet:
    """Two machines with the same records, and one of which records are missing."""

    def __init__(self, etch, trace, lossy, work):
        self.etch, self.work = etch, work
        work.mkdir()
        machine(trace, work / "web1", "web1")
        machine(trace, work / "web2", "web2")
        machine(lossy, work / "web3", "web3")
        self.commands = exports()
        for words in self.commands:
            truth.output([etch, *words[1:]], cwd=work)
        truth.output([etch, "export", "-f", "parquet", "-o", "lake", "web3"], cwd=work)
        self.switches, self.wakings = self._records()
        self.answers = self._ask()

    def _records(self):
        """[(time, cpu, fields)] of the two events, by another export."""
        found = defaultdict(list)
        text = truth.output([self.etch, "export", "-f", "json", "-o", "-", "web1"],
                            cwd=self.work)[0]
        for line in text.splitlines():
            each = json.loads(line, parse_float=str)
            found[each.get("event")].append((truth.ns(each["time"]), each["cpu"],
                                             each.get("fields")))
        return found["sched:sched_switch"], found["sched:sched_waking"]

    def _ask(self):
        """The rows of each query's answer."""
        program = duck.NPM / "query.mjs"
        program.write_text(duck.PROGRAM)
        asked = [f"COPY ({query}) TO 'answer{i}.csv'" for i, query in enumerate(queries())]
        truth.output(["node", program, json.dumps(asked)], cwd=self.work)
        answers = []
        for i in range(len(asked)):
            with (self.work / f"answer{i}.csv").open(encoding="utf-8", newline="") as lines:
                answers.append(list(csv.DictReader(lines)))
        return answers

    def page(self):
        """Sentences on a page that has other examples than this looks at."""
        return [] if len(self.answers) == 3 and len(self.commands) == 2 else [
            f"{len(self.answers)} queries and {len(self.commands)} exports in {PAGE.name}"]

    def ran(self):
        """Sentences on tasks that ran for another time."""
        before, want = {}, defaultdict(lambda: [0, 0])
        for time, cpu, fields in self.switches:
            since, tid = before.get(cpu, (0, None))
            if fields["prev_pid"] and fields["prev_pid"] == tid:
                sums = want[fields["prev_comm"]]
                sums[0] += time - since
                sums[1] += 1
            before[cpu] = time, fields["next_pid"]
        found = {(row["host"], row["task"]): [round(float(row["seconds"]) * 1e9),
                                              int(row["runs"])]
                 for row in self.answers[0] if row["host"] != "web3"}
        return [] if want and found == {
            (host, task): sums for host in ("web1", "web2") for task, sums in want.items()
        } else [f"{found} for {dict(want)}"]

    def waited(self):
        """Sentences on waits that are others."""
        threads, waits = defaultdict(list), []
        for time, _, fields in self.wakings:
            threads[fields["pid"]].append((time, "woken"))
        for time, _, fields in self.switches:
            threads[fields["next_pid"]].append((time, "runs"))
            threads[fields["prev_pid"]].append((time, "leaves"))
        for moments in threads.values():
            moments.sort()
            waits += [two[0] - one[0] for one, two in zip(moments, moments[1:])
                      if (one[1], two[1]) == ("woken", "runs")]
        want = [(host, len(waits), max(waits, default=0)) for host in ("web1", "web2")]
        found = sorted((row["host"], int(row["wakeups"]), round(float(row["worst_us"]) * 1000))
                       for row in self.answers[1] if row["host"] != "web3")
        bad = [row for row in self.answers[1]
               if not 0 < float(row["p50_us"]) <= float(row["p99_us"]) <= float(row["worst_us"])]
        return [] if waits and found == want and not bad else [f"{found} for {want}; {bad}"]

    def lost(self, content):
        """Sentences on losses that are others. content: of the trace that has some."""
        want = {("web3", cpu): count for cpu, count in content.lost().items()}
        found = {(row["host"], int(row["common_cpu"])): int(row["lost"])
                 for row in self.answers[2]}
        return [] if want and found == want else [f"{found} for {want}"]
