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

# The names of the series' patches, in order.
series()
{
	sed 's/#.*//; s/[[:space:]].*//; /^$/d' "$ETCH_SERIES"
}

# Are the patches that quilt applied the first ones of the series, or all?
ours()
{
	local count

	count=$(wc -l < .pc/applied-patches)
	series | head -n "$count" | cmp -s - .pc/applied-patches
}

# Some patches of this series are applied, but not all.
in_part()
{
	local applied

	applied="$(wc -l < .pc/applied-patches) of this series' $(series | wc -l) patches"
	if [ -e "$SUM" ]; then
		die "$KDIR holds $applied. To have all: cd $KDIR && quilt push -a --fuzz=0." \
			"To have none: cd $KDIR && quilt pop -a. Nothing was changed"
	fi
	die "$KDIR holds $applied: applying them was interrupted." \
		"cd $KDIR && quilt pop -a -f, then begin again. Nothing was changed"
}

# A tree that already has the series, or has something in its place, ends
# the script here.
look()
{
	[ -s .pc/applied-patches ] || rm -f "$SUM"
	if [ -e "$SUM" ] && [ "$(cat "$SUM")" != "$(tree sum)" ]; then
		die "$KDIR holds another version of the series." \
			"Take it off first: cd $KDIR && quilt pop -a"
	elif [ -s .pc/applied-patches ] && ours; then
		if [ ! -e "$SUM" ] || ! series | cmp -s - .pc/applied-patches; then
			in_part
		fi
		say "This series is already applied to $KDIR. Nothing was changed."
		next_steps
		exit 0
	elif [ -s .pc/applied-patches ]; then
		die "$KDIR has other quilt patches applied, and quilt keeps" \
			"one series to a tree. git am takes ours as well:" \
			"see $ETCH_SERIES. Nothing was changed"
	elif [ -n "$(ls -A kernel/etch 2>/dev/null)" ]; then
		say "$KDIR already holds Etch, though not by quilt. Nothing was changed."
		exit 0
	fi
}

# take_off WHY: none of the series is better than a part.
take_off()
{
	trap '' INT TERM HUP
	quilt pop -a -f -q > /dev/null 2>&1 || true
	die "$1; what was applied was taken off"
}

push()
{
	local log
	log=$(mktemp)

	trap 'take_off "interrupted"' INT TERM HUP
	if ! quilt push -a -q --fuzz=0 > "$log" 2>&1; then
		cat "$log" >&2
		take_off "the series did not apply"
	fi
	rm "$log"
	tree sum > "$SUM"
	trap - INT TERM HUP
}

[ -n "${KDIR:-}" ] || die "say which tree: make apply KDIR=/path/to/linux"
[ -d "$KDIR" ] || die "$KDIR is not a folder"
KDIR=$(realpath "$KDIR")
for tool in quilt python3; do
	command -v $tool > /dev/null ||
		die "$tool is missing. As root: apt-get install $tool"
done
cd "$KDIR"
look
tree try "$KDIR" || die "the series does not apply to $KDIR. Nothing was changed"
rm -rf .pc/.quilt_patches .pc/.quilt_series
push
say "$(quilt applied | wc -l) patches applied to $KDIR."
next_steps
