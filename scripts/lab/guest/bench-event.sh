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
# A round goes through all situations in turn, a situation through all its rows;
# HOW is the situation. Words "bench.NAME=VALUE" on the kernel's command line:
# rounds, iterations, storm (iterations in one, where more are needed), cheap
# (ftrace's cheapest clock), trust (the module's trust_counter), situations (a list
# with commas, of the functions below).

ETCH=/sys/kernel/debug/etch
FTRACE=/sys/kernel/tracing
RUN=/sys/kernel/debug/bench/run
KINDS="small large string switch"
PLAIN="empty counter floor nobody"
BASE="empty floor"
SIZE=1024			# KiB of each buffer, as large as the floor's
EACH=4				# samples of a row in a round
COLD=8				# the same, of single hits
FILL="1 50000"			# rounds and hits that fill a buffer for certain

word()
{
	sed -n "s/.*bench\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

# write VALUE FILE; a write that fails ends the benchmark.
write()
{
	echo "$1" > "$2" || {
		echo "cannot write '$1' to $2"
		exit 1
	}
}

# both VALUE FILE: in each tracer's folder.
both()
{
	write "$1" "$ETCH/$2"
	write "$1" "$FTRACE/$2"
}

# clocks ETCH'S FTRACE'S
clocks()
{
	write "$1" $ETCH/trace_clock
	write "$2" $FTRACE/trace_clock
}

# enable VALUE KIND [FOLDER]: the kind's event, in each tracer.
enable()
{
	write "$1" "$ETCH/${3-}/events/bench_hits/etch_$2/enable"
	write "$1" "$FTRACE/${3-}/events/bench_hits/ftrace_$2/enable"
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

# hit HOW SAMPLES ITERATIONS KIND NAME...: a round of the names, and of the kind in
# both tracers.
hit()
{
	how=$1 times="$2 $3" kind=$4
	shift 4
	stats $ETCH
	etch=$stored
	stats $FTRACE
	ftrace=$stored
	write "$how $times $* etch_$kind ftrace_$kind" $RUN
	stats $ETCH
	echo "bench: stored etch_$kind $how $((stored - etch))"
	[ "$how" != warm ] || echo "bench: bytes etch_$kind $bytes $entries"
	stats $FTRACE
	echo "bench: stored ftrace_$kind $how $((stored - ftrace))"
	[ "$how" != warm ] || echo "bench: bytes ftrace_$kind $bytes $entries"
}

# plain HOW: a round of the small event.
plain()
{
	# shellcheck disable=SC2086
	hit "$1" $EACH "$iterations" small $BASE
}

# also HOW FOLDER: what that instance has got, beside the main tree.
also()
{
	for tracer in etch ftrace; do
		if [ $tracer = etch ]; then
			stats "$ETCH/$2"
		else
			stats "$FTRACE/$2"
		fi
		echo "bench: stored ${tracer}_small $1 $stored"
	done
}

clear()
{
	both "" "${1-}/trace"
}

# The situations. Each leaves everything as it found it: overwrite mode, Etch by
# its counter, ftrace by its cheapest clock, only the main tree's events on.

# Nothing but the loop, and room in the buffer.
warm()
{
	for kind in $KINDS; do
		clear
		# shellcheck disable=SC2086
		hit warm $EACH "$iterations" "$kind" $PLAIN
	done
}

# Old records give way.
overwrite()
{
	write "fill $FILL etch_small ftrace_small" $RUN
	plain overwrite
}

# The same with sub-buffers of so many KiB; they are 16 in Etch, 4 in ftrace.
subbuf()
{
	both "$1" buffer_subbuf_size_kb
	both $SIZE buffer_size_kb
	write "fill $FILL etch_small ftrace_small" $RUN
	plain "subbuf_$1"
	write 16 $ETCH/buffer_subbuf_size_kb
	write 4 $FTRACE/buffer_subbuf_size_kb
	both $SIZE buffer_size_kb
}

subbuf_4()
{
	subbuf 4
}

subbuf_64()
{
	subbuf 64
}

discard()
{
	write discard $ETCH/buffer_mode
	write 0 $FTRACE/options/overwrite
	write "fill $FILL etch_small ftrace_small" $RUN
	plain discard
	write overwrite $ETCH/buffer_mode
	write 1 $FTRACE/options/overwrite
	clear
}

# The tracers with the same clock, but for what there is no pair of.
clock_mono()
{
	clocks mono mono
	hit clock_mono $EACH "$iterations" small empty mono
	clocks counter "$cheap"
}

clock_local()
{
	clocks local local
	hit clock_local $EACH "$iterations" small empty local
	clocks counter "$cheap"
}

# A number, no time.
clock_seq()
{
	clocks seq counter
	hit clock_seq $EACH "$iterations" small empty
	clocks counter "$cheap"
}

# several HOW NUMBER...: the main tree and these instances record the event.
several()
{
	how_many=$1
	shift
	clear
	for number; do
		clear "instances/more$number"
		enable 1 small "instances/more$number"
	done
	plain "$how_many"
	for number; do
		also "$how_many" "instances/more$number"
		enable 0 small "instances/more$number"
	done
}

two()
{
	several two 1
}

four()
{
	several four 1 2 3
}

eight()
{
	several eight 1 2 3 4 5 6 7
}

# A second instance wants the event, but stores nothing.
beside()
{
	clear
	enable 1 small instances/silent
	plain beside
	also beside instances/silent
	enable 0 small instances/silent
}

off()
{
	both 0 tracing_on
	plain off
	both 1 tracing_on
}

storm()
{
	clear
	# shellcheck disable=SC2086
	hit storm 1 "$(word storm)" small $PLAIN
}

# Single hits: more of them, for they scatter.
cold()
{
	clear
	# shellcheck disable=SC2086
	hit cold $COLD 1 small $PLAIN
}

instance()
{
	for tracer in $ETCH $FTRACE; do
		mkdir "$tracer/instances/$1" || exit 1
	done
	both $SIZE "instances/$1/buffer_size_kb"
	write counter "$ETCH/instances/$1/trace_clock"
	write "$cheap" "$FTRACE/instances/$1/trace_clock"
	both "$2" "instances/$1/tracing_on"
}

set_up()
{
	for kind in $KINDS; do
		enable 1 "$kind"
	done
	both $SIZE buffer_size_kb
	clocks counter "$cheap"
	for number in 1 2 3 4 5 6 7; do
		instance "more$number" 1
	done
	instance silent 0
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
both 0 events/enable
rmdir $ETCH/instances/* $FTRACE/instances/*
rmmod bench-event || exit 1
dmesg | sed -n 's/.*\] bench: /bench: /p'
