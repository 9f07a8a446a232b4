#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The recipes of Documentation/trace/etch/recipes.rst: the page's own commands, and whether they
# answer the question.
HERE=$(dirname "$0")
# shellcheck disable=SC1091 # of the kernel's tree, and installed beside this
. "$HERE/../kselftest/ktap_helpers.sh"

PAGE=$HERE/recipes.rst
ETCH=/sys/kernel/debug/etch
WORK=/tmp/recipes

# A section's block of commands: its title, and which of its blocks.
block()
{
	awk -v title="$1" -v want="$2" '
		/^==+$/			{ here = before == title }
		here && /^    /	{ if (!inside) nr++; inside = 1
					  if (nr == want) print substr($0, 5) }
		here && /^[^ ]/		{ inside = 0 }
					{ before = $0 }' "$PAGE"
}

# The titles, but for the page's own.
titles()
{
	awk '/^==+$/ { if (nr++ > 1) print before } { before = $0 }' "$PAGE"
}

# Run blocks where a user would, with a moment from one to the next.
cook()
{
	for nr in "$@"; do
		block "$title" "$nr"
		echo sleep 0.2
	done > $WORK/block
	(cd $ETCH && sh -e $WORK/block) > $WORK/answer 2> $WORK/errors
}

answer()
{
	grep -qE "$1" $WORK/answer
}

lines_are()
{
	[ "$(grep -cE "$2" $WORK/answer)" -eq "$1" ]
}

# What recipes leave behind.
clean()
(
	cd $ETCH || exit
	echo 0 > events/enable
	echo 0 > events/filter
	echo none > budget
	# One process for the files of all events.
	grep -v '^#' events/*/*/trigger > $WORK/triggers
	while IFS=: read -r file line; do
		echo "!$line" > "$file"
	done < $WORK/triggers
	echo > set_event_pid
	echo 0 > options/event-fork
	[ ! -e set_event_cgroup ] || echo > set_event_cgroup
	echo 1 > tracing_on
	echo > trace
)

# A program that starts another one.
program()
{
	cat > /tmp/program <<-'END'
		#!/bin/sh
		sleep 0.1
		ls / > /dev/null
		:
	END
	chmod +x /tmp/program
}

# ---- A function to a recipe: 0 if it answers, 4 if it cannot be tried here ----

writers()
{
	: > /tmp/report
	cook 1 || return
	echo a line >> /tmp/report
	echo a line >> /tmp/other
	cook 2 && answer "writeback_mark_inode_dirty: .*ino=$(stat -c %i /tmp/report)" &&
		! answer "ino=$(stat -c %i /tmp/other) "
}

# The switch from another task to the program is the program's, too.
one_program()
{
	cook 1 && sleep 0.1 && cook 2 && answer '^ *program-[0-9]+ .*sched_' &&
		answer '^ *(ls|sleep)-[0-9]+ .*sched_process_exit' &&
		! answer '^ *recipes.sh-[0-9]+ .*: sched_process_'
}

while_it_runs()
{
	cook 1 && sleep 0.1 && cook 2 && answer 'sched_switch: ' || return
	echo > $ETCH/trace
	sleep 0.1
	cook 2 && ! answer 'sched_switch: '
}

before_a_crash()
{
	cook 1 || return
	sh -c 'kill -SEGV $$' 2> $WORK/errors
	cook 2 && [ "$(head -n 1 $WORK/answer)" = 0 ] && answer ' sched_'
}

whence_a_signal()
{
	cook 1 || return
	for _ in 1 2 3 4 5 6 7; do
		sleep 100 &
		kill $!
	done
	cook 2 && lines_are 5 '<stack trace>|stacktrace' && answer '=> .*signal|kill'
}

by_caller()
{
	cook 1 && ls / > $WORK/list && cook 2 &&
		answer '^\{ call_site: \[[0-9a-f]+\] .* \} hitcount: +[0-9]+ +bytes_alloc: +[0-9]+'
}

by_stack()
{
	cook 1 && ls / > $WORK/list && cook 2 && answer 'hitcount: +[0-9]+ +bytes_alloc: +[0-9]+' &&
		answer '^ +[a-z_]+[a-z_0-9.]*\+0x'
}

by_size()
{
	cook 1 && ls / > $WORK/list && cook 2 &&
		answer '^\{ bytes_req: ~ 2\^[0-9]+ +\} hitcount: +[0-9]+'
}

by_task()
{
	cook 1 || return
	/tmp/program
	cook 2 && answer '^\{ (comm|common_comm): program +\} hitcount: +2$'
}

longest_wait()
{
	cook 1 && /tmp/program && cook 2 && answer 'sched_switch: ' &&
		answer '^wakeup: starts=[1-9].* max=[1-9][0-9]*$' &&
		answer '^\{ latency: ~ 2\^[0-9]+ +\} hitcount: +[0-9]+'
}

stopped()
{
	# One shell, which knows the number of the job.
	cook 1 2 && answer 'State:.*T'
}

# A recipe that cannot run here: why.
cannot()
{
	echo "# $1"
	return 4
}

container()
{
	grep -q cgroup2 /proc/filesystems || { cannot "no cgroup2 in this kernel"; return; }
	mkdir -p $WORK/cgroup
	mount -t cgroup2 none $WORK/cgroup || { cannot "cgroup2 cannot be mounted"; return; }
	mkdir -p $WORK/cgroup/container/inner
	cook 1 && sh -c "echo \$\$ > $WORK/cgroup/container/inner/cgroup.procs; exec /tmp/program" &&
		/tmp/program && cook 2 && lines_are 1 'sched_process_exec: .*/tmp/program'
	ret=$?
	rmdir $WORK/cgroup/container/inner $WORK/cgroup/container
	umount $WORK/cgroup
	return $ret
}

bounded()
{
	cook 1 && cook 2 && answer '^bytes=1M/s$' && answer '^cpu=1% .at [1-9][0-9]* ns per record.$' &&
		answer '^throttled: [0-9]+$'
}

state()
{
	[ -e $ETCH/statedump ] || { cannot "no CONFIG_ETCH_STATEDUMP"; return; }
	cook 1 && cook 2 && answer 'statedump_task: .*comm=recipes' && answer 'statedump_end'
}

# Which function tries which recipe.
recipe()
{
	case $1 in
	'Who writes to this file?')					writers ;;
	'What does one program do, with all that it starts?')		one_program ;;
	'What happens while one program runs, and only then?')		while_it_runs ;;
	'What went before a crash of a program?')			before_a_crash ;;
	'Who sends this signal, and from where in the kernel?')		whence_a_signal ;;
	'Who takes memory in the kernel?')				by_caller ;;
	'Through which ways in the code?')				by_stack ;;
	'How large are they?')						by_size ;;
	'Which tasks start most others?')				by_task ;;
	'Which task waited longest for a CPU, and when?')		longest_wait ;;
	'How do I stop a program at the place in question?')		stopped ;;
	'What does one container do?')					container ;;
	'How do I trace for days at a bounded cost?')			bounded ;;
	'Which processes were there before?')				state ;;
	*)	echo "# There is no test of it."
		return 1 ;;
	esac
}

ktap_print_header
[ -d /sys/kernel/debug/tracing ] || mount -t debugfs none /sys/kernel/debug 2> /dev/null
if [ ! -e $ETCH/trace ]; then
	ktap_skip_all "no Etch with text: CONFIG_ETCH, CONFIG_ETCH_TEXT"
	exit "$KSFT_SKIP"
fi
mkdir -p $WORK
program
titles > $WORK/titles
ktap_set_plan "$(wc -l < $WORK/titles)"
while read -r title; do
	clean
	recipe "$title" < /dev/null
	case $? in
	0)	ktap_test_pass "$title" ;;
	4)	ktap_test_skip "$title" ;;
	*)	ktap_test_fail "$title"
		echo "# The answer was:"
		sed 's/^/# /' $WORK/answer $WORK/errors ;;
	esac
done < $WORK/titles
clean
rm -rf $WORK
ktap_finished
