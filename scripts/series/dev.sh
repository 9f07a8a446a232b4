#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build/linux-dev: a copy of the kernel source with the series applied by
# quilt, in which the patches are edited (patches/README.md says how). An
# existing one is kept as it is, for it holds somebody's work; "make dev FRESH=1"
# makes it anew.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"
. "$ETCH_TOP/scripts/series/quilt-env" "$ETCH_BASE"

# What the source was made from, and what this copy of it was.
ORIGIN=$ETCH_BUILD/linux-pristine.origin
COPIED=$ETCH_DEV.origin

copy()
{
	rm -rf "$ETCH_DEV.new"
	cp -a --reflink=auto "$ETCH_PRISTINE" "$ETCH_DEV.new"
}

push()
{
	cd "$ETCH_DEV.new" || return
	quilt push -a -q --fuzz=0
}

# It gets its name when it is whole.
finish()
{
	rm -rf "$ETCH_DEV"
	cp "$ORIGIN" "$COPIED"
	mv "$ETCH_DEV.new" "$ETCH_DEV"
}

[ -f "$ETCH_SERIES" ] || die "there is no series for Linux $ETCH_BASE yet: $ETCH_SERIES is missing"
if [ -n "${FRESH:-}" ] || [ ! -d "$ETCH_DEV" ]; then
	step "Source copied to $ETCH_DEV" copy
	if grep -q '^[^#]' "$ETCH_SERIES"; then
		step "Series applied" quietly "$ETCH_BUILD/log/dev.log" push
	fi
	finish
elif ! cmp -s "$ORIGIN" "$COPIED"; then
	die "$ETCH_DEV was copied from another kernel source than there is now." \
		"With quilt refresh what was edited there is in the patches; then" \
		"make dev FRESH=1 makes it anew"
else
	say "$ETCH_DEV is kept as it is (FRESH=1 makes it anew)."
fi
say "cd $ETCH_DEV; . $ETCH_TOP/scripts/series/quilt-env $ETCH_BASE; quilt series -v"
