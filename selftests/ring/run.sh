#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run the tests given, passing on an option, and put their TAP together into one.
#
#	run.sh [--long] test...

option=
case $1 in
--*)
	option=$1
	shift
	;;
esac

run() { # test
	case $1 in
	*-arm64)
		if ! [ -x "$1" ] || ! command -v qemu-aarch64-static >/dev/null; then
			echo "### NOT run for want of aarch64-linux-gnu-gcc or qemu-aarch64-static: $1"
			echo "ok - ${1##*/} # SKIP no compiler for arm64, or no QEMU"
			return
		fi
		qemu-aarch64-static "$1"	# slow: never longer
		;;
	*)
		"$1" ${option:+"$option"}
		;;
	esac
}

for t in "$@"; do
	name=${t##*/}
	echo "# $name"
	# A test that died has printed no plan, so its exit code speaks for it.
	run "$t" 2>&1 || echo "not ok - $name failed or died"
done | {
	n=0
	bad=0
	# Line by line, so that one sees how far it is.
	while IFS= read -r line; do
		case $line in
		"ok "* | "not ok "*)
			n=$((n + 1))
			echo "${line%%ok *}ok $n - ${line#*- }"
			;;
		1..*)
			;;
		*)
			echo "$line"
			;;
		esac
		case $line in
		"not ok "*)
			bad=$((bad + 1))
			;;
		esac
	done
	echo "1..$n"
	[ $n -gt 0 ] && [ $bad -eq 0 ]
}
