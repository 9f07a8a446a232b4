#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Remove what was made, for all bases: clean.sh keeps the unpacked kernel source, tarballs and
# the private packages; "clean.sh all" removes build/ altogether. Beside build/ there are
# programs of the tests in user space, and what Python keeps.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

rm -rf "$ETCH_TOP"/selftests/*/out
find "$ETCH_TOP/scripts" "$ETCH_TOP/selftests" -name __pycache__ -prune -exec rm -r {} +
[ -d "$ETCH_SHARED" ] || exit 0
if [ "${1:-}" = all ]; then
	rm -rf "$ETCH_SHARED"
	say "Folder $ETCH_SHARED removed."
	exit 0
fi
# The folder of another base than the first has its sources, too.
for made in "$ETCH_SHARED"/* "$ETCH_SHARED"/[0-9]*.*[0-9]/*; do
	case ${made##*/} in
	linux-pristine*|linux-dev*|apt|apt-next|qemu|root|tarballs|[0-9]*.*[0-9])	;;
	*)	rm -rf "$made" ;;
	esac
done
say "Builds removed; the kernel source stays (make distclean removes all)."
