// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of what rings may store together.
 *
 * A cost is either so high that a block costs hours, or a test moves the time that is paid for
 * itself: none of these tests depends on how fast the machine is.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>

#include "ring/ring_internal.h"

#define BUDGET_HEADER	64U
#define BUDGET_RECORD	64U
#define BUDGET_ROOM	((unsigned int)((PAGE_SIZE - BUDGET_HEADER) / BUDGET_RECORD))
#define BUDGET_NR	8U
#define HOUR		(3600ULL * NSEC_PER_SEC)

struct budget_fixture {
	struct etch_ring_budget budget;
	struct etch_ring *ring[2];
	u64 tried[2];
	u64 stored[2];
};

static bool budget_put(struct budget_fixture *f, int which)
{
	void *record;
	u64 time;

	guard(preempt)();
	f->tried[which]++;
	record = etch_ring_reserve(f->ring[which], BUDGET_RECORD, &time);
	if (!record)
		return false;
	memset(record, 1, BUDGET_RECORD);
	etch_ring_commit(f->ring[which]);
	f->stored[which]++;
	return true;
}

/* How many of @nr are stored. */
static unsigned int budget_put_many(struct budget_fixture *f, int which, unsigned int nr)
{
	unsigned int stored = 0;

	while (nr--)
		stored += budget_put(f, which);
	return stored;
}

/* All losses are throttled ones, and each is counted once. */
static void budget_exact(struct kunit *test, struct budget_fixture *f)
{
	struct etch_ring_stats s;
	int i;

	for (i = 0; i < 2; i++) {
		etch_ring_stats(f->ring[i], &s);
		KUNIT_EXPECT_EQ(test, f->stored[i], s.written);
		KUNIT_EXPECT_EQ(test, f->tried[i] - f->stored[i], s.lost_throttled);
		KUNIT_EXPECT_EQ(test, s.written, s.read + s.overwritten + s.entries);
		KUNIT_EXPECT_EQ(test, 0, s.lost_full + s.lost_nested + s.lost_too_big + s.lost_off);
	}
}

/* The time goes on by so much, for the budget. */
static void budget_later(struct etch_ring_rate *rate, u64 ns)
{
	rate->paid -= ns;
}

static struct budget_fixture *budget_begin(struct kunit *test, bool overwrite)
{
	struct budget_fixture *f = test->priv;
	struct etch_ring_params params = {
		.node = NUMA_NO_NODE,
		.size = BUDGET_NR * PAGE_SIZE,
		.subbuf_size = PAGE_SIZE,
		.header_size = BUDGET_HEADER,
		.overwrite = overwrite,
		.clock = etch_clock_default(),
		.budget = &f->budget,
	};
	int i;

	for (i = 0; i < 2; i++) {
		etch_ring_free(f->ring[i]);
		f->ring[i] = NULL;
	}
	memset(f, 0, sizeof(*f));
	for (i = 0; i < 2; i++) {
		struct etch_ring *ring = etch_ring_create(&params);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ring);
		f->ring[i] = ring;
	}
	return f;
}

/* The first block is begun when nothing is owed, and costs an hour. Two rings share that. */
static void budget_bytes_test(struct kunit *test)
{
	struct budget_fixture *f;
	int mode;

	for (mode = 0; mode < 2; mode++) {
		f = budget_begin(test, mode);
		etch_ring_rate_set(&f->budget.bytes, HOUR, PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, BUDGET_ROOM, budget_put_many(f, 0, 5 * BUDGET_ROOM));
		/* The other ring has not begun one, and begins none. */
		KUNIT_EXPECT_EQ(test, 0, budget_put_many(f, 1, 10));
		budget_exact(test, f);
	}
}

/* A ring that has a block open may fill it, whatever others have spent: no more than that. */
static void budget_open_test(struct kunit *test)
{
	struct budget_fixture *f = budget_begin(test, true);

	etch_ring_rate_set(&f->budget.bytes, HOUR, PAGE_SIZE);
	KUNIT_EXPECT_TRUE(test, budget_put(f, 1));
	KUNIT_EXPECT_EQ(test, BUDGET_ROOM, budget_put_many(f, 0, 5 * BUDGET_ROOM));
	KUNIT_EXPECT_EQ(test, BUDGET_ROOM - 1, budget_put_many(f, 1, 5 * BUDGET_ROOM));
	KUNIT_EXPECT_EQ(test, 0, budget_put_many(f, 0, 10));
	budget_exact(test, f);
}

/* When what was stored is paid, but for the period, one block is begun, and no more. */
static void budget_period_test(struct kunit *test)
{
	struct budget_fixture *f = budget_begin(test, true);

	etch_ring_rate_set(&f->budget.bytes, HOUR, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, BUDGET_ROOM, budget_put_many(f, 0, 5 * BUDGET_ROOM));
	budget_later(&f->budget.bytes, HOUR / 2);
	KUNIT_EXPECT_EQ(test, 0, budget_put_many(f, 0, 10));
	budget_later(&f->budget.bytes, HOUR / 2);
	KUNIT_EXPECT_EQ(test, BUDGET_ROOM, budget_put_many(f, 0, 5 * BUDGET_ROOM));
	/* What nobody used is not saved up. */
	budget_later(&f->budget.bytes, 100 * HOUR);
	KUNIT_EXPECT_EQ(test, BUDGET_ROOM, budget_put_many(f, 0, 5 * BUDGET_ROOM));
	budget_exact(test, f);
}

/* A block that is left early costs what is in it: a flush. */
static void budget_flush_test(struct kunit *test)
{
	struct budget_fixture *f = budget_begin(test, false);
	u64 begin = ktime_get_mono_fast_ns(), paid;

	etch_ring_rate_set(&f->budget.bytes, HOUR, BUDGET_HEADER + BUDGET_RECORD);
	KUNIT_EXPECT_TRUE(test, budget_put(f, 0));
	scoped_guard(preempt)
		etch_ring_flush(f->ring[0]);
	paid = f->budget.bytes.paid;
	KUNIT_EXPECT_GE(test, paid, begin + HOUR);
	KUNIT_EXPECT_LE(test, paid, ktime_get_mono_fast_ns() + HOUR);
	/* The block that the flush began is there: a budget does not stop a flush. */
	KUNIT_EXPECT_EQ(test, BUDGET_ROOM, budget_put_many(f, 0, 5 * BUDGET_ROOM));
	scoped_guard(preempt)
		etch_ring_flush(f->ring[0]);
	KUNIT_EXPECT_TRUE(test, etch_ring_filled(f->ring[0]) >= 2);
	budget_exact(test, f);
}

static void budget_records_test(struct kunit *test)
{
	struct budget_fixture *f = budget_begin(test, true);
	u64 begin = ktime_get_mono_fast_ns();

	etch_ring_rate_set(&f->budget.records, HOUR, 1);
	KUNIT_EXPECT_EQ(test, BUDGET_ROOM, budget_put_many(f, 0, 5 * BUDGET_ROOM));
	KUNIT_EXPECT_GE(test, f->budget.records.paid, begin + BUDGET_ROOM * HOUR);
	KUNIT_EXPECT_LE(test, f->budget.records.paid,
			ktime_get_mono_fast_ns() + BUDGET_ROOM * HOUR);
	budget_exact(test, f);
}

/* No rate, or one that was taken away: all is stored. */
static void budget_none_test(struct kunit *test)
{
	struct budget_fixture *f = budget_begin(test, true);

	KUNIT_EXPECT_EQ(test, 5 * BUDGET_ROOM, budget_put_many(f, 0, 5 * BUDGET_ROOM));
	/* The block that is open is paid for when it is full. */
	etch_ring_rate_set(&f->budget.bytes, HOUR, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, 0, budget_put_many(f, 0, 5 * BUDGET_ROOM));
	etch_ring_rate_off(&f->budget.bytes);
	KUNIT_EXPECT_EQ(test, 5 * BUDGET_ROOM, budget_put_many(f, 0, 5 * BUDGET_ROOM));
	budget_exact(test, f);
}

/* At a rate that does matter, in the time that passes: never more than it allows. */
static void budget_rate_test(struct kunit *test)
{
	struct budget_fixture *f = budget_begin(test, true);
	u64 begin = ktime_get_mono_fast_ns(), now = begin, bytes = 0, rate = 64 * PAGE_SIZE, most;

	etch_ring_rate_set(&f->budget.bytes, NSEC_PER_SEC, rate);
	while (now - begin < 3 * ETCH_BUDGET_PERIOD) {
		bytes += budget_put(f, 0) ? BUDGET_RECORD : 0;
		bytes += budget_put(f, 1) ? BUDGET_RECORD : 0;
		now = ktime_get_mono_fast_ns();
	}
	most = rate * (now - begin + ETCH_BUDGET_PERIOD) / NSEC_PER_SEC + 2 * PAGE_SIZE;
	KUNIT_EXPECT_LE(test, bytes, most);
	KUNIT_EXPECT_GE(test, bytes, 2 * PAGE_SIZE - 2 * BUDGET_HEADER - 2 * BUDGET_RECORD);
	budget_exact(test, f);
}

static int budget_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct budget_fixture), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static void budget_exit(struct kunit *test)
{
	struct budget_fixture *f = test->priv;

	if (!f)
		return;
	etch_ring_free(f->ring[0]);
	etch_ring_free(f->ring[1]);
}

static struct kunit_case budget_cases[] = {
	KUNIT_CASE(budget_bytes_test),
	KUNIT_CASE(budget_open_test),
	KUNIT_CASE(budget_period_test),
	KUNIT_CASE(budget_flush_test),
	KUNIT_CASE(budget_records_test),
	KUNIT_CASE(budget_none_test),
	KUNIT_CASE(budget_rate_test),
	{}
};

static struct kunit_suite budget_suite = {
	.name = "etch_budget",
	.init = budget_init,
	.exit = budget_exit,
	.test_cases = budget_cases,
};
kunit_test_suite(budget_suite);

MODULE_DESCRIPTION("KUnit tests of the budget of Etch's ring buffer");
MODULE_LICENSE("GPL");
