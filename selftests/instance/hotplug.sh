#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A CPU goes off line and comes back while events are recorded. Its records stay until
# they are read, and it records again.

cd "$(dirname "$0")" || exit 1
# Installed, the test lies one folder below the runner's; in the source, two.
if [ -d ../kselftest ]; then
	. ../kselftest/ktap_helpers.sh
else
	. ../../kselftest/ktap_helpers.sh
fi

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
ktap_set_plan 18

check "cpu1 is on line: no other test left it off" "$(cat $CPU/online)" = 1
echo 1 > $CPU/online
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

# Emptying while the CPU is away may free its buffer, which is made anew later.
echo 0 > $CPU/online
echo > $ETCH/trace
check "emptied while away" "$(stat_of entries)" -eq 0
echo 1 > $CPU/online
echo 1 > $ETCH/tracing_on
taskset 2 sleep 1
check "and it records once more" "$(records_of_cpu1)" -gt 0

# stopped NAME COMMAND...: the processor is stopped when Etch knows of it, and not yet on
# line; COMMAND may then free its buffer; the processor goes on from there.
stopped() {
	name=$1
	shift
	state=$(sed -n 's/^ *\([0-9]*\): etch:prepare$/\1/p' /sys/devices/system/cpu/hotplug/states)
	echo 0 > $CPU/online
	if ! echo "$state" 2> /dev/null > $CPU/hotplug/target; then
		ktap_test_skip "$name: no CONFIG_CPU_HOTPLUG_STATE_CONTROL"
		echo 1 > $CPU/online
		return
	fi
	"$@"
	echo 1 > $CPU/online
	taskset 2 sleep 1
	check "$name" "$(records_of_cpu1)" -gt 0
}

empty() {
	echo > $ETCH/trace
}

larger_subbuf() {
	echo 8 > $ETCH/buffer_subbuf_size_kb
}

empty
stopped "emptied while half-way" empty
stopped "other sub-buffers while half-way" larger_subbuf
echo 16 > $ETCH/buffer_subbuf_size_kb

# Without memory for its buffer, the CPU comes on line all the same. cpu0's buffer takes more
# than half of the memory.
no_buffers() {
	dmesg | grep -c "no memory for the buffer of CPU 1"
}

echo 0 > $CPU/online
empty
kb=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
big=1024
while [ $((2 * big)) -le $((kb * 9 / 10)) ]; do
	big=$((2 * big))
done
if [ $((2 * big)) -gt "$kb" ] && echo $big > $ETCH/buffer_size_kb; then
	said=$(no_buffers)
	echo 1 > $CPU/online
	check "cpu1 comes without memory for its buffer" "$(cat $CPU/online)" = 1
	taskset 2 sleep 1
	check "what it records is lost, and counted" "$(stat_of 'lost no buffer')" -gt 0
	check "and nothing else" "$(stat_of written)" -eq 0
	check "the log says so, once" "$(no_buffers)" -eq $((said + 1))
	echo 1024 > $ETCH/buffer_size_kb
	taskset 2 sleep 1
	check "with memory, it records" "$(records_of_cpu1)" -gt 0
else
	for i in 1 2 3 4 5; do
		ktap_test_skip "without memory, $i: it cannot be used up here"
	done
	echo 1 > $CPU/online
fi

echo 0 > $ETCH/events/sched/sched_switch/enable
empty
echo 1024 > $ETCH/buffer_size_kb
ktap_finished
