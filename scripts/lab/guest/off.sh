# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# A kernel with the series and without CONFIG_ETCH: nothing of Etch is there, and
# the events of ftrace are as ever. Prints TAP.
DEBUG=/sys/kernel/debug
FTRACE=/sys/kernel/tracing
count=0

# check NAME CONDITION...
check()
{
	count=$((count + 1))
	name=$1
	shift
	if [ "$@" ]; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		echo "# [ $* ]"
	fi
}

check "debugfs has no folder of Etch's" ! -e $DEBUG/etch
check "nor of its tests" -z "$(find $DEBUG -maxdepth 1 -name '*etch*' -o -maxdepth 1 -name 'imv*')"
check "the kernel has no symbol of Etch's" -z "$(grep -m 5 -wE '_*(etch|imv)_\w*' /proc/kallsyms)"
check "ftrace has events" "$(wc -l < $FTRACE/available_events)" -gt 100

echo > $FTRACE/trace
echo 1 > $FTRACE/events/sched/sched_process_fork/enable
check "an event is enabled" "$(cat $FTRACE/events/sched/sched_process_fork/enable)" = 1
/bin/true
echo 0 > $FTRACE/events/sched/sched_process_fork/enable
lines=$(grep -c 'sched_process_fork: comm=sh pid=.* child_comm=sh child_pid=' $FTRACE/trace)
check "its lines are read" "$lines" -gt 0
/bin/true
check "and are no more when it is off" "$lines" = "$(grep -c sched_process_fork: $FTRACE/trace)"
echo "1..$count"
