#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Kernel trees with the series on them.

  tree.py build           build/linux: the pristine tree, the series, and the
                          source files as they stand; only what differs is
                          written, so that builds stay incremental
  tree.py sync            the source files alone, into build/linux and
                          build/linux-dev
  tree.py apply KDIR      put the series for its kernel on a user's tree, in an older
                          one's place
  tree.py unapply KDIR    take it off again
"""

import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import applied
import layout
import manifest
import tree


def own_files():
    """The overlay of our own files as they stand."""
    return {path: (file.read_bytes(), layout.is_executable(file))
            for path, file in manifest.sources().items()}


def build():
    """Bring build/linux up to date."""
    if not layout.LINUX.is_dir() or not layout.PRISTINE.is_dir():
        raise tree.TreeError(f"there is no kernel source in {layout.BUILD}: make fetch "
                             "unpacks it")
    with tempfile.TemporaryDirectory(dir=layout.BUILD) as scratch:
        wanted = tree.overlay(layout.PRISTINE, Path(scratch) / "overlay")
    patched = {path for path in wanted if layout.to_repo(path) is None
               or (layout.PRISTINE / path).exists()}
    own = own_files()
    gone = [path for path in wanted if path not in patched
            and path not in own]
    for path in gone:
        print(f"{layout.to_repo(path)} is in the series but not here: "
              "left out. make refresh takes it out of its patch")
        del wanted[path]
    wanted.update(own)
    changed = tree.update(layout.LINUX, layout.PRISTINE, wanted)
    print(f"Tree {layout.LINUX.relative_to(layout.SHARED)} updated: {len(changed)} of "
          f"{len(wanted)} files differed.")


def sync():
    """Copy source files that changed to the trees of all bases; delete those that are gone."""
    for base in layout.BASES:
        layout.choose(base)
        sync_base()


def sync_base():
    """The same for the trees of one base."""
    own = own_files()
    for place in (layout.LINUX, layout.DEV):
        if not place.is_dir():
            continue
        changed = [path for path, (content, executable) in own.items()
                   if tree.put(place / path, content, executable)]
        for folder in layout.OWN:
            for file in (place / folder).rglob("*"):
                path = str(file.relative_to(place))
                if file.is_file() and path not in own:
                    file.unlink()
                    changed.append(path)
        print(f"Tree {place.relative_to(layout.SHARED)} synced: "
              f"{len(changed)} files changed.")
        for path in changed:
            print(f"  {path}")


def interrupted(*_):
    """Let a signal that is to end us raise an exception, which takes back a begun change."""
    raise KeyboardInterrupt


def on_users_tree(verb, kdir):
    """Put the series on a user's tree, or take it off."""
    for number in signal.SIGTERM, signal.SIGHUP:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupted)
    try:
        applied.choose_base(kdir)
        print("==>", {"apply": applied.put_on, "unapply": applied.take_off}[verb](kdir))
    except KeyboardInterrupt:
        sys.exit(f"error: interrupted. {kdir} is as it was")


def main():
    verb, rest = sys.argv[1:2], sys.argv[2:]
    try:
        if verb == ["build"]:
            with tree.alone():
                build()
        elif verb == ["sync"]:
            with tree.alone():
                sync()
        elif verb in (["apply"], ["unapply"]) and len(rest) == 1:
            on_users_tree(*verb, rest[0])
        else:
            sys.exit(__doc__)
    except (tree.TreeError, manifest.ManifestError, layout.LayoutError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
