# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# scripts/proof/stale.py inside the guest: load the module, which works while it is loaded, once
# for each kind of site that this kernel has. "stale.times=N" on the command line says how
# often code is changed.

times=$(tr ' ' '\n' < /proc/cmdline | sed -n 's/^stale\.times=//p')

insmod /bench/bench-stale.ko what=jump times="${times:-1000}" || exit 1
rmmod bench-stale
# Mainline has no such sites.
insmod /bench/bench-stale.ko what=operand times="${times:-1000}" 2> /dev/null &&
	rmmod bench-stale
dmesg | sed -n 's/.*\] bench: /bench: /p'
