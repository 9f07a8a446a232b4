# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=workload inside the guest. Systems of events are compared before; a line
#
#	bench: system NAME EVENTS-IN-ETCH EVENTS-IN-FTRACE same|other
#
# tells of each. Only those with the same events are used. The tracers' clocks are
# what they are by default, and told, too.

ETCH=/sys/kernel/debug/etch
FTRACE=/sys/kernel/tracing
SIZE=8192			# KiB: what a round records has room

events()
{
	grep "^$2:" "$1/available_events" | sort
}

# The clock that is chosen stands in brackets.
clock()
{
	sed 's/.*\[\(.*\)\].*/\1/' "$1/trace_clock"
}

systems=
for system in sched irq timer syscalls raw_syscalls; do
	events $ETCH $system > /tmp/etch
	events $FTRACE $system > /tmp/ftrace
	verdict=other
	if [ -s /tmp/etch ] && cmp -s /tmp/etch /tmp/ftrace; then
		verdict=same
		systems="$systems $system"
	fi
	echo "bench: system $system $(wc -l < /tmp/etch)" \
		"$(wc -l < /tmp/ftrace) $verdict"
done
insmod /bench/bench-pass.ko || exit 1
for tracer in $ETCH $FTRACE; do
	echo "$SIZE" > "$tracer/buffer_size_kb" || exit 1
done
echo "bench: clock etch $(clock $ETCH)"
echo "bench: clock ftrace $(clock $FTRACE)"
# shellcheck disable=SC2086
/bench/workload "$(sed -n 's/.*bench\.rounds=\([0-9]*\).*/\1/p' /proc/cmdline)" $systems
