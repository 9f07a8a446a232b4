# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=event inside the guest. The module measures what is written to its file;
# this script sets up the tracers before, and says afterwards what became of the
# hits, from the buffers' own figures:
#
#	bench: stored NAME HOW RECORDS
#	bench: bytes NAME BYTES RECORDS
#
# A round goes through all situations in turn, a situation through all its rows.
# Words "bench.NAME=VALUE" on the kernel's command line: rounds, cold (rounds of
# that), iterations, cheap (ftrace's cheapest clock), situations (a list with
# commas).

ETCH=/sys/kernel/debug/etch
FTRACE=/sys/kernel/tracing
RUN=/sys/kernel/debug/bench/run
KINDS="small large string switch"
SIZE=1024			# KiB of each buffer, as large as the floor's

word()
{
	sed -n "s/.*bench\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

# write VALUE FILE; what cannot be set ends the benchmark.
write()
{
	echo "$1" > "$2" || {
		echo "cannot write '$1' to $2"
		exit 1
	}
}

both()
{
	write "$1" "$ETCH/$2"
	write "$1" "$FTRACE/$2"
}

# stats FOLDER: what the first processor's buffer there says of itself.
stats()
{
	entries=0 over=0 bytes=0
	while IFS=': ' read -r key value; do
		case $key in
		entries) entries=$value ;;
		overwritten | overrun) over=$value ;;
		bytes) bytes=$value ;;
		esac
	done < "$1/per_cpu/cpu0/stats"
	stored=$((entries + over))
}

# hit HOW ITERATIONS KIND [NAME...]: a round of the kind in both tracers, and of
# the other names before it. At the start the buffers are as they are.
hit()
{
	how=$1 iterations=$2 kind=$3
	shift 3
	stats $ETCH
	etch=$stored
	stats $FTRACE
	ftrace=$stored
	write "$how $iterations $* etch_$kind ftrace_$kind" $RUN
	stats $ETCH
	echo "bench: stored etch_$kind $how $((stored - etch))"
	[ "$how" != warm ] || echo "bench: bytes etch_$kind $bytes $entries"
	stats $FTRACE
	echo "bench: stored ftrace_$kind $how $((stored - ftrace))"
	[ "$how" != warm ] || echo "bench: bytes ftrace_$kind $bytes $entries"
}

clear()
{
	write "" $ETCH/trace
	write "" $FTRACE/trace
}

# The situations. Each leaves everything as it found it: overwrite mode, Etch by
# its default clock, ftrace by its cheapest.

# Nothing but the loop, and room in the buffer.
warm()
{
	for kind in $KINDS; do
		clear
		hit warm "$iterations_each" "$kind" empty counter mono local floor nobody
	done
}

set_up()
{
	for kind in $KINDS; do
		write 1 "$ETCH/events/bench_hits/etch_$kind/enable"
		write 1 "$FTRACE/events/bench_hits/ftrace_$kind/enable"
	done
	both $SIZE buffer_size_kb
	write "$cheap" $FTRACE/trace_clock
}

rounds=$(word rounds)
iterations_each=$(word iterations)
cheap=$(word cheap)
situations=$(word situations | tr , ' ')
insmod /bench/bench-event.ko || exit 1
set_up
round=0
while [ $round -lt "$rounds" ]; do
	for situation in $situations; do
		$situation
	done
	round=$((round + 1))
done
rmmod bench-event || exit 1
dmesg | sed -n 's/.*\] bench: /bench: /p'
