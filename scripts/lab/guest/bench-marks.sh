# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=marks inside the guest. One module has the markers and trace_printk(), BENCH=event's
# has the events beside them; rounds go through both. Words "bench.NAME=VALUE" on the kernel's
# command line: rounds, iterations, trust (the module's trust_counter), cheap (ftrace's cheapest
# clock).
#
#	bench: stored TRACER HOW RECORDS	what the buffers say was recorded
. /guest/figures.sh
ETCH=/sys/kernel/debug/etch
FTRACE=/sys/kernel/tracing
RUN=/sys/kernel/debug/bench/run
MARKS=/sys/module/bench_marks/parameters/run
SIZE=1024			# KiB of each buffer
EACH=4				# samples of a row in a round

# hit HOW FILE LINE: both buffers are empty before.
hit()
{
	write "" $ETCH/trace
	write "" $FTRACE/trace
	write "$3" "$2"
	echo "bench: stored etch $1 $(stored $ETCH)"
	echo "bench: stored ftrace $1 $(stored $FTRACE)"
}

set_up()
{
	for kind in small string; do
		write 1 $ETCH/events/bench_hits/etch_$kind/enable
		write 1 $FTRACE/events/bench_hits/ftrace_$kind/enable
	done
	for name in three text; do
		write 1 $ETCH/events/markers/bench_$name/enable
	done
	for tree in $ETCH $FTRACE; do
		write $SIZE "$tree/buffer_size_kb"
	done
	write counter $ETCH/trace_clock
	write "$cheap" $FTRACE/trace_clock
}

rounds=$(word rounds)
iterations=$(word iterations)
cheap=$(word cheap)
insmod /bench/bench-event.ko trust_counter="$(word trust)" || exit 1
insmod /bench/bench-marks.ko || exit 1
set_up
round=0
while [ $round -lt "$rounds" ]; do
	hit marks $MARKS "marks $EACH $iterations"
	hit events $RUN "events $EACH $iterations empty nobody \
etch_small ftrace_small etch_string ftrace_string"
	round=$((round + 1))
done
write 0 $ETCH/events/enable
write 0 $FTRACE/events/enable
rmmod bench-marks || exit 1
rmmod bench-event || exit 1
dmesg | sed -n 's/.*\] bench: /bench: /p'
