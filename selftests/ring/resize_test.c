// SPDX-License-Identifier: GPL-2.0
/* One thread, no interrupts: a larger or a smaller ring keeps every record. */

#include "small.h"
#include "ring/ring_internal.h"

/* Of @n records @eat are read, then come @more: past a block in hand, perhaps. Then resize. */
static void resize_once(unsigned int from, unsigned int to, unsigned int n, unsigned int eat,
			unsigned int more, bool overwrite)
{
	struct etch_ring *r = fresh(from, overwrite);
	struct etch_ring_stats s, old;
	struct tally t = {};
	struct etch_view view;
	unsigned int i, bytes, records;

	for (i = 0; i < n; i++)
		put(r, 200 + i % 9);
	while (eat && etch_ring_take(r, &view) > 0) {
		bytes = tally_view(&t, &view, eat, &records);
		etch_ring_advance(r, bytes, records);
		eat -= records;
	}
	for (i = 0; i < more; i++)
		put(r, 200 + i % 9);
	CHECK(stats_balance(r, &old));
	CHECK_EQ(etch_ring_resize(r, to), 0);
	CHECK_EQ(etch_ring_nr_subbufs(r), to);
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.written, old.written);
	CHECK_EQ(s.read, old.read);
	if (to >= from)
		CHECK_EQ(s.entries, old.entries);
	CHECK_EQ(shim_live, 4 + to + 1);

	for (i = 0; i < n / 2; i++)
		put(r, 200 + i % 9);
	CHECK(stats_balance(r, &s));
	tally_drain(&t, r);
	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.entries, 0);
	CHECK_EQ(t.records, s.read);
	CHECK_EQ(t.gaps, s.overwritten);
	CHECK_EQ(t.missed, s.overwritten);
	CHECK_EQ(t.bad, 0);
	CHECK_EQ(t.next[0], next_seq[0]);
	/* All of its memory can be used, except the rest of the open block. */
	for (i = 0; i < to - 1; i++)
		CHECK(put(r, ROOM));
	CHECK_EQ(tally_drain(&t, r), to - 1);
	etch_ring_free(r);
}

/* Twice while a block is in hand that writers have overtaken: between it and them is nothing. */
static void resize_behind(unsigned int from, unsigned int to, unsigned int then, bool overwrite)
{
	struct etch_ring *r = fresh(from, overwrite);
	struct etch_ring_stats s;
	struct tally t = {};
	struct etch_view view;
	unsigned int i, bytes, records;

	put(r, 20);
	put(r, ROOM - 20);
	put(r, 20);
	CHECK(etch_ring_take(r, &view) > 0 && !view.open);
	bytes = tally_view(&t, &view, 1, &records);
	etch_ring_advance(r, bytes, records);
	for (i = 0; i < 8; i++)
		put(r, ROOM - i);
	CHECK_EQ(etch_ring_resize(r, to), 0);
	CHECK(stats_balance(r, &s));
	CHECK(s.bytes <= etch_ring_size(r) + SUBBUF);
	CHECK_EQ(etch_ring_resize(r, then), 0);
	CHECK(stats_balance(r, &s));
	CHECK(s.bytes <= etch_ring_size(r) + SUBBUF);
	for (i = 0; i < 40; i++)
		put(r, 200);
	CHECK(stats_balance(r, &s));
	CHECK(s.bytes <= etch_ring_size(r) + SUBBUF);
	tally_drain(&t, r);
	CHECK(stats_balance(r, &s) && !s.entries && !s.bytes);
	CHECK_EQ(t.bad, 0);
	etch_ring_free(r);
}

/* A block in hand has left its slot: all but that of the block that is open are free. */
static void resize_room(void)
{
	struct etch_ring *r = fresh(2, false);
	struct tally t = {};
	struct etch_view view;
	unsigned int bytes, records, n = 0;

	put(r, 20);
	put(r, ROOM - 20);
	put(r, ROOM);
	CHECK(etch_ring_take(r, &view) > 0 && !view.open);
	bytes = tally_view(&t, &view, 1, &records);
	etch_ring_advance(r, bytes, records);
	CHECK_EQ(etch_ring_resize(r, 4), 0);
	while (put(r, ROOM))
		n++;
	CHECK_EQ(n, 3);
	etch_ring_free(r);
}

static void test_resize(void)
{
	static const unsigned int eats[] = { 0, 1, 7, 19, 20, 21, 45, 1000 };
	unsigned int from, to, n, e, mode;
	struct etch_ring_stats s, old;
	struct etch_ring *r;
	long i;

	for (mode = 0; mode < 2; mode++) {
		for (from = 2; from <= 16; from *= 2)
			for (to = 2; to <= 16; to *= 2)
				for (e = 0; e < ARRAY_SIZE(eats); e++)
					for (n = 0; n < 400; n += 1 + n / 3)
						resize_once(from, to, n, eats[e], 0, mode);
		tap(true, "resize keeps the newest records, %s", mode ? "overwrite" : "discard");

		for (from = 2; from <= 16; from *= 2)
			for (to = 2; to <= 16; to *= 2)
				for (n = 10; n < 400; n += n / 2)
					resize_once(from, to, 100, 7, n, mode);
		tap(true, "resize while a block is in the reader's hand, %s",
		    mode ? "overwrite" : "discard");

		for (from = 2; from <= 8; from *= 2)
			for (to = 2; to <= 16; to *= 2)
				for (n = 2; n <= 32; n *= 2)
					resize_behind(from, to, n, mode);
		tap(true, "resize twice meanwhile, %s", mode ? "overwrite" : "discard");
	}
	resize_room();
	tap(true, "resize gives room in front of a block in hand");

	r = fresh(4, true);
	for (i = 0; i < 100; i++)
		put(r, 200);
	CHECK(stats_balance(r, &old));
	CHECK(etch_ring_resize(r, 3) == -EINVAL);
	CHECK(etch_ring_resize(r, 1) == -EINVAL);
	CHECK(etch_ring_resize(r, 0) == -EINVAL);
	CHECK(etch_ring_resize(r, 1U << 31) == -EINVAL);
	for (i = 0; i < 7; i++) {
		shim_allocs = i;
		CHECK(etch_ring_resize(r, 8) == -ENOMEM);
		CHECK_EQ(shim_live, 4 + 5);
	}
	shim_allocs = 7;
	etch_ring_resize_abort(etch_ring_resize_prepare(r, 8));
	shim_allocs = -1;
	CHECK(stats_balance(r, &s));
	CHECK(!memcmp(&s, &old, sizeof(s)));
	CHECK_EQ(shim_live, 4 + 5);
	etch_ring_free(r);
	tap(true, "a resize that fails changes nothing");
}

int main(void)
{
	test_resize();
	tap(!shim_live, "all memory is given back");
	return tap_end();
}
