# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What every shell script here shares: where things are, how to speak to the
# user, how a step is timed. Source it as the first line after "set".

# Of the caller's shell: cd would print where it went, and every compiler be clang.
unset CDPATH LLVM

# The repository, and everything that is made. An override of ETCH_BUILD
# keeps the made things of two checkouts apart, or on a faster disk.
ETCH_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
ETCH_BUILD=${ETCH_BUILD:-$ETCH_TOP/build}
ETCH_PATCHES=$ETCH_TOP/patches

# The kernel that all is about, a line of scripts/series/bases. Builds for another than the
# first one are in a folder of their own; ETCH_SHARED is for things that all share.
# ETCH_BUILD_OF says to scripts that are started from here of which base ETCH_BUILD is.
ETCH_SHARED=$ETCH_BUILD
[ -z "${ETCH_BUILD_OF:-}" ] || ETCH_SHARED=${ETCH_BUILD%/"$ETCH_BUILD_OF"}
choose_base()
{
	local version series package suite first='' all=''

	while read -r version series package suite; do
		case $version in
		""|\#*)	continue ;;
		esac
		: "${first:=$version}" "${ETCH_BASE:=$version}"
		all+=" $version"
		[ "$version" = "$ETCH_BASE" ] || continue
		ETCH_SERIES=$ETCH_TOP/$series
		# shellcheck disable=SC2034
		ETCH_PACKAGE=${package#-}
		ETCH_SUITE=$suite
	done < "$ETCH_TOP/scripts/series/bases"
	if [ -z "${ETCH_SUITE:-}" ]; then
		echo "### error: there is no base $ETCH_BASE; scripts/series/bases has:$all" >&2
		exit 1
	fi
	ETCH_BUILD=$ETCH_SHARED ETCH_BUILD_OF=
	[ "$ETCH_BASE" = "$first" ] ||
		ETCH_BUILD=$ETCH_SHARED/$ETCH_BASE ETCH_BUILD_OF=$ETCH_BASE
}
ETCH_SUITE=
choose_base

# The pristine source, and the same with the series on it.
ETCH_PRISTINE=$ETCH_BUILD/linux-pristine
ETCH_LINUX=$ETCH_BUILD/linux
ETCH_DEV=$ETCH_BUILD/linux-dev

# make takes a path with a space for two, and the kernel refuses a colon.
case $ETCH_TOP$ETCH_BUILD in
*[[:space:]:]*)
	echo "### error: there must be no space and no colon in the path of this" \
		"folder, nor in ETCH_BUILD: $ETCH_TOP, $ETCH_BUILD" >&2
	exit 1 ;;
esac

export ETCH_TOP ETCH_BUILD ETCH_BUILD_OF ETCH_BASE ETCH_PATCHES ETCH_SERIES
export ETCH_PRISTINE ETCH_LINUX ETCH_DEV

# One sentence to the user, in the past or present tense, with a mark that
# tells it from the output of tools. Colour on a terminal only.
say()
{
	if [ -t 1 ]; then
		printf '\033[1;34m==>\033[0m %s\n' "$*"
	else
		printf '==> %s\n' "$*"
	fi
}

# A warning that must not be overlooked: the step that failed, and the reason.
warn()
{
	if [ -t 2 ]; then
		printf '\033[1;33m### %s\033[0m\n' "$*" >&2
	else
		printf '### %s\n' "$*" >&2
	fi
}

# An error ends the script: a sentence that says what to do.
die()
{
	warn "error: $*"
	exit 1
}

# seconds since the script (or its caller) began, for "(12 s)"
now()
{
	date +%s
}

# alone FILE WHO: wait until no other script has this lock, and keep it to the end of
# this one, and of the programs that it starts. WHO is who else might have it.
alone()
{
	mkdir -p "$(dirname "$1")"
	exec 9> "$1"
	flock -n 9 && return
	say "$2 is at work in this folder: waiting for its end." >&2
	flock 9
}

# step NAME COMMAND...: run, and say how long it took. The command's status
# is the step's. A function that is called in this way, or by quietly, is not ended
# by "set -e": it has to say "|| return".
step()
{
	local name=$1 start rc=0
	shift
	start=$(now)
	"$@" || rc=$?
	if [ $rc -eq 0 ]; then
		say "$name ($(($(now) - start)) s)"
	else
		warn "$name: failed after $(($(now) - start)) s"
	fi
	return $rc
}

# quietly LOG COMMAND...: run with all output in LOG; on failure show its end.
quietly()
{
	local log=$1 rc=0
	shift
	mkdir -p "$(dirname "$log")"
	"$@" > "$log" 2>&1 || rc=$?
	if [ $rc -ne 0 ]; then
		warn "failed: $*"
		tail -n 30 "$log" >&2
		warn "the whole output is in $log"
	fi
	return $rc
}
