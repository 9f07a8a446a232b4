# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Crashes, for the host to look at what they leave: see scripts/lib/crash.py. crash=KIND
# on the kernel's command line says which:
#
#   panic   a panic; before it, what the console should show, as the file trace has it
#   record  a fault in the middle of a record, whose task dies; the kernel goes on
#   busy    the same with all events on and all processors at work, and the kernel panics
#   locked  a panic of a kernel in which no file can be opened that would ask for it
ETCH=/sys/kernel/debug/etch
CRASH=/sys/kernel/debug/etch_ring_test/crash
. /guest/steps.sh

# marks FILE FROM TO: lines of our own, and forks of those who write them.
marks()
{
	for n in $(seq "$2" "$3"); do
		put "$1/trace_marker" "mark $n"
		[ $((n % 50)) -ne 0 ] || (:)
	done
}

# asked SETTING: the kernel's command line has been understood.
asked()
{
	[ "$(cat $ETCH/dump_on_oops)" = "$1" ] || fail "dump_on_oops is $(cat $ETCH/dump_on_oops)"
}

# The same as the dump's: nothing is recorded any more.
show()
{
	put "$1/tracing_on" 0
	echo "trace: $2"
	cat "$1/trace"
	echo "trace: end"
}

crash_panic()
{
	cd $ETCH || fail "no tree"
	mkdir instances/named instances/unnamed || fail "no instances"
	put events/sched/sched_process_fork/enable 1
	put events/sched/sched_process_exit/enable 1
	put instances/named/events/sched/sched_process_fork/enable 1
	asked "1,named"
	marks . 1 400
	marks instances/named 1001 1020
	marks instances/unnamed 2001 2010
	show . main
	show instances/named named
	put $CRASH panic
}

# stat NAME: a figure of the CPU in question, of this instance.
stat()
{
	sed -n "s/^$1: //p" "per_cpu/cpu$cpu/stats"
}

# Before, in the middle, behind; everything on one CPU. The instance "dumped" is off then.
crash_record()
{
	cpu=$(($(nproc) - 1))
	cd $ETCH || fail "no tree"
	mkdir instances/dumped instances/first instances/second || fail "no instances"
	put /proc/sys/kernel/panic_on_oops 0
	asked 1
	put dump_on_oops "dumped"
	for inst in first second; do
		put instances/$inst/events/task/task_rename/enable 1
	done
	put instances/dumped/trace_marker "the last words"
	taskset $((1 << cpu)) sh -c "echo 'mark 1' > instances/first/trace_marker"
	taskset $((1 << cpu)) sh -c "echo record > $CRASH" && fail "nobody died"
	taskset $((1 << cpu)) sh -c "seq 2 5000 | sed 's/^/mark /' |
		while read -r line; do echo \$line > $ETCH/instances/first/trace_marker; done"

	[ "$(cat instances/dumped/tracing_on)" = 0 ] || fail "what was dumped is on"
	cd instances/first || fail "no first"
	[ "$(cat tracing_on)" = 1 ] || fail "what was not dumped is off"
	[ "$(grep -c 'task_rename: ' per_cpu/cpu$cpu/trace)" -ge 1 ] ||
		fail "the record that was not finished is not there"
	[ "$(grep -c 'mark ' per_cpu/cpu$cpu/trace)" = 5000 ] ||
		fail "$(grep -c 'mark ' per_cpu/cpu$cpu/trace) marks of 5000"
	[ "$(stat 'lost nested')" = 0 ] || fail "$(stat 'lost nested') lost: nested"
	# Who reads the figures is renamed.
	put tracing_on 0
	[ "$(stat written)" = "$(stat entries)" ] || fail "written is not entries"
	cd ../second || fail "no second"
	[ "$(stat 'lost nested')" = 1 ] || fail "the copy that was not made is not counted"
	put ../dumped/tracing_on 1
	put ../dumped/trace_marker "and more"
	[ "$(grep -c 'and more' ../dumped/trace)" = 1 ] || fail "it does not go on when turned on"
	echo "ok - the rings go on behind an oops in the middle of a record"
}

# Processors that record, more than the dump's lines, until there is none.
crash_busy()
{
	cpu=$(($(nproc) - 1))
	cd $ETCH || fail "no tree"
	asked orig_cpu
	put /proc/sys/kernel/panic_on_oops 1
	put events/enable 1
	for n in $(seq 0 $cpu); do
		taskset $((1 << n)) sh -c "while :; do ls $ETCH/events > /dev/null; done" &
	done
	while [ "$(sed -n 's/^written: //p' per_cpu/cpu$cpu/stats)" -lt 20000 ]; do
		sleep 0.1
	done
	echo "crash on CPU $cpu"
	taskset $((1 << cpu)) sh -c "echo record > $CRASH"
	fail "it goes on"
}

crash_locked()
{
	put /proc/sysrq-trigger c
}

crash_"$(sed -n 's/.*crash=\([a-z]*\).*/\1/p' /proc/cmdline)"
