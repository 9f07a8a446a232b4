# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=rest inside the guest.
/bench/rest "$(sed -n 's/.*bench\.rounds=\([0-9]*\).*/\1/p' /proc/cmdline)"
