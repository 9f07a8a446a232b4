# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=gate inside the guest: load the modules, which measure while they are
# loaded, and report what they printed. Words "bench.NAME=VALUE" on the kernel's
# command line are parameters of the first.

params()
{
	tr ' ' '\n' < /proc/cmdline | sed -n 's/^bench\.//p'
}

# measure MODULE [PARAMETER...]
measure()
{
	name=$1
	shift
	insmod "/bench/$name.ko" "$@" && rmmod "$name"
}

# shellcheck disable=SC2046
measure bench-gate $(params) || exit 1
if [ -e /bench/bench-probe.ko ]; then
	echo 0 > /proc/sys/debug/kprobes-optimization || exit 1
	measure bench-probe optimised=0 || exit 1
	echo 1 > /proc/sys/debug/kprobes-optimization || exit 1
	measure bench-probe optimised=1 || exit 1
fi
dmesg | sed -n 's/.*\] bench: /bench: /p'
