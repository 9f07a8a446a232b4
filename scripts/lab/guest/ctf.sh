# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Binary traces for the host to check: see scripts/proof/ctf/check.py. Each trace is a
# folder TRACE/ctf, as a recorder makes it, with figures and text in files beside it:
#
#   load       every event, under load for a while, by the recorder
#   twice      every event, and the sample module's; also as text, from the same buffer
#   discard    again and again more rounds of one event than the buffer holds
#   overwrite  the same in the other mode, and with contexts
#   throttled  again and again more rounds than the budget lets in
#   probes     events of a kprobe, a kretprobe and a uprobe, if the kernel has these; also as
#              text, from the same buffer
#
# No event is left out. Those of the recorder's own doings are recorded as well: for a
# sub-buffer that it takes it hits far fewer events than a sub-buffer holds.
ETCH=/sys/kernel/debug/etch
OUT=/tmp/ctf
SAMPLE=/sys/module/etch_sample/parameters
. /guest/load.sh
. /guest/output.sh

word()
{
	sed -n "s/.*ctf\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

fail()
{
	echo "ctf: $*" >&2
	exit 1
}

# put FILE TEXT...: a setting that must be taken.
put()
{
	file=$1
	shift
	echo "$*" > "$file" || fail "$file does not take $*"
}

sample()
{
	insmod "/lib/modules/$(uname -r)/kernel/samples/etch/etch-sample.ko" || fail "no sample module"
}

# instance NAME: a new one, and the trace's folder; we are in the instance then.
instance()
{
	trace=$OUT/$1
	mkdir -p "$trace/ctf" "$ETCH/instances/$1" || fail "no instance $1"
	cd "$ETCH/instances/$1" || fail "no instance $1"
}

# What became of the records, by CPU; and the instance goes.
account()
{
	for cpu in per_cpu/cpu*; do
		cat "$cpu/stats" > "$trace/stats.${cpu##*/}" || fail "no stats of $cpu"
	done
	cd / || fail "no /"
	rmdir "$ETCH/instances/${trace##*/}" || fail "instance ${trace##*/} stays"
}

# Tracing is off: all that there is, and what describes it.
collect()
{
	for cpu in per_cpu/cpu*; do
		cat "$cpu/trace_pipe_raw" > "$trace/ctf/${cpu##*/}" || fail "no packets of $cpu"
	done
	cat metadata > "$trace/ctf/metadata" || fail "no metadata"
}

# formats SYSTEM: which bytes are which field; they stay when the module goes. "*" is all.
formats()
{
	# shellcheck disable=SC2231	# it may be a pattern
	for file in "$ETCH"/events/$1/*/format; do
		event=${file%/format}
		system=${event%/*}
		mkdir -p "$OUT/formats/${system##*/}"
		cat "$file" > "$OUT/formats/${system##*/}/${event##*/}"
	done
}

# Readers as they are without a recorder: one cat for each CPU, until tracing is off.
readers_start()
{
	readers=
	for cpu in per_cpu/cpu*; do
		cat "$cpu/trace_pipe_raw" > "$trace/ctf/${cpu##*/}" &
		readers="$readers $!"
	done
}

# readers_signal NAME: to all, and until each has heard of it.
readers_signal()
{
	# shellcheck disable=SC2086
	kill "-$1" $readers || fail "the readers are gone"
	for pid in $readers; do
		until [ "$1" = CONT ] || grep -q '^State:.T' "/proc/$pid/status"; do
			grep -q '^State:.[^ZX]' "/proc/$pid/status" || fail "a reader is gone"
			sleep 0.01
		done
	done
}

readers_end()
{
	# shellcheck disable=SC2086
	wait $readers
	cat metadata > "$trace/ctf/metadata" || fail "no metadata"
}

record_load()
{
	instance load
	put buffer_size_kb "$(word buffer)"
	# The recorder leaves it as it was.
	put tracing_on 0
	load_start
	date +%s > "$trace/began"
	etch-record -i load -e '*:*' -d "$(word seconds)" -o "$trace/ctf" || fail "no recording"
	date +%s > "$trace/ended"
	load_stop
	account
}

# The sample module goes while records of it are in the buffer.
record_twice()
{
	instance twice
	put buffer_size_kb "$(word buffer)"
	date +%s > "$trace/began"
	put events/enable 1
	load_start
	sleep "$(word twice)"
	load_stop
	put $SAMPLE/fire 100
	put statedump 1
	put trace_marker "one line"
	printf 'two lines,\nthe second = 2' > trace_marker
	printf '\52\0\0\0bytes\0\377' > trace_marker_raw
	put tracing_on 0
	put events/enable 0
	date +%s > "$trace/ended"
	texts
	# A kernel without CONFIG_KALLSYMS has none.
	grep -i ' [tw] ' /proc/kallsyms > "$trace/symbols" || rm "$trace/symbols"
	rmmod etch-sample || fail "the sample module stays"
	collect
	account
}

# fire: hit the event so many rounds, on one CPU: which comes after which is known then.
fire()
{
	taskset 1 sh -c "echo $rounds > $SAMPLE/fire" || fail "no rounds"
}

# loss_begin NAME, loss_end: around rounds of which some are lost. Their numbers tell which.
loss_begin()
{
	rounds=$(word rounds)
	times=$(word times)
	instance "$1"
	put events/etch_sample/etch_sample_begin/enable 1
}

loss_end()
{
	put tracing_on 0
	echo "$rounds $times" > "$trace/rounds"
	cat contexts > "$trace/contexts" || fail "no contexts"
	readers_end
	account
}

# record_loss MODE: each second time nobody reads meanwhile, so that they are more than a buffer
# holds on any machine. Then the readers get the time to make room.
record_loss()
{
	loss_begin "$1"
	put buffer_mode "$1"
	put buffer_size_kb 64
	[ "$1" != overwrite ] || put contexts "flags prio$cgroup"
	readers_start
	for n in $(seq "$times"); do
		[ $((n % 2)) -eq 0 ] || readers_signal STOP
		fire
		readers_signal CONT
		sleep 0.2
	done
	loss_end
}

# The buffer holds all that the budget lets in. Between the rounds, the budget catches up.
record_throttled()
{
	loss_begin throttled
	put buffer_size_kb 8192
	put budget bytes=128K
	readers_start
	for n in $(seq "$times"); do
		fire
		sleep 0.2
	done
	loss_end
}

# texts: the text of each CPU, from the buffer that collect() takes.
texts()
{
	for cpu in per_cpu/cpu*; do
		cat "$cpu/trace" > "$trace/text.${cpu##*/}" || fail "no text of $cpu"
	done
}

# Where the program that all commands here are begins, in its file.
program_start()
{
	entry=$(od -A n -t d8 -j 24 -N 8 /bin/busybox) || fail "no /bin/busybox"
	# It is not relocated, or begins at 4 MiB.
	printf '0x%x' $((entry % 0x400000))
}

# Names and numbers of opened files, what a read returned, how a program was started.
# shellcheck disable=SC2016	# they are words of the definitions
record_probes()
{
	[ -e $ETCH/kprobe_events ] || return 0
	echo 'p:ctf_open do_filp_open small=$arg1:u8 dfd=$arg1:s32 name=+0(+0($arg2)):string' \
		'words=+0($arg3):x16[3]' >> $ETCH/kprobe_events || fail "no kprobe"
	echo 'r:ctf_read vfs_read ret=$retval:s64' >> $ETCH/kprobe_events || fail "no kretprobe"
	echo "p:ctf_start /bin/busybox:$(program_start) argc=+0(%sp):s64" 'comm=$comm' \
		>> $ETCH/uprobe_events || fail "no uprobe"
	formats kprobes
	formats uprobes
	instance probes
	put buffer_size_kb 4096
	date +%s > "$trace/began"
	put events/kprobes/enable 1
	put events/uprobes/enable 1
	for n in $(seq "$(word times)"); do
		/bin/busybox cat /proc/self/comm "/none-$n" > /dev/null 2>&1
	done
	put tracing_on 0
	put events/enable 0
	date +%s > "$trace/ended"
	texts
	collect
	account
	echo > $ETCH/dynamic_events || fail "the probes stay"
}

LOAD_PAUSE=$(word pause)
export LOAD_PAUSE
# A kernel without CONFIG_CGROUPS refuses this context.
cgroup=
[ ! -e /proc/cgroups ] || cgroup=" cgroup"
mkdir -p $OUT
sample
formats '*'
record_load
record_twice
sample
record_loss discard
record_loss overwrite
record_throttled
record_probes
rmmod etch-sample
output_write $OUT || fail "nothing could be sent to the host"
