#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write the patches from the files: make refresh.

Patches that add our own files (patches/manifest says which) get their
content from the files; their messages stay. Every patch is brought to the
one form in which patches are kept, its diffstat renewed. With --check
nothing is written, and a patch that would change is an error. ETCH_BASE=6.18
looks at that base's series; otherwise all series are looked at.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import layout
import manifest
import patchfile
import refresh_rules as rules


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail if a patch would change")
    args = parser.parse_args()
    try:
        one = os.environ.get("ETCH_BASE")
        texts = rules.every_base([one] if one else layout.carried())
        changed = rules.stale(texts)
        if not args.check:
            for name, text in texts.items():
                if name in changed:
                    (layout.PATCHES / name).write_bytes(text.encode("utf-8"))
                    print(f"Patch {name} refreshed.")
        elif changed:
            sys.exit("would change: " + ", ".join(changed)
                     + ". Run make refresh and look at the difference")
    except (manifest.ManifestError, patchfile.PatchError, layout.LayoutError) as error:
        sys.exit(f"error: {error}")
    if not changed:
        print("The patches already hold what the files say.")


if __name__ == "__main__":
    main()
