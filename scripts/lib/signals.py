# SPDX-License-Identifier: GPL-2.0
"""Signals that end a program."""

import signal


def _end(number, _):
    raise SystemExit(128 + number)


def unwind():
    """Let SIGTERM and SIGHUP end this program as an exception does.

    Then each "finally" is executed, and no guest stays behind. A signal that the caller
    has ignored, as nohup does, stays ignored.
    """
    for number in signal.SIGTERM, signal.SIGHUP:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)
