#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""pictures.py ETCH TRACE BUILD OUT: what the gallery shows of a trace, in the folder OUT.

Runs the commands of the page beside the trace, and has each viewer draw the part in which the
task waits that waited longest: Chromium the page of etch view, KernelShark, etch export -f
svg, and perf timechart. The pictures are SVG, so that they can be in a patch; one that a
program only shows on a screen is in there as PNG. What viewers print goes into files of text,
and what each picture shows into answers.txt, for those who do not see it. Prints TAP: does each
of them show the answer that SQL gives?
"""

import base64
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from xml.sax.saxutils import escape

SCRIPTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SCRIPTS / "proof/ctf")]
# Last: the folders above have their own modules of some names.
sys.path.append(str(SCRIPTS / "lib"))
import check
import gallery
import shark
import view

HERE = Path(__file__).resolve().parent
MOST = 100 << 10                # bytes of a file
COLOURS = 32                    # of a PNG
POINTS = 1000                   # that the part is wide in perf's picture
CHART = 400                     # and how high that is at most
LINES = 12                      # of what a viewer prints


def run(*words, **more):
    """A command's output; raises an exception if it fails."""
    return subprocess.run([str(word) for word in words], check=True, capture_output=True,
                          text=True, errors="replace", **more).stdout


def seconds(ns):
    """A time, as etch show prints it."""
    return f"{ns // 10**9}.{ns % 10**9:09}"


def length(ns):
    """A length, as etch prints it."""
    for unit, size in (("s", 1e9), ("ms", 1e6)):
        if ns >= size:
            return f"{ns / size:.{3 if unit == 's' else 2}f} {unit}"
    return f"{ns / 1e3:.1f} us"


class Answer:
    """Which task waited longest, and the part of the trace in which it did."""

    def __init__(self, work, shown):
        base = sqlite3.connect(work / "trace.sqlite")
        self.tid, self.wait, self.end = base.execute(
            (work / "wait.sql").read_text()).fetchone()
        self.comm, self.cpu = base.execute(
            "SELECT next_comm, common_cpu FROM sched_switch WHERE common_time = ? AND next_pid = ?",
            (self.end, self.tid)).fetchone()
        self.first, self.last = base.execute(
            "SELECT min(common_time), max(common_time) FROM records").fetchone()
        self.begin = self.end - self.wait
        self.since = max(self.first, self.begin - self.wait // 5)
        self.until = min(self.last, self.end + self.wait // 5)
        self.task, self.shown = f"{self.comm}-{self.tid}", shown
        # Where the clock is the processor's counter, etch counts from boot on.
        self.shift = int(shown.replace(".", "") + "000") - self.end // 1000 * 1000

    def part(self, shift=0):
        """Its beginning and its end."""
        return seconds(self.since + shift), seconds(self.until + shift)

    def told(self):
        """In words."""
        return f"{self.task} waits {length(self.wait)} for CPU {self.cpu}, until {self.shown} s"


class Pictures:
    """The viewers, and what they show."""

    def __init__(self, etch, trace, build, work, out):
        self.build, self.work, self.out = build, work / "gallery", out
        self.etch, self.trace = etch, trace
        self.page = gallery.Gallery(etch, trace, self.work)
        # etch latency has the time that etch shows everywhere.
        self.answer = Answer(self.work, re.search(r"worst .* at ([\d.]+)",
                                                  self.page.answer("etch latency"))[1])
        self.told, self.facts = {}, []

    # ---- Pictures ----

    def _wrap(self, png, name, said):
        """Keeps a PNG as SVG, with few colours."""
        small = self.work / f"{name}.small.png"
        run("convert", png, "-strip", "+dither", "-colors", COLOURS, f"PNG8:{small}")
        width, height = run("identify", "-format", "%w %h", small).split()
        data = base64.b64encode(small.read_bytes()).decode()
        (self.out / f"{name}.svg").write_text(
            "<!-- SPDX-License-Identifier: GPL-2.0 -->\n"
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">\n'
            f"<title>{escape(said)}</title>\n"
            f'<image width="{width}" height="{height}" href="data:image/png;base64,\n'
            + "\n".join(textwrap.wrap(data, 76)) + '"/>\n</svg>\n')
        self.told[name] = said

    def chart(self):
        """Where perf's picture is, and the point at which the part begins."""
        answer, path = self.answer, self.work / "chart.svg"
        width = POINTS * (answer.last - answer.first) // (answer.until - answer.since)
        run("perf", "timechart", "-i", self.work / "trace.perf.data", "-w", width,
            "-p", answer.tid, "-o", path)
        text = path.read_text()
        found = re.search(r'<svg width="(\d+)" height="(\d+)"', text)
        left = int(found[1]) * (answer.since - answer.first) // (answer.last - answer.first)
        return path, left, min(int(found[2]), CHART)

    def browse(self):
        """Has Chromium make its pictures."""
        chart, left, height = self.chart()
        shots = [{"kind": "page", "file": str(self.work / "trace.html"), "tid": self.answer.tid,
                  "part": "-".join(self.answer.part(self.answer.shift)), "at": .5,
                  "picture": str(self.work / "page.png")},
                 {"kind": "svg", "file": str(chart), "left": left, "width": POINTS,
                  "height": height, "picture": str(self.work / "chart.png")}]
        self.facts = json.loads(run(
            "node", HERE / "pictures.mjs", shutil.which("chromium"), json.dumps(shots),
            env={**os.environ, "PLAYWRIGHT": str(view.playwright(self.build))}))

    def view(self):
        """Sentences on a page that does not show the answer."""
        self._wrap(self.work / "page.png", "page", "The page of etch view. An orange bar is "
                   f"selected in the row of {self.answer.task}, and below stands its length: "
                   f"{self.answer.told()}.")
        said, wanted = " ".join(self.facts[0]["selected"]), length(self.answer.wait)
        wrong = [] if self.facts[0]["requests"] == 1 else ["it asks for more than the page"]
        return wrong + [f"{wanted!r} is not in {said!r}" for wanted in
                        (wanted, f"-{self.answer.tid}", "waits") if wanted not in said]

    def timechart(self):
        """Sentences on a picture of perf's that does not show the task."""
        self._wrap(self.work / "chart.png", "timechart", "perf timechart. Above, the rows of the "
                   f"CPUs; below, that of {self.answer.task}, which is blue from "
                   f"{seconds(self.answer.end)[:-3]} s on: it runs.")
        texts = " ".join(self.facts[1]["texts"])
        return [] if f":{self.answer.tid}" in texts else [f"no {self.answer.tid} in {texts!r}"]

    def kernelshark(self):
        """Sentences on KernelShark."""
        answer, picture = self.answer, self.work / "kernelshark.png"
        wrong = shark.picture(self.work / "trace.dat", picture, [
            (each - answer.first) / (answer.last - answer.first)
            for each in (answer.since, answer.until)])
        run("convert", picture, "-trim", "+repage", picture)
        self._wrap(picture, "kernelshark", "KernelShark. A bar in the row of a CPU is a task that runs "
                   f"there. The bar of {self.answer.task} begins in the row of CPU {self.answer.cpu} at "
                   f"{seconds(self.answer.end)[:-3]} s.")
        return wrong

    def svg(self):
        """Sentences on a picture of etch's that lacks the task."""
        since, until = self.answer.part(self.answer.shift)
        path = self.out / "picture.svg"
        run(self.etch, "export", "-f", "svg", "--from", since, "--to", until, "-o", path,
            self.trace)
        text = path.read_text()
        path.write_text("<!-- SPDX-License-Identifier: GPL-2.0 -->\n" + text)
        self.told["picture"] = ("etch export -f svg. A row for each CPU, with the tasks that it runs; "
                                f"{self.answer.task} begins to run on CPU {self.answer.cpu} at "
                                f"{self.answer.shown} s.")
        return [] if f"-{self.answer.tid}</title>" in text else [
            f"{self.answer.task} is not in the picture"]

    # ---- Texts ----

    def _print(self, name, begin, lines):
        """Keeps what a command of the page printed. Sentences if the answer is not in there."""
        command = next(each for each in self.page.said if each.startswith(begin))
        kept = [line.rstrip() for line in lines(self.page.said[command].splitlines())]
        (self.out / f"{name}.txt").write_text("\n".join([f"$ {command}", *kept]) + "\n")
        return kept

    def _around(self, lines):
        """The line that ends the wait, and those before."""
        at = next(i for i, line in enumerate(lines) if f"-{self.answer.tid} waited" in line
                  and f" {self.answer.shown}:" in line)
        return lines[max(0, at - LINES // 2):at + 1]

    def _row(self, lines):
        """The head of perf's table, and the row of the task."""
        return lines[1:4] + [line for line in lines if f":{self.answer.tid} " in line]

    def texts(self):
        """Sentences on a viewer that prints something else."""
        tid, wait = str(self.answer.tid), self.answer.wait
        kept = {
            "latency": self._print("latency", "etch latency", lambda lines: lines),
            "top": self._print("top", "etch top", lambda lines: lines),
            "show": self._print("show", "etch show", self._around),
            "trace-cmd": self._print("trace-cmd", "trace-cmd report", lambda lines: [
                line for line in lines if re.match(r"\w+ (wakeup )?latency: ", line, re.I)][:3]),
            "perf": self._print("perf", "perf sched latency", self._row),
            "sql": self._print("sql", "sqlite3", lambda lines: lines),
        }
        # trace-cmd and perf count from another event: one_answer() looks at these.
        wanted = {"latency": f"-{tid} at ", "show": f"-{tid} waited {length(wait)}",
                  "sql": f"{tid}|{wait}|{self.answer.end}"}
        return [f"{name}: {text!r} is not in it" for name, text in wanted.items()
                if not any(text in line for line in kept[name])] + \
            [f"{name} prints nothing" for name, lines in kept.items() if not lines]

    def small(self):
        """Sentences on files that are no SVG, or too large; writes the words for them."""
        lines = [".. This file is made by make pictures. Its texts say what is to be seen.", "",
                 f".. |answer| replace:: {self.answer.told()}"]
        for name, text in self.told.items():
            lines += [f".. |{name}| image:: gallery/{name}.svg", f"   :alt: {text}"]
        (self.out / "answers.txt").write_text("\n".join(lines) + "\n")
        wrong = [f"{path.name}: {path.stat().st_size} bytes" for path in self.out.iterdir()
                 if path.stat().st_size > MOST]
        for name in self.told:
            done = subprocess.run(["xmllint", "--noout", self.out / f"{name}.svg"], check=False,
                                  capture_output=True, text=True)
            wrong += done.stderr.splitlines()
        return wrong + ([] if len(self.told) == 4 else [f"only {sorted(self.told)}"])


def main():
    etch, trace, build, out = (Path(word).resolve() for word in sys.argv[1:])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    report = check.Report()
    with tempfile.TemporaryDirectory(prefix="etch-pictures-") as work:
        pictures = Pictures(etch, trace, build, Path(work), out)
        report.case("the commands of the gallery work", pictures.page.commands_work)
        report.case("all viewers in it have one answer", pictures.page.one_answer)
        pictures.browse()
        report.case("the page of etch view shows the longest wait", pictures.view)
        report.case("KernelShark draws that part", pictures.kernelshark)
        report.case("the picture of etch export has the task", pictures.svg)
        report.case("perf timechart has a row for it", pictures.timechart)
        report.case("what others print has the answer", pictures.texts)
        report.case("the pictures are small, and said in words", pictures.small)
    report.say(f"gallery: {pictures.answer.told()}; pictures in {out}")
    print(f"1..{report.count}")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
