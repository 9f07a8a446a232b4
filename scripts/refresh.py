#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the patches from the files: make refresh.

Patches that add our own files (patches/manifest says which) get their
content from the files; their messages stay. Every patch is brought to the
one form in which patches are kept, its diffstat renewed. With --check
nothing is written, and a patch that would change is an error.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))
import layout
import manifest
import patchfile


def content(file):
    """The text of a source, byte for byte."""
    return file.read_bytes().decode("utf-8")


def refreshed(name, own):
    """The text that patch name should have. own: {kernel path: file}."""
    place = layout.PATCHES / name
    if not place.exists():
        raise manifest.ManifestError(
            f"patches/{name} does not exist: write its message first "
            "(From, Date, Subject, text, Signed-off-by, a line '---'), and "
            "list it in series. patches/README.md shows one")
    patch = patchfile.parse(place.read_bytes().decode("utf-8"))
    kept = [diff for diff in patch.diffs
            if layout.to_repo(diff.path) is None or diff.kind == "edit"]
    if own is not None:
        added = [patchfile.new_file(path, content(file),
                                    layout.is_executable(file))
                 for path, file in own.items()]
        patch.diffs = added + kept
    return patch.text()


def texts():
    """{patch: the text it should have}, for the series and the manifest."""
    entries = manifest.read()
    own = manifest.assign(entries, layout.sources())
    names = manifest.series()
    for name in own:
        if name not in names:
            raise manifest.ManifestError(
                f"{name} is in patches/manifest but not in series")
    return {name: refreshed(name, own.get(name)) for name in names}


def stale():
    """The patches that refresh would change."""
    return [name for name, text in texts().items()
            if (layout.PATCHES / name).read_bytes() != text.encode("utf-8")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail if a patch would change")
    args = parser.parse_args()
    try:
        changed = stale()
        if not args.check:
            for name, text in texts().items():
                if name in changed:
                    (layout.PATCHES / name).write_bytes(text.encode("utf-8"))
                    print(f"Patch {name} refreshed.")
        elif changed:
            sys.exit("would change: " + ", ".join(changed)
                     + ". Run make refresh and look at the difference")
    except (manifest.ManifestError, patchfile.PatchError) as error:
        sys.exit(f"error: {error}")
    if not changed:
        print("The patches already hold what the files say.")


if __name__ == "__main__":
    main()
