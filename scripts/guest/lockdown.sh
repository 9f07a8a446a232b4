# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# In a kernel that is locked down: what can be opened. The host reads the results.
mode=$(sed -n 's/.*lockdown=\([a-z]*\).*/\1/p' /proc/cmdline)
/kselftest/etch/lockdown -t "$mode" || true
