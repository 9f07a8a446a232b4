#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# newest.sh: print where the newest kernel source is that Debian has packaged, in
# build/tarballs or in the folder that ETCH_CACHE names. It is looked for once a week.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

CACHE=${ETCH_CACHE:-$ETCH_SHARED/tarballs}

tarball()
{
	find "$CACHE" -maxdepth 1 -name 'linux-source-*.tar.xz' "$@" | sort -V | tail -n 1
}

download()
{
	rm -rf "$CACHE/new"
	mkdir -p "$CACHE/new" || return
	"$ETCH_TOP/scripts/lab/apt-private.sh" newest "$CACHE/new" || return
	xz -t "$CACHE"/new/usr/src/linux-source-*.tar.xz || return
	rm -f "$CACHE"/linux-source-*.tar.xz
	mv "$CACHE"/new/usr/src/linux-source-*.tar.xz "$CACHE" || return
	# Its time was the package's.
	touch "$CACHE"/linux-source-*.tar.xz
	rm -rf "$CACHE/new"
}

mkdir -p "$CACHE"
alone "$CACHE/lock" "Another download"
[ -n "$(tarball -mtime -7)" ] || quietly "$ETCH_BUILD/log/newest.log" download >&2 || exit 1
tarball
