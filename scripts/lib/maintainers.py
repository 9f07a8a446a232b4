# SPDX-License-Identifier: GPL-2.0
"""The Cc: lines of a patch, by the kernel's own scripts/get_maintainer.pl and our additions.

That script sees only the patch's changes to files that are not ours: ours are in our entry in
MAINTAINERS. patches/recipients says which patches go to further addresses, so that the Cc: of a
patch that only adds our files does not depend on the base.
"""

import re
import subprocess
from fnmatch import fnmatchcase

import layout
import patchfile

ADDITIONS = layout.PATCHES / "recipients"

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


def additions(name, text):
    """The addresses that a text as in patches/recipients adds for a patch."""
    found, wanted = set(), False
    for line in text.splitlines():
        if line[:1].isspace():
            if wanted:
                found.add(line.strip())
        elif line and not line.startswith("#"):
            wanted = any(fnmatchcase(name, pattern) for pattern in line.split())
    return found


def recipients(name, patch):
    """The addresses that a patch is sent to, people and then lists, by name."""
    return sorted({*ask(patch), *additions(name, ADDITIONS.read_text())},
                  key=lambda address: ("<" not in address, address.lower()))


def ask(patch):
    """The addresses that get_maintainer.pl has for a patch, in an order of its own."""
    foreign = others(patch)
    if not foreign.diffs:
        return []
    # Without the message, whose addresses it would add.
    text = "".join(diff.text() for diff in foreign.diffs)
    result = subprocess.run([*COMMAND], cwd=layout.PRISTINE, input=text, text=True,
                            check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode or result.stderr.strip():
        raise MaintainersError("get_maintainer.pl: " + result.stderr.strip())
    # Behind a list's address it may be said who posts there freely.
    found = {line.partition(" (")[0].strip() for line in result.stdout.splitlines()
             if line.strip()}
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
        message = with_cc(patch.message, recipients(name, patch))
        if message != patch.message:
            found.append((name, message))
    return found


def base_is_distributed():
    """Whether the pristine tree is the one whose MAINTAINERS counts, and not a user's."""
    origin = layout.BUILD / "linux-pristine.origin"
    return origin.exists() and origin.read_text().startswith(("package ", "tarball "))
