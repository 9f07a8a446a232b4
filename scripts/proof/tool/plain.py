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


def _threads(text):
    """The threads that a picture has."""
    return set(re.findall(r"<title>([^<]*-\d+)</title>", text))


def _shown(etch, folder, *words):
    """What a verb of etch prints."""
    return truth.output([etch, *words, folder])[0]


def part(etch, folder, whole):
    """Sentences on a picture of a part of the trace that is of something else."""
    lines = [line for line in _shown(etch, folder, "show", "-e", "sched_switch").splitlines()
             if "next_pid=" in line]
    times = [re.search(r"(\d+\.\d{6}): sched_switch:", line)[1] for line in lines]
    begin, end = len(lines) // 3, len(lines) // 3 * 2
    svg = ["export", "-f", "svg", "-o", "-"]
    some = _shown(etch, folder, *svg, "--from", times[begin], "--to", times[end])
    # The one before the first line ran there, too.
    pids = {tid for line in lines[begin - 1:end + 1]
            for tid in re.findall(r"(?:prev|next)_pid=(\d+)", line)}
    wrong = [f"{name} is in the picture" for name in sorted(_threads(some))
             if name.rpartition("-")[2] not in pids]
    wrong += [] if len(_threads(some)) > 2 else [f"it only has {_threads(some)}"]
    wrong += [] if f"from {times[begin]} s" in some else ["its text has another beginning"]
    if _shown(etch, folder, *svg, "--from", "+0") != whole.read_text(encoding="utf-8"):
        wrong.append("the whole trace has another picture with --from +0")
    return wrong
