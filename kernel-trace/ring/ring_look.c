// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's ring buffer: looking into it when no reader or writer can be asked to wait. See
 * ring_look.h.
 *
 * Of the readers' words a look uses only @rd, which is one word and always the start of
 * something unread; @rd_time, which belongs to a record before that; and @held with @spare,
 * which cost a sub-buffer at most if they are wrong. All other words that it uses are the
 * writers', who leave them right at any moment. (The first block's number is worked out from
 * @rd_block and @wraps too, and is wrong if these are.)
 *
 * The labels of the barriers are explained at the head of ring.c.
 */

#include <linux/align.h>
#include <linux/etch_ring.h>
#include <linux/minmax.h>

#include "ring/ring_internal.h"
#include "ring/ring_look.h"

/* The sub-buffer that starts at @start, or NULL: it is gone, or was read. */
static const struct etch_block *look_at(const struct etch_ring *r, u64 start)
{
	/* (c) pairs with (C). */
	u64 slot = smp_load_acquire(etch_ring_slot(r, start));
	unsigned int block = etch_slot_block(slot), given = block;

	if (etch_slot_start(slot) != start)
		return NULL;
	if (slot & ETCH_SLOT_TAKEN) {
		/* The taking reader has it in hand, and has not read all of it. */
		if (!READ_ONCE(r->held) || etch_ring_block_from(r, READ_ONCE(r->rd)) != start)
			return NULL;
		/* Unless it was stopped before it noted which: then it is what it gave for it. */
		block = READ_ONCE(r->spare);
		if (block == given)
			return NULL;
	}
	return block <= r->nr ? &r->blocks[block] : NULL;
}

/* Go back from the newest sub-buffer until there are @max records from there on. */
static void look_back(const struct etch_ring *r, struct etch_look *look, u64 max)
{
	u64 open = etch_ring_block_at(r, look->end);
	u64 at = open, sum = 0;

	while (etch_pos_after(at, look->block)) {
		const struct etch_block *block = look_at(r, at);

		if (at == open)
			sum += etch_pos_count(look->end);
		else if (block)
			sum += READ_ONCE(block->records);
		if (sum >= max) {
			look->block = at;
			look->off = 0;
			return;
		}
		at -= r->size;
	}
}

/**
 * etch_ring_look_begin() - begin to look
 * @r: the ring
 * @look: is set to the oldest unread record; or a newer one, if there are @max and more
 *	  records from there on. The newest one committed by now is the last
 * @max: how many will do
 *
 * Context: any, without the mutex, NMI included. Takes time in proportion to the number
 * of sub-buffers.
 */
void etch_ring_look_begin(const struct etch_ring *r, struct etch_look *look, u64 max)
{
	u64 oldest, rd;

	/* (H) pairs with (h). */
	look->time = smp_load_acquire(&r->rd_time);
	rd = READ_ONCE(r->rd);
	/* (b) pairs with (B). */
	look->end = smp_load_acquire(&r->committed);
	oldest = etch_ring_block_at(r, look->end) - (r->nr - 1) * r->size;
	look->block = etch_ring_block_from(r, rd);
	look->off = etch_pos_off(rd, look->block);
	if (etch_pos_after(oldest, look->block)) {
		look->block = oldest;
		look->off = 0;
	}
	look_back(r, look, max);
	look->seq = etch_ring_number(r, look->block);
}

/* View what is wanted of the sub-buffer at @start. False: nothing. */
static bool look_in(const struct etch_ring *r, const struct etch_look *look, u64 start,
		    struct etch_view *view)
{
	bool open = start == etch_ring_block_at(r, look->end);
	unsigned int from = max(ALIGN(look->off, 4), r->header);
	const struct etch_block *block = look_at(r, start);
	unsigned int end;
	int i;

	if (!block)
		return false;
	end = open ? etch_pos_off(look->end, start) : READ_ONCE(block->end);
	if (end <= from || end > r->size >> ETCH_POS_SHIFT)
		return false;
	*view = (struct etch_view) {
		.data = READ_ONCE(block->data) + from,
		.len = end - from,
		.records = open ? etch_pos_count(look->end) : READ_ONCE(block->records),
		.begin = max(READ_ONCE(block->begin), look->off ? look->time : 0),
		.end = open ? 0 : READ_ONCE(block->left),
		.seq = look->seq,
		.pid = READ_ONCE(block->pid),
		.open = open,
	};
	for (i = 0; i < ETCH_LOST_OFF; i++)
		view->lost[i] = READ_ONCE(block->lost[i]);
	return true;
}

/**
 * etch_ring_look_next() - look at the next sub-buffer
 * @r: the ring
 * @look: as etch_ring_look_begin() has set it
 * @view: gets what there is, where it lies; view.records includes those that were read
 *	  before, and view.missed is not used
 *
 * Context: as etch_ring_look_begin().
 * Return: true, or false at the end.
 */
bool etch_ring_look_next(const struct etch_ring *r, struct etch_look *look,
			 struct etch_view *view)
{
	while (!etch_pos_after(look->block, etch_ring_block_at(r, look->end))) {
		bool any = look_in(r, look, look->block, view);

		look->block += r->size;
		look->seq++;
		look->off = 0;
		if (any)
			return true;
	}
	return false;
}
