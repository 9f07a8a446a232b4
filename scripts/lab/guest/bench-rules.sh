# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=rules inside the guest. The module that hits events is BENCH=event's. A round goes
# through all situations in turn; each sets the same rules in both tracers, hits what the rows
# hit, and takes the rules away. Words "bench.NAME=VALUE" on the kernel's command line: rounds,
# iterations, trust (the module's trust_counter), situations (a list with commas, of the
# functions below), cheap (ftrace's cheapest clock).
#
#	bench: stored NAME HOW RECORDS	what the buffers say was recorded
#	bench: counted NAME HOW HITS	what a histogram says was hit
. /guest/figures.sh
ETCH=/sys/kernel/debug/etch
FTRACE=/sys/kernel/tracing
RUN=/sys/kernel/debug/bench/run
SIZE=1024			# KiB of each buffer
EACH=4				# samples of a row in a round
COLD=8				# the same, of single hits
KINDS="small string"
NOBODY=4000000			# the number of no task

# each VALUE FILE: in each tracer's tree, and in the folder that is named there.
each()
{
	write "$1" "$ETCH/$2"
	write "$1" "$FTRACE/$2"
}

# of_event VALUE KIND FILE [FOLDER]: a file of the kind's event, in each tracer.
of_event()
{
	write "$1" "$ETCH/${4-}/events/bench_hits/etch_$2/$3"
	write "$1" "$FTRACE/${4-}/events/bench_hits/ftrace_$2/$3"
}

# of_tracer VALUE TREE FILE
of_tracer()
{
	write "$1" "$2/events/$3"
}

# hit HOW SAMPLES ITERATIONS KIND
hit()
{
	each "" trace
	write "$1 $2 $3 empty floor etch_$4 ftrace_$4" $RUN
	echo "bench: stored etch_$4 $1 $(stored $ETCH)"
	echo "bench: stored ftrace_$4 $1 $(stored $FTRACE)"
}

# warm HOW KIND
warm()
{
	hit "$1" $EACH "$iterations" "$2"
}

# filtered HOW KIND FILTER
filtered()
{
	of_event "$3" "$2" filter
	warm "$1" "$2"
	of_event 0 "$2" filter
}

# counted TRACER TREE HOW [EVENT [KIND]]
counted()
{
	hits=$(sed -n 's/^ *Hits: //p' "$2/events/${4-bench_hits/$1_small}/hist")
	echo "bench: counted $1_${5-small} $3 $hits"
}

# hist HOW HIST: the event is not recorded, but counted.
hist()
{
	of_event 0 small enable
	of_event "$2" small trigger
	warm "$1" small
	counted etch $ETCH "$1"
	counted ftrace $FTRACE "$1"
	of_event "!$2" small trigger
	of_event 1 small enable
}

# The situations.

unfiltered()
{
	warm unfiltered small
}

reject_one()
{
	filtered reject_one small "first == 999999"
}

# Each of the four is looked at.
reject_four()
{
	filtered reject_four small \
		"first != 999999 && second != 999999 && count != 999999999 && first == 999999"
}

reject_string()
{
	filtered reject_string string 'text == "nothing that is hit"'
}

reject_comm()
{
	filtered reject_comm small 'comm == "nobody"'
}

reject_cpu()
{
	filtered reject_cpu small "cpu > 4000"
}

reject_pid()
{
	filtered reject_pid small "common_pid == $NOBODY"
}

set_event_pid()
{
	each $NOBODY set_event_pid
	warm set_event_pid small
	each "" set_event_pid
}

accept_one()
{
	filtered accept_one small "first != 999999"
}

cold_reject()
{
	of_event "first == 999999" small filter
	hit cold_reject $COLD 1 small
	of_event 0 small filter
}

cold_accept()
{
	of_event "first != 999999" small filter
	hit cold_accept $COLD 1 small
	of_event 0 small filter
}

# Eight instances with a filter each, of which one passes.
eight()
{
	for number in 1 2 3 4 5 6 7; do
		of_event 1 small enable "instances/more$number"
		of_event "first == 99999$number" small filter "instances/more$number"
	done
	filtered eight small "first != 999999"
	for number in 1 2 3 4 5 6 7; do
		of_event 0 small enable "instances/more$number"
		of_event 0 small filter "instances/more$number"
	done
}

hist_key()
{
	hist hist_key hist:keys=first
}

hist_value()
{
	hist hist_value hist:keys=first:vals=count
}

hist_log2()
{
	hist hist_log2 hist:keys=count.log2
}

hist_two()
{
	hist hist_two hist:keys=first,second
}

# The event small starts what done ends. ftrace has variables and a synthetic event for that, and
# a histogram of each event.
latency()
{
	of_event 0 small enable
	end="hist:keys=first:time=common_timestamp-\$begin"
	of_tracer start:pair:key=first $ETCH bench_hits/etch_small/trigger
	of_tracer end:pair:key=first $ETCH bench_hits/etch_done/trigger
	of_tracer hist:keys=latency.log2 $ETCH bench_hits/etch_done/trigger
	write 'bench_pair u64 time' $FTRACE/synthetic_events
	of_tracer hist:keys=first:begin=common_timestamp $FTRACE bench_hits/ftrace_small/trigger
	end="$end:onmatch(bench_hits.ftrace_small).bench_pair(\$time)"
	of_tracer "$end" $FTRACE bench_hits/ftrace_done/trigger
	of_tracer hist:keys=time.log2 $FTRACE synthetic/bench_pair/trigger
	warm latency pair
	counted etch $ETCH latency bench_hits/etch_done pair
	counted ftrace $FTRACE latency synthetic/bench_pair pair
	of_tracer !hist:keys=latency.log2 $ETCH bench_hits/etch_done/trigger
	of_tracer !end:pair:key=first $ETCH bench_hits/etch_done/trigger
	of_tracer !start:pair:key=first $ETCH bench_hits/etch_small/trigger
	of_tracer !hist:keys=time.log2 $FTRACE synthetic/bench_pair/trigger
	of_tracer "!$end" $FTRACE bench_hits/ftrace_done/trigger
	of_tracer !hist:keys=first:begin=common_timestamp $FTRACE bench_hits/ftrace_small/trigger
	write "" $FTRACE/synthetic_events		# opening it takes them away
	of_event 1 small enable
}

set_up()
{
	for kind in $KINDS; do
		of_event 1 "$kind" enable
	done
	each $SIZE buffer_size_kb
	write counter $ETCH/trace_clock
	write "$cheap" $FTRACE/trace_clock
	for number in 1 2 3 4 5 6 7; do
		mkdir "$ETCH/instances/more$number" "$FTRACE/instances/more$number" || exit 1
		write counter "$ETCH/instances/more$number/trace_clock"
		write "$cheap" "$FTRACE/instances/more$number/trace_clock"
	done
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
each 0 events/enable
rmdir $ETCH/instances/* $FTRACE/instances/*
rmmod bench-event || exit 1
dmesg | sed -n 's/.*\] bench: /bench: /p'
