# SPDX-License-Identifier: GPL-2.0
"""Does a configuration have an object? By the kernel's makefiles, read as text.

Conditions other than a symbol in a variable's name (ifdef and the like) are taken for
true, and so is what no makefile names.
"""

import re
from pathlib import Path

ASSIGNED = re.compile(r"^\s*([\w.-]+)-(y|m|objs|\$\([^=]*\))\s*[:+?]?=(.*)$", re.M)
SYMBOL = re.compile(r"CONFIG_\w+")


def symbols(auto_conf):
    """The symbols that are y or m in include/config/auto.conf."""
    return {line.partition("=")[0] for line in auto_conf.splitlines()
            if line.endswith(("=y", "=m"))}


class Tree:
    """A kernel's makefiles, and a configuration."""

    def __init__(self, root, on):
        self.root = Path(root)
        self.on = on                # symbols()
        self.known = {}

    def _lists(self, folder):
        """[(name, suffix, words)] of a folder's makefile; None without one."""
        if folder not in self.known:
            files = [self.root / folder / name for name in ("Kbuild", "Makefile")]
            texts = [file.read_text() for file in files if file.is_file()]
            joined = "\n".join(texts).replace("\\\n", " ")
            self.known[folder] = [(name, suffix, words.split()) for name, suffix, words
                                  in ASSIGNED.findall(joined)] if texts else None
        return self.known[folder]

    def _has(self, folder, names, above=()):
        """Is one of these words in a list that counts, or none of them in any?"""
        named = False
        for stem, suffix, words in self._lists(folder) or ():
            if not names & set(words) or stem in above:
                continue
            named = True
            if any(symbol not in self.on for symbol in SYMBOL.findall(suffix)):
                continue
            if stem in ("obj", "lib"):
                return self._entered(folder)
            # What the list makes, or the lists that take it whole.
            lists = {f"$({stem}-{end})" for end in ("y", "m", "objs")}
            if self._has(folder, {f"{stem}.o", *lists}, (*above, stem)):
                return True
        return not named

    def _entered(self, folder):
        """Does make go into a folder?"""
        if "/" not in folder:
            return True
        above, _, name = folder.rpartition("/")
        return self._has(above, {f"{name}/"})

    def configured(self, path):
        """Is this object one of the configuration's?"""
        folder, _, name = path.rpartition("/")
        # A folder without a makefile is part of the one above.
        while self._lists(folder) is None and "/" in folder:
            folder, _, inner = folder.rpartition("/")
            name = f"{inner}/{name}"
        return self._has(folder, {name}) and self._entered(folder)
