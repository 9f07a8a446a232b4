/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_ETCH_RING_WRITE_H
#define _LINUX_ETCH_RING_WRITE_H

/*
 * Etch's ring buffer: what its writers call, in line.
 *
 * <linux/etch_ring.h> is the manual. A caller that stores records includes this header; one that
 * makes, controls or reads rings needs that one alone.
 */

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/types.h>

#include <asm/local.h>

/**
 * etch_ring_lose() - count a record that was not even tried to be stored
 * @r:     the ring of this CPU
 * @cause: why
 *
 * Context: any, NMI included, on the ring's CPU with preemption disabled.
 */
static __always_inline void etch_ring_lose(struct etch_ring *r, enum etch_lost cause)
{
	local_inc(&r->lost[cause]);
}

/*
 * Read a field that only this CPU's writers change, such that the compiler may make it the operand
 * of an instruction: READ_ONCE() costs a load of its own. The caller sees to the order by
 * barrier(), and uses what is read once, or not at all if @pos has moved.
 */
#define etch_ring_plain(field)	data_race(field)

/* Where a record goes whose predecessor ends at @pos: on the next multiple of 4. */
static __always_inline u64 etch_pos_align(u64 pos)
{
	return (pos + ETCH_POS(3)) & ~ETCH_POS(3);
}

/*
 * A time that is not before any that was read for this ring earlier. The counter gives just
 * that by itself.
 */
static __always_inline u64 etch_ring_time(struct etch_ring *r)
{
	enum etch_clock clock = READ_ONCE(r->clock);

	if (likely(clock == ETCH_CLOCK_COUNTER))
		return etch_clock_counter();
	return etch_ring_time_slow(r, clock);
}

/*
 * Reserving
 * =========
 *
 * A writer is in flight from raising @nest to its commit. A writer that is in
 * flight has to reserve or lose a record, and commit; one that is not may just go.
 *
 *	function			case				goes on with
 *	etch_ring_reserve_quick()	counter, nobody in flight, no	etch_ring_reserve_other()
 *					interrupt; inline, no call
 *	etch_ring_reserve_clock()	any clock, nobody in flight,	etch_ring_reserve_other()
 *					no interrupt; after quick
 *	etch_ring_reserve_since()	as quick, and nobody has re-	etch_ring_reserve_other()
 *					served since the clock was read
 *	etch_ring_reserve_other()	cases that quick leaves		__etch_ring_reserve(), or if
 *									in flight the slow path
 *	__etch_ring_reserve()		the cached pair is right	etch_ring_reserve_slow()
 *	etch_ring_reserve_slow()	all: through the slots		-
 *	etch_ring_reserve()		__etch_ring_reserve() for	-
 *					lengths that nobody checked
 *
 * and in the same way
 *
 *	etch_ring_commit_quick()	nobody else in flight, no	etch_ring_commit_other()
 *					interrupt; inline, no call
 *	etch_ring_commit_other()	cases that quick leaves		-
 *	etch_ring_commit()		all				-
 *
 * The slow path's @nest is the number of writers in flight with this one. If that is what
 * r->nest says, the caller has raised it: its first try went wrong after that. Otherwise
 * r->nest is one less, and the slow path first decides whether the record has a chance.
 */

/*
 * etch_ring_reserve() for callers whose records are never shorter than ETCH_RING_MIN_RECORD.
 * The fast path whole: one clock read and one local compare-and-exchange. An
 * interrupt that reserves in between makes the latter fail and the clock is read
 * again, so places and times agree. One unsigned comparison sends all else to the
 * slow path: a full block, a cached start that is behind, ahead or being changed,
 * a record that is too big, a ring that is off, an alarm. @nest is raised as late as possible:
 * the values read before that count only if @pos has not moved since.
 */
static __always_inline void *__etch_ring_reserve(struct etch_ring *r, unsigned int len, u64 *time)
{
	/* (A) before all else that control changes; pairs with etch_ring_on() */
	unsigned int limit = smp_load_acquire(&r->limit);
	unsigned int nest = READ_ONCE(r->nest) + 1;
	u64 pos = READ_ONCE(r->pos);
	u64 at, off;
	u8 *base;

	do {
		at = etch_pos_align(pos);
		off = (at - READ_ONCE(r->start)) >> ETCH_POS_SHIFT;
		if (unlikely(off + len > limit || nest > ETCH_RING_MAX_NEST))
			return etch_ring_reserve_slow(r, len, time, nest);
		base = READ_ONCE(r->base);
		WRITE_ONCE(r->nest, nest);
		*time = etch_ring_time(r);
	} while (unlikely(!try_cmpxchg_local(&r->pos, &pos, at + ETCH_POS(len) + 1)));

	return base + off;
}

/**
 * etch_ring_reserve() - get room for one record
 * @r:    the ring of this CPU
 * @len:  bytes, at least ETCH_RING_MIN_RECORD
 * @time: the record's time stamp, if it got room
 *
 * More records than a block's 16-bit count can hold would run into the position. A constant
 * @len that is too short does not compile; another one is refused, counted as too big, and
 * warned of once.
 *
 * Context: any, NMI included, on the ring's CPU with preemption disabled from here
 * to the commit.
 * Return: the place of the record, aligned to 4 bytes: fill in @len bytes and call
 * etch_ring_commit(). NULL if it is lost, which has been counted: do not commit.
 */
static __always_inline void *etch_ring_reserve(struct etch_ring *r, unsigned int len, u64 *time)
{
	BUILD_BUG_ON(__builtin_constant_p(len) && len < ETCH_RING_MIN_RECORD);
	if (unlikely(len < ETCH_RING_MIN_RECORD))
		return etch_ring_refuse_short(r);
	return __etch_ring_reserve(r, len, time);
}

/* How etch_ring_reserve_quick() ended. */
enum etch_quick {
	ETCH_QUICK_DONE,	/* a record is reserved */
	ETCH_QUICK_NESTED,	/* another writer is in flight */
	ETCH_QUICK_LOST,	/* the record is lost, and counted; we are not in flight */
	ETCH_QUICK_OTHER,	/* another case than the simple one; we are not in flight */
	ETCH_QUICK_RAISED,	/* an interrupt moved @pos; we are in flight: @nest is raised */
};

/*
 * Is the ring known to be full for @len bytes? @off and @limit are what reserving has
 * worked out: @off shows that the cached pair stands for the block that is written.
 */
static __always_inline bool etch_ring_full(const struct etch_ring *r, u64 off, u64 len,
					   u64 limit)
{
	return off <= limit && len <= limit && READ_ONCE(r->full) == READ_ONCE(r->consumed);
}

/*
 * All that reserving does before it reads the clock, by a writer that has found no other in
 * flight: if ETCH_QUICK_DONE, @record is the place of the record while r->pos is @pos, and its end
 * will be @end. The caller has read @limit before.
 */
static __always_inline enum etch_quick
etch_ring_aim(struct etch_ring *r, unsigned int limit, unsigned long len, u64 *posp, u64 *endp,
	      void **record)
{
	u64 pos = READ_ONCE(r->pos), at = etch_pos_align(pos), off;

	*posp = pos;
	barrier();	/* @pos, then @start */
	off = (at - etch_ring_plain(r->start)) >> ETCH_POS_SHIFT;

	if (unlikely(off + len > limit)) {
		if (!etch_ring_full(r, off, len, limit))
			return ETCH_QUICK_OTHER;
		etch_ring_lose(r, ETCH_LOST_FULL);
		return ETCH_QUICK_LOST;
	}
	barrier();	/* @start, then @base */

	/* Both are worked out here: behind the clock there are no registers left. */
	*record = etch_ring_plain(r->base) + off;
	at += ETCH_POS(len) + 1;
	OPTIMIZER_HIDE_VAR(*record);
	OPTIMIZER_HIDE_VAR(at);
	*endp = at;
	return ETCH_QUICK_DONE;
}

/*
 * Move r->pos from @pos to @end, as etch_ring_aim() gave them, by a writer in flight. If an
 * interrupt has moved it, @lenp is worked out again: so no register has to keep that.
 */
static __always_inline enum etch_quick etch_ring_move(struct etch_ring *r, unsigned long *lenp,
						      u64 pos, u64 end)
{
	u64 old = pos;

	if (likely(try_cmpxchg_local(&r->pos, &pos, end)))
		return ETCH_QUICK_DONE;
	OPTIMIZER_HIDE_VAR(old);
	*lenp = (end - 1 - etch_pos_align(old)) >> ETCH_POS_SHIFT;
	return ETCH_QUICK_RAISED;
}

/* etch_ring_reserve_quick() by a writer that has found no other in flight. */
static __always_inline enum etch_quick
etch_ring_reserve_alone(struct etch_ring *r, unsigned long *lenp, struct etch_ticks *time,
			void **record)
{
	/* (A) as in etch_ring_reserve() */
	unsigned int limit = smp_load_acquire(&r->quick);
	u64 pos, end;
	enum etch_quick how = etch_ring_aim(r, limit, *lenp, &pos, &end, record);

	if (unlikely(how != ETCH_QUICK_DONE))
		return how;
	WRITE_ONCE(r->nest, 1);
	*time = etch_ticks_read();
	return etch_ring_move(r, lenp, pos, end);
}

/**
 * etch_ring_reserve_quick() - etch_ring_reserve() for the case that nearly all are
 * @r:      as there
 * @lenp:   as @len there, for etch_ring_reserve_other(), too
 * @time:   as there, as the counter gave it
 * @record: the place of the record, if it has one
 *
 * Reserves if no other writer is in flight, the clock is the counter, and no interrupt
 * comes: in a straight line and without a call. The caller handles all other cases by a
 * jump to another function, so that it saves no register for them here. The caller makes
 * sure that it is not below ETCH_RING_MIN_RECORD.
 *
 * Context: as etch_ring_reserve().
 * Return: if neither ETCH_QUICK_DONE nor ETCH_QUICK_LOST: what to ask
 * etch_ring_reserve_other() with.
 */
static __always_inline enum etch_quick
etch_ring_reserve_quick(struct etch_ring *r, unsigned long *lenp, struct etch_ticks *time,
			void **record)
{
	if (unlikely(etch_ring_plain(r->nest)))
		return ETCH_QUICK_NESTED;
	return etch_ring_reserve_alone(r, lenp, time, record);
}

/**
 * etch_ring_reserve_clock() - etch_ring_reserve_quick() by any clock
 * @r:      as there; the caller has found no other writer in flight
 * @lenp:   as there
 * @time:   as there, whole
 * @record: as there
 *
 * For rings whose clock is not the counter. The only call here reads the clock.
 *
 * Context: as etch_ring_reserve().
 * Return: as etch_ring_reserve_quick().
 */
static __always_inline enum etch_quick
etch_ring_reserve_clock(struct etch_ring *r, unsigned long *lenp, u64 *time, void **record)
{
	/* (A) as in etch_ring_reserve() */
	unsigned int limit = smp_load_acquire(&r->limit);
	u64 pos, end;
	enum etch_quick how = etch_ring_aim(r, limit, *lenp, &pos, &end, record);

	if (unlikely(how != ETCH_QUICK_DONE))
		return how;
	WRITE_ONCE(r->nest, 1);
	*time = etch_ring_time(r);
	return etch_ring_move(r, lenp, pos, end);
}

/**
 * etch_ring_position() - where a ring is, for etch_ring_reserve_since()
 * @r: the ring of this CPU
 *
 * Context: as etch_ring_reserve().
 * Return: a position.
 */
static __always_inline u64 etch_ring_position(const struct etch_ring *r)
{
	return READ_ONCE(r->pos);
}

/**
 * etch_ring_reserve_since() - etch_ring_reserve_quick() with a time that was read before
 * @r:      as there
 * @len:    as there
 * @then:   etch_ring_position(), from before the counter was read
 * @record: as there
 *
 * If nobody has reserved in the ring since then, that time is not before any in it, and a writer
 * need not read the counter once more. So one reading is for records in several rings. Until this
 * call nothing in the ring tells readers of the record.
 *
 * Context: as etch_ring_reserve(); since etch_ring_position() on one CPU, with preemption disabled.
 * Return: ETCH_QUICK_DONE: the record has that time. If neither that nor ETCH_QUICK_LOST: what to
 * ask etch_ring_reserve_other() with; then it has another time.
 */
static __always_inline enum etch_quick
etch_ring_reserve_since(struct etch_ring *r, unsigned long len, u64 then, void **record)
{
	enum etch_quick how;
	unsigned int limit;
	u64 pos, end;

	if (unlikely(etch_ring_plain(r->nest)))
		return ETCH_QUICK_NESTED;
	/* (A) as in etch_ring_reserve() */
	limit = smp_load_acquire(&r->quick);
	how = etch_ring_aim(r, limit, len, &pos, &end, record);
	if (unlikely(how != ETCH_QUICK_DONE))
		return how;
	if (unlikely(pos != then))
		return ETCH_QUICK_OTHER;
	WRITE_ONCE(r->nest, 1);
	return likely(try_cmpxchg_local(&r->pos, &pos, end)) ? ETCH_QUICK_DONE :
							       ETCH_QUICK_RAISED;
}

/**
 * etch_ring_reserve_other() - go on where etch_ring_reserve_quick() did not
 * @r:    as there
 * @len:  as there
 * @time: as there
 * @why:  what it said
 *
 * Context: as etch_ring_reserve(), and at once.
 * Return: as etch_ring_reserve().
 */
static __always_inline void *etch_ring_reserve_other(struct etch_ring *r, unsigned int len,
						     u64 *time, enum etch_quick why)
{
	if (why == ETCH_QUICK_RAISED)
		return etch_ring_reserve_slow(r, len, time, 1);
	return __etch_ring_reserve(r, len, time);
}

/**
 * etch_ring_commit_quick() - etch_ring_commit() for the case that nearly all are
 * @r: as there
 *
 * Commits if no other writer is in flight, and no interrupt comes: in a straight line, for
 * callers in line. They handle all other cases by a call.
 *
 * Context: as etch_ring_commit().
 * Return: true, or the caller has to call etch_ring_commit_other().
 */
static __always_inline bool etch_ring_commit_quick(struct etch_ring *r)
{
	u64 pos;

	barrier();	/* the record is stored before we are seen to be gone */
	if (unlikely(etch_ring_plain(r->nest) != 1))
		return false;
	pos = READ_ONCE(r->pos);
	/* (B) as in etch_ring_commit_last() */
	smp_store_release(&r->committed, pos);
	WRITE_ONCE(r->nest, 0);
	barrier();	/* gone, then @pos once more */
	return likely(etch_ring_plain(r->pos) == pos);
}

/* etch_ring_commit() by the last one in flight, which publishes for all. */
static __always_inline void etch_ring_commit_last(struct etch_ring *r)
{
	u64 pos;

	barrier();	/* the record is stored before we are seen to be gone */
	for (;;) {
		pos = READ_ONCE(r->pos);
		/* (B) records and descriptors first; pairs with the readers' (b) */
		smp_store_release(&r->committed, pos);
		WRITE_ONCE(r->nest, 0);
		if (likely(READ_ONCE(r->pos) == pos))
			return;
		WRITE_ONCE(r->nest, 1);
	}
}

/**
 * etch_ring_commit() - hand in the record that was reserved last
 * @r: the ring of this CPU
 *
 * Only the outermost writer publishes, for all that interrupted it: it stores
 * @pos as @committed, and looks once more in case an interrupt moved @pos after
 * it was read but left the publishing to us.
 *
 * Context: as etch_ring_reserve(); exactly once for each of its successes.
 */
static __always_inline void etch_ring_commit(struct etch_ring *r)
{
	unsigned int nest = READ_ONCE(r->nest);

	if (likely(nest == 1))
		return etch_ring_commit_last(r);
	barrier();	/* the record is stored before we are seen to be gone */
	WRITE_ONCE(r->nest, nest - 1);
}

/**
 * etch_ring_commit_other() - go on where etch_ring_commit_quick() did not
 * @r: as there
 *
 * Context: as etch_ring_commit(), and at once.
 */
static __always_inline void etch_ring_commit_other(struct etch_ring *r)
{
	/* An interrupt moved @pos: we were seen to be gone too early, and are back. */
	if (!READ_ONCE(r->nest))
		WRITE_ONCE(r->nest, 1);
	etch_ring_commit(r);
}

#endif /* _LINUX_ETCH_RING_WRITE_H */
