#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What is needed before anything can be built: the tools, and a pristine
# kernel source in build/linux-pristine. KDIR=/path takes a tree of the user's
# (copied, never written to) instead of Debian's package.
#
# fetch.sh arm64: in addition the compiler for that architecture, and QEMU for its programs.
# fetch.sh arm64-guest: in addition to that the programs of such a guest, in build/root.
# fetch.sh bench: in addition what draws the benchmarks' pictures.
# fetch.sh clang: in addition that compiler, and what belongs to it.
# fetch.sh ctf: in addition what reads binary traces.
# fetch.sh fuzz: in addition the compiler that has libFuzzer.
# fetch.sh headers: in addition the compilers for other architectures.
# fetch.sh lint: in addition what looks at sources.
# fetch.sh model: in addition the model checker.
# fetch.sh litmus: in addition what builds and runs arm64 programs.
set -euo pipefail
. "$(dirname "$0")/lib/common.sh"

ARCHIVE=/usr/src/linux-source-6.12.tar.xz

# "command package": the command that tells whether the package is there.
TOOLS="
gcc		gcc
make		make
flex		flex
bison		bison
bc		bc
cpio		cpio
kmod		kmod
xz		xz-utils
perl		perl
python3		python3
git		git
rsync		rsync
ccache		ccache
quilt		quilt
patch		patch
"

# Files that tell of packages without a command.
FILES="
/bin/busybox			busybox-static
/usr/include/stdio.h		libc6-dev
/usr/include/gelf.h		libelf-dev
/usr/include/openssl/evp.h	libssl-dev
/usr/include/traceevent/event-parse.h	libtraceevent-dev
$ARCHIVE	linux-source-6.12
"

case ${1:-} in
arm64*)	FILES+="/usr/aarch64-linux-gnu/lib/libc.a	libc6-dev-arm64-cross"
	TOOLS+="
aarch64-linux-gnu-gcc	gcc-aarch64-linux-gnu
qemu-aarch64-static	qemu-user-static
" ;;
bench)	TOOLS+="gnuplot	gnuplot-nox" ;;
clang)	TOOLS+="
clang		clang
ld.lld		lld
llvm-objcopy	llvm
" ;;
ctf)	TOOLS+="babeltrace2	babeltrace2"
	FILES+="/usr/lib/python3/dist-packages/bt2/__init__.py	python3-bt2" ;;
fuzz)	TOOLS+="clang-14	clang-14"
	FILES+="/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.fuzzer-x86_64.a	libclang-rt-14-dev" ;;
headers)	TOOLS+="
aarch64-linux-gnu-gcc		gcc-aarch64-linux-gnu
powerpc64le-linux-gnu-gcc	gcc-powerpc64le-linux-gnu
riscv64-linux-gnu-gcc		gcc-riscv64-linux-gnu
pahole				pahole
" ;;
lint)	TOOLS+="
codespell	codespell
pyflakes3	pyflakes3
shellcheck	shellcheck
sparse		sparse
spatch		coccinelle
ocamlopt	ocaml-nox
" ;;
model)	TOOLS+="spin	spin" ;;
litmus)	TOOLS+="aarch64-linux-gnu-gcc	gcc-aarch64-linux-gnu
qemu-aarch64-static	qemu-user-static"
	FILES+="/usr/aarch64-linux-gnu/include/stdio.h	libc6-dev-arm64-cross" ;;
esac

missing_packages()
{
	local what package

	while read -r what package; do
		[ -z "$what" ] || command -v "$what" > /dev/null || echo "$package"
	done <<< "$TOOLS"
	while read -r what package; do
		[ -z "$what" ] || [ -e "$what" ] || echo "$package"
	done <<< "$FILES"
	dpkg-query -W -f '${Package}' busybox-static > /dev/null 2>&1 ||
		echo busybox-static
}

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

install_packages()
{
	local wanted=("$@")
	local command="apt-get install -y --no-install-recommends ${wanted[*]}"

	if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2> /dev/null; then
		die "missing: ${wanted[*]}. As root: $command"
	fi
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive as_root $command && return
	# The lists may be too old, or have never been fetched.
	as_root apt-get update
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive as_root $command
}

tools()
{
	local missing

	mapfile -t missing < <(missing_packages | sort -u)
	[ -z "${KDIR:-}" ] || mapfile -t missing < <(
		printf '%s\n' "${missing[@]}" | grep -v '^linux-source')
	[ -n "${missing[*]}" ] || return 0
	step "Packages installed: ${missing[*]}" \
		quietly "$ETCH_BUILD/log/apt.log" install_packages "${missing[@]}"
}

# What the pristine tree was made from; another origin makes it anew.
origin()
{
	if [ -n "${KDIR:-}" ]; then
		echo "tree $(realpath "$KDIR")"
	else
		echo "package $(stat -L -c '%s %Y' "$ARCHIVE")"
	fi
}

unpack()
{
	local fresh=$ETCH_PRISTINE.new

	rm -rf "$fresh"
	mkdir -p "$fresh"
	if [ -n "${KDIR:-}" ]; then
		rsync -a --exclude=/.git --exclude=/.pc "$KDIR/" "$fresh/"
	else
		tar -C "$fresh" --strip-components=1 -xf "$ARCHIVE"
	fi
	rm -rf "$ETCH_PRISTINE" "$ETCH_LINUX"
	mv "$fresh" "$ETCH_PRISTINE"
	origin > "$ETCH_BUILD/linux-pristine.origin"
}

# build/linux shares its files with the pristine tree; whoever changes one
# there puts a new file in its place (see lib/tree.py).
clone()
{
	rm -rf "$ETCH_LINUX.new"
	cp -al "$ETCH_PRISTINE" "$ETCH_LINUX.new"
	mv "$ETCH_LINUX.new" "$ETCH_LINUX"
}

source_tree()
{
	if [ "$(cat "$ETCH_BUILD/linux-pristine.origin" 2>/dev/null)" != "$(origin)" ]; then
		step "Kernel source unpacked from ${KDIR:-$ARCHIVE}" unpack
	fi
	[ -d "$ETCH_LINUX" ] || clone
}

# What guests of another architecture have of Debian, and what their tests are linked
# with: busybox and bash need no library, and libtraceevent is one.
guest_programs()
{
	local arch=$1 root=$ETCH_BUILD/root/$1

	[ ! -e "$root" ] || return 0
	rm -rf "$root.new"
	quietly "$ETCH_BUILD/log/root-$arch.log" \
		"$ETCH_TOP/scripts/apt-private.sh" foreign "$arch" "$root.new" \
		busybox-static bash-static libtraceevent-dev
	mv "$root.new" "$root"
	say "Programs of an $arch guest unpacked"
}

if [ -n "${KDIR:-}" ] && [ -n "$(ls -A "$KDIR/kernel/etch" 2>/dev/null)" ]; then
	die "$KDIR already holds Etch: KDIR must be a tree without it"
fi
mkdir -p "$ETCH_BUILD/log"
tools
source_tree
case ${1:-} in
*-guest)	guest_programs "${1%-guest}" ;;
esac
