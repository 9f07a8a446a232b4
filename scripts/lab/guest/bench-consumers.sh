# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=consumers inside the guest: turn on the events that tracers record, have the module
# measure, and report what it printed, and how many records each tracer has of an event:
#
#	bench: stored TRACER RECORDS

. /guest/figures.sh

ETCH=/sys/kernel/debug/etch
FTRACE=/sys/kernel/tracing

insmod /bench/bench-consumers.ko || exit 1
for event in ftrace both; do
	write 1 $FTRACE/events/bench_consumed/consumed_$event/enable
done
if [ -d $ETCH ]; then
	write counter $ETCH/trace_clock
	for event in etch shared; do
		write 1 $ETCH/events/bench_consumed/consumed_$event/enable
	done
fi
write 1 /sys/module/bench_consumers/parameters/run
# Both events of a tracer are hit alike; the tasks of the guest stay on one processor, or not.
count()
{
	cat "$1"/per_cpu/cpu*/stats | awk -v tracer="$2" '
		/^(entries|overrun|overwritten):/ { n += $2 }
		END { print "bench: stored", tracer, n / 2 }'
}
count $FTRACE ftrace
[ ! -d $ETCH ] || count $ETCH etch
echo 0 > $FTRACE/events/enable
[ ! -d $ETCH ] || echo 0 > $ETCH/events/enable
rmmod bench-consumers
dmesg | sed -n 's/.*\] bench: /bench: /p'
