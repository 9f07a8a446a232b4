#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build.sh LANE: configure and build the lane's kernel and modules from
# build/linux, out of tree, in build/LANE, unless nothing has changed since it was
# built there. For comparisons: WITHOUT="etch" leaves a fragment out, MORE="name" adds
# one, OUT=DIR builds elsewhere, SOURCE=DIR takes another tree, say
# build/linux-pristine, M=DIR builds the modules in DIR against that kernel, too, and
# ONLY="target" makes that alone.
# The Makefile does not pass on variables of these names.
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

LANE=${1:-um}
[ -f "$ETCH_TOP/scripts/lab/lanes/$LANE" ] ||
	die "there is no lane $LANE; there are:" \
		"$(cd "$ETCH_TOP/scripts/lab/lanes" && echo *)"
CROSS=
COMPILER=gcc
# shellcheck source=/dev/null
. "$ETCH_TOP/scripts/lab/lanes/$LANE"

OUT=${OUT:-$ETCH_BUILD/$LANE}
SOURCE=${SOURCE:-$ETCH_LINUX}
LOG=$ETCH_BUILD/log/build-${OUT##*/}.log
JOBS=${JOBS:-$(nproc)}
MAKE=(make -C "$SOURCE" O="$OUT" ARCH="$KARCH" CROSS_COMPILE="$CROSS"
	CC="ccache $CROSS$COMPILER")
# The linker and the like come with clang.
[ "$COMPILER" != clang ] || MAKE+=(LLVM=1)

# The same input gives the same kernel, and a warm compiler cache, for any user, at any
# time, and in any folder.
export KBUILD_BUILD_TIMESTAMP='Fri Nov  1 00:00:00 UTC 2024'
export KBUILD_BUILD_USER=etch KBUILD_BUILD_HOST=etch
export CCACHE_BASEDIR=$ETCH_BUILD CCACHE_NOHASHDIR=1
export CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-10G}
# What a file is made from is what the compiler says that it read: no file is
# preprocessed twice.
export CCACHE_DEPEND=1

fragments()
{
	local name

	for name in $FRAGMENTS ${MORE:-}; do
		[[ " ${WITHOUT:-} " == *" $name "* ]] ||
			echo "$ETCH_TOP/scripts/lab/config/$name.config"
	done
}

kmake()
{
	"${MAKE[@]}" -s "$@"
}

# What the configuration was made from: anew when it changes.
wishes()
{
	echo "base $BASE"
	fragments | xargs cat
}

# allnoconfig and allmodconfig take the fragments with them; a defconfig has them
# put on top.
configure_anew()
{
	case $BASE in
	all*)	KCONFIG_ALLCONFIG=$OUT/wishes.new kmake "$BASE" ;;
	*)	kmake "$BASE" || return
		cat "$OUT/wishes.new" >> "$OUT/.config" ;;
	esac
}

configure()
{
	wishes > "$OUT/wishes.new" || return
	if ! cmp -s "$OUT/wishes.new" "$OUT/wishes" || [ ! -f "$OUT/.config" ]; then
		quietly "$LOG" configure_anew || return
		# Now there is a configuration that was made from them.
		mv "$OUT/wishes.new" "$OUT/wishes" || return
	fi
	quietly "$LOG" kmake olddefconfig || return
	check_wishes
}

# A wish that was not granted is an error. A tree that is not ours may lack what
# the series adds.
check_wishes()
{
	fragments | xargs python3 "$ETCH_TOP/scripts/lib/kconfig.py" \
		"$OUT/.config" && return
	[ "$SOURCE" != "$ETCH_LINUX" ] || return 1
	warn "going on without: $SOURCE has not got what the series adds"
}

# One line about a build under way: seconds so far, files made.
progress()
{
	printf '%d:%02d  %d files built' $(($1 / 60)) $(($1 % 60)) \
		"$(grep -cE '^ +(CC|AS|LD|AR|HOSTCC)' "$LOG")"
}

# Follow the build: a line that changes on a terminal, one in 30 s elsewhere.
watch_build()
{
	local pid=$1 start

	start=$(now)
	while kill -0 "$pid" 2> /dev/null; do
		if [ -t 1 ]; then
			sleep 1
			printf '\r    %s ' "$(progress $(($(now) - start)))"
			continue
		fi
		# One process waits. A new one each second would take time from the compiler.
		timeout 30 tail --pid="$pid" -f /dev/null &
		wait $! || echo "    $(progress $(($(now) - start)))"
	done
	[ ! -t 1 ] || printf '\r\033[K'
}

compile()
{
	local pid rc=0

	# shellcheck disable=SC2086
	"${MAKE[@]}" -j"$JOBS" ${ONLY:-$TARGETS} > "$LOG" 2>&1 < /dev/null &
	pid=$!
	trap 'kill $pid 2> /dev/null' INT TERM
	watch_build $pid
	wait $pid || rc=$?
	if [ $rc -ne 0 ]; then
		grep -E -B2 -A12 'error:|Error [0-9]|undefined reference' "$LOG" |
			tail -n 40 >&2
		warn "the whole output is in $LOG"
	fi
	return $rc
}

# Our files in the tree that is built, each as the compiler's messages end it.
our_files()
{
	sed -n '/etch\|immediate/s|.*|/&:|p' "$SOURCE/.etch-overlay" 2> /dev/null
}

# A warning of the compiler about files of ours is an error. This function touches those
# files, because the next build would otherwise not compile them, and not warn again.
no_warnings()
{
	local warned file

	warned=$(grep '^[^ ]*: warning:' "$LOG" | grep -F -f <(our_files)) || return 0
	echo "$warned" >&2
	while read -r file; do
		[[ "$warned" != *"$file"* ]] || touch "$SOURCE${file%:}"
	done < <(our_files)
	die "the compiler warned about files of the series (above)"
}

# The recorder of binary traces, for the guest's machine. It is linked statically, so that it
# needs nothing of a guest.
recorder()
{
	local to=$OUT/tools/tracing/etch

	mkdir -p "$to" || return
	make -C "$SOURCE/tools/tracing/etch" O="$to" CROSS_COMPILE="$CROSS" CC="ccache ${CROSS}gcc" \
		LDFLAGS=-static
}

# All that decides what is built, but for the files of the source.
inputs()
{
	echo "${MAKE[*]} $TARGETS"
	"$CROSS$COMPILER" --version
	env | grep -E '^(K|HOST)' | sort
	wishes
	cat "$OUT/.config"
}

# Has nothing changed since the last build? kbuild finds that out, too, but takes half a
# minute of a processor, and many lanes have the same kernel. A file that is gone, or has an
# older one in its place, shows in the time of its folder.
as_built()
{
	[ -z "${ONLY:-}" ] && [ -f "$OUT/built" ] && [ -f "$OUT/$IMAGE" ] &&
		inputs | cmp -s - "$OUT/built" &&
		[ -z "$(find "$SOURCE" -newer "$OUT/built" -print -quit)" ]
}

build()
{
	local status=0

	rm -f "$OUT/built"
	touch "$OUT/begun"
	step "Kernel of lane $LANE configured" configure
	step "Kernel of lane $LANE built" compile || status=$?
	no_warnings
	[ $status -eq 0 ] || exit $status
	[ -z "${ONLY:-}" ] || return 0
	# The time is that of the begin: a file that changed while the compiler ran is newer.
	inputs > "$OUT/built"
	touch -r "$OUT/begun" "$OUT/built"
}

alone "$OUT/lock" "Another build of ${OUT##*/}"
if as_built; then
	say "Kernel of lane $LANE: nothing has changed since it was built."
else
	build
fi
[ ! -d "$SOURCE/tools/tracing/etch" ] ||
	! grep -q '^CONFIG_ETCH_CTF=y' "$OUT/.config" ||
	step "Recorder built for ${OUT##*/}" quietly "$LOG.recorder" recorder
[ -z "${M:-}" ] || step "Modules built in ${M##*/}" quietly "$LOG.modules" \
	kmake M="$M" modules
