# SPDX-License-Identifier: GPL-2.0
"""Events of Python programs in Etch's trace.

    import etch

    request = etch.Event("server", "request", id="u32", path="string")
    request(7, "/index.html")
    if request.enabled():
        request(id=8, path=expensive())

An event is off until a user enables it. While the library or the kernel's part is missing, or the
program may not use it, all events are off, and event.error says why. libetch.so.1 is looked for
as any library; the environment variable LIBETCH may name the file.
"""

import ctypes
import os
import struct

__all__ = ["Event"]

# The letter that struct has for each type, and bytes.
TYPES = {
    "u8": "B", "s8": "b", "bool": "?", "char": "b", "u16": "H", "s16": "h",
    "u32": "I", "s32": "i", "u64": "Q", "s64": "q", "string": "I",
}

# The bytes in front of a record's fields: places of strings count from there.
HEAD = 12
# As ETCH_STRING in C.
LONGEST = 1024


def load():
    """The library; None: it is not there."""
    try:
        lib = ctypes.CDLL(os.environ.get("LIBETCH", "libetch.so.1"))
    except OSError:
        return None
    lib.etch_event.argtypes = [ctypes.c_char_p] * 3
    lib.etch_event_gate.argtypes = [ctypes.c_int]
    lib.etch_event_gate.restype = ctypes.POINTER(ctypes.c_uint32)
    lib.etch_emit.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    return lib


LIBRARY = load()
# The gate of an event that could not be registered.
CLOSED = (ctypes.c_uint32 * 1)()


def layout(types):
    """The format of struct for fields of these types: each is aligned to 4 bytes at most."""
    form, end = "=", 0
    for type_ in types:
        size = struct.calcsize("=" + TYPES[type_])
        gap = -end % min(size, 4)
        form += "x" * gap + TYPES[type_]
        end += gap + size
    return form


class Event:
    """An event: call it with the values of its fields, in their order or by their names."""

    def __init__(self, provider, name, **fields):
        unknown = [type_ for type_ in fields.values() if type_ not in TYPES]
        if unknown:
            raise ValueError(f"no type '{unknown[0]}': there are {', '.join(TYPES)}")
        self.fields = tuple(fields)
        self.strings = [i for i, type_ in enumerate(fields.values()) if type_ == "string"]
        self.struct = struct.Struct(layout(fields.values()))
        self.error = None
        self.gate = CLOSED
        self.number = -1
        self.register(provider, name, fields)

    def register(self, provider, name, fields):
        """Ask the kernel for the event."""
        if LIBRARY is None:
            self.error = "no libetch.so.1"
            return
        text = ";".join(f"{type_} {field}" for field, type_ in fields.items())
        self.number = LIBRARY.etch_event(provider.encode(), name.encode(), text.encode())
        if self.number < 0:
            self.error = os.strerror(-self.number)
        else:
            self.gate = LIBRARY.etch_event_gate(self.number)

    def enabled(self):
        """Does anybody want it?"""
        return self.gate[0] != 0

    def __call__(self, *values, **named):
        if not self.gate[0]:
            return
        if named:
            values += tuple(named[field] for field in self.fields[len(values):])
        record = self.pack(list(values))
        LIBRARY.etch_emit(self.number, record, len(record))

    def pack(self, values):
        """The bytes of a record behind its head."""
        tail = b""
        for i in self.strings:
            text = "(null)" if values[i] is None else str(values[i])
            bytes_ = text.encode(errors="replace").split(b"\0")[0][:LONGEST] + b"\0"
            values[i] = HEAD + self.struct.size + len(tail) | len(bytes_) << 16
            tail += bytes_
        record = self.struct.pack(*values) + tail
        return record + bytes(-len(record) % 4)
