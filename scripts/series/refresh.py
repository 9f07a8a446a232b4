#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the patches from the files: make refresh.

Patches that add our own files (patches/manifest says which) get their
content from the files; their messages stay. Every patch is brought to the
one form in which patches are kept, its diffstat renewed; where the source of its
kernel is there (make fetch), git writes its hunks, and checkpatch reads what changed.
With --check nothing is written, and a patch that would change is an error. ETCH_BASE=6.18
looks at that base's series; otherwise all series are looked at.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import checkpatch
import gitform
import layout
import manifest
import patchfile
import refresh_rules as rules
import tree


def write(texts, names):
    """Give these patches their text."""
    for name in names:
        (layout.PATCHES / name).write_bytes(texts[name].encode("utf-8"))
        print(f"Patch {name} refreshed.")


def as_git(bases):
    """Have git write the hunks of the patches of those bases whose source is there."""
    changed = []
    for base in bases:
        layout.choose(base)
        if layout.PRISTINE.is_dir():
            texts = gitform.stale_on(layout.PRISTINE)
            write(texts, texts)
            changed += texts
    return changed


def read_by_checkpatch(names):
    """Print what checkpatch says of these patches, if the source that has it is there."""
    if not layout.PRISTINE.is_dir():
        return
    for name, found in checkpatch.of_each(names):
        for problem in found:
            print(f"{name}: checkpatch: {problem}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail if a patch would change")
    args = parser.parse_args()
    try:
        one = os.environ.get("ETCH_BASE")
        bases = [one] if one else layout.carried()
        texts = rules.every_base(bases)
        changed = rules.stale(texts)
        if not args.check:
            write(texts, changed)
            changed = sorted({*changed, *as_git(bases)})
            read_by_checkpatch(changed)
        elif changed:
            sys.exit("would change: " + ", ".join(changed)
                     + ". Run make refresh and look at the difference")
    except (manifest.ManifestError, patchfile.PatchError, tree.TreeError,
            layout.LayoutError) as error:
        sys.exit(f"error: {error}")
    if not changed:
        print("The patches already hold what the files say.")


if __name__ == "__main__":
    main()
