#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The series as mails, with its cover letter: make mbox.

Writes build/etch.mbox. "git am --empty=drop build/etch.mbox" in a kernel tree applies
it: the cover letter changes nothing, and is dropped. FROM="Name <address>" has the mails
written and signed by this person; KDIR=/path is a git tree whose commit they name as their
base.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import layout
import mail
import manifest
import tree


def main():
    try:
        text = mail.mailbox(os.environ.get("FROM") or mail.PROJECT, os.environ.get("KDIR"))
    except (mail.MailError, manifest.ManifestError, tree.TreeError, OSError) as error:
        sys.exit(f"error: {error}")
    file = layout.BUILD / "etch.mbox"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8"))
    print(f"{file}: {text.count(mail.ENVELOPE)} mails. git am --empty=drop takes them.")


if __name__ == "__main__":
    main()
