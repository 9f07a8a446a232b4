# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Opens Etch's files in a kernel that is locked down. The host reads the results.
mode=$(sed -n 's/.*lockdown=\([a-z]*\).*/\1/p' /proc/cmdline)
/kselftest/etch/lockdown -t "$mode" || true
