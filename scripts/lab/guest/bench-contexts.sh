# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=contexts inside the guest. The module that hits events is BENCH=event's. A round goes
# through all situations in turn. Words "bench.NAME=VALUE" on the kernel's command line: rounds,
# iterations, trust (the module's trust_counter), situations (a list with commas, of the functions
# below), cheap (ftrace's cheapest clock).
#
#	bench: stored NAME HOW RECORDS	what the buffers say was recorded
. /guest/figures.sh
ETCH=/sys/kernel/debug/etch
FTRACE=/sys/kernel/tracing
RUN=/sys/kernel/debug/bench/run
SIZE=4096			# KiB of each buffer
EACH=4				# samples of a row in a round

# hit HOW
hit()
{
	write "" $ETCH/trace
	write "" $FTRACE/trace
	write "$1 $EACH $iterations empty etch_small ftrace_small" $RUN
	echo "bench: stored etch_small $1 $(stored $ETCH)"
	echo "bench: stored ftrace_small $1 $(stored $FTRACE)"
}

# with HOW CONTEXTS
with()
{
	write "$2" $ETCH/contexts
	hit "$1"
	write "" $ETCH/contexts
}

# The situations.

none()
{
	hit none
}

state()
{
	with state "flags prio"
}

perf()
{
	with perf perf:page-faults
}

kstack()
{
	write 1 $FTRACE/options/stacktrace
	with kstack kstack:16
	write 0 $FTRACE/options/stacktrace
}

set_up()
{
	write 1 $ETCH/events/bench_hits/etch_small/enable
	write 1 $FTRACE/events/bench_hits/ftrace_small/enable
	for tree in $ETCH $FTRACE; do
		write $SIZE "$tree/buffer_size_kb"
	done
	write counter $ETCH/trace_clock
	write "$cheap" $FTRACE/trace_clock
}

rounds=$(word rounds)
iterations=$(word iterations)
cheap=$(word cheap)
situations=$(word situations | tr , ' ')
insmod /bench/bench-event.ko trust_counter="$(word trust)" || exit 1
set_up
round=0
while [ $round -lt "$rounds" ]; do
	for situation in $situations; do
		$situation
	done
	round=$((round + 1))
done
write 0 $ETCH/events/enable
write 0 $FTRACE/events/enable
rmmod bench-event || exit 1
dmesg | sed -n 's/.*\] bench: /bench: /p'
