# SPDX-License-Identifier: GPL-2.0
"""The series as mails: numbered, with a cover letter, as git format-patch makes them.

One mailbox holds them, the cover letter first, the patches as answers to it. Those that
a patch's message names behind Cc: are in the mail's header, too; lists that any patch
goes to get the cover letter.
"""

import hashlib
import re

import layout
import maintainers
import manifest
import patchfile
import tree

COVER = layout.PATCHES / "cover-letter"
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
    counts = [diff.counts() for patch in patches.values() for diff in patch.diffs]
    paths = {diff.path for patch in patches.values() for diff in patch.diffs}
    return "\n".join(lines) + "\n" + patchfile.totals(
        len(paths), sum(plus for plus, _ in counts), sum(minus for _, minus in counts))


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


def mailbox():
    """The text of the mailbox."""
    patches = dict(tree.patches())
    lists = dict.fromkeys(address for patch in patches.values()
                          for address in maintainers.named(patch.message)
                          if "<" not in address)
    reply, first = mail(COVER.read_text(), 0, len(patches), lists, None,
                        "\n" + contents(patches))
    mails = [first]
    for number, patch in enumerate(patches.values(), 1):
        rest = ("---\n" + patchfile.diffstat(patch.diffs) + "\n"
                + "".join(diff.text() for diff in patch.diffs))
        mails.append(mail(patch.message, number, len(patches),
                          maintainers.named(patch.message), reply, rest)[1])
    return "".join(mails)
