# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The kernel's selftests of ftrace, from /kselftest, by their own runner. With the word
# "ftracetest.tree=etch" on the kernel's command line, those of them that the file
# "chosen" names, in Etch's tree instead of ftrace's. That is two changes: the runner
# finds that tree where it looks for tracefs, and ftracetest-etch.sh is put behind the
# functions that the tests have in common.
#
# What the runner says is shown as it comes. Then follows a line for each test,
#
#	ftracetest: RESULT FILE [(instance)]
#
# and, of those that did not pass, the end of the log.
TESTS=/tmp/ftrace
LOGS=/tmp/logs

fail()
{
	echo "ftracetest.sh: $*" >&2
	exit 1
}

# The runner takes the first mount in whose line the word "tracefs" is.
use_etch()
{
	# Without the options of tracefs's mounts, which are not those of probes.
	grep -v 'gid=' /sys/kernel/tracing/README > /tmp/README || fail "no README"
	umount /sys/kernel/tracing || fail "tracefs stays"
	mkdir -p /tmp/tracefs
	mount -o bind /sys/kernel/debug/etch /tmp/tracefs || fail "no tree of Etch"
	# Their last line does not end.
	printf '\n%s\n' "$(cat /guest/ftracetest-etch.sh)" >> $TESTS/test.d/functions
	# ftrace's buffers get their size from "echo nop > current_tracer", ours when
	# they are first used.
	echo > /tmp/tracefs/trace_marker || fail "no buffer"
}

# log NUMBER: the name of a test's log
log()
{
	echo "$LOGS/$1"-*
}

# Its first line is "execute FILE", or "execute (instance) FILE", with a colon.
name()
{
	sed -n '1{ s|^execute\(.*\): .*/test\.d/\(.*\)|\2\1|; s| *$||p; }' "$1"
}

results()
{
	sed -n 's/^\[\([0-9]*\)\].*\[\([A-Z]*\)\]$/\1 \2/p' /tmp/said |
	while read -r number result; do
		log=$(log "$number")
		echo "ftracetest: $result $(name "$log")"
		[ "$result" = PASS ] || tail -n 25 "$log" | sed 's/^/    | /'
	done
}

cp -a /kselftest $TESTS || fail "no tests"
mkdir -p $LOGS
cd $TESTS || fail "no tests"
chosen=
if grep -qw ftracetest.tree=etch /proc/cmdline; then
	use_etch
	chosen=$(cat chosen)
fi
# shellcheck disable=SC2086
sh ./ftracetest -k -l $LOGS $chosen 2>&1 | tee /tmp/said
results
