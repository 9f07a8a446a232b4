#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tarball.sh: print where the tarball with upstream's source of this base is: without
# Debian's patches, of a release that Debian has packaged. scripts/series/bases has the suite
# whose archive is asked for it, once: the tarball stays in build/tarballs, or in the folder
# that ETCH_CACHE names. Archives drop versions that newer ones replace.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

CACHE=${ETCH_CACHE:-$ETCH_SHARED/tarballs}

tarball()
{
	find "$CACHE" -maxdepth 1 -name "linux_$ETCH_BASE.*.orig.tar.xz" | sort -V | tail -n 1
}

# A tarball that is not whole gets no name under which tarball() would find it.
download()
{
	rm -rf "$CACHE/new"
	mkdir -p "$CACHE/new" || return
	cd "$CACHE/new" || return
	"$ETCH_TOP/scripts/lab/apt-private.sh" orig linux "$ETCH_BASE" "$ETCH_SUITE" || return
	if ! xz -t linux*.orig.tar.xz; then
		warn "error: what apt fetched is not a whole tarball"
		return 1
	fi
	mv linux*.orig.tar.xz "$CACHE"
}

mkdir -p "$CACHE"
alone "$CACHE/lock" "Another download"
[ -n "$(tarball)" ] || quietly "$ETCH_BUILD/log/tarball.log" download >&2 || exit 1
tarball
