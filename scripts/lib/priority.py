# SPDX-License-Identifier: GPL-2.0
"""How much of the processors a session gets beside others."""

import time
from pathlib import Path

# The kernel takes one value in a tenth of a second from users that are not root, and answers
# EAGAIN meanwhile.
PAUSE, TRIES = 0.1, 50


def of_session(pid, nice):
    """Give the session of a process a nice value among the sessions of the machine.

    Kernels with CONFIG_SCHED_AUTOGROUP share the processors among sessions, and the nice value of a
    process counts only within its own: a session of nothing but "nice -n 19" gets as much as any
    other. Their /proc/PID/autogroup has the session's value, as sched(7) says. Other kernels have
    no such file.
    """
    for _ in range(TRIES):
        try:
            Path(f"/proc/{pid}/autogroup").write_text(f"{nice}\n")
        except BlockingIOError:
            time.sleep(PAUSE)
        except OSError:
            return
        else:
            return
