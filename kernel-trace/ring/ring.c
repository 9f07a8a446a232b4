// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's ring buffer: the writers' slow path.
 *
 * <linux/etch_ring.h> says what the ring does for its callers, <linux/etch_ring_write.h>
 * has the fast path. This comment says why it works; ring_read.c is the readers' side, and
 * ring_control.c makes a ring and changes it.
 *
 * Overview
 * ========
 *
 * Writers on one CPU nest strictly: an interrupting writer finishes before the
 * interrupted one goes on. Positions only grow, so a writer proves that nobody got in
 * between by a compare-and-exchange of @pos, and one that fails starts again
 * with what it finds. Everything that is read on the way to that exchange counts
 * only if it succeeds.
 *
 * Block g of the ring covers the positions from g * size to (g + 1) * size, and stands in
 * slot g % nr. It is opened in two steps that any writer can do for any other:
 *
 *	1. claim its slot, by a compare-and-exchange of the slot's word;
 *	2. move @pos to just behind its header, by a compare-and-exchange of @pos.
 *
 * The writer that succeeds with 1 drops what was in the slot, and notes when the block
 * was begun and how many records were lost until then; both figures are read
 * before the claim, so that no nested writer's are older. The one that succeeds
 * with 2 knows where the content of the block it left ends and how many records
 * it has (both are in @pos) and notes that. It may do so late, being interrupted,
 * since a block can be neither dropped nor taken before @committed lies behind its
 * end, and @committed does not move while the writer is in flight.
 *
 * The states of a slot, and the moves between them
 * ================================================
 *
 *	free	taken, start at most that of the block written now
 *	open	not taken, @committed not behind its end
 *	full	not taken, @committed behind its end
 *
 *	free -> open	writer: claim
 *	open -> full	writer: commits a position in the next block
 *	full -> open	writer: claim, overwrite mode: the records are overwritten
 *	full -> free	reader: takes the block and leaves its spare
 *
 * An open block is never claimed: in overwrite mode a writer which would need it
 * has been nested in another one for a whole ring's length, and its record is lost: nested.
 *
 * The cached pair
 * ===============
 *
 * @start and @base save the fast path the way through the slots. They are changed
 * only by refresh_pair(): the pair is made invalid first, and a writer that finds it
 * invalid has interrupted such a change and leaves it alone. The interrupted one
 * then sets what may be out of date by now. That does no harm, being a true pair
 * of an earlier block in which @pos no longer is, and is put right by the next
 * writer to come by.
 *
 * The alarm
 * =========
 *
 * A reader that waits may set an alarm, which a writer raises from here: ring_alarm.c.
 *
 * The cached verdict
 * ==================
 *
 * In discard mode @full is what @consumed was when a writer found no block free behind the
 * one that @pos is in. As long as @consumed is the same, nobody can have opened one
 * since, so @pos is still in that block, and what does not fit there is lost without
 * asking again.
 *
 * A block that is closed
 * ======================
 *
 * @closed is the start of a block that takes no more records: to the writers it is one in
 * which nothing fits. Only the slow path looks at it, so the cached pair must not stand for
 * that block: etch_ring_close() stores @closed and makes the pair invalid, and a change of
 * the pair which that interrupted looks at @closed when it is through. While a writer that
 * was interrupted by the closing is in flight, it and the writers nested in it may still
 * store records in the block: these records are of now. Nobody opens the block again. 2^48
 * bytes later another block has its start, and may be left empty.
 *
 * Barriers
 * ========
 *
 * Writers of one ring run on one CPU and need none between them. Upper case is the
 * writers' end of a pair.
 *
 *	label	where				orders			pairs with
 *	A	reserve: acquire @limit,	limit, then all else	a
 *		or @quick
 *	a	etch_ring_on(): release both	control, then these	A
 *	B	commit: release @committed	records, descriptors,	b
 *						then @committed
 *	b	readers: acquire @committed	@committed, then these	B
 *	C	claim: cmpxchg of the slot	earlier @committed,	c, d
 *		(a full barrier)		then the slot, then
 *						new data in the block
 *	c	catch_up, look_at:		the slot, then		C
 *		acquire the slot		@committed
 *	d	copy, count: smp_rmb()		what was copied, then	C
 *						the slot once more
 *	e	take: cmpxchg of the slot	reading the spare,	(C)
 *		(a full barrier)		then giving it away
 *	F	claim: acquire @consumed	@consumed, then slot	f
 *	f	take, catch up: release		slot, then @consumed	F
 *		@consumed
 *	h	advance: release @rd_time	@rd, then @rd_time	H
 *	H	look: acquire @rd_time		@rd_time, then @rd	h
 *	G	switch: smp_wmb()		@pos, then @written	g
 *	g	count_written(): smp_rmb()	@written, then @pos	G
 *
 * What b and d are for: a reader that has seen @committed sees the records before
 * it (b), and if one of them was replaced while it copied, it sees the claim too (d).
 * What h is for: a look without the mutex has no time that is later than its place.
 *
 * How long until a number means something else
 * ============================================
 *
 * Positions wrap after 2^48 bytes: three days of 1 GB/s on one CPU. Comparisons
 * between neighbours do not mind. A writer would have to be interrupted by 2^48
 * bytes of records to be deceived. A reader that was away for a multiple of that, to
 * within one ring's length, takes the blocks it finds for those it left: they
 * are whole and in order, but the wrap's worth is missing from the account. The reader
 * counts the wraps that it comes by (@wraps), and numbers blocks in 64 bits.
 */

#include <linux/bug.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "ring/ring_internal.h"

/* How trying to open a block ended, beside the ETCH_LOST_ causes. */
#define ETCH_AGAIN	ETCH_LOST_NR

/*
 * The losses that readers see, by cause, and their sum. Records lost while the ring is off do
 * not count: its owner turned it off.
 */
static u64 count_lost(const struct etch_ring *r, u64 lost[ETCH_LOST_OFF])
{
	u64 sum = 0;
	int i;

	for (i = 0; i < ETCH_LOST_OFF; i++) {
		lost[i] = local_read(&r->lost[i]) - r->forgotten[i];
		sum += lost[i];
	}
	return sum;
}

/*
 * A clock that is not the bare counter may go back: when it is set, or is corrected while it
 * is read. Then the latest time that there was holds until the clock has caught up. There are
 * two. @last is that of a record, or the begin of a block that has been claimed: a time that
 * readers know. @floor is what somebody has read for a block, and that may not be begun then.
 */
static u64 floor_time(const struct etch_ring *r, u64 time)
{
	u64 floor = etch_ring_latest(r);

	return (s64)(time - floor) > 0 ? time : floor;
}

/*
 * When a block is begun whose @slot is still @old: before the claim, so nobody's times in
 * there are earlier. False: it was claimed, and this is no begin: it would hide a leap.
 */
static bool begin_time(struct etch_ring *r, const u64 *slot, u64 old, u64 *begin)
{
	enum etch_clock clock = READ_ONCE(r->clock);

	if (clock == ETCH_CLOCK_COUNTER) {
		*begin = etch_clock_counter();
		return true;
	}
	*begin = floor_time(r, etch_clock_read_slow(clock));
	if (READ_ONCE(*slot) != old)
		return false;
	*begin = etch_ring_raise(&r->floor, *begin);
	return true;
}

/* When a block is left, and the next one was claimed. */
static u64 left_time(const struct etch_ring *r)
{
	if (READ_ONCE(r->clock) == ETCH_CLOCK_COUNTER)
		return etch_clock_counter();
	return READ_ONCE(r->last);
}

/* Let the cached pair stand for the block at @start, which is the memory at @data. */
static void refresh_pair(struct etch_ring *r, u64 start, u8 *data)
{
	u64 first = start + ETCH_POS(r->header);
	u64 old = READ_ONCE(r->start);

	if (old & ETCH_START_CHANGING || old == first)
		return;
	WRITE_ONCE(r->start, (first ^ ETCH_START_FAR) | ETCH_START_CHANGING);
	WRITE_ONCE(r->base, data + r->header);
	WRITE_ONCE(r->start, first);
	/* etch_ring_close() may have come meanwhile, and left the pair to us. */
	if (READ_ONCE(r->closed) == start)
		WRITE_ONCE(r->start, first ^ ETCH_START_FAR);
}

/*
 * Claim the slot of the block that starts at @next, unless a writer that we
 * interrupted or that interrupted us already did. ETCH_AGAIN: it is claimed.
 */
static int claim(struct etch_ring *r, u64 next)
{
	u64 span = r->size * r->nr;
	u64 consumed = smp_load_acquire(&r->consumed);	/* (F) pairs with (f). */
	u64 lost[ETCH_LOST_OFF];
	struct etch_block *block;
	unsigned int dropped;
	u64 old, begin;
	u64 *slot;
	int i;

	if (!r->overwrite && etch_pos_after(next + r->size, consumed + span)) {
		WRITE_ONCE(r->full, consumed);
		return ETCH_LOST_FULL;
	}
	if (!etch_pos_after(etch_pos_bytes(READ_ONCE(r->committed)) + span, next + r->size))
		return ETCH_LOST_NESTED;

	slot = etch_ring_slot(r, next);
	old = READ_ONCE(*slot);
	if (!etch_pos_after(next, etch_slot_start(old)))
		return ETCH_AGAIN;

	/* All of this is read before the claim, so none of it is later than the block. */
	if (!begin_time(r, slot, old, &begin))
		return ETCH_AGAIN;
	count_lost(r, lost);
	block = &r->blocks[etch_slot_block(old)];
	dropped = old & ETCH_SLOT_TAKEN ? 0 : READ_ONCE(block->records);

	/* (C) pairs with (c) and (d). */
	if (cmpxchg(slot, old, etch_slot(next, etch_slot_block(old), 0)) != old)
		return ETCH_AGAIN;

	etch_ring_raise(&r->last, begin);
	WRITE_ONCE(block->begin, begin);
	for (i = 0; i < ETCH_LOST_OFF; i++)
		WRITE_ONCE(block->lost[i], lost[i]);
	WRITE_ONCE(block->pid, current->pid);
	local_add(dropped, &r->overwritten);
	return ETCH_AGAIN;
}

/* The block at @next was begun: does a reader wait for that? */
static void raise_for_block(struct etch_ring *r, u64 next)
{
	u64 at = READ_ONCE(r->alarm_at);

	if (at != ETCH_NO_ALARM && !etch_pos_after(at, next))
		etch_ring_raise_block(r, at, next);
}

/*
 * Move on to the next block: @pos is where we are, and what we want does not fit.
 * ETCH_AGAIN: look again, it may now.
 */
static int switch_block(struct etch_ring *r, u64 pos)
{
	u64 this = etch_ring_block_at(r, pos);
	u64 next = this + r->size;
	struct etch_block *left;
	u64 slot, time, lost;
	int ret, i;

	etch_ring_charge(r, pos);
	ret = claim(r, next);
	if (ret != ETCH_AGAIN)
		return ret;

	slot = READ_ONCE(*etch_ring_slot(r, next));
	if (etch_slot_start(slot) != next)
		return ETCH_AGAIN;
	refresh_pair(r, next, r->blocks[etch_slot_block(slot)].data);

	/* Behind all times of this block, and before those of the next one. */
	time = left_time(r);
	if (cmpxchg_local(&r->pos, pos, next + ETCH_POS(r->header)) != pos)
		return ETCH_AGAIN;

	/* Neither dropped nor taken before we have committed, so there is time. */
	slot = READ_ONCE(*etch_ring_slot(r, this));
	left = &r->blocks[etch_slot_block(slot)];
	WRITE_ONCE(left->end, etch_pos_off(pos, this));
	WRITE_ONCE(left->records, etch_pos_count(pos));
	WRITE_ONCE(left->left, time);
	for (i = 0, lost = 0; i < ETCH_LOST_OFF; i++)
		lost += left->lost[i];
	WRITE_ONCE(r->left_lost, lost);
	smp_wmb();	/* (G) pairs with (g). */
	local_add(etch_pos_count(pos), &r->written);
	raise_for_block(r, next);
	return ETCH_AGAIN;
}

/* The same for a writer's record: if the budget has paid for this block, and allows another. */
static int next_block(struct etch_ring *r, u64 pos)
{
	etch_ring_charge(r, pos);
	return etch_ring_spent(r) ? ETCH_LOST_THROTTLED : switch_block(r, pos);
}

/* Go on to another block, so that our caller's place is gone. False: there is none. */
static bool leave_block(struct etch_ring *r)
{
	u64 pos = READ_ONCE(r->pos);

	/* Goes round again if a reader took what was to be claimed. */
	while (READ_ONCE(r->pos) == pos)
		if (switch_block(r, pos) != ETCH_AGAIN)
			return false;
	return true;
}

/*
 * Has the writer that we interrupt claimed the next block, and not moved @pos to it? Then
 * @last tells when that one begins, and nothing of the block that @pos is in.
 */
static bool between_blocks(const struct etch_ring *r)
{
	u64 next = etch_ring_block_at(r, READ_ONCE(r->pos)) + r->size;

	return etch_slot_start(READ_ONCE(*etch_ring_slot(r, next))) == next;
}

/*
 * The time of a record by a clock that may go back, or leap: it is set, or the machine was
 * asleep. A record behind a leap goes into another block, whose begin tells readers of the
 * leap. If there is no such block, the clock may go on by as much as readers can tell, but
 * not to before the begin of a block that the writer which we interrupt has claimed, and has
 * not noted in @last. A writer that interrupts us and has a later time takes our place, too.
 */
static noinline u64 odd_time(struct etch_ring *r, u64 read)
{
	u64 time = floor_time(r, read);
	u64 floor = READ_ONCE(r->floor);
	u64 last = READ_ONCE(r->last) ?: floor;

	if (unlikely(between_blocks(r) ||
		     (last && (s64)(time - last) > (s64)ETCH_RING_AGE))) {
		if (leave_block(r))
			return time;
		time = min(time, max(last + ETCH_RING_AGE, floor));
	}
	return etch_ring_raise(&r->last, time);
}

/* Nearly all rings whose clock is not the counter have this one: there is no call more. */
static __always_inline u64 writer_time(enum etch_clock clock)
{
	/* The clock reads its own state again when somebody has changed it meanwhile. */
	return likely(clock == ETCH_CLOCK_MONO) ? data_race(ktime_get_mono_fast_ns()) :
						  etch_clock_read_slow(clock);
}

/*
 * As odd_time(). Nearly always nobody else is in flight, so @pos is in the block that was
 * claimed last, and the clock has gone on since the last record, by less than a leap.
 */
u64 etch_ring_time_slow(struct etch_ring *r, enum etch_clock clock)
{
	u64 time = writer_time(clock);
	u64 last = READ_ONCE(r->last);

	if (likely(READ_ONCE(r->nest) == 1 && time - last <= ETCH_RING_AGE &&
		   (s64)(time - READ_ONCE(r->floor)) >= 0 &&
		   try_cmpxchg_local(&r->last, &last, time)))
		return time;
	return odd_time(r, time);
}
EXPORT_SYMBOL_GPL(etch_ring_time_slow);

/* Reserve in the block where @pos is, through its slot. NULL: @pos has moved. */
static void *reserve_here(struct etch_ring *r, u64 pos, unsigned int len, u64 *time)
{
	u64 this = etch_ring_block_at(r, pos);
	u64 at = etch_pos_align(pos);
	u64 slot = READ_ONCE(*etch_ring_slot(r, this));
	u8 *data = r->blocks[etch_slot_block(slot)].data;

	if (etch_slot_start(slot) != this)
		return NULL;
	refresh_pair(r, this, data);
	*time = etch_ring_time(r);
	if (cmpxchg_local(&r->pos, pos, at + ETCH_POS(len) + 1) != pos)
		return NULL;
	return data + etch_pos_off(at, this);
}

static bool fits_here(const struct etch_ring *r, u64 pos, unsigned int len)
{
	u64 this = etch_ring_block_at(r, pos);

	if (READ_ONCE(r->closed) == this)
		return false;
	return etch_pos_off(etch_pos_align(pos), this) + len <= r->size >> ETCH_POS_SHIFT;
}

/* Why a record has no chance at all; ETCH_LOST_NR if it has one. */
static int refuse(const struct etch_ring *r, unsigned int len, unsigned int nest)
{
	/* (A) pairs with (a). */
	if (!smp_load_acquire(&r->limit))
		return ETCH_LOST_OFF;
	if (nest > ETCH_RING_MAX_NEST)
		return ETCH_LOST_NESTED;
	if (len > (r->size >> ETCH_POS_SHIFT) - r->header)
		return ETCH_LOST_TOO_BIG;
	return ETCH_LOST_NR;
}

/*
 * What etch_ring_reserve() does if the fast path will not do. @nest is the number of writers
 * in flight with this one, which may or may not be in r->nest yet. A writer that
 * is refused has touched nothing but a count: control may be at work on a ring that is off.
 */
void *etch_ring_reserve_slow(struct etch_ring *r, unsigned int len, u64 *time,
			     unsigned int nest)
{
	int cause;

	if (READ_ONCE(r->nest) != nest) {
		cause = refuse(r, len, nest);
		if (cause != ETCH_LOST_NR) {
			etch_ring_lose(r, cause);
			return NULL;
		}
		WRITE_ONCE(r->nest, nest);
	}
	if (READ_ONCE(r->limit) == ETCH_LIMIT_ALARM || READ_ONCE(r->quick) == ETCH_LIMIT_ALARM)
		etch_ring_raise_record(r);

	/* Goes round again only if a nested writer, or we, got something done. */
	do {
		u64 pos = READ_ONCE(r->pos);
		void *data;

		cause = ETCH_AGAIN;
		if (!fits_here(r, pos, len)) {
			cause = next_block(r, pos);
		} else {
			data = reserve_here(r, pos, len, time);
			if (data)
				return data;
		}
	} while (cause == ETCH_AGAIN);

	etch_ring_lose(r, cause);
	etch_ring_commit(r);
	return NULL;
}
EXPORT_SYMBOL_GPL(etch_ring_reserve_slow);

/* What etch_ring_reserve() does with a length that no record may have. */
void *etch_ring_refuse_short(struct etch_ring *r)
{
	WARN_ON_ONCE(true);
	etch_ring_lose(r, ETCH_LOST_TOO_BIG);
	return NULL;
}
EXPORT_SYMBOL_GPL(etch_ring_refuse_short);

/* Would a reader learn something if the block was left in which @pos is? */
static bool worth_leaving(const struct etch_ring *r, u64 pos)
{
	u64 lost[ETCH_LOST_OFF];

	return etch_pos_count(pos) || count_lost(r, lost) != READ_ONCE(r->left_lost);
}

/**
 * etch_ring_flush() - finish the sub-buffer being written, so that it can be taken whole
 * @r: the ring of this CPU, on or off
 *
 * Goes on to the next sub-buffer, if there is a record in this one. If records were
 * lost that no sub-buffer left so far tells of, one without records does. In
 * discard mode it does nothing if no sub-buffer is free; in overwrite mode it may
 * cost the oldest one.
 *
 * With two sub-buffers, the losses may show only after a second flush, once a reader has
 * taken the sub-buffer that the first flush finished.
 *
 * Context: any, NMI included, on the ring's CPU with preemption disabled; or anywhere
 * if that CPU is off line and stays so. Not beside control, on or off: the caller holds
 * the mutex until it is done.
 */
void etch_ring_flush(struct etch_ring *r)
{
	unsigned int nest = READ_ONCE(r->nest) + 1;
	u64 pos;

	if (nest > ETCH_RING_MAX_NEST)
		return;
	WRITE_ONCE(r->nest, nest);
	/* Goes round again for loss, or if a nested writer got something done. */
	do {
		pos = READ_ONCE(r->pos);
	} while (worth_leaving(r, pos) && switch_block(r, pos) == ETCH_AGAIN);
	etch_ring_commit(r);
}
EXPORT_SYMBOL_GPL(etch_ring_flush);

/**
 * etch_ring_abandon() - go on although the writers in flight will never commit
 * @r: the ring of this CPU
 *
 * A writer that dies between reserve and commit, by a fault in the data it stores, leaves the
 * ring as if it was in flight for ever: readers would see no later record, and once the
 * writers had gone round the ring, all records would be lost. This function publishes in
 * the dead writer's name. The dead writer's record may be incomplete.
 *
 * Context: on the ring's CPU; all writers in flight there must be dead.
 * Return: how many writers were in flight.
 */
unsigned int etch_ring_abandon(struct etch_ring *r)
{
	unsigned int nest = READ_ONCE(r->nest);

	if (nest) {
		WRITE_ONCE(r->nest, 1);
		etch_ring_commit_last(r);
	}
	return nest;
}
EXPORT_SYMBOL_GPL(etch_ring_abandon);
