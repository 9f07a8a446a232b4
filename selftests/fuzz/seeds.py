#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""seeds.py KIND FOLDER [HEADERS]: inputs to begin with.

print_fmt: the print formats of the event headers in HEADERS, as they are written there,
of tables of names that headers call by a name of their own, and some that are odd.
repair: packets, whole and cut off.
trace: packets, metadata and format files, with a record of each kind.
settings: a line of each kind.
events: words that name some, with each thing around them that there can be.
metadata: names of a machine, and origins of clocks.
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


ODD = [rb'"%s", __print_symbolic(REC->x, { 1, "one\" }) " }, { 3, "\\" })',
       rb'"\\", __print_flags(REC->x, "|\"", { 1UL << 3, "a" "\"" }, { -1, ((void *)0) })',
       b'"%ld", ' + b"ENUM_LARGE, " * 9,
       # Each operator waits for the one behind it, and there are values between, or not.
       b'"%s", __print_symbolic(REC->x, { ' + b"~" * 70 + b'1, "a" })',
       b'"%s", __print_symbolic(REC->x, { ' + b"1 || 1 && 1 | 1 ^ 1 & 1 == 1 < 1 << 1 + 1 * (" * 4 +
       b'1)))), "a" })']


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
    """Texts written to files, behind the number of the file."""
    words = [b"0", b"1\n", b" 1", b"mono", b"overwrite", b"4096", b"64", b"101", b"-1",
             b"18446744073709551616", b"x\0y", b"etch_event=sched:*,irq:", b"4M", b"0x10k",
             b"\240 12 \t", b"=2", b",a,ab=orig_cpu", b"a=2,0,2=1"]
    return [bytes([number]) + word for number in range(27) for word in words]


def events():
    """Words, behind the choice of their surroundings and a number."""
    texts = [b"sched:\n", b"sched irq:softirq_entry !*:sched_wak?*", b"a\0!a:a b\0x:irq\0",
             b"sched:nope", b"!nope", b"sched:sched_switch,irq:,,[a-b]", b"*\0!\\odd:st\\*r\\[",
             b"[!a-z]*:* ?:[]b]", b" \t\0*", b"odd:[!!-~]*", b"sched_wakeup !sched", b"",
             b"x:irq," * 40 + b"\0" + b"irq" * 30 + b"\0a"]
    around = [0] + [1 << bit for bit in range(8)] + [0x06, 0x0a, 0x0c, 0x1a, 0x4a, 0x8a]
    return [bytes([what, 5]) + text for what in around for text in texts]


def _packet(records, seq=1, begin=5, lost=(0, 0, 0, 0, 0)):
    """As the reader of traces wants it."""
    content = b"".join(records)
    size = (128 + len(content)) * 8
    return struct.pack("<I16sIQ4I16sIi2I6Q", 0xC1FC1FC1, bytes(16), 0, *lost, b"t", 0, 1, 1,
                       len(records), begin, begin + 9, size, size, seq, sum(lost)) + content


def trace():
    """Packets; behind metadata, behind formats."""
    one = struct.pack("<Qii8s", 7 | 1 << 48, 1, -3, b"text")
    two = struct.pack("<QiII", 6 | 2 << 48, 1, 4 << 16 | 4, 8 << 16 | 24) + b"abc\0" + bytes(8)
    packet = _packet([two, one, two])
    head = (b"/* CTF 1.8 */\nclock { name = counter; freq = 3; offset = 5; };\n"
            b"stream { event.context := struct { integer { size = 2; align = 1; } context; "
            b"integer { size = 32; align = 1; signed = true; } pid; "
            b"integer { size = 8; align = 1; signed = false; base = 16; } flags; "
            b"integer { size = 64; align = 1; signed = false; } kstack[2]; }; };\n"
            b"event { id = 1; name = \"etch:marker\"; fields := struct { int32_t _x; "
            b"enum : int32_t { \"A\" = 1 } _y; uint8_t __pad_1[2]; struct { xint8_t "
            b"bytes[__z_length]; } align(32) _z; }; };\n\0")
    prints = [b'"%d %5s|%-4s %.2s %*.*s", REC->x, REC->t, REC->t, REC->t, 9, 2, REC->t',
              b'"%lx %#x %08llx %o %c %%", (u64)REC->x << 3, ~REC->x, REC->x / 0, -1, 65',
              b'"%s %s", REC->x ? __print_flags(REC->x & 0xff, "|", { 1, "a" }, { 2UL, "b" }) : '
              b'"none", __print_symbolic(REC->x, { -3, "three" }, { N, "n" })',
              b'"%pI4 %pI6c %pM %pS %pISpc %p", REC->t, REC->t, REC->t, REC->x, REC->t, REC->x',
              b'"%x %d", REC->t[REC->x], ((u32 *)REC->t)[1] >= sizeof(int) && *(u8 *)REC->t',
              b'"%d", sizeof(', b'"%d", sizeof(int', b'"', b'"%s", "', b'"%s", REC->x "\\']
    formats = [b"#\nname: one\nID: 1\n\tfield:int x;\toffset:12;\tsize:4;\tsigned:1;\n"
               b"\tfield:char t[8];\toffset:16;\tsize:8;\tsigned:0;\nprint fmt: " + text +
               b"\n\0" for text in prints]
    formats += [formats[0].replace(b"offset:16;\tsize:8", place) for place in (
        b"offset:4294967292;\tsize:4", b"offset:16;\tsize:4294967284")]
    lost = packet + _packet([one], 3, 20, (1, 2, 3, 4, 5))
    late = _packet([two, one, two], begin=0xffff << 48)
    ends = [_packet([one, record]) for record in (one[:10], one[:14], two[:22], two[:26])]
    return [packet, packet[:-9], lost, late, *ends, head + packet,
            *(text + _packet([one, one]) for text in formats)]


def metadata():
    """A clock, what becomes of it, its frequency and its origin; then texts."""
    texts = [b"", b"host\x006.12.0\0#1 SMP\0x86_64\0Linux\0one\0\"%d\", REC->x",
             b"a\"b\\\0\n}\0{\0\t;\r\0\"\0\344\0\"%s\", __get_str(text)"]
    return [struct.pack("<BBQq", clock, clock & 1, hz, ns) + text
            for clock in range(8) for text in texts
            for hz, ns in ((10**9, 1700 * 10**15 + 1), (2994373123, -1), (1, -10**9))]


def main():
    kind, folder, *headers = sys.argv[1:]
    if kind == "print_fmt":
        seeds = [b"\1" + text for text in formats(headers[0]) + ODD]
    else:
        seeds = {"repair": packets, "settings": settings, "events": events,
                 "metadata": metadata, "trace": trace}[kind]()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (folder / f"seed{number:04}").write_bytes(seed)
    print(len(seeds))


if __name__ == "__main__":
    main()
