#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh demo|shell: build the kernel of LANE, boot it, and show its events
# or leave the user in a shell.
set -euo pipefail
. "$(dirname "$0")/lib/common.sh"

LANE=${LANE:-um}
WHAT=$1

begin=$(now)
"$ETCH_TOP/scripts/build.sh" "$LANE"
step "Root file system made" "$ETCH_TOP/scripts/rootfs.sh" "$LANE"
say "Booting $LANE."
if [ "$WHAT" = shell ]; then
	exec "$ETCH_TOP/scripts/boot.py" "$LANE" shell
fi
"$ETCH_TOP/scripts/boot.py" "$LANE" "$WHAT"
say "Done in $(($(now) - begin)) s. What to try next:"
printf '    %-28s%s\n' \
	"make shell LANE=$LANE" "a shell in this kernel" \
	"make run LANE=$([ "$LANE" = um ] && echo x86-64 || echo um)" \
	"the same on the other machine" \
	"make check" "every test" \
	"make apply KDIR=/path" "the series on a kernel tree of yours"
