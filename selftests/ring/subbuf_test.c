// SPDX-License-Identifier: GPL-2.0
/*
 * Sub-buffers that are taken whole, their memory exchanged, and the flush that makes the one
 * being written one of them. One thread, no interrupts.
 */

#include "ring_test.h"
#include "ring/ring_internal.h"

#define SUBBUF	4096U
#define HEADER	64U
#define ROOM	(SUBBUF - HEADER)
#define MINE	0xa5

/* The ring under test, and the memory that is ours for the next exchange. */
static struct etch_ring *ring;
static void *memory;
static struct tally tally;
static u32 next_seq[LEVELS];

static void begin(unsigned int nr, bool overwrite)
{
	ring = ring_make(nr * SUBBUF, SUBBUF, HEADER, overwrite);
	memory = etch_ring_alloc_subbuf(ring);
	memset(memory, MINE, SUBBUF);
	tally = (struct tally){};
	memset(next_seq, 0, sizeof(next_seq));
}

static bool put(unsigned int len)
{
	bool ok = rec_write(ring, 0, next_seq[0], len);

	next_seq[0] += ok;
	return ok;
}

/* Nobody but us writes to memory that is ours. */
static bool untouched(void)
{
	const u8 *byte = memory;
	unsigned int i;

	for (i = 0; i < SUBBUF; i++)
		if (byte[i] != MINE)
			return false;
	return true;
}

/* Take the next sub-buffer, and check it. Returns false if there is none. */
static bool take(struct etch_view *view)
{
	void *old = memory;

	CHECK(untouched());
	if (!etch_ring_take_subbuf(ring, &memory, view)) {
		CHECK(memory == old);
		return false;
	}
	CHECK(memory != old);
	CHECK(view->data == memory + HEADER);
	CHECK(view->len <= ROOM && !view->len == !view->records);
	tally_subbuf(&tally, ring, view);
	memset(memory, MINE, SUBBUF);
	return true;
}

static unsigned int take_all(void)
{
	struct etch_view view;
	unsigned int n = 0;

	while (take(&view))
		n++;
	return n;
}

/* All was read: the account, and the end. */
static void end(void)
{
	struct etch_ring_stats s;

	CHECK(untouched());
	CHECK(stats_balance(ring, &s));
	CHECK_EQ(s.entries, 0);
	CHECK_EQ(s.bytes, 0);
	CHECK_EQ(s.written, next_seq[0]);
	CHECK_EQ(s.read, tally.records);
	CHECK_EQ(tally.bad, 0);
	CHECK_EQ(tally.gaps, s.overwritten);
	CHECK_EQ(tally.missed, s.overwritten);
	free_pages((unsigned long)memory, 0);
	etch_ring_free(ring);
	CHECK_EQ(shim_live, 0);
}

static void test_flush(bool on)
{
	struct etch_view view;
	unsigned int i;
	u64 pos;

	begin(4, false);
	etch_ring_flush(ring);
	CHECK(etch_ring_empty(ring) && !ring->pos && !take(&view));

	for (i = 0; i < 10; i++) {
		CHECK(put(100 + i) && put(17));
		CHECK(!take(&view));
		if (!on)
			etch_ring_off(ring);
		etch_ring_flush(ring);
		CHECK(!etch_ring_busy(ring));
		etch_ring_on(ring);
		CHECK_EQ(etch_ring_filled(ring), 1);
		CHECK(take(&view));
		CHECK_EQ(view.seq, i);
		CHECK_EQ(view.records, 2);
		CHECK_EQ(view.len, ALIGN(100 + i, 4) + 17);
		CHECK_EQ(view.pid, 1);
		CHECK_EQ(etch_view_lost(&view), 0);
		CHECK(!take(&view));
		/* The next block was begun, and that is no reason to look again. */
		CHECK(etch_ring_empty(ring));

		/* Another flush finds nothing to close. */
		pos = ring->pos;
		etch_ring_flush(ring);
		CHECK_EQ(ring->pos, pos);
		CHECK(!take(&view));
	}
	CHECK_EQ(tally.blocks_gone, 0);
	end();
	tap(true, "a flush makes what there is a sub-buffer to take, the ring being %s",
	    on ? "on" : "off");
}

/* Two reading in turns: views, and whole sub-buffers. */
static void test_beside_views(void)
{
	struct etch_view view;
	unsigned int bytes, records;

	/* Of the block being written, one record is read. */
	begin(4, false);
	CHECK(put(21) && put(100) && put(33));
	CHECK_EQ(etch_ring_take(ring, &view), 1);
	bytes = tally_view(&tally, &view, 1, &records);
	etch_ring_advance(ring, bytes, records);
	etch_ring_flush(ring);
	CHECK(take(&view));
	CHECK_EQ(view.records, 2);
	CHECK_EQ(view.len, 133);

	/* Of the block in hand, too. */
	CHECK(put(ROOM - 200) && put(100) && put(100) && put(40));
	CHECK(etch_ring_take(ring, &view) == 1 && !view.open);
	bytes = tally_view(&tally, &view, 1, &records);
	etch_ring_advance(ring, bytes, records);
	CHECK(take(&view));
	CHECK_EQ(view.records, 2);
	CHECK_EQ(view.len, 200);
	CHECK_EQ(view.seq, 1);

	/* A block that was read to its end is not given; the next one is. */
	tally_drain(&tally, ring);
	etch_ring_flush(ring);
	CHECK(put(50));
	etch_ring_flush(ring);
	CHECK(take(&view));
	CHECK_EQ(view.seq, 3);
	CHECK_EQ(view.len, 50);
	CHECK(!take(&view));

	/* And the other way round. */
	CHECK(put(50));
	tally_drain(&tally, ring);
	end();
	tap(true, "records read in views are not in the sub-buffer that is taken whole");
}

static void test_loss(void)
{
	struct etch_view view;

	begin(4, false);
	CHECK(!put(ROOM + 1) && !put(ROOM + 1));
	etch_ring_flush(ring);
	CHECK(take(&view) && !view.records && !view.len);
	CHECK(view.lost[ETCH_LOST_TOO_BIG] == 2 && view.lost[ETCH_LOST_FULL] == 0);
	CHECK(!take(&view));
	etch_ring_flush(ring);
	CHECK(!take(&view));

	/* Full: nothing happens, but records that fit can still be stored. */
	CHECK(put(ROOM) && put(ROOM) && put(ROOM) && put(ROOM - 100) && !put(200));
	etch_ring_flush(ring);
	CHECK(put(96) && !put(1000));
	CHECK_EQ(take_all(), 3);
	/* The block that tells of the loss is begun behind the records. */
	etch_ring_flush(ring);
	CHECK(take(&view) && view.records == 2);
	CHECK_EQ(etch_view_lost(&view), 2);
	CHECK(take(&view) && view.records == 0);
	CHECK(view.lost[ETCH_LOST_FULL] == 2 && view.lost[ETCH_LOST_TOO_BIG] == 2);
	etch_ring_flush(ring);
	CHECK(!take(&view));
	CHECK_EQ(tally.blocks_gone, 0);

	/* The ring being off is nobody's loss. */
	etch_ring_off(ring);
	CHECK(!put(20));
	etch_ring_flush(ring);
	etch_ring_on(ring);
	CHECK(!take(&view));
	end();
	tap(true, "a sub-buffer without records reports the loss, by cause, once");
}

/* The one that would tell of it cannot be left while the flush itself is in flight. */
static void test_loss_of_two(bool overwrite)
{
	struct etch_view view;

	begin(2, overwrite);
	CHECK(put(20) && !put(ROOM + 1));
	etch_ring_flush(ring);
	CHECK(take(&view) && view.records == 1 && etch_view_lost(&view) == 0);
	CHECK(!take(&view));
	etch_ring_flush(ring);
	CHECK(take(&view) && view.records == 0 && etch_view_lost(&view) == 1);
	etch_ring_flush(ring);
	CHECK(!take(&view));
	CHECK_EQ(tally.blocks_gone, 0);
	end();
	tap(true, "with two sub-buffers it takes a second flush, %s",
	    overwrite ? "overwrite" : "discard");
}

/* A flush in the middle of a record, and deeper than anybody may be. */
static void test_nested(bool overwrite)
{
	struct etch_ring_stats s;
	struct etch_view view;
	struct rec *rec;
	u64 time, pos;
	int i;

	begin(4, overwrite);
	CHECK(put(40));
	rec = etch_ring_reserve(ring, 100, &time);
	etch_ring_flush(ring);
	CHECK(etch_ring_busy(ring) && !take(&view));
	rec_fill(rec, time, 0, next_seq[0]++, 100);
	CHECK(put(60));
	etch_ring_flush(ring);
	CHECK(!take(&view));
	etch_ring_commit(ring);
	CHECK(!etch_ring_busy(ring));
	CHECK(take(&view) && view.records == 2);
	CHECK(take(&view) && view.records == 1);
	CHECK(!take(&view));

	/* As many as go round the ring: none is claimed that the record is in, none is lost. */
	rec = etch_ring_reserve(ring, 100, &time);
	for (i = 0; i < 3; i++) {
		etch_ring_flush(ring);
		CHECK(put(20));
	}
	pos = ring->pos;
	etch_ring_flush(ring);
	CHECK_EQ(ring->pos, pos);
	rec_fill(rec, time, 1, 0, 100);
	etch_ring_commit(ring);
	CHECK_EQ(take_all(), 3);
	etch_ring_flush(ring);
	CHECK_EQ(take_all(), 1);

	for (i = 0; i < ETCH_RING_MAX_NEST; i++) {
		rec = etch_ring_reserve(ring, 32, &time);
		CHECK(rec);
		rec_fill(rec, time, 0, next_seq[0]++, 32);
	}
	pos = ring->pos;
	etch_ring_flush(ring);
	CHECK(ring->pos == pos && ring->nest == ETCH_RING_MAX_NEST);
	while (i--)
		etch_ring_commit(ring);
	etch_ring_flush(ring);
	CHECK(take_all());
	etch_ring_stats(ring, &s);
	CHECK_EQ(s.lost_full + s.lost_nested, 0);
	next_seq[0]++;		/* the one of another level */
	end();
	tap(true, "a flush nested in writers waits for none and loses nothing, %s",
	    overwrite ? "overwrite" : "discard");
}

static void test_overwrite(void)
{
	struct etch_ring_stats s;
	struct etch_view view;
	int i;

	begin(4, true);
	for (i = 0; i < 4; i++)
		CHECK(put(ROOM / 2) && put(ROOM / 2));
	etch_ring_flush(ring);
	etch_ring_stats(ring, &s);
	CHECK_EQ(s.overwritten, 2);
	CHECK(take(&view));
	CHECK_EQ(view.seq, 1);
	CHECK_EQ(tally.blocks_gone, 1);
	CHECK_EQ(etch_ring_overwritten(ring), 2);
	CHECK_EQ(take_all(), 2);
	end();
	tap(true, "a flush of a full ring overwrites the oldest sub-buffer");
}

/* By chance; @views: by views, too; @nr is changed now and then if @resize. */
static void any_order(bool overwrite, bool views, bool resize)
{
	u64 x = 88172645463325252ULL + overwrite + 2 * views + 4 * resize;
	unsigned int n, bytes, records;
	struct etch_ring_stats s;
	struct etch_view view;

	begin(4, overwrite);
	for (n = 0; n < 200000; n++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		switch (x >> 32 & 15) {
		case 0:
			take(&view);
			break;
		case 1:
			if ((x >> 40 & 7) == 0)
				take_all();
			break;
		case 2:
			etch_ring_flush(ring);
			break;
		case 3:
			if (!views || etch_ring_take(ring, &view) <= 0)
				break;
			bytes = tally_view(&tally, &view, 1 + (x >> 40 & 3), &records);
			etch_ring_advance(ring, bytes, records);
			break;
		case 4:
			if (resize && (x >> 40 & 15) == 0)
				CHECK_EQ(etch_ring_resize(ring, 2U << (x >> 48 & 3)), 0);
			break;
		case 5:
			CHECK(!put(ROOM + 1));
			break;
		default:
			put(REC_MIN + (x >> 40 & (x >> 60 ? 255 : 2047)));
		}
	}
	etch_ring_flush(ring);
	take_all();
	if (!views && !overwrite && !resize)
		CHECK_EQ(tally.blocks_gone, 0);
	tally_drain(&tally, ring);
	etch_ring_stats(ring, &s);
	CHECK(s.read > 1000 && s.lost_too_big && !s.lost_full == overwrite);
	end();
	tap(true, "in any order, %s%s%s", overwrite ? "overwrite" : "discard",
	    views ? ", views beside" : "", resize ? ", resized" : "");
}

/*
 * A block is in hand, read in part; those behind it are overwritten, and the ring grows:
 * the next slot has nothing that was ever written.
 */
static void test_resize_behind_the_hand(void)
{
	struct etch_view view;
	unsigned int bytes, records, i;

	begin(2, true);
	CHECK(!put(ROOM + 1));
	for (i = 0; i < 5; i++)
		CHECK(put(ROOM / 2) && put(ROOM / 2));
	CHECK_EQ(etch_ring_take(ring, &view), 1);
	bytes = tally_view(&tally, &view, 1, &records);
	etch_ring_advance(ring, bytes, records);
	for (i = 0; i < 5; i++)
		CHECK(put(ROOM / 2) && put(ROOM / 2));
	CHECK_EQ(etch_ring_resize(ring, 8), 0);
	etch_ring_flush(ring);
	CHECK(take_all());
	CHECK_EQ(tally.last_lost, 1);
	end();
	tap(true, "a ring that grows while a block is in hand gives none that was never written");
}

/* Is there nothing left in any sub-buffer? */
static bool wiped(void)
{
	unsigned int i, j;

	for (i = 0; i <= ring->nr; i++) {
		const u8 *data = ring->blocks[i].data;

		for (j = 0; j < SUBBUF; j++)
			if (data[j])
				return false;
	}
	return true;
}

static void test_reset(void)
{
	struct etch_view view;
	int i;

	begin(4, true);
	CHECK(!put(ROOM + 1));
	for (i = 0; i < 30; i++)
		CHECK(put(ROOM / 2));
	CHECK(take(&view));
	CHECK(!wiped());
	etch_ring_reset(ring);
	CHECK(wiped());
	tally = (struct tally){};
	next_seq[0] = 0;
	CHECK(!take(&view));
	/* Loss from before is forgotten, in blocks' descriptors too. */
	etch_ring_flush(ring);
	CHECK(!take(&view));
	CHECK(put(20));
	etch_ring_flush(ring);
	CHECK(take(&view));
	CHECK_EQ(view.seq, 0);
	CHECK_EQ(etch_view_lost(&view), 0);
	end();
	tap(true, "an emptied ring has forgotten its sub-buffers");
}

/* In the caller's memory, with any contents. */
static void test_in_memory(void)
{
	struct etch_ring_params p = {
		.subbuf_size = SUBBUF, .header_size = HEADER, .overwrite = true,
		.clock = ETCH_CLOCK_SEQ,
	};
	/* The ring and its tables, 4 sub-buffers and the spare. */
	const size_t bytes = 6 * SUBBUF;
	void *region = aligned_alloc(SUBBUF, bytes);

	memset(region, MINE, bytes);
	ring = etch_ring_create_in(&p, region, 4);
	CHECK(!IS_ERR(ring));
	CHECK(wiped());
	CHECK(put(ROOM / 2));
	CHECK(!wiped());
	etch_ring_reset(ring);
	CHECK(wiped());
	etch_ring_free(ring);
	free(region);
	tap(!shim_live, "memory that a ring is made in is wiped");
}

/* A look gives the first block that there is this number. */
static void peek_seq(u64 seq)
{
	static u8 buf[SUBBUF] __aligned(8);
	struct etch_cursor cur;
	struct etch_view view;

	etch_ring_peek_begin(ring, &cur);
	CHECK_EQ(etch_ring_peek_next(ring, &cur, buf, &view), 1);
	CHECK_EQ(view.seq, seq);
}

static void test_wrap(void)
{
	struct etch_view view;
	unsigned int n;
	u64 first;

	begin(4, false);
	ring_rebase(ring, -(u64)ETCH_POS(16 * SUBBUF));
	first = etch_ring_next_seq(ring);
	tally.next_block = first;
	for (n = 0; n < 60; n++) {
		CHECK_EQ(etch_ring_next_seq(ring), first + n + !!n);
		CHECK_EQ(etch_ring_passed(ring), first + n);
		CHECK(put(20) && put(200));
		peek_seq(first + n);
		etch_ring_flush(ring);
		peek_seq(first + n);
		/* By turns whole, and in views. */
		if (n % 4 < 2) {
			CHECK(take(&view) && view.records == 2 && !take(&view));
			CHECK_EQ(view.seq, first + n);
			continue;
		}
		CHECK_EQ(etch_ring_take(ring, &view), 1);
		CHECK_EQ(view.seq, first + n);
		tally_drain(&tally, ring);
	}
	CHECK_EQ(first, (1ULL << (64 - ETCH_POS_SHIFT) >> ring->shift) - 16);
	CHECK_EQ(tally.blocks_gone, 0);
	end();
	tap(true, "numbers of sub-buffers go on where positions wrap");
}

int main(void)
{
	int i;

	test_flush(true);
	test_flush(false);
	test_beside_views();
	test_loss();
	test_loss_of_two(true);
	test_loss_of_two(false);
	test_nested(true);
	test_nested(false);
	test_overwrite();
	for (i = 0; i < 8; i++)
		any_order(i & 1, i & 2, i & 4);
	test_resize_behind_the_hand();
	test_reset();
	test_in_memory();
	test_wrap();
	tap(!shim_live, "all memory is given back");
	return tap_end();
}
