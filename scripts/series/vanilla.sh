#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# vanilla.sh PATH...: these files of upstream's own source of this base, below
# build/vanilla/tree. They come from the tarball that scripts/lab/tarball.sh finds.
# ARCHIVE=FILE takes another one, and DIR=FOLDER is where tree is then.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

DIR=${DIR:-$ETCH_BUILD/vanilla}

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
	printf '%s\n' "$archive" "$@" > "$DIR/tree.paths"
}

archive=${ARCHIVE:-$("$ETCH_TOP/scripts/lab/tarball.sh")}
mkdir -p "$DIR"
printf '%s\n' "$archive" "$@" | cmp -s - "$DIR/tree.paths" || extract "$archive" "$@"
