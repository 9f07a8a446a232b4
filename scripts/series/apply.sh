#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make apply KDIR=/path: put the series on a user's kernel tree, in the place of
# an older one if there is one. make unapply KDIR=/path: take it off. The tree
# changes as a whole or not at all; lib/applied.py says how.
#
#   apply.sh [apply|unapply]
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

verb=${1:-apply}

# A configuration that has no more than what "scripts/config -e" writes is
# completed by olddefconfig with "no" for nearly all the rest: one has to be there
# first.
configuration()
{
	[ -e "$KDIR/.config" ] || cat <<-END
	(This tree has no configuration. Instead of the first line you may copy one, such as
	the running kernel's: cp /boot/config-\$(uname -r) .config)
	    make defconfig
	END
}

next_steps()
{
	printf '\nWhat next, in %s:\n' "$KDIR"
	configuration
	cat <<-END
	    scripts/config -e DEBUG_FS -e ETCH
	    make olddefconfig
	    make
	(The option is below Kernel hacking -> Etch: static tracing.) And in the kernel that boots:
	    mount -t debugfs none /sys/kernel/debug
	    echo 1 > /sys/kernel/debug/etch/events/sched/sched_switch/enable
	    cat /sys/kernel/debug/etch/trace_pipe
	To put on a newer version: make apply KDIR=$KDIR
	To take it off again: make unapply KDIR=$KDIR
	END
}

[ -n "${KDIR:-}" ] || die "say which tree: make $verb KDIR=/path/to/linux"
[ -d "$KDIR" ] || die "$KDIR is not a folder"
KDIR=$(realpath "$KDIR")
for tool in quilt python3; do
	command -v $tool > /dev/null ||
		die "$tool is missing. As root: apt-get install $tool"
done
python3 "$ETCH_TOP/scripts/series/tree.py" "$verb" "$KDIR"
[ "$verb" != apply ] || next_steps
