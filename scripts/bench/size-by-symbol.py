#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""size-by-symbol.py VMLINUX: what each event costs each tracer.

Adds up the sizes of the symbols that the tracers' expansions of event headers
leave in a kernel that has all of them, and divides by the number of events.
The sum leaves out data and code without a symbol of their own: string literals,
mainline's and ours, and the code at the sites. For those, compare whole kernels.
"""

import re
import subprocess
import sys

# The first pattern that matches has the symbol.
TRACERS = (
    ("Etch", r"etch_(write|print|fields|class|event)_|__UNIQUE_ID_etch_enum|"
             r"__trace(stub|more)_"),
    ("ftrace", r"(do_)?trace_event_raw_event_|trace_raw_output_|event_class_|"
               r"trace_event_fields_|print_fmt_|trace_event_type_funcs_|"
               r"(__)?event_|str__"),
    ("perf and BPF", r"perf_trace_|__bpf_trace_|__bpf_raw_tp_map_"),
    ("all: the tracepoint", r"__tracepoint_|__traceiter_|__probestub_|"
                            r"__SC[KT]__tp_func_|__tpstrtab_"),
)
PATTERNS = [(name, re.compile(pattern)) for name, pattern in TRACERS]


def symbols(vmlinux):
    """(name, type, bytes) of each symbol that has a size."""
    out = subprocess.run(["nm", "-S", "--defined-only", vmlinux], check=True,
                         capture_output=True, text=True).stdout
    for line in out.splitlines():
        words = line.split()
        if len(words) == 4:
            yield words[3], words[2], int(words[1], 16)


def add_up(found):
    """({tracer: [text, data]}, number of tracepoints)."""
    sums = {name: [0, 0] for name, _ in TRACERS}
    tracepoints = 0
    for symbol, kind, size in found:
        tracepoints += symbol.startswith("__tracepoint_")
        for name, pattern in PATTERNS:
            if pattern.match(symbol):
                sums[name][kind not in "tT"] += size
                break
    return sums, tracepoints


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    sums, tracepoints = add_up(symbols(sys.argv[1]))
    if not tracepoints or not sums["Etch"][0]:
        sys.exit(f"error: {sys.argv[1]} has no events, or no Etch")
    row = "{:<22}{:>10}{:>10}{:>12}{:>12}"
    print(row.format(f"bytes, {tracepoints} events", "text", "data",
                     "text/event", "data/event"))
    for name, (text, data) in sums.items():
        print(row.format(name, text, data, f"{text / tracepoints:.1f}",
                         f"{data / tracepoints:.1f}"))


if __name__ == "__main__":
    main()
