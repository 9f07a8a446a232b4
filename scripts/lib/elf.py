# SPDX-License-Identifier: GPL-2.0
"""ELF files of 64 bits, little-endian: sections, symbols, relocations.

A relocatable file (an object, a module) is laid out as a loader would do it:
its sections get addresses, one after the other, what it needs of others gets
addresses behind them, and its relocations are done. So there is one way to
look at a kernel and at a module: bytes by address.
"""

import struct
from collections import namedtuple

RELOCATABLE = 1
X86_64 = 62

ALLOC, EXECUTABLE, STRINGS = 2, 4, 0x20
SYMTAB, RELA, NOBITS = 2, 4, 8
UNDEFINED, ABSOLUTE, COMMON = 0, 0xfff1, 0xfff2
FUNCTION, SECTION = 2, 3

# x86-64's relocations: type -> (bytes, relative to its place)
RELOCATIONS = {1: (8, False), 2: (4, True), 4: (4, True), 10: (4, False),
               11: (4, False), 24: (8, True)}

# Between the sections of a laid-out file, so that none runs into the next.
GAP = 4096

Relocation = namedtuple("Relocation", "offset type symbol addend")


class ElfError(Exception):
    """A mistake in a file, as a sentence."""


class Section:
    """A section: its header, its contents, where it is."""

    def __init__(self, header):
        (self.name_at, self.type, self.flags, self.address, self.offset,
         self.size, self.link, self.info, self.align, self.entry) = header
        self.name = ""
        self.data = b""
        self.relocations = []

    def allocated(self):
        """Whether it is there when the code runs."""
        return bool(self.flags & ALLOC)


class Symbol:
    """A symbol; its address is None if its section has none."""

    def __init__(self, name, kind, section, value, size):
        self.name, self.kind, self.section = name, kind, section
        self.value, self.size = value, size
        self.address = None


class Image:
    """A file's contents by address."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.raw = file.read()
        if self.raw[:6] != b"\x7fELF\x02\x01":
            raise ElfError(f"{path} is not a little-endian ELF file of 64 bits")
        self.type, self.machine = struct.unpack_from("<HH", self.raw, 16)
        self._read_sections()
        self._read_symbols()
        self._read_relocations()
        if self.type == RELOCATABLE:
            self._lay_out()
        self._place_symbols()
        if self.type == RELOCATABLE:
            self._relocate()

    def _read_sections(self):
        at, = struct.unpack_from("<Q", self.raw, 40)
        size, count, names = struct.unpack_from("<HHH", self.raw, 58)
        self.sections = []
        for index in range(count):
            header = struct.unpack_from("<IIQQQQIIQQ", self.raw,
                                        at + index * size)
            section = Section(header)
            if section.type != NOBITS:
                section.data = bytearray(self.raw[
                    section.offset:section.offset + section.size])
            self.sections.append(section)
        strings = self.sections[names].data
        for section in self.sections:
            section.name = text_at(strings, section.name_at)

    def _read_symbols(self):
        self.symbols = []
        for table in self.sections:
            if table.type != SYMTAB:
                continue
            strings = self.sections[table.link].data
            for name, info, _, section, value, size in struct.iter_unpack(
                    "<IBBHQQ", table.data):
                self.symbols.append(Symbol(text_at(strings, name), info & 15,
                                           section, value, size))
        for symbol in self.symbols:
            if symbol.kind == SECTION and not symbol.name:
                symbol.name = self.sections[symbol.section].name

    def _read_relocations(self):
        for table in self.sections:
            if table.type != RELA or table.info >= len(self.sections):
                continue
            self.sections[table.info].relocations += [
                Relocation(offset, info & 0xffffffff, info >> 32, addend)
                for offset, info, addend in struct.iter_unpack("<QQq",
                                                               table.data)]

    def _lay_out(self):
        address = GAP
        for section in self.sections:
            if not section.allocated():
                continue
            align = max(section.align, 1)
            section.address = address = -(-address // align) * align
            address += section.size + GAP
        for symbol in self.symbols:
            if symbol.name and symbol.section in (UNDEFINED, COMMON):
                symbol.address = address
                address += GAP

    def _place_symbols(self):
        for symbol in self.symbols:
            if symbol.section == ABSOLUTE:
                symbol.address = symbol.value
            elif symbol.section and symbol.section < len(self.sections):
                section = self.sections[symbol.section]
                if self.type != RELOCATABLE:
                    symbol.address = symbol.value
                elif section.allocated():
                    symbol.address = section.address + symbol.value
        self.by_name = {symbol.name: symbol for symbol in self.symbols
                        if symbol.address is not None}

    def _relocate(self):
        for section in self.sections:
            for reloc in section.relocations:
                if not section.allocated() or reloc.type not in RELOCATIONS:
                    continue
                size, relative = RELOCATIONS[reloc.type]
                value = self.symbols[reloc.symbol].address
                if value is None:
                    continue
                value += reloc.addend
                if relative:
                    value -= section.address + reloc.offset
                section.data[reloc.offset:reloc.offset + size] = (
                    value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def referred(self, reloc):
        """(name, addend) that a relocation refers to; or, if that is a string,
        ("", string), wherever it lies."""
        symbol = self.symbols[reloc.symbol]
        if symbol.kind == SECTION:
            section = self.sections[symbol.section]
            # Relative ones are counted from the end of four bytes.
            at = reloc.addend + (4 if reloc.type == 2 else 0)
            if section.flags & STRINGS and 0 <= at < section.size:
                return "", text_at(section.data, at)
        return symbol.name, reloc.addend

    def section(self, name):
        """The section of a name, or None."""
        for section in self.sections:
            if section.name == name:
                return section
        return None

    def address(self, name):
        """A symbol's address, or None."""
        symbol = self.by_name.get(name)
        return symbol.address if symbol else None

    def read(self, address, size):
        """Bytes at an address."""
        for section in self.sections:
            offset = address - section.address
            if section.allocated() and 0 <= offset < section.size:
                return bytes(section.data[offset:offset + size])
        raise ElfError(f"{self.path} has nothing at {address:#x}")

    def table(self, section, symbol=None):
        """(address, bytes) of a table: a section, or the range between two
        symbols that the linker script put around it. Empty if there is none."""
        found = self.section(section)
        if found:
            return found.address, bytes(found.data)
        start = self.address(f"__start_{symbol or section}")
        stop = self.address(f"__stop_{symbol or section}")
        if start is None or stop is None or start == stop:
            return 0, b""
        return start, self.read(start, stop - start)


def text_at(strings, offset):
    """A string of a string table."""
    return strings[offset:strings.index(0, offset)].decode()
