#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What the tool prints while records come: etch trace all of them, in the order of time, with the
# lost ones in their place; tables with --live what happened since the one before. Nothing is
# left behind.
HERE=$(dirname "$0")
# shellcheck disable=SC1091 # of the kernel's tree, and installed beside this
. "$HERE/../kselftest/ktap_helpers.sh"

TREE=/sys/kernel/debug/etch
WORK=/tmp/live
TOOL=$HERE/etch
MODULE=${ETCH_SAMPLE_KO:-/lib/modules/$(uname -r)/kernel/samples/etch/etch-sample.ko}
# A test that cannot run here returns this, and says why.
SKIPPED=4

cannot() {
	echo "# $1"
	return $SKIPPED
}

# Run the tool; what it prints goes to two files. Its status must be $1.
tool()
{
	expected=$1
	shift
	status=0
	"$TOOL" "$@" > $WORK/out 2> $WORK/err || status=$?
	[ "$status" = "$expected" ] && nothing_left
}

nothing_left()
{
	! ls -d $TREE/instances/record-* 2> /dev/null && ! ls -d /tmp/etch-?????? 2> /dev/null
}

# How many of its lines have this.
lines()
{
	grep -cE -- "$1" $WORK/out
}

# Wait, for 60 s at most, until a command succeeds.
wait_for()
{
	for _ in $(seq 600); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

said()
{
	grep -qE -- "$1" $WORK/out $WORK/err
}

# Times of lines of records do not go back.
in_order()
{
	awk '/^#/ || /^CPU:/ { next }
		match($0, / [0-9]+\.[0-9]+: /) {
			time = substr($0, RSTART, RLENGTH) + 0
			bad += time < before
			before = time
			nr++
		}
		END { exit bad || !nr }' $WORK/out
}

# A shell, and children of it, one after the other.
FORKS='for i in 1 2 3 4 5 6 7 8; do /bin/true; done'

# ---- Tests ----

all_of_a_command()
{
	tool 0 trace -e sched -- sh -c "$FORKS" && in_order &&
		[ "$(lines ': sched_process_exec: filename=/bin/true')" = 8 ] &&
		[ "$(lines ': sched_process_exec: filename=.*/sh')" = 1 ] && [ ! -s $WORK/err ]
}

status_of_a_command()
{
	tool 3 trace -e sched -- sh -c 'exit 3' &&
		tool 127 trace -e sched -- /no/such/program &&
		said '/no/such/program cannot be run: No such file'
}

# A task that sleeps sets its timer a little before it leaves the CPU: it may be off for less.
how_long_things_took()
{
	tool 0 trace -e sched -- sh -c 'sleep 0.2' && said 'sched_switch: .*<.*ran [0-9.]+ [mu]?s' &&
		said 'sched_switch: .*waited [0-9.]+ [mu]s' &&
		said 'sched_waking: comm=sleep .*<sleep-[0-9]+ slept ((1[5-9]|[2-9][0-9])[0-9]\.[0-9]+ ms|[0-9.]+ s)>'
}

chosen_ones()
{
	tool 0 trace -e sched:sched_process_exit -f 'comm ~ tr*' -- sh -c "$FORKS" &&
		[ "$(grep -vc '^#' $WORK/out)" = 8 ] && tool 1 trace -e sched:none -- true &&
		said 'No such event' && tool 2 trace -p none && said 'there is no preset'
}

# Nobody reads until the command has ended, and the buffers are small.
lost_in_place()
{
	# shellcheck disable=SC2016 # for the inner shell
	{ "$TOOL" trace -b 16 -e sched,timer,irq -- sh -c 'i=0
		while [ $i -lt 200 ]; do i=$((i + 1)); /bin/true; done
		echo > '$WORK/done 2> $WORK/err
		echo "status $?"; } | { wait_for test -e $WORK/done; sleep 2; cat; } > $WORK/out
	said '^status 0$' && in_order && nothing_left &&
		said '^CPU:[0-9]+ \[LOST [1-9][0-9]* EVENTS\] [0-9]+ (overwritten|because)' &&
		said '^# [0-9.]+ s behind: '
}

seconds()
{
	tool 0 trace -d 1 -e timer && in_order
}

ends()
{
	"$TOOL" trace -e timer > $WORK/out 2> $WORK/err &
	pid=$!
	wait_for said ': timer_' || return
	"$@" $pid
	status=0
	wait $pid || status=$?
	[ $status = 0 ] && nothing_left && in_order
}

a_signal()
{
	ends kill -TERM
}

turned_off()
{
	echo 0 > $TREE/instances/record-"$1"/tracing_on
}

somebody_turns_it_off()
{
	ends turned_off && said 'somebody has turned tracing off'
}

# The first line is at the reader's well before the command ends.
while_it_happens()
{
	"$TOOL" trace -e sched -- sleep 3 > $WORK/out 2> $WORK/err &
	pid=$!
	wait_for said 'sched_process_exec: ' && kill -0 $pid
	status=$?
	wait $pid
	return $status
}

nobody_reads()
{
	"$TOOL" trace -e timer 2> $WORK/err | head -n 20 > $WORK/out
	[ "$(wc -l < $WORK/out)" = 20 ] && wait_for nothing_left
}

# A command for sh: do $3 again and again until the tool has printed $1 lines that have $2, for a
# minute at most. How fast the tool is does not matter then.
until_lines()
{
	echo "end=\$((\$(date +%s) + 60))
		while [ \"\$(grep -cE '$2' $WORK/out)\" -lt $1 ] && [ \"\$(date +%s)\" -lt \$end ]; do
			$3; done"
}

# The sum of a column of lines of tables that begin so.
sum_of()
{
	awk -v name="$1" -v column="$2" '$1 == name { sum += $column } END { print sum + 0 }' \
		$WORK/out
}

live_tables()
{
	tool 0 top --live 0.5 -n 0 -- sh -c "$FORKS; $(until_lines 3 '^TASK ' 'sleep 0.5')" &&
		[ "$(lines '^# .* CPUs?,')" -ge 3 ] && [ "$(lines '^TASK .*RUN')" -ge 3 ] &&
		said '^<idle> ' && [ "$(sum_of sleep 5)" -ge 2 ] && [ ! -s $WORK/err ]
}

# A thread that hardly leaves its CPU runs in each table, and for no longer than that took.
live_runs()
{
	# shellcheck disable=SC2016 # for the inner shell
	tool 0 top --live=0.5 -n 0 -- sh -c "$(until_lines 5 '^sh ' \
		'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done')" &&
		[ "$(lines '^sh ')" -ge 5 ] &&
		awk '/^# .*CPU/ { cpus = $4 } { sub("%", "", $4) }
			$1 == "sh" { bad += $4 + 0 > 100.5 * cpus; ms += $3 == "s" ? 1000 * $2 : $2 }
			END { exit bad || ms < 1000 }' $WORK/out
}

live_lengths()
{
	tool 0 irqs --live 1 -- sh -c "$(until_lines 2 '^(INTERRUPT|# no record)' 'sleep 0.5')" &&
		[ "$(lines '^(INTERRUPT|# no record)')" -ge 2 ] &&
		tool 0 latency --live 1 -- sh -c "$FORKS; $(until_lines 1 '^p50 ' 'sleep 0.5')" &&
		said '^p50 .*worst' &&
		tool 2 top --live trace && tool 2 top --live --from 3 && tool 2 top --live 0
}

live_until_a_signal()
{
	"$TOOL" top --live > $WORK/out 2> $WORK/err &
	pid=$!
	wait_for said '^TASK ' || return
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ $status = 0 ] && nothing_left
}

records_a_command()
{
	tool 0 top -n 0 -- sh -c "$FORKS" && said '^TASK ' && said '^true '
}

# System calls are one line each, with what they returned and how long they took. A comment says
# before which call lasts. Calls of others may have begun before the trace; of the command's,
# the first has: its process waits for the trace. The tool's own calls are recorded, too: if it
# made one for each record, they would fill the buffer.
live_calls()
{
	[ -d $TREE/events/syscalls ] || { cannot "no events of system calls by name"; return; }
	tool 1 trace -t cat -- sh -c 'exec cat /no/such/file' && in_order &&
		said ': open(at)?\(.*\) = -2 \(No such file or directory\) <[0-9.]+ [mu]?s' &&
		tool 0 trace -- sleep 4 &&
		said '^# sleep-[0-9]+ is in (clock_)?nanosleep\(.*\) since ' &&
		said ': (clock_)?nanosleep\(.*\) = 0 <([4-9]|[1-9][0-9]+)\.[0-9]* s !>' &&
		said ': exit_group\(' && ! said 'LOST' && [ "$(lines '^ *sleep-.*<\?>')" = 1 ] &&
		said '^ *sleep-.*: read\(\.\.\.\) = 1 <\?>'
}

# Each thread has its name, however short its life was; events that tell names are not shown.
names_of_the_short_lived()
{
	tool 0 trace -e sched:sched_process_exit -t true -- sh -c "$FORKS" &&
		[ "$(lines '^ *true-[0-9]+ .*: sched_process_exit: ')" = 8 ] &&
		[ "$(grep -vc '^#' $WORK/out)" = 8 ] && [ -d $TREE/events/task ] &&
		tool 0 trace -e task:task_rename -- sh -c "$FORKS" &&
		[ "$(lines '^ *(sh|true)-[0-9]+ .*: task_rename: .*newcomm=true ')" = 8 ] &&
		! said ': task_newtask: '
}

# Others may be in the same call: the longest is the command's, which outlasts a table.
live_tables_of_calls()
{
	[ -d $TREE/events/raw_syscalls ] || { cannot "no events of system calls"; return; }
	tool 0 syscalls --live 1 -- sleep 8 && [ "$(lines '^(CALL|# no record)')" -ge 2 ] &&
		said '^(clock_nanosleep|nanosleep|call [0-9]+) .* ([89]|[1-9][0-9]+)\.[0-9]* s .* sleep-[0-9]+$'
}

# Events that come with a module while records are shown, and that somebody enables.
events_that_come()
{
	[ -e "$MODULE" ] || { cannot "no etch-sample.ko: CONFIG_SAMPLE_ETCH=m"; return; }
	ready=$TREE/events/etch_sample
	[ ! -e $ready ] || rmmod etch_sample || return
	# shellcheck disable=SC2016 # for the inner shell
	tool 0 trace -e sched:sched_process_exec -f 'pid > 0' -- sh -c '
		insmod '"$MODULE"' &&
		cd '$TREE'/instances/record-$PPID/events/etch_sample &&
		echo 1 > etch_sample_end/enable && echo 1 > etch_sample_list/enable &&
		echo 3 > /sys/module/etch_sample/parameters/fire && cd / && exec /bin/true'
	status=$?
	rmmod etch_sample
	[ $status = 0 ] && in_order && [ "$(lines ': etch_sample_end: round=[0-2] result=')" = 3 ] &&
		said ': etch_sample_end: round=2 result=2$' &&
		[ "$(lines ': etch_sample_list: nr=[0-9]+ values=')" -ge 1 ] &&
		said ': sched_process_exec: filename=/bin/true' && [ ! -s $WORK/err ]
}

# Of three processes, among the kernel's. The kernel knows their events when one has run.
records_of_programs()
{
	"$HERE/user_load" 0 > $WORK/knows 2>&1 || { cannot "no CONFIG_ETCH_USER"; return; }
	grep -qw counter $TREE/trace_clock || { cannot "no counter that programs read"; return; }
	tool 0 trace -e sched:sched_process_exec,uload -- "$HERE/user_load" 100 && in_order &&
		[ "$(lines ': step: process=[0-2] nr=[0-9]+')" = 300 ] &&
		[ "$(lines ': text: nr=[0-9]+ words=')" = 30 ] &&
		[ "$(lines ': sched_process_exec: filename=.*/user_load')" = 1 ] &&
		[ ! -s $WORK/err ]
}

TESTS='all_of_a_command status_of_a_command how_long_things_took chosen_ones lost_in_place
	seconds a_signal somebody_turns_it_off while_it_happens nobody_reads
	live_tables live_runs live_lengths live_until_a_signal live_calls live_tables_of_calls
	names_of_the_short_lived events_that_come records_a_command records_of_programs'

ktap_print_header
[ -d /sys/kernel/debug/tracing ] || mount -t debugfs none /sys/kernel/debug 2> /dev/null
if [ ! -e $TREE/metadata ]; then
	ktap_skip_all "no Etch with packets: CONFIG_ETCH, CONFIG_ETCH_CTF"
	exit "$KSFT_SKIP"
fi
mkdir -p $WORK
ktap_set_plan "$(echo "$TESTS" | wc -w)"
for test in $TESTS; do
	rm -f $WORK/*
	result=0
	$test < /dev/null || result=$?
	if [ $result = 0 ]; then
		ktap_test_pass "$test"
	elif [ $result = $SKIPPED ]; then
		ktap_test_skip "$test"
	else
		ktap_test_fail "$test"
		for file in "$WORK"/*; do
			echo "# ${file##*/}, of $(wc -l < "$file") lines:"
			tail -n 20 "$file" | sed 's/^/# /'
		done
	fi
done
rm -rf $WORK
ktap_finished
