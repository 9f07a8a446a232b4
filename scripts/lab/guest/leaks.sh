# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# leaks: what kmemleak knows of, each line behind "kmemleak: ". Sourced.
KMEMLEAK=/sys/kernel/debug/kmemleak

leaks()
{
	[ -e "$KMEMLEAK" ] || return 0
	# What is young is not reported, nor what was pointed to the first time.
	sleep 6
	echo scan > "$KMEMLEAK"
	echo scan > "$KMEMLEAK"
	sed 's/^/kmemleak: /' "$KMEMLEAK"
	echo "kmemleak: end"
}
