#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh [LANE...]: what a user meets in a bare Debian 12, with a clone of this
# repository as it is committed; what CI runs. Two roots are made, for
#
#   - root, who runs the commands of the README: make run, from nothing, make check, or
#     LANE... of it, and others
#   - a user with sudo, who runs make run, and lanes of make check that are quick. What
#     root's compiler made is in the user's cache, for it takes most of the time.
#
# Nothing of this machine is in there, neither packages nor variables, but for its kernel.
# This script has that kernel give huge pages to all processes, as Debian's own kernels do,
# until all ends: compilers take up to a third less time. Where a root cannot be made, root's
# commands run outside, with the machine's packages and variables, and the last lines say so.
# The very last line counts all tests; a session that fails without a count is one failed
# test. TMPDIR=/path has the roots elsewhere than in /tmp; they take up to 8 GB.
set -euo pipefail
. "$(dirname "$0")/../../lib/common.sh"

HERE=$ETCH_TOP/scripts/proof/stranger
QUICK=litmus
COMMANDS="scripts/proof/readme-commands.sh $*"
# The kernel's file that says which processes get huge pages, and what it said before this
# script changed it; empty: it did not.
HUGE_PAGES=${HUGE_PAGES:-/sys/kernel/mm/transparent_hugepage/enabled}
machines_huge_pages=
# Why it runs outside, if it does.
OUTSIDE=
# The process of the session that is under way.
child=

FOLDER=$(mktemp -d "${TMPDIR:-/tmp}/etch-stranger.XXXXXX")
# apt downloads as a user of its own.
chmod 755 "$FOLDER"

clean_up()
{
	if [ -n "$child" ]; then
		# All processes of its namespace end with it, soon afterwards.
		kill -KILL "$child" 2> /dev/null || true
		wait "$child" 2> /dev/null || true
		sleep 1
	fi
	[ -z "$machines_huge_pages" ] || echo "$machines_huge_pages" > "$HUGE_PAGES"
	rm -rf --one-file-system "$FOLDER"
}

huge_pages()
{
	local now

	now=$(sed -n 's/.*\[\(.*\)\].*/\1/p' "$HUGE_PAGES" 2> /dev/null) || return 0
	[ "${now:-always}" != always ] || return 0
	if (echo always > "$HUGE_PAGES") 2> /dev/null; then
		machines_huge_pages=$now
		say "Huge pages for all processes until the end, as in Debian's kernels"
	else
		warn "Huge pages are not for all processes here, and this script may not" \
			"change that: compilers take longer"
	fi
}

# session NAME COMMAND...: run it, and keep its output and status for conclude(). It runs in
# the background, because the shell handles a signal only when it waits in "wait".
session()
{
	local name=$1 rc=0 tee
	shift

	mkfifo "$FOLDER/fifo"
	tee "$FOLDER/$name.out" < "$FOLDER/fifo" &
	tee=$!
	"$@" > "$FOLDER/fifo" 2>&1 < /dev/null &
	child=$!
	wait $child || rc=$?
	child=
	wait $tee
	rm "$FOLDER/fifo"
	echo $rc > "$FOLDER/$name.status"
}

# clone ROOT USER: the user's own, in the home folder.
clone()
{
	local from=$1/srv/etch.git

	git clone --quiet --bare --no-hardlinks "$ETCH_TOP" "$from" || return
	chroot "$1" chown -R "$2": /srv/etch.git || return
	"$HERE/enter.sh" "$1" "$2" "git clone --quiet /srv/etch.git etch"
}

add_user()
{
	local root=$1 user=$2

	"$HERE/enter.sh" "$root" root "apt-get -q update &&
		DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends sudo &&
		useradd --create-home --shell /bin/bash $user &&
		echo '$user ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/$user"
}

# take_cache FROM INTO USER: copy the compiler's cache of root, in one root, to a user of
# the other.
take_cache()
{
	local cache=root/.cache home=home/$3

	[ ! -d "$1/$cache" ] || cp -a "$1/$cache" "$2/$home/.cache"
	chroot "$2" chown -R "$3": "/$home"
}

# In two roots: the first is still bare when the second is copied from it.
in_roots()
{
	local root=$FOLDER/root other=$FOLDER/user user=stranger

	cp -a --reflink=auto "$root" "$other"
	clone "$root" root
	say "As root, in a bare Debian 12: the README's commands"
	session root "$HERE/enter.sh" "$root" root "cd etch && $COMMANDS"
	say "As a user with sudo, in another: make run, and make check CHECK='$QUICK'"
	quietly "$FOLDER/user.log" add_user "$other" $user
	clone "$other" $user
	take_cache "$root" "$other" $user
	rm -rf --one-file-system "$root"
	session user "$HERE/enter.sh" "$other" $user \
		"cd etch && make run && make check CHECK='$QUICK'"
}

outside()
{
	command -v make > /dev/null || {
		apt-get update
		apt-get install -y --no-install-recommends make
	}
	session outside bash -c "cd '$ETCH_TOP' && $COMMANDS"
}

# The last lines: the sessions that failed, where all ran outside, and the sum of the counts.
conclude()
{
	local file out rc failed=0

	for file in "$FOLDER"/*.status; do
		out=${file%.status}.out
		rc=$(cat "$file")
		[ "$rc" -ne 0 ] || continue
		failed=1
		warn "FAILED: session \"$(basename "$out" .out)\" ended with status $rc"
		grep -qE '^[0-9]+ passed, [1-9][0-9]* failed, ' "$out" ||
			echo "0 passed, 1 failed, 0 skipped" >> "$out"
	done
	if [ -n "$OUTSIDE" ]; then
		warn "NOT IN A BARE DEBIAN: $OUTSIDE"
		warn "All of the above ran with this machine's own packages and variables."
	fi
	grep -hE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$FOLDER"/*.out |
		awk '{ passed += $1; failed += $3; skipped += $5 }
			END { print passed " passed, " failed " failed, " skipped " skipped" }'
	return $failed
}

trap clean_up EXIT
trap 'exit 1' INT TERM HUP
huge_pages
if ! "$HERE/enter.sh" --try 2> "$FOLDER/try.log"; then
	OUTSIDE="nobody can be put into a root here: $(tail -n 1 "$FOLDER/try.log")"
elif ! "$HERE/root.sh" "$FOLDER/root"; then
	OUTSIDE="mmdebstrap could not make one (above)"
fi
if [ -n "$OUTSIDE" ]; then
	outside
else
	in_roots
fi
conclude 2>&1
