# SPDX-License-Identifier: GPL-2.0
"""JSON and CSV, as Python's own modules read them."""

import csv
import json

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
