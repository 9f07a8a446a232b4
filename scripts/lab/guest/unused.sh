# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The main tree before its first use: nothing else is run in this boot.
/kselftest/etch/unused || true
