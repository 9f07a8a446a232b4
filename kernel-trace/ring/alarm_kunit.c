// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the alarm that a waiting reader sets in a ring.
 *
 * Which orders of the accesses are right is proved by a model; here the real writers raise
 * real alarms, a timer's interrupts on the same CPU or on another among them.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/hrtimer.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "ring/ring_internal.h"

#define TEST_LEN	64U
#define ROUNDS		300

struct alarm_test {
	struct etch_ring *ring;
	atomic_t raised;
	atomic_t pressing;	/* of those */
	bool nested;		/* the alarm writes a record itself */
	struct hrtimer timer;
	u32 delay;
};

static void alarm_put(struct alarm_test *t)
{
	u64 time;
	void *p;

	guard(preempt)();
	p = etch_ring_reserve(t->ring, TEST_LEN, &time);
	if (!p)
		return;
	memset(p, 0, TEST_LEN);
	etch_ring_commit(t->ring);
}

static void alarm_raised(void *data, bool pressing)
{
	struct alarm_test *t = data;

	atomic_inc(&t->raised);
	atomic_add(pressing, &t->pressing);
	if (t->nested)
		alarm_put(t);
}

static void alarm_take_all(struct alarm_test *t)
{
	struct etch_view view;

	while (etch_ring_take(t->ring, &view) > 0)
		etch_ring_advance(t->ring, view.len, view.records);
}

static u64 alarm_written(struct alarm_test *t)
{
	struct etch_ring_stats stats;

	etch_ring_stats(t->ring, &stats);
	return stats.written;
}

/* Neither is a writer quick, nor is the ring off, more than it was before the alarm. */
static void alarm_expect_usual(struct kunit *test, struct alarm_test *t)
{
	unsigned int limit = (t->ring->size >> ETCH_POS_SHIFT) - t->ring->header;

	KUNIT_EXPECT_EQ(test, limit, READ_ONCE(t->ring->limit));
	KUNIT_EXPECT_EQ(test, t->ring->clock == ETCH_CLOCK_COUNTER ? limit : 0,
			READ_ONCE(t->ring->quick));
}

static int alarm_test_init(struct kunit *test)
{
	struct alarm_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct etch_ring_params params = {
		.node = NUMA_NO_NODE,
		.size = 4 * PAGE_SIZE,
		.subbuf_size = PAGE_SIZE,
		.header_size = 64,
		.overwrite = true,
		.clock = etch_clock_default(),
		.alarm = alarm_raised,
		.alarm_data = t,
	};

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	t->ring = etch_ring_create(&params);
	KUNIT_ASSERT_FALSE(test, IS_ERR(t->ring));
	/* The first record is never quick. */
	alarm_put(t);
	return 0;
}

static void alarm_test_exit(struct kunit *test)
{
	struct alarm_test *t = test->priv;

	if (t && !IS_ERR_OR_NULL(t->ring))
		etch_ring_free(t->ring);
}

static void alarm_of_the_next_record(struct kunit *test)
{
	struct alarm_test *t = test->priv;
	u64 written = alarm_written(t);

	alarm_put(t);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&t->raised));
	for (int i = 1; i <= 10; i++) {
		alarm_take_all(t);
		etch_ring_set_alarm(t->ring, 0);
		KUNIT_EXPECT_EQ(test, i - 1, atomic_read(&t->raised));
		alarm_put(t);
		KUNIT_EXPECT_EQ(test, i, atomic_read(&t->raised));
		alarm_expect_usual(test, t);
		alarm_put(t);
		KUNIT_EXPECT_EQ(test, i, atomic_read(&t->raised));
	}
	/* None of them was lost for the alarm. */
	KUNIT_EXPECT_EQ(test, written + 21, alarm_written(t));
}

/* The function that is called may cause events, as an interrupt does. */
static void alarm_that_writes(struct kunit *test)
{
	struct alarm_test *t = test->priv;
	u64 written = alarm_written(t);

	t->nested = true;
	etch_ring_set_alarm(t->ring, 0);
	alarm_put(t);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&t->raised));
	KUNIT_EXPECT_EQ(test, written + 2, alarm_written(t));
	alarm_expect_usual(test, t);
}

static void alarm_of_full_blocks(struct kunit *test)
{
	struct alarm_test *t = test->priv;
	unsigned int raised = 0;

	for (unsigned int blocks = 1; blocks <= 3; blocks++) {
		alarm_take_all(t);
		etch_ring_set_alarm(t->ring, blocks);
		for (int i = 0; i < 1000 && atomic_read(&t->raised) == raised; i++) {
			KUNIT_EXPECT_LT(test, etch_ring_filled(t->ring), blocks);
			alarm_put(t);
		}
		KUNIT_EXPECT_EQ(test, blocks, etch_ring_filled(t->ring));
		KUNIT_EXPECT_EQ(test, ++raised, atomic_read(&t->raised));
		alarm_expect_usual(test, t);
	}
	/* Once is enough. */
	for (int i = 0; i < 1000; i++)
		alarm_put(t);
	KUNIT_EXPECT_EQ(test, raised, atomic_read(&t->raised));
	/* There are more than that already: the next block raises it. */
	etch_ring_set_alarm(t->ring, 1);
	for (int i = 0; i < 100; i++)
		alarm_put(t);
	KUNIT_EXPECT_EQ(test, raised + 1, atomic_read(&t->raised));
}

/* Puts records until the alarm is raised. Returns how many sub-buffers are full then. */
static unsigned int alarm_filled_when_raised(struct alarm_test *t)
{
	int raised = atomic_read(&t->raised);

	for (int i = 0; i < 1000 && atomic_read(&t->raised) == raised; i++)
		alarm_put(t);
	return etch_ring_filled(t->ring);
}

/* A reader may have slept on after an early alarm: it hears of it when half is full. */
static void alarm_that_presses(struct kunit *test)
{
	struct alarm_test *t = test->priv;

	for (unsigned int blocks = 0; blocks <= 1; blocks++) {
		alarm_take_all(t);
		atomic_set(&t->pressing, 0);
		etch_ring_set_alarm(t->ring, blocks);
		KUNIT_EXPECT_EQ(test, blocks, alarm_filled_when_raised(t));
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&t->pressing));
		KUNIT_EXPECT_EQ(test, 2, alarm_filled_when_raised(t));
		KUNIT_EXPECT_EQ(test, 1, atomic_read(&t->pressing));
		alarm_expect_usual(test, t);
	}
	/* A reader that has read meanwhile has room again. */
	alarm_take_all(t);
	etch_ring_set_alarm(t->ring, 1);
	KUNIT_EXPECT_EQ(test, 1, alarm_filled_when_raised(t));
	alarm_take_all(t);
	KUNIT_EXPECT_EQ(test, 1, alarm_filled_when_raised(t));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&t->pressing));
	KUNIT_EXPECT_EQ(test, 2, alarm_filled_when_raised(t));
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&t->pressing));
}

/* A ring that is off stays off, and takes the alarm back. */
static void alarm_and_off(struct kunit *test)
{
	struct alarm_test *t = test->priv;
	u64 written = alarm_written(t);

	etch_ring_set_alarm(t->ring, 0);
	etch_ring_off(t->ring);
	alarm_put(t);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&t->raised));
	KUNIT_EXPECT_EQ(test, 0, READ_ONCE(t->ring->limit));
	etch_ring_set_alarm(t->ring, 0);
	KUNIT_EXPECT_EQ(test, 0, READ_ONCE(t->ring->limit));
	KUNIT_EXPECT_EQ(test, 0, READ_ONCE(t->ring->quick));
	alarm_put(t);
	KUNIT_EXPECT_EQ(test, written, alarm_written(t));
	etch_ring_on(t->ring);
	alarm_expect_usual(test, t);
	alarm_put(t);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&t->raised));
	KUNIT_EXPECT_EQ(test, written + 1, alarm_written(t));
}

static enum hrtimer_restart alarm_timer(struct hrtimer *timer)
{
	alarm_put(container_of(timer, struct alarm_test, timer));
	return HRTIMER_NORESTART;
}

static long alarm_start_timer(void *data)
{
	struct alarm_test *t = data;

	hrtimer_start(&t->timer, ns_to_ktime(t->delay), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

/*
 * A record comes at any time beside a reader that sets the alarm, asks, and asks again when
 * no writer of before is left: the reader sees it, or gets the alarm.
 */
static void alarm_misses_no_record(struct kunit *test)
{
	struct alarm_test *t = test->priv;
	unsigned int other = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	unsigned int told = 0, seen = 0;

	hrtimer_setup(&t->timer, alarm_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	/* The ring is that of the CPU on which the timer writes. */
	if (other >= nr_cpu_ids)
		other = raw_smp_processor_id();
	for (int i = 0; i < ROUNDS; i++) {
		bool there;

		alarm_take_all(t);
		atomic_set(&t->raised, 0);
		t->delay = get_random_u32_below(50000);
		work_on_cpu(other, alarm_start_timer, t);
		etch_ring_set_alarm(t->ring, 0);
		there = !etch_ring_empty(t->ring);
		synchronize_rcu_expedited();
		there = there || !etch_ring_empty(t->ring);
		while (hrtimer_active(&t->timer))
			cpu_relax();
		told += !!atomic_read(&t->raised);
		seen += there;
		KUNIT_EXPECT_TRUE(test, there || atomic_read(&t->raised));
		KUNIT_EXPECT_FALSE(test, etch_ring_empty(t->ring));
	}
	kunit_info(test, "of %u records, %u raised the alarm and %u were seen\n", ROUNDS, told,
		   seen);
}

static struct kunit_case alarm_cases[] = {
	KUNIT_CASE(alarm_of_the_next_record),
	KUNIT_CASE(alarm_that_writes),
	KUNIT_CASE(alarm_of_full_blocks),
	KUNIT_CASE(alarm_that_presses),
	KUNIT_CASE(alarm_and_off),
	KUNIT_CASE_SLOW(alarm_misses_no_record),
	{}
};

static struct kunit_suite alarm_suite = {
	.name = "etch_alarm",
	.init = alarm_test_init,
	.exit = alarm_test_exit,
	.test_cases = alarm_cases,
};
kunit_test_suite(alarm_suite);
