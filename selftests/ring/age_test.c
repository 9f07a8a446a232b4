// SPDX-License-Identifier: GPL-2.0
/*
 * What time does to a ring: blocks that are read in part, that get old, that are closed;
 * clocks that leap, and a counter that is set back. One thread, no interrupts.
 */

#include "ring_test.h"
#include "ring/ring_internal.h"

#define SUBBUF	4096U
#define HEADER	64U
#define ROOM	(SUBBUF - HEADER)
#define HOUR	(1ULL << 43)	/* of a counter of 2.4 GHz */

static struct etch_ring *ring;
static struct tally tally;
static u32 next_seq;

static void begin(unsigned int nr, bool overwrite)
{
	ring = ring_make(nr * SUBBUF, SUBBUF, HEADER, overwrite);
	tally = (struct tally){};
	next_seq = 0;
}

static bool put(unsigned int len)
{
	bool ok = rec_write(ring, 0, next_seq, len);

	next_seq += ok;
	return ok;
}

/* All is read, and the account is right. */
static void end(u64 lost)
{
	struct etch_ring_stats s;

	tally_drain(&tally, ring);
	CHECK(stats_balance(ring, &s));
	CHECK_EQ(s.entries, 0);
	CHECK_EQ(s.lost_full + s.lost_nested, lost);
	CHECK_EQ(tally.bad, 0);
	CHECK_EQ(tally.gaps, s.overwritten);
	etch_ring_free(ring);
	shim_asleep = false;
	etch_clock_step = 0;
}

static struct etch_block *open_block(void)
{
	u64 slot = *etch_ring_slot(ring, etch_ring_block_at(ring, ring->pos));

	return &ring->blocks[etch_slot_block(slot)];
}

static u64 open_start(void)
{
	return etch_ring_block_at(ring, ring->pos);
}

/* Read one record of the next view, which is not all of it. Returns its time. */
static u64 read_one(void)
{
	unsigned int bytes, records;
	struct etch_view view;

	CHECK(etch_ring_take(ring, &view) == 1 && view.records > 1);
	bytes = tally_view(&tally, &view, 1, &records);
	etch_ring_advance_to(ring, bytes, records, tally.last_time);
	return tally.last_time;
}

/* The unread part of a block begins where the reader said, wherever it is looked at. */
static void test_read_in_part(bool full)
{
	static u8 buf[SUBBUF] __aligned(8);
	void *memory, *mine;
	struct etch_cursor cur;
	struct etch_view view;
	u64 time;
	int i;

	begin(4, false);
	for (i = 0; i < 5; i++)
		CHECK(put(800));
	if (full)
		CHECK(put(100));
	for (i = 0; i < 3; i++) {
		time = read_one();
		CHECK_EQ(etch_ring_take(ring, &view), 1);
		CHECK_EQ(view.begin, time);
		CHECK_EQ(view.open, !full);
		etch_ring_peek_begin(ring, &cur);
		CHECK_EQ(etch_ring_peek_next(ring, &cur, buf, &view), 1);
		CHECK_EQ(view.begin, time);
	}
	/* Nobody told: it stays as it is. */
	CHECK_EQ(etch_ring_take(ring, &view), 1);
	tally_view(&tally, &view, 0, &(unsigned int){ 0 });
	etch_ring_advance(ring, 0, 0);
	CHECK_EQ(etch_ring_take(ring, &view), 1);
	CHECK_EQ(view.begin, time);

	etch_ring_flush(ring);
	mine = memory = etch_ring_alloc_subbuf(ring);
	CHECK_EQ(etch_ring_take_subbuf(ring, &memory, &view), 1);
	CHECK(memory != mine && view.records == 2);
	CHECK_EQ(view.begin, time);
	tally_view(&tally, &view, NOBODY, &(unsigned int){ 0 });
	/* The next block begins when it was begun. */
	CHECK(put(100) && etch_ring_take(ring, &view) == 1 && view.begin > time);
	free_pages((unsigned long)memory, 0);
	end(0);
	tap(true, "the unread part of a %s block begins where the reader stopped",
	    full ? "full" : "open");
}

/* A block gets old, by the clock that is asked: records have their own. Each hour one comes. */
static void test_old(bool overwrite)
{
	u64 first, age;

	begin(2, overwrite);
	CHECK(!etch_ring_old(ring));	/* there is none */
	etch_ring_close(ring);
	CHECK(put(20) && !etch_ring_old(ring));
	first = open_start();
	for (age = 0; age < ETCH_RING_AGE - HOUR; age += HOUR) {
		CHECK(!etch_ring_old(ring));
		CHECK(put(20) && open_start() == first);
		etch_clock_step += HOUR;
	}
	etch_clock_step += HOUR;
	CHECK(etch_ring_old(ring));
	etch_ring_close(ring);
	/* Once will do: one on which nothing happens is left alone from then on. */
	CHECK(!etch_ring_old(ring));
	CHECK(put(20) && open_start() == first + ring->size);
	etch_clock_step = 0;
	CHECK(!etch_ring_old(ring) && put(20) && open_start() == first + ring->size);
	end(0);
	tap(true, "a block that is old is closed, and another one begun, %s",
	    overwrite ? "overwrite" : "discard");
}

/* Closed, the last block has room, and nothing comes into it: not even without a free one. */
static void test_close_full(bool overwrite)
{
	struct etch_view view;
	u64 last, lost = 0;

	begin(2, overwrite);
	CHECK(put(ROOM) && put(100));
	last = open_start();
	etch_ring_close(ring);
	CHECK_EQ(put(20), overwrite);
	CHECK_EQ(put(20), overwrite);
	CHECK_EQ(open_start() == last, !overwrite);
	lost = overwrite ? 0 : 2;
	/* A block is free. */
	CHECK_EQ(etch_ring_take(ring, &view), 1);
	tally_view(&tally, &view, NOBODY, &(unsigned int){ 0 });
	etch_ring_advance_to(ring, view.len, view.records, tally.last_time);
	CHECK(put(20) && open_start() == last + ring->size);
	end(lost);
	tap(true, "a closed block takes no record, %s", overwrite ? "overwrite" : "discard");
}

/* With nothing in it, in a ring that was emptied, or resized. */
static void test_close_odd(void)
{
	u64 start;

	begin(4, false);
	CHECK(put(20));
	etch_ring_flush(ring);
	start = open_start();
	etch_ring_close(ring);
	CHECK(put(20) && open_start() == start + ring->size);

	etch_ring_close(ring);
	start = open_start();
	CHECK_EQ(etch_ring_resize(ring, 8), 0);
	CHECK(put(20) && open_start() == start + ring->size);

	etch_ring_close(ring);
	start = open_start();
	etch_ring_off(ring);
	CHECK(!put(20));
	etch_ring_on(ring);
	etch_ring_flush(ring);
	CHECK_EQ(open_start(), start + ring->size);
	CHECK(put(20) && open_start() == start + ring->size);

	etch_ring_close(ring);
	tally_drain(&tally, ring);
	etch_ring_reset(ring);
	CHECK(put(20) && open_start() == 0 && put(20) && open_start() == 0);
	tally.gaps = 0;
	tally.next[0] = next_seq - 2;
	end(0);
	tap(true, "an empty block is closed as any other, and closed it stays until a reset");
}

/* Times leap; each record is near the one before, or the begin of its block: see tally_view(). */
static void test_leap(bool overwrite)
{
	struct etch_ring_stats s;
	unsigned int n;

	begin(4, overwrite);
	etch_ring_set_clock(ring, ETCH_CLOCK_BOOT);
	for (n = 0; n < 500; n++) {
		CHECK(put(20));
		if (n % 10 == 0)
			tally_drain(&tally, ring);
	}
	tally_drain(&tally, ring);
	CHECK(tally.last_time > 20ULL << 48);
	/* Nobody reads. In discard mode there is room in the last block, but no other one. */
	while (etch_ring_filled(ring) < 3)
		CHECK(put(1000));
	for (n = 0; n < 60; n++)
		put(20);
	etch_ring_stats(ring, &s);
	CHECK_EQ(!s.lost_full, true);
	end(0);
	tap(true, "a reader tells records on both sides of a leap apart, %s",
	    overwrite ? "overwrite" : "discard");
}

/* The counter starts anew, while the machine sleeps. */
static void test_set_back(bool overwrite)
{
	const u64 back = 1000 * HOUR;
	u64 before, start;

	begin(4, overwrite);
	CHECK(put(20) && put(20));
	shim_asleep = true;
	etch_ring_suspend(ring);
	CHECK(put(20) && put(20));
	tally_drain(&tally, ring);
	before = tally.last_time;
	/* It goes on from there. First nobody knows, and time stands still. */
	etch_clock_step = -back;
	CHECK(put(20) && put(20));
	tally_drain(&tally, ring);
	CHECK_EQ(tally.last_time, before);
	etch_clock_step = 0;
	CHECK(put(20));
	tally_drain(&tally, ring);
	CHECK(tally.last_time > before);

	/* It was only asleep, for so long that it leaps. */
	start = open_start();
	etch_clock_step = back;
	CHECK(put(20) && open_start() == start + ring->size);
	/* There is no way back from a sum. */
	shim_asleep = false;
	etch_ring_resume(ring);
	CHECK(ring->clock == ETCH_CLOCK_STEPPED && !ring->quick);
	etch_ring_off(ring);
	etch_ring_on(ring);
	CHECK(!ring->quick && put(20) && put(20));
	etch_ring_set_clock(ring, ETCH_CLOCK_COUNTER);
	etch_ring_reset(ring);
	CHECK_EQ(ring->clock, ETCH_CLOCK_STEPPED);
	end(0);
	tap(true, "a counter that was set back goes on, %s", overwrite ? "overwrite" : "discard");
}

/* Awake again, and nothing has happened to it. */
static void test_resume(void)
{
	struct etch_block *block;
	u64 start;

	begin(4, false);
	shim_asleep = true;
	etch_ring_suspend(ring);
	CHECK(put(20) && ring->clock == ETCH_CLOCK_STEPPED && !ring->quick);
	etch_ring_resume(ring);
	CHECK(ring->clock == ETCH_CLOCK_STEPPED);
	start = open_start();
	shim_asleep = false;
	etch_ring_resume(ring);
	CHECK(ring->clock == ETCH_CLOCK_COUNTER && ring->quick == ring->limit);
	CHECK(put(20) && put(20) && open_start() == start);

	/* Off, and old by the time that it goes on. */
	shim_asleep = true;
	etch_ring_suspend(ring);
	etch_ring_off(ring);
	shim_asleep = false;
	block = open_block();
	block->begin -= ETCH_RING_AGE;
	etch_ring_resume(ring);
	CHECK(!ring->quick && !put(20));
	etch_ring_on(ring);
	block->begin += ETCH_RING_AGE;
	CHECK(ring->quick && put(20) && open_start() == start + ring->size);

	/* Another clock is left alone. */
	etch_ring_set_clock(ring, ETCH_CLOCK_SEQ);
	etch_ring_suspend(ring);
	CHECK(ring->clock == ETCH_CLOCK_SEQ && ring->limit);
	etch_ring_set_clock(ring, ETCH_CLOCK_COUNTER);
	end(0);
	tap(true, "a counter that went on is read as before");
}

int main(void)
{
	test_read_in_part(false);
	test_read_in_part(true);
	test_old(true);
	test_old(false);
	test_close_full(true);
	test_close_full(false);
	test_close_odd();
	test_leap(true);
	test_leap(false);
	test_set_back(true);
	test_set_back(false);
	test_resume();
	tap(!shim_live, "all memory is given back");
	return tap_end();
}
