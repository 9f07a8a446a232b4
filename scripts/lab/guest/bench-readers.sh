# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=readers inside the guest. The module that hits events is BENCH=event's.
ETCH=/sys/kernel/debug/etch
FTRACE=/sys/kernel/tracing

word()
{
	sed -n "s/.*bench\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

insmod /bench/bench-event.ko || exit 1
for tracer in $ETCH $FTRACE; do
	echo 4096 > "$tracer/buffer_size_kb" || exit 1
done
echo 1 > $ETCH/events/bench_hits/etch_small/enable || exit 1
echo 1 > $FTRACE/events/bench_hits/ftrace_small/enable || exit 1
/bench/readers "$(word rounds)" "$(word hits)" || exit 1
echo 0 > $ETCH/events/enable
echo 0 > $FTRACE/events/enable
rmmod bench-event
