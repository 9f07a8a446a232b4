#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""seeds.py KIND FOLDER [HEADERS]: inputs to begin with.

print_fmt: the print formats of the event headers in HEADERS, as they are written there,
and of tables of names that headers call by a name of their own.
repair: packets, whole and cut off.
settings: a line of each kind.
"""

import re
import struct
import sys
from pathlib import Path

PACKET = struct.Struct("<I16sI8Q3Ii16s2I")
START = re.compile(r"\b(TP_printk|__print_flags|__print_symbolic)\s*\(")


def balanced(text, at):
    """From behind a parenthesis to the one that closes it; "" if there is none."""
    depth, literal, i = 1, False, at
    while i < len(text):
        char = text[i]
        if char == "\\":
            i += 1
        elif char == '"':
            literal = not literal
        elif not literal and char in "()":
            depth += 1 if char == "(" else -1
            if not depth:
                return text[at:i]
        i += 1
    return ""


def formats(headers):
    """Each print format once, on one line, with the kernel's name for a record."""
    found = set()
    for header in sorted(Path(headers).glob("*.h")):
        text = header.read_text(errors="replace").replace("\\\n", " ")
        for match in START.finditer(text):
            inner = balanced(text, match.end())
            if match[1] != "TP_printk":
                # In a macro: what it prints is its parameter.
                inner = f'"%s", {match[1]}(REC->flags, {inner.partition(",")[2]})'
            inner = inner.replace("__entry->", "REC->")
            found.add(" ".join(inner.split()).encode())
    return sorted(found)


def packet(content, whole):
    """A packet's header, content and padding, of that many bytes in all."""
    header = PACKET.pack(0xC1FC1FC1, bytes(16), 0, 1, 2, content * 8, whole * 8,
                         0, 0, 0, 0, 0, 0, 0, 7, b"task", 1, 1)
    return (header + bytes(range(256)) * 40)[:content].ljust(whole, b"\0")


def packets():
    """Files of a trace that were cut off in several ways."""
    two = packet(1000, 4096) + packet(4096, 4096)
    return [two, two[:5000], two[:4096 + 60], packet(1000, 4096)[:1500], two[1:], b"",
            packet(128, 128) * 3]


def settings():
    """What is written to files, behind the number of the file."""
    words = [b"0", b"1\n", b" 1", b"mono", b"overwrite", b"4096", b"64", b"101", b"-1",
             b"18446744073709551616", b"x\0y", b"etch_event=sched:*,irq:", b"4M", b"0x10k",
             b"\240 12 \t"]
    return [bytes([number]) + word for number in range(24) for word in words]


def main():
    kind, folder, *headers = sys.argv[1:]
    if kind == "print_fmt":
        seeds = [b"\1" + text for text in formats(headers[0])]
    else:
        seeds = {"repair": packets, "settings": settings}[kind]()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (folder / f"seed{number:04}").write_bytes(seed)
    print(len(seeds))


if __name__ == "__main__":
    main()
