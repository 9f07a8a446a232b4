#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""exports.py FOLDER ETCH [FORMAT...]: is what etch exports the trace, to those who read it?

The folder is what scripts/lab/guest/ctf.sh makes, ETCH the program. Each trace is exported to
each format and read by the program that the format is for. It has to have the records
that babeltrace2 reads in the trace, at the same times to the nanosecond, and to lack as many,
by CPU and at their places. Prints TAP.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SCRIPTS / "proof/ctf")]
# Last: the folders above have their own modules of some names.
sys.path.append(str(SCRIPTS / "lib"))
import check
import dat
import duck
import fleet
import foreign
import gallery
import hyparquet
import formats
import lttng
import perf
import perfetto
import plain
import shark
import shells
import sql
import truth
import ust


class Exports:
    """The traces, and where their exports go."""

    def __init__(self, folder, etch, work):
        self.folder, self.etch, self.work = folder, etch.resolve(), work
        self.report = check.Report()
        self.known = formats.load(folder / "formats")
        self.traces = [truth.Trace(folder / name, work)
                       for name in ("twice", *truth.LOSSES)]

    def export(self, trace, name, suffix, *options):
        """The file that was written."""
        path = self.work / (trace.name + suffix)
        done = subprocess.run([self.etch, "export", "-f", name, *options, "-o", path, trace.ctf],
                              check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return path

    def case(self, trace, what, function, *arguments):
        """One result."""
        self.report.case(f"{trace.name}: {what}", function, *arguments)

    # ---- trace.dat ----

    def dat(self, trace):
        """trace-cmd."""
        path = self.export(trace, "trace.dat", dat.SUFFIX)
        found = dat.read(path)
        # trace-cmd shows a loss in front of the next record; stats have the last one, too.
        between = trace.truth().between()
        self.case(trace, "trace-cmd has each record of the trace, at its time",
                  truth.compare, trace.truth(), found, False)
        self.case(trace, "trace-cmd shows losses at their places", truth.compare_loss,
                  between, found)
        self.case(trace, "trace-cmd's statistics have all that was lost",
                  self._dat_stats, trace, path)
        self.case(trace, "trace-cmd has no complaint", dat.complaints, path)
        self.case(trace, "trace-cmd knows the contexts", dat.contexts, path, trace)
        if trace.name != "twice":
            self.case(trace, "trace-cmd's lines have the fields' values", dat.rounds, path,
                      trace)
            return
        text = dat.Text(trace, self.known)
        self.case(trace, "trace-cmd's lines are those of the kernel", text.compare, path)
        self.report.say(f"{trace.name}: {text.same} lines of trace-cmd equal the kernel's, "
                        f"{sum(text.left.values())} of {len(text.left)} events were left out")

    @staticmethod
    def _dat_stats(trace, path):
        """Sentences on sums that differ."""
        found = dat.stats(path)
        return [f"CPU {cpu}: {found.get(cpu)} for {count}"
                for cpu, count in trace.truth().lost().items() if found.get(cpu) != count]

    def kernelshark(self, trace):
        """KernelShark."""
        if trace.name != "twice":
            return
        path, picture = self.export(trace, "trace.dat", dat.SUFFIX), self.folder / "kernelshark.png"
        self.case(trace, "KernelShark draws bars of many colours", shark.picture, path, picture)
        self.report.say(f"KernelShark's picture: {picture}")

    # ---- perf.data ----

    def perf(self, trace):
        """perf."""
        path = self.export(trace, "perf", perf.SUFFIX)
        found = perf.read(path)
        self.case(trace, "perf script has each record of the trace, at its time",
                  truth.compare, trace.truth(), found)
        self.case(trace, "perf script shows losses at their places", truth.compare_loss,
                  trace.truth(), found)
        if trace.name != "twice":
            return
        wrong, counts = perf.reports(path, trace.truth())
        self.case(trace, "perf's reports count what was recorded", lambda: wrong)
        self.report.say(", ".join(f"{count} {what}" for what, count in counts.items()))
        self.case(trace, "perf timechart draws it", perf.chart, path)

    # ---- Perfetto ----

    def perfetto(self, trace):
        """protoc."""
        decoded = perfetto.Decoded(self.export(trace, "perfetto", perfetto.SUFFIX))
        found, lost = decoded.content(), trace.truth().lost()
        self.case(trace, "protoc has each record of the trace, at its time", truth.compare,
                  trace.truth(), found, False)
        self.case(trace, "protoc has losses, at their places", truth.compare_loss,
                  trace.truth(), found)
        self.case(trace, "Perfetto's statistics have all that was lost", lambda: [
            f"CPU {cpu}: {count} for {lost[cpu]}" for cpu, count in decoded.stats().items()
            if count != lost[cpu]])
        self.case(trace, "protoc knows all fields, and would write the same", decoded.form)

    # ---- Names of LTTng ----

    def lttng(self, trace):
        """babeltrace2."""
        path = self.export(trace, "ctf-lttng", lttng.SUFFIX)
        read = lttng.Read(path, trace.clock())
        found = read.content
        self.case(trace, "babeltrace2 has each record by LTTng's names, at its time",
                  lttng.compare, trace.truth(), found)
        self.case(trace, "babeltrace2 has losses at their places", truth.compare_loss,
                  trace.truth(), found)
        self.case(trace, "files of packets are the trace's own", lambda: [
            f"{file.name} is another file" for file in trace.ctf.glob("cpu*")
            if not file.samefile(path / file.name)])
        self.case(trace, "babeltrace2 has no complaint", lttng.complaints, path)
        if trace.name == "twice":
            self.case(trace, "events that Trace Compass asks for have its fields",
                      read.wanted)

    # ---- The other way: traces that are not Etch's ----

    def foreign(self, trace):
        """libbabeltrace2."""
        ours = foreign.bare(trace, self.work)
        self.case(trace, "tables of the trace by LTTng's names are the same", foreign.compare,
                  self.etch, ours, self.export(trace, "ctf-lttng", "-by-names"))
        path = foreign.rewritten(trace, self.work)
        self.case(trace, "tables of the trace as babeltrace2 writes it are the same",
                  foreign.compare, self.etch, ours, path)
        self.case(trace, "etch check counts the same in it", foreign.whole, self.etch, path,
                  trace.truth())
        out = self.work / f"{trace.name}-rewritten.json"
        truth.output([self.etch, "export", "-f", "json", "-o", out, path])
        found = plain.Json(out).content
        self.case(trace, "JSON of it has each record, at its time", truth.compare,
                  trace.truth(), found)
        self.case(trace, "JSON of it has losses at their places", truth.compare_loss,
                  trace.truth(), found)
        if trace.name != "twice":
            return
        path = self.work / "made"
        foreign.make(path)
        self.case(trace, "etch reads what LTTng's traces have and Etch's have not",
                  foreign.lttng, self.etch, path)
        self.case(trace, "etch exports it", foreign.exports, self.etch, path, self.work)
        self.case(trace, "etch reads it as far as it is whole", foreign.broken, self.etch, path)

    def ust(self, trace):
        """LTTng."""
        if trace.name == "twice":
            self.case(trace, "etch reads what LTTng has recorded of a program", ust.read,
                      self.etch, self.work)

    # ---- JSON and CSV ----

    def json(self, trace):
        """Python's json."""
        lines = plain.Json(self.export(trace, "json", ".json"))
        self.case(trace, "JSON has each record of the trace, at its time", truth.compare,
                  trace.truth(), lines.content)
        self.case(trace, "JSON has losses at their places", truth.compare_loss, trace.truth(),
                  lines.content)
        self.case(trace, "JSON has the causes of losses", lambda: lines.wrong)
        self.case(trace, "JSON has the fields' values", lines.values, trace.samples)
        self.report.say(f"{trace.name}: {len(trace.samples)} records compared field by field")

    def csv(self, trace):
        """Python's csv."""
        found = plain.csv_content(self.export(trace, "csv", ".csv"))
        self.case(trace, "CSV has each record of the trace, at its time", truth.compare,
                  trace.truth(), found)
        self.case(trace, "CSV has losses at their places", truth.compare_loss, trace.truth(),
                  found)

    # ---- SQL ----

    def sqlite(self, trace):
        """sqlite3."""
        base = sql.Sqlite(self.export(trace, "sqlite", ".sqlite"))
        self.case(trace, "SQLite has each record of the trace, at its time", truth.compare,
                  trace.truth(), base.content)
        self.case(trace, "SQLite has losses at their places", truth.compare_loss,
                  trace.truth(), base.content)
        self.case(trace, "SQLite's tables have all records of their events", base.tables)
        self.case(trace, "SQLite has the fields' values", base.values, trace.samples)

    def parquet(self, trace):
        """DuckDB."""
        path = self.export(trace, "parquet", "-parquet")
        lake = duck.Lake(path, self.work)
        self.case(trace, "DuckDB has each record of the trace, at its time",
                  lake.compare, trace)
        self.case(trace, "DuckDB has all losses, by CPU and time", lake.compare_loss, trace)
        self.case(trace, "DuckDB has the fields' values", lake.values, trace)
        self.case(trace, "hyparquet has as many records and losses", hyparquet.compare, path,
                  trace.truth())

    def fleet(self, trace):
        """DuckDB, and the page about many machines."""
        if trace.name != "twice":
            return
        lossy = next(each for each in self.traces if each.name == "discard")
        two = fleet.Fleet(self.etch, trace.ctf, lossy.ctf, self.work / "fleet")
        self.case(trace, "the page about many machines has three queries", two.page)
        self.case(trace, "its first query tells how long tasks ran on two machines", two.ran)
        self.case(trace, "its second query tells how long tasks waited there", two.waited)
        self.case(trace, "its third query tells where records are missing", two.lost,
                  lossy.truth())

    # ---- One question ----

    def gallery(self, trace):
        """The page that has each viewer answer it."""
        if trace.name != "twice":
            return
        # The recorder's: all events are on when it begins.
        page = gallery.Gallery(self.etch, self.folder / "load/ctf", self.work / "gallery")
        self.case(trace, "the commands of the gallery work", page.commands_work)
        self.case(trace, "all viewers in it have one answer", page.one_answer)

    # ---- A picture ----

    def svg(self, trace):
        """xmllint."""
        path = self.export(trace, "svg", ".svg")
        self.case(trace, "xmllint reads the picture, which has rows, and losses in red",
                  plain.picture, path, trace.truth())
        if trace.name == "twice":
            self.case(trace, "a part of the picture has the threads of that part",
                      plain.part, self.etch, trace.ctf, path)

    # ---- Shells ----

    def shells(self, trace):
        """fish and zsh."""
        if trace.name != "twice":
            return
        folder = self.work / "shells"
        shells.prepare(self.etch, folder)
        self.case(trace, "fish completes", shells.fish, folder)
        self.case(trace, "zsh completes", shells.zsh, folder)

    def run(self, wanted):
        """All formats, or those that are wanted."""
        for name in ("dat", "kernelshark", "perf", "perfetto", "lttng", "foreign", "ust", "json",
                     "csv", "sqlite", "parquet", "fleet", "gallery", "svg", "shells"):
            if wanted and name not in wanted:
                continue
            began = time.monotonic()
            if name in ("parquet", "fleet") and not duck.NPM:
                self.report.skip(name, "no DuckDB")
                continue
            for trace in self.traces:
                try:
                    getattr(self, name)(trace)
                except Exception as error:  # pylint: disable=broad-exception-caught
                    # What a program made of a broken file can raise anything.
                    self.case(trace, name, lambda text: [text], f"{error!r}")
            self.report.say(f"{name}: {time.monotonic() - began:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("etch", type=Path, help="the program")
    parser.add_argument("formats", nargs="*", help="those to check (all)")
    parser.add_argument("--npm", type=Path, help="where npm has installed DuckDB")
    args = parser.parse_args()
    duck.NPM = args.npm
    # Hard links to the trace's files need the same file system.
    with tempfile.TemporaryDirectory(dir=args.folder.parent) as work:
        exports = Exports(args.folder, args.etch, Path(work))
        exports.run(args.formats)
    print(f"1..{exports.report.count}")
    sys.exit(1 if exports.report.failed else 0)


if __name__ == "__main__":
    main()
