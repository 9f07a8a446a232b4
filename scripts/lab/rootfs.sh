#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rootfs.sh LANE [DIR]: the initramfs of a lane, build/LANE/initrd.gz, made
# without root by the kernel's own gen_init_cpio. It holds a static busybox,
# bash, scripts/lab/guest, the sample modules, the recorder, and DIR (installed
# selftests) as /kselftest. OUT=DIR says where the kernel was built, if elsewhere; BENCH=DIR
# puts that folder in as /bench, and the archive is then DIR.gz; PROGRAMS="NAME..." puts in
# these programs of the host, too. For another
# architecture the programs are those of fetch.sh ARCH-guest.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

LANE=$1
SELFTESTS=${2:-}
OUT=${OUT:-$ETCH_BUILD/$LANE}
BENCH=${BENCH:-}
PROGRAMS=${PROGRAMS:-}
ARCHIVE=${BENCH:-$OUT/initrd}
GEN=$ETCH_BUILD/gen_init_cpio
GUEST='' EMULATOR=''
# shellcheck source=/dev/null
. "$ETCH_TOP/scripts/lab/lanes/$LANE"
# Where the guest's programs are.
ROOT=${GUEST:+$ETCH_SHARED/root/$GUEST}

# One directory, with those above it.
dirs()
{
	local path=$1

	[ "$path" = / ] || [ "$path" = . ] && return
	dirs "$(dirname "$path")"
	echo "dir $path 0755 0 0"
}

# A file of the host, at the same place or at another.
file()
{
	local from=$1 to=${2:-$1} mode

	mode=$(stat -L -c %a "$from")
	dirs "$(dirname "$to")"
	echo "file $to $(realpath "$from") 0$mode 0 0"
}

# A whole folder of the host.
folder()
{
	local from=$1 to=$2 name

	while read -r name; do
		file "$from/$name" "$to/$name"
	done < <(cd "$from" && find . -type f | sed 's|^\./||')
}

# A program of the host and the libraries that it loads.
program()
{
	local lib

	file "$(command -v "$1")" "/usr/bin/$1"
	ldd "$(command -v "$1")" | grep -o '/[^ ]*' | while read -r lib; do
		file "$lib"
	done
}

base()
{
	local name

	for name in /proc /sys /dev /tmp /root /run /mnt /var /etc /sbin; do
		dirs $name
	done
	echo "nod /dev/console 0600 0 0 c 5 1"
	echo "nod /dev/null 0666 0 0 c 1 3"
	file "$ROOT/bin/busybox" /bin/busybox
	$EMULATOR "$ROOT/bin/busybox" --list | while read -r name; do
		case $name in
		busybox|bash)	;;
		sh)	file "$ROOT/bin/busybox" /bin/sh ;;
		*)	echo "slink /bin/$name busybox 0777 0 0" ;;
		esac
	done
	if [ -n "$ROOT" ]; then
		file "$ROOT/bin/bash-static" /usr/bin/bash
	else
		program bash
	fi
	echo "slink /bin/bash /usr/bin/bash 0777 0 0"
	file "$ETCH_TOP/scripts/lab/guest/init" /init
	folder "$ETCH_TOP/scripts/lab/guest" /guest
	folder "$ETCH_TOP/scripts/lab/guest/etc" /etc
}

# The runner of kselftests looks for /usr/bin/timeout and gives it an option
# that busybox's lacks.
timeout_wrapper()
{
	file "$ETCH_TOP/scripts/lab/guest/timeout" /usr/bin/timeout
}

# The sample modules, those that tests load, and those that do wrong on purpose,
# where modprobe would look. Those that an earlier configuration left behind are not listed.
modules()
{
	local list=$OUT/modules.order object ko release

	[ -e "$list" ] || return 0
	release=$(cat "$OUT/include/config/kernel.release")
	while read -r object; do
		ko=${object%.o}.ko
		case $ko in
		samples/* | kernel/etch/* | mm/kasan/* | lib/test_ubsan.ko)
			file "$OUT/$ko" "/lib/modules/$release/kernel/$ko" ;;
		esac
	done < "$list"
}

# The tool, where build.sh built it, by both of its names.
recorder()
{
	local built=$OUT/tools/tracing/etch/etch

	[ -e "$built" ] || return 0
	file "$built" /usr/bin/etch
	echo "slink /usr/bin/etch-record etch 0777 0 0"
}

spec()
{
	local name

	base
	timeout_wrapper
	modules
	recorder
	for name in $PROGRAMS; do
		program "$name"
	done
	[ -z "$SELFTESTS" ] || folder "$SELFTESTS" /kselftest
	[ -z "$BENCH" ] || folder "$BENCH" /bench
}

mkdir -p "$OUT"
[ -x "$GEN" ] || gcc -O2 -o "$GEN" "$ETCH_PRISTINE/usr/gen_init_cpio.c"
spec | awk '!seen[$1 $2]++' > "$ARCHIVE.spec"
# A fixed time (-t) makes equal contents an equal archive.
"$GEN" -t 0 "$ARCHIVE.spec" | gzip -1n > "$ARCHIVE.gz"
