#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Our Coccinelle rules on the whole kernel: make cocci-tree. Prints TAP.

What they find in files that are not ours is listed, with what is to be said of it, in
Documentation/coccinelle.rst. A find that is not listed fails, and one that is listed
and not found. Files in which a rule cannot match, since the text that it is about is
not there, are not given to Coccinelle: it would take hours to find nothing.
"""

import concurrent.futures
import os
import re
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "lib")]
import coccinelle
import layout
import tap as taps

PAGE = layout.TOP / "Documentation/coccinelle.rst"
# A row of the page's tables: the file, and how many sites of it.
ROW = re.compile(r"^``(?P<path>\S+\.[ch])``\s+(?P<count>\d+)\s")
TITLE = re.compile(r"^(?P<rule>trace_\w+)$")
CALL = re.compile(r"\btrace_\w+\s*\(")
EFFECT = re.compile(r"\+\+|--|[^=!<>]=(?!=)|<<=|>>=")
ASKED = re.compile(r"\btrace_\w+_enabled\s*\(")


def arguments(text, start):
    """What stands in the parentheses that are open at start."""
    depth = 1
    for end in range(start, min(len(text), start + 10000)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if not depth:
            return text[start:end]
    return text[start:start + 10000]


def has_effect(text):
    """Whether trace_args might match."""
    return any(EFFECT.search(arguments(text, call.end())) for call in CALL.finditer(text))


# Rule: whether a file's text is of any interest to it.
MIGHT = {"trace_args": has_effect, "trace_enabled": ASKED.search}


def candidates():
    """({rule: [paths in the kernel tree]}, how many files there are)."""
    ours, found, count = layout.sources(), {rule: [] for rule in MIGHT}, 0
    for folder, folders, names in os.walk(layout.LINUX):
        folders[:] = [name for name in folders if name not in (".pc", ".git")]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), layout.LINUX)
            if not name.endswith((".c", ".h")) or path in ours:
                continue
            count += 1
            text = (layout.LINUX / path).read_text(errors="replace")
            if "trace_" not in text:
                continue
            for rule, might in MIGHT.items():
                if might(text):
                    found[rule].append(path)
    return found, count


def listed(text):
    """{rule: {path: sites}} of the page."""
    found, rule = {}, None
    for line in text.splitlines():
        if match := TITLE.match(line):
            rule = found.setdefault(match["rule"], {})
        elif (match := ROW.match(line)) and rule is not None:
            rule[match["path"]] = int(match["count"])
    return found


def differences(found, known):
    """What the page has too much or too little."""
    return ([f"{path}: {count} found, {known.get(path, 0)} listed"
             for path, count in sorted(found.items()) if known.get(path) != count]
            + [f"{path}: listed, not found" for path in sorted(set(known) - set(found))])


def main():
    tap = taps.Report()
    print("TAP version 13")
    rules = {Path(rule).stem: rule for rule in coccinelle.rules()
             if rule.startswith(coccinelle.OURS)}
    tap.result("each rule of ours is run", [f"{rule}: which files?" for rule in
                                            sorted(set(rules) ^ set(MIGHT))])
    files, count = candidates()
    known = listed(PAGE.read_text())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {name: pool.submit(coccinelle.spatch, rule, files[name])
                for name, rule in rules.items() if name in MIGHT}
    for name, run in runs.items():
        findings, why = run.result()
        for finding in findings:
            print(f"# {finding}")
        tap.result(f"{name} finds what is listed ({len(files[name])} of {count} files)",
                   [why] if why else differences(Counter(one.path for one in findings),
                                                 known.get(name, {})))
    print(f"1..{tap.count}")
    sys.exit(1 if tap.failed else 0)


if __name__ == "__main__":
    main()
