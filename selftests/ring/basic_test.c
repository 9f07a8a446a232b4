// SPDX-License-Identifier: GPL-2.0
/* One thread, no interrupts: what each call promises, at the edges. */

#include "small.h"
#include "ring/ring_internal.h"

static int make_fails(size_t size, unsigned int subbuf, unsigned int header)
{
	struct etch_ring *r = ring_make(size, subbuf, header, true);

	if (IS_ERR(r))
		return PTR_ERR(r);
	etch_ring_free(r);
	return 0;
}

static void test_create(void)
{
	struct etch_ring *r;
	long i;

	CHECK(make_fails(65536, 4097, 8) == -EINVAL);
	CHECK(make_fails(65536, 2048, 8) == -EINVAL);
	CHECK(make_fails(65536, 2 * ETCH_RING_MAX_SUBBUF, 8) == -EINVAL);
	CHECK(make_fails(65536, 4096, 2049) == -EINVAL);
	CHECK(make_fails(~(size_t)0, 4096, 8) == -EINVAL);
	CHECK(make_fails(65536, 4096, 2048) == 0);
	tap(true, "a size out of bounds is refused");

	r = ring_make(0, 0, 0, true);
	CHECK_EQ(etch_ring_nr_subbufs(r), 2);
	CHECK_EQ(etch_ring_subbuf_size(r), ETCH_RING_SUBBUF);
	etch_ring_free(r);
	r = ring_make(5 * SUBBUF + 1, SUBBUF, 0, true);
	CHECK_EQ(etch_ring_size(r), 8 * SUBBUF);
	CHECK((uintptr_t)r % 64 == 0);
	etch_ring_free(r);
	tap(true, "sizes are rounded up");

	for (i = 0; i < 9; i++) {
		shim_allocs = i;
		CHECK(make_fails(4 * SUBBUF, SUBBUF, 8) == (i < 9 ? -ENOMEM : 0));
		CHECK_EQ(shim_live, 0);
	}
	shim_allocs = 9;
	CHECK(make_fails(4 * SUBBUF, SUBBUF, 8) == 0);
	shim_allocs = -1;
	etch_ring_free(NULL);
	tap(true, "whichever allocation fails, nothing is left behind");
}

/* A ring at a place of ours, where the owner's word stays as it is. */
static void test_settle(void)
{
	static const struct etch_ring empty;
	struct etch_ring place = {};
	struct tally t = {};
	struct etch_ring *r;
	unsigned int n;

	for (n = 0; n < 2; n++) {
		place.owner = &t;
		r = fresh(2, true);
		CHECK(etch_ring_settle(r, &place) == &place);
		CHECK(place.owner == &t);
		CHECK_EQ(etch_ring_resize(&place, 4), 0);
		CHECK(put(&place, 20) && put(&place, 100));
		CHECK_EQ(tally_drain(&t, &place), 2);
		etch_ring_free(&place);
		CHECK(place.owner == &t);
		place.owner = NULL;
		CHECK(!memcmp(&place, &empty, sizeof(place)));
		CHECK_EQ(shim_live, 0);
		memset(&t, 0, sizeof(t));
	}
	tap(true, "a ring can be at its owner's place");
}

/* Records of @len until @n are tried; drained; the figures. */
static void fill_and_drain(unsigned int nr, bool overwrite, unsigned int len, unsigned int n)
{
	struct etch_ring *r = fresh(nr, overwrite);
	unsigned int per_block = 1 + (ROOM - len) / ALIGN(len, 4);
	struct etch_ring_stats s;
	struct tally t = {};
	unsigned int i, stored = 0;

	for (i = 0; i < n; i++)
		stored += put(r, len);

	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.written, stored);
	CHECK_EQ(s.lost_full, n - stored);
	if (overwrite) {
		CHECK_EQ(stored, n);
		CHECK_EQ(s.entries, n <= nr * per_block ? n :
			 (nr - 1) * per_block + 1 + (n - 1) % per_block);
	} else {
		CHECK_EQ(stored, min(n, nr * per_block));
		CHECK_EQ(s.entries, stored);
	}
	CHECK(s.entries == 0 || s.oldest != 0);

	CHECK_EQ(etch_ring_empty(r), !n);
	CHECK_EQ(tally_drain(&t, r), s.entries);
	CHECK_EQ(t.missed, s.overwritten);
	CHECK_EQ(t.gaps, s.overwritten);
	CHECK_EQ(t.bad, 0);
	CHECK(etch_ring_empty(r));
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.entries, 0);
	CHECK_EQ(s.bytes, 0);

	/* And again: a record that was read makes room. */
	CHECK(put(r, len));
	CHECK_EQ(tally_drain(&t, r), 1);
	CHECK(stats_balance(r, &s));
	etch_ring_free(r);
}

static void test_fill(void)
{
	static const unsigned int lens[] = {
		REC_MIN, REC_MIN + 1, 31, 32, 33, 63, 64, 1008, ROOM / 2 - 1, ROOM / 2,
		ROOM / 2 + 1, ROOM - 1, ROOM,
	};
	unsigned int i, n, mode;

	for (mode = 0; mode < 2; mode++) {
		for (i = 0; i < ARRAY_SIZE(lens); i++)
			for (n = 0; n < 5 * (ROOM / lens[i] + 2); n += 1 + n / 7) {
				fill_and_drain(2, mode, lens[i], n);
				fill_and_drain(4, mode, lens[i], n);
			}
		tap(true, "any fill is read back and accounted for, %s",
		    mode ? "overwrite" : "discard");
	}
}

static void test_causes(void)
{
	struct etch_ring *r = fresh(2, false);
	struct etch_ring_stats s;
	u64 time;
	int i;

	CHECK(!etch_ring_reserve(r, ROOM + 1, &time));
	CHECK(!etch_ring_reserve(r, ~0U, &time));
	CHECK(!etch_ring_reserve(r, ~0U - 63, &time));
	etch_ring_off(r);
	CHECK(!etch_ring_reserve(r, 32, &time));
	CHECK(!etch_ring_reserve(r, ~0U, &time));
	CHECK_EQ(r->nest, 0);
	etch_ring_on(r);
	CHECK(put(r, ROOM) && put(r, ROOM) && !put(r, 16));
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.lost_too_big, 3);
	CHECK_EQ(s.lost_off, 2);
	CHECK_EQ(s.lost_full, 1);
	CHECK_EQ(s.lost_nested, 0);
	etch_ring_reset(r);

	for (i = 0; i < ETCH_RING_MAX_NEST; i++) {
		struct rec *rec = etch_ring_reserve(r, 32, &time);

		CHECK(rec);
		rec_fill(rec, time, 0, i, 32);
	}
	CHECK(!etch_ring_reserve(r, 32, &time));
	CHECK(etch_ring_busy(r) && etch_ring_empty(r));
	while (i--)
		etch_ring_commit(r);
	CHECK(!etch_ring_busy(r) && !etch_ring_empty(r));
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.lost_nested, 1);
	CHECK_EQ(s.entries, ETCH_RING_MAX_NEST);
	etch_ring_free(r);
	tap(true, "a lost record is counted by its cause");
}

/* So many short records would fit in a block that its count could not hold them. */
static void test_too_short(void)
{
	struct etch_ring *r = fresh(2, false);
	unsigned int len, any;
	struct etch_ring_stats s;
	u64 time;

	CHECK_EQ(shim_warnings, 0);
	for (len = 0; len < ETCH_RING_MIN_RECORD; len++) {
		any = len;
		OPTIMIZER_HIDE_VAR(any);	/* a constant would not compile */
		CHECK(!etch_ring_reserve(r, any, &time));
	}
	CHECK(shim_warnings > 0);
	shim_warnings = 0;
	CHECK_EQ(r->nest, 0);
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.lost_too_big, ETCH_RING_MIN_RECORD);
	CHECK_EQ(s.written, 0);
	CHECK(etch_ring_reserve(r, ETCH_RING_MIN_RECORD, &time));
	etch_ring_commit(r);
	etch_ring_free(r);
	tap(true, "a record that is too short is refused, with a warning");
}

/* A writer nested in another, which goes round the whole ring. */
static void test_nested_flood(bool overwrite)
{
	struct etch_ring *r = fresh(4, overwrite);
	unsigned int stored = 0, tried = 0;
	struct etch_ring_stats s;
	struct tally t = {};
	struct rec *rec;
	u64 time;

	for (int i = 0; i < 70; i++)
		CHECK(put(r, 100));
	tally_drain(&t, r);
	rec = etch_ring_reserve(r, 100, &time);
	rec_fill(rec, time, 1, 0, 100);
	while (tried++ < 1000)
		stored += put(r, 100);
	CHECK(rec_good(rec, 100));
	CHECK(etch_ring_empty(r));
	etch_ring_commit(r);

	CHECK(stored >= 3 * (ROOM / 100) && stored < 4 * (ROOM / 100));
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.written, 71 + stored);
	CHECK_EQ(overwrite ? s.lost_nested : s.lost_full, 1000 - stored);
	CHECK_EQ(tally_drain(&t, r), stored + 1);
	CHECK_EQ(t.bad + t.gaps + t.missed, 0);
	etch_ring_free(r);
	tap(true, "a flood nested in a writer never reaches its record, %s",
	    overwrite ? "overwrite" : "discard");
}

static void test_lost_is_told(void)
{
	struct etch_ring *r = fresh(2, false);
	struct etch_view view;
	int i;

	CHECK(put(r, ROOM) && put(r, ROOM));
	for (i = 0; i < 7; i++)
		CHECK(!put(r, ROOM));
	CHECK(etch_ring_take(r, &view) == 1 && etch_view_lost(&view) == 0 && !view.open);
	etch_ring_advance(r, view.len, view.records);
	CHECK(etch_ring_take(r, &view) == 1 && etch_view_lost(&view) == 0 && view.open);
	etch_ring_advance(r, view.len, view.records);
	CHECK(etch_ring_take(r, &view) == 0);
	CHECK(put(r, 16));
	CHECK(etch_ring_take(r, &view) == 1 && etch_view_lost(&view) == 7 && view.open);
	etch_ring_free(r);
	tap(true, "a view counts the records lost before its block");
}

/* One record at a time, the open block included, with more written in between. */
static void test_partial(bool overwrite)
{
	struct etch_ring *r = fresh(4, overwrite);
	struct etch_ring_stats s;
	struct tally t = {};
	struct etch_view view;
	unsigned int bytes, records, i;

	for (i = 0; i < 3000; i++) {
		put(r, REC_MIN + i % 77);
		if (i % 3 == 0)
			continue;
		CHECK(etch_ring_take(r, &view) == 1);
		bytes = tally_view(&t, &view, i % 5 ? 1 : 2, &records);
		etch_ring_advance(r, bytes, records);
		CHECK(stats_balance(r, &s));
	}
	tally_drain(&t, r);
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.entries, 0);
	CHECK_EQ(t.records, s.read);
	CHECK_EQ(t.bad, 0);
	CHECK_EQ(t.gaps, s.overwritten);
	CHECK_EQ(t.missed, s.overwritten);
	etch_ring_free(r);
	tap(true, "reading record by record, %s", overwrite ? "overwrite" : "discard");
}

/* Part of the open block is read by copy, then all of it is overwritten. */
static void test_copied_then_overwritten(bool ask)
{
	struct etch_ring *r = fresh(2, true);
	struct etch_ring_stats s;
	struct tally t = {};
	struct etch_view view;
	unsigned int bytes, records, i;

	for (i = 0; i < 10; i++)
		put(r, 100);
	CHECK(etch_ring_take(r, &view) == 1 && view.open);
	bytes = tally_view(&t, &view, 4, &records);
	etch_ring_advance(r, bytes, records);
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.entries, 6);

	CHECK(etch_ring_take(r, &view) == 1);
	for (i = 0; i < 200; i++)
		put(r, 100);
	if (ask)
		CHECK(stats_balance(r, &s));
	/* The view was taken in time: its records count as read. */
	bytes = tally_view(&t, &view, 3, &records);
	CHECK_EQ(records, 3);
	etch_ring_advance(r, bytes, records);
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.read, 7);
	CHECK_EQ(s.written, 210);
	tally_drain(&t, r);
	CHECK(stats_balance(r, &s));
	CHECK_EQ(t.records, s.read);
	CHECK_EQ(t.gaps, s.overwritten);
	CHECK_EQ(t.missed, s.overwritten);
	CHECK_EQ(t.bad, 0);
	etch_ring_free(r);
	tap(true, "read by copy and then overwritten%s", ask ? ", noticed by stats first" : "");
}

static u64 peek_all(struct etch_ring *r, struct etch_cursor *cur, struct tally *t)
{
	char *buf = malloc(SUBBUF);
	struct etch_view view;
	unsigned int records;
	u64 sum = 0;

	while (etch_ring_peek_next(r, cur, buf, &view) > 0) {
		tally_view(t, &view, NOBODY, &records);
		sum += records;
	}
	t->missed += view.missed;
	free(buf);
	return sum;
}

static void test_peek(void)
{
	struct etch_ring *r = fresh(4, true);
	struct etch_ring_stats s, before;
	struct etch_cursor cur;
	struct etch_view view;
	struct tally t = {}, gone = {};
	unsigned int i, bytes, records;

	etch_ring_peek_begin(r, &cur);
	CHECK_EQ(peek_all(r, &cur, &t), 0);

	for (i = 0; i < 300; i++) {
		put(r, 90);
		CHECK(stats_balance(r, &before));
		memset(&t, 0, sizeof(t));
		etch_ring_peek_begin(r, &cur);
		CHECK_EQ(cur.left, before.entries);
		CHECK_EQ(peek_all(r, &cur, &t), before.entries);
		CHECK_EQ(t.bad + t.missed, 0);
		CHECK(stats_balance(r, &s));
		CHECK(!memcmp(&s, &before, sizeof(s)));
	}
	tap(true, "peeking shows what is there and changes nothing");

	CHECK(etch_ring_take(r, &view) == 1 && !view.open);
	bytes = tally_view(&gone, &view, 5, &records);
	etch_ring_advance(r, bytes, records);
	CHECK(stats_balance(r, &before));
	memset(&t, 0, sizeof(t));
	t.next[0] = gone.next[0];
	etch_ring_peek_begin(r, &cur);
	for (i = 0; i < 30; i++)
		put(r, 90);	/* behind the end of the cursor */
	CHECK_EQ(peek_all(r, &cur, &t), before.entries);
	CHECK_EQ(t.bad + t.gaps, 0);
	tap(true, "peeking begins where the taking reader is, in the block it holds too");

	for (i = 0; i < 500; i++) {
		unsigned int n, want;

		etch_ring_peek_begin(r, &cur);
		want = cur.left;
		memset(&t, 0, sizeof(t));
		CHECK(stats_balance(r, &before));
		for (n = 0; n < i; n++)
			put(r, 90);
		n = peek_all(r, &cur, &t);
		CHECK_EQ(n + t.missed, want);
		CHECK_EQ(t.bad, 0);
		/* Now and then the other reader is the one who takes it away. */
		if (i % 3)
			continue;
		etch_ring_peek_begin(r, &cur);
		want = cur.left;
		CHECK(etch_ring_take(r, &view) == 1);
		etch_ring_advance(r, view.len, view.records);
		memset(&t, 0, sizeof(t));
		n = peek_all(r, &cur, &t);
		CHECK_EQ(n + t.missed, want);
	}
	etch_ring_free(r);
	tap(true, "a peeking reader learns how many records were gone before it came by");
}

/*
 * Fill blocks with 10 records each, and 5 more; peek; write @behind, let the other one
 * take @whole blocks and 3 records of another, and write @later.
 */
static void peek_beside_take(unsigned int before, unsigned int behind, unsigned int whole,
			     unsigned int later)
{
	const unsigned int tenth = ROOM / 10 & ~3U;
	struct etch_ring *r = fresh(4, true);
	struct etch_cursor cur;
	struct etch_view view;
	struct tally t = {};
	unsigned int i;
	u64 want;

	for (i = 0; i < 10 * before + 5; i++)
		put(r, tenth);
	etch_ring_peek_begin(r, &cur);
	want = cur.left;
	for (i = 0; i < behind; i++)
		put(r, tenth);
	for (i = 0; i <= whole; i++) {
		CHECK(etch_ring_take(r, &view) == 1 && view.records == 10);
		if (i < whole)
			etch_ring_advance(r, view.len, 10);
		else
			etch_ring_advance(r, 3 * tenth, 3);
	}
	for (i = 0; i < later; i++)
		put(r, tenth);

	CHECK_EQ(peek_all(r, &cur, &t), want - min(want, 10 * whole));
	CHECK_EQ(t.missed, min(want, 10 * whole));
	CHECK_EQ(t.bad, 0);
	etch_ring_free(r);
}

static void test_peek_beside_take(void)
{
	peek_beside_take(2, 0, 1, 0);
	peek_beside_take(3, 0, 2, 20);	/* both that were taken are written again */
	tap(true, "peeking goes on with the block that the taking reader has in hand");
	peek_beside_take(0, 20, 1, 0);
	peek_beside_take(1, 10, 1, 0);
	tap(true, "peeking ends where it was to end, in or before that block");
}

/* Is one of @len bytes not stored, for this cause, in all ways? */
static void check_lost(struct etch_ring *r, unsigned int len, const u64 *cause,
		       struct etch_ring_stats *s)
{
	enum rec_way way;
	u64 time;

	for (way = 0; way < REC_WAYS; way++) {
		u64 before;

		etch_ring_stats(r, s);
		before = *cause;
		CHECK(!rec_reserve(r, len, &time, way));
		etch_ring_stats(r, s);
		CHECK_EQ(*cause, before + 1);
	}
}

/* The ring remembers that it is full: a writer that opens a block must clear that. */
static void test_full(void)
{
	struct etch_ring_stats s;
	unsigned int how;

	for (how = 0; how < 5; how++) {
		struct etch_ring *r = fresh(2, false);
		struct etch_view view;

		put(r, ROOM);
		put(r, ROOM - 100);
		check_lost(r, 200, &s.lost_full, &s);
		check_lost(r, 200, &s.lost_full, &s);
		check_lost(r, ROOM + 1, &s.lost_too_big, &s);
		CHECK(put(r, 40) && put(r, 40));
		check_lost(r, 200, &s.lost_full, &s);
		switch (how) {
		case 0:
			CHECK(etch_ring_take(r, &view) == 1);
			etch_ring_advance(r, view.len, view.records);
			break;
		case 1:
			etch_ring_set_mode(r, true);
			break;
		case 2:
			CHECK_EQ(etch_ring_resize(r, 4), 0);
			break;
		case 3:
			etch_ring_reset(r);
			break;
		case 4:
			etch_ring_off(r);
			check_lost(r, 200, &s.lost_off, &s);
			etch_ring_on(r);
			check_lost(r, 200, &s.lost_full, &s);
			etch_ring_set_mode(r, true);
			break;
		}
		next_seq[0] = 0;	/* an even number: in the straight line */
		CHECK(put(r, 200));
		etch_ring_free(r);
	}
	tap(true, "a ring is full until a block is free, and no longer");
}

static void test_wrap(void)
{
	static const u64 at[] = { ~0ULL, 1ULL << 63, (1ULL << 63) - 1 };
	unsigned int i, n, mode;

	for (mode = 0; mode < 2; mode++)
		for (i = 0; i < 3; i++) {
			struct etch_ring *r = fresh(4, mode);
			struct etch_ring_stats s;
			struct tally t = {};

			/* Three blocks before the wrap, or before the sign changes. */
			ring_rebase(r, at[i] - 7 * r->size);
			for (n = 0; n < 2000; n++) {
				put(r, 100 + n % 30);
				if (!mode || n % 200 == 9)
					tally_drain(&t, r);
			}
			tally_drain(&t, r);
			CHECK(stats_balance(r, &s));
			CHECK_EQ(s.written, 2000);
			CHECK_EQ(s.entries, 0);
			CHECK_EQ(t.bad, 0);
			CHECK_EQ(t.gaps, s.overwritten);
			etch_ring_free(r);
		}
	tap(true, "positions wrap");
}

static void test_away(void)
{
	struct etch_ring *r = fresh(4, true);
	struct etch_ring_stats s;
	struct tally t = {};
	struct etch_view view;
	unsigned int n, bytes, records;

	for (n = 0; n < 10; n++)
		put(r, 100);
	CHECK(etch_ring_take(r, &view) == 1);
	bytes = tally_view(&t, &view, 4, &records);
	etch_ring_advance(r, bytes, records);
	/* As if it had not looked for more than half of all positions. */
	r->rd_block += 1ULL << 62;
	r->rd += 1ULL << 62;
	for (n = 0; n < 500; n++)
		put(r, 100);
	tally_drain(&t, r);
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.entries, 0);
	CHECK_EQ(t.bad, 0);
	CHECK_EQ(t.gaps, s.overwritten);
	etch_ring_free(r);
	tap(true, "a reader that was away for very long finds its way");
}

/* Blocks that are full and unread: while it fills, is read, is overwritten. */
static void test_filled(bool overwrite)
{
	unsigned int per_block = ROOM / 100, i, n;
	struct etch_ring *r = fresh(8, overwrite);
	struct etch_view view;

	CHECK_EQ(etch_ring_filled(r), 0);
	for (n = 1; n <= 20 * per_block; n++) {
		put(r, 100);
		/* The last block that is being written does not count, full or not. */
		CHECK_EQ(etch_ring_filled(r), min((n - 1) / per_block, 7U));
	}

	/* It counts until its last record is read; so does the one in hand. */
	for (i = 7; i; i--) {
		CHECK_EQ(etch_ring_filled(r), i);
		CHECK_EQ(etch_ring_take(r, &view), 1);
		CHECK_EQ(etch_ring_passed(r), etch_ring_next_seq(r) - 1 - i);
		CHECK_EQ(etch_ring_filled(r), i);
		etch_ring_advance(r, 100, 1);
		CHECK_EQ(etch_ring_filled(r), i);
		etch_ring_advance(r, view.len - 100, view.records - 1);
		CHECK_EQ(etch_ring_filled(r), i - 1);
	}
	/* The rest is a copy of the block that is written last. */
	CHECK_EQ(etch_ring_take(r, &view), 1);
	CHECK(view.open);
	etch_ring_advance(r, view.len, view.records);
	CHECK(etch_ring_empty(r));
	CHECK_EQ(etch_ring_filled(r), 0);
	CHECK_EQ(etch_ring_passed(r), etch_ring_next_seq(r) - 1);

	/* That block is left, and the reader has not said yet that it is done with it. */
	CHECK(put(r, ROOM));
	CHECK_EQ(etch_ring_filled(r), 1);
	CHECK_EQ(etch_ring_take(r, &view), 1);
	CHECK_EQ(etch_ring_filled(r), 0);
	CHECK(put(r, ROOM));
	CHECK_EQ(etch_ring_filled(r), 1);
	CHECK_EQ(etch_ring_resize(r, 2), 0);
	CHECK_EQ(etch_ring_filled(r), 1);
	etch_ring_reset(r);
	CHECK_EQ(etch_ring_filled(r), 0);
	etch_ring_free(r);
	tap(true, "full blocks are counted, %s mode", overwrite ? "overwrite" : "discard");
}

/* Wherever the reader stopped: a ring that takes no more is as full as can be. */
static void test_filled_to_the_brim(unsigned int nr)
{
	unsigned int per_block = ROOM / 500, read, n;
	struct etch_view view;

	for (read = 0; read <= 3 * per_block; read++) {
		struct etch_ring *r = fresh(nr, false);

		for (n = 0; n < read; n++) {
			CHECK(put(r, 500));
			CHECK_EQ(etch_ring_take(r, &view), 1);
			etch_ring_advance(r, view.len, view.records);
		}
		while (put(r, 500))
			;
		CHECK_EQ(etch_ring_filled(r), nr - 1);
		etch_ring_free(r);
	}
	tap(true, "a ring of %u blocks that takes no more is seen to be full", nr);
}

/* The same where positions wrap. */
static void test_filled_wrap(void)
{
	struct etch_ring *r = fresh(4, true);
	unsigned int n;

	ring_rebase(r, -(u64)ETCH_POS(2 * SUBBUF));
	for (n = 0; n < 12; n++) {
		CHECK_EQ(etch_ring_filled(r), n ? min(n - 1, 3U) : 0);
		CHECK(put(r, ROOM));
	}
	etch_ring_free(r);
	tap(true, "full blocks are counted over the wrap");
}

static void test_modes(void)
{
	struct etch_ring *r = fresh(4, true);
	struct etch_ring_stats s;
	struct tally t = {};
	unsigned int n;

	for (n = 0; n < 1000; n++)
		put(r, 100);
	etch_ring_set_mode(r, false);
	for (n = 0; n < 1000; n++)
		put(r, 100);
	CHECK(stats_balance(r, &s));
	CHECK(s.lost_full > 900 && s.entries == 4 * (ROOM / 100));
	CHECK_EQ(tally_drain(&t, r), s.entries);
	for (n = 0; n < 100; n++)
		CHECK(put(r, 100));
	etch_ring_set_mode(r, true);
	for (n = 0; n < 1000; n++)
		CHECK(put(r, 100));
	tally_drain(&t, r);
	CHECK(stats_balance(r, &s));
	CHECK_EQ(t.bad, 0);
	CHECK_EQ(t.gaps, s.overwritten);

	etch_ring_set_clock(r, ETCH_CLOCK_SEQ);
	etch_ring_reset(r);
	memset(&t, 0, sizeof(t));
	memset(next_seq, 0, sizeof(next_seq));
	CHECK(etch_ring_empty(r));
	CHECK(stats_balance(r, &s) && s.written + s.lost_full == 0);
	CHECK(put(r, 20) && put(r, 20));
	CHECK_EQ(tally_drain(&t, r), 2);
	CHECK(t.last_time < 1000);
	etch_ring_free(r);
	tap(true, "mode and clock can be changed");
}

/* A clock that is set back now and then: emptied or exchanged, a ring goes on from where it was. */
static void test_set_back(void)
{
	struct etch_ring_params params = {
		.node = NUMA_NO_NODE, .size = 2 * SUBBUF, .subbuf_size = SUBBUF,
		.header_size = HEADER, .overwrite = true, .clock = ETCH_CLOCK_TAI,
	};
	struct etch_ring *r, *next;
	struct tally t = {};
	unsigned int n;

	r = fresh(2, true);
	etch_ring_set_clock(r, ETCH_CLOCK_TAI);
	for (n = 0; n < 300; n++) {
		CHECK(put(r, 20));
		CHECK_EQ(tally_drain(&t, r), 1);
		CHECK_EQ(etch_ring_latest(r), t.last_time);
		if (n % 2)
			etch_ring_reset(r);
		if (n % 5)
			continue;
		params.floor = etch_ring_latest(r);
		next = etch_ring_create(&params);
		etch_ring_free(r);
		r = next;
	}
	CHECK_EQ(t.bad, 0);
	CHECK(t.last_time > 1000);

	/* Another clock has times of its own. */
	etch_ring_set_clock(r, ETCH_CLOCK_SEQ);
	etch_ring_reset(r);
	CHECK(put(r, 20));
	CHECK_EQ(tally_drain(&t, r), 1);
	CHECK(t.last_time < 1000);
	etch_ring_free(r);
	tap(true, "times do not go back");
}

int main(void)
{
	test_create();
	test_settle();
	test_fill();
	test_causes();
	test_too_short();
	test_nested_flood(true);
	test_nested_flood(false);
	test_lost_is_told();
	test_partial(true);
	test_partial(false);
	test_copied_then_overwritten(false);
	test_copied_then_overwritten(true);
	test_peek();
	test_peek_beside_take();
	test_full();
	test_wrap();
	test_away();
	test_filled(true);
	test_filled(false);
	test_filled_to_the_brim(2);
	test_filled_to_the_brim(8);
	test_filled_wrap();
	test_modes();
	test_set_back();
	tap(!shim_live, "all memory is given back");
	return tap_end();
}
