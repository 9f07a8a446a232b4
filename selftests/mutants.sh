# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Shared by the scripts that take one rule after the other out of a copy of the sources:
# the copy's folder, how it is changed, and TAP. A script that sources this has a function
# copy, which puts the sources as they are into $work, and calls finish last.

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
nr=0
bad=0
look=
[ "${MUTANTS:-}" != look ] || look=1

say() { # ok or not ok, name
	nr=$((nr + 1))
	echo "$1 $nr - $2"
	[ "$1" = ok ] || bad=$((bad + 1))
}

# Change a new copy. False, and said, if nothing changes, or if no test is to run.
change() { # what is wrong with it, file, perl expression
	copy
	cp "$work/$2" "$work/before"
	perl -0pi -e "$3" "$work/$2"
	if cmp -s "$work/before" "$work/$2"; then
		say "not ok" "$1: the source has changed, this mutant needs a new expression"
		return 1
	fi
	[ -n "$look" ] || return 0
	say ok "$1: the rule is in the source"
	return 1
}

finish() {
	echo "1..$nr"
	[ $bad = 0 ]
}
