# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=consumers inside the guest: load the module, which measures while it is loaded,
# and report what it printed, and how many records ftrace was given:
#
#	bench: stored RECORDS

FTRACE=/sys/kernel/tracing

insmod /bench/bench-consumers.ko || exit 1
cat $FTRACE/per_cpu/cpu*/stats |
	awk '/^(entries|overrun):/ { n += $2 } END { print "bench: stored", n }'
rmmod bench-consumers
dmesg | sed -n 's/.*\] bench: /bench: /p'
