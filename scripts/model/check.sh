#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Exhaust the model of the ring buffer's protocol in both modes, then take out one
# rule after the other and see that each time the model shows what goes wrong.
#
#	check.sh [--quick | --long]
#
# Needs spin and gcc; up to 6 GB of memory (--quick 1 GB). Prints TAP.

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

case $size in
--quick)	all="2,1,1" ;;
--long)		all="3,1,1 4,1,0 2,2,1 4,2,1" ;;
*)		all="3,1,1 4,1,0" ;;
esac

for mode in 1 0; do
	name=discard
	[ $mode = 1 ] && name=overwrite
	for r in $all; do
		r0=${r%%,*}
		r2=${r##*,}
		r1=${r#*,}
		r1=${r1%,*}
		holds "-DOVERWRITE=$mode -DR0=$r0 -DR1=$r1 -DR2=$r2" "$name, $r records"
	done
done
