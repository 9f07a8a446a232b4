#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Our Coccinelle rules on the whole kernel: make cocci-tree. Prints TAP.

scripts/proof/lint/coccinelle.rst lists their finds in files that are not ours, with a remark
on each. A find that is not listed fails, and so does a listed one that is not found.
Files in which a rule cannot match, since the text that it is about is not there, are not
given to Coccinelle: it would take hours to find nothing.
"""

import concurrent.futures
import os
import re
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
import coccinelle
import layout
import tap as taps

PAGE = HERE / "coccinelle.rst"
# Seconds for a rule, with hundreds of files.
LIMIT = 1800
# A row of the page's tables: the file, and how many sites of it.
ROW = re.compile(r"^``(?P<path>\S+\.[ch])``\s+(?P<count>\d+)(?:\s|$)")
TITLE = re.compile(r"^(?P<rule>trace_\w+)$")
CALL = re.compile(r"\b(?:etch_mark|trace_\w+)\s*\(")
EFFECT = re.compile(r"\+\+|--|[^=!<>]=(?!=)|<<=|>>=")
ASKED = re.compile(r"\btrace_\w+_enabled\s*\(")
# Of trace_work: functions that it takes for costly, and the code around a variable that
# it reports: its value, the function that fills it, its declaration.
COSTS = re.compile(r"(?:ktime_get\w*|_clock|rdtsc\w*|get_cycles|read[bwlq\d]\w*|printf|_path)"
                   r"\s*\(")
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
VALUE = re.compile(r"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)([^;]*)")
FILLED = re.compile(r"(?:printf|cpy\w*|to_buffer|bin2hex)\s*\(\s*$")
TYPED = re.compile(r"(?<!\breturn)(?<=[\w*,])\s*$")
DECLARED = re.compile(r"\s*(?:__\w+\s*)?[,;[]")


def arguments(text, start):
    """The text in the parentheses that are open at start."""
    depth = 1
    for end in range(start, min(len(text), start + 10000)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if not depth:
            return text[start:end]
    return text[start:start + 10000]


def has_effect(text):
    """Whether trace_args might match."""
    return any(EFFECT.search(arguments(text, call.end())) for call in CALL.finditer(text))


def has_print(text):
    """Whether trace_pointer might match."""
    return "TP_printk" in text


def apart(code):
    """(what events are given, the code without that)."""
    given, rest, end = [], [], 0
    for call in CALL.finditer(code):
        if call.start() >= end:
            given.append(arguments(code, call.end()))
            rest.append(code[end:call.end()])
            end = call.end() + len(given[-1])
    return given, "".join(rest) + code[end:]


def is_idle(name, code):
    """Whether code does no more with a variable than have a function give it a value."""
    values = []
    for use in re.finditer(rf"(?<![\w.>])(?<!struct )(?<!enum ){name}\b(?!\s*\()", code):
        before, after = code[max(use.start() - 80, 0):use.start()], code[use.end():]
        if value := VALUE.match(after):
            values.append("(" in value[1])
        elif FILLED.search(before):
            values.append(True)
        elif not (before.endswith("sizeof(")
                  or TYPED.search(before) and DECLARED.match(after)):
            return False
    return any(values)


def has_work(text):
    """Whether trace_work might match."""
    for function in NO_CODE.sub("", text).split("\n}"):
        head, _, body = function.partition("\n{")
        given, rest = apart(body or head)
        names = set(re.findall(r"(?<![.>])\b[A-Za-z_]\w*", " ".join(given)))
        if (any(map(COSTS.search, given))
                or any(is_idle(name, rest) for name in names)):
            return True
    return False


# Rule: whether a file's text is of any interest to it.
MIGHT = {"trace_args": has_effect, "trace_enabled": ASKED.search,
         "trace_pointer": has_print, "trace_work": has_work}


def candidates():
    """({rule: [paths in the kernel tree]}, how many files there are)."""
    ours, found, count = layout.sources(), {rule: [] for rule in MIGHT}, 0
    for folder, folders, names in os.walk(layout.LINUX):
        folders[:] = [name for name in folders if name not in (".pc", ".git")]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), layout.LINUX)
            if (not name.endswith((".c", ".h")) or path in ours
                    or path.startswith("tools/")):
                continue
            count += 1
            text = (layout.LINUX / path).read_text(errors="replace")
            if "trace_" not in text and "TP_printk" not in text:
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
        runs = {name: pool.submit(coccinelle.spatch, rule, files[name], LIMIT)
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
