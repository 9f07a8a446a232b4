# SPDX-License-Identifier: GPL-2.0
"""Format files: which bytes of a record are which field."""

import re
import struct
from pathlib import Path

import packets

_FIELD = re.compile(r"^\tfield:(.*);\toffset:(\d+);\tsize:(\d+);\tsigned:([01]);$",
                    re.M)
_DECLARATION = re.compile(r"^(.*?)\s*\b(\w+)(?:\[(\d+)\])?$")
_WORD = struct.Struct("<HH")

# Bytes of an element, of the types that arrays are made of.
WIDTHS = {"char": 1, "signed char": 1, "unsigned char": 1, "u8": 1, "s8": 1,
          "__u8": 1, "uint8_t": 1, "bool": 1, "short": 2, "unsigned short": 2,
          "u16": 2, "s16": 2, "__u16": 2, "__be16": 2, "int": 4, "unsigned": 4,
          "unsigned int": 4, "u32": 4, "s32": 4, "__u32": 4, "__be32": 4,
          "dev_t": 4, "pid_t": 4, "gfp_t": 4, "uid_t": 4, "gid_t": 4,
          "long": 8, "unsigned long": 8, "size_t": 8, "ssize_t": 8,
          "long long": 8, "unsigned long long": 8, "u64": 8, "s64": 8,
          "__u64": 8, "loff_t": 8, "sector_t": 8, "uintptr_t": 8, "time64_t": 8}

# The hidden events of trace_marker and trace_marker_raw have no folder: struct etch_marker,
# struct etch_marker_raw.
HIDDEN = {"etch:marker": """\
name: marker
ID: {}
format:
\tfield:__data_loc char[] buf;\toffset:12;\tsize:4;\tsigned:0;

print fmt: "%s", __get_str(buf)
""", "etch:marker_raw": """\
name: marker_raw
ID: {}
format:
\tfield:unsigned int id;\toffset:12;\tsize:4;\tsigned:0;
\tfield:__data_loc u8[] buf;\toffset:16;\tsize:4;\tsigned:0;

print fmt: "# %x buf: %s", REC->id, __print_hex(__get_dynamic_array(buf), __get_dynamic_array_len(buf))
"""}


class Field:
    """One field of a format file."""

    def __init__(self, text, offset, size, signed):
        kind, self.name, count = _DECLARATION.match(text).groups()
        self.dynamic = kind.startswith(("__data_loc ", "__rel_loc "))
        self.relative = kind.startswith("__rel_loc ")
        self.type = kind.split(" ", 1)[1] if self.dynamic else kind
        self.type = self.type.removesuffix("[]").removeprefix("const ").strip()
        self.array = count is not None
        self.offset, self.size, self.signed = offset, size, signed

    @property
    def text(self):
        """Is it characters?"""
        return (self.array or self.dynamic) and self.type == "char"

    @property
    def number(self):
        """Is it one number?"""
        return (not self.array and not self.dynamic and self.size in (1, 2, 4, 8)
                and ("*" in self.type
                     or not self.type.startswith(("struct ", "union "))))

    def place(self, data, record):
        """(first byte, bytes) of its content, in a record at an offset of data."""
        if not self.dynamic:
            return record + self.offset, self.size
        start, size = _WORD.unpack_from(data, record + self.offset)
        base = record + (self.offset + 4 if self.relative else 0)
        return base + start, size

    def bytes(self, data, record):
        """Its content."""
        start, size = self.place(data, record)
        return bytes(data[start:start + size])


class Format:
    """One format file."""

    def __init__(self, text, system):
        self.name = re.search(r"^name: (\w+)$", text, re.M)[1]
        self.system = system
        self.id = int(re.search(r"^ID: (\d+)$", text, re.M)[1])
        self.print = text.partition("\nprint fmt: ")[2].strip()
        self.fields = [Field(name, int(offset), int(size), signed == "1")
                       for name, offset, size, signed in _FIELD.findall(text)
                       if not re.search(r"\bcommon_\w+(\[\d+\])?$", name)]
        self._fixed = max([packets.HEAD_BYTES] + [field.offset + field.size
                                                  for field in self.fields])
        self._dynamic = [field for field in self.fields if field.dynamic]

    @property
    def full_name(self):
        """As the metadata names it."""
        return f"{self.system}:{self.name}"

    def length(self, data, at, limit):
        """Bytes of the record at an offset of data, which ends at limit."""
        end = at + self._fixed
        if end > limit:
            raise packets.Broken(f"{self.full_name} at {at:#x} ends behind its packet")
        for field in self._dynamic:
            start, size = field.place(data, at)
            if size and (start < at + self._fixed or start + size > limit):
                raise packets.Broken(f"{self.full_name} at {at:#x}: {field.name} "
                                     "lies outside")
            if size:
                end = max(end, start + size)
        return end - at


def hidden(name, number):
    """The Format of an event that has no format file."""
    return Format(HIDDEN[name].format(number), "etch")


def load(folder):
    """{id: Format} of a folder SYSTEM/EVENT."""
    found = {}
    for path in sorted(Path(folder).glob("*/*")):
        each = Format(path.read_text(), path.parent.name)
        if each.id in found:
            raise packets.Broken(f"{each.full_name} and {found[each.id].full_name} "
                                 f"have the id {each.id}")
        found[each.id] = each
    return found


def differs(field, content, value):
    """Why a value is not what these bytes are, as a sentence; None if it is.

    value: a number, text, or a list of numbers.
    """
    if isinstance(value, str):
        if field.number and not field.size == 1:
            return "text for a number"
        text = content.split(b"\0")[0]
        same = value.encode("utf-8", "surrogateescape") == text
        return None if same else f"{value!r} for {text!r}"
    if field.text:
        return f"{value!r} for text"
    if isinstance(value, list):
        if field.number:
            return "a list for a number"
        width = len(content) // len(value) if value else 1
        if value and width != WIDTHS.get(field.type, width):
            return f"elements of {width} bytes for {field.type}"
        real = [int.from_bytes(content[i:i + width], "little", signed=field.signed)
                for i in range(0, len(content), width)] if width else None
        return None if value == real else f"{value} for {content.hex()}"
    if len(content) not in (1, 2, 4, 8):
        return f"a number for {len(content)} bytes"
    real = int.from_bytes(content, "little", signed=field.signed)
    return None if value == real else f"{value} for {real}"
