#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests.sh DIR [LANE]: build the kselftests of Etch, statically linked, for
# LANE's machine, or else for this one, and install them with the kernel's runner
# in DIR.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

DIR=$(realpath -m "$1")
LANE=${2:-x86-64}
GUEST='' CROSS=''
# shellcheck source=/dev/null
. "$ETCH_TOP/scripts/lab/lanes/$LANE"

OUT=$ETCH_BUILD/selftests${GUEST:+-$GUEST}
# User-mode Linux runs this machine's programs.
[ "$KARCH" != um ] || KARCH=x86_64
ROOT=$ETCH_SHARED/root/$GUEST
LDFLAGS=-static
if [ -n "$GUEST" ]; then
	export CPATH=$ROOT/usr/include
	LDFLAGS+=" -L$ROOT/usr/lib/${CROSS%-}"
fi

# What the kernel tells user space: the layout of packets, for one.
headers()
{
	make -C "$ETCH_LINUX" O="$OUT" ARCH="$KARCH" headers
}

install_tests()
{
	make -C "$ETCH_LINUX/tools/testing/selftests" O="$OUT" ARCH="$KARCH" \
		CROSS_COMPILE="$CROSS" \
		TARGETS=etch FORCE_TARGETS=1 USERLDFLAGS="$LDFLAGS" USERCFLAGS=-Werror \
		INSTALL_PATH="$DIR" KSFT_INSTALL_PATH="$DIR" install
}

# What perf makes of debug information, for the test of probes at lines: of the test itself, and
# of a kernel that has such information.
lines()
{
	local kernel=$ETCH_BUILD/$LANE

	cd "$DIR/etch" || return
	perf probe -x ./probe_lines -D 'walk:8 sum stop->number name=stop->name:string' \
		> probe_lines.user || return
	grep -qs '^CONFIG_DEBUG_INFO=y' "$kernel/.config" || return 0
	perf probe -k "$kernel/vmlinux" -s "$ETCH_LINUX" \
		-D 'etch_line=do_sys_openat2:14 how->flags:u64' > probe_lines.kernel
}

rm -rf "$DIR"
mkdir -p "$OUT" "$DIR"
quietly "$ETCH_BUILD/log/headers.log" headers
quietly "$ETCH_BUILD/log/selftests.log" install_tests
[ -s "$DIR/kselftest-list.txt" ] || die "no kselftest was installed"
# The test is skipped where there is no perf, or the machine is another.
[ -n "$GUEST" ] || ! command -v perf > /dev/null ||
	quietly "$ETCH_BUILD/log/lines.log" lines
