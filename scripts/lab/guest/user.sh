# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Traces with the kernel's records and those of programs, for the host to check: see
# scripts/proof/ctf/user.py. Each is a folder TRACE/ctf, and beside it "tried": how many records
# the program has tried.
#
#   recorded   by the recorder, while the program runs: user.records, by default 30000, of each of
#              three processes
#   namespaces the same in namespaces of pids and of time, and not so many
#   discard    nobody reads while it runs, and the rings are full; with contexts of the kernel's
#   overwrite  the same in the other mode, without contexts
ETCH=/sys/kernel/debug/etch
OUT=/tmp/user
. /guest/output.sh

fail()
{
	echo "user: $*" >&2
	exit 1
}

# put FILE TEXT...: a setting that must be taken.
put()
{
	file=$1
	shift
	echo "$*" > "$file" || fail "$file does not take $*"
}

LOAD=$(find /kselftest -name user_load | head -n 1)
[ -n "$LOAD" ] || fail "there is no user_load"
# The kernel knows the events from here on.
"$LOAD" 0 > /dev/null || fail "programs have no events"

# recorded FOLDER WORDS...: what the program with these words has recorded.
recorded()
{
	folder=$OUT/$1
	shift
	mkdir -p "$folder"
	etch-record -e sched:sched_switch -e uload -b 4M -o "$folder/ctf" -- "$LOAD" "$@" \
		> "$folder/tried" || fail "no recording of $*"
}

records=$(sed -n "s/.*user\.records=\([^ ]*\).*/\1/p" /proc/cmdline)
recorded recorded "${records:-30000}"
recorded namespaces 10000 namespaces

# A kernel without CONFIG_CGROUPS has the others.
for mode in discard overwrite; do
	mkdir -p $OUT/$mode/ctf "$ETCH/instances/$mode"
	cd "$ETCH/instances/$mode" || fail "no instance $mode"
	put buffer_mode $mode
	put buffer_size_kb 4096
	[ $mode = overwrite ] || put contexts "flags prio"
	put events/sched/sched_switch/enable 1
	put events/uload/enable 1
	"$LOAD" 20000 > $OUT/$mode/tried || fail "the program fails"
	put tracing_on 0
	for cpu in per_cpu/cpu*; do
		cat "$cpu/trace_pipe_raw" > "$OUT/$mode/ctf/${cpu##*/}" || fail "no packets"
		cat "$cpu/user_pipe_raw" > "$OUT/$mode/ctf/user${cpu##*/cpu}" || fail "no packets"
	done
	cat metadata > $OUT/$mode/ctf/metadata || fail "no metadata"
	cat user/stats
	cd / || fail "no /"
	rmdir "$ETCH/instances/$mode" || fail "instance $mode stays"
done
output_write $OUT || fail "the host gets nothing"
