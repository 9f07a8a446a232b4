# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# BENCH=readout inside the guest. The module that hits events is BENCH=event's.
# Words "bench.NAME=VALUE" on the kernel's command line: part (drain, rate or wake), size
# (KiB of each buffer), rounds, hits (drain, wake), ticks, producer and consumer (rate).
ETCH=/sys/kernel/debug/etch
FTRACE=/sys/kernel/tracing
WIDE=$FTRACE/instances/wide	# has sub-buffers as large as Etch's

word()
{
	sed -n "s/.*bench\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

# write VALUE FILE; a write that fails ends the benchmark.
write()
{
	echo "$1" > "$2" || {
		echo "cannot write '$1' to $2"
		exit 1
	}
}

insmod /bench/bench-event.ko || exit 1
mkdir $WIDE || exit 1
write 16 $WIDE/buffer_subbuf_size_kb
for tracer in $ETCH $FTRACE $WIDE; do
	write "$(word size)" "$tracer/buffer_size_kb"
done
case $(word part) in
drain)
	/bench/readout "$(word rounds)" "$(word hits)" || exit 1
	;;
rate)
	write discard $ETCH/buffer_mode
	write 0 $FTRACE/options/overwrite
	write 0 $WIDE/options/overwrite
	/bench/rate "$(word rounds)" "$(word ticks)" "$(word producer)" \
		"$(word consumer)" || exit 1
	;;
wake)
	for tracer in $ETCH $FTRACE; do
		write 0 "$tracer/buffer_percent"
	done
	write 1 $ETCH/events/bench_hits/etch_small/enable
	write 1 $FTRACE/events/bench_hits/ftrace_small/enable
	run="$(word rounds) $(word hits) etch_small ftrace_small"
	write "quiet $run" /sys/kernel/debug/bench/run
	for tracer in $ETCH $FTRACE; do
		write "" "$tracer/trace"
		cat "$tracer/per_cpu/cpu0/trace_pipe_raw" > /dev/null &
	done
	write "waited $run" /sys/kernel/debug/bench/run
	killall cat
	wait
	dmesg | sed -n 's/.*\] bench: /bench: /p'
	;;
*)
	exit 1
	;;
esac
write 0 $ETCH/events/enable
write 0 $FTRACE/events/enable
write 0 $WIDE/events/enable
rmdir $WIDE
rmmod bench-event
