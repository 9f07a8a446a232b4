#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Exhaust the model of the ring buffer's protocol in both modes, then take out one
# rule after the other and see that each time the model shows what goes wrong.
#
#	check.sh [--quick | --long]
#
# Needs spin and gcc; up to 1 GB of memory, with --long 3. On an idle machine some
# seconds, a few minutes, or about ten. Prints TAP.

cd "$(dirname "$0")" || exit 1
model=$PWD/ring.pml
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
size=${1:-}
nr=0
bad=0

say() { # ok or not ok, name
	nr=$((nr + 1))
	echo "$1 $nr - $2"
	[ "$1" = ok ] || bad=$((bad + 1))
}

# Run the verifier on the model compiled with the options given: its output to "out".
verify() {
	rm -f pan.* pan ./*.trail
	# shellcheck disable=SC2086
	spin -a $1 "$model" >spin.log 2>&1 &&
		gcc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=6000 -o pan pan.c &&
		./pan -m500000 >out 2>&1
}

states() {
	awk '/states, stored/ { print $1; exit }' out
}

# No error, and nothing left out.
holds() { # options, name
	verify "$1"
	if grep -q 'errors: 0' out && ! grep -Eq 'too small|out of memory|reached -DMEMLIM|not completed' out
	then
		say ok "$2: $(states) states"
	else
		say "not ok" "$2"
		sed 's/^/# /' spin.log out | head -20
	fi
}

# An assertion fails.
caught() { # options, name
	verify "$1"
	if grep -q 'assertion violated' out; then
		say ok "$2 is caught: $(sed -n 's/^pan:1: //p' out | cut -c 1-60)"
	else
		say "not ok" "$2 is not caught"
		sed 's/^/# /' spin.log out | head -20
	fi
}

# Block size, then the records tried by task, interrupt and NMI.
case $size in
--quick)	all="3:2,1,0 3:1,1,1" ;;
--long)		all="4:4,1,0 3:3,1,0 3:2,2,0 3:2,1,1 4:3,1,1" ;;
*)		all="4:4,1,0 3:3,1,0 3:2,2,0 3:1,1,1" ;;
esac

# "4:3,1,1" as options for the compiler.
options() {
	echo "$1" | sed 's/\(.*\):\(.*\),\(.*\),\(.*\)/-DS=\1 -DR0=\2 -DR1=\3 -DR2=\4/'
}

for mode in 1 0; do
	name=discard
	[ $mode = 1 ] && name=overwrite
	for r in $all; do
		holds "-DOVERWRITE=$mode $(options "$r")" "$name, $r"
	done
done

# Each with the smallest figures that show it, in overwrite mode.
while read -r bug r; do
	caught "-DBUG_$bug -DOVERWRITE=1 $(options "$r")" "$bug"
done <<EOT
NO_SECOND_LOOK 4:3,1,0
CHANGE_A_CHANGING_PAIR 3:2,3,0
DO_NOT_INVALIDATE 3:2,3,0
CLAIM_UNCOMMITTED 3:3,1,0
CLAIM_WHAT_IS_JUST_COMMITTED 3:2,3,0
TRUST_THE_COPY 3:3,1,0
FORGET_WHAT_WAS_COPIED 3:3,1,0
EOT

echo "1..$nr"
[ $bad = 0 ]
