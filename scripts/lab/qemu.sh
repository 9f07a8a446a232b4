#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# qemu.sh [ARCH]: make sure that there is a QEMU for x86_64 or aarch64 that can
# be used, and print how to call it: a line with its library path, one with the
# program, then its options, one each.
#
# Debian 12's own QEMU 7.2 often executes stale translations of text that the kernel
# patches while another processor runs: "Oops: int3" in most boots that switch events on
# and off. 10.0 locks a page of code while it translates, which leaves a smaller window
# (Documentation/design-hook.rst, "Under QEMU"); bookworm-backports has it. It is
# unpacked below build/qemu, with what it needs, and not installed.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

ARCH=${1:-x86_64}
PROGRAM=qemu-system-$ARCH
case $ARCH in
x86_64)		PACKAGE=qemu-system-x86 ;;
aarch64)	PACKAGE=qemu-system-arm ;;
*)		die "no QEMU for $ARCH is used here" ;;
esac
ROOT=$ETCH_SHARED/qemu/$ARCH
GOOD=8

major()
{
	"$@" --version 2> /dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p'
}

libraries()
{
	echo "$ROOT/usr/lib/x86_64-linux-gnu:$ROOT/lib/x86_64-linux-gnu"
}

private_major()
{
	LD_LIBRARY_PATH=$(libraries) major "$ROOT/usr/bin/$PROGRAM"
}

unpack()
{
	rm -rf "$ROOT"
	quietly "$ETCH_BUILD/log/qemu.log" \
		"$ETCH_TOP/scripts/lab/apt-private.sh" unpack "$ROOT" "$PACKAGE"
}

describe_private()
{
	libraries
	echo "$ROOT/usr/bin/$PROGRAM"
	printf '%s\n' -L "$ROOT/usr/share/qemu" -L "$ROOT/usr/share/seabios" \
		-accel tcg,thread=multi
}

# $1: thread=multi or thread=single
describe_system()
{
	echo
	command -v "$PROGRAM"
	printf '%s\n' -accel "tcg,$1"
}

alone "$ETCH_SHARED/qemu.lock" "Another start of QEMU"
system=$(major "$PROGRAM" || true)
if [ "${system:-0}" -gt $GOOD ]; then
	describe_system thread=multi
	exit
fi
if [ "$(private_major || echo 0)" -gt $GOOD ] 2> /dev/null ||
		step "QEMU for $ARCH from backports unpacked" unpack >&2; then
	describe_private
	exit
fi
[ -n "$system" ] ||
	die "no QEMU: backports cannot be reached, none is installed." \
		"As root: apt-get install $PACKAGE"
warn "QEMU $system runs patched text wrongly with several threads, and"
warn "backports cannot be reached: ONE THREAD for both processors instead."
describe_system thread=single
