#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests.sh DIR: build the kselftests of Etch, statically linked, and
# install them with the kernel's runner in DIR.
set -euo pipefail
. "$(dirname "$0")/lib/common.sh"

DIR=$(realpath -m "$1")
OUT=$ETCH_BUILD/selftests

# What the kernel tells user space: the layout of packets, for one.
headers()
{
	make -C "$ETCH_LINUX" O="$OUT" ARCH=x86_64 headers
}

install_tests()
{
	make -C "$ETCH_LINUX/tools/testing/selftests" O="$OUT" ARCH=x86_64 \
		TARGETS=etch FORCE_TARGETS=1 USERLDFLAGS=-static \
		INSTALL_PATH="$DIR" KSFT_INSTALL_PATH="$DIR" install
}

rm -rf "$DIR"
mkdir -p "$OUT" "$DIR"
quietly "$ETCH_BUILD/log/headers.log" headers
quietly "$ETCH_BUILD/log/selftests.log" install_tests
[ -s "$DIR/kselftest-list.txt" ] || die "no kselftest was installed"
