#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What Etch adds to a kernel, beside what ftrace adds to it: event by event, by
# the symbols of the lane's kernel, which has both, and the sites of its
# tracepoints; and room by room, with the combinations of layers. With FULL=1 whole kernels of one configuration are compared:
# mainline's, the series' without CONFIG_ETCH, with Etch and ftrace, with Etch
# alone, with neither. Then the sites are compared with mainline's, and without
# CONFIG_ETCH the objects.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

# um is not what anybody asks about; five kernels had better be small.
LANE=${LANE:-um}
[ "$LANE" != um ] || LANE=x86-64

# The image whose sections are counted.
image()
{
	echo "$ETCH_BUILD/size-$1/vmlinux"
}

# variant NAME FRAGMENTS-TO-LEAVE-OUT FRAGMENTS-MORE [SOURCE]: without what tests.
variant()
{
	OUT=$ETCH_BUILD/size-$1 WITHOUT="tests $2" MORE=$3 SOURCE=${4:-$ETCH_LINUX} \
		"$ETCH_TOP/scripts/lab/build.sh" "$LANE"
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

# kernel TITLE NAME: what a kernel has, and what it has more than mainline's.
kernel()
{
	{ sections "$2"; sections mainline; } | awk -v title="$1" '
		NR == 1 { text = $1; data = $2; bss = $3 }
		NR == 2 {
			printf "%-30s %9d %9d %9d %+11d %+11d\n", title,
				text, data, bss, text - $1, data - $2
		}'
}

# row TITLE WITH WITHOUT: what the first has more than the second.
row()
{
	{ sections "$2"; sections "$3"; events; } | awk -v title="$1" '
		NR == 1 { text = $1; data = $2; bss = $3 }
		NR == 2 { text -= $1; data -= $2; bss -= $3 }
		NR == 3 {
			printf "%-30s %9d %9d %9d %11.1f %11.1f\n", title,
				text, data, bss, text / $1, data / $1
		}'
}

# head_line TITLE COLUMN COLUMN: a table's first line.
head_line()
{
	printf '\n%-30s %9s %9s %9s %11s %11s\n' "$1" text data bss "$2" "$3"
}

table()
{
	head_line "bytes, $LANE, $(events) events" text-main data-main
	kernel "mainline, ftrace" mainline
	kernel "the series, ETCH=n, ftrace" ftrace
	kernel "the series, Etch, ftrace" both
	kernel "the series, Etch, no ftrace" etch
	kernel "the series, neither" neither
	head_line "what is added" text/event data/event
	row "the series, ETCH=n, to mainline" ftrace mainline
	row "Etch to neither" etch neither
	row "ftrace to neither" ftrace neither
	row "Etch to ftrace" both ftrace
	row "ftrace to Etch" both etch
}

if [ -z "${FULL:-}" ]; then
	"$ETCH_TOP/scripts/lab/build.sh" "$LANE"
	"$ETCH_TOP/scripts/bench/size-by-symbol.py" "$ETCH_BUILD/$LANE/vmlinux"
	echo
	"$ETCH_TOP/scripts/proof/sites.py" "$ETCH_BUILD/$LANE/vmlinux"
	echo
	"$ETCH_TOP/scripts/proof/lint/rooms.py" "$ETCH_BUILD/$LANE"
	exit
fi

variant mainline etch size "$ETCH_PRISTINE"
variant ftrace etch size
variant both "" size
variant etch "" "size size-no-ftrace"
variant neither etch "size size-no-ftrace"
table
printf '\nSites of tracepoints, beside mainline:\n'
"$ETCH_TOP/scripts/proof/sites.py" "$(image both)" "$(image mainline)"
printf '\nObjects without CONFIG_ETCH, beside mainline:\n'
"$ETCH_TOP/scripts/proof/objects.py" "$ETCH_BUILD/size-mainline" \
	"$ETCH_BUILD/size-ftrace"
