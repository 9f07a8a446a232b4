// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of tables of pairs: what becomes of starts and ends, and that each is counted once.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/time64.h>

#include "latency/pairs.h"
#include "test_nmi.h"

#define ETCH_PAIRS_KEYS		2	/* of hits that come from everywhere */
#define ETCH_PAIRS_HITS		20000	/* of a CPU, in a round */
#define ETCH_PAIRS_ROUNDS	20

/* For hits of NMIs, which have no argument. */
static struct etch_pairs *etch_pairs_tested;

static struct etch_pairs *etch_pairs_of_test(struct kunit *test)
{
	struct etch_pairs *pairs = etch_pairs_create();

	KUNIT_ASSERT_NOT_NULL(test, pairs);
	return pairs;
}

static void etch_test_start(struct etch_pairs *pairs, u64 key)
{
	preempt_disable();
	etch_pairs_start(pairs, key);
	preempt_enable();
}

static bool etch_test_end(struct etch_pairs *pairs, u64 key, u64 *ns, bool *longest)
{
	bool found;

	preempt_disable();
	found = etch_pairs_end(pairs, key, ns, longest);
	preempt_enable();
	return found;
}

static void etch_pairs_laws(struct kunit *test, const struct etch_pairs *pairs,
			    struct etch_pairs_view *v)
{
	etch_pairs_read(pairs, v);
	KUNIT_EXPECT_EQ(test, v->starts,
			v->pairs + v->displaced + v->replaced + v->now + v->busy_starts);
	KUNIT_EXPECT_EQ(test, v->ends, v->pairs + v->missed + v->busy_ends);
}

static void etch_latency_a_pair_has_a_time(struct kunit *test)
{
	struct etch_pairs *pairs = etch_pairs_of_test(test);
	struct etch_pairs_view v;
	bool longest = false;
	u64 ns = 0, first;

	KUNIT_EXPECT_FALSE(test, etch_test_end(pairs, 0, &ns, &longest));
	etch_test_start(pairs, 0);
	etch_test_start(pairs, U64_MAX);
	mdelay(20);
	KUNIT_ASSERT_TRUE(test, etch_test_end(pairs, 0, &first, &longest));
	KUNIT_EXPECT_TRUE(test, longest);
	KUNIT_EXPECT_GT(test, first, 10 * NSEC_PER_MSEC);
	KUNIT_EXPECT_LT(test, first, 20 * NSEC_PER_SEC);
	/* That one started when the clock did. */
	etch_pairs_set(pairs, U64_MAX)->time[0] = 1;
	KUNIT_ASSERT_TRUE(test, etch_test_end(pairs, U64_MAX, &ns, &longest));
	KUNIT_EXPECT_TRUE(test, longest);
	KUNIT_EXPECT_GT(test, ns, first);
	etch_test_start(pairs, 5);
	KUNIT_ASSERT_TRUE(test, etch_test_end(pairs, 5, &first, &longest));
	KUNIT_EXPECT_FALSE(test, longest);
	KUNIT_EXPECT_FALSE(test, etch_test_end(pairs, 5, &first, &longest));
	etch_pairs_laws(test, pairs, &v);
	KUNIT_EXPECT_EQ(test, 3, v.pairs);
	KUNIT_EXPECT_EQ(test, 2, v.missed);
	KUNIT_EXPECT_EQ(test, 0, v.now);
	KUNIT_EXPECT_EQ(test, ns, v.max);
	etch_pairs_free(pairs);
}

static void etch_latency_a_second_start_replaces(struct kunit *test)
{
	struct etch_pairs *pairs = etch_pairs_of_test(test);
	struct etch_pairs_view v;
	bool longest;
	u64 ns;

	etch_test_start(pairs, 9);
	etch_pairs_set(pairs, 9)->time[0] = 1;
	etch_test_start(pairs, 9);
	KUNIT_EXPECT_NE(test, 1, etch_pairs_set(pairs, 9)->time[0]);
	KUNIT_EXPECT_TRUE(test, etch_test_end(pairs, 9, &ns, &longest));
	etch_pairs_laws(test, pairs, &v);
	KUNIT_EXPECT_EQ(test, 1, v.replaced);
	KUNIT_EXPECT_EQ(test, 0, v.displaced);
	etch_pairs_free(pairs);
}

/* Clocks of CPUs may differ. */
static void etch_latency_a_time_before_the_start_is_none(struct kunit *test)
{
	struct etch_pairs *pairs = etch_pairs_of_test(test);
	bool longest = true;
	u64 ns = 1;

	etch_test_start(pairs, 3);
	etch_pairs_set(pairs, 3)->time[0] += BIT_ULL(60);
	KUNIT_ASSERT_TRUE(test, etch_test_end(pairs, 3, &ns, &longest));
	KUNIT_EXPECT_EQ(test, 0, ns);
	KUNIT_EXPECT_FALSE(test, longest);
	etch_pairs_free(pairs);
}

/* Keys of one set: all but the newest are displaced, the oldest first. */
static void etch_latency_the_oldest_gives_way(struct kunit *test)
{
	struct etch_pairs *pairs = etch_pairs_of_test(test);
	struct etch_pair_set *set = etch_pairs_set(pairs, 1);
	u64 keys[ETCH_PAIR_WAYS + 2], key = 1, ns;
	struct etch_pairs_view v;
	unsigned int nr = 0, i;
	bool longest;

	for (; nr < ARRAY_SIZE(keys); key++)
		if (etch_pairs_set(pairs, key) == set)
			keys[nr++] = key;
	for (i = 0; i < nr; i++) {
		etch_test_start(pairs, keys[i]);
		udelay(2);
	}
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, i >= 2, etch_test_end(pairs, keys[i], &ns, &longest));
	etch_pairs_laws(test, pairs, &v);
	KUNIT_EXPECT_EQ(test, 2, v.displaced);
	KUNIT_EXPECT_EQ(test, 2, v.missed);
	etch_pairs_free(pairs);
}

/* A hit that has interrupted the owner of its set changes nothing. */
static void etch_latency_a_busy_set_is_left(struct kunit *test)
{
	struct etch_pairs *pairs = etch_pairs_of_test(test);
	struct etch_pairs_view v;
	bool longest;
	u64 ns;

	etch_test_start(pairs, 4);
	etch_pairs_set(pairs, 4)->busy = 1;
	etch_test_start(pairs, 4);
	KUNIT_EXPECT_FALSE(test, etch_test_end(pairs, 4, &ns, &longest));
	KUNIT_EXPECT_EQ(test, 1, etch_pairs_set(pairs, 4)->busy);
	etch_pairs_laws(test, pairs, &v);
	KUNIT_EXPECT_EQ(test, 1, v.busy_starts);
	KUNIT_EXPECT_EQ(test, 1, v.busy_ends);
	etch_pairs_set(pairs, 4)->busy = 0;
	KUNIT_EXPECT_TRUE(test, etch_test_end(pairs, 4, &ns, &longest));
	etch_pairs_free(pairs);
}

static void etch_latency_more_keys_than_places(struct kunit *test)
{
	struct etch_pairs *pairs = etch_pairs_of_test(test);
	unsigned int most = ETCH_PAIR_SETS * ETCH_PAIR_WAYS;
	struct etch_pairs_view v;
	bool longest;
	u64 key, ns;

	for (key = 0; key < 3 * most; key++)
		etch_test_start(pairs, key * 0x10001);
	etch_pairs_laws(test, pairs, &v);
	KUNIT_EXPECT_EQ(test, 3 * most, v.starts);
	KUNIT_EXPECT_GT(test, v.displaced, most);
	KUNIT_EXPECT_LE(test, v.now, most);
	for (key = 0; key < 3 * most; key++)
		etch_test_end(pairs, key * 0x10001, &ns, &longest);
	etch_pairs_laws(test, pairs, &v);
	KUNIT_EXPECT_EQ(test, 0, v.now);

	etch_pairs_clear(pairs);
	etch_test_start(pairs, 1);
	etch_pairs_laws(test, pairs, &v);
	KUNIT_EXPECT_EQ(test, 1, v.starts);
	KUNIT_EXPECT_EQ(test, 0, v.ends + v.max);
	etch_pairs_free(pairs);
}

/* ---- From everywhere at once ---- */

static void etch_pairs_hit(struct etch_pairs *pairs, u64 number)
{
	bool longest;
	u64 ns;

	if (number & 1)
		etch_pairs_end(pairs, number / 2 % ETCH_PAIRS_KEYS, &ns, &longest);
	else
		etch_pairs_start(pairs, number / 2 % ETCH_PAIRS_KEYS);
}

static void etch_pairs_nmi(void)
{
	static atomic_t number;

	etch_pairs_hit(etch_pairs_tested, atomic_inc_return(&number));
}

static void etch_pairs_storm(void *data)
{
	unsigned int i;

	for (i = 0; i < ETCH_PAIRS_HITS; i++)
		etch_pairs_hit(data, i);
}

/* On all CPUs, with NMIs where there are some: hits meet in sets, and none waits. */
static void etch_latency_counts_hits_from_everywhere(struct kunit *test)
{
	struct etch_pairs *pairs = etch_pairs_of_test(test);
	struct etch_pairs_view v;
	unsigned int set, i;

	etch_pairs_tested = pairs;
	KUNIT_ASSERT_EQ(test, 0, etch_test_nmis_start(etch_pairs_nmi));
	for (i = 0; i < ETCH_PAIRS_ROUNDS; i++)
		on_each_cpu(etch_pairs_storm, pairs, true);
	etch_test_nmis_stop();
	etch_pairs_laws(test, pairs, &v);
	KUNIT_EXPECT_GE(test, v.starts + v.ends,
			ETCH_PAIRS_ROUNDS * ETCH_PAIRS_HITS * num_online_cpus());
	KUNIT_EXPECT_LE(test, v.now, ETCH_PAIRS_KEYS);
	for (set = 0; set < ETCH_PAIR_SETS; set++)
		KUNIT_EXPECT_EQ(test, 0, pairs->sets[set].busy);
	kunit_info(test, "%u CPUs, %llu starts and %llu ends: busy %llu and %llu\n",
		   num_online_cpus(), v.starts, v.ends, v.busy_starts, v.busy_ends);
	etch_pairs_free(pairs);
}

static struct kunit_case etch_latency_cases[] = {
	KUNIT_CASE(etch_latency_a_pair_has_a_time),
	KUNIT_CASE(etch_latency_a_second_start_replaces),
	KUNIT_CASE(etch_latency_a_time_before_the_start_is_none),
	KUNIT_CASE(etch_latency_the_oldest_gives_way),
	KUNIT_CASE(etch_latency_a_busy_set_is_left),
	KUNIT_CASE(etch_latency_more_keys_than_places),
	KUNIT_CASE(etch_latency_counts_hits_from_everywhere),
	{}
};

static struct kunit_suite etch_latency_suite = {
	.name = "etch_latency",
	.test_cases = etch_latency_cases,
};
kunit_test_suite(etch_latency_suite);
