# SPDX-License-Identifier: GPL-2.0
"""How much of the processors a session gets beside others."""

import contextlib
from pathlib import Path


def of_session(pid, nice):
    """Give the session of a process a nice value among the sessions of the machine.

    Kernels with CONFIG_SCHED_AUTOGROUP share the processors among sessions, and the nice value of a
    process counts only within its own: a session of nothing but "nice -n 19" gets as much as any
    other. Their /proc/PID/autogroup has the session's value, as sched(7) says. Other kernels have
    no such file.
    """
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(f"{nice}\n")
