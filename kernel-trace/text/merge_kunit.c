// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the merge: the order of records of several CPUs, their times, and losses.
 *
 * An event of our own is registered, hidden, so that no file shows it. Rings are
 * written to by hand, three as if there were three CPUs, by this one.
 */

#include <kunit/test.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>

#include "text/merge.h"
#include "text/text.h"
#include "text/text_kunit.h"

#define ETCH_TEST_CPUS		3

/* Records: more than a sub-buffer has, but not two; more than any ring here has. */
#define ETCH_TEST_BLOCKS	(PAGE_SIZE / 10)
#define ETCH_TEST_MANY		(PAGE_SIZE / 2)

static struct etch_field etch_test_number_fields[] = {
	ETCH_TEST_FIELD("u32", "number", ETCH_FIELD_FIXED, 4, 4, 4),
};

static struct etch_class etch_test_number_class = {
	.system = "etch_test",
	.fields = etch_test_number_fields,
	.nr_fields = ARRAY_SIZE(etch_test_number_fields),
	.size = sizeof(struct etch_test_number),
	.print_fmt = "",
};

static struct etch_event etch_test_number_event = {
	.name = "etch_test_merged",
	.class = &etch_test_number_class,
	.hidden = true,
};

/* ---- An instance ---- */

struct etch_test {
	struct etch_instance inst;
	struct etch_ring *rings[ETCH_TEST_CPUS];
	unsigned int epochs[ETCH_TEST_CPUS];
	struct etch_stream_base bases[ETCH_TEST_CPUS];
	struct etch_merge *merge;
};

static struct etch_test *etch_test_of(struct kunit *test)
{
	return test->priv;
}

static int etch_merge_test_init(struct kunit *test)
{
	struct etch_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	t->inst.clock = ETCH_CLOCK_SEQ;
	t->inst.rings = t->rings;
	t->inst.epochs = t->epochs;
	t->inst.bases = t->bases;
	mutex_init(&t->inst.read_mutex);
	return 0;
}

static void etch_merge_test_exit(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	int i;

	if (!t)
		return;
	etch_merge_free(t->merge);
	for (i = 0; i < ETCH_TEST_CPUS; i++)
		etch_ring_free(t->rings[i]);
}

static int etch_merge_suite_init(struct kunit_suite *suite)
{
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_event_register(&etch_test_number_event);
	mutex_unlock(&etch_mutex);
	return ret;
}

static void etch_merge_suite_exit(struct kunit_suite *suite)
{
	mutex_lock(&etch_mutex);
	etch_event_unregister(&etch_test_number_event);
	mutex_unlock(&etch_mutex);
}

static void etch_test_rings(struct kunit *test, int nr, bool overwrite, enum etch_merge_way way)
{
	struct etch_ring_params params = {
		.node = NUMA_NO_NODE,
		.size = 2 * PAGE_SIZE,
		.subbuf_size = PAGE_SIZE,
		.header_size = ETCH_PACKET_HEADER,
		.overwrite = overwrite,
		.clock = ETCH_CLOCK_SEQ,
	};
	struct etch_test *t = etch_test_of(test);
	int i;

	for (i = 0; i < nr; i++) {
		struct etch_ring *ring = etch_ring_create(&params);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ring);
		t->rings[i] = ring;
	}
	t->merge = etch_merge_create_range(&t->inst, 0, ETCH_TEST_CPUS, way);
	KUNIT_ASSERT_NOT_NULL(test, t->merge);
}

/* Stores a number, with an id of the test's choice and a time to be added. */
static bool etch_test_store(struct etch_test *t, int cpu, u32 number, unsigned int id, u64 more)
{
	struct etch_event event = { .id = id };
	struct etch_test_number *record;
	u64 time;

	preempt_disable();
	record = etch_ring_reserve(t->rings[cpu], sizeof(*record), &time);
	if (record) {
		record->head.word = etch_test_word(&event, time + more, ETCH_TASK);
		record->head.pid = 0;
		record->number = number;
		etch_ring_commit(t->rings[cpu]);
	}
	preempt_enable();
	return record;
}

static bool etch_test_write(struct etch_test *t, int cpu, u32 number)
{
	return etch_test_store(t, cpu, number, etch_test_number_event.id, 0);
}

static u32 etch_item_number(const struct etch_item *item)
{
	return ((const struct etch_test_number *)item->record)->number;
}

static void etch_test_begin(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);

	mutex_lock(&t->inst.read_mutex);
	KUNIT_EXPECT_EQ(test, 0, etch_merge_begin(t->merge));
}

static void etch_test_end(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);

	etch_merge_end(t->merge);
	mutex_unlock(&t->inst.read_mutex);
}

/* The next items' numbers count from @from to @to - 1. */
static void etch_test_expect(struct kunit *test, u32 from, u32 to)
{
	struct etch_test *t = etch_test_of(test);

	for (; from < to; from++) {
		const struct etch_item *item = etch_merge_item(t->merge);

		KUNIT_ASSERT_NOT_NULL(test, item);
		KUNIT_ASSERT_EQ(test, sizeof(struct etch_test_number), item->len);
		KUNIT_ASSERT_EQ(test, from, etch_item_number(item));
		etch_merge_next(t->merge);
	}
}

static struct etch_ring_stats etch_test_stats(struct etch_test *t, int cpu)
{
	struct etch_ring_stats stats;

	etch_ring_stats(t->rings[cpu], &stats);
	return stats;
}

/* ---- Times ---- */

static void etch_merge_test_times(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	const u64 wrap = ETCH_TIME_MASK + 1;
	const struct etch_item *item;

	KUNIT_EXPECT_EQ(test, 5, etch_time_full(5, 5));
	KUNIT_EXPECT_EQ(test, wrap + 4, etch_time_full(5, 4));
	KUNIT_EXPECT_EQ(test, 3 * wrap - 1, etch_time_full(3 * wrap - 1, wrap - 1));
	KUNIT_EXPECT_EQ(test, 3 * wrap, etch_time_full(3 * wrap - 1, 0));
	/* The word's bits above the time do not count. */
	KUNIT_EXPECT_EQ(test, 7, etch_time_full(6, 7 | ~ETCH_TIME_MASK));

	/* Through a ring, across the wrap twice. */
	etch_test_rings(test, 1, false, ETCH_MERGE_TAKE);
	etch_test_store(t, 0, 0, etch_test_number_event.id, wrap / 2);
	etch_test_store(t, 0, 1, etch_test_number_event.id, 0);
	etch_test_store(t, 0, 2, etch_test_number_event.id, wrap / 2);
	etch_test_begin(test);
	item = etch_merge_item(t->merge);
	KUNIT_ASSERT_NOT_NULL(test, item);
	KUNIT_EXPECT_EQ(test, 1, item->time / (wrap / 2));
	etch_merge_next(t->merge);
	KUNIT_EXPECT_EQ(test, 2, etch_merge_item(t->merge)->time / (wrap / 2));
	etch_merge_next(t->merge);
	KUNIT_EXPECT_EQ(test, 3, etch_merge_item(t->merge)->time / (wrap / 2));
	etch_test_end(test);
}

/* The next record is the @number-th, and was stored so many times @step later than the first. */
static void etch_test_expect_time(struct kunit *test, u32 number, u64 step)
{
	const struct etch_item *item = etch_merge_item(etch_test_of(test)->merge);

	KUNIT_ASSERT_NOT_NULL(test, item);
	KUNIT_EXPECT_EQ(test, number, etch_item_number(item));
	KUNIT_EXPECT_EQ(test, number, div64_u64(item->time, step));
}

/* A reader that begins in the middle of a sub-buffer gets the time there. */
static void etch_merge_test_times_in_part(struct kunit *test)
{
	const u64 step = 3 * ((ETCH_TIME_MASK + 1) / 4);
	struct etch_test *t = etch_test_of(test);
	u32 i;

	etch_test_rings(test, 1, false, ETCH_MERGE_TAKE);
	for (i = 0; i < 9; i++)
		etch_test_store(t, 0, i, etch_test_number_event.id, i * step);
	for (i = 0; i < 6; i++) {
		etch_test_begin(test);
		etch_test_expect_time(test, i, step);
		etch_merge_next(t->merge);
		etch_test_end(test);
	}
	/* One that is looked at, and not taken. */
	etch_test_begin(test);
	etch_test_end(test);

	etch_merge_free(t->merge);
	t->merge = etch_merge_create_range(&t->inst, 0, 1, ETCH_MERGE_PEEK);
	KUNIT_ASSERT_NOT_NULL(test, t->merge);
	etch_test_begin(test);
	for (i = 6; i < 9; i++) {
		etch_test_expect_time(test, i, step);
		etch_merge_next(t->merge);
	}
	etch_test_end(test);

	etch_merge_free(t->merge);
	t->merge = etch_merge_create_range(&t->inst, 0, 1, ETCH_MERGE_LOOK);
	KUNIT_ASSERT_NOT_NULL(test, t->merge);
	etch_merge_look(t->merge, &t->inst, ETCH_ALL_CPUS, U64_MAX);
	etch_test_expect_time(test, 6, step);
}

/* ---- Order ---- */

/* Any order of CPUs will do that has runs and changes. */
static int etch_test_cpu_of(u32 number)
{
	return number * number / 7 % ETCH_TEST_CPUS;
}

static void etch_merge_test_take(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	u64 read = 0;
	u32 i;

	etch_test_rings(test, ETCH_TEST_CPUS, false, ETCH_MERGE_TAKE);
	for (i = 0; i < 400; i++)
		KUNIT_ASSERT_TRUE(test, etch_test_write(t, etch_test_cpu_of(i), i));
	etch_merge_settle(t->merge, true);

	etch_test_begin(test);
	etch_test_expect(test, 0, 150);
	etch_test_end(test);
	for (i = 0; i < ETCH_TEST_CPUS; i++)
		read += etch_test_stats(t, i).read;
	KUNIT_EXPECT_EQ(test, 150, read);

	/* A record that was only looked at comes again, before the new ones. */
	for (i = 400; i < 450; i++)
		KUNIT_ASSERT_TRUE(test, etch_test_write(t, etch_test_cpu_of(i), i));
	etch_merge_settle(t->merge, true);
	etch_test_begin(test);
	etch_test_expect(test, 150, 450);
	KUNIT_EXPECT_NULL(test, etch_merge_item(t->merge));
	etch_test_end(test);

	mutex_lock(&t->inst.read_mutex);
	KUNIT_EXPECT_TRUE(test, etch_merge_empty(t->merge));
	mutex_unlock(&t->inst.read_mutex);
	for (i = 0; i < ETCH_TEST_CPUS; i++)
		KUNIT_EXPECT_EQ(test, etch_test_stats(t, i).written, etch_test_stats(t, i).read);
}

static void etch_merge_test_take_waits(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);

	/* While the second ring is dry, the first one's record may be early. */
	etch_test_rings(test, 2, false, ETCH_MERGE_TAKE);
	etch_test_write(t, 0, 0);
	etch_test_begin(test);
	KUNIT_EXPECT_NULL(test, etch_merge_item(t->merge));
	etch_test_end(test);

	/* It is not, once the second ring has something. */
	etch_test_write(t, 1, 1);
	etch_test_begin(test);
	etch_test_expect(test, 0, 1);
	KUNIT_EXPECT_NULL(test, etch_merge_item(t->merge));
	etch_test_end(test);

	/* Nor when all writers were waited for. */
	etch_merge_settle(t->merge, false);
	etch_test_write(t, 0, 2);
	etch_test_begin(test);
	etch_test_expect(test, 1, 2);
	KUNIT_EXPECT_NULL(test, etch_merge_item(t->merge));
	etch_test_end(test);
}

static void etch_merge_test_peek(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	u32 i;

	etch_test_rings(test, ETCH_TEST_CPUS, false, ETCH_MERGE_PEEK);
	for (i = 0; i < 400; i++)
		etch_test_write(t, etch_test_cpu_of(i), i);

	etch_test_begin(test);
	etch_test_expect(test, 0, 200);
	/* Not shown: the end was settled at the beginning. */
	etch_test_write(t, 0, 400);
	etch_test_expect(test, 200, 400);
	KUNIT_EXPECT_NULL(test, etch_merge_item(t->merge));
	etch_test_end(test);

	etch_test_begin(test);
	etch_test_expect(test, 0, 401);
	KUNIT_EXPECT_NULL(test, etch_merge_item(t->merge));
	etch_test_end(test);
	for (i = 0; i < ETCH_TEST_CPUS; i++)
		KUNIT_EXPECT_EQ(test, 0, etch_test_stats(t, i).read);
}

static void etch_merge_test_peek_emptied(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	u32 i;

	/* More than a block. */
	etch_test_rings(test, 1, false, ETCH_MERGE_PEEK);
	for (i = 0; i < ETCH_TEST_BLOCKS; i++)
		KUNIT_ASSERT_TRUE(test, etch_test_write(t, 0, i));

	etch_test_begin(test);
	etch_test_expect(test, 0, 10);
	etch_ring_off(t->rings[0]);
	synchronize_rcu();
	etch_ring_reset(t->rings[0]);
	t->epochs[0]++;
	/* The rest of the block at hand, and no further. */
	for (i = 10; i < ETCH_TEST_BLOCKS && etch_merge_item(t->merge); i++)
		etch_merge_next(t->merge);
	KUNIT_EXPECT_LT(test, i, ETCH_TEST_BLOCKS);
	etch_test_end(test);
}

/* Writers lap the reader: the records not shown are counted, even if no record follows. */
static void etch_merge_test_peek_lapped(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	const struct etch_item *item;
	u64 entries, lost = 0;
	u32 i, n = 10;

	etch_test_rings(test, 1, true, ETCH_MERGE_PEEK);
	for (i = 0; i < ETCH_TEST_MANY; i++)
		etch_test_write(t, 0, i);
	entries = etch_test_stats(t, 0).entries;

	etch_test_begin(test);
	for (i = 0; i < n; i++)
		etch_merge_next(t->merge);
	for (i = 0; i < 2 * ETCH_TEST_MANY; i++)
		etch_test_write(t, 0, i);
	while ((item = etch_merge_item(t->merge))) {
		n += !!item->record;
		lost += item->lost;
		etch_merge_next(t->merge);
	}
	etch_test_end(test);
	KUNIT_EXPECT_LT(test, 0, lost);
	KUNIT_EXPECT_EQ(test, entries, n + lost);
}

/* ---- Missing records ---- */

/* Takes all there is. Returns how many records, and in @lost how many are missing. */
static u32 etch_test_drain(struct kunit *test, u64 *lost)
{
	struct etch_test *t = etch_test_of(test);
	const struct etch_item *item;
	u32 n = 0;

	etch_test_begin(test);
	while ((item = etch_merge_item(t->merge))) {
		*lost += item->lost;
		n++;
		etch_merge_next(t->merge);
	}
	etch_test_end(test);
	return n;
}

static void etch_merge_test_lost(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	u64 lost = 0;
	u32 n = 0, i;

	etch_test_rings(test, 1, false, ETCH_MERGE_TAKE);
	for (i = 0; i < ETCH_TEST_MANY; i++)
		n += etch_test_write(t, 0, i);
	KUNIT_EXPECT_LT(test, n, ETCH_TEST_MANY);
	KUNIT_EXPECT_EQ(test, n, etch_test_drain(test, &lost));
	KUNIT_EXPECT_EQ(test, 0, lost);

	/* Told with the first record that was not lost. */
	KUNIT_EXPECT_TRUE(test, etch_test_write(t, 0, 0));
	KUNIT_EXPECT_EQ(test, 1, etch_test_drain(test, &lost));
	KUNIT_EXPECT_EQ(test, ETCH_TEST_MANY - n, lost);
}

static void etch_merge_test_overwritten(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	u64 lost = 0;
	u32 n, i;

	etch_test_rings(test, 1, true, ETCH_MERGE_TAKE);
	for (i = 0; i < ETCH_TEST_MANY; i++)
		KUNIT_ASSERT_TRUE(test, etch_test_write(t, 0, i));
	n = etch_test_drain(test, &lost);
	KUNIT_EXPECT_GT(test, n, 0);
	KUNIT_EXPECT_LT(test, n, ETCH_TEST_MANY);
	KUNIT_EXPECT_EQ(test, ETCH_TEST_MANY - n, lost);
}

/* Of two readers of one instance, only the first to go on reports a loss. */
static void etch_merge_test_lost_once(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	struct etch_merge *first, *other;
	u64 lost[2] = {}, told = 0;
	u32 n = 0, i;

	etch_test_rings(test, 1, false, ETCH_MERGE_TAKE);
	first = t->merge;
	other = etch_merge_create_range(&t->inst, 0, ETCH_TEST_CPUS, ETCH_MERGE_TAKE);
	KUNIT_ASSERT_NOT_NULL(test, other);

	/* Both have read something, so that both would notice. */
	for (i = 0; i < ARRAY_SIZE(lost); i++) {
		t->merge = i ? other : first;
		KUNIT_EXPECT_TRUE(test, etch_test_write(t, 0, i));
		etch_test_drain(test, &lost[i]);
	}
	for (i = 0; i < ETCH_TEST_MANY; i++)
		n += etch_test_write(t, 0, i);
	etch_test_drain(test, &lost[1]);
	told += ETCH_TEST_MANY - n;

	/* The first one has a look at the record behind the loss, and leaves it. */
	KUNIT_EXPECT_TRUE(test, etch_test_write(t, 0, 0));
	t->merge = first;
	etch_test_begin(test);
	KUNIT_EXPECT_NOT_NULL(test, etch_merge_item(first));
	etch_test_end(test);
	t->merge = other;
	KUNIT_EXPECT_EQ(test, 1, etch_test_drain(test, &lost[1]));
	KUNIT_EXPECT_EQ(test, told, lost[1]);

	KUNIT_EXPECT_TRUE(test, etch_test_write(t, 0, 0));
	t->merge = first;
	KUNIT_EXPECT_EQ(test, 1, etch_test_drain(test, &lost[0]));
	KUNIT_EXPECT_EQ(test, 0, lost[0]);
	etch_merge_free(other);
}

static void etch_merge_test_skip(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	const struct etch_item *item;
	u32 i, first;

	/* One that nobody knows, among some that fill more than a block. */
	etch_test_rings(test, 1, false, ETCH_MERGE_TAKE);
	etch_test_write(t, 0, 0);
	etch_test_store(t, 0, 1, ETCH_ID_MAX, 0);
	for (i = 2; i < ETCH_TEST_BLOCKS; i++)
		etch_test_write(t, 0, i);

	etch_test_begin(test);
	etch_test_expect(test, 0, 1);
	item = etch_merge_item(t->merge);
	KUNIT_ASSERT_NOT_NULL(test, item);
	KUNIT_EXPECT_EQ(test, 0, item->len);
	/* A multiple of the records' length: all of them. */
	KUNIT_EXPECT_EQ(test, 0, item->skip % sizeof(struct etch_test_number));
	first = 1 + item->skip / sizeof(struct etch_test_number);
	KUNIT_EXPECT_LT(test, first, ETCH_TEST_BLOCKS);
	etch_merge_next(t->merge);
	etch_test_expect(test, first, ETCH_TEST_BLOCKS);
	etch_test_end(test);
	KUNIT_EXPECT_EQ(test, ETCH_TEST_BLOCKS, etch_test_stats(t, 0).read);
}

static struct kunit_case etch_merge_cases[] = {
	KUNIT_CASE(etch_merge_test_times),
	KUNIT_CASE(etch_merge_test_times_in_part),
	KUNIT_CASE(etch_merge_test_take),
	KUNIT_CASE(etch_merge_test_take_waits),
	KUNIT_CASE(etch_merge_test_peek),
	KUNIT_CASE(etch_merge_test_peek_emptied),
	KUNIT_CASE(etch_merge_test_peek_lapped),
	KUNIT_CASE(etch_merge_test_lost),
	KUNIT_CASE(etch_merge_test_lost_once),
	KUNIT_CASE(etch_merge_test_overwritten),
	KUNIT_CASE(etch_merge_test_skip),
	{}
};

static struct kunit_suite etch_merge_suite = {
	.name = "etch_merge",
	.suite_init = etch_merge_suite_init,
	.suite_exit = etch_merge_suite_exit,
	.init = etch_merge_test_init,
	.exit = etch_merge_test_exit,
	.test_cases = etch_merge_cases,
};

kunit_test_suite(etch_merge_suite);
