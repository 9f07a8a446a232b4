#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""kept.py FOLDER REPORT: is what was found in reserved memory a whole trace?

FOLDER/ctf is what the second boot of scripts/lab/guest/persist.sh copied, REPORT what it
and the first one said. Prints TAP.
"""

import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import babel
import persist


def main():
    folder, report = Path(sys.argv[1]) / "ctf", Path(sys.argv[2]).read_text()
    records, marks = Counter(), {}
    lines, said = babel.complaints(folder)
    for event in babel.messages(folder):
        if isinstance(event, babel.Lost):
            said.append(f"CPU {event.cpu}: {event.count} {event.what} lost")
            continue
        records[event.cpu] += 1
        payload = event.message.event.payload_field
        # str() does not work on a whole record: values without a name have no string.
        text = str(payload["buf"]) if "buf" in payload else ""
        mark = re.search(r"mark (\d+) on (\d+)", text)
        if mark:
            marks.setdefault(int(mark[2]), []).append(int(mark[1]))
    wrong = persist.compare(report, records, marks, lines, said)
    print(f"{'not ok' if wrong else 'ok'} 1 - babeltrace2 reads all that was counted")
    for line in wrong:
        print(f"# {line}")
    print(f"### persist: {sum(records.values())} records, of these "
          f"{sum(map(len, marks.values()))} marks")


if __name__ == "__main__":
    main()
