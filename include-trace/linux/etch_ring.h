/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Etch's ring buffer: records from any context of one CPU to a reader on another.
 *
 * It knows nothing of events and files; any kernel code may have one of its own.
 *
 *	r = etch_ring_create(&params);		task context, may sleep
 *
 *	preempt_disable();			on the ring's CPU, any context: etch_ring_write.h
 *	p = etch_ring_reserve(r, len, &time);
 *	if (p) {
 *		... fill in len bytes at p ...
 *		etch_ring_commit(r);
 *	}
 *	preempt_enable();
 *
 *	mutex_lock(&mine);			task context, any CPU
 *	while (etch_ring_take(r, &view) > 0) {
 *		... use view.len bytes at view.data ...
 *		etch_ring_advance(r, view.len, view.records);
 *	}
 *	mutex_unlock(&mine);
 *
 * For writers. A reservation never blocks, waits, locks, allocates or wakes
 * anyone; it may raise an alarm for a reader that waits, from the slow path. Writers on
 * one CPU nest: an interrupt that reserves while a task is between reserve and commit is
 * fine, and so is an NMI in that interrupt. A record that cannot be stored is lost and
 * counted by cause, never stored in part.
 *
 * The memory. The ring has n sub-buffers (n a power of two), each of them physically
 * contiguous pages. A sub-buffer opens with header_size bytes which the ring leaves alone,
 * for a caller that makes packets of sub-buffers; then come records. A record starts on a
 * multiple of 4 bytes and has the length that its writer reserved. The ring does not write
 * to the bytes between two records, nor to bytes of a record that its writer leaves out:
 * they are zero, or remains of records that were overwritten or read since
 * etch_ring_reset(), which zeroes all. Records do not cross sub-buffers.
 *
 * A block is a sub-buffer in its place in time: between one opening and the next, with a
 * start position and a number (view.seq) that no other block has. A packet is a block on
 * its way to a trace; the ring does not know of packets.
 *
 * The time. The ring stamps the time, no more: etch_ring_reserve()
 * gives the time that belongs to the place of the record, such that time never
 * decreases from one record to the next: if the clock goes back, because it was set, the
 * latest time holds until it has caught up. The caller stores as much of it as it
 * likes. Etch stores 48 bits; a reader that sees each record in turn gets the rest
 * back as full = last + ((stored - last) & (2^48 - 1)), beginning with view.begin.
 * That is right as long as two neighbours in a sub-buffer lie less than 2^48 apart
 * (for a counter of 3 GHz that is 26 hours). Three things see to it:
 *
 *	A reader that stops in the middle of a view tells the ring the time of the last
 *	record that it has read: etch_ring_advance_to(). The next view begins with that.
 *
 *	The owner of a ring asks etch_ring_old() every now and then, once an hour say, and
 *	has an old sub-buffer closed: etch_ring_close(). The next record, whenever it
 *	comes, goes into another one, which begins with a time of its own.
 *
 *	A clock other than the counter may leap ahead, because it was set or the machine
 *	was asleep. The ring notices that when it reads the clock, and leaves the
 *	sub-buffer by itself. While the machine suspends, the counter is treated in the
 *	same way, and may start anew: etch_ring_suspend().
 *
 * Modes. In overwrite mode (a flight recorder) a full ring drops its oldest
 * block and counts the records in it as overwritten. In discard mode it keeps its
 * records, and new ones are lost: full.
 *
 * Accounting, exact per record whenever no writer is in flight:
 *
 *	written = read + overwritten + entries
 *	tried   = written + lost_full + lost_nested + lost_too_big + lost_throttled + lost_off
 *
 * Budgets. Rings may share a budget, which bounds how much they store in a time, in bytes or
 * records: struct etch_ring_budget. A writer that wants another block when the budget is spent
 * loses its record: throttled. Only a writer whose block has no room looks at the budget.
 *
 * The calls that may run beside each other:
 *
 *			reserve, commit	reader		control
 *	reserve, commit	nesting only	yes		no: quiescent
 *	reader		yes		no: mutex	no: mutex
 *	on, off, stats	yes		no: mutex	no: mutex
 *
 * "Reader" is take, advance, peek and the questions; "control" is reset, resize
 * commit, set_mode, set_clock and free. The ring has no lock: the caller
 * serialises readers and control of one ring by a mutex of its own. Only
 * etch_ring_empty(), etch_ring_filled() and etch_ring_busy() may be asked without
 * it, the second of them not beside resize. "Quiescent"
 * means that no writer is or will be between reserve and commit. The caller gets there by
 * etch_ring_off() and then synchronize_rcu(), since writers run with preemption
 * disabled. etch_ring_off() alone stops new records but not one half-way.
 *
 * etch_ring_flush(), etch_ring_close(), etch_ring_suspend() and etch_ring_resume() are
 * writers that etch_ring_off() does not stop. So that they are not beside control, the
 * caller holds the mutex until they are done.
 *
 * After a writer has died between reserve and commit, call etch_ring_abandon().
 */
#ifndef _LINUX_ETCH_RING_H
#define _LINUX_ETCH_RING_H

#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/etch_clock.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include <asm/local.h>

/* The smallest record and the largest sub-buffer: so a block's records count in 16 bits. */
#define ETCH_RING_MIN_RECORD	12
#define ETCH_RING_MAX_SUBBUF	(512 * 1024)
#define ETCH_RING_SUBBUF	(16 * 1024)	/* the default */
#define ETCH_RING_MAX_NEST	8		/* writers in flight on one CPU */

/*
 * A position is one 64-bit word:
 *
 *	63                              16 15            0
 *	+---------------------------------+---------------+
 *	|              bytes              |    records    |
 *	+---------------------------------+---------------+
 *
 *	bytes	since the ring was made or reset, headers and ends of blocks included,
 *		modulo 2^48
 *	records	in @pos and @committed alone, 0 in all other words: records reserved so
 *		far in the block that holds the last of those bytes
 *
 * So one compare-and-exchange reserves a record's bytes and counts it. The functions on the
 * word, the last six of them in ring_internal.h:
 *
 *	ETCH_POS(bytes)			a position, or a distance, of so many bytes
 *	etch_pos_align(pos)		where the next record goes; keeps the records
 *	etch_pos_bytes(pos)		the position without the records
 *	etch_pos_count(pos)		the records
 *	etch_pos_after(a, b)		is a behind b? By the sign of their difference
 *	etch_pos_off(pos, start)	bytes from start to pos
 *	etch_ring_block_at(r, pos)	start of the block with the last byte before pos
 *	etch_ring_block_from(r, at)	start of the block with the byte at @at
 *
 * A record of len bytes moves @pos to etch_pos_align(pos) + ETCH_POS(len) + 1.
 */
#define ETCH_POS_SHIFT		16
#define ETCH_POS(bytes)		((u64)(bytes) << ETCH_POS_SHIFT)
#define ETCH_POS_COUNT		(ETCH_POS(1) - 1)

/* In etch_ring.full, .closed and .alarm_at: no position, and so never equal to one. */
#define ETCH_NOT_FULL		1
#define ETCH_NOT_CLOSED		1
#define ETCH_NO_ALARM		1

/* In etch_ring.limit and .quick: on, and the next record raises the alarm. No record fits. */
#define ETCH_LIMIT_ALARM	1

/*
 * How old a sub-buffer gets, in units of the ring's clock: a quarter of what the low 48 bits
 * of a time can tell apart. The other three quarters allow for owners that ask rarely.
 */
#define ETCH_RING_AGE		(1ULL << 46)

/* Why a record was lost. */
enum etch_lost {
	ETCH_LOST_FULL,		/* discard mode, and no block is free */
	ETCH_LOST_NESTED,	/* an interrupted writer is in the way, or nested too deep */
	ETCH_LOST_TOO_BIG,	/* does not even fit in an empty block */
	ETCH_LOST_THROTTLED,	/* another block was wanted, and the budget is spent */
	ETCH_LOST_OFF,		/* the ring is off: the last one, and no view counts it */
	ETCH_LOST_NR
};

/* How far rings may get ahead of the rate of their budget, in nanoseconds. */
#define ETCH_BUDGET_PERIOD	100000000ULL

/**
 * struct etch_ring_rate - how fast something may be stored
 * @num: nanoseconds that @den of it cost
 * @den: 0: any rate
 * @paid: the time, of the monotonic clock, up to which all that was stored is paid for
 */
struct etch_ring_rate {
	u64	num;
	u64	den;
	u64	paid;
};

/**
 * struct etch_ring_budget - how much rings may store together
 * @bytes: content of blocks, headers included
 * @records: records
 *
 * All zeroes is no bound. The owner of the rings has it, for longer than they are.
 */
struct etch_ring_budget {
	struct etch_ring_rate bytes;
	struct etch_ring_rate records;
};

/*
 * A sub-buffer's memory, and the figures of the block in it. Writers write it while the
 * sub-buffer belongs to a slot; it is stable once it belongs to the reader.
 */
struct etch_block {
	void	*data;		/* the pages, header first */
	u64	begin;		/* not after the first record's time */
	u64	left;		/* not before the last record's time: noted on leaving */
	u64	lost[ETCH_LOST_OFF]; /* records lost when the block was begun, by cause */
	u32	end;		/* where the content ends, in bytes from data: noted on leaving */
	u32	records;	/* how many: noted on leaving */
	s32	pid;		/* the thread that ran when the block was begun */
};

/**
 * struct etch_ring - one CPU's buffer; all fields but one are the ring's own
 * @owner: the owner's; the ring neither reads nor writes it
 *
 * The first cache line is all that the fast path touches besides the record. It is
 * written by the ring's CPU only, but for @quick, @limit and @clock. Losing a record because
 * the ring is full touches @lost and @consumed, too.
 *
 * The last word of that line is @owner: a CPU that finds the ring by a pointer there has the line
 * before it follows the pointer.
 */
struct etch_ring {
	/* private: */
	u64		pos;		/* where the next record starts, before rounding */
	u64		committed;	/* all before it is stored; an earlier value of pos */
	u64		start;		/* cached: where the records of the current block start */
	u8		*base;		/* cached: the address that belongs to start */
	unsigned int	nest;		/* writers in flight */
	unsigned int	quick;		/* limit if the clock is the counter, else 0 */
	unsigned int	limit;		/* bytes for records in a block; 0: off; or ALARM */
	enum etch_clock	clock;
	u64		full;		/* cached: what consumed was when there was no free block */
	/* public: */
	void		*owner;
	/* private: */

	/* The slow path's: read by the ring's CPU, changed when quiescent. */
	u64		*slots ____cacheline_aligned;
	struct etch_block *blocks;	/* nr + 1 */
	u64		size;		/* of a sub-buffer, as a position */
	unsigned int	shift;		/* of a sub-buffer's size */
	unsigned int	nr;		/* slots, a power of two */
	unsigned int	header;		/* bytes at the start of a block */
	bool		overwrite;
	bool		fixed;		/* it and its pages lie in memory of the caller's */
	bool		placed;		/* it alone does, by etch_ring_settle() */
	int		node;
	local_t		lost[ETCH_LOST_NR];	/* since the ring was made */
	u64		forgotten[ETCH_LOST_NR]; /* of those, when it was emptied last */
	u64		left_lost;	/* lost, as the block that was left last tells it */
	u64		floor;		/* the latest time; not kept for the counter */
	u64		last;		/* the same of a record, or a block: what readers know */
	u64		closed;		/* the block that takes no more records */
	u64		charged;	/* the budget has paid for all before that pos */
	u64		alarm_at;	/* beginning this block, or a later one, raises the alarm */
	void		(*alarm)(void *data, bool pressing); /* NULL: nobody sets it */
	void		*alarm_data;
	struct etch_ring_budget *budget; /* NULL: none */
	local_t		written;	/* in blocks that were left */
	local_t		overwritten;	/* in blocks that were dropped, read or not */

	/* The reader's place. Writers in discard mode read consumed. */
	u64		consumed ____cacheline_aligned; /* slots before it may be claimed */
	u64		rd;		/* the next byte to read */
	u64		rd_block;	/* the start of the block that rd is in */
	u32		rd_end;		/* where the last view ended, from rd_block */
	u32		rd_records;	/* records of that block that were read */
	u64		rd_time;	/* the latest that etch_ring_advance_to() was given */
	u64		left;		/* when the sub-buffer was left that was taken whole last */
	u64		wraps;		/* how often the start of a block was less than the last */

	/* The memory in the reader's hand. */
	u32		spare;		/* the block that no slot has */
	bool		held;		/* spare is the block at rd_block, and not all read */
	void		*copy;		/* of the committed part of the open block */

	/* The reader's account, in records. */
	u64		read;		/* by views and whole sub-buffers */
	u64		reread;		/* read from the copy, counted as overwritten later */
	u64		told;		/* overwritten, and reported by a view */
};

static_assert(offsetofend(struct etch_ring, owner) <= 64,
	      "the fast path's fields fit in one cache line");

/**
 * struct etch_ring_params - what a ring is made of
 * @node:        memory node, or NUMA_NO_NODE
 * @size:        bytes for records and headers; rounded up to 2, 4, 8 ... sub-buffers
 * @subbuf_size: bytes of a sub-buffer: a power of two from PAGE_SIZE to
 *               ETCH_RING_MAX_SUBBUF, or 0 for ETCH_RING_SUBBUF (at least a page)
 * @header_size: bytes to leave free at the start of each; rounded up to 8, at least 8
 * @overwrite:   overwrite mode, else discard mode
 * @clock:       whose time etch_ring_reserve() gives
 * @floor:       a time that records are not before: 0, or etch_ring_latest() of a ring whose
 *               place it takes
 * @alarm:       called by the writer that raises the alarm (etch_ring_set_alarm()), in any
 *               context, NMI included; NULL: the alarm is never set. With @pressing, half
 *               of the ring is full and unread, so the reader should not be kept waiting
 * @alarm_data:  what it is called with
 * @budget:      of this ring and others; NULL: none
 */
struct etch_ring_params {
	int		node;
	size_t		size;
	unsigned int	subbuf_size;
	unsigned int	header_size;
	bool		overwrite;
	enum etch_clock	clock;
	u64		floor;
	void		(*alarm)(void *data, bool pressing);
	void		*alarm_data;
	struct etch_ring_budget *budget;
};

/**
 * struct etch_view - some records, in order, for a reader
 * @data:    the first record; its address is a multiple of 4. The next one starts
 *           where it ends, rounded up to a multiple of 4.
 * @len:     bytes from @data to the end of the last record
 * @records: how many
 * @begin:   a time not after the first record here: when their block was begun, or if part
 *           of it was read before, the last @time given to etch_ring_advance_to()
 * @end:     a time not before the last record of their block; 0 if @open
 * @seq:     the number of their block: each one has one more than the one before, and
 *           goes on where positions wrap
 * @pid:     the thread that was running when their block was begun
 * @lost:    records lost on this ring while it was on, by cause, when their block was
 *           begun. Grows from view to view by the records lost between, or in, the blocks.
 * @missed:  records that this reader did not get because they were overwritten
 *           since its last view (peek: or were read by the taking reader)
 * @open:    the block is still being written: @data is a copy of what there was
 */
struct etch_view {
	const void	*data;
	u32		len;
	u32		records;
	u64		begin;
	u64		end;
	u64		seq;
	s32		pid;
	u64		lost[ETCH_LOST_OFF];
	u64		missed;
	bool		open;
};

/**
 * etch_view_lost() - how many records were lost, all causes together
 * @view: a view
 *
 * Return: the sum of its @lost.
 */
static inline u64 etch_view_lost(const struct etch_view *view)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < ETCH_LOST_OFF; i++)
		sum += view->lost[i];
	return sum;
}

/**
 * struct etch_cursor - where a peeking reader is; all fields are the ring's own
 */
struct etch_cursor {
	/* private: */
	u64		block;		/* start of the block to look at next */
	u32		off;		/* of the first byte wanted in it; 0: all */
	u32		seen;		/* records of that block which lie before */
	u64		end;		/* committed when the cursor was made */
	u64		left;		/* records from here to end */
	u64		time;		/* of a record before off */
};

/**
 * struct etch_ring_stats - figures of one ring; records unless told otherwise
 * @written:      stored and committed
 * @read:         consumed by etch_ring_advance()
 * @overwritten:  dropped unread, by overwriting or by resize
 * @entries:      still there and unread. Counted block by block, not computed from
 *                the three above, so that their sum is a check.
 * @lost_full:    lost, discard mode and full
 * @lost_nested:  lost, would have overwritten what an interrupted writer is at, or
 *                more than ETCH_RING_MAX_NEST in flight
 * @lost_too_big: lost, longer than a sub-buffer has room for, or refused for being shorter
 *                than ETCH_RING_MIN_RECORD
 * @lost_throttled: lost, the budget was spent
 * @lost_off:     lost, the ring was off
 * @bytes:        what those entries occupy, from the first's start to the last's end
 *                in each block
 * @oldest:       begin time of the block of the oldest entry; 0 if there is none
 */
struct etch_ring_stats {
	u64		written;
	u64		read;
	u64		overwritten;
	u64		entries;
	u64		lost_full;
	u64		lost_nested;
	u64		lost_too_big;
	u64		lost_throttled;
	u64		lost_off;
	u64		bytes;
	u64		oldest;
};

struct etch_resize;

/* Making and controlling: ring_control.c, ring_resize.c. */
struct etch_ring *etch_ring_create(const struct etch_ring_params *params);
struct etch_ring *etch_ring_settle(struct etch_ring *r, struct etch_ring *place);
struct etch_ring *etch_ring_create_in(const struct etch_ring_params *params, void *memory,
				      unsigned int nr);
void etch_ring_free(struct etch_ring *r);
void etch_ring_on(struct etch_ring *r);
void etch_ring_off(struct etch_ring *r);
void etch_ring_reset(struct etch_ring *r);
void etch_ring_set_mode(struct etch_ring *r, bool overwrite);
void etch_ring_set_clock(struct etch_ring *r, enum etch_clock clock);
void *etch_ring_alloc_subbuf(const struct etch_ring *r);

struct etch_resize *etch_ring_resize_prepare(struct etch_ring *r, unsigned int nr);
void etch_ring_resize_commit(struct etch_resize *ctx);
void etch_ring_resize_abort(struct etch_resize *ctx);
int etch_ring_resize(struct etch_ring *r, unsigned int nr);

/* What time does to them: ring_age.c. */
u64 etch_ring_latest(const struct etch_ring *r);
bool etch_ring_old(const struct etch_ring *r);
void etch_ring_close(struct etch_ring *r);
void etch_ring_suspend(struct etch_ring *r);
void etch_ring_resume(struct etch_ring *r);

/* An alarm for a reader that waits: ring_alarm.c. */
void etch_ring_set_alarm(struct etch_ring *r, unsigned int blocks);

/* What rings may store together: ring_budget.c. */
void etch_ring_rate_off(struct etch_ring_rate *rate);
void etch_ring_rate_set(struct etch_ring_rate *rate, u64 num, u64 den);

/* In a writer's place: ring.c. */
void etch_ring_flush(struct etch_ring *r);
unsigned int etch_ring_abandon(struct etch_ring *r);

/* Reading, and the figures: ring_read.c. */
int etch_ring_take(struct etch_ring *r, struct etch_view *view);
void etch_ring_advance_to(struct etch_ring *r, unsigned int bytes, unsigned int records,
			  u64 time);
int etch_ring_take_subbuf(struct etch_ring *r, void **memory, struct etch_view *view);
u64 etch_ring_overwritten(const struct etch_ring *r);
u64 etch_ring_next_seq(const struct etch_ring *r);
void etch_ring_peek_begin(struct etch_ring *r, struct etch_cursor *cur);
int etch_ring_peek_next(struct etch_ring *r, struct etch_cursor *cur, void *buf,
			struct etch_view *view);
bool etch_ring_empty(const struct etch_ring *r);
unsigned int etch_ring_filled(const struct etch_ring *r);
u64 etch_ring_passed(const struct etch_ring *r);
bool etch_ring_busy(const struct etch_ring *r);
size_t etch_ring_size(const struct etch_ring *r);
unsigned int etch_ring_subbuf_size(const struct etch_ring *r);
unsigned int etch_ring_nr_subbufs(const struct etch_ring *r);
void etch_ring_stats(struct etch_ring *r, struct etch_ring_stats *stats);

/* The writers' slow path: ring.c. Not for callers. */
void *etch_ring_reserve_slow(struct etch_ring *r, unsigned int len, u64 *time,
			     unsigned int nest);
void *etch_ring_refuse_short(struct etch_ring *r);
u64 etch_ring_time_slow(struct etch_ring *r, enum etch_clock clock);

/**
 * etch_ring_advance() - etch_ring_advance_to() for records that hold their times in full
 * @r:       as there
 * @bytes:   as there
 * @records: as there
 *
 * If only part of a view is read, the next one begins when the block was begun.
 *
 * Context: as there.
 */
static inline void etch_ring_advance(struct etch_ring *r, unsigned int bytes,
				     unsigned int records)
{
	etch_ring_advance_to(r, bytes, records, 0);
}

#endif /* _LINUX_ETCH_RING_H */
