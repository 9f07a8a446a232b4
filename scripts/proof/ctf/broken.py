#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Does check.py notice? A trace that is right, and then broken in one way at a time.

Prints TAP: a case passes if the right one of the checker's cases fails.
"""

import struct
import sys
import tempfile
from pathlib import Path

import check
import compare
import formats
import made
import packets

LEAST = compare.Least(200, 2, 500, 400, 2, 0, (("sys:list", "v"), ("sys:number", "c")),
                      (100, 1))
CPU0, LOSS = "twice/ctf/cpu0", "discard/ctf/cpu0"
# Bytes before some fields of the header.
FIELDS = {"overwritten": 24, "lost_full": 32, "begin": 80, "end": 88, "content": 96,
          "size": 104, "seq": 112, "discarded": 120}


def poke(name, number, field, change):
    """Add to a 64-bit field of a packet's header."""
    def apply(folder):
        data = bytearray((folder / name).read_bytes())
        at = packets.packets(data)[0][number].at + FIELDS[field]
        value, = struct.unpack_from("<Q", data, at)
        struct.pack_into("<Q", data, at, value + change)
        (folder / name).write_bytes(data)
    return apply


def flip(name, number, offset, bits=1):
    """Change bits in the records of a packet, counted from the end of its header."""
    def apply(folder):
        data = bytearray((folder / name).read_bytes())
        at = packets.packets(data)[0][number].at + packets.HEADER_BYTES + offset
        data[at] ^= bits
        (folder / name).write_bytes(data)
    return apply


def replace(name, old, new):
    """Change text; it must be there."""
    def apply(folder):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))
    return apply


def write(name, change):
    """Change the bytes of a file by a function."""
    def apply(folder):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(change(data))
    return apply


FLAGS = "integer { size = 32; align = 32; signed = false; base = 16; }"

# The damage in words, the function that does it, and a part of the name of a case that
# has to fail.
BROKEN = [
    ("a packet's end before its records", poke(CPU0, 1, "end", -10 ** 6),
     "babeltrace2 reads it"),
    ("packets that overlap", poke(CPU0, 1, "begin", -2 * 10 ** 6), "in order"),
    ("a packet missing", write(CPU0, lambda data: data[:4096] + data[8192:]),
     "as many records"),
    ("a packet twice", write(CPU0, lambda data: data[:4096] + data), "in order"),
    ("a byte behind the last packet", write(CPU0, lambda data: data + b"\0"),
     "whole packets"),
    ("the last packet cut", write(CPU0, lambda data: data[:-1]), "whole packets"),
    ("another uuid", write(CPU0, lambda data: data[:4] + b"\1" * 16 + data[20:]),
     "whole packets"),
    ("content that is too short", poke(CPU0, 1, "content", -8 * 20), "records to their"),
    ("a file that is no stream", lambda folder: (folder / "twice/ctf/x").write_text("x"),
     "without a complaint"),
    ("an id that nobody knows", flip(CPU0, 0, 6, 0x10), "records to their ends"),
    ("one record's time", flip(CPU0, 0, 2, 0x40), "babeltrace2"),
    ("a number in the record", flip(CPU0, 1, 12), "what the text says"),
    ("a number in the text", replace("twice/text.cpu1", "c=-100 ", "c=-101 "),
     "what the text says"),
    ("a string in the text", replace("twice/text.cpu1", "s=xx v", "s=xxx v"),
     "what the text says"),
    ("an element in the text", replace("twice/text.cpu1", "v={0x1}", "v={0x2}"),
     "what the text says"),
    ("a line missing", replace("twice/text.cpu0", "made-1 ", "gone"), "what the text says"),
    ("a time in the text", replace("twice/text.cpu0", "5.000100", "5.000200"), "times are"),
    ("a clock that is off by a minute", replace("twice/ctf/metadata", "offset_s = 1000",
                                                "offset_s = 1060"), "times are"),
    ("a clock that is slow", replace("twice/ctf/metadata", "freq = 1000000000",
                                     "freq = 1001000000"), "times are"),
    ("a sign in the metadata", replace(
        "twice/ctf/metadata", "size = 64; align = 32; signed = true; } _c",
        "size = 64; align = 32; signed = false; } _c"), "what its bytes say"),
    ("flags in an enumeration", replace("load/ctf/metadata", FLAGS + " _f;", "enum : " + FLAGS
                                        + ' { "one" = 1, "two" = 2 } _f;'), "load: flags are"),
    ("flags in base 10", replace("load/ctf/metadata", FLAGS + " _f;", FLAGS.replace(
        " base = 16;", "") + " _f;"), "load: flags are"),
    ("a name in the metadata", replace("twice/ctf/metadata", "} _n;", "} _m;"),
     "what its bytes say"),
    ("two fields exchanged", replace("twice/ctf/metadata", "} _n; ", "} _x; "),
     "what its bytes say"),
    ("an event's name in the metadata", replace("twice/ctf/metadata", "sys:list",
                                                "sys:lists"), "has each of them"),
    ("a width in the metadata", replace(
        "load/ctf/metadata", "char8_t _comm[16]", "char8_t _comm[12]"), "load: "),
    ("an element's width in the format", replace("formats/sys/list", "__rel_loc int[]",
                                                 "__rel_loc short[]"), "its bytes say"),
    ("stats with a record more", replace("load/stats.cpu0", "read: 120", "read: 121"),
     "as stats say"),
    ("a CPU without a file", lambda folder: (folder / "load/ctf/cpu1").unlink(),
     "whole packets"),
    ("loss that stats do not have", replace("discard/stats.cpu0", "full: 20", "full: 19"),
     "as many lost records"),
    ("throttled records that stats do not have", replace(
        "throttled/stats.cpu0", "throttled: 20", "throttled: 19"), "as many lost records"),
    ("loss where nothing is missing", poke("overwrite/ctf/cpu0", 2, "discarded", 1),
     "where they are missing"),
    ("loss before the first packet", write(LOSS, lambda data: data[4096:]),
     "as many lost records"),
    ("loss a packet too late", lambda folder: [
        poke(LOSS, 2, field, -2)(folder) for field in ("discarded", "lost_full")],
     "where they are missing"),
    ("loss without a cause", poke(LOSS, 6, "discarded", 1), "in order"),
    ("loss at the end not told", write(LOSS, lambda data: data[:-4096]),
     "as many lost records"),
]


def failed(apply):
    """The names of the cases that fail of a trace broken by a function."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made.make_formats(folder)
        made.make_folder(folder, formats.load(folder / "formats"))
        apply(folder)
        report = check.Report(quiet=True)
        check.check_folder(report, folder, LEAST)
        return report.failed


def main():
    bad = 0
    cases = [("nothing is broken", lambda folder: None, None), *BROKEN]
    for count, (what, apply, part) in enumerate(cases, 1):
        names = failed(apply)
        right = not names if part is None else any(part in name for name in names)
        bad += not right
        print(f"{'ok' if right else 'not ok'} {count} - noticed: {what}", flush=True)
        if not right:
            print(f"# failed were: {names}")
    print(f"1..{len(cases)}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
