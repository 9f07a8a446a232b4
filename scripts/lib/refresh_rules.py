# SPDX-License-Identifier: GPL-2.0
"""What each patch should hold: the files, the message that it has, one form."""

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
