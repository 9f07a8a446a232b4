#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Which rooms of kernel/etch/ use which, and that none uses one above it.

A room is a folder of kernel/etch/. It may use the rooms on the floors below its own, and no
two of its files may use each other. The check looks at the headers that a source includes,
for every configuration and however a kernel is linked; and at the symbols of objects, which
also show a use that a header outside of kernel/etch/, or a declaration in a source, hides.

  rooms.py FOLDER     tables of the rooms, and of the layers, of a kernel built in FOLDER
"""

import collections
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import layout

SOURCES = layout.TOP / "kernel-trace"
PLACE = "kernel/etch"
FLOORS = (("hook", "ring"), ("event",), ("instance",), ("tree", "user"),
          ("source", "filter", "text", "ctf"), ("trigger", "persist"), ("hist",),
          ("latency",), ("main",))
# The combinations of layers that a kernel can have, and the rooms that each is made of.
CORE = ("hook", "ring", "event", "instance", "tree", "source", "filter", "trigger", "hist",
        "latency", "main")
LAYERS = {
    "immediate values": ("hook",),
    "the ring": ("ring",),
    "events": CORE,
    "events, text": (*CORE, "text"),
    "events, packets": (*CORE, "ctf"),
    "events, packets, persist": (*CORE, "ctf", "persist"),
    "events, text, packets": (*CORE, "text", "ctf"),
    "all of them": (*CORE, "text", "ctf", "persist"),
}
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
INCLUDE = re.compile(r'^#include "(\w+)/\w+\.h"', re.M)
# The objects and sources of tests, by their names.
TEST = re.compile("kunit|test")
# nm's letters for symbols that a file defines for others.
DEFINED = "TDBRVWGS"


def room_of(path):
    """The room of a file, by its path from kernel/etch/; None: it is in none."""
    first = path.parts[0] if len(path.parts) > 1 else path.stem
    return first if first in FLOOR else None


def upward(here, there):
    """Whether a room may not use another."""
    return here != there and FLOOR[there] >= FLOOR[here]


def lost():
    """The folders that no floor has, and the floors' rooms that are no folder."""
    folders = {path.name for path in SOURCES.iterdir() if path.is_dir()} | {"main"}
    return [f"scripts/proof/lint/rooms.py: {name} is a folder or a room, but not both"
            for name in sorted(folders ^ set(FLOOR))]


def includes():
    """What includes a header of a room that is not below it."""
    found = []
    for path in sorted(SOURCES.rglob("*.[ch]")):
        here = room_of(path.relative_to(SOURCES))
        for there in INCLUDE.findall(path.read_text()):
            if here and there in FLOOR and upward(here, there):
                found.append(f"{path.relative_to(layout.TOP)} includes a header of {there}/, "
                             f"which is not below {here}/")
    return found


def objects(folder):
    """The objects of the rooms below a build folder, by their paths from kernel/etch/."""
    root = Path(folder) / PLACE
    return {path.relative_to(root): path for path in sorted(root.rglob("*.o"))
            if room_of(path.relative_to(root))
            and not path.name.endswith((".mod.o", "built-in.o"))}


def symbols(path):
    """(what an object defines, what it uses)."""
    out = subprocess.run(["nm", path], check=True, text=True, stdout=subprocess.PIPE).stdout
    words = [line.split() for line in out.splitlines()]
    return ({word[2] for word in words if len(word) == 3 and word[1] in DEFINED},
            {word[1] for word in words if len(word) == 2 and word[0] == "U"})


def uses(folder):
    """{(object, another one): symbols} of what the objects use of each other."""
    known = {path: symbols(file) for path, file in objects(folder).items()}
    owner = {name: path for path, (defined, _) in known.items() for name in defined}
    found = collections.defaultdict(set)
    for path, (_, wanted) in known.items():
        for name in wanted:
            if owner.get(name, path) != path:
                found[path, owner[name]].add(name)
    return found


def links(folder):
    """Sentences on the objects that use a symbol of a room that is not below theirs."""
    if not objects(folder):
        return [f"no object of a room was built in {folder}"]
    return [f"{path} uses {', '.join(sorted(names))} of {other}, which is not below it"
            for (path, other), names in sorted(uses(folder).items())
            if upward(room_of(path), room_of(other))]


def reached(graph, start):
    """All that can be reached from a node, in one step or more."""
    found, todo = set(), [start]
    while todo:
        new = graph.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def circles(folder):
    """Sentences on the objects that use each other, directly or through others."""
    graph = collections.defaultdict(set)
    for path, other in uses(folder):
        if not TEST.search(path.name):
            graph[path].add(other)
    reach = {path: reached(graph, path) for path in graph}
    found = {frozenset(other for other in reach[path] if path in reach.get(other, ()))
             for path in reach if path in reach[path]}
    return [f"{', '.join(sorted(map(str, circle)))} use each other"
            for circle in sorted(found, key=sorted)]


def check(folder):
    """All of that, as findings."""
    return lost() + includes() + links(folder) + circles(folder)


def lines(room):
    """How many lines a room's sources have, without its tests."""
    files = ([SOURCES / "main.c"] if room == "main"
             else sorted((SOURCES / room).glob("*.[ch]")))
    return sum(len(path.read_text().splitlines()) for path in files
               if not TEST.search(path.name))


def sections(folder, room):
    """(text with read-only data, data, bss) of a room's objects, in bytes, without its tests."""
    files = [str(file) for path, file in objects(folder).items()
             if room_of(path) == room and not TEST.search(path.name)]
    out = subprocess.run(["size", *files], check=True, text=True,
                         stdout=subprocess.PIPE).stdout.splitlines()[1:] if files else []
    return tuple(sum(int(line.split()[column]) for line in out) for column in range(3))


def needs(folder):
    """{room: rooms that its objects use, without its tests}."""
    found = collections.defaultdict(set)
    for path, other in uses(folder):
        if not TEST.search(path.name):
            found[room_of(path)].add(room_of(other))
    return found


def table(folder):
    """Rooms with their lines, their bytes, and the rooms that they use; and combinations."""
    cost, need = {room: sections(folder, room) for room in FLOOR}, needs(folder)
    print(f"{'room':<28} {'lines':>6} {'text':>7} {'data':>6} {'bss':>6}  uses")
    for room in FLOOR:
        print(f"{room:<28} {lines(room):>6} {cost[room][0]:>7} {cost[room][1]:>6} "
              f"{cost[room][2]:>6}  "
              + " ".join(name for name in FLOOR if name in need[room] - {room}))
    print(f"\n{'layers':<28} {'lines':>6} {'text':>7} {'data':>6} {'bss':>6}")
    for title, rooms in LAYERS.items():
        text, data, bss = (sum(cost[room][column] for room in rooms) for column in range(3))
        print(f"{title:<28} {sum(map(lines, rooms)):>6} {text:>7} {data:>6} {bss:>6}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    table(sys.argv[1])
