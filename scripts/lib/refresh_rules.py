# SPDX-License-Identifier: GPL-2.0
"""What each patch should hold: the files, the message that it has, one form."""

import layout
import manifest
import patchfile
import slices


def content(file):
    """The text of a source, byte for byte."""
    return file.read_bytes().decode("utf-8")


def addition(path, before, after, patch):
    """The diff of a file that grows: as the patch has it, if that does the same."""
    for diff in patch.diffs:
        if diff.path == path and slices.applied(diff.hunks, before) == after:
            return diff
    return patchfile.Diff(path, "edit", slices.hunks(before, after))


def additions(name, patch, own, grown):
    """The diffs that patch name makes of our files; grown: see slices.grown()."""
    added = []
    for path, file in own.items():
        text = grown[path][name] if path in grown else content(file)
        added.append(patchfile.new_file(path, text, layout.is_executable(file)))
    for path, texts in grown.items():
        behind = list(texts)
        if path not in own and name in behind:
            before = texts[behind[behind.index(name) - 1]]
            added.append(addition(path, before, texts[name], patch))
    return added


def refreshed(name, own, grown):
    """The text that patch name should have. own: {kernel path: file}."""
    place = layout.PATCHES / name
    if not place.exists():
        raise manifest.ManifestError(
            f"patches/{name} does not exist: write its message first "
            "(From, Date, Subject, text, Signed-off-by, a line '---'), and "
            f"list it in {layout.SERIES.name}. patches/README.md shows one")
    patch = patchfile.parse(place.read_bytes().decode("utf-8"))
    kept = [diff for diff in patch.diffs if diff.path not in grown
            and (layout.to_repo(diff.path) is None or diff.kind == "edit")]
    if own is None:
        own = {}
        kept = [diff for diff in patch.diffs if diff.path not in grown]
    # git's order.
    patch.diffs = sorted(additions(name, patch, own, grown) + kept,
                         key=lambda diff: diff.path.encode())
    return patch.text()


def texts():
    """{patch: the text it should have}, for the series of this base and the manifest."""
    entries = manifest.read()
    own = manifest.assign(entries, layout.sources())
    names = manifest.series()
    for name in own:
        if name not in names:
            raise manifest.ManifestError(
                f"{name} is in patches/manifest but not in {layout.SERIES.name}")
    grown = slices.grown(entries, names)
    return {name: refreshed(name, own.get(name), grown) for name in names}


def stale(wanted):
    """The patches that differ from these texts."""
    return [name for name, text in wanted.items()
            if (layout.PATCHES / name).read_bytes() != text.encode("utf-8")]


def every_base(bases):
    """{patch: the text it should have} in the series of all these bases.

    A patch of patches/common/ is one file, so its text must not depend on the base.
    """
    found, first = {}, {}
    for base in bases:
        layout.choose(base)
        for name, text in texts().items():
            if found.setdefault(name, text) != text:
                raise manifest.ManifestError(
                    f"{name} would be another one for {first[name]} than for {base}: what it "
                    "adds to a file that grows depends on the order of the patches, which has "
                    "to be the same in both series")
            first.setdefault(name, base)
    return found
