# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=user inside the guest.
. /guest/figures.sh

/bench/programs "$(word rounds)"
