#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Which objects two builds of the kernel have in common, byte by byte.

  objects.py BASE OTHER

BASE and OTHER are build folders of the same configuration: mainline's, and the
series' without CONFIG_ETCH. Compared are code and data of each object as the
compiler left it, and what the linker will put into them. Those that differ
are listed with the patches that edit their source. "lines" means that only the
line numbers differ which warnings carry.
"""

import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import elf
import layout
import manifest
import patchfile

# Objects that are not the kernel's, or that a link makes from objects compared already.
SKIP = ("scripts/", "tools/", "usr/", "arch/x86/boot/", "arch/x86/tools/",
        "arch/x86/realmode/rm/", "samples/")
LINKED = (".tmp_", "vmlinux", "built-in")

# Objects that differ though nobody edits them.
REASONS = {"kernel/configs.o": "it holds the configuration"}

# The compiler is given the source by its folder, and __FILE__ says so.
FOLDER = re.compile(r"^\.\./[^/]+/")

# An entry of __bug_table is two offsets, a line number, and flags.
BUG_TABLE, BUG_SIZE, BUG_LINE = "__bug_table", 12, 8


def objects(folder):
    """The names of a build's objects."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*.o")
            if not str(path.relative_to(folder)).startswith(SKIP)
            and not path.name.startswith(LINKED)
            and not path.name.endswith(".mod.o")}


def without_lines(data):
    """A table of warnings without line numbers."""
    data = bytearray(data)
    for at in range(BUG_LINE, len(data), BUG_SIZE):
        data[at:at + 2] = b"\0\0"
    return data


def reference(image, reloc):
    """What a relocation puts where, without the name of the source's folder."""
    name, what = image.referred(reloc)
    if not name:
        what = FOLDER.sub("", what)
    return reloc.offset, reloc.type, name, what


def contents(image, lines=True):
    """{section: what it holds, and what it refers to}. Strings count where they
    are referred to."""
    found = {}
    for section in image.sections:
        if not section.allocated() or section.flags & elf.STRINGS:
            continue
        # As in the file: before relocation.
        data = b"" if section.type == elf.NOBITS else image.raw[
            section.offset:section.offset + section.size]
        if section.name == BUG_TABLE and not lines:
            data = without_lines(data)
        references = [reference(image, one) for one in section.relocations]
        found.setdefault(section.name, []).append(
            (section.size, bytes(data), references))
    return found


def text_size(image):
    """Bytes of code."""
    return sum(section.size for section in image.sections
               if section.allocated() and section.flags & elf.EXECUTABLE)


def difference(base, other):
    """(names of the sections that differ, bytes of code more), or None. The
    one name "lines" if nothing else differs."""
    if base.read_bytes() == other.read_bytes():
        return None
    images = [elf.Image(path) for path in (base, other)]
    first, second = [contents(image) for image in images]
    names = sorted(name for name in set(first) | set(second)
                   if first.get(name) != second.get(name))
    if not names:
        return None
    if names == [BUG_TABLE] and (contents(images[0], lines=False)
                                 == contents(images[1], lines=False)):
        names = ["lines"]
    return names, text_size(images[1]) - text_size(images[0])


def editors():
    """{source: the patches that edit or add it}."""
    found = {}
    for name in manifest.series():
        patch = patchfile.parse((layout.PATCHES / name).read_text())
        for diff in patch.diffs:
            found.setdefault(diff.path, []).append(name.removesuffix(".patch"))
    return found


def source_patches(name, edits):
    """The patches that edit an object's source, as a word."""
    stem = name[:-len(".o")]
    patches = edits.get(stem + ".c") or edits.get(stem + ".S")
    return ", ".join(patches or [REASONS.get(name, "not edited")])


def compare(base, other):
    """({object: difference}, those of BASE only, those of OTHER only, how many
    were compared)."""
    first, second = objects(base), objects(other)
    found = {}
    for name in sorted(first & second):
        what = difference(base / name, other / name)
        if what:
            found[name] = what
    return found, first - second, second - first, len(first & second)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    base, other = Path(sys.argv[1]), Path(sys.argv[2])
    try:
        found, gone, new, count = compare(base, other)
        edits = editors()
    except (elf.ElfError, OSError, manifest.ManifestError,
            patchfile.PatchError) as error:
        sys.exit(f"error: {error}")
    if not count:
        sys.exit(f"error: {base} and {other} have no object in common")
    for name in sorted(gone):
        print(f"  {name}: only in {base.name}")
    for name in sorted(new):
        print(f"  {name}: only in {other.name} "
              f"({source_patches(name, edits)})")
    for name, (sections, more) in found.items():
        print(f"  {name}: {' '.join(sections)}; {more:+d} bytes of code "
              f"({source_patches(name, edits)})")
    kinds = Counter("lines" if sections == ["lines"] else "more"
                    for sections, _ in found.values())
    print(f"{count} objects in both; {count - len(found)} are equal, "
          f"{kinds['lines']} differ in line numbers, "
          f"{kinds['more']} in more")


if __name__ == "__main__":
    main()
