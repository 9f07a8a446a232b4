#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# root.sh DIR: make DIR the root of a bare Debian 12, with git and make. Its packages
# come from where this machine's apt gets them, proxies included; nothing else of this
# machine goes in, but how names are resolved. dpkg does not wait for the disk: after a
# power failure such a root is made anew.
set -euo pipefail
. "$(dirname "$0")/../../lib/common.sh"

ROOT=$1
PACKAGES=ca-certificates,git,make
KEY=/usr/share/keyrings/debian-archive-keyring.gpg

# The archives that this machine knows. A machine that is no Debian 12 knows none, and
# mmdebstrap takes Debian's own.
sources()
{
	"$ETCH_TOP/scripts/lab/apt-private.sh" archives 2> /dev/null |
		sed "s|.*|deb [signed-by=$KEY] & main|"
}

# The options of this machine's apt that tell how to reach them.
options()
{
	apt-config dump --format '%F "%v";%n' |
		grep -E '^Acquire::(https?::Proxy|Check-Date|Check-Valid-Until|ForceIPv[46]|Retries)\b' |
		grep -v ' "";$' || true
	[ -z "${http_proxy:-}" ] || echo "Acquire::http::Proxy \"$http_proxy\";"
	[ -z "${https_proxy:-}" ] || echo "Acquire::https::Proxy \"$https_proxy\";"
}

install_mmdebstrap()
{
	local install=(apt-get install -y --no-install-recommends mmdebstrap)

	"${install[@]}" && return
	apt-get update && "${install[@]}"
}

make_root()
{
	local from=()

	command -v mmdebstrap || install_mmdebstrap || return
	sources > "$ROOT.list" || true
	options > "$ROOT.options"
	[ ! -s "$ROOT.list" ] || from=("$ROOT.list")
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin mmdebstrap --mode=root --variant=minbase \
		--include="$PACKAGES" --aptopt="$ROOT.options" --dpkgopt=force-unsafe-io \
		bookworm "$ROOT" "${from[@]}" || return
	[ ! -f /etc/hosts ] || cp -L /etc/hosts "$ROOT/etc/hosts"
	cp -L /etc/resolv.conf "$ROOT/etc/resolv.conf"
}

mkdir -p "$(dirname "$ROOT")"
step "Bare Debian 12 made in $ROOT" quietly "$ROOT.log" make_root
