# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=probe inside the guest. The module that has the probed functions is BENCH=event's, one
# function for each tracer. A situation defines an event on each of the two, hits them, and
# removes the events. Words "bench.NAME=VALUE" on the kernel's command line: rounds, iterations,
# trust (the module's trust_counter), situations (a list with commas, of the functions below),
# cheap (ftrace's cheapest clock).
#
#	bench: stored NAME HOW RECORDS	what the buffers say was recorded
. /guest/figures.sh
ETCH=/sys/kernel/debug/etch
FTRACE=/sys/kernel/tracing
RUN=/sys/kernel/debug/bench/run
SIZE=2048			# KiB of each buffer
EACH=4				# samples of a row in a round
# shellcheck disable=SC2016	# they are words of the definition
ARGUMENTS='count=$arg1:u64 first=$arg2:u32 second=$arg3:u32'

# define KIND ARGUMENTS: the events, which are enabled each in its own tracer.
define()
{
	echo "$1:bench/etch bench_probed_etch $2" >> $ETCH/kprobe_events || exit 1
	echo "$1:bench/ftrace bench_probed_ftrace $2" >> $FTRACE/kprobe_events || exit 1
	write 1 $ETCH/events/bench/etch/enable
	write 1 $FTRACE/events/bench/ftrace/enable
}

# hit HOW
hit()
{
	write "" $ETCH/trace
	write "" $FTRACE/trace
	write "$1 $EACH $iterations nobody_probed etch_probed ftrace_probed" $RUN
	echo "bench: stored etch_probed $1 $(stored $ETCH)"
	echo "bench: stored ftrace_probed $1 $(stored $FTRACE)"
	write 0 $ETCH/events/bench/etch/enable
	write 0 $FTRACE/events/bench/ftrace/enable
	echo > $ETCH/kprobe_events || exit 1
}

# How many kprobes are jumps.
jumps()
{
	grep -c OPTIMIZED /sys/kernel/debug/kprobes/list
}

# jump HOW ARGUMENTS
jump()
{
	write 1 /proc/sys/debug/kprobes-optimization
	define p "$2"
	tries=0
	while [ "$(jumps)" -lt 2 ]; do
		[ $((tries += 1)) -lt 100 ] || {
			cat /sys/kernel/debug/kprobes/list
			exit 1
		}
		sleep 0.1
	done
	hit "$1"
}

# trapped HOW ARGUMENTS
trapped()
{
	write 0 /proc/sys/debug/kprobes-optimization
	define p "$2"
	hit "$1"
}

# The situations.

jump_none()
{
	jump jump_none ""
}

jump_three()
{
	jump jump_three "$ARGUMENTS"
}

trap_none()
{
	trapped trap_none ""
}

trap_three()
{
	trapped trap_three "$ARGUMENTS"
}

return_value()
{
	write 0 /proc/sys/debug/kprobes-optimization
	# shellcheck disable=SC2016	# it is a word of the definition
	define r 'ret=$retval:u64'
	hit return_value
}

rounds=$(word rounds)
iterations=$(word iterations)
situations=$(word situations | tr , ' ')
insmod /bench/bench-event.ko trust_counter="$(word trust)" || exit 1
write $SIZE $ETCH/buffer_size_kb
write $SIZE $FTRACE/buffer_size_kb
write counter $ETCH/trace_clock
write "$(word cheap)" $FTRACE/trace_clock
round=0
while [ $round -lt "$rounds" ]; do
	for situation in $situations; do
		$situation
	done
	round=$((round + 1))
done
rmmod bench-event || exit 1
dmesg | sed -n 's/.*\] bench: /bench: /p'
