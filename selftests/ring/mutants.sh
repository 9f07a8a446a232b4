#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Would the tests notice? Take one rule at a time out of a copy of the ring buffer's
# source, and see that basic_test or step_test fails. Prints TAP.
#
#	mutants.sh SOURCES HEADERS	(kernel/etch and include)

# The dollars are perl's:
# shellcheck disable=SC2016

src=$1
inc=$2
cd "$(dirname "$0")" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
nr=0
bad=0

say() { # ok or not ok, name
	nr=$((nr + 1))
	echo "$1 $nr - $2"
	[ "$1" = ok ] || bad=$((bad + 1))
}

# Compile a test with the copy, and run it.
passes() { # test
	cc -w -O1 -std=gnu11 -D_GNU_SOURCE -Ishim -I"$work" -I. -idirafter "$work/inc" \
		-idirafter "$inc" -o "$work/$1" "$1.c" "$work/ring.c" "$work/ring_read.c" \
		shim/shim.c ring_test.c -lpthread -lrt || exit 1
	timeout 100 "$work/$1" >/dev/null 2>&1
}

mutant() { # what is wrong with it, file, perl expression
	mkdir -p "$work/inc/linux"
	cp "$src"/ring.c "$src"/ring_read.c "$src"/ring_internal.h "$work"
	cp "$inc"/linux/etch_ring.h "$work/inc/linux"
	cp "$work/$2" "$work/before"
	perl -0pi -e "$3" "$work/$2"
	if cmp -s "$work/before" "$work/$2"; then
		say "not ok" "$1: the source has changed, this mutant needs a new expression"
	elif passes basic_test && passes step_test; then
		say "not ok" "$1: nobody notices"
	else
		say ok "$1: noticed"
	fi
}

mutant "commits without a second look" inc/linux/etch_ring.h \
	's/if \(likely\(READ_ONCE\(r->pos\) == pos\)\)\n\t\t\treturn;/return;/'
mutant "changes the cached pair without making it invalid" ring.c \
	's/WRITE_ONCE\(r->start, \(first \^.*?;//'
mutant "changes a pair that is being changed" ring.c \
	's/old & ETCH_START_CHANGING \|\| old == first/old == first/'
mutant "claims a block whose end is just committed" ring.c \
	's/!etch_pos_after\((etch_pos_bytes\(READ_ONCE\(r->committed\)\) \+ span), next \+ r->size\)/etch_pos_after(next + r->size, $1)/'
mutant "claims a block that is not committed" ring.c \
	's/return ETCH_LOST_NESTED;\n\n\tslot/;\n\n\tslot/'
mutant "claims a block that is not consumed" ring.c \
	's/next \+ r->size, consumed \+ span/next, consumed + span/'
mutant "reads the begin time behind the claim" ring.c \
	's/(begin) = etch_clock_read\(READ_ONCE\(r->clock\)\);/$1 = 0;/; s/block->begin, begin/block->begin, etch_clock_read(r->clock)/'
mutant "notes the records of a block it has left already" ring.c \
	's/left->records, etch_pos_count\(pos\)/left->records, etch_pos_count(r->pos)/'
mutant "does not check what it has copied" ring_read.c \
	's/return READ_ONCE\(\*etch_ring_slot\(r, start\)\) == slot;/return true;/'
mutant "forgets what it had read of an overwritten block" ring_read.c \
	's/r->reread \+= r->rd_records;//'

echo "1..$nr"
[ $bad = 0 ]
