#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Remove what was made: clean.sh keeps the unpacked kernel source and the
# private packages; "clean.sh all" removes build/ altogether. Beside build/ there are
# programs of the tests in user space, and what Python keeps.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

rm -rf "$ETCH_TOP"/selftests/*/out
find "$ETCH_TOP/scripts" "$ETCH_TOP/selftests" -name __pycache__ -prune -exec rm -r {} +
[ -d "$ETCH_BUILD" ] || exit 0
if [ "${1:-}" = all ]; then
	rm -rf "$ETCH_BUILD"
	say "Folder $ETCH_BUILD removed."
	exit 0
fi
for made in "$ETCH_BUILD"/*; do
	case ${made##*/} in
	linux-pristine*|linux-dev*|apt|apt-next|qemu|root|vanilla)	;;
	*)	rm -rf "$made" ;;
	esac
done
say "Builds removed; the kernel source stays (make distclean removes all)."
