#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# apt with a configuration of its own, under build/apt: it may look at a
# further suite, or at source packages, without touching the system's setting.
# The archive's address is the one that this machine already uses.
#
#   apt-private.sh update             fetch the lists (once a day)
#   apt-private.sh unpack DIR PKG...  packages and what they need, below DIR
#   apt-private.sh orig PKG SERIES [SUITE]  upstream's tarball of a source package in the
#                                     next release, or SUITE, the newest SERIES.y that it has
#   apt-private.sh newest DIR         the newest of Debian's packages of kernel sources in the
#                                     next release's backports, unpacked below DIR
#   apt-private.sh policy PKG...      what versions there are
#   apt-private.sh archives           the archives that are used: "URI CODENAME", one a line
#   apt-private.sh foreign ARCH DIR PKG...  these packages alone, of another architecture
set -euo pipefail
. "$(dirname "$0")/../lib/common.sh"

APT=$ETCH_SHARED/apt
# Another architecture's packages, with lists of their own; "" for this machine's.
FOREIGN=
BACKPORTS=bookworm-backports
NEXT=trixie
# Of packages of sources, or of others.
KIND="deb-src"

# The addresses of Debian's own archives in the system's configuration, each
# with the suite's code name: "URI CODENAME", one a line.
system_archives()
{
	apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(CODENAME)' \
		'Created-By: Packages' 'Component: main' |
	awk '$1 == "Debian" { print $2, $3 }' | sort -u
}

# A machine whose lists were never fetched does not know who made what; then
# the configured files are asked.
configured_archives()
{
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' \
		'Created-By: Packages' 'Component: main' |
	grep 'bookworm' | sort -u
}

archives()
{
	local found

	found=$(system_archives)
	[ -n "$found" ] || found=$(configured_archives)
	[ -n "$found" ] || die "apt knows no Debian archive on this machine"
	echo "$found"
}

write_sources()
{
	local archives key=/usr/share/keyrings/debian-archive-keyring.gpg uri suite

	archives=$(archives) || return
	while read -r uri suite; do
		echo "deb [signed-by=$key] $uri $suite main"
		[ -z "$FOREIGN" ] || continue
		if [ "$suite" = bookworm ]; then
			echo "deb [signed-by=$key] $uri $BACKPORTS main"
		fi
	done <<< "$archives" > "$APT/sources.list"
}

private()
{
	local tool=$1
	shift
	"$tool" -q \
		-o Dir::Etc::sourcelist="$APT/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$APT/lists" \
		-o Dir::Cache="$APT/cache" \
		-o APT::Sandbox::User=root \
		-o Acquire::Retries=2 \
		${FOREIGN:+-o "APT::Architecture=$FOREIGN"} "$@"
}

update()
{
	mkdir -p "$APT/lists/partial" "$APT/cache/archives/partial" || return
	if [ -n "$(find "$APT/updated" -mmin -1440 2>/dev/null)" ]; then
		return
	fi
	write_sources || return
	# By itself apt-get calls lists that could not be fetched a success.
	private apt-get update --error-on=any || return
	touch "$APT/updated"
}

# fails WHAT: end with what could not be done, where, and apt's own words for it.
fails()
{
	die "$1 in $NEXT of $(addresses "$APT/sources.list"):" \
		"$(sed -n 's/^[EW]: //p' "$APT/said" | awk '!seen[$0]++' | paste -sd ' ')"
}

# The addresses in a list of sources.
addresses()
{
	grep -o '[a-z+]*:[^] ]*' "$1" | sort -u | paste -sd ' '
}

# newest DIR: linux-source-VERSION, the newest there is.
newest()
{
	local into=$1 name

	NEXT="$NEXT-backports"
	KIND="deb"
	next_lists
	name=$(private apt-cache --names-only search '^linux-source-[0-9.]*$' |
		cut -d ' ' -f 1 | sort -V | tail -n 1)
	[ -n "$name" ] || die "there is no package of kernel sources in $NEXT"
	extract "$into" "$name"
}

# Lists of the next release's packages, of its sources or of its backports. They are looked for
# by those who want one, in a folder of their own: the lists are large. Its own pool keeps
# upstream's tarballs; that of security updates does not.
next_lists()
{
	local key=/usr/share/keyrings/debian-archive-keyring.gpg uri suite

	APT=$ETCH_SHARED/apt-next/$NEXT-$KIND
	mkdir -p "$APT/lists/partial" "$APT/cache/archives/partial"
	while read -r uri suite; do
		[ "$suite" != bookworm ] ||
			echo "$KIND [signed-by=$key] $uri $NEXT main"
	done < <(system_archives; configured_archives) | sort -u > "$APT/sources.list"
	[ -s "$APT/sources.list" ] || die "apt knows no archive of Debian bookworm on this machine"
	# By itself apt-get calls lists that could not be fetched a success.
	private apt-get update --error-on=any 2>&1 | tee "$APT/said" ||
		fails "there are no lists of packages"
}

# The lists tell of versions that the archive holds no more, or not yet.
orig()
{
	local version versions

	NEXT=${3:-$NEXT}
	next_lists
	versions=$(private apt-cache showsrc "$1" |
		sed -n "s/^Version: \($2\.[^ ]*\)$/\1/p" | sort -urV)
	: > "$APT/said"
	for version in $versions; do
		private apt-get source --download-only --tar-only "$1=$version" 2>&1 |
			tee -a "$APT/said" && return
	done
	[ -n "$versions" ] || echo "E: its lists name no such version" > "$APT/said"
	fails "there is no tarball of $1 $2.y"
}

# What installing these packages would install here, backports preferred:
# "PACKAGE=VERSION", one a line. A simulation: no root, nothing changed.
closure()
{
	private apt-get -s --no-install-recommends -t "$BACKPORTS" install "$@" |
	sed -n 's/^Inst \([^ ]*\) \(\[[^]]*\] \)\{0,1\}(\([^ ]*\) .*/\1=\3/p'
}

# extract DIR PKG...: just these packages, unpacked below DIR.
extract()
{
	local into=$1 debs
	shift
	debs=$(mktemp -d "$APT/debs.XXXXXX")
	(cd "$debs" && private apt-get download "$@")
	mkdir -p "$into"
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$into"
	done
	rm -r "$debs"
}

# unpack DIR PKG...: the packages, and all that they need and this machine
# lacks, unpacked below DIR. Nothing is installed.
unpack()
{
	local into=$1 wanted
	shift
	mapfile -t wanted < <(closure "$@")
	[ ${#wanted[@]} -gt 0 ] || die "apt found nothing to unpack for: $*"
	extract "$into" "${wanted[@]}"
}

# foreign ARCH DIR PKG...: for programs that need nothing, or are only linked with.
foreign()
{
	FOREIGN=$1
	APT+=/$FOREIGN
	shift
	update
	extract "$@"
}

verb=${1:-}
shift || true
case $verb in
update)		update ;;
unpack)		update && unpack "$@" ;;
orig)		orig "$@" ;;
newest)		newest "$@" ;;
policy)		update && private apt-cache policy "$@" ;;
archives)	archives ;;
foreign)	foreign "$@" ;;
*)		sed -n '4,15s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
