# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Records that outlive a crash, in two boots of one machine: see scripts/lib/persist.py.
# The first one records into reserved memory, and panics while others write; the second
# one hands to the host what it finds there, and goes on recording in its place.
ETCH=/sys/kernel/debug/etch
CRASH=/sys/kernel/debug/etch_ring_test/crash
OUT=/tmp/persist
MARKS=3000
. /guest/output.sh
. /guest/steps.sh

state()
{
	sed -n 's/^state: //p' persist/status
}

# refused FILE VALUE: the write must fail, and error_log must say why.
refused()
{
	(echo "$2" > "$1") 2> /dev/null && fail "$1 takes $2"
	grep -q "reserved memory" error_log || fail "$1: nothing in error_log"
}

# The last round is not counted: the panic comes in its middle.
first()
{
	cd instances/etch || fail "no instance"
	[ "$(cat events/sched/sched_process_fork/enable)" = 1 ] || fail "an event is not enabled"
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		taskset $((1 << cpu)) sh -c "for n in \$(seq $MARKS); do
			echo mark \$n on $cpu > trace_marker; done" &
	done
	wait
	put tracing_on 0
	for cpu in per_cpu/cpu*; do
		entries=$(sed -n 's/^entries: //p' "$cpu/stats")
		[ -z "$entries" ] || echo "counted: ${cpu##*/cpu} $entries"
	done
	echo "marks: $MARKS"
	put tracing_on 1
	put events/sched/enable 1
	for _ in 1 2 3; do
		(while :; do (:); done) &
	done
	sleep 0.3
	put $CRASH panic
}

second()
{
	mkdir -p $OUT/ctf
	sed 's/^/status: /' persist/status
	for file in persist/cpu* persist/metadata; do
		cat "$file" > "$OUT/ctf/${file##*/}" || fail "$file cannot be read"
	done
	# They stay until they are forgotten.
	cmp -s persist/metadata $OUT/ctf/metadata || fail "metadata differs when read again"
	[ ! -e instances/etch ] || fail "it is recorded into already"
	# With these files in the tree. The host reads the results.
	/kselftest/etch/access -t modes_are_those_of_the_table \
		-t others_get_nothing_in_open_folders \
		-t root_without_capabilities_goes_by_the_modes \
		-t what_a_mode_lacks_cannot_be_done || true
	/kselftest/etch/faulting -v persist -v persist_metadata || true
	put persist/status forget
	[ "$(state)" = recording ] || fail "it is not recorded into: $(state)"
	[ ! -s persist/metadata ] || fail "what was forgotten is there"
	cd instances/etch || fail "no instance"
	refused buffer_size_kb 64
	refused buffer_subbuf_size_kb 4
	refused trace_clock local
	put trace_marker "the second kernel's"
	[ "$(grep -c "the second kernel's" trace)" = 1 ] || fail "nothing is recorded"
	put tracing_on 0
	for cpu in per_cpu/cpu*; do
		cat "$cpu/trace_pipe_raw" > /tmp/raw || fail "no packets of $cpu"
		cat /tmp/raw >> /tmp/raws
	done
	grep -q "the second kernel's" /tmp/raws || fail "its packets have nothing"
	cd / && rmdir $ETCH/instances/etch 2> /dev/null && fail "the instance can be removed"
	output_write $OUT || fail "nothing could be sent to the host"
	echo "ok - the second kernel goes on where the first one died"
}

cd $ETCH || fail "no tree"
[ -d persist ] || fail "no folder persist"
echo "state: $(state)"
case $(state) in
recording)	first ;;
found)		second ;;
*)		cat persist/status
		fail "state $(state)" ;;
esac
