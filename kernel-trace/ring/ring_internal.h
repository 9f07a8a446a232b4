/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the ring's files share: the words that the protocol is made of.
 *
 * A slot is one word, always changed by compare-and-exchange on the whole of it:
 *
 *	63        28+x 27      1     0
 *	+-------------+---------+-------+
 *	| block start |  block  | taken |	x: 0 for sub-buffers of 4 KiB
 *	+-------------+---------+-------+
 *
 * The upper part is the position at which the block that the slot stands for
 * starts, and is the slot's generation: it grows by nr blocks at each claim. A
 * start is a multiple of the sub-buffer's size, at least 4 KiB, which leaves its low
 * 28 bits to the index of the block that has the memory and to @taken: there is
 * nothing to read in it.
 */
#ifndef _ETCH_RING_INTERNAL_H
#define _ETCH_RING_INTERNAL_H

#include <linux/bits.h>
#include <linux/etch_ring.h>

#define ETCH_SLOT_TAKEN		BIT_ULL(0)
#define ETCH_SLOT_BLOCK		GENMASK_ULL(27, 1)
#define ETCH_SLOT_START		GENMASK_ULL(63, 28)

#define ETCH_RING_MIN_SHIFT	12
#define ETCH_RING_MAX_NR	BIT(24)

/*
 * In etch_ring.start: the pair is being changed. Such a value lies half of all
 * positions away from any real one, so that nothing fits behind it.
 */
#define ETCH_START_CHANGING	BIT_ULL(0)
#define ETCH_START_FAR		BIT_ULL(63)

static_assert(ETCH_RING_MIN_SHIFT + ETCH_POS_SHIFT == 28, "a start leaves room for a block");
static_assert(ETCH_RING_MAX_SUBBUF / ETCH_RING_MIN_RECORD <= ETCH_POS_COUNT,
	      "the records of a block can be counted");

static inline u64 etch_slot(u64 start, unsigned int block, u64 taken)
{
	return start | (u64)block << 1 | taken;
}

static inline u64 etch_slot_start(u64 slot)
{
	return slot & ETCH_SLOT_START;
}

static inline unsigned int etch_slot_block(u64 slot)
{
	return (slot & ETCH_SLOT_BLOCK) >> 1;
}

static inline u64 *etch_ring_slot(const struct etch_ring *r, u64 start)
{
	return &r->slots[(start >> (ETCH_POS_SHIFT + r->shift)) & (r->nr - 1)];
}

/* The position word: see <linux/etch_ring.h>. */
static inline u64 etch_pos_bytes(u64 pos)
{
	return pos & ~ETCH_POS_COUNT;
}

static inline unsigned int etch_pos_count(u64 pos)
{
	return pos & ETCH_POS_COUNT;
}

/* Is position @a behind @b? Neither may carry a count. */
static inline bool etch_pos_after(u64 a, u64 b)
{
	return (s64)(a - b) > 0;
}

/*
 * Where the block starts that has the last byte before @pos. A position at the very
 * end of a block belongs to that block: the next one is not claimed yet.
 */
static inline u64 etch_ring_block_at(const struct etch_ring *r, u64 pos)
{
	return (etch_pos_bytes(pos) - ETCH_POS(1)) & ~(r->size - 1);
}

/* Where the block starts that has the byte at @at, a position without a count. */
static inline u64 etch_ring_block_from(const struct etch_ring *r, u64 at)
{
	return at & ~(r->size - 1);
}

/* How far @pos is into the block that starts at @start, in bytes. */
static inline unsigned int etch_pos_off(u64 pos, u64 start)
{
	return (etch_pos_bytes(pos) - start) >> ETCH_POS_SHIFT;
}

/* The later one of two times, noted in @latest, which those who interrupt us change too. */
static inline u64 etch_ring_raise(u64 *latest, u64 time)
{
	u64 old = READ_ONCE(*latest);

	do {
		if ((s64)(time - old) <= 0)
			return old;
	} while (!try_cmpxchg_local(latest, &old, time));
	return time;
}

/* ring_control.c: the memory of @nr blocks, all of it or none. May sleep. */
bool etch_ring_have_memory(const struct etch_ring *r, unsigned int nr);
int etch_ring_alloc_blocks(const struct etch_ring *r, struct etch_block *blocks,
			   unsigned int nr);
void etch_ring_free_blocks(const struct etch_ring *r, struct etch_block *blocks,
			   unsigned int nr);

/* ring_alarm.c: raise the alarm that a reader set. Any context, on the ring's CPU. */
void etch_ring_raise_record(struct etch_ring *r);
void etch_ring_raise_block(struct etch_ring *r, u64 at, u64 next);

/* ring_budget.c: any context. The latter on the ring's CPU. */
bool etch_ring_spent(const struct etch_ring *r);
void etch_ring_charge(struct etch_ring *r, u64 pos);

/* ring_read.c */
u64 etch_ring_number(const struct etch_ring *r, u64 at);
void etch_ring_skip_to(struct etch_ring *r, u64 start);
void etch_ring_catch_up(struct etch_ring *r);

/* clock.c; for tests, too. */
void etch_clock_woken(u64 ticks, u64 ns);

#endif /* _ETCH_RING_INTERNAL_H */
