# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=enable inside the guest.
/bench/enable "$(sed -n 's/.*bench\.rounds=\([0-9]*\).*/\1/p' /proc/cmdline)"
