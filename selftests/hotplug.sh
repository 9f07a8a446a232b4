#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A processor goes off line and comes back while events are recorded: what it
# recorded stays until it is read, and it records again.

cd "$(dirname "$0")" || exit 1
. ../kselftest/ktap_helpers.sh

ETCH=/sys/kernel/debug/etch
CPU=/sys/devices/system/cpu/cpu1
TIMES=5

# A number of cpu1's stats.
stat_of() {
	sed -n "s/^$1: *//p" $ETCH/per_cpu/cpu1/stats
}

records_of_cpu1() {
	grep -v '^#' $ETCH/per_cpu/cpu1/trace | grep -c ' \[001\] '
}

# check NAME CONDITION...
check() {
	name=$1
	shift
	if [ "$@" ]; then
		ktap_test_pass "$name"
	else
		ktap_print_msg "$name: [ $* ]"
		ktap_test_fail "$name"
	fi
}

ktap_print_header
[ -d $ETCH ] || mount -t debugfs none /sys/kernel/debug
if [ ! -d $ETCH ]; then
	ktap_skip_all "no $ETCH: CONFIG_ETCH, or not root"
	exit "$KSFT_SKIP"
fi
if [ ! -w $CPU/online ]; then
	ktap_skip_all "no second processor that can go off line"
	exit "$KSFT_SKIP"
fi
ktap_set_plan 10

echo 0 > $ETCH/tracing_on
echo > $ETCH/set_event
echo > $ETCH/trace
echo overwrite > $ETCH/buffer_mode
echo 2048 > $ETCH/buffer_size_kb
echo 1 > $ETCH/events/sched/sched_switch/enable
echo 1 > $ETCH/tracing_on
sleep 1

echo 0 > $CPU/online
check "cpu1 goes off line under tracing" "$(cat $CPU/online)" = 0
kept=$(records_of_cpu1)
check "its records stay" "$kept" -gt 0
check "its stats agree" "$(stat_of entries)" -eq "$kept"
sleep 1
check "nothing comes while it is off line" "$(records_of_cpu1)" -eq "$kept"
grep -c ' \[001\] ' $ETCH/trace > /dev/null
check "trace shows them, too" "$(grep -v '^#' $ETCH/trace | grep -c ' \[001\] ')" -eq "$kept"

echo 1 > $CPU/online
taskset 2 sleep 1
check "cpu1 is back and records again" "$(records_of_cpu1)" -gt "$kept"

i=0
while [ $i -lt $TIMES ]; do
	if ! echo 0 > $CPU/online || ! echo 1 > $CPU/online; then
		break
	fi
	i=$((i + 1))
done
check "and so $TIMES times" $i -eq $TIMES

echo 0 > $ETCH/tracing_on
written=$(stat_of written)
check "every record is accounted for" "$written" -eq \
	$(($(stat_of read) + $(stat_of overwritten) + $(stat_of entries)))

# Emptied while the processor is away: its buffer may go, and comes again.
echo 0 > $CPU/online
echo > $ETCH/trace
check "emptied while away" "$(stat_of entries)" -eq 0
echo 1 > $CPU/online
echo 1 > $ETCH/tracing_on
taskset 2 sleep 1
check "and it records once more" "$(records_of_cpu1)" -gt 0

echo 0 > $ETCH/events/sched/sched_switch/enable
echo > $ETCH/trace
echo 1024 > $ETCH/buffer_size_kb
ktap_finished
