# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Real load with nothing but busybox: processes, files, sockets. Source it,
# then load_start and load_stop. What the machine cannot do is left out. LOAD_PAUSE:
# seconds that each kind of load waits from one round to the next.

# Processes that come, talk through a pipe, and go.
load_processes()
{
	while :; do
		seq 200 | grep -c 1 > /dev/null
		sleep "${LOAD_PAUSE:-0.01}"
	done
}

# A real file system, on a loop device where there is ext4 or else in memory.
load_mount()
{
	mkdir -p /tmp/load
	dd if=/dev/zero of=/tmp/disk bs=1M count=8 2> /dev/null
	losetup /dev/loop0 /tmp/disk 2> /dev/null || return 0
	mke2fs /dev/loop0 > /dev/null 2>&1 &&
		mount -t ext4 /dev/loop0 /tmp/load
}

load_files()
{
	while :; do
		dd if=/dev/zero of=/tmp/load/file bs=4k count=64 2> /dev/null
		sync
		rm -f /tmp/load/file
		sleep "${LOAD_PAUSE:-0.02}"
	done
}

# A server on the loopback device, and a client that asks it again and again.
load_sockets()
{
	nc -lk -p 7777 -e cat > /dev/null 2>&1 &
	while :; do
		seq 100 | nc -w 1 127.0.0.1 7777 > /dev/null 2>&1
		sleep "${LOAD_PAUSE:-0.02}"
	done
}

# Each kind of load is a session of its own, and is ended as one.
load_start()
{
	load_mount
	load_sessions=
	for load in load_processes load_files load_sockets; do
		setsid sh -c ". /guest/load.sh; $load" < /dev/null > /dev/null 2>&1 &
		load_sessions="$load_sessions $!"
	done
}

load_stop()
{
	for session in $load_sessions; do
		# One that was only just forked leads no group yet.
		kill -KILL "-$session" 2> /dev/null || kill -KILL "$session"
	done
	# Not for whatever else was begun here.
	# shellcheck disable=SC2086
	wait $load_sessions 2> /dev/null
	umount /tmp/load 2> /dev/null || true
}
