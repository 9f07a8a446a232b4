# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# What "make run" shows: Etch in use, a command and what it prints at a time.
. /guest/load.sh

ETCH=/sys/kernel/debug/etch

title()
{
	printf '\n-- %s\n' "$*"
}

# Show a command as one would type it, then run it. A failure ends the demo.
try()
{
	echo "# $1"
	sh -c "$1" || {
		echo "failed: $1 (status $?)"
		exit 1
	}
}

# Wait until the main buffer holds events of this many kinds, 10 s at most.
wait_for_kinds()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		kinds=$(kinds trace | wc -l)
		[ "$kinds" -ge "$1" ] && return
		sleep 1
	done
	echo "only $kinds kinds of events came"
	exit 1
}

# The events that occur in a file of trace lines, each with its count.
kinds()
{
	sed -n 's/^[^#].*[0-9]: \([a-z0-9_]*\): .*/\1/p' "$1" | sort | uniq -c | sort -rn
}

# Print the first of these patterns that matches an event: a small kernel has no block devices.
one_of()
{
	for pattern in "$@"; do
		grep -q "^${pattern%\*}" available_events || continue
		echo "$pattern"
		return
	done
}

cd "$ETCH" || exit 1

title "Linux $(uname -r) on $(uname -m), $(nproc) processor(s):" \
	"$(wc -l < available_events) events in" \
	"$(cut -d: -f1 available_events | sort -u | wc -l) systems."

title "Load starts: processes, files, sockets."
load_start

title "Events are switched on as in tracefs."
try "echo 1 > events/sched/sched_switch/enable"
try "echo 1 > events/sched/sched_process_exec/enable"
some="$(one_of 'block:*' 'task:*') $(one_of ext4:ext4_da_write_begin 'signal:*')"
some="$some $(one_of sock:inet_sock_set_state 'filemap:*')"
try "echo '$some' > set_event"
try "cat set_event | wc -l"

title "The buffer, read without emptying it."
wait_for_kinds 4
try "head -n 30 trace"

title "The same as it comes: reading trace_pipe takes the lines away."
try "timeout 1 cat trace_pipe > /tmp/piped; head -n 8 /tmp/piped"
try "wc -l < /tmp/piped"

title "What came, by event."
kinds /tmp/piped

title "Off again. Every record is accounted for:"
try "echo 0 > tracing_on; echo 0 > events/enable"
for stats in per_cpu/cpu*/stats; do
	try "cat $stats"
done

load_stop
