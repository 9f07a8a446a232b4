# SPDX-License-Identifier: GPL-2.0
"""Which patch of the series adds which of our own files.

patches/manifest lists patches at the left margin and, indented below each,
patterns of paths in this repository. "*" matches slashes too. A file belongs
to the first pattern that it matches.

A patch's name begins with its folder: common/ for every base, or the base that it is for.
What such a patch of another base adds is no file of this one.
"""

from fnmatch import fnmatchcase

import layout


class ManifestError(Exception):
    """A mistake, and what to do about it, as a sentence."""


def parse(text):
    """[(patch, [pattern, ...]), ...] in the order of the file."""
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        body = line.split("#", 1)[0].rstrip()
        if not body:
            continue
        if not body[0].isspace():
            entries.append((body, []))
        elif entries:
            entries[-1][1].append(body.strip())
        else:
            raise ManifestError(f"patches/manifest:{number}: a pattern "
                                "without a patch above it")
    return entries


def owner(entries, path):
    """The patch that adds the file at this path of the repository."""
    for patch, patterns in entries:
        if any(fnmatchcase(path, pattern) for pattern in patterns):
            return patch
    return None


def read():
    """The manifest of this repository."""
    return parse(layout.MANIFEST.read_text())


def is_others(patch):
    """Whether a patch is in the folder of another base."""
    folder = patch.partition("/")[0]
    return folder in layout.BASES and folder != layout.BASE


def sources():
    """Our own files in the tree of this base: {path in the kernel tree: file}."""
    entries = read()
    return {path: file for path, file in layout.sources().items()
            if not is_others(owner(entries, str(file.relative_to(layout.TOP))) or "")}


def assign(entries, sources):
    """{patch of this base: {path in the kernel tree: file}}; every source has a patch."""
    chosen = {patch: {} for patch, _ in entries if not is_others(patch)}
    homeless = []
    for path, file in sources.items():
        name = str(file.relative_to(layout.TOP))
        patch = owner(entries, name)
        if patch is None:
            homeless.append(name)
        elif patch in chosen:
            chosen[patch][path] = file
    if homeless:
        raise ManifestError(
            "in no patch: " + ", ".join(homeless) + ". Name the patch that "
            "adds it in patches/manifest (patches/README.md says how), or "
            "add the file to .gitignore if it is not a source")
    return chosen


def names(text):
    """The names of the patches in the text of a series, in order."""
    return [line.split("#")[0].split()[0] for line in text.splitlines()
            if line.split("#")[0].strip()]


def series():
    """The names of the patches of the series, in order, each with its folder."""
    if not layout.SERIES.is_file():
        raise ManifestError(f"there is no series for Linux {layout.BASE} yet: "
                            f"{layout.SERIES.name} is missing")
    return names(layout.SERIES.read_text())
