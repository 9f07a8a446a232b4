# SPDX-License-Identifier: GPL-2.0
"""Records that a kernel left in reserved memory, as the next one hands them out.

The guest is scripts/lab/guest/persist.sh: what its first boot had counted is in the report,
and so is what its second boot's persist/status says.
"""

import re


def counted(report):
    """({cpu: records before the last round}, marks written on each CPU)."""
    cpus = {int(cpu): int(count) for cpu, count in
            re.findall(r"^counted: (\d+) (\d+)$", report, re.M)}
    marks = re.search(r"^marks: (\d+)$", report, re.M)
    return cpus, int(marks[1]) if marks else 0


def status(report):
    """{cpu: (packets, records, overwritten, torn)} of persist/status."""
    found = {}
    for line in re.findall(r"^status: (cpu\d+: .*)$", report, re.M):
        match = re.match(r"cpu(\d+): (\d+) packets, (\d+) records, (\d+) overwritten, "
                         r"\d+ lost(?:; torn and left out: (\d+) packets)?", line)
        if match and "damaged" not in line:
            found[int(match[1])] = tuple(int(word or 0) for word in match.groups()[1:])
    return found


def compare(report, records, marks, lines, complaints):
    """Sentences on the differences between the guest's report and babeltrace2's records.

    records: {cpu: how many}. marks: {cpu: numbers of the marks, in order}. lines: how
    many babeltrace2's command printed; complaints: what it said besides.
    """
    wrong = list(complaints)
    before, number = counted(report)
    told = status(report)
    if not before or not number:
        return wrong + ["the first boot counted nothing"]
    if set(before) != set(told):
        wrong.append(f"CPUs {sorted(told)} in persist/status, {sorted(before)} counted")
    if lines != sum(records.values()):
        wrong.append(f"{lines} lines for {sum(records.values())} records")
    for cpu, count in before.items():
        _, have, overwritten, torn = told.get(cpu, (0, 0, 0, 0))
        if torn or overwritten:
            wrong.append(f"CPU {cpu}: {torn} packets torn, {overwritten} records overwritten")
        if records.get(cpu, 0) != have:
            wrong.append(f"CPU {cpu}: {records.get(cpu, 0)} records, {have} by status")
        if have < count:
            wrong.append(f"CPU {cpu}: {have} records of {count} that were counted")
        if marks.get(cpu) != list(range(1, number + 1)):
            wrong.append(f"CPU {cpu}: {len(marks.get(cpu, ()))} marks of {number}, "
                         "or not in order")
    if sum(records.values()) <= sum(before.values()):
        wrong.append("no record of the time when the kernel died")
    return wrong
