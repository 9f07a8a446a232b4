#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Would the tests notice? Take one rule at a time out of a copy of the ring buffer's
# source, and see that a test fails. Prints TAP, with the test that noticed.
#
#	mutants.sh SOURCES HEADERS [PATTERN]	(kernel/etch and include)
#
# With MUTANTS=look, see only that each rule is still in the source.
#
# Not here is what no test on x86 can notice: fences whose absence changes nothing on
# a processor that keeps stores, and loads, in order (d, g, G; F and f, between words
# that are marked), and looks that only save the work of an exchange which would fail.
# Nor that resize moves the reader from the blocks it drops: the reader would notice, as it
# does when writers drop them (the model has that among what is not needed).

# The dollars are perl's:
# shellcheck disable=SC2016

src=$1
inc=$2
only=${3:-.}
cd "$(dirname "$0")" || exit 1
. ../mutants.sh

# Compile a test with the copy, and run it.
passes() { # options of the compiler, test, its options
	options=$1
	name=$2
	more=
	shift 2
	[ "$name" != stress_test ] || more=stress_writer.c
	# shellcheck disable=SC2086
	cc -w -O2 -std=gnu11 -D_GNU_SOURCE -Ishim -I"$work" -I. -idirafter "$work/inc" \
		-idirafter "$inc" $options -o "$work/$name" "$name.c" $more \
		"$work/ring/ring.c" "$work/ring/ring_resize.c" "$work/ring/ring_read.c" \
		"$work/ring/ring_age.c" "$work/ring/ring_alarm.c" "$work/ring/ring_control.c" \
		"$work/ring/ring_budget.c" shim/shim.c ring_test.c -lpthread -lrt || exit 1
	TAP_STOP=1 TSAN_OPTIONS=halt_on_error=1 timeout 100 "$work/$name" "$@" >/dev/null 2>&1
}

# The test that fails with the copy, the quick ones first.
notices() {
	passes "" basic_test || { echo basic_test; return; }
	passes "" resize_test || { echo resize_test; return; }
	passes "" subbuf_test || { echo subbuf_test; return; }
	passes "" age_test || { echo age_test; return; }
	passes "" budget_test || { echo budget_test; return; }
	passes -fsanitize=thread stress_test --brief || { echo stress_test-tsan; return; }
	passes "" step_test || { echo step_test; return; }
	passes -DSHIM_NO_POINTS stress_test --brief || { echo stress_test; return; }
}

copy() {
	mkdir -p "$work/inc/linux" "$work/ring"
	cp "$src"/ring/ring.c "$src"/ring/ring_resize.c "$src"/ring/ring_read.c \
		"$src"/ring/ring_age.c "$src"/ring/ring_alarm.c "$src"/ring/ring_control.c \
		"$src"/ring/ring_budget.c "$src"/ring/ring_internal.h \
		"$work/ring"
	cp "$inc"/linux/etch_ring.h "$inc"/linux/etch_ring_write.h "$work/inc/linux"
}

mutant() { # what is wrong with it, file, perl expression
	echo "$1" | grep -q "$only" || return
	change "$1" "$2" "$3" || return
	who=$(notices) || { say "not ok" "$1: does not compile"; return; }
	if [ -n "$who" ]; then
		say ok "$1: noticed by $who"
	else
		say "not ok" "$1: nobody notices"
	fi
}

fast=inc/linux/etch_ring_write.h

# A test that fails anyway notices nothing.
copy
if [ -n "$look" ]; then
	:
elif who=$(notices) && [ -z "$who" ]; then
	say ok "the source as it is: passes"
else
	say "not ok" "the source as it is: does not compile, or $who fails"
fi

# The fast path
mutant "commits without a second look" $fast \
	's/if \(likely\(READ_ONCE\(r->pos\) == pos\)\)\n\t\t\treturn;/return;/'
mutant "commits before the record is stored" $fast \
	's/smp_store_release\(&r->committed, pos\)/WRITE_ONCE(r->committed, pos)/'
mutant "commits for a writer it has interrupted" $fast \
	's/likely\(nest == 1\)/1/'
mutant "looks at a ring before it sees it on" $fast \
	's/smp_load_acquire\(&r->(limit|quick)\)/READ_ONCE(r->$1)/g'
mutant "stores a place without looking if it is still free" $fast \
	's/!try_cmpxchg_local\(&r->pos, &pos, at \+ ETCH_POS\(len\) \+ 1\)/({ WRITE_ONCE(r->pos, at + ETCH_POS(len) + 1); 0; })/'
mutant "reads the clock once only" $fast \
	's/(\t+do \{.*?)(\t\t\*time = [^;]*;\n)/$2$1/s'
mutant "takes the straight line half-way in another writer" $fast \
	's/if \(unlikely\(etch_ring_plain\(r->nest\)\)\)\n\t\treturn ETCH_QUICK_NESTED;//'
mutant "takes the straight line with any clock" ring/ring_control.c \
	's/r->clock == ETCH_CLOCK_COUNTER \? limit : 0/limit/'
mutant "takes the straight line after a change of the clock" ring/ring_control.c \
	's/clock == ETCH_CLOCK_COUNTER \? READ_ONCE\(r->limit\) : 0/READ_ONCE(r->limit)/'
mutant "takes the straight line in a ring that is off" ring/ring_control.c \
	's/WRITE_ONCE\(r->quick, 0\);//'
mutant "forgets that others left the publishing to it" $fast \
	's/why == ETCH_QUICK_RAISED/0/'
mutant "stores in the straight line without looking if the place is still free" $fast \
	's/likely\(try_cmpxchg_local\(&r->pos, &pos, end\)\)/({ WRITE_ONCE(r->pos, end); 1; })/'
mutant "gives an earlier time behind a later record" $fast \
	's/if \(unlikely\(pos != then\)\)\n\t\treturn ETCH_QUICK_OTHER;//'
mutant "stores by an earlier time without looking if the place is still free" $fast \
	's/return likely\(try_cmpxchg_local\(&r->pos, &pos, end\)\)/return ({ WRITE_ONCE(r->pos, end); 1; })/'
mutant "stores by an earlier time half-way in another writer" $fast \
	's/(etch_ring_reserve_since\(struct.*?)if \(unlikely\(etch_ring_plain\(r->nest\)\)\)\n\t\treturn ETCH_QUICK_NESTED;/$1/s'
mutant "stores by another clock without looking if the place is still free" $fast \
	's/(etch_ring_reserve_clock\(struct.*?)return etch_ring_move\(r, lenp, pos, end\)/$1return ({ WRITE_ONCE(r->pos, end); ETCH_QUICK_DONE; })/s'
mutant "is full for ever" $fast \
	's/READ_ONCE\(r->full\) == READ_ONCE\(r->consumed\)/r->full < ETCH_NOT_FULL/'
mutant "is full for what would never fit" $fast \
	's/off <= limit && len <= limit &&/off <= limit \&\&/'

# The slow path
mutant "changes the cached pair without making it invalid" ring/ring.c \
	's/WRITE_ONCE\(r->start, \(first \^.*?;//'
mutant "changes a pair that is being changed" ring/ring.c \
	's/old & ETCH_START_CHANGING \|\| old == first/old == first/'
mutant "gives the time of a clock that was set back" ring/ring.c \
	's/\(s64\)\(time - floor\) > 0 \? time : floor/time/'
mutant "takes a leap of the clock for a step" ring/ring.c \
	's/\(s64\)\(time - last\) > \(s64\)ETCH_RING_AGE/0/'
mutant "gives readers a leap that they cannot tell" ring/ring.c \
	's/\t\ttime = min\(time, max\(last \+ ETCH_RING_AGE, floor\)\);\n//'
mutant "knows what readers do not, of a block that was not begun" ring/ring.c \
	's/if \(READ_ONCE\(\*slot\) != old\)\n\t\treturn false;//'
mutant "takes a block that a reader took for one that is begun" ring/ring.c \
	's/while \(READ_ONCE\(r->pos\) == pos\)/if (1)/'
mutant "takes a leap for a step between the claim of a block and the move to it" ring/ring.c \
	's/unlikely\(between_blocks\(r\) \|\|/unlikely(/'
mutant "takes the usual way to a time between the claim of a block and the move to it" \
	ring/ring.c 's/READ_ONCE\(r->nest\) == 1 && time/time/'
mutant "takes a leap for the usual step" ring/ring.c \
	's/time - last <= ETCH_RING_AGE/(s64)(time - last) >= 0/'
mutant "takes a clock that was set back for one that goes on" ring/ring.c \
	's/ &&\n\t\t   \(s64\)\(time - READ_ONCE\(r->floor\)\) >= 0//'
mutant "notes the usual time over a later one of a nested writer" ring/ring.c \
	's/try_cmpxchg_local\(&r->last, &last, time\)/({ WRITE_ONCE(r->last, time); 1; })/'
mutant "stores in a block that is closed" ring/ring.c \
	's/if \(READ_ONCE\(r->closed\) == this\)\n\t\treturn false;//'
mutant "opens a closed block that it was about to note" ring/ring.c \
	's/if \(READ_ONCE\(r->closed\) == start\)\n\t\tWRITE_ONCE[^;]*;//'
mutant "closes a block for those alone who do not know it" ring/ring_age.c \
	's/if \(!\(READ_ONCE\(r->start\) & ETCH_START_CHANGING\)\)\n[^;]*;//'
mutant "closes a block in the middle of a change" ring/ring_age.c \
	's/if \(!\(READ_ONCE\(r->start\) & ETCH_START_CHANGING\)\)//'
mutant "notes a time over a later one of a nested writer" ring/ring_internal.h \
	's/!try_cmpxchg_local\(latest, &old, time\)/({ WRITE_ONCE(*latest, time); 0; })/'
mutant "forgets the latest time when it is emptied" ring/ring_control.c \
	's/(r->floor = )etch_ring_latest\(r\);/${1}0;/'
mutant "keeps the latest time of another clock" ring/ring_control.c \
	's/\tr->floor = 0;\n//'
mutant "claims a block whose end is just committed" ring/ring.c \
	's/!etch_pos_after\((etch_pos_bytes\(READ_ONCE\(r->committed\)\) \+ span), next \+ r->size\)/etch_pos_after(next + r->size, $1)/'
mutant "claims a block that is not committed" ring/ring.c \
	's/return ETCH_LOST_NESTED;\n\n\tslot/;\n\n\tslot/'
mutant "claims a block that is not consumed" ring/ring.c \
	's/next \+ r->size, consumed \+ span/next, consumed + span/'
mutant "claims again what a nested writer has claimed" ring/ring.c \
	's/!etch_pos_after\(next, etch_slot_start\(old\)\)/0/'
mutant "claims without looking if the slot is as it was" ring/ring.c \
	's/cmpxchg\(slot, old, (etch_slot\(next, etch_slot_block\(old\), 0\))\) != old/({ WRITE_ONCE(*slot, $1); 0; })/'
mutant "claims a block that the reader is still reading" ring/ring.c \
	's/cmpxchg\(slot, old, etch_slot/cmpxchg_local(slot, old, etch_slot/'
mutant "counts what was taken as overwritten" ring/ring.c \
	's/old & ETCH_SLOT_TAKEN \? 0 : //'
mutant "reads the begin time behind the claim" ring/ring.c \
	's/block->begin, begin\)/block->begin, etch_clock_read(r->clock))/'
mutant "tells readers what was lost while the ring was off" ring/ring.c \
	's/local_read\(&r->lost\[i\]\)( - r->forgotten\[i\];\n\t\tsum)/local_read(\&r->lost[ETCH_LOST_OFF])$1/'
mutant "goes on to a block where another one has gone on from" ring/ring.c \
	's/cmpxchg_local\(&r->pos, pos, next \+ ETCH_POS\(r->header\)\) != pos/({ WRITE_ONCE(r->pos, next + ETCH_POS(r->header)); 0; })/'
mutant "notes the records of a block it has left already" ring/ring.c \
	's/left->records, etch_pos_count\(pos\)/left->records, etch_pos_count(r->pos)/'
mutant "reserves a place that may be gone" ring/ring.c \
	's/cmpxchg_local\(&r->pos, pos, at \+ ETCH_POS\(len\) \+ 1\) != pos/({ WRITE_ONCE(r->pos, at + ETCH_POS(len) + 1); 0; })/'
mutant "stores in a ring that is off" ring/ring.c \
	's/!smp_load_acquire\(&r->limit\)/0/'
mutant "nests as deep as one likes" ring/ring.c \
	's/nest > ETCH_RING_MAX_NEST/0/'
mutant "stays in flight after a loss" ring/ring.c \
	's/(etch_ring_lose\(r, cause\);\n)\tetch_ring_commit\(r\);\n/$1/'

# Flush
mutant "flushes only counts of loss" ring/ring.c \
	's/etch_pos_count\(pos\) \|\| count_lost/count_lost/'
mutant "flushes only stored records" ring/ring.c \
	's/etch_pos_count\(pos\) \|\| count_lost\(r, lost\) != READ_ONCE\(r->left_lost\)/etch_pos_count(pos)/'
mutant "reports the same loss again and again" ring/ring.c \
	's/WRITE_ONCE\(r->left_lost, lost\);//'
mutant "flushes without being seen to be in flight" ring/ring.c \
	's/WRITE_ONCE\(r->nest, nest\);\n(\t\/\* Goes round again for loss.*?)\tetch_ring_commit\(r\);/$1\tWRITE_ONCE(r->nest, nest);\n\tetch_ring_commit(r);/s'
mutant "stays in flight after a flush" ring/ring.c \
	's/(switch_block\(r, pos\) == ETCH_AGAIN\);\n)\tetch_ring_commit\(r\);/$1/'
mutant "flushes as deep as one likes" ring/ring.c \
	's/if \(nest > ETCH_RING_MAX_NEST\)\n\t\treturn;\n(\tWRITE_ONCE)/$1/'
mutant "counts a flush that finds no block as a loss" ring/ring.c \
	's/(etch_ring_flush\(struct etch_ring \*r\)\n.*?)(\tetch_ring_commit\(r\);)/$1\tif (etch_pos_count(r->pos))\n\t\tetch_ring_lose(r, ETCH_LOST_FULL);\n$2/s'

# The budget
mutant "begins a block when the budget is spent" ring/ring.c \
	's/etch_ring_spent\(r\) \? ETCH_LOST_THROTTLED : //'
mutant "counts what the budget refuses as another loss" ring/ring.c \
	's/\? ETCH_LOST_THROTTLED/? ETCH_LOST_FULL/'
mutant "looks before it has paid" ring/ring.c \
	's/\tetch_ring_charge\(r, pos\);\n(\treturn etch_ring_spent)/$1/'
mutant "does not charge what a flush leaves" ring/ring.c \
	's/\tetch_ring_charge\(r, pos\);\n(\tret = claim)/$1/'
mutant "has paid for all, after a reset" ring/ring_control.c \
	's/\tr->charged = 0;\n//'
mutant "charges for no bytes" ring/ring_budget.c \
	's/bytes = charge_rate\(&budget->bytes, .*?\);\n//s'
mutant "charges for no records" ring/ring_budget.c \
	's/records = charge_rate\(&budget->records, .*?\);\n//s'
mutant "charges for a block whole again" ring/ring_budget.c \
	's/if \(etch_ring_block_at\(r, old\) == from\)\n\t\tfrom = old;//'
mutant "says that it has paid before it has" ring/ring_budget.c \
	's/(if \(bounded\(budget\)\) \{)(.*)if \(cmpxchg_local\(&r->charged, old, pos\) == old\)\n/if (cmpxchg_local(&r->charged, old, pos) != old)\n\t\treturn;\n\t$1$2/s'
mutant "pays twice when it is interrupted" ring/ring_budget.c \
	's/give_back\(&budget->records, records\);//'
mutant "asks for the bytes alone" ring/ring_budget.c \
	's/ \|\| rate_spent\(&budget->records, now\)//'
mutant "charges over what another CPU has charged" ring/ring_budget.c \
	's/paid = cmpxchg\(&rate->paid, old, (.*?)\);\n/WRITE_ONCE(rate->paid, $1);\n\t\tpaid = old;\n/'
mutant "pays from the end of what was paid for, however long ago" ring/ring_budget.c \
	's/\(\(s64\)\(old - now\) > 0 \? old : now\)/old/'

# Control
mutant "is still full after a change to overwrite mode" ring/ring_control.c \
	's/(r->overwrite = overwrite;\n)\tr->full = ETCH_NOT_FULL;/$1/'
mutant "is still full after a reset" ring/ring_control.c \
	's/(r->base = NULL;\n)\tr->full = ETCH_NOT_FULL;/$1/'
mutant "is still full after a resize" ring/ring_resize.c \
	's/(r->consumed = first;\n)\tr->full = ETCH_NOT_FULL;/$1/'
mutant "turns a ring on before control is done" ring/ring_control.c \
	's/smp_store_release\(&r->(limit|quick), /WRITE_ONCE(r->$1, /g'
mutant "remembers what was lost before a reset" ring/ring_control.c \
	's/r->forgotten\[i\] = local_read\(&r->lost\[i\]\)/r->forgotten[i] = 0/'
mutant "drops blocks in a resize without counting" ring/ring_resize.c \
	's/local_add\(r->blocks\[etch_slot_block\(slot\)\]\.records, &r->overwritten\);//'
mutant "takes for written what a resize has made" ring/ring_resize.c \
	's/, slot & ETCH_SLOT_TAKEN\)/, 0)/'
mutant "loses the block in hand in a resize" ring/ring_resize.c \
	's/r->held \? r->rd_block \+ r->size : r->rd_block/r->rd_block/'

# Readers
mutant "does not check what it has copied" ring/ring_read.c \
	's/return READ_ONCE\(\*etch_ring_slot\(r, start\)\) == slot;/return true;/'
mutant "reads records before they are committed" ring/ring_read.c \
	's/smp_load_acquire\(&r->committed\)/READ_ONCE(r->committed)/'
mutant "forgets what it had read of an overwritten block" ring/ring_read.c \
	's/r->reread \+= r->rd_records;//'
mutant "forgets what it reads of a block overwritten in between" ring/ring_read.c \
	's/r->reread \+= records;//'
mutant "copies from whatever block has the slot" ring/ring_read.c \
	's/(etch_slot_block\(slot\)\];\n\n\tif \()etch_slot_start\(slot\) != r->rd_block/${1}0/'
mutant "takes whatever block has the slot" ring/ring_read.c \
	's/(read_slot\(r, r->rd_block\);\n\n\tif \()etch_slot_start\(slot\) != r->rd_block/${1}0/'
mutant "takes a block without looking if it is still there" ring/ring_read.c \
	's/cmpxchg\((etch_ring_slot\(r, r->rd_block\)), slot,\s*(etch_slot\(.*?TAKEN\))\) != slot/({ WRITE_ONCE(*$1, $2); 0; })/s'
mutant "gives its spare away while it reads it" ring/ring_read.c \
	's/if \(cmpxchg\(etch_ring_slot/if (cmpxchg_local(etch_ring_slot/'
mutant "says that a block is consumed before it is" ring/ring_read.c \
	's/\(r->held \? r->size : 0\)/r->size/'
mutant "keeps the memory of a sub-buffer that it gave away" ring/ring_read.c \
	's/block->data = \*memory;//'
mutant "gives in a sub-buffer what was read of it" ring/ring_read.c \
	's/if \(r->fixed \|\| from != r->header\)\n\t\t\tmemmove[^;]*;//'
mutant "gives a sub-buffer that is still being written" ring/ring_read.c \
	's/!etch_pos_after\(open, r->rd_block\)/etch_pos_after(r->rd_block, open)/'
mutant "gives a sub-buffer that was never written" ring/ring_read.c \
	's/block->end && \((block->records)/($1/'
mutant "does not count what it gives as read" ring/ring_read.c \
	's/r->read \+= block->records - r->rd_records;//'
mutant "begins a sub-buffer before the last one has ended" ring/ring_read.c \
	's/max3\(view->begin, r->left, r->rd_time\)/max(view->begin, r->rd_time)/'
mutant "ends a sub-buffer when the next one may have records" ring/ring.c \
	's/\ttime = left_time\(r\);\n(\tif \(cmpxchg_local.*?return ETCH_AGAIN;\n)/$1\ttime = left_time(r);\n/s'
mutant "reports missed records twice" ring/ring_read.c \
	's/r->told = overwritten;//'
mutant "tells less than nothing as missed" ring/ring_read.c \
	's/\(s64\)\(overwritten - r->told\) <= 0/0/'
mutant "counts blocks that are overwritten meanwhile" ring/ring_read.c \
	's/etch_slot_start\(slot\) != at \|\| !slot_is_still\(r, at, slot\)/0/'
mutant "counts the records of a block that has just been left twice" ring/ring_read.c \
	's/ && --tries\)/ \&\& 0)/'
mutant "counts as entries what was read of the oldest block" ring/ring_read.c \
	's/stats->entries -= r->rd_records;//'
mutant "peeks at records that are overwritten meanwhile" ring/ring_read.c \
	's/if \(!held && !slot_is_still\(r, cur->block, slot\)\)/if (0)/'
mutant "peeks at whatever block has the slot" ring/ring_read.c \
	's/!held && etch_slot_start\(slot\) != cur->block/0/'
mutant "peeks at a block that was taken" ring/ring_read.c \
	's/!held && slot & ETCH_SLOT_TAKEN/0/'
mutant "does not peek at the block in hand" ring/ring_read.c \
	's/(no slot\. \*\/\n\tif \()r->held/${1}0/'
mutant "peeks at the block in hand behind its end" ring/ring_read.c \
	's/ && !etch_pos_after\(cur->block, last\)//'
mutant "peeks by figures of two generations" ring/ring_read.c \
	's/if \(end < from \|\| end > etch_ring_subbuf_size\(r\)\)/if (0)/'

finish
