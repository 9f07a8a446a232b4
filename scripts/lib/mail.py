# SPDX-License-Identifier: GPL-2.0
"""The series as mails: numbered, with a cover letter, as git format-patch makes them.

One mailbox holds them, the cover letter first, the patches as answers to it. Those that
a patch's message names behind Cc: are in the mail's header, too; lists that any patch
goes to get the cover letter.
"""

import hashlib
import re
import tempfile

import layout
import maintainers
import manifest
import patchfile
import tree

COVER = layout.PATCHES / "cover-letter"
# The author of every message, which is no person.
PROJECT = "Etch developers <etch@example.org>"
PERSON = re.compile(r"[^<>\n]*[^<>\s] <[^<>@\s]+@[^<>@\s]+>")
# The mark by which git knows the mails of a mailbox.
ENVELOPE = "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
TO = "linux-kernel@vger.kernel.org"


class MailError(Exception):
    """Why the series cannot be mailed, as a sentence."""


def split(message):
    """(header, body) of a mail."""
    header, _, body = message.partition("\n\n")
    return header, body


def groups():
    """[(heading, [patch, ...]), ...], as the series has them."""
    found = []
    for line in layout.SERIES.read_text().split("\n\n", 1)[1].splitlines():
        if line.startswith("# "):
            found.append((line[2:], []))
        elif line.strip():
            found[-1][1].append(line.strip())
    if [name for _, names in found for name in names] != manifest.series():
        raise MailError("series: every patch belongs below a heading")
    return found


def subject(patch):
    """A patch's subject without the mark."""
    return re.sub(r"\s+", " ", patch.header("Subject")).removeprefix("[PATCH] ")


def contents(patches):
    """The patches below their headings, numbered, and what they change in all."""
    lines, number = [], 0
    for heading, names in groups():
        lines.append(f"{heading}:")
        for name in names:
            number += 1
            lines.append(f"  {number:2} {subject(patches[name])}")
        lines.append("")
    return "\n".join(lines) + "\n" + _total(patches) + edited(patches)


def _total(patches, wanted=lambda diff: True):
    """The last line of a diffstat of all patches, of those diffs that are wanted."""
    diffs = [diff for patch in patches.values() for diff in patch.diffs if wanted(diff)]
    return patchfile.totals(len({diff.path for diff in diffs}),
                            sum(diff.counts()[0] for diff in diffs),
                            sum(diff.counts()[1] for diff in diffs))


def edited(patches):
    """How much of that is in files that the kernel has."""
    added = {diff.path for patch in patches.values() for diff in patch.diffs
             if diff.kind == "new"}
    return "of these, in files that the kernel has:\n" + _total(
        patches, lambda diff: diff.path not in added)


def base(kdir=None):
    """The lines that say which kernel the mails apply to.

    kdir: a git tree of the user's, whose commit they then name; it has to be such a kernel,
    and the series has to apply to it.
    """
    if kdir:
        commit = _commit(kdir)
        return "This series is for Linux {}.{}.{}.\n\nbase-commit: {}\n".format(
            *tree.version(kdir), commit)
    lines = f"This series is for Linux {layout.BASE}.y"
    origin = layout.BUILD / "linux-pristine.origin"
    if origin.is_file() and not origin.read_text().startswith("tree "):
        made = "{}.{}.{}".format(*tree.version(layout.PRISTINE))
        whose = "Debian's source" if origin.read_text().startswith("package") else "upstream"
        lines += f", and was made on {made} ({whose})"
    return (lines + ".\nThat was no git tree, so there is no base-commit: \"make mbox "
            "KDIR=/path/to/linux.git\"\nnames one.\n")


def _commit(kdir):
    """The commit of a git tree to which the series applies as it is."""
    def git(*words):
        return tree.run(["git", "-c", f"safe.directory={kdir}", *words], kdir).strip()

    if "{}.{}".format(*tree.version(kdir)) != layout.BASE:
        raise MailError(f"{kdir} is not Linux {layout.BASE}.y; BASE= chooses the series")
    changed = git("status", "--porcelain", "--", *tree.touched())
    if changed:
        raise MailError(f"{kdir} has files that are not as its commit has them, or the series "
                        f"is on it: {changed.splitlines()[0].strip()}")
    with tempfile.TemporaryDirectory() as scratch:
        tree.overlay(kdir, scratch)
    return git("rev-parse", "HEAD")


def signed(message, person):
    """A message with a person in the place of the project."""
    return re.sub(rf"^(From|Signed-off-by): {re.escape(PROJECT)}$", rf"\1: {person}", message,
                  flags=re.M)


def mail(message, number, count, cc, reply, rest):
    """One mail of the mailbox. reply: the cover letter's id, or None for itself."""
    header, body = split(message)
    width = len(str(count))
    header = header.replace("Subject: [PATCH] ",
                            f"Subject: [PATCH {number:0{width}}/{count}] ", 1)
    name = hashlib.sha256((message + rest).encode("utf-8")).hexdigest()[:20]
    name = f"<{name}.{number}@etch.example.org>"
    lines = [f"Message-ID: {name}"]
    if reply:
        lines += [f"In-Reply-To: {reply}", f"References: {reply}"]
    lines.append(f"To: {TO}")
    others = [address for address in cc if address != TO]
    if others:
        lines.append("Cc: " + ",\n ".join(others))
    lines += ["MIME-Version: 1.0", "Content-Type: text/plain; charset=UTF-8",
              "Content-Transfer-Encoding: 8bit"]
    text = f"{header}\n" + "\n".join(lines) + f"\n\n{body.rstrip()}\n{rest}"
    if re.search(r"^From ", text, re.M):
        raise MailError(f"mail {number} has a line that begins with 'From '")
    return name, f"{ENVELOPE}{text}-- \netch\n\n"


def mailbox(person=PROJECT, kdir=None):
    """The text of the mailbox. person: the sender; kdir: see base()."""
    if not PERSON.fullmatch(person):
        raise MailError(f"FROM={person}: this is not of the form 'Name <address>'")
    patches = dict(tree.patches())
    lists = dict.fromkeys(address for patch in patches.values()
                          for address in maintainers.named(patch.message)
                          if "<" not in address)
    reply, first = mail(signed(COVER.read_text(), person), 0, len(patches), lists, None,
                        "\n" + contents(patches) + "\n" + base(kdir))
    mails = [first]
    for number, patch in enumerate(patches.values(), 1):
        rest = ("---\n" + patchfile.diffstat(patch.diffs) + "\n"
                + "".join(diff.text() for diff in patch.diffs))
        mails.append(mail(signed(patch.message, person), number, len(patches),
                          maintainers.named(patch.message), reply, rest)[1])
    return "".join(mails)
