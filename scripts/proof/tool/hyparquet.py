# SPDX-License-Identifier: GPL-2.0
"""A folder of Parquet files, as a second reader has it: hyparquet, in JavaScript."""

import json
from collections import Counter

import duck
import truth

_PROGRAM = """
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
const found = [];
for (const path of JSON.parse(process.argv[2])) {
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors });
    const counts = {}, losses = path.includes("/event=etch.lost/");
    for (const row of rows) {
        const cpu = Number(row.common_cpu);
        counts[cpu] = (counts[cpu] || 0) + (losses ? Number(row.lost) : 1);
    }
    found.push([path, counts, rows.every(row => row.common_time !== undefined)]);
}
console.log(JSON.stringify(found));
"""


def compare(path, content):
    """Sentences on counts of records and losses, by event and CPU, that differ."""
    program = duck.NPM / "hyparquet.mjs"
    program.write_text(_PROGRAM)
    files = sorted(str(file) for file in path.glob("event=*/host=*/*.parquet"))
    found, wrong = {}, []
    for name, counts, timed in json.loads(truth.output(["node", program, json.dumps(files)])[0]):
        event = name[len(str(path)) + 1:].partition("/")[0].removeprefix("event=")
        found[event] = {int(cpu): count for cpu, count in counts.items()}
        if not timed:
            wrong.append(f"{event}: a row has no time")
    lost = {cpu: count for cpu, count in found.pop("etch.lost", {}).items() if count}
    want = {}
    for cpu, rows in content.rows.items():
        for name, count in Counter(name for _, name in rows).items():
            want.setdefault(name.replace(":", "."), {})[cpu] = count
    if found != want:
        wrong += [f"{event}: {found.get(event)} for {want.get(event)}"
                  for event in sorted({*found, *want}) if found.get(event) != want.get(event)]
    return wrong + ([] if lost == dict(content.lost()) else [
        f"losses: {lost} for {dict(content.lost())}"])
