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

for t in "$@"; do
	name=${t##*/}
	echo "# $name"
	# A test that died has printed no plan, so its exit code speaks for it.
	"$t" ${option:+"$option"} 2>&1 || echo "not ok - $name failed or died"
done | awk '
	/^(not )?ok/ {
		bad += /^not/
		sub(/ok [0-9]* */, "ok " ++n " ")
	}
	/^1\.\./ { next }
	{ print; fflush() }
	END {
		print "1.." n
		exit !n || bad
	}'
