#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Put the series on a user's kernel tree with quilt: make apply KDIR=/path.
# The tree is touched only when the whole series is known to apply.
set -euo pipefail
. "$(dirname "$0")/lib/common.sh"

SUM=.pc/etch-series-sum

export QUILT_PATCHES=$ETCH_PATCHES QUILT_SERIES=$ETCH_SERIES
export QUILTRC=$ETCH_TOP/scripts/quiltrc

tree()
{
	python3 "$ETCH_TOP/scripts/tree.py" "$@"
}

next_steps()
{
	cat <<-END

	What next, in $KDIR:
	    scripts/config -e DEBUG_FS -e ETCH    (or: make menuconfig, Kernel hacking -> Etch: static tracing)
	    make olddefconfig
	    make
	and in the kernel that boots:
	    mount -t debugfs none /sys/kernel/debug
	    echo 1 > /sys/kernel/debug/etch/events/sched/sched_switch/enable
	    cat /sys/kernel/debug/etch/trace_pipe
	To take the series off again: cd $KDIR && quilt pop -a
	END
}

# A tree that already has the series, or has something in its place, ends
# the script here.
look()
{
	[ -s .pc/applied-patches ] || rm -f "$SUM"
	if [ -e "$SUM" ] && [ "$(cat "$SUM")" = "$(tree sum)" ]; then
		say "This series is already applied to $KDIR. Nothing was changed."
		next_steps
		exit 0
	elif [ -e "$SUM" ]; then
		die "$KDIR holds another version of the series." \
			"Take it off first: cd $KDIR && quilt pop -a"
	elif [ -s .pc/applied-patches ]; then
		die "$KDIR has other quilt patches applied, and quilt keeps" \
			"one series to a tree. git am takes ours as well:" \
			"see $ETCH_SERIES. Nothing was changed"
	elif [ -n "$(ls -A kernel/etch 2>/dev/null)" ]; then
		say "$KDIR already holds Etch, though not by quilt. Nothing was changed."
		exit 0
	fi
}

push()
{
	local log
	log=$(mktemp)

	if ! quilt push -a -q --fuzz=0 > "$log" 2>&1; then
		cat "$log" >&2
		quilt pop -a -f -q > /dev/null 2>&1 || true
		die "the series did not apply; what was applied was taken off"
	fi
	rm "$log"
	tree sum > "$SUM"
}

[ -n "${KDIR:-}" ] || die "say which tree: make apply KDIR=/path/to/linux"
[ -d "$KDIR" ] || die "$KDIR is not a folder"
KDIR=$(realpath "$KDIR")
command -v quilt > /dev/null ||
	die "quilt is missing. As root: apt-get install quilt"
cd "$KDIR"
look
tree try "$KDIR" || die "the series does not apply to $KDIR. Nothing was changed"
rm -rf .pc/.quilt_patches .pc/.quilt_series
push
say "$(quilt applied | wc -l) patches applied to $KDIR."
next_steps
