// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's ring buffer: sub-buffers that get old, and a counter that the machine's sleep
 * changes.
 *
 * A record may hold the low 48 bits of its time alone, and then its neighbours, or the begin
 * of its sub-buffer, have to be near. Writers do not look at that: the fast path would pay
 * for it. Instead the ring's owner closes what has become old, and a clock that is not the
 * bare counter is looked at when it is read (etch_ring_time_slow()). So a ring whose clock is
 * the counter is changed to that way of reading it for as long as the machine suspends and
 * resumes, and for good if the counter was set back meanwhile.
 *
 * All that is here interrupts the writers of the ring's CPU, or nobody: it is a step of
 * theirs. ring.c says what a closed block is to them.
 */

#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/export.h>

#include "ring/ring_internal.h"

/**
 * etch_ring_latest() - the latest time that a record can have so far
 * @r: the ring
 *
 * The ring's clock may have gone back since.
 *
 * Context: any, without the mutex. The answer may be out of date by the time it is given.
 * Return: that time; 0 if the clock is the counter, which does not go back.
 */
u64 etch_ring_latest(const struct etch_ring *r)
{
	u64 floor = READ_ONCE(r->floor), last = READ_ONCE(r->last);

	if (READ_ONCE(r->clock) == ETCH_CLOCK_COUNTER)
		return 0;
	return (s64)(last - floor) > 0 ? last : floor;
}
EXPORT_SYMBOL_GPL(etch_ring_latest);

/**
 * etch_ring_old() - is it time to close the sub-buffer that is being written?
 * @r: the ring
 *
 * Ask once an hour or so, and have etch_ring_close() called on the ring's CPU if it is: then
 * the records of a sub-buffer lie less than 2^47 of the clock's units apart, with a counter
 * of up to 19 GHz.
 *
 * Context: any but beside control, without the mutex. The answer may be out of date by the
 * time it is given.
 * Return: true if that was begun ETCH_RING_AGE ago, and is not closed.
 */
bool etch_ring_old(const struct etch_ring *r)
{
	u64 at = etch_ring_block_at(r, READ_ONCE(r->pos));
	u64 slot = READ_ONCE(*etch_ring_slot(r, at));
	u64 begin;

	/* Before the first record there is none: that slot is taken from the start. */
	if (etch_slot_start(slot) != at || slot & ETCH_SLOT_TAKEN || READ_ONCE(r->closed) == at)
		return false;
	/* If it was claimed just now this may be of an earlier one: then the answer is wrong. */
	begin = READ_ONCE(r->blocks[etch_slot_block(slot)].begin);
	return (s64)(etch_clock_read(READ_ONCE(r->clock)) - begin) >= (s64)ETCH_RING_AGE;
}
EXPORT_SYMBOL_GPL(etch_ring_old);

/**
 * etch_ring_close() - let the next record begin another sub-buffer
 * @r: the ring of this CPU, on or off
 *
 * The sub-buffer that is being written takes no more records. Nothing is overwritten before
 * there is one that needs another. In discard mode that record is lost, as any other would
 * be, if no sub-buffer is free.
 *
 * Context: any, NMI included, on the ring's CPU with preemption disabled; or anywhere
 * if that CPU is off line and stays so. Not beside control, on or off: the caller holds the
 * mutex until it is done.
 */
void etch_ring_close(struct etch_ring *r)
{
	u64 this = etch_ring_block_at(r, READ_ONCE(r->pos));
	u64 slot = READ_ONCE(*etch_ring_slot(r, this));

	/* Before the first record there is none: that slot is taken from the start. */
	if (etch_slot_start(slot) != this || slot & ETCH_SLOT_TAKEN)
		return;
	WRITE_ONCE(r->closed, this);
	/* If a writer that we interrupt is changing the pair, it looks when it is through. */
	if (!(READ_ONCE(r->start) & ETCH_START_CHANGING))
		WRITE_ONCE(r->start, (this + ETCH_POS(r->header)) ^ ETCH_START_FAR);
}
EXPORT_SYMBOL_GPL(etch_ring_close);

/**
 * etch_ring_suspend() - be ready for a counter that leaps, or starts anew
 * @r: the ring of this CPU, on or off
 *
 * From now on the counter is read as other clocks are: it does not go back, what it was
 * set back by is added, and the ring notices a leap. Call it when etch_clock_steady() is
 * false. A ring with another clock is left alone.
 *
 * Context: as etch_ring_close().
 */
void etch_ring_suspend(struct etch_ring *r)
{
	if (READ_ONCE(r->clock) != ETCH_CLOCK_COUNTER)
		return;
	/* Writers that are nested here read it only when the clock is the other one. */
	WRITE_ONCE(r->floor, etch_clock_read(ETCH_CLOCK_COUNTER));
	WRITE_ONCE(r->quick, 0);
	WRITE_ONCE(r->clock, ETCH_CLOCK_STEPPED);
	/* Nor is it before a time that they, or the writers we interrupt, read of the counter. */
	etch_ring_raise(&r->floor, etch_clock_read(ETCH_CLOCK_COUNTER));
}
EXPORT_SYMBOL_GPL(etch_ring_suspend);

/**
 * etch_ring_resume() - go back to the counter as it is
 * @r: the ring of this CPU, on or off
 *
 * Undoes etch_ring_suspend(), unless the counter was set back: then there is no way back.
 * Call it when all is awake.
 *
 * Context: as etch_ring_close().
 */
void etch_ring_resume(struct etch_ring *r)
{
	if (READ_ONCE(r->clock) != ETCH_CLOCK_STEPPED || !etch_clock_steady())
		return;
	if (etch_ring_old(r))
		etch_ring_close(r);
	WRITE_ONCE(r->clock, ETCH_CLOCK_COUNTER);
	/* If it is on. */
	WRITE_ONCE(r->quick, READ_ONCE(r->limit));
}
EXPORT_SYMBOL_GPL(etch_ring_resume);
