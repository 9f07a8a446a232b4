# SPDX-License-Identifier: GPL-2.0
"""The Cc: lines of a patch, by the kernel's own scripts/get_maintainer.pl.

That script sees only the patch's changes to files that are not ours. A patch that only
adds our own has no Cc: these files are in our entry in MAINTAINERS.
"""

import re
import subprocess

import layout
import patchfile

COMMAND = ("perl", "scripts/get_maintainer.pl", "--nogit", "--nogit-fallback",
           "--norolestats")
CC = re.compile(r"^Cc: (.*)\n", re.M)
SIGNED = re.compile(r"^Signed-off-by: ", re.M)


class MaintainersError(Exception):
    """Why nobody can be named, as a sentence."""


def others(patch):
    """The patch without what it does to our own files."""
    ours = layout.sources()
    return patchfile.Patch(patch.message, [diff for diff in patch.diffs
                                           if diff.path not in ours])


def ask(patch):
    """The addresses that a patch is sent to, people and then lists.

    By name: its own order is another one each time.
    """
    foreign = others(patch)
    if not foreign.diffs:
        return []
    # Without the message, whose addresses it would add.
    text = "".join(diff.text() for diff in foreign.diffs)
    result = subprocess.run([*COMMAND], cwd=layout.PRISTINE, input=text, text=True,
                            check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode or result.stderr.strip():
        raise MaintainersError("get_maintainer.pl: " + result.stderr.strip())
    found = sorted(set(filter(None, map(str.strip, result.stdout.splitlines()))),
                   key=lambda address: ("<" not in address, address.lower()))
    if not found:
        raise MaintainersError("get_maintainer.pl names nobody")
    return found


def named(message):
    """The addresses that a message has."""
    return CC.findall(message)


def with_cc(message, addresses):
    """The message with these, above the first Signed-off-by."""
    bare = CC.sub("", message)
    place = SIGNED.search(bare)
    if not place:
        raise MaintainersError("the message has no Signed-off-by")
    lines = "".join(f"Cc: {address}\n" for address in addresses)
    return bare[:place.start()] + lines + bare[place.start():]


def stale(patches):
    """[(name, message it should have)] where Cc: lines are not what they should be."""
    found = []
    for name, patch in patches:
        message = with_cc(patch.message, ask(patch))
        if message != patch.message:
            found.append((name, message))
    return found


def base_is_distributed():
    """Whether the pristine tree is the one whose MAINTAINERS counts, and not a user's."""
    origin = layout.BUILD / "linux-pristine.origin"
    return origin.exists() and origin.read_text().startswith(("package ", "tarball "))
