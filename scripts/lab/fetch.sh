#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Fetches the things that a build needs: the tools, and a pristine kernel source
# in build/linux-pristine: Debian's package of sources, or for a base that has none upstream's
# tarball. KDIR=/path takes a tree of the user's (copied, never written to) instead. A call
# that finds a file of that tree changed copies it again. Where it finds no tarball of upstream's,
# its exit status is 3.
#
# fetch.sh arm64: in addition the compiler for that architecture, and QEMU for its programs.
# fetch.sh arm64-guest: in addition to that the programs of such a guest, in build/root.
# fetch.sh bench: in addition what draws the benchmarks' pictures, and the recorder of others.
# fetch.sh clang: in addition that compiler, and what belongs to it.
# fetch.sh ctf: in addition what reads binary traces.
# fetch.sh export: in addition what reads the files that etch export writes.
# fetch.sh export-long: in addition to that KernelShark, LTTng, npm, and other shells.
# fetch.sh docs: in addition what makes pages of the documentation.
# fetch.sh fuzz: in addition the compiler that has libFuzzer.
# fetch.sh headers: in addition the compilers for other architectures.
# fetch.sh lint: in addition what looks at sources.
# fetch.sh model: in addition the model checker.
# fetch.sh probes: in addition what makes and reads debug information.
# fetch.sh tool: in addition the libraries of the tool for this machine.
# fetch.sh user: in addition the compiler for events of programs in C++.
# fetch.sh view: in addition a browser, and what drives it.
# fetch.sh litmus: in addition what builds and runs arm64 programs.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

# "" until upstream's tarball was looked for.
ARCHIVE=${ETCH_ARCHIVE:-${ETCH_PACKAGE:+/usr/src/$ETCH_PACKAGE.tar.xz}}

# What a tree of the user's holds beside its sources. Where it was configured, "make
# O=" would refuse the copy, for whatever architecture that was.
MADE=('*.o' '*.ko' '*.a' '*.cmd' '*.mod' '*.mod.c')
CONFIGURED=(/.git /.pc /.config /include/config /include/generated
	'/arch/*/include/generated')

# The exit status where there is no source.
NO_SOURCE=3

# Gigabytes: the source and make run; make check; make check-long.
ROOM=(3 6 15)

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
"
[ -z "$ETCH_PACKAGE" ] || FILES+="$ARCHIVE	$ETCH_PACKAGE
"

case ${1:-} in
arm64*)	FILES+="/usr/aarch64-linux-gnu/lib/libc.a	libc6-dev-arm64-cross"
	TOOLS+="
aarch64-linux-gnu-gcc	gcc-aarch64-linux-gnu
qemu-aarch64-static	qemu-user-static
" ;;
bench)	TOOLS+="
gnuplot		gnuplot-nox
trace-cmd	trace-cmd
" ;;
clang)	TOOLS+="
clang		clang
ld.lld		lld
llvm-objcopy	llvm
" ;;
ctf)	TOOLS+="babeltrace2	babeltrace2"
	FILES+="/usr/lib/python3/dist-packages/bt2/__init__.py	python3-bt2" ;;
export|export-long) TOOLS+="
babeltrace2	babeltrace2
perf		linux-perf
pkg-config	pkg-config
protoc		protobuf-compiler
sqlite3		sqlite3
trace-cmd	trace-cmd
xmllint		libxml2-utils
"
	FILES+="
/usr/lib/python3/dist-packages/bt2/__init__.py	python3-bt2
/usr/include/babeltrace2/babeltrace.h	libbabeltrace2-dev
/usr/include/sqlite3.h	libsqlite3-dev
/usr/include/zlib.h	zlib1g-dev
" ;;&
export-long) TOOLS+="
Xvfb		xvfb
fish		fish
import		imagemagick
kernelshark	kernelshark
lttng		lttng-tools
node		nodejs
npm		npm
xdotool		xdotool
zsh		zsh
"
	FILES+="
/usr/include/lttng/tracef.h	liblttng-ust-dev
" ;;
docs)	TOOLS+="sphinx-build	python3-sphinx" ;;
fuzz)	TOOLS+="clang-14	clang-14"
	FILES+="/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.fuzzer-x86_64.a	libclang-rt-14-dev" ;;
harness)	TOOLS+="
g++		g++
pkg-config	pkg-config
" ;;
headers)	TOOLS+="
aarch64-linux-gnu-gcc		gcc-aarch64-linux-gnu
powerpc64le-linux-gnu-gcc	gcc-powerpc64le-linux-gnu
riscv64-linux-gnu-gcc		gcc-riscv64-linux-gnu
pahole				pahole
" ;;
lint)	TOOLS+="
aarch64-linux-gnu-gcc	gcc-aarch64-linux-gnu
codespell	codespell
pyflakes3	pyflakes3
shellcheck	shellcheck
sparse		sparse
spatch		coccinelle
ocamlopt	ocaml-nox
"
	# spatch loads Python's library for every rule. Where the compiler for arm64 has no C
	# library, that kernel has no sample that is a program.
	FILES+="
/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0	libpython3.11
/usr/aarch64-linux-gnu/lib/libc.a		libc6-dev-arm64-cross
" ;;
model)	TOOLS+="spin	spin
		tcc	tcc" ;;
probes)	TOOLS+="
pahole	pahole
perf	linux-perf
" ;;
tool)	TOOLS+="pkg-config	pkg-config"
	FILES+="
/usr/include/babeltrace2/babeltrace.h	libbabeltrace2-dev
/usr/include/sqlite3.h	libsqlite3-dev
/usr/include/zlib.h	zlib1g-dev
" ;;
user)	TOOLS+="g++	g++" ;;
view)	TOOLS+="
babeltrace2	babeltrace2
chromium	chromium
node		nodejs
npm		npm
" ;;
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

# What a package starts and leaves running does not keep our lock.
as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@" 9>&-
	else
		sudo -n "$@" 9>&-
	fi
}

INSTALL=(apt-get install -y --no-install-recommends)

install_packages()
{
	local command=(env DEBIAN_FRONTEND=noninteractive "${INSTALL[@]}" "$@")

	as_root "${command[@]}" && return
	# The lists may be too old, or have never been fetched.
	as_root apt-get update
	as_root "${command[@]}"
}

tools()
{
	local missing

	mapfile -t missing < <(missing_packages | sort -u)
	[ -z "${KDIR:-}" ] || mapfile -t missing < <(
		printf '%s\n' "${missing[@]}" | grep -v '^linux-source')
	[ -n "${missing[*]}" ] || return 0
	if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2> /dev/null; then
		die "missing: ${missing[*]}. As root: ${INSTALL[*]} ${missing[*]}"
	fi
	step "Packages installed: ${missing[*]}" \
		quietly "$ETCH_BUILD/log/apt.log" install_packages "${missing[@]}"
}

# A tree that cannot be the base is refused before anything of ours is removed.
check_kdir()
{
	local found

	[ -f "$KDIR/Makefile" ] ||
		die "$KDIR holds no Makefile: KDIR must be a Linux $ETCH_BASE.y tree"
	found=$(head -n 10 "$KDIR/Makefile" |
		sed -n 's/^\(VERSION\|PATCHLEVEL\) = //p' | paste -sd .)
	[ "$found" = "$ETCH_BASE" ] ||
		die "$KDIR is not Linux $ETCH_BASE.y${found:+ but $found}: KDIR must be"
	[ -z "$(ls -A "$KDIR/kernel/etch" 2> /dev/null)" ] ||
		die "$KDIR already holds Etch: KDIR must be a tree without it"
}

# A sum that changes when a file of the user's tree does.
listing()
{
	local names=() name

	for name in .git .pc "${MADE[@]}"; do
		names+=(-o -name "$name")
	done
	(cd "$KDIR" && find . \( "${names[@]:1}" \) -prune -o -type f -printf '%P %s %T@\n') |
		LC_ALL=C sort | sha256sum | cut -c1-16
}

# What the pristine tree was made from; another origin makes it anew.
origin()
{
	if [ -n "${KDIR:-}" ]; then
		echo "tree $(realpath "$KDIR") $(listing)"
	else
		stat -L -c "$([ -n "$ETCH_PACKAGE" ] && echo package || echo tarball) %s %Y" "$ARCHIVE"
	fi
}

# Checks that there is room for the source and its kernels, before anything is unpacked.
check_room()
{
	local free

	free=$(df -P -k "$ETCH_BUILD" | awk 'NR == 2 { print int($4 / 1024 / 1024) }')
	[ "$free" -ge "${ROOM[0]}" ] ||
		die "$free GB are free for $ETCH_BUILD; source and first kernel take" \
			"${ROOM[0]} GB. ETCH_BUILD=/path has it elsewhere"
	[ "$free" -ge "${ROOM[2]}" ] ||
		say "$free GB are free for $ETCH_BUILD: make check takes ${ROOM[1]} in all," \
			"make check-long ${ROOM[2]}."
}

# The user's tree without the files that a build made in it. A file that equals the one of
# the last copy stays the same file, with its time: so little is built anew.
copy_tree()
{
	local options=() name

	for name in "${MADE[@]}" "${CONFIGURED[@]}"; do
		options+=(--exclude="$name")
	done
	[ ! -d "$ETCH_PRISTINE" ] || options+=(--link-dest="$ETCH_PRISTINE")
	rsync -rlp --checksum "${options[@]}" "$KDIR/" "$1/" || return
	make -s -C "$1" mrproper
}

# Sources get the time of now (tar -m): they are newer than any object that was built
# from others before.
unpack()
{
	local from=$1 fresh=$ETCH_PRISTINE.new

	rm -rf "$fresh"
	mkdir -p "$fresh" || return
	if [ -n "${KDIR:-}" ]; then
		copy_tree "$fresh" || return
	else
		tar -C "$fresh" --strip-components=1 -m -xf "$ARCHIVE" || return
	fi
	# linux-pristine.origin is written last, so that an interrupted call is done again.
	rm -f "$ETCH_BUILD/linux-pristine.origin"
	rm -rf "$ETCH_PRISTINE"
	mv "$fresh" "$ETCH_PRISTINE" || return
	clone || return
	# Copies of the source before; lib/tree.py makes them anew.
	rm -rf "$ETCH_BUILD/linux-um" "$ETCH_BUILD/bisect/linux"
	echo "$from" > "$ETCH_BUILD/linux-pristine.origin"
}

# build/linux shares its files with the pristine tree; a script that changes one there
# puts a new file in its place (see lib/tree.py). The files that the series had put there
# are copied too, so that unchanged ones keep their times.
clone()
{
	local note=$ETCH_LINUX/.etch-overlay new=$ETCH_LINUX.new

	rm -rf "$new"
	cp -al "$ETCH_PRISTINE" "$new" || return
	if [ -f "$note" ]; then
		rsync -a --ignore-missing-args --files-from="$note" "$ETCH_LINUX/" "$new/" || return
		cp "$note" "$new/" || return
	fi
	rm -rf "$ETCH_LINUX"
	mv "$new" "$ETCH_LINUX"
}

# Upstream's tarball, where Debian has no package of this base's sources.
find_archive()
{
	[ -z "$ARCHIVE$KDIR" ] || return 0
	ARCHIVE=$("$ETCH_TOP/scripts/lab/tarball.sh") && return
	warn "error: Debian's archive gives no source of Linux $ETCH_BASE.y (above). With" \
		"KDIR=/path/to/linux, a tree of yours of that version takes its place"
	exit "$NO_SOURCE"
}

source_tree()
{
	local from

	# The origin is taken before the tree is read, so that the next call copies files
	# that are edited meanwhile.
	from=$(origin)
	if [ ! -d "$ETCH_PRISTINE" ] ||
			[ "$(cat "$ETCH_BUILD/linux-pristine.origin" 2> /dev/null)" != "$from" ]; then
		check_room
		step "Kernel source made from ${KDIR:-$ARCHIVE}" \
			quietly "$ETCH_BUILD/log/source.log" unpack "$from"
		[ ! -d "$ETCH_DEV" ] ||
			warn "$ETCH_DEV still has the source before: see make dev"
	fi
	[ -d "$ETCH_LINUX" ] || clone
}

# What guests of another architecture have of Debian, and what their tests are linked
# with: busybox and bash need no library, and libtraceevent is one.
guest_programs()
{
	local arch=$1 root=$ETCH_SHARED/root/$1

	[ ! -e "$root" ] || return 0
	rm -rf "$root.new"
	quietly "$ETCH_BUILD/log/root-$arch.log" \
		"$ETCH_TOP/scripts/lab/apt-private.sh" foreign "$arch" "$root.new" \
		busybox-static bash-static libtraceevent-dev
	mv "$root.new" "$root"
	say "Programs of an $arch guest unpacked"
}

# Lanes of any priority wait for the lock of this script, so it has the usual priority while it
# runs: as a process, which only root may give it, and as a session (scripts/lib/priority.py).
usual_priority()
{
	local file=/proc/self/autogroup nice

	[ "$(id -u)" -ne 0 ] || renice --priority 0 $$ > /dev/null
	nice=$(sed 's/.* //' $file 2> /dev/null) || return 0
	[ "${nice:-0}" -gt 0 ] || return 0
	# shellcheck disable=SC2064	# the value of now
	trap "echo $nice > $file" EXIT
	echo 0 > $file
}

KDIR=${KDIR:-}
[ -z "$KDIR" ] || check_kdir
mkdir -p "$ETCH_BUILD/log"
alone "$ETCH_BUILD/lock" "Another make"
usual_priority
tools
find_archive
source_tree
case ${1:-} in
*-guest)	guest_programs "${1%-guest}" ;;
esac
