// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's ring buffer: the readers, and the figures.
 *
 * The taking reader consumes. It goes from block to block in order: a full block it
 * takes out of its slot, giving its spare for it, after which the records are its
 * own; of the open block it copies what is committed, and is back for the rest when
 * there is more. A peeking reader copies all it looks at and leaves no trace.
 *
 * The taking reader's place is in one of three states:
 *
 *	state	rd		held	its block
 *	ahead	rd_block	false	in its slot, not begun, or still to be written
 *	inside	behind it	false	in its slot, read in part through @copy
 *	hand	any		true	in no slot: it is @spare, which no writer touches
 *
 *	ahead -> inside		etch_ring_advance_to(); take_full(), past a mere header
 *	ahead, inside -> hand	take_block(): the block is full
 *	hand -> ahead		view_held(), etch_ring_advance_to(), give_block(): it is read
 *	ahead, inside -> ahead	etch_ring_catch_up(): the block was overwritten
 *
 * The reader's words. Reset sets them all; resize keeps the place, or moves it behind the
 * blocks that it drops.
 *
 *	word		meaning					set by, besides begin_block()
 *	rd_block	start of the reader's block
 *	rd		the next byte to read			etch_ring_advance_to(), take_full()
 *	rd_records	records of the block that are read	etch_ring_advance_to()
 *	rd_end		where the last view of it ended; 0:	view_open(), take_block(),
 *			no view, or its block is gone		view_held()
 *	wraps		how often rd_block went back
 *
 *	word		meaning					set by
 *	held, spare	see above; spare: the block in no slot	take_block(); held: hand -> ahead
 *	consumed	writers may claim slots before it	etch_ring_catch_up(), take_block()
 *	rd_time		the latest time the reader gave us	etch_ring_advance_to()
 *	left		latest end of a block given away	give_block()
 *
 *	read		records read				etch_ring_advance_to(), give_block()
 *	reread		of these, counted as overwritten, too	etch_ring_skip_to(),
 *								etch_ring_advance_to()
 *	told		overwritten, and the reader knows	tell_missed(),
 *								etch_ring_take_subbuf()
 *
 * The labels of the barriers are explained at the head of ring.c.
 */

#include <linux/bug.h>
#include <linux/etch_ring.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "ring/ring_internal.h"

/*
 * The oldest block that may still be there, given that the slot of an older one was
 * claimed for the block that starts at @start. Blocks are claimed in order.
 */
static u64 oldest_block(const struct etch_ring *r, u64 start)
{
	return start - (r->nr - 1) * r->size;
}

static u64 read_committed(const struct etch_ring *r)
{
	/* (b) pairs with (B): the records and descriptors before it. */
	return smp_load_acquire(&r->committed);
}

static u64 read_slot(const struct etch_ring *r, u64 start)
{
	/* (c) pairs with (C): a block seen claimed is behind what is committed. */
	return smp_load_acquire(etch_ring_slot(r, start));
}

/* Is @slot still what it was, after we used what was in its block? */
static bool slot_is_still(const struct etch_ring *r, u64 start, u64 slot)
{
	smp_rmb();	/* (d) pairs with (C). */
	return READ_ONCE(*etch_ring_slot(r, start)) == slot;
}

static void begin_block(struct etch_ring *r, u64 start)
{
	/* Starts only grow: one that is less lies behind a wrap. */
	r->wraps += start < r->rd_block;
	r->rd_block = start;
	r->rd_end = 0;
	r->rd_records = 0;
	WRITE_ONCE(r->rd, start);
}

/*
 * The block that the reader is in was dropped: go on at @start. What it had read of
 * it through the copy was counted as overwritten with the rest: note it.
 */
void etch_ring_skip_to(struct etch_ring *r, u64 start)
{
	r->reread += r->rd_records;
	begin_block(r, start);
}

/* Move the reader over the blocks that were overwritten. */
void etch_ring_catch_up(struct etch_ring *r)
{
	u64 end = etch_ring_block_at(r, read_committed(r)) + r->size;

	/* The block at end was never begun and cannot be overwritten. */
	while (!r->held && r->rd_block != end) {
		u64 start = etch_slot_start(read_slot(r, r->rd_block));

		if (start == r->rd_block)
			break;
		etch_ring_skip_to(r, oldest_block(r, start));
	}
	/* (f) pairs with (F). */
	smp_store_release(&r->consumed, r->rd_block + (r->held ? r->size : 0));
}

/* Where the unread records of a block begin that is read up to @off. */
static unsigned int unread(const struct etch_ring *r, unsigned int off)
{
	return max(ALIGN(off, 4), r->header);
}

/**
 * etch_ring_number() - the number of a block
 * @r:  the ring
 * @at: a position in it, not before the block that the taking reader is in
 *
 * Context: any in which @at is valid. Without the mutex, the number may be wrong by a wrap.
 * Return: how many there were before it since the ring was made or emptied.
 */
u64 etch_ring_number(const struct etch_ring *r, u64 at)
{
	u64 rd_block = READ_ONCE(r->rd_block);
	u64 bytes = READ_ONCE(r->wraps) << (64 - ETCH_POS_SHIFT) | rd_block >> ETCH_POS_SHIFT;

	return (bytes + ((at - rd_block) >> ETCH_POS_SHIFT)) >> r->shift;
}

/* Of the block that starts at @start, whose content, or a copy of it, is at @data. */
static void fill_view(const struct etch_ring *r, struct etch_view *view, u64 start,
		      const struct etch_block *block, const void *data, unsigned int from,
		      unsigned int end)
{
	int i;

	view->data = data + from;
	view->len = end - from;
	view->begin = READ_ONCE(block->begin);
	view->end = 0;
	view->seq = etch_ring_number(r, start);
	view->pid = READ_ONCE(block->pid);
	for (i = 0; i < ETCH_LOST_OFF; i++)
		view->lost[i] = READ_ONCE(block->lost[i]);
	view->missed = 0;
}

/* Copy @from to @end of a block. Writers may overwrite it meanwhile: check afterwards. */
static void copy_block(void *to, const struct etch_block *block, unsigned int from,
		       unsigned int end)
{
	/* Torn copies are thrown away. */
	data_race(memcpy(to + from, block->data + from, end - from));
}

/* View what is committed and unread of the open block. False: it was overwritten. */
static bool view_open(struct etch_ring *r, u64 committed, struct etch_view *view)
{
	unsigned int from = unread(r, etch_pos_off(r->rd, r->rd_block));
	unsigned int end = etch_pos_off(committed, r->rd_block);
	u64 slot = read_slot(r, r->rd_block);
	struct etch_block *block = &r->blocks[etch_slot_block(slot)];

	if (etch_slot_start(slot) != r->rd_block)
		return false;

	copy_block(r->copy, block, from, end);
	fill_view(r, view, r->rd_block, block, r->copy, from, end);
	view->begin = max(view->begin, r->rd_time);
	view->records = etch_pos_count(committed) - r->rd_records;
	view->open = true;
	r->rd_end = end;
	return slot_is_still(r, r->rd_block, slot);
}

/* Take the full block at @rd_block out of its slot. False: it was overwritten. */
static bool take_block(struct etch_ring *r)
{
	u64 slot = read_slot(r, r->rd_block);

	if (etch_slot_start(slot) != r->rd_block)
		return false;
	/* (e) pairs with (C): the spare is read before a writer may have it. */
	if (cmpxchg(etch_ring_slot(r, r->rd_block), slot,
		    etch_slot(r->rd_block, r->spare, ETCH_SLOT_TAKEN)) != slot)
		return false;

	r->spare = etch_slot_block(slot);
	r->held = true;
	r->rd_end = r->blocks[r->spare].end;
	/* (f) pairs with (F). */
	smp_store_release(&r->consumed, r->rd_block + r->size);
	return true;
}

/* View what is unread of the block in hand. False: nothing, so it is done with. */
static bool view_held(struct etch_ring *r, struct etch_view *view)
{
	const struct etch_block *block = &r->blocks[r->spare];
	unsigned int from = unread(r, etch_pos_off(r->rd, r->rd_block));

	r->rd_end = block->end;
	if (from >= block->end) {
		r->held = false;
		begin_block(r, r->rd_block + r->size);
		return false;
	}
	fill_view(r, view, r->rd_block, block, block->data, from, block->end);
	view->begin = max(view->begin, r->rd_time);
	view->end = block->left;
	view->records = block->records - r->rd_records;
	view->open = false;
	return true;
}

/* How many records were overwritten unread, as far as writers have counted them. */
static u64 overwritten_unread(const struct etch_ring *r)
{
	return local_read(&r->overwritten) - r->reread;
}

/* Tell in @view how many of the @overwritten records were not told before. */
static void tell_missed(struct etch_ring *r, struct etch_view *view, u64 overwritten)
{
	/* A writer that has just claimed a block may not have counted it yet. */
	if ((s64)(overwritten - r->told) <= 0)
		return;
	view->missed = overwritten - r->told;
	r->told = overwritten;
}

/**
 * etch_ring_take() - get the next unread records
 * @r:    the ring
 * @view: gets them
 *
 * The records stay unread until etch_ring_advance() says otherwise: taking twice gives
 * them twice, and possibly more the second time. The view is good until the
 * next take or control call; stats and peek do it no harm.
 *
 * Context: the taking reader, under the caller's mutex.
 * Return: 1, or 0 if there is nothing to read now.
 */
int etch_ring_take(struct etch_ring *r, struct etch_view *view)
{
	/* Goes round again only if writers went round the ring meanwhile. */
	for (;;) {
		u64 committed, overwritten;

		if (r->held && view_held(r, view))
			return 1;
		etch_ring_catch_up(r);
		committed = read_committed(r);
		overwritten = overwritten_unread(r);
		if (etch_pos_bytes(committed) == r->rd)
			return 0;

		/* If it succeeds, what it views was not among the overwritten. */
		if (r->rd_block == etch_ring_block_at(r, committed)) {
			if (!view_open(r, committed, view))
				continue;
		} else if (!take_block(r) || !view_held(r, view)) {
			continue;
		}
		tell_missed(r, view, overwritten);
		return 1;
	}
}
EXPORT_SYMBOL_GPL(etch_ring_take);

/**
 * etch_ring_advance_to() - the records of the last view, or the first of them, are read
 * @r:       the ring
 * @bytes:   from view.data to the start of the first record that is not, or to the end
 *           of the last that is; so view.len for all
 * @records: how many
 * @time:    of the last of them, in full; or of the first that is not. 0: it is not told
 *
 * Context: the taking reader, under the caller's mutex, after a successful
 * etch_ring_take().
 */
void etch_ring_advance_to(struct etch_ring *r, unsigned int bytes, unsigned int records,
			  u64 time)
{
	unsigned int off = unread(r, etch_pos_off(r->rd, r->rd_block)) + bytes;

	r->read += records;
	if (!r->rd_end) {
		/* The view was a copy, and stats or peek noticed that its block is gone. */
		r->reread += records;
		return;
	}

	/* A last record's end, rounded up, is not there yet. */
	WRITE_ONCE(r->rd, r->rd_block + ETCH_POS(min(off, r->rd_end)));
	r->rd_records += records;
	/* Times do not decrease: it is good for all that comes, too. */
	if (time > r->rd_time)
		smp_store_release(&r->rd_time, time);	/* (h) pairs with (H). */

	if (r->held && off >= r->rd_end) {
		WARN_ON_ONCE(r->rd_records != r->blocks[r->spare].records);
		r->held = false;
		begin_block(r, r->rd_block + r->size);
	}
}
EXPORT_SYMBOL_GPL(etch_ring_advance_to);

/*
 * Take the next full block in hand, if none is. Returns false if there is none. @told: how
 * many overwritten records the reader knows of once it has the block.
 */
static bool take_full(struct etch_ring *r, u64 *told)
{
	/* Goes round again only if writers went round the ring meanwhile. */
	while (!r->held) {
		u64 committed, open, overwritten;

		etch_ring_catch_up(r);
		committed = read_committed(r);
		open = etch_ring_block_at(r, committed);
		overwritten = overwritten_unread(r);
		if (!etch_pos_after(open, r->rd_block)) {
			/* A block that was begun, and has no record, is read: the ring is empty. */
			if (open == r->rd_block && !etch_pos_count(committed))
				WRITE_ONCE(r->rd, etch_pos_bytes(committed));
			return false;
		}
		/* If it succeeds, what it takes was not among the overwritten. */
		if (take_block(r) && (s64)(overwritten - *told) > 0)
			*told = overwritten;
	}
	return true;
}

/*
 * Give the caller the block in hand for @memory, without the records of it that were read
 * before. False: the block was not empty, and all of it was read; or it was never written,
 * since resize fills the slots of blocks overwritten behind a block in hand with such ones.
 */
static bool give_block(struct etch_ring *r, void **memory, struct etch_view *view)
{
	struct etch_block *block = &r->blocks[r->spare];
	unsigned int from = unread(r, etch_pos_off(r->rd, r->rd_block));
	unsigned int len = block->end - min(from, block->end);
	void *data = r->fixed ? *memory : block->data;
	bool any = block->end && (block->records != r->rd_records || !r->rd_records);

	if (any) {
		if (r->fixed || from != r->header)
			memmove(data + r->header, block->data + from, len);
		fill_view(r, view, r->rd_block, block, data, r->header, r->header + len);
		/* A nested writer may have left the one before after this was begun. */
		view->begin = max3(view->begin, r->left, r->rd_time);
		view->end = block->left;
		view->records = block->records - r->rd_records;
		view->open = false;
		if (!r->fixed)
			block->data = *memory;
		*memory = data;
	}
	r->left = max(r->left, block->left);
	r->read += block->records - r->rd_records;
	r->held = false;
	begin_block(r, r->rd_block + r->size);
	return any;
}

/**
 * etch_ring_take_subbuf() - exchange memory for the next full sub-buffer, or copy that
 * @r:      the ring
 * @memory: from etch_ring_alloc_subbuf(), or from here; gets the sub-buffer's, which is the
 *          caller's alone from then on, header included
 * @view:   gets the records. view.data lies behind the header; records that were read before
 *          with etch_ring_take() are left out. view.missed is not used: see
 *          etch_ring_overwritten(). view.begin is not before the view.end of the
 *          sub-buffer that this function gave before.
 *
 * The rest of the memory, behind the view, is not zeroed: it may hold older records.
 * A caller that shows it to user space has to zero it. Nor is the memory zeroed that the
 * ring gets: the bytes that later records leave out show what it held.
 *
 * The records count as read, without etch_ring_advance(). To get the sub-buffer that is being
 * written, call etch_ring_flush() first. A sub-buffer may be empty: it tells of loss.
 *
 * Context: the taking reader, under the caller's mutex.
 * Return: 1, or 0 if none is full.
 */
int etch_ring_take_subbuf(struct etch_ring *r, void **memory, struct etch_view *view)
{
	u64 told = r->told;

	while (take_full(r, &told)) {
		if (!give_block(r, memory, view))
			continue;
		/* Not before: a block that is not given tells the caller nothing. */
		r->told = told;
		return 1;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(etch_ring_take_subbuf);

/**
 * etch_ring_overwritten() - how many records were overwritten before the last block taken
 * @r: the ring
 *
 * The records of a block that is dropped at this very moment may be counted one block late.
 *
 * Context: the taking reader, under the caller's mutex.
 * Return: records since the ring was made or emptied.
 */
u64 etch_ring_overwritten(const struct etch_ring *r)
{
	return r->told;
}
EXPORT_SYMBOL_GPL(etch_ring_overwritten);

/**
 * etch_ring_next_seq() - the number that the next sub-buffer will have
 * @r: the ring
 *
 * Context: under the caller's mutex, quiescent.
 * Return: how many were begun since the ring was made or emptied.
 */
u64 etch_ring_next_seq(const struct etch_ring *r)
{
	return etch_ring_number(r, etch_ring_block_at(r, r->pos) + r->size);
}
EXPORT_SYMBOL_GPL(etch_ring_next_seq);

/*
 * Count the records in the blocks from @block to the one @committed is in, and add
 * to @bytes what they occupy. If the first of them are overwritten meanwhile,
 * count from the oldest that is there, and leave its start in @block.
 */
static u64 count_records(struct etch_ring *r, u64 *block, u64 committed, u64 *bytes)
{
	u64 open = etch_ring_block_at(r, committed);
	u64 at = *block;
	u64 records = 0;
	u64 sum = 0;

	while (!etch_pos_after(at, open)) {
		u64 slot = read_slot(r, at);
		struct etch_block *b = &r->blocks[etch_slot_block(slot)];
		unsigned int end, count;

		end = at == open ? etch_pos_off(committed, at) : READ_ONCE(b->end);
		count = at == open ? etch_pos_count(committed) : READ_ONCE(b->records);
		if (etch_slot_start(slot) != at || !slot_is_still(r, at, slot)) {
			slot = read_slot(r, at);
			at = *block = oldest_block(r, etch_slot_start(slot));
			records = 0;
			sum = 0;
			continue;
		}
		if (!(slot & ETCH_SLOT_TAKEN)) {
			records += count;
			sum += end - r->header;
		}
		at += r->size;
	}
	*bytes += sum;
	return records;
}

/**
 * etch_ring_peek_begin() - start looking without consuming
 * @r:   the ring
 * @cur: is set to the oldest unread record; the newest one committed by now is the last
 *       that it will show
 *
 * Context: any reader, under the caller's mutex. The mutex may be released between the
 * calls for one cursor, except that reset and resize make cursors void. Takes
 * time in proportion to the number of sub-buffers.
 */
void etch_ring_peek_begin(struct etch_ring *r, struct etch_cursor *cur)
{
	u64 bytes = 0;
	u64 block;

	etch_ring_catch_up(r);
	cur->end = read_committed(r);
	cur->block = r->rd_block;
	cur->off = etch_pos_off(r->rd, r->rd_block);
	cur->seen = r->rd_records;
	/* As above: good for all that comes. */
	cur->time = r->rd_time;

	block = r->held ? r->rd_block + r->size : r->rd_block;
	cur->left = count_records(r, &block, cur->end, &bytes);
	if (r->held) {
		cur->left += r->blocks[r->spare].records - r->rd_records;
	} else if (block == r->rd_block) {
		cur->left -= r->rd_records;
	} else {
		cur->block = block;
		cur->off = 0;
		cur->seen = 0;
	}
}
EXPORT_SYMBOL_GPL(etch_ring_peek_begin);

/* How many of a block's records the cursor may show. */
static unsigned int peek_count(const struct etch_ring *r, const struct etch_cursor *cur,
			       const struct etch_block *block)
{
	bool last = cur->block == etch_ring_block_at(r, cur->end);

	return last ? etch_pos_count(cur->end) : READ_ONCE(block->records);
}

/* Go on to the block at @start, and return how many records are gone before it. */
static u64 peek_skip(struct etch_ring *r, struct etch_cursor *cur, u64 start)
{
	u64 last = etch_ring_block_at(r, cur->end);
	u64 left = cur->left;
	u64 bytes = 0;

	cur->block = start;
	cur->off = 0;
	cur->seen = 0;
	cur->left = count_records(r, &cur->block, cur->end, &bytes);
	/* What the taking reader has in hand is in no slot. */
	if (r->held && cur->block == r->rd_block && !etch_pos_after(cur->block, last))
		cur->left += peek_count(r, cur, &r->blocks[r->spare]);
	return left - cur->left;
}

/* View a copy of what the cursor wants of @block. */
static void peek_block(const struct etch_ring *r, const struct etch_cursor *cur,
		       const struct etch_block *block, void *buf, struct etch_view *view)
{
	bool last = cur->block == etch_ring_block_at(r, cur->end);
	unsigned int from = unread(r, cur->off);
	unsigned int records = peek_count(r, cur, block);
	unsigned int end;

	end = last ? etch_pos_off(cur->end, cur->block) : READ_ONCE(block->end);
	/* Figures of two generations can be at odds: do not copy by them. */
	if (end < from || end > etch_ring_subbuf_size(r))
		end = from;

	copy_block(buf, block, from, end);
	fill_view(r, view, cur->block, block, buf, from, end);
	view->begin = max(view->begin, cur->time);
	view->end = last ? 0 : READ_ONCE(block->left);
	view->records = records - cur->seen;
	view->open = last;
}

/**
 * etch_ring_peek_next() - look at the next block
 * @r:    the ring
 * @cur:  a cursor that etch_ring_peek_begin() has set
 * @buf:  as large as a sub-buffer and aligned to 4 bytes: gets the records
 * @view: tells where they are in @buf; view.missed is set in any case
 *
 * Context: any reader, under the caller's mutex.
 * Return: 1, or 0 at the end.
 */
int etch_ring_peek_next(struct etch_ring *r, struct etch_cursor *cur, void *buf,
			struct etch_view *view)
{
	u64 missed = 0;
	int ret = 0;

	/* Goes round again only for a block that is gone, or was read to its end. */
	while (!etch_pos_after(cur->block, etch_ring_block_at(r, cur->end))) {
		bool held = r->held && cur->block == r->rd_block;
		u64 slot = read_slot(r, cur->block);
		unsigned int block = held ? r->spare : etch_slot_block(slot);

		if (!held && etch_slot_start(slot) != cur->block) {
			missed += peek_skip(r, cur, oldest_block(r, etch_slot_start(slot)));
			continue;
		}
		if (!held && slot & ETCH_SLOT_TAKEN) {
			missed += peek_skip(r, cur, cur->block + r->size);
			continue;
		}
		peek_block(r, cur, &r->blocks[block], buf, view);
		if (!held && !slot_is_still(r, cur->block, slot))
			continue;

		cur->left -= view->records;
		cur->block += r->size;
		cur->off = 0;
		cur->seen = 0;
		if (view->len) {
			ret = 1;
			break;
		}
	}
	view->missed = missed;
	return ret;
}
EXPORT_SYMBOL_GPL(etch_ring_peek_next);

/**
 * etch_ring_empty() - is there nothing to take?
 * @r: the ring
 *
 * Context: any, without the mutex. The answer may be out of date by the time it is given.
 * Return: true if all that was committed has been read.
 */
bool etch_ring_empty(const struct etch_ring *r)
{
	return etch_pos_bytes(read_committed(r)) == READ_ONCE(r->rd);
}
EXPORT_SYMBOL_GPL(etch_ring_empty);

/**
 * etch_ring_filled() - how much is there to take?
 * @r: the ring
 *
 * For a reader that wants to read much at a time. The sub-buffer that is being written does
 * not count, so this is at most one less than there are, and exactly that when discard
 * mode loses records. A sub-buffer that was read in part counts; so does one that was being
 * written when all of it was read, until the reader takes more.
 *
 * Context: any, without the mutex, but not beside resize. The answer may be out of date
 * by the time it is given.
 * Return: how many sub-buffers are full and not read to their end.
 */
unsigned int etch_ring_filled(const struct etch_ring *r)
{
	u64 open = etch_ring_block_at(r, read_committed(r));
	u64 at = etch_ring_block_from(r, READ_ONCE(r->rd));

	if (!etch_pos_after(open, at))
		return 0;
	/* Blocks that were overwritten since the reader's last call are still behind @rd. */
	return min((open - at) >> (ETCH_POS_SHIFT + r->shift), (u64)r->nr - 1);
}
EXPORT_SYMBOL_GPL(etch_ring_filled);

/**
 * etch_ring_passed() - how far is the reader?
 * @r: the ring
 *
 * This and etch_ring_filled() add up to the number of the block that is being written, until
 * writers overwrite unread blocks: the reader moves over these when it takes more.
 *
 * Context: under the caller's mutex.
 * Return: how many sub-buffers lie behind it since the ring was made or emptied.
 */
u64 etch_ring_passed(const struct etch_ring *r)
{
	return etch_ring_number(r, r->rd);
}
EXPORT_SYMBOL_GPL(etch_ring_passed);

/**
 * etch_ring_busy() - is a writer in flight?
 * @r: the ring
 *
 * For a reader that merges rings in the order of time: a ring that is empty and then not
 * busy will not get a record that is older than the question, except for one whose stores
 * are still in a CPU's store buffer, or one with a time from before its writer was in flight:
 * etch_ring_reserve_since(). A grace period of RCU waits for both.
 *
 * Context: any, without the mutex.
 * Return: true if one is.
 */
bool etch_ring_busy(const struct etch_ring *r)
{
	return READ_ONCE(r->nest) || READ_ONCE(r->pos) != READ_ONCE(r->committed);
}
EXPORT_SYMBOL_GPL(etch_ring_busy);

/**
 * etch_ring_size() - how large a ring is
 * @r: the ring
 *
 * Context: any but beside control.
 * Return: bytes of all sub-buffers, the spare one not included.
 */
size_t etch_ring_size(const struct etch_ring *r)
{
	return (size_t)etch_ring_subbuf_size(r) * r->nr;
}
EXPORT_SYMBOL_GPL(etch_ring_size);

/**
 * etch_ring_subbuf_size() - how large a sub-buffer is
 * @r: the ring
 *
 * Context: any.
 * Return: bytes, the header included.
 */
unsigned int etch_ring_subbuf_size(const struct etch_ring *r)
{
	return r->size >> ETCH_POS_SHIFT;
}
EXPORT_SYMBOL_GPL(etch_ring_subbuf_size);

/**
 * etch_ring_nr_subbufs() - how many sub-buffers there are
 * @r: the ring
 *
 * Context: any but beside control.
 * Return: how many, the spare one not included.
 */
unsigned int etch_ring_nr_subbufs(const struct etch_ring *r)
{
	return r->nr;
}
EXPORT_SYMBOL_GPL(etch_ring_nr_subbufs);

/*
 * How many records were written up to @committed. The blocks that were left are in
 * @written, but if writers have gone on to another block since, so are
 * records behind @committed; so look until none has. Writers are quick, unless the
 * caller is one itself: give up then.
 */
static u64 count_written(const struct etch_ring *r, u64 *committed)
{
	int tries = 1000;
	u64 written, pos;

	do {
		/* (b) pairs with (B). */
		*committed = smp_load_acquire(&r->committed);
		written = local_read(&r->written);
		smp_rmb();	/* (g) pairs with (G). */
		pos = READ_ONCE(r->pos);
	} while (etch_ring_block_at(r, pos) != etch_ring_block_at(r, *committed) && --tries);

	return written + etch_pos_count(*committed);
}

static u64 lost_by(const struct etch_ring *r, enum etch_lost cause)
{
	return local_read(&r->lost[cause]) - r->forgotten[cause];
}

/**
 * etch_ring_stats() - the figures
 * @r:     the ring
 * @stats: gets them
 *
 * While writers run, each figure is right for a slightly different moment.
 *
 * Context: as a reader, under the caller's mutex. Takes time in proportion to the
 * number of sub-buffers.
 */
void etch_ring_stats(struct etch_ring *r, struct etch_ring_stats *stats)
{
	u64 committed, block;
	struct etch_block *first = NULL;

	memset(stats, 0, sizeof(*stats));
	etch_ring_catch_up(r);
	stats->written = count_written(r, &committed);
	stats->read = r->read;

	if (r->held) {
		first = &r->blocks[r->spare];
		block = r->rd_block + r->size;
		stats->entries = count_records(r, &block, committed, &stats->bytes);
		stats->entries += first->records - r->rd_records;
		stats->bytes += first->end - max(etch_pos_off(r->rd, r->rd_block), r->header);
	} else {
		block = r->rd_block;
		stats->entries = count_records(r, &block, committed, &stats->bytes);
		if (stats->entries)
			first = &r->blocks[etch_slot_block(READ_ONCE(*etch_ring_slot(r, block)))];
		if (block == r->rd_block && r->rd != block) {
			stats->entries -= r->rd_records;
			stats->bytes -= etch_pos_off(r->rd, block) - r->header;
		}
	}
	if (stats->entries)
		stats->oldest = READ_ONCE(first->begin);

	/* A block that has just been claimed may not have been counted yet. */
	stats->overwritten = max_t(s64, overwritten_unread(r), 0);
	stats->lost_full = lost_by(r, ETCH_LOST_FULL);
	stats->lost_nested = lost_by(r, ETCH_LOST_NESTED);
	stats->lost_too_big = lost_by(r, ETCH_LOST_TOO_BIG);
	stats->lost_throttled = lost_by(r, ETCH_LOST_THROTTLED);
	stats->lost_off = lost_by(r, ETCH_LOST_OFF);
}
EXPORT_SYMBOL_GPL(etch_ring_stats);
