# SPDX-License-Identifier: GPL-2.0
"""A folder of Parquet files, as DuckDB reads it."""

import csv
import json
from collections import Counter

import truth

# Where npm has installed DuckDB.
NPM = None

PROGRAM = """
import { DuckDBInstance } from "@duckdb/node-api";
const base = await (await DuckDBInstance.create()).connect();
for (const query of JSON.parse(process.argv[2])) await base.run(query);
"""


class Lake:
    """The folder, and the queries' results beside it."""

    def __init__(self, path, work):
        self.path, self.work = path, work
        self.rows, self.lost = {}, Counter()
        self.read()

    def _run(self, queries):
        program = NPM / "query.mjs"
        program.write_text(PROGRAM)
        truth.output(["node", program, json.dumps(queries)])

    def read(self):
        """Records by CPU, in the order of time; and losses."""
        out = self.work / "duck.csv"
        lost = self.path / "event=etch.lost"
        files = f"read_parquet('{self.path}/*/*/*.parquet', union_by_name = true)"
        self._run([f"COPY (SELECT common_cpu, epoch_ns(common_time), event FROM {files}"
                   f" WHERE event != 'etch.lost' ORDER BY ALL) TO '{out}' (HEADER false)"])
        with out.open(encoding="utf-8", newline="") as lines:
            for cpu, time, event in csv.reader(lines):
                self.rows.setdefault(int(cpu), []).append((int(time), event))
        if not lost.exists():
            return
        self._run([f"COPY (SELECT common_cpu, lost, overwritten + \"full\" + throttled +"
                   f" nested + too_big + unknown FROM read_parquet('{lost}/*/*.parquet')) TO '{out}'"
                   " (HEADER false)"])
        with out.open(encoding="utf-8", newline="") as lines:
            for cpu, count, causes in csv.reader(lines):
                self.lost[int(cpu)] += int(count)
                if count != causes:
                    raise RuntimeError(f"{count} lost, of {causes} by cause")

    def compare(self, trace):
        """Sentences on records that differ."""
        wall, wrong = trace.wall(), []
        for cpu, rows in trace.truth().rows.items():
            want = sorted((time + wall, name.replace(":", ".")) for time, name in rows)
            found = self.rows.get(cpu, [])
            # The wall clock's zero is rounded to a nanosecond.
            if [name for _, name in want] != [name for _, name in found] or any(
                    abs(one[0] - two[0]) > 1 for one, two in zip(want, found)):
                wrong.append(f"CPU {cpu}: {len(found)} records for {len(want)}, or others")
        return wrong

    def compare_loss(self, trace):
        """Sentences on sums that differ."""
        return [f"CPU {cpu}: {self.lost[cpu]} for {count}"
                for cpu, count in trace.truth().lost().items() if self.lost[cpu] != count]

    def values(self, trace):
        """Sentences on fields with other values, of one record of each event."""
        wrong, done, queries = [], {}, []
        for (cpu, index), (fields, contexts) in trace.samples.items():
            time, event = trace.truth().rows[cpu][index]
            if event in done:
                continue
            out = self.work / f"duck{len(done)}.json"
            folder = self.path / f"event={event.replace(':', '.')}"
            queries.append(f"COPY (SELECT * FROM read_parquet('{folder}/*/*.parquet') WHERE"
                           f" common_cpu = {cpu} AND abs(epoch_ns(common_time) -"
                           f" {time + trace.wall()}) <= 1) TO '{out}'")
            done[event] = time, out, {**fields, **{
                f"common_{name}": value for name, value in contexts.items()}}
        self._run(queries)
        for event, (time, out, want) in done.items():
            rows = [json.loads(line) for line in out.read_text().splitlines()]
            if not any(all(_same(row[name], want[name]) for name in row if name in want)
                       and set(list(row)[5:]) <= {*want, "event", "host"} for row in rows):
                wrong.append(f"{event} at {time}: no row {want} in {rows}")
        return wrong


def _same(found, value):
    """Are they the same? Arrays are text there."""
    return (json.loads(found) if isinstance(value, list) else found) == value
