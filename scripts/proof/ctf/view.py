#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""view.py ETCH TRACE BUILD: is the page that etch view writes right, in Chromium?

Opens it in Debian's Chromium by playwright-core, which npm puts into BUILD/node, zooms,
searches, and follows a link to a part. Its tables have to say what etch top and others do.
Pictures stay in BUILD/view. Prints TAP.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import check
import tables

HERE = Path(__file__).resolve().parent
PLAYWRIGHT = "playwright-core@1.49.1"
OPENS = 3000                    # ms


def run(*words, **more):
    """A command's output; raises an exception if it fails."""
    result = subprocess.run([str(word) for word in words], check=False, capture_output=True,
                            text=True, errors="replace", **more)
    if result.returncode:
        raise RuntimeError(f"{words[0]}: status {result.returncode}: {result.stderr[-2000:]}")
    return result.stdout


def playwright(build):
    """The folder that node finds playwright-core in."""
    folder = build / "node"
    if not (folder / "node_modules/playwright-core").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        run("npm", "install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder,
            PLAYWRIGHT)
    return folder


class Page:
    """What Chromium found, beside what etch prints."""

    def __init__(self, etch, trace, facts, lossy):
        self.etch, self.trace, self.facts, self.lossy = etch, trace, facts, lossy

    def rows(self, verb, *words, trace=None):
        """A table's rows, as lists of texts."""
        lines = run(self.etch, verb, "-n", 0, *words, trace or self.trace).splitlines()
        return [re.split(r"\s{2,}", re.sub(r"(?<=\S) (?=\d+ +[\d.]+ [mu]?s )", "  ", line))
                for line in lines if not line.startswith(("#", "TASK ", "CALL ", "INTERRUPT ",
                                                          "DEVICE, "))]

    def alone(self):
        """No request but for the page itself, and no error."""
        wrong = [f"requested {url}" for url in self.facts["requests"]
                 if not re.match(r"file:///.*/(whole|lossy)\.html", url)]
        wrong += [] if len(self.facts["requests"]) == 3 else [f"{self.facts['requests']}"]
        return wrong + self.facts["errors"]

    def quick(self):
        """Up to a million records, as many as a page has."""
        return [] if self.facts["opened"] < OPENS else [f"{self.facts['opened']} ms"]

    def tasks(self, found, columns, *words, trace=None, only=list):
        """The table of tasks."""
        wanted = {tuple(row[at] for at in columns)
                  for row in only(self.rows("top", *words, trace=trace))}
        told = {tuple(row[at] for at in columns) for row in found["tasks"]}
        return [f"only in etch top: {row}" for row in sorted(wanted - told)] + \
            [f"only on the page: {row}" for row in sorted(told - wanted)] + \
            ["there is no task"] * (not wanted)

    def lengths(self, found, *words, trace=None):
        """Tables of calls, interrupts and requests: how many, the sum, the worst."""
        wrong = []
        for verb, name in (("syscalls", "calls"), ("irqs", "irqs"), ("block", "io")):
            wanted = {(row[0], row[1], row[2], re.match(r"[\d.]+ [mu]?s", row[5])[0])
                      for row in self.rows(verb, *words, trace=trace)}
            told = {(row[0], row[1], row[2], row[5]) for row in found[name]}
            wrong += [f"{verb}: only one has {row}" for row in sorted(wanted ^ told)]
        return wrong

    def same(self):
        """The whole trace's tables."""
        events = Counter()
        with subprocess.Popen(["babeltrace2", str(self.trace)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, errors="replace") as process:
            for line in process.stdout:
                events[re.search(r" (\w+:\w+): \{", line)[1]] += 1
        told = {row[0]: int(row[1]) for row in self.facts["tables"]["events"] if len(row) == 2}
        wrong = [f"{name}: {count}, not {events[name]}" for name, count in told.items()
                 if count != events[name]]
        if len(told) != min(len(events), 200):
            wrong.append(f"{len(told)} events, not {len(events)}")
        if f"{sum(events.values())} records" not in self.facts["range"]:
            wrong.append(f"{sum(events.values())} records, and {self.facts['range']}")
        return wrong + self.tasks(self.facts["tables"], range(5)) + \
            self.lengths(self.facts["tables"])

    def zooms(self):
        """Wheel, keys and mouse."""
        steps = self.facts["zoom"]
        span = {name: pair[1] - pair[0] for name, pair in steps.items() if name != "hash"}
        checks = {
            "the wheel zooms": span["wheel"] < .8 * span["whole"],
            "+ zooms": span["plus"] < .8 * span["wheel"],
            "the right arrow moves": steps["right"][0] > steps["plus"][0]
                and abs(span["right"] - span["plus"]) < 10,
            "- zooms out": span["minus"] > 1.2 * span["right"],
            "the address follows": re.match(r"#\d+\.\d{9}-\d+\.\d{9}$", steps["hash"]),
            "dragging moves": steps["drag"][0] > steps["minus"][0],
            "Home shows all": steps["home"] == steps["whole"],
        }
        return [f"not so: {text}: {steps}" for text, holds in checks.items() if not holds]

    def chooses(self):
        """By the keyboard alone."""
        steps = self.facts["choose"]
        begin, end, start, until = steps["zoomed"]
        checks = {
            "the arrow chooses a row": "CPU 0" in steps["row"],
            "n chooses a slice": re.search(r"What.*From\d+\.\d{9}To", steps["slice"]),
            "Enter zooms to it": begin < start and until < end and end - begin <
                2 * (until - start) + 1000,
        }
        return [f"not so: {text}: {steps}" for text, holds in checks.items() if not holds]

    def searches(self):
        """Finds, and goes there."""
        steps = self.facts["search"]
        number = re.match(r"(\d+) found$", steps["found"])
        checks = {
            "there are some": number and int(number[1]) > 1,
            "Enter goes to the first": re.match(rf"1 of {number and number[1]}$", steps["first"]),
            "which is shown": steps["range"][0] <= steps["at"][0] <= steps["range"][1],
            "Enter goes on": steps["second"].startswith("2 of "),
            "Escape clears": steps["cleared"] == "",
        }
        return [f"not so: {text}: {steps}" for text, holds in checks.items() if not holds]

    def linked(self):
        """A link to a part shows that, with its figures."""
        begin, end = self.facts["third"]
        words = ("--from", begin, "--to", end)
        wrong = [] if self.facts["linked"].startswith(f"{begin} to {end} s: ") else [
            f"{self.facts['linked']}, not from {begin} to {end}"]
        # What runs at the end of a part has the name there that it has then, and on a page
        # of the whole trace the one it has later, of the program that it runs.
        def switched(rows):
            return [row for row in rows if row[3] != "0"]

        ran, told = (sum(tables.nanoseconds_of(row[1]) for row in rows)
                     for rows in (self.rows("top", *words), self.facts["part"]["tasks"]))
        if abs(ran - told) > 1e-3 * ran:
            wrong.append(f"tasks ran {told} ns, not {ran}")
        part = {"tasks": switched(self.facts["part"]["tasks"])}
        return wrong + self.tasks(part, (0, 3, 4), *words, only=switched) + \
            self.lengths(self.facts["part"], *words)

    def losses(self):
        """In red, and only if there are some."""
        lost = int(re.search(r"(\d+) lost", run(self.etch, "top", self.lossy))[1])
        checks = {
            "the page says how many": self.facts["lost"] == f"{lost} records lost",
            "the table has them all": sum(int(row[3]) for row in self.facts["losses"]
                                          if len(row) == 5) == lost
                or len(self.facts["losses"]) > 200,
            "with causes": all("overwritten" in row[4] for row in self.facts["losses"]
                               if len(row) == 5),
            "they are red": self.facts["reds"] > 20,
            "and nothing else is": self.facts["red"] == 0,
            "l goes to one": self.facts["atLoss"] >= 1,
        }
        return [f"not so: {text}" for text, holds in checks.items() if not holds] + \
            self.tasks(self.facts["lossyTables"], range(4), trace=self.lossy) + \
            self.lengths(self.facts["lossyTables"], trace=self.lossy)

    def headings(self):
        """For a screen reader."""
        wanted = {"Etch", "Timeline", "Shown", "Selected", "Tasks", "Events", "Lost records"}
        return sorted(wanted - set(self.facts["headings"]))


def look(etch, trace, build, scratch):
    """Writes the pages, and has Chromium look at them."""
    chromium = shutil.which("chromium")
    if not chromium:
        raise FileNotFoundError("there is no chromium: apt-get install chromium")
    shots, lossy = build / "view", scratch / "lossy"
    shots.mkdir(parents=True, exist_ok=True)
    tables.short(trace, lossy, 100, {5, 6, 11})
    for name, folder in (("whole", trace), ("lossy", lossy)):
        run(etch, "view", "-o", scratch / f"{name}.html", folder)
    facts = json.loads(run(
        "node", HERE / "view.mjs", chromium, scratch / "whole.html", scratch / "lossy.html", shots,
        env={**os.environ, "PLAYWRIGHT": str(playwright(build)), "SEARCH": "sched_wakeup_new"}))
    return Page(etch, trace, facts, lossy)


def main():
    etch, trace, build = (Path(word).resolve() for word in sys.argv[1:])
    report = check.Report()
    with tempfile.TemporaryDirectory(prefix="etch-view-") as scratch:
        page = look(etch, trace, build, Path(scratch))
        report.case("the page opens, and asks for nothing else", page.alone)
        report.case("it opens in three seconds", page.quick)
        report.case("its tables are those of etch top and others", page.same)
        report.case("wheel, keys and mouse zoom and move", page.zooms)
        report.case("the keyboard chooses", page.chooses)
        report.case("searching finds, and goes there", page.searches)
        report.case("a link to a part shows it, with its figures", page.linked)
        report.case("losses are red, and counted", page.losses)
        report.case("there are headings", page.headings)
    report.say(f"view: {page.facts['title']}, open in {page.facts['opened']} ms; pictures in "
               f"{build / 'view'}")
    print(f"1..{report.count}")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
