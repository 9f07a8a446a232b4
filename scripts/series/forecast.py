#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What of the series does not fit a newer kernel: make forecast. Prints hunks by patch.

The kernel is the newest that Debian has packaged, or KDIR=/path. Nothing is changed, and
hunks that do not fit are no failure: they show what the next port will have to do. A hunk that
depends on one that does not fit counts, too. The series is the newest base's, or BASE's.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import layout
import manifest
import misfit
import tree

SCRIPTS = layout.TOP / "scripts"


def newest():
    """The newest kernel's files that the series touches, below a folder."""
    place = layout.BUILD / "newest"
    found = subprocess.run([SCRIPTS / "lab/newest.sh"], check=False, text=True,
                           stdout=subprocess.PIPE)
    archive = found.stdout.strip()
    if found.returncode or not archive or subprocess.run(
            [SCRIPTS / "series/vanilla.sh", *tree.touched()], check=False,
            env={**os.environ, "ARCHIVE": archive, "DIR": str(place)}).returncode:
        raise tree.TreeError("Debian's archive gave no newer source (above); KDIR=/path is one "
                             "of yours")
    return place / "tree"


def count(diff):
    """How many parts of a diff can fit or not: hunks, or a file that is new."""
    return len(misfit.hunks(diff)) if diff.kind != "new" else 1


def try_patch(place, patch):
    """The sentences on what does not fit; the rest of the patch is applied."""
    said = [line for diff in patch.diffs for line in misfit.of_file(place, diff)]
    for diff in patch.diffs:
        subprocess.run(["patch", "-p1", "-f", "-s", "-F0", "-r", "-",
                        "--no-backup-if-mismatch"], cwd=place, check=False,
                       input=diff.text().encode("utf-8"), stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return said


def forecast(base):
    """[(patch, how many hunks it has, sentences on those that do not fit)], on this source."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        tree.small(base, place)
        return [(name, sum(map(count, patch.diffs)), try_patch(place, patch))
                for name, patch in tree.patches()]


def main():
    try:
        if not os.environ.get("ETCH_BASE"):
            layout.choose(layout.carried()[-1])
        base = Path(os.environ["KDIR"]) if os.environ.get("KDIR") else newest()
        version = "{}.{}.{}".format(*tree.version(base))
        rows = forecast(base)
    except (tree.TreeError, manifest.ManifestError, OSError) as error:
        sys.exit(f"### error: {error}")
    bad = [row for row in rows if row[2]]
    for name, hunks, said in bad:
        print(f"{name}: {len(said)} of {hunks}")
        for line in said:
            print(f"    {line}")
    print(f"==> On Linux {version} {sum(len(said) for _, _, said in bad)} of "
          f"{sum(hunks for _, hunks, _ in rows)} hunks do not fit, in {len(bad)} of "
          f"{len(rows)} patches of {layout.SERIES.name}.")


if __name__ == "__main__":
    main()
