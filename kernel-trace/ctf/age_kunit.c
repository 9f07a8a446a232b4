// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of what time does to an instance's rings: sub-buffers get old, positions wrap, the
 * counter is set back, and packets go on as they were. The ring's part of it is tried in
 * tools/testing/selftests/etch/ring, too.
 */

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <uapi/linux/etch_packet.h>

#include "ctf/packet.h"
#include "ring/ring_internal.h"

#define ETCH_TEST_RECORD	100	/* bytes */

struct etch_age_test {
	struct etch_instance *inst;
	struct etch_ring *ring;	/* of the last CPU that is on line */
	int cpu;
	u64 time;		/* of the record that was stored last */
	u64 block;		/* where that is */
	void *memory;		/* of a sub-buffer, for packets */
};

static int etch_age_init_test(struct kunit *test)
{
	struct etch_age_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	mutex_lock(&etch_mutex);
	t->inst = etch_instance_create("etch-age", 4 * PAGE_SIZE, PAGE_SIZE);
	mutex_unlock(&etch_mutex);
	if (IS_ERR(t->inst))
		return PTR_ERR(t->inst);
	t->cpu = cpumask_last(cpu_online_mask);
	t->ring = t->inst->rings[t->cpu];
	t->memory = etch_ring_alloc_subbuf(t->ring);
	return t->memory ? 0 : -ENOMEM;
}

static void etch_age_exit_test(struct kunit *test)
{
	struct etch_age_test *t = test->priv;

	if (!t || IS_ERR_OR_NULL(t->inst))
		return;
	if (t->memory)
		put_page(virt_to_page(t->memory));
	mutex_lock(&etch_mutex);
	KUNIT_EXPECT_EQ(test, 0, etch_instance_destroy(t->inst));
	mutex_unlock(&etch_mutex);
	WRITE_ONCE(etch_clock_step, 0);
}

static void etch_age_put_here(void *test)
{
	struct etch_age_test *t = test;
	void *record = etch_ring_reserve(t->ring, ETCH_TEST_RECORD, &t->time);

	if (!record)
		return;
	memset(record, 0, ETCH_TEST_RECORD);
	etch_ring_commit(t->ring);
	t->block = etch_ring_block_at(t->ring, t->ring->pos);
}

/* Returns the time of the record. */
static u64 etch_age_put(struct etch_age_test *t)
{
	smp_call_function_single(t->cpu, etch_age_put_here, t, 1);
	return t->time;
}

static struct etch_block *etch_age_open(const struct etch_age_test *t)
{
	return &t->ring->blocks[etch_slot_block(*etch_ring_slot(t->ring, t->block))];
}

/* The next packet's header; NULL: there is none. */
static const struct etch_packet_header *etch_age_packet(struct etch_age_test *t)
{
	struct etch_reported before;
	unsigned int bytes;

	mutex_lock(&t->inst->read_mutex);
	bytes = etch_packet_take(t->inst, t->cpu, &t->memory, &before);
	mutex_unlock(&t->inst->read_mutex);
	return bytes ? t->memory : NULL;
}

static bool etch_age_wanted(struct etch_age_test *t)
{
	bool wanted;

	mutex_lock(&t->inst->read_mutex);
	wanted = etch_packet_wanted(t->inst, t->cpu);
	mutex_unlock(&t->inst->read_mutex);
	return wanted;
}

/* A sub-buffer that has got old takes no more; one that has not, does. */
static void etch_age_looks(struct kunit *test)
{
	struct etch_age_test *t = test->priv;
	u64 first, off;

	etch_age_look();
	etch_age_put(t);
	first = t->block;
	etch_age_look();
	etch_age_put(t);
	KUNIT_EXPECT_EQ(test, first, t->block);

	etch_age_open(t)->begin -= ETCH_RING_AGE;
	KUNIT_EXPECT_TRUE(test, etch_ring_old(t->ring));
	etch_age_look();
	KUNIT_EXPECT_FALSE(test, etch_ring_old(t->ring));
	etch_age_put(t);
	KUNIT_EXPECT_EQ(test, first + t->ring->size, t->block);
	KUNIT_EXPECT_LE(test, t->time - etch_age_open(t)->begin, ETCH_RING_AGE);

	/* Whether it records or not. */
	off = t->block;
	etch_age_open(t)->begin -= ETCH_RING_AGE;
	mutex_lock(&etch_mutex);
	etch_instance_set_on(t->inst, false);
	mutex_unlock(&etch_mutex);
	etch_age_look();
	mutex_lock(&etch_mutex);
	etch_instance_set_on(t->inst, true);
	mutex_unlock(&etch_mutex);
	etch_age_put(t);
	KUNIT_EXPECT_EQ(test, off + t->ring->size, t->block);
}

/* The unread rest of a sub-buffer is a packet that begins at the end of the part read. */
static void etch_age_packet_begins(struct kunit *test)
{
	struct etch_age_test *t = test->priv;
	const struct etch_packet_header *head;
	struct etch_view view;
	u64 first, second;

	first = etch_age_put(t);
	second = etch_age_put(t);
	etch_age_put(t);
	mutex_lock(&t->inst->read_mutex);
	KUNIT_EXPECT_EQ(test, 1, etch_ring_take(t->ring, &view));
	KUNIT_EXPECT_LE(test, view.begin, first);
	etch_ring_advance_to(t->ring, 2 * ETCH_TEST_RECORD, 2, second);
	mutex_unlock(&t->inst->read_mutex);
	etch_instance_flush(t->inst, t->cpu);
	head = etch_age_packet(t);
	KUNIT_ASSERT_NOT_NULL(test, head);
	KUNIT_EXPECT_EQ(test, 1, head->records);
	KUNIT_EXPECT_EQ(test, second, head->timestamp_begin);
	KUNIT_EXPECT_LE(test, t->time, head->timestamp_end);
}

/* As if so much had been written. The ring is empty, and was not written into. */
static void etch_age_rebase(struct etch_ring *r, u64 pos)
{
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		r->slots[i] += pos;
	r->start += pos;
	r->pos = pos;
	r->committed = pos;
	r->consumed = pos;
	r->rd = pos;
	r->rd_block = pos;
}

/* Packets are numbered on where positions wrap, and where the ring is emptied behind that. */
static void etch_age_numbers(struct kunit *test)
{
	struct etch_age_test *t = test->priv;
	u64 before = (1ULL << (64 - ETCH_POS_SHIFT) >> t->ring->shift) - 4;
	const struct etch_packet_header *head;
	int i;

	etch_age_rebase(t->ring, -4 * t->ring->size);
	for (i = 1; i <= 12; i++) {
		etch_age_put(t);
		etch_instance_flush(t->inst, t->cpu);
		KUNIT_EXPECT_TRUE(test, etch_age_wanted(t));
		head = etch_age_packet(t);
		KUNIT_ASSERT_NOT_NULL(test, head);
		KUNIT_EXPECT_EQ(test, before + i, head->packet_seq_num);
		KUNIT_EXPECT_FALSE(test, etch_age_wanted(t));
	}
	/* One had been begun. */
	etch_instance_reset(t->inst, t->cpu);
	etch_age_put(t);
	etch_instance_flush(t->inst, t->cpu);
	head = etch_age_packet(t);
	KUNIT_ASSERT_NOT_NULL(test, head);
	KUNIT_EXPECT_EQ(test, before + i + 1, head->packet_seq_num);
}

static void etch_age_suspend_here(void *test)
{
	etch_ring_suspend(((struct etch_age_test *)test)->ring);
}

/*
 * The counter is set back: as if it had been much later when the machine was suspended, for
 * the real one goes on.
 */
static void etch_age_set_back(struct kunit *test)
{
	const u64 later = 1ULL << 50;
	struct etch_age_test *t = test->priv;
	const struct etch_packet_header *head;
	u64 before, end;

	mutex_lock(&etch_mutex);
	etch_instance_set_clock(t->inst, ETCH_CLOCK_COUNTER);
	mutex_unlock(&etch_mutex);
	before = etch_age_put(t);
	KUNIT_EXPECT_LE(test, before, etch_clock_read(ETCH_CLOCK_COUNTER));
	smp_call_function_single(t->cpu, etch_age_suspend_here, t, 1);
	KUNIT_EXPECT_LE(test, before, etch_age_put(t));
	/* It goes on: nothing to do. */
	etch_clock_woken(t->time, NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, etch_clock_steady());
	KUNIT_EXPECT_GT(test, before + later, etch_age_put(t));

	etch_clock_woken(before + later, 0);
	KUNIT_EXPECT_FALSE(test, etch_clock_steady());
	KUNIT_EXPECT_LE(test, before + later, etch_clock_read(ETCH_CLOCK_COUNTER));
	KUNIT_EXPECT_LE(test, before + later, etch_age_put(t));
	KUNIT_EXPECT_GT(test, before + 2 * later, t->time);
	/* Once more. */
	etch_clock_woken(before + 2 * later, 0);
	KUNIT_EXPECT_LE(test, before + 2 * later, etch_age_put(t));

	/* The packets: each begins where the one before ends, or later, and ends behind that. */
	etch_instance_flush(t->inst, t->cpu);
	for (end = 0; (head = etch_age_packet(t)); end = head->timestamp_end) {
		KUNIT_EXPECT_LE(test, end, head->timestamp_begin);
		KUNIT_EXPECT_LE(test, head->timestamp_begin, head->timestamp_end);
	}
	KUNIT_EXPECT_LE(test, t->time, end);

	/* A ring that is made from then on knows. */
	mutex_lock(&etch_mutex);
	KUNIT_EXPECT_EQ(test, 0, etch_instance_set_subbuf(t->inst, 2 * PAGE_SIZE));
	mutex_unlock(&etch_mutex);
	/* It may be where the old one was. */
	t->ring = t->inst->rings[t->cpu];
	KUNIT_EXPECT_EQ(test, 2 * PAGE_SIZE, etch_ring_subbuf_size(t->ring));
	KUNIT_EXPECT_LE(test, before + 2 * later, etch_age_put(t));
}

static struct kunit_case etch_age_cases[] = {
	KUNIT_CASE(etch_age_looks),
	KUNIT_CASE(etch_age_packet_begins),
	KUNIT_CASE(etch_age_numbers),
	KUNIT_CASE(etch_age_set_back),
	{}
};

static struct kunit_suite etch_age_suite = {
	.name = "etch_age",
	.init = etch_age_init_test,
	.exit = etch_age_exit_test,
	.test_cases = etch_age_cases,
};

kunit_test_suite(etch_age_suite);
