#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What Etch adds to a kernel, beside what ftrace adds to it: event by event, by
# the symbols of the lane's kernel, which has both. With FULL=1 the lane is
# built without both, with each alone, and with both, and the differences of
# text and data are divided by the number of events.
set -euo pipefail
. "$(dirname "$0")/lib/common.sh"

LANE=${LANE:-x86-64}
[ "$LANE" != um ] || LANE=x86-64

# The image whose sections are counted.
image()
{
	echo "$ETCH_BUILD/size-$1/vmlinux"
}

# variant NAME FRAGMENTS-TO-LEAVE-OUT FRAGMENTS-MORE
variant()
{
	OUT=$ETCH_BUILD/size-$1 WITHOUT=$2 MORE=$3 \
		"$ETCH_TOP/scripts/build.sh" "$LANE"
}

# Text (with read-only data), data, bss, as size(1) sees them.
sections()
{
	size "$(image "$1")" | awk 'NR == 2 { print $1, $2, $3 }'
}

# One symbol's address.
address()
{
	echo $((16#$(nm "$(image both)" | awk -v name="$1" '$3 == name { print $1 }')))
}

# The events that the kernel has: one pointer each in a table of ftrace's.
events()
{
	echo $((($(address __stop_ftrace_events) -
		$(address __start_ftrace_events)) / 8))
}

# row TITLE WITH WITHOUT: what the first has more than the second.
row()
{
	{ sections "$2"; sections "$3"; events; } | awk -v title="$1" '
		NR == 1 { text = $1; data = $2; bss = $3 }
		NR == 2 { text -= $1; data -= $2; bss -= $3 }
		NR == 3 {
			printf "%-28s %9d %9d %9d %11.1f %11.1f\n", title,
				text, data, bss, text / $1, data / $1
		}'
}

table()
{
	printf '\n%-28s %9s %9s %9s %11s %11s\n' "bytes, $LANE, $(events) events" \
		text data bss text/event data/event
	row "Etch" etch neither
	row "ftrace" ftrace neither
	row "Etch beside ftrace" both ftrace
	row "ftrace beside Etch" both etch
}

if [ -z "${FULL:-}" ]; then
	"$ETCH_TOP/scripts/build.sh" "$LANE"
	"$ETCH_TOP/scripts/size-by-symbol.py" "$ETCH_BUILD/$LANE/vmlinux"
	exit
fi

variant neither etch "size size-no-ftrace"
variant etch "" "size size-no-ftrace"
variant ftrace etch size
variant both "" size
table
