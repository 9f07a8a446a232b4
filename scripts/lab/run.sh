#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh demo|shell|record: build the kernel of LANE, boot it, and show its events,
# leave the user in a shell, or record a binary trace and show that.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

LANE=${LANE:-um}
WHAT=$1

begin=$(now)
"$ETCH_TOP/scripts/lab/build.sh" "$LANE"
step "Root file system made" "$ETCH_TOP/scripts/lab/rootfs.sh" "$LANE"
say "Booting $LANE."

# What the tool makes of it: the tasks that ran, and a page for the browser. The guest's own
# tool runs here, too.
look()
{
	local etch=$ETCH_BUILD/$LANE/tools/tracing/etch/etch

	say "etch top shows which tasks ran, and how long they waited for a CPU:"
	"$etch" top -n 10 "$ETCH_BUILD/trace" || die "etch cannot read $ETCH_BUILD/trace"
	say "etch view writes a page for the browser:"
	"$etch" view -o "$ETCH_BUILD/trace.html" "$ETCH_BUILD/trace" ||
		die "etch cannot show $ETCH_BUILD/trace"
}

# The trace comes out of the guest as an archive.
record()
{
	local archive=$ETCH_BUILD/trace.tar count

	rm -rf "$archive" "$ETCH_BUILD/trace" "$ETCH_BUILD/trace.html"
	"$ETCH_TOP/scripts/lab/boot.py" "$LANE" record --output "$archive"
	tar -C "$ETCH_BUILD" -xf "$archive" ./trace
	rm "$archive"
	count=$(babeltrace2 "$ETCH_BUILD/trace" | wc -l) ||
		die "babeltrace2 cannot read $ETCH_BUILD/trace"
	say "babeltrace2 shows the first records of $count:"
	# head ends before babeltrace2 does.
	babeltrace2 --no-delta --names=payload "$ETCH_BUILD/trace" 2> /dev/null | head -10 || true
	look
	say "Done in $(($(now) - begin)) s. The trace: babeltrace2 ${ETCH_BUILD#"$PWD/"}/trace"
}

if [ "$WHAT" = record ]; then
	record
	exit
fi
if [ "$WHAT" = shell ]; then
	exec "$ETCH_TOP/scripts/lab/boot.py" "$LANE" shell
fi
"$ETCH_TOP/scripts/lab/boot.py" "$LANE" "$WHAT"
say "Done in $(($(now) - begin)) s. What to try next:"
printf '    %-28s%s\n' \
	"make shell LANE=$LANE" "a shell in this kernel" \
	"make run LANE=$([ "$LANE" = um ] && echo x86-64 || echo um)" \
	"the same on the other machine" \
	"make check" "every test" \
	"make apply KDIR=/path" "the series on a kernel tree of yours"
