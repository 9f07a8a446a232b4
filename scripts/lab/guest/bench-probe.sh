# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=probe inside the guest. The module that has the probed functions is BENCH=event's, one
# function for each tracer; so has the program "probed". A situation defines an event on each of the two, hits them, and
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
CALLS=50			# of the program in a sample: few, so that no timer comes
PLACES=11			# samples of the program
# shellcheck disable=SC2016	# they are words of the definition
ARGUMENTS='count=$arg1:u64 first=$arg2:u32 second=$arg3:u32'
IN_PROGRAMS='count=%di:u64 first=%si:u32 second=%dx:u32'

# define KIND ARGUMENTS [PLACE PLACE]: the events, which are enabled each in its own tracer.
define()
{
	echo "$1:bench/etch ${3:-bench_probed_etch} $2" >> $ETCH/dynamic_events || exit 1
	echo "$1:bench/ftrace ${4:-bench_probed_ftrace} $2" >> $FTRACE/dynamic_events || exit 1
	write 1 $ETCH/events/bench/etch/enable
	write 1 $FTRACE/events/bench/ftrace/enable
}

# of_module HOW: hit the functions of the module.
of_module()
{
	write "$1 $EACH $iterations nobody_probed etch_probed ftrace_probed" $RUN
}

# of_program HOW: hit those of the program.
of_program()
{
	/bench/probed "$1" $PLACES $CALLS || exit 1
}

# hit HOW [of_program]
hit()
{
	write "" $ETCH/trace
	write "" $FTRACE/trace
	"${2:-of_module}" "$1"
	echo "bench: stored etch_probed $1 $(stored $ETCH)"
	echo "bench: stored ftrace_probed $1 $(stored $FTRACE)"
	write 0 $ETCH/events/bench/etch/enable
	write 0 $FTRACE/events/bench/ftrace/enable
	echo > $ETCH/dynamic_events || exit 1
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

# by_ftrace HOW ARGUMENTS: in a kernel whose functions begin with a place for ftrace's calls.
by_ftrace()
{
	define p "$2"
	[ "$(grep -c FTRACE /sys/kernel/debug/kprobes/list)" -eq 2 ] || {
		cat /sys/kernel/debug/kprobes/list
		exit 1
	}
	hit "$1"
}

# in_program HOW KIND ARGUMENTS
in_program()
{
	define "$2" "$3" "$(/bench/probed place etch)" "$(/bench/probed place ftrace)"
	hit "$1" of_program
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

uprobe_none()
{
	in_program uprobe_none p ""
}

uprobe_three()
{
	in_program uprobe_three p "$IN_PROGRAMS"
}

uretprobe_value()
{
	# shellcheck disable=SC2016	# it is a word of the definition
	in_program uretprobe_value r 'ret=$retval:u64'
}

ftrace_none()
{
	by_ftrace ftrace_none ""
}

ftrace_three()
{
	by_ftrace ftrace_three "$ARGUMENTS"
}

fprobe_three()
{
	define f "$ARGUMENTS"
	hit fprobe_three
}

fprobe_value()
{
	# shellcheck disable=SC2016	# it is a word of the definition
	define f 'ret=$retval:u64' bench_probed_etch%return bench_probed_ftrace%return
	hit fprobe_value
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
