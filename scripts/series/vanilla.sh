#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# vanilla.sh PATH...: these files of upstream's own 6.12.y, below
# build/vanilla/tree. They come from the orig tarball of Debian's source
# package, which holds upstream's release without Debian's patches; of the next
# release's, whose kernel is that series.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

DIR=$ETCH_BUILD/vanilla

tarball()
{
	find "$DIR" -maxdepth 1 -name 'linux*.orig.tar.xz' | sort -V | tail -n 1
}

# A tarball that is not whole gets no name under which tarball() would find it.
download()
{
	rm -rf "$DIR/new"
	mkdir -p "$DIR/new" || return
	cd "$DIR/new" || return
	"$ETCH_TOP/scripts/lab/apt-private.sh" orig linux 6.12 || return
	if ! xz -t linux*.orig.tar.xz; then
		warn "error: what apt fetched is not a whole tarball"
		return 1
	fi
	mv linux*.orig.tar.xz "$DIR"
}

# Files that upstream lacks are not an error: the series adds them. Any other message of
# tar is one, and then this function removes the tarball.
extract()
{
	local archive=$1 top said
	shift

	rm -rf "$DIR/tree" "$DIR/tree.paths"
	mkdir -p "$DIR/tree"
	top=$(tar -tf "$archive" 2> /dev/null | sed -n '1s|/.*||p;1q') || true
	said=$(LC_ALL=C tar -C "$DIR/tree" --strip-components=1 -xf "$archive" \
		"${@/#/$top/}" "$top/Makefile" 2>&1 |
		grep -v ': Not found in archive$\|^tar: Exiting with failure') || true
	if [ -n "$said" ] || [ ! -f "$DIR/tree/Makefile" ]; then
		rm -f "$archive"
		die "$archive could not be read, and was removed: ${said%%$'\n'*}"
	fi
	printf '%s\n' "$@" > "$DIR/tree.paths"
}

mkdir -p "$DIR"
if [ -z "$(tarball)" ]; then
	quietly "$ETCH_BUILD/log/vanilla.log" download >&2 || exit 1
fi
printf '%s\n' "$@" | cmp -s - "$DIR/tree.paths" || extract "$(tarball)" "$@"
