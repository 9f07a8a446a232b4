#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# vanilla.sh PATH...: these files of upstream's own 6.12.y, below
# build/vanilla/tree. They come from the orig tarball of Debian's source
# package, which holds upstream's release without Debian's patches; of the next
# release's, whose kernel is that series.
set -euo pipefail
. "$(dirname "$0")/lib/common.sh"

DIR=$ETCH_BUILD/vanilla

tarball()
{
	find "$DIR" -maxdepth 1 -name 'linux*.orig.tar.xz' | sort -V | tail -n 1
}

download()
{
	cd "$DIR"
	"$ETCH_TOP/scripts/apt-private.sh" orig linux 6.12
}

# Files that upstream lacks are not an error: the series adds them.
extract()
{
	local top

	top=$(tar -tf "$1" 2> /dev/null | sed -n '1s|/.*||p;1q') || true
	rm -rf "$DIR/tree"
	mkdir -p "$DIR/tree"
	shift
	tar -C "$DIR/tree" --strip-components=1 -xf "$(tarball)" \
		"${@/#/$top/}" "$top/Makefile" 2> /dev/null || true
	printf '%s\n' "$@" > "$DIR/tree.paths"
	[ -f "$DIR/tree/Makefile" ]
}

mkdir -p "$DIR"
if [ -z "$(tarball)" ]; then
	quietly "$ETCH_BUILD/log/vanilla.log" download >&2 || exit 1
fi
printf '%s\n' "$@" | cmp -s - "$DIR/tree.paths" || extract "$(tarball)" "$@"
