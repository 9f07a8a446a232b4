# SPDX-License-Identifier: GPL-2.0
"""One at a time: locks between programs, as alone() of lib/common.sh has them."""

import contextlib
import fcntl
import sys


@contextlib.contextmanager
def alone(file, who):
    """Wait until no other program has this lock, and keep it to the end of the block.

    who: the other programs that may have it, for the message. A file on which there is a
    lock must not be removed.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"==> {who} is at work in this folder: waiting for its end.",
                  file=sys.stderr, flush=True)
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
