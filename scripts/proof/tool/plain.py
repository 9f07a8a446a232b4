# SPDX-License-Identifier: GPL-2.0
"""JSON, CSV and SVG: text that others read."""

import csv
import json
import re

import truth


class Json:
    """The lines of a file."""

    def __init__(self, path):
        self.at, self.wrong = {}, []
        with path.open(encoding="utf-8") as lines:
            self.content = truth.Content(self._rows(lines))

    def _rows(self, lines):
        for line in lines:
            # Times stay text: a float has no nanoseconds.
            each = json.loads(line, parse_float=str)
            if "lost" in each:
                if sum(each["causes"].values()) != each["lost"]:
                    self.wrong.append(f"other causes: {line}")
                yield each["cpu"], each["lost"]
                continue
            records = self.at.setdefault(each["cpu"], [])
            records.append((each["fields"], each.get("contexts", {})))
            yield truth.Row(each["cpu"], truth.ns(each["time"]), each["event"])

    def values(self, samples):
        """Sentences on records with other values."""
        wrong = []
        for (cpu, index), (fields, contexts) in samples.items():
            mine, added = self.at[cpu][index]
            wrong += [f"CPU {cpu}, record {index}: {name} is {value!r} for {fields.get(name)!r}"
                      for name, value in mine.items() if value != fields.get(name)]
            if added != contexts or not mine and fields:
                wrong.append(f"CPU {cpu}, record {index}: {mine} {added}")
        return wrong


def csv_content(path):
    """The file's Content."""
    with path.open(encoding="utf-8", newline="") as lines:
        return truth.Content(
            (int(each["cpu"]), int(each["lost"])) if each["lost"] else
            truth.Row(int(each["cpu"]), truth.ns(each["time"]), each["event"])
            for each in csv.DictReader(lines, strict=True))


def picture(path, content):
    """Sentences on a picture that lacks something."""
    _, wrong = truth.output(["xmllint", "--noout", path])
    wrong, text = wrong.splitlines(), path.read_text(encoding="utf-8")
    if len(re.findall(">CPU \\d+</text>", text)) < len(content.rows):
        wrong.append("there are CPUs without a row")
    if bool(content.losts) != ('class="l"' in text):
        wrong.append("losses are red, and nothing else")
    if any(name == "sched:sched_switch" for rows in content.rows.values() for _, name in rows):
        threads = set(re.findall(r"<title>([^<]*)-\d+</title>", text))
        if "sh" not in threads or len(threads) < 5:
            wrong.append(f"threads: {threads}")
    return wrong
