#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build/linux-dev: a copy of the kernel source with the series applied by
# quilt, in which the patches are edited (patches/README.md says how). An
# existing one is kept if it has patches of ours applied; "make dev FRESH=1"
# makes it anew.
set -euo pipefail
. "$(dirname "$0")/lib/common.sh"
. "$ETCH_TOP/scripts/quilt-env"

copy()
{
	rm -rf "$ETCH_DEV"
	cp -a --reflink=auto "$ETCH_PRISTINE" "$ETCH_DEV"
}

push()
{
	cd "$ETCH_DEV"
	quilt push -a -q --fuzz=0
}

if [ -n "${FRESH:-}" ] || [ ! -d "$ETCH_DEV" ]; then
	step "Source copied to $ETCH_DEV" copy
	if grep -q '^[^#]' "$ETCH_SERIES"; then
		step "Series applied" quietly "$ETCH_BUILD/log/dev.log" push
	fi
else
	say "$ETCH_DEV is kept as it is (FRESH=1 makes it anew)."
fi
say "cd $ETCH_DEV; . $ETCH_TOP/scripts/quilt-env; quilt series -v"
