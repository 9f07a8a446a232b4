#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# enter.sh ROOT USER COMMAND: log in as USER in a root made by root.sh, and run COMMAND in
# a shell there, with the environment that a login gives. Mounts and processes are in
# namespaces of their own, and end with this script, even when a signal kills it.
# enter.sh --try: say by the status whether this machine allows that.
set -euo pipefail

NAMESPACES=(unshare --mount --propagation private --uts --pid --fork --kill-child)

# The devices of a container; User-mode Linux and QEMU need no others. The machine's own
# nodes are bound in, because containers forbid to make nodes.
devices()
{
	local dev=$1/dev name

	mount -t tmpfs -o mode=755 dev "$dev"
	for name in null zero full random urandom tty; do
		: > "$dev/$name"
		mount --bind "/dev/$name" "$dev/$name"
	done
	mkdir "$dev/pts" "$dev/shm"
	mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$dev/pts"
	mount -t tmpfs -o mode=1777 shm "$dev/shm"
	ln -s pts/ptmx "$dev/ptmx"
	ln -s /proc/self/fd "$dev/fd"
	ln -s fd/0 "$dev/stdin"
	ln -s fd/1 "$dev/stdout"
	ln -s fd/2 "$dev/stderr"
}

# Within the namespaces. This shell does not exec: as process 1 it reaps orphans.
inside()
{
	local root=$1 user=$2 command=$3

	hostname stranger
	# This makes / a mount in there, as it is on a machine.
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mount --rbind -o ro /sys "$root/sys"
	devices "$root"
	chroot "$root" env -i TERM=dumb su - "$user" -c "$command"
}

try()
{
	if [ "$(id -u)" -ne 0 ]; then
		echo "it takes root" >&2
		return 1
	fi
	"${NAMESPACES[@]}" sh -c 'hostname stranger && mount -t proc proc /proc && chroot / true'
}

case $1 in
--inside)	shift; inside "$@" ;;
--try)	try ;;
*)	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "${NAMESPACES[@]}" \
		"$0" --inside "$@" < /dev/null ;;
esac
