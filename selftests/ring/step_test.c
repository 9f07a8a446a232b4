// SPDX-License-Identifier: GPL-2.0
/*
 * An interrupt at each single place.
 *
 * The stand-ins for the kernel's READ_ONCE(), cmpxchg() and so on call a hook before they
 * touch memory. From there, at the k-th call, something else happens: a writer of a higher
 * level, a flood of them, a reader, a look. Then the writer runs on and the
 * account must be right. This for all k, from all interesting fills of the ring, and
 * once more at any two places, and with the interrupter interrupted at each of its own.
 *
 * Compiled with SHIM_NO_POINTS there is no hook, and the processor's trap flag does the
 * first of these between any two instructions of the code as it is in a kernel, so
 * that not all depends on what the stand-ins think is a place.
 *
 * The readers run on the writer's CPU here, but they look at the same words as they would
 * from another one, and none of the protocol is particular about the CPU.
 */

#include "ring_test.h"
#include "ring/ring_internal.h"
#include "step.h"

#define SUBBUF	4096U
#define HEADER	2048U
#define ROOM	(SUBBUF - HEADER)

static struct etch_ring *ring;
static void *memory;		/* for the next exchange */
static struct tally tally;
static u32 stored[LEVELS];
static u64 failed;
static enum rec_way way;
static const char *how = "";	/* is it done, in the tests' names */

static void put(int level, unsigned int len)
{
	struct rec *rec;
	u64 time;

	rec = rec_reserve(ring, len, &time, way);
	full_speed();
	if (!rec) {
		failed++;
		return;
	}
	rec_fill(rec, time, level, stored[level]++, len);
	step_again();
	etch_ring_commit(ring);
	full_speed();
}

/* The operation that is interrupted. */
static unsigned int op_len;

static void op_write(void)
{
	put(0, op_len);
}

static void op_take(void)
{
	struct etch_view view;
	unsigned int bytes, records;

	if (etch_ring_take(ring, &view) <= 0)
		return;
	full_speed();
	bytes = tally_view(&tally, &view, op_len, &records);
	step_again();
	etch_ring_advance_to(ring, bytes, records, tally.last_time);
	full_speed();
}

static void op_whole(void)
{
	struct etch_view view;

	while (etch_ring_take_subbuf(ring, &memory, &view)) {
		full_speed();
		tally_subbuf(&tally, ring, &view);
		step_again();
	}
	full_speed();
}

static void op_flush(void)
{
	etch_ring_flush(ring);
	full_speed();
}

static void op_close(void)
{
	etch_ring_close(ring);
	full_speed();
}

static void op_peek(void)
{
	static u8 buf[SUBBUF] __aligned(8);
	struct etch_cursor cur;
	struct etch_view view;
	struct tally t = {};
	unsigned int records;
	u64 want, sum = 0;

	etch_ring_peek_begin(ring, &cur);
	want = cur.left;
	while (etch_ring_peek_next(ring, &cur, buf, &view) > 0) {
		full_speed();
		tally_view(&t, &view, NOBODY, &records);
		sum += records;
		step_again();
	}
	full_speed();
	CHECK_EQ(t.bad, 0);
	CHECK_EQ(sum + t.missed + view.missed, want);
}

static u64 stored_now(void)
{
	return (u64)stored[0] + stored[1] + stored[2];
}

static void op_stats(void)
{
	bool beside = etch_ring_busy(ring);
	u64 least = stored_now();
	struct etch_ring_stats s;

	etch_ring_stats(ring, &s);
	full_speed();
	CHECK(s.entries <= s.written);
	/* In the middle of a writer it can but guess. */
	if (!beside)
		CHECK(s.written >= least && s.written <= stored_now());
}

/* What interrupts: a writer of level 1 ... */
static void one_small(void)
{
	put(1, REC_MIN);
}

static void one_odd(void)
{
	put(1, REC_MIN + 5);
}

static void one_large(void)
{
	put(1, ROOM);
}

static void three_large(void)
{
	put(1, ROOM);
	put(1, ROOM - 1);
	put(1, ROOM);
}

static void flood(void)
{
	int i;

	for (i = 0; i < 10; i++)
		put(1, i % 2 ? ROOM / 3 : ROOM / 2);
}

/* ... one that has no record, but asks for a new block ... */
static void flush(void)
{
	etch_ring_flush(ring);
}

/* ... one that has none either, and closes the block ... */
static void close_block(void)
{
	etch_ring_close(ring);
}

/* ... one that closes the block and begins others; the next ones store in the last ... */
static void close_and_write(void)
{
	if (!stored[1]) {
		etch_ring_close(ring);
		put(1, ROOM);
		put(1, ROOM / 2);
	} else {
		put(1, REC_MIN);
	}
}

/* ... a reader that takes all, or the oldest block ... */
static void take_all(void)
{
	tally_drain(&tally, ring);
}

static void take_block(void)
{
	struct etch_view view;

	if (etch_ring_take(ring, &view) > 0) {
		unsigned int bytes, records;

		full_speed();
		bytes = tally_view(&tally, &view, NOBODY, &records);
		step_again();
		etch_ring_advance_to(ring, bytes, records, tally.last_time);
		full_speed();
	}
}

static void take_whole(void)
{
	struct etch_view view;

	while (etch_ring_take_subbuf(ring, &memory, &view))
		tally_subbuf(&tally, ring, &view);
}

/* ... a reader that takes all, and later the full blocks whole, before it reads in views ... */
static bool whole_too;

static void take_all_and_whole(void)
{
	take_all();
	whole_too = true;
}

/* ... or both. */
static void flood_and_take(void)
{
	flood();
	take_all();
}

static void flush_and_take(void)
{
	flush();
	take_whole();
}

static void (*const interrupts[])(void) = {
	one_small, one_odd, one_large, three_large, flood, flush, close_block, close_and_write,
	take_all, take_block, take_all_and_whole, flood_and_take, flush_and_take, op_peek, op_stats,
};
#define CLOSE_AND_WRITE 7
#define WRITERS 8	/* of them */
#define ASKING 5	/* of these: they ask the budget */
static const char * const interrupt_names[] = {
	"a small record", "an odd record", "a whole block", "three blocks", "a flood", "a flush",
	"a close", "a close and records", "a reader", "a reader of a block",
	"a reader that comes again", "a flood and a reader", "a flush and a reader", "a look", "a count",
};

/* Level 2, which interrupts level 1. */
static void nmi_small(void)
{
	put(2, REC_MIN);
}

static void nmi_large(void)
{
	put(2, ROOM);
}

static void nmi_flood(void)
{
	put(2, ROOM / 2);
	put(2, ROOM);
	put(2, ROOM / 3);
	put(2, REC_MIN);
}

/* How the record under test meets the block: @used bytes are, @len are wanted. */
static const struct fit {
	unsigned int full, used, len;
	unsigned int records;	/* that @used is cut into; 0: one */
	bool read;
	bool few;	/* one of those that will do if each costs much */
} fits[] = {
	{ 0, 0, 24 },			/* the first record ever */
	{ 0, 100, 24, .few = true },	/* room enough */
	/* the next block is free, for nobody had it yet */
	{ 0, ROOM - 24, 25, .records = 2 },
	{ 1, ROOM - 24, 24 },		/* just fits */
	{ 1, ROOM - 24, 25, .few = true }, /* just does not */
	{ 2, ROOM, 24 },		/* the one before just did */
	{ 3, ROOM - 1, 24 },		/* an odd end */
	{ 6, ROOM - 100, ROOM },	/* a whole block */
	/* the next block is free, for it was taken */
	{ 1, ROOM - 24, 25, .read = true, .few = true },
	{ 4, ROOM - 1, ROOM, .read = true },
};
#define FITS ARRAY_SIZE(fits)
static bool few;
static bool leaps;	/* the clock does */
static struct etch_ring_budget budget;
static u64 tight;	/* what a record costs, in nanoseconds of the budget; 0: no budget */

/*
 * A ring with some blocks full and @used bytes of the next one, where the
 * record under test, of op_len bytes, goes. @used of 0: not yet claimed. A reader that
 * keeps up makes discard mode go on to the next block, too.
 */
static void set_up(const struct fit *fit)
{
	unsigned int n = fit->records ?: 1;
	unsigned int i, k;

	etch_ring_reset(ring);
	memset(&tally, 0, sizeof(tally));
	memset(stored, 0, sizeof(stored));
	failed = 0;
	op_len = fit->len;
	if (tight) {
		etch_ring_rate_off(&budget.records);
		etch_ring_rate_set(&budget.records, tight, 1);
	}
	for (i = 0; i <= fit->full; i++) {
		if (i < fit->full)
			put(0, ROOM);
		for (k = 0; i == fit->full && fit->used && k < n; k++)
			put(0, fit->used / n);
		if (fit->read)
			tally_drain(&tally, ring);
	}
}

/*
 * A record that has room is not lost, at whichever place the interruption came. A block that
 * was closed has no room.
 */
static void check_room(void)
{
	u64 block = etch_ring_block_at(ring, ring->pos);
	u64 pos = etch_pos_align(ring->pos);
	u64 before = failed;

	if (ring->closed == block) {
		put(0, REC_MIN);
		CHECK(failed > before || etch_ring_block_at(ring, ring->pos) != block);
		return;
	}
	if (etch_pos_off(pos, etch_ring_block_at(ring, ring->pos)) + REC_MIN > SUBBUF)
		return;
	put(0, REC_MIN);
	CHECK_EQ(failed, before);
}

/*
 * Each record is paid for once, those behind @charged excepted. Where the first block spends
 * the budget, no record begins another.
 */
static void check_budget(void)
{
	u64 pos = ring->pos;

	if (tight > ETCH_BUDGET_PERIOD)
		CHECK(etch_ring_block_at(ring, pos) <= ETCH_POS(0));
	etch_ring_charge(ring, pos);
	CHECK_EQ(budget.records.paid, shim_stopped + stored_now() * tight);
}

static bool verify(void)
{
	struct etch_ring_stats s;
	int i;

	CHECK(!etch_ring_busy(ring));
	check_room();
	if (tight)
		check_budget();
	CHECK(stats_balance(ring, &s));
	if (whole_too)
		take_whole();
	whole_too = false;
	tally_drain(&tally, ring);
	CHECK(stats_balance(ring, &s));
	CHECK_EQ(s.entries, 0);
	CHECK_EQ(s.written, stored_now());
	CHECK_EQ(s.lost_full + s.lost_nested + s.lost_throttled, failed);
	CHECK_EQ(s.lost_too_big + s.lost_off, 0);
	CHECK_EQ(tally.bad, 0);
	CHECK_EQ(tally.records, s.read);
	for (i = 0; i < LEVELS; i++)
		tally.gaps += stored[i] - tally.next[i];
	CHECK_EQ(tally.gaps, s.overwritten);
	CHECK_EQ(tally.missed, s.overwritten);
	return !check_failures;
}

/* How many of the fits made the operation go on to the next block, uninterrupted. */
static unsigned int switched;

/* Interrupt @op at each place by @then. Returns how many it has; 0: a failure. */
static long at_each(void (*op)(void), const struct fit *fit, void (*then)(void))
{
	u64 before;
	long at;

	for (at = 1;; at++) {
		bool more;

		set_up(fit);
		before = etch_ring_block_at(ring, ring->pos);
		shim_leap = true;
		more = step(op, at, then);
		switched += !more && etch_ring_block_at(ring, ring->pos) != before;
		if (!verify()) {
			tap_note("at place %ld, fill %u * ROOM + %u, length %u", at,
				 fit->full, fit->used, fit->len);
			return 0;
		}
		if (!more)
			return at - 1;
	}
}

static void test_writer(bool overwrite, unsigned int from, unsigned int to)
{
	unsigned int i, f;

	for (i = from; i < to; i++) {
		long n = 0;

		switched = 0;
		for (f = 0; f < FITS && !check_failures; f++)
			if (!few || fits[f].few)
				n += at_each(op_write, &fits[f], interrupts[i]);
		CHECK(n > 5 * (long)(few ? 3 : FITS));
		/* Behind a leap, one goes on in any case. */
		if (leaps)
			CHECK(switched);
		else if (few)
			CHECK_EQ(switched, overwrite ? 2 : 1);
		else
			CHECK_EQ(switched, overwrite ? FITS - 2 : 4);
		tap(true, "a writer interrupted by %s, %s%s: %ld %s", interrupt_names[i],
		    overwrite ? "overwrite" : "discard", how, n,
		    by_trap ? "instructions" : "places");
	}
}

static __maybe_unused void test_readers(bool overwrite)
{
	static const struct { const char *name; void (*op)(void); } readers[] = {
		{ "taking", op_take }, { "taking whole", op_whole }, { "peeking", op_peek },
		{ "counting", op_stats },
	};
	unsigned int o, i, f;

	for (o = 0; o < ARRAY_SIZE(readers); o++) {
		long n = 0;

		for (i = 0; i < WRITERS; i++)
			for (f = 1; f < FITS && !check_failures; f++) {
				struct fit fit = fits[f];

				fit.len = 1;
				fit.read = false;
				n += at_each(readers[o].op, &fit, interrupts[i]);
			}
		CHECK(n > 100);
		tap(true, "%s while writers write, %s: %ld places", readers[o].name,
		    overwrite ? "overwrite" : "discard", n);
	}
}

static __maybe_unused void test_flush(bool overwrite)
{
	unsigned int i, f;

	for (i = 0; i < ARRAY_SIZE(interrupts); i++) {
		long n = 0;

		for (f = 0; f < FITS && !check_failures; f++)
			n += at_each(op_flush, &fits[f], interrupts[i]);
		CHECK(n > 5 * (long)FITS);
		tap(true, "a flush interrupted by %s, %s: %ld places", interrupt_names[i],
		    overwrite ? "overwrite" : "discard", n);
	}
}

/* Interrupt op_write at any two places by @then. Returns how many pairs. */
static long at_any_two(const struct fit *fit, void (*then)(void))
{
	long first, second, n = 0;

	for (first = 1;; first++) {
		for (second = first + 1;; second++) {
			bool more;

			set_up(fit);
			more = step_twice(op_write, first, second, then);
			n += more;
			if (!verify()) {
				tap_note("at places %ld and %ld, fill %u * ROOM + %u, length %u",
					 first, second, fit->full, fit->used, fit->len);
				return 0;
			}
			if (!more)
				break;
		}
		if (second == first + 1)
			return n;
	}
}

static __maybe_unused void test_two_of(bool overwrite, unsigned int i)
{
	long n = 0;
	unsigned int f;

	for (f = 0; f < FITS && !check_failures; f++)
		n += at_any_two(&fits[f], interrupts[i]);
	CHECK(n > 100);
	tap(true, "a writer interrupted two times by %s, %s%s: %ld pairs of places",
	    interrupt_names[i], overwrite ? "overwrite" : "discard", how, n);
}

static __maybe_unused void test_two(bool overwrite)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(interrupts); i++)
		test_two_of(overwrite, i);
}

/* Level 1 interrupted at its @inner-th place, level 0 at its @outer-th. */
static long inner_at;
static bool inner_more;
static void (*inner_op)(void);
static void (*inner_then)(void);

static void step_inner(void)
{
	inner_more = step(inner_op, inner_at, inner_then);
}

static long at_each_twice(const struct fit *fit)
{
	long outer, inner, n = 0;
	bool more = true;

	for (outer = 1; more; outer++) {
		for (inner = 1;; inner++) {
			set_up(fit);
			inner_at = inner;
			inner_more = false;
			more = step(op_write, outer, step_inner);
			n++;
			if (!verify()) {
				tap_note("at place %ld and %ld, fill %u * ROOM + %u, length %u",
					 outer, inner, fit->full, fit->used, fit->len);
				return 0;
			}
			if (!inner_more)
				break;
		}
	}
	return n;
}

static __maybe_unused void test_twice(bool overwrite)
{
	static const struct { const char *name; void (*op)(void), (*then)(void); } pairs[] = {
		{ "small, small", one_small, nmi_small },
		{ "small, a whole block", one_small, nmi_large },
		{ "small, a flood", one_small, nmi_flood },
		{ "a whole block, small", one_large, nmi_small },
		{ "a whole block, a flood", one_large, nmi_flood },
		{ "a reader, a flood", take_block, nmi_flood },
		{ "a flush, small", op_flush, nmi_small },
		{ "a flush, a flood", op_flush, nmi_flood },
		{ "a flush, a flush", op_flush, flush },
		{ "a flood, a close", flood, close_block },
		{ "a close, a flood", op_close, nmi_flood },
	};
	unsigned int p, f;

	for (p = 0; p < ARRAY_SIZE(pairs); p++) {
		long n = 0;

		inner_op = pairs[p].op;
		inner_then = pairs[p].then;
		for (f = 0; f < FITS && !check_failures; f++)
			n += at_each_twice(&fits[f]);
		CHECK(n > 100);
		tap(true, "an interrupter interrupted: %s, %s: %ld pairs of places", pairs[p].name,
		    overwrite ? "overwrite" : "discard", n);
	}
}

/*
 * A budget that is spent by one block, or by none. Who interrupts is a writer: a flush and a
 * close ask no budget.
 */
static __maybe_unused void test_budget(bool overwrite)
{
	static const struct { const char *name; u64 cost; } budgets[] = {
		{ "a budget", 1 }, { "a budget that one block spends", 3600ULL * 1000000000 },
	};
	unsigned int b, i, f;

	ring->budget = &budget;
	shim_stopped = 1000 * 3600ULL * 1000000000;
	for (b = 0; b < ARRAY_SIZE(budgets); b++) {
		long n = 0;

		tight = budgets[b].cost;
		for (i = 0; i < WRITERS && !check_failures; i++)
			for (f = 0; f < FITS && !check_failures; f++)
				if (!b || (!fits[f].full && i < ASKING))
					n += at_each(op_write, &fits[f], interrupts[i]);
		inner_op = one_small;
		inner_then = nmi_flood;
		for (f = 0; f < FITS && !check_failures; f++)
			if (!b || !fits[f].full)
				n += at_each_twice(&fits[f]);
		CHECK(n > 100);
		tap(true, "%s, and writers interrupted, %s: %ld places", budgets[b].name,
		    overwrite ? "overwrite" : "discard", n);
	}
	etch_ring_rate_off(&budget.records);
	tight = 0;
	shim_stopped = 0;
	ring->budget = NULL;
}

#ifdef SHIM_NO_POINTS
/* A trap can cost 40 us in a virtual machine, and the k-th place costs k of them. */
static void test_all(bool overwrite, bool longer)
{
#ifdef __x86_64__
	if (!trap_works()) {
		tap(false, "the trap flag can be used");
		return;
	}
	by_trap = true;
	few = !longer;
	test_writer(overwrite, 0, 1);
	test_writer(overwrite, 2, longer ? ARRAY_SIZE(interrupts) : 3);
#else
	tap(true, "# SKIP ### NOT between any two instructions: that is for x86-64 only");
#endif
}
#else
static void test_all(bool overwrite, bool longer)
{
	test_writer(overwrite, 0, ARRAY_SIZE(interrupts));
	test_two(overwrite);
	if (way != REC_STRAIGHT)
		return;
	test_readers(overwrite);
	test_flush(overwrite);
	test_twice(overwrite);
	test_budget(overwrite);
}
#endif

/* All ways to reserve. */
static void test_ways(bool overwrite, bool longer)
{
	way = REC_STRAIGHT;
	how = "";
	test_all(overwrite, longer);
	way = REC_SINCE;
	how = ", by an earlier time";
	test_all(overwrite, longer);
	way = REC_PLAIN;
	how = ", plain";
	test_all(overwrite, longer);
}

#ifndef SHIM_NO_POINTS
/* Clocks that are not the counter: one is set back, one leaps. */
static void test_clocks(bool overwrite, bool longer, const char *back, const char *leap)
{
	etch_ring_set_clock(ring, ETCH_CLOCK_TAI);
	how = back;
	test_all(overwrite, longer);
	etch_ring_set_clock(ring, ETCH_CLOCK_BOOT);
	how = leap;
	shim_leaps = 0;
	leaps = shim_leap_asked = true;
	test_writer(overwrite, 0, ARRAY_SIZE(interrupts));
	leaps = shim_leap_asked = false;
	CHECK(shim_leaps < SHIM_MAX_LEAPS);
}
#endif

static void make_ring(unsigned int blocks, bool overwrite)
{
	ring = ring_make(blocks * SUBBUF, SUBBUF, HEADER, overwrite);
	memory = etch_ring_alloc_subbuf(ring);
}

static void free_ring(void)
{
	free_pages((unsigned long)memory, 0);
	etch_ring_free(ring);
}

int main(int argc, char **argv)
{
	bool longer = argc > 1 && !strcmp(argv[1], "--long");
	int overwrite;

	for (overwrite = 1; overwrite >= 0; overwrite--) {
		make_ring(2, overwrite);
		test_ways(overwrite, longer);
#ifndef SHIM_NO_POINTS
		test_clocks(overwrite, longer, ", plain, a clock that is set back",
			    ", plain, a clock that leaps");
		free_ring();
		/* One that has seen no leap yet. */
		make_ring(2, overwrite);
		way = REC_CLOCK;
		test_clocks(overwrite, longer, ", a clock that is set back",
			    ", a clock that leaps");
		free_ring();
		/* Two blocks begun in the middle of one change of the pair: that takes more. */
		make_ring(4, overwrite);
		way = REC_STRAIGHT;
		how = ", four blocks";
		test_two_of(overwrite, CLOSE_AND_WRITE);
#endif
		free_ring();
	}
	tap_note("%llu places in all", (unsigned long long)places);
	return tap_end();
}
