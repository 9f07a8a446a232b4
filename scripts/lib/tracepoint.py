# SPDX-License-Identifier: GPL-2.0
"""The sites of tracepoints in the machine code of a kernel or a module.

A site is an entry of __jump_table whose key lies in a tracepoint: a NOP in
line, and code out of line that the NOP is patched to jump to. Out of line is
what can be reached from there and not from the function's beginning, up to the
jump back or the return.
"""

import bisect
import struct
from collections import Counter

import disassembly
import elf

PREFIX = "__tracepoint_"
# What objtool puts in the place of a jump: NOPs of two and of five bytes.
NOPS = (bytes.fromhex("6690"), bytes.fromhex("0f1f440000"))
# How a site calls the event's consumers: Etch's way, mainline's two.
CALLS = ("__tracestub_", "__SCT__tp_func_", "__traceiter_")

JUMP_ENTRY = struct.Struct("<iiq")
IMV_ENTRY = struct.Struct("<iIq")
STATIC_CALL = struct.Struct("<ii")


class Site:
    """A place where a tracepoint is hit."""

    def __init__(self, event, code, target):
        self.event, self.code, self.target = event, code, target
        self.function = ""
        self.nop = None
        self.out = []

    def inline(self):
        """Bytes in line."""
        return len(self.nop.raw) if self.nop else 0

    def outline(self):
        """Bytes out of line."""
        return sum(len(one.raw) for one in self.out)

    def is_nop(self):
        """Whether what is there in line is one NOP of a known form."""
        return bool(self.nop) and self.nop.raw in NOPS

    def calls(self):
        """The calls to the event's consumers: none where the site only asks
        whether there is one, as trace_EVENT_enabled()."""
        names = {prefix + self.event for prefix in CALLS}
        return [one for one in self.out if one.callee in names]

    def __str__(self):
        return f"{self.event} in {self.function}"


def relative(table, start, entry):
    """(address, members) of each entry of a table."""
    return ((start + at, entry.unpack_from(table, at))
            for at in range(0, len(table) - entry.size + 1, entry.size))


def jump_table(image):
    """(code, target, key) of each jump label, as addresses."""
    start, table = image.table("__jump_table")
    for at, (code, target, key) in relative(table, start, JUMP_ENTRY):
        yield at + code, at + 4 + target, (at + 8 + key) & ~3


def imv_table(image):
    """(code, width, value) of each patched read of an immediate value."""
    start, table = image.table("__imv_table")
    for at, (code, width, imv) in relative(table, start, IMV_ENTRY):
        yield at + code, width, at + 8 + imv


def static_calls(image):
    """Addresses of the calls in .static_call_sites."""
    start, table = image.table(".static_call_sites", "static_call_sites")
    return [at + code for at, (code, _) in relative(table, start, STATIC_CALL)]


class Places:
    """Which symbol an address lies in, among some of them."""

    def __init__(self, symbols):
        self.sorted = sorted(symbols, key=lambda symbol: symbol.address)
        self.starts = [symbol.address for symbol in self.sorted]

    def find(self, address):
        """The symbol, or None."""
        index = bisect.bisect_right(self.starts, address) - 1
        if index < 0:
            return None
        symbol = self.sorted[index]
        # What another file defines has no size here.
        return symbol if address < symbol.address + (symbol.size or 256) else None


class Code:
    """Functions of an image, as one map of instructions."""

    def __init__(self, functions):
        self.insns, self.owner, self.heads = {}, {}, {}
        for function in functions:
            self.heads[function.address] = function.name
            for address in function.insns:
                self.owner[address] = disassembly.base_name(function.name)
            self.insns.update(function.insns)

    def walk(self, starts, stop=frozenset()):
        """The code that starts reach without leaving the function: {address:
        instruction}."""
        seen, todo = {}, list(starts)
        while todo:
            address = todo.pop()
            if address in seen or address in stop or address not in self.insns:
                continue
            one = seen[address] = self.insns[address]
            if one.jump in ("", "call", "maybe"):
                todo.append(address + len(one.raw))
            if (one.jump in ("always", "maybe")
                    and self.owner.get(one.target) == self.owner[address]):
                todo.append(one.target)
        return seen


def find_sites(image):
    """The sites, without their code; and the other jump labels."""
    tracepoints = Places(symbol for symbol in image.by_name.values()
                         if symbol.name.startswith(PREFIX))
    sites, others = [], []
    for code, target, key in jump_table(image):
        symbol = tracepoints.find(key)
        if symbol:
            sites.append(Site(symbol.name[len(PREFIX):], code, target))
        else:
            others.append((code, target))
    return sites, others


def read_code(image, addresses, names=()):
    """The functions that hold the addresses, their cold parts, and those that
    are named."""
    functions = Places(symbol for symbol in image.symbols
                       if symbol.kind == elf.FUNCTION
                       and symbol.address is not None and symbol.size)
    found = {functions.find(address) for address in addresses} - {None}
    starts = {symbol.address for symbol in found}
    bases = {disassembly.base_name(symbol.name) for symbol in found} | set(names)
    return Code(disassembly.disassemble(
        image, lambda name, address: address in starts
        or disassembly.base_name(name) in bases))


def hot(code, sites, others):
    """{function: addresses that are reached with all of its tracepoints off}."""
    starts = {}
    for head in code.heads:
        if head in code.owner:
            name = code.owner[head]
            if not code.heads[head].endswith(".cold"):
                starts.setdefault(name, []).append(head)
    for site in sites:
        if site.nop:
            starts.setdefault(code.owner[site.code], []).append(
                site.code + site.inline())
    for place, target in others:
        if place in code.owner:
            starts.setdefault(code.owner[place], []).append(target)
    return {name: frozenset(code.walk(at)) for name, at in starts.items()}


def read(image, names=()):
    """(sites with their code, the code). names: further functions to read."""
    sites, others = find_sites(image)
    code = read_code(image, [site.code for site in sites], names)
    for site in sites:
        site.nop = code.insns.get(site.code)
        site.function = code.owner.get(site.code, "?")
    reached = hot(code, sites, others)
    for site in sites:
        if site.nop:
            site.out = list(code.walk([site.target],
                                      reached[site.function]).values())
    return sites, code


def by_place(sites):
    """{(function, event, n): site}, n counting from 0 by address."""
    seen, places = Counter(), {}
    for site in sorted(sites, key=lambda site: site.code):
        place = site.function, site.event
        places[(*place, seen[place])] = site
        seen[place] += 1
    return places
