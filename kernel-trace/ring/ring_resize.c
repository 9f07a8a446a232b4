// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's ring buffer: another number of sub-buffers.
 *
 * A block keeps its memory and its position and only changes its slot: block g moves
 * from slot g % old to slot g % new. All memory is allocated before the
 * ring is touched, so a failure changes nothing and the quiet time is short.
 */

#include <linux/bug.h>
#include <linux/err.h>
#include <linux/etch_ring.h>
#include <linux/export.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "ring/ring_internal.h"

/* What a ring will consist of. */
struct etch_resize {
	struct etch_ring	*r;
	unsigned int		nr;
	u64			*slots;
	struct etch_block	*blocks;	/* the last ones have the new memory */
};

/* Memory that the ring does not have yet, in blocks. */
static unsigned int new_blocks(const struct etch_resize *ctx)
{
	return ctx->nr > ctx->r->nr ? ctx->nr - ctx->r->nr : 0;
}

static struct etch_block *first_new_block(const struct etch_resize *ctx)
{
	return &ctx->blocks[ctx->nr + 1 - new_blocks(ctx)];
}

/**
 * etch_ring_resize_abort() - do not resize after all
 * @ctx: what etch_ring_resize_prepare() gave; it is freed. Or NULL, or an error.
 *
 * Context: task, may sleep.
 */
void etch_ring_resize_abort(struct etch_resize *ctx)
{
	if (IS_ERR_OR_NULL(ctx))
		return;
	if (ctx->blocks)
		etch_ring_free_blocks(ctx->r, first_new_block(ctx), new_blocks(ctx));
	kvfree(ctx->blocks);
	kvfree(ctx->slots);
	kfree(ctx);
}
EXPORT_SYMBOL_GPL(etch_ring_resize_abort);

/**
 * etch_ring_resize_prepare() - get the memory for another number of sub-buffers
 * @r:  the ring, in use or not. It must neither be freed nor get another size before
 *      commit or abort.
 * @nr: how many sub-buffers, a power of two, at least 2
 *
 * Context: task, may sleep.
 * Return: what etch_ring_resize_commit() or etch_ring_resize_abort() frees; or an
 * ERR_PTR() of -EINVAL, -ENOMEM, or -EBUSY if the ring is in memory of its caller's.
 */
struct etch_resize *etch_ring_resize_prepare(struct etch_ring *r, unsigned int nr)
{
	struct etch_resize *ctx;

	if (r->fixed)
		return ERR_PTR(-EBUSY);
	if (nr < 2 || nr > ETCH_RING_MAX_NR || !is_power_of_2(nr))
		return ERR_PTR(-EINVAL);

	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return ERR_PTR(-ENOMEM);
	ctx->r = r;
	ctx->nr = nr;
	if (!etch_ring_have_memory(r, new_blocks(ctx))) {
		kfree(ctx);
		return ERR_PTR(-ENOMEM);
	}
	ctx->slots = kvcalloc(nr, sizeof(*ctx->slots), GFP_KERNEL);
	ctx->blocks = kvcalloc(nr + 1, sizeof(*ctx->blocks), GFP_KERNEL);
	if (!ctx->slots || !ctx->blocks ||
	    etch_ring_alloc_blocks(r, first_new_block(ctx), new_blocks(ctx))) {
		etch_ring_resize_abort(ctx);
		return ERR_PTR(-ENOMEM);
	}
	return ctx;
}
EXPORT_SYMBOL_GPL(etch_ring_resize_prepare);

/*
 * Drop the oldest blocks which no slot will be left for, and return the start of the
 * first one to keep. That may be the one behind the last, if there is nothing.
 */
static u64 drop_oldest(struct etch_ring *r, unsigned int nr)
{
	u64 end = etch_ring_block_at(r, r->pos) + r->size;
	u64 at = r->held ? r->rd_block + r->size : r->rd_block;

	/* A reader with a block in hand did not catch up: more may have gone behind it. */
	if (etch_pos_after(end - r->nr * r->size, at))
		at = end - r->nr * r->size;
	while (etch_pos_after(end - nr * r->size, at)) {
		u64 slot = *etch_ring_slot(r, at);

		/* Only what was left can be dropped: the newest is always kept. */
		if (!(slot & ETCH_SLOT_TAKEN))
			local_add(r->blocks[etch_slot_block(slot)].records, &r->overwritten);
		at += r->size;
		if (!r->held)
			etch_ring_skip_to(r, at);
	}
	return at;
}

/* Move a block's memory to the new descriptor @nr. */
static void move_block(struct etch_resize *ctx, unsigned int nr, struct etch_block *from)
{
	ctx->blocks[nr] = *from;
	from->data = NULL;
}

/* Lay out slots and blocks anew. Memory that has no more use stays in the old blocks. */
static void lay_out(struct etch_resize *ctx, u64 first)
{
	struct etch_ring *r = ctx->r;
	u64 end = etch_ring_block_at(r, r->pos) + r->size;
	unsigned int mask = ctx->nr - 1;
	unsigned int old = 0, n = 0;
	u64 at;

	/*
	 * The records: in their slots, and in the reader's hand. Behind that there may be
	 * slots that an earlier resize has made, and in which there never was anything.
	 */
	for (at = first; at != end; at += r->size) {
		u64 slot = *etch_ring_slot(r, at);

		move_block(ctx, n, &r->blocks[etch_slot_block(slot)]);
		ctx->slots[(at >> (ETCH_POS_SHIFT + r->shift)) & mask] =
			etch_slot(at, n++, slot & ETCH_SLOT_TAKEN);
	}
	move_block(ctx, n, &r->blocks[r->spare]);
	r->spare = n++;

	/* Free slots, as if what they held before had been taken. */
	for (; at != first + ctx->nr * r->size; at += r->size) {
		while (old <= r->nr && !r->blocks[old].data)
			old++;
		if (old <= r->nr)
			move_block(ctx, n, &r->blocks[old]);
		ctx->slots[(at >> (ETCH_POS_SHIFT + r->shift)) & mask] =
			etch_slot(at - ctx->nr * r->size, n++, ETCH_SLOT_TAKEN);
	}
}

/**
 * etch_ring_resize_commit() - resize
 * @ctx: what etch_ring_resize_prepare() gave; it is freed
 *
 * The ring must be quiescent. The newest records stay, in order; those that there is no
 * room for any more are counted as overwritten, in discard mode too. Views and
 * cursors are void, but what the taking reader has not read yet it will get.
 *
 * Context: task, may sleep.
 */
void etch_ring_resize_commit(struct etch_resize *ctx)
{
	struct etch_ring *r = ctx->r;
	struct etch_block *blocks = r->blocks;
	u64 *slots = r->slots;
	unsigned int nr = r->nr;
	u64 first;

	WARN_ON_ONCE(etch_ring_busy(r));

	etch_ring_catch_up(r);
	first = drop_oldest(r, ctx->nr);
	lay_out(ctx, first);
	r->slots = ctx->slots;
	r->blocks = ctx->blocks;
	r->nr = ctx->nr;
	r->consumed = first;
	r->full = ETCH_NOT_FULL;

	etch_ring_free_blocks(r, blocks, nr + 1);
	kvfree(blocks);
	kvfree(slots);
	kfree(ctx);
}
EXPORT_SYMBOL_GPL(etch_ring_resize_commit);

/**
 * etch_ring_resize() - change the number of sub-buffers at once
 * @r:  the ring, quiescent
 * @nr: how many, a power of two, at least 2
 *
 * Context: task, may sleep.
 * Return: 0; or -EINVAL, -ENOMEM, or -EBUSY if its memory is fixed: then nothing has
 * changed.
 */
int etch_ring_resize(struct etch_ring *r, unsigned int nr)
{
	struct etch_resize *ctx = etch_ring_resize_prepare(r, nr);

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	etch_ring_resize_commit(ctx);
	return 0;
}
EXPORT_SYMBOL_GPL(etch_ring_resize);
