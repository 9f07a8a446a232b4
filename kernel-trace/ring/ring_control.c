// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's ring buffer: making, freeing and controlling it.
 *
 * Control changes words of the writers and of the reader alike, so it needs a ring that is
 * quiescent; <linux/etch_ring.h> says what that means. Turning on and off is the exception:
 * the labels of these barriers are explained at the head of ring.c.
 */

#include <linux/align.h>
#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/err.h>
#include <linux/etch_ring.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ring/ring_internal.h"

/*
 * Making and freeing
 */

static unsigned int block_order(const struct etch_ring *r)
{
	return get_order(r->size >> ETCH_POS_SHIFT);
}

void etch_ring_free_blocks(const struct etch_ring *r, struct etch_block *blocks,
			   unsigned int nr)
{
	unsigned int order = block_order(r);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (blocks[i].data)
			free_pages((unsigned long)blocks[i].data, order);
		blocks[i].data = NULL;
	}
}

/**
 * etch_ring_alloc_subbuf() - memory for a sub-buffer
 * @r: the ring that it shall fit
 *
 * Context: task, may sleep.
 * Return: zeroed pages, compound if they are several, whose last put_page() frees
 * them; NULL if there is no memory.
 */
void *etch_ring_alloc_subbuf(const struct etch_ring *r)
{
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_COMP | __GFP_NORETRY | __GFP_NOWARN;
	struct page *page = alloc_pages_node(r->node, gfp, block_order(r));

	return page ? page_address(page) : NULL;
}
EXPORT_SYMBOL_GPL(etch_ring_alloc_subbuf);

/*
 * Is there memory for so many blocks? Asked before anything is allocated, their tables
 * included, so as not to eat up what others need before the first allocation fails.
 */
bool etch_ring_have_memory(const struct etch_ring *r, unsigned int nr)
{
	return si_mem_available() >= (long)nr << block_order(r);
}

/* Give each of the @nr descriptors its pages, or none of them. */
int etch_ring_alloc_blocks(const struct etch_ring *r, struct etch_block *blocks,
			   unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		blocks[i].data = etch_ring_alloc_subbuf(r);
		if (!blocks[i].data) {
			etch_ring_free_blocks(r, blocks, i);
			return -ENOMEM;
		}
	}
	return 0;
}

static int check_params(const struct etch_ring_params *p, unsigned int subbuf, size_t nr)
{
	if (!is_power_of_2(subbuf) || subbuf < PAGE_SIZE || subbuf > ETCH_RING_MAX_SUBBUF)
		return -EINVAL;
	if (p->header_size > subbuf / 2 || nr > ETCH_RING_MAX_NR)
		return -EINVAL;
	if (p->clock >= ETCH_CLOCK_NR)
		return -EINVAL;
	return 0;
}

/* What to read for a clock: the counter may have been set back, or may be about to be. */
static enum etch_clock ring_clock(enum etch_clock clock)
{
	return clock == ETCH_CLOCK_COUNTER && !etch_clock_steady() ? ETCH_CLOCK_STEPPED : clock;
}

/* Set the fields that depend on @p and the number of sub-buffers alone. */
static void init_ring(struct etch_ring *r, const struct etch_ring_params *p, unsigned int subbuf,
		      unsigned int nr)
{
	r->node = p->node;
	r->nr = nr;
	r->size = ETCH_POS(subbuf);
	r->shift = ilog2(subbuf);
	r->header = ALIGN(max(p->header_size, 1U), 8);
	r->overwrite = p->overwrite;
	r->clock = ring_clock(p->clock);
	r->floor = p->floor;
	r->alarm = p->alarm;
	r->alarm_data = p->alarm_data;
	r->budget = p->budget;
}

/*
 * Zero all sub-buffers, the spare one included. Records have bytes that their writers do
 * not fill in, such as the holes of a structure, and up to three more follow each record:
 * readers of later records would see there what was stored before.
 */
static void wipe(const struct etch_ring *r)
{
	unsigned int i;

	for (i = 0; i <= r->nr; i++) {
		memset(r->blocks[i].data, 0, etch_ring_subbuf_size(r));
		cond_resched();
	}
}

/**
 * etch_ring_create() - make a ring
 * @p: see struct etch_ring_params
 *
 * The ring is on. Context: task, may sleep.
 * Return: the ring, which etch_ring_free() frees; or an ERR_PTR() of -EINVAL
 * (a size is out of its bounds) or -ENOMEM.
 */
struct etch_ring *etch_ring_create(const struct etch_ring_params *p)
{
	unsigned int subbuf = p->subbuf_size ?: max_t(unsigned int, ETCH_RING_SUBBUF, PAGE_SIZE);
	size_t nr = p->size / subbuf + !!(p->size % subbuf);
	struct etch_ring *r;
	int ret;

	ret = check_params(p, subbuf, nr);
	if (ret)
		return ERR_PTR(ret);

	/* A power of two is aligned to itself: the first cache line is one. */
	r = kzalloc_node(roundup_pow_of_two(sizeof(*r)), GFP_KERNEL, p->node);
	if (!r)
		return ERR_PTR(-ENOMEM);

	init_ring(r, p, subbuf, roundup_pow_of_two(max_t(size_t, nr, 2)));
	if (!etch_ring_have_memory(r, r->nr + 1)) {
		kfree(r);
		return ERR_PTR(-ENOMEM);
	}

	r->slots = kvcalloc(r->nr, sizeof(*r->slots), GFP_KERNEL);
	r->blocks = kvcalloc(r->nr + 1, sizeof(*r->blocks), GFP_KERNEL);
	r->copy = kvmalloc(subbuf, GFP_KERNEL);
	if (!r->slots || !r->blocks || !r->copy ||
	    etch_ring_alloc_blocks(r, r->blocks, r->nr + 1)) {
		etch_ring_free(r);
		return ERR_PTR(-ENOMEM);
	}

	etch_ring_reset(r);
	etch_ring_on(r);
	return r;
}
EXPORT_SYMBOL_GPL(etch_ring_create);

/* Behind @owner the ring's fields go on at this offset. */
#define ETCH_RING_REST	offsetofend(struct etch_ring, owner)

/**
 * etch_ring_settle() - move a ring to a place of the caller's
 * @r: of etch_ring_create(), and nobody has used it yet
 * @place: where; all zeroes but for @owner, which may be in use and stays as it is
 *
 * Moves struct etch_ring itself; its sub-buffers stay where they are. When the ring is freed,
 * @place stays the caller's, with zeroes as before.
 *
 * Context: any.
 * Return: @place. @r is freed.
 */
struct etch_ring *etch_ring_settle(struct etch_ring *r, struct etch_ring *place)
{
	memcpy(place, r, offsetof(struct etch_ring, owner));
	memcpy((u8 *)place + ETCH_RING_REST, (u8 *)r + ETCH_RING_REST,
	       sizeof(*r) - ETCH_RING_REST);
	place->placed = true;
	kfree(r);
	return place;
}
EXPORT_SYMBOL_GPL(etch_ring_settle);

/**
 * etch_ring_create_in() - make a ring in memory that somebody else may find later
 * @p: as for etch_ring_create(); its size does not count
 * @memory: where; page-aligned. The ring, from a cache line's start on its @nr slots,
 *	    behind these the @nr + 1 blocks, and from the next page on the sub-buffers
 * @nr: sub-buffers, a power of two; one more for the spare
 *
 * Whatever @memory holds is overwritten, the sub-buffers with zeroes. No page of it is
 * ever given away: etch_ring_take_subbuf() copies. The ring cannot be resized.
 * When it is freed, @memory stays the caller's, with zeroes where the ring was.
 *
 * Context: task, may sleep.
 * Return: as etch_ring_create().
 */
struct etch_ring *etch_ring_create_in(const struct etch_ring_params *p, void *memory,
				      unsigned int nr)
{
	unsigned int subbuf = p->subbuf_size, i;
	struct etch_ring *r = memory;
	u8 *data;
	int ret;

	ret = check_params(p, subbuf, nr);
	if (ret || nr < 2 || !is_power_of_2(nr))
		return ERR_PTR(-EINVAL);

	memset(r, 0, sizeof(*r));
	r->slots = memory + ALIGN(sizeof(*r), SMP_CACHE_BYTES);
	r->blocks = (void *)(r->slots + nr);
	data = PTR_ALIGN((u8 *)(r->blocks + nr + 1), PAGE_SIZE);
	memset(r->slots, 0, data - (u8 *)r->slots);
	for (i = 0; i <= nr; i++)
		r->blocks[i].data = data + (size_t)i * subbuf;
	r->copy = kvmalloc(subbuf, GFP_KERNEL);
	if (!r->copy)
		return ERR_PTR(-ENOMEM);

	r->fixed = true;
	init_ring(r, p, subbuf, nr);
	wipe(r);
	etch_ring_reset(r);
	etch_ring_on(r);
	return r;
}
EXPORT_SYMBOL_GPL(etch_ring_create_in);

/**
 * etch_ring_free() - free a ring and all that is in it
 * @r: the ring, quiescent; or NULL
 *
 * Context: task, may sleep.
 */
void etch_ring_free(struct etch_ring *r)
{
	if (!r)
		return;
	kvfree(r->copy);
	if (r->fixed) {
		memset(r, 0, sizeof(*r));
		return;
	}
	if (r->blocks)
		etch_ring_free_blocks(r, r->blocks, r->nr + 1);
	kvfree(r->blocks);
	kvfree(r->slots);
	if (r->placed) {
		memset(r, 0, offsetof(struct etch_ring, owner));
		memset((u8 *)r + ETCH_RING_REST, 0, sizeof(*r) - ETCH_RING_REST);
		return;
	}
	kfree(r);
}
EXPORT_SYMBOL_GPL(etch_ring_free);

/*
 * Control
 */

/**
 * etch_ring_on() - let records be stored
 * @r: the ring
 *
 * A writer that sees the ring on sees all that control did to it before.
 *
 * Context: any.
 */
void etch_ring_on(struct etch_ring *r)
{
	unsigned int limit = (r->size >> ETCH_POS_SHIFT) - r->header;

	/* (a) pairs with (A). */
	smp_store_release(&r->limit, limit);
	/* (a), too, for those who are quick. */
	smp_store_release(&r->quick, r->clock == ETCH_CLOCK_COUNTER ? limit : 0);
}
EXPORT_SYMBOL_GPL(etch_ring_on);

/**
 * etch_ring_off() - lose new records from now on
 * @r: the ring
 *
 * A writer that is half-way goes on. Wait for it with synchronize_rcu() before a
 * call that wants the ring quiescent. An alarm for the next record is taken back.
 *
 * Context: any.
 */
void etch_ring_off(struct etch_ring *r)
{
	WRITE_ONCE(r->limit, 0);
	WRITE_ONCE(r->quick, 0);
}
EXPORT_SYMBOL_GPL(etch_ring_off);

/**
 * etch_ring_reset() - empty a ring and set its counts to zero
 * @r: the ring, quiescent
 *
 * Views and cursors of it are void. On or off, mode and clock stay, and times do not go
 * back, either. If anything was stored, all sub-buffers are zeroed, which takes about a
 * tenth of a second for each GiB.
 *
 * Context: task, may sleep.
 */
void etch_ring_reset(struct etch_ring *r)
{
	unsigned int i;

	WARN_ON_ONCE(READ_ONCE(r->nest));
	if (r->pos)
		wipe(r);

	for (i = 0; i < r->nr; i++)
		r->slots[i] = etch_slot((u64)i * r->size - r->nr * r->size, i, ETCH_SLOT_TAKEN);
	for (i = 0; i <= r->nr; i++)
		memset(r->blocks[i].lost, 0, sizeof(r->blocks[i].lost));
	r->left_lost = 0;
	r->floor = etch_ring_latest(r);
	r->last = 0;
	r->spare = r->nr;
	/* Marked: writers of a ring that is off read these words, and callers without the mutex. */
	WRITE_ONCE(r->start, ETCH_START_FAR);
	r->base = NULL;
	r->full = ETCH_NOT_FULL;
	r->closed = ETCH_NOT_CLOSED;
	r->charged = 0;
	WRITE_ONCE(r->alarm_at, ETCH_NO_ALARM);
	WRITE_ONCE(r->pos, 0);
	WRITE_ONCE(r->committed, 0);
	r->consumed = 0;

	WRITE_ONCE(r->rd, 0);
	r->rd_block = 0;
	r->rd_end = 0;
	r->rd_records = 0;
	r->held = false;
	r->read = 0;
	r->reread = 0;
	r->told = 0;
	r->left = 0;
	r->rd_time = 0;
	r->wraps = 0;

	/* Writers go on losing what the ring is off for: their count is not touched. */
	for (i = 0; i < ETCH_LOST_NR; i++)
		r->forgotten[i] = local_read(&r->lost[i]);
	local_set(&r->written, 0);
	local_set(&r->overwritten, 0);
}
EXPORT_SYMBOL_GPL(etch_ring_reset);

/**
 * etch_ring_set_mode() - choose what a full ring does
 * @r:         the ring, quiescent
 * @overwrite: overwrite mode, else discard mode
 *
 * The records in the ring stay. Context: any.
 */
void etch_ring_set_mode(struct etch_ring *r, bool overwrite)
{
	etch_ring_catch_up(r);
	r->overwrite = overwrite;
	r->full = ETCH_NOT_FULL;
}
EXPORT_SYMBOL_GPL(etch_ring_set_mode);

/**
 * etch_ring_set_clock() - choose the clock
 * @r:     the ring, quiescent
 * @clock: the clock
 *
 * Records do not say which clock stamped them: reset the ring too.
 *
 * Context: any.
 */
void etch_ring_set_clock(struct etch_ring *r, enum etch_clock clock)
{
	clock = ring_clock(clock);
	WRITE_ONCE(r->clock, clock);
	r->floor = 0;
	r->last = 0;
	/* If it is on. */
	WRITE_ONCE(r->quick, clock == ETCH_CLOCK_COUNTER ? READ_ONCE(r->limit) : 0);
}
EXPORT_SYMBOL_GPL(etch_ring_set_clock);
