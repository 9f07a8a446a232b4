#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the Cc: lines into each patch's message: make maintainers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import layout
import maintainers
import manifest
import tree


def main():
    if not maintainers.base_is_distributed():
        sys.exit("error: the addresses are those of a distributed source: without KDIR, please")
    try:
        changed = maintainers.stale(tree.patches())
    except (maintainers.MaintainersError, manifest.ManifestError, tree.TreeError) as error:
        sys.exit(f"error: {error}")
    patches = dict(tree.patches())
    for name, message in changed:
        patches[name].message = message
        (layout.PATCHES / name).write_bytes(patches[name].text().encode("utf-8"))
        print(f"Patch {name}: Cc: renewed.")
    if not changed:
        print("The Cc: lines of all patches are up to date.")


if __name__ == "__main__":
    main()
