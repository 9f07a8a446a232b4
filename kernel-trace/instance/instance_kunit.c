// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of an instance's rings: where they are, and that they outlive those who look for them
 * without a gate.
 *
 * A CPU that abandons the records of a dead writer looks at the rings of every instance, open
 * or closed gates. A thread that does nothing else but look, as often as it can, stands for it.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "instance/instance_internal.h"

/* How long a look lasts: longer than a grace period needs when nobody looks. */
#define ETCH_LOOK_MS	50

/**
 * struct etch_looker - looks for an instance's ring on its CPU
 * @bit: the instance's
 * @looks: at a ring that was there
 * @gone: etch_instance_destroy() has returned
 * @outlived: looks that began at a ring and were not over at @gone
 */
struct etch_looker {
	unsigned int bit;
	unsigned int looks;
	bool gone;
	unsigned int outlived;
};

/* The section ends when the instance is gone, so that a failing test ends soon. */
static void etch_look(struct etch_looker *l)
{
	unsigned int ms = 0;

	guard(preempt)();
	if (READ_ONCE(l->gone) || !this_cpu_read(etch_cpu_rings.by_bit[l->bit]))
		return;
	while (!READ_ONCE(l->gone) && ms++ < ETCH_LOOK_MS)
		mdelay(1);
	if (READ_ONCE(l->gone))
		l->outlived++;
	WRITE_ONCE(l->looks, l->looks + 1);
}

/* One look follows the other: the first grace period of the end is not over before one begins. */
static int etch_look_on(void *data)
{
	while (!kthread_should_stop()) {
		etch_look(data);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void etch_instance_outlives_looks(struct kunit *test)
{
	struct etch_looker l = {};
	struct etch_instance *inst;
	struct task_struct *task;
	int cpu;

	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "one CPU has no other to look at the same time");

	scoped_guard(mutex, &etch_mutex)
		inst = etch_instance_create("kunit_looked_at", PAGE_SIZE, PAGE_SIZE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(inst));
	l.bit = inst->rec.bit;
	task = kthread_create_on_cpu(etch_look_on, &l, cpu, "etch_look/%u");
	if (!IS_ERR(task)) {
		wake_up_process(task);
		while (!READ_ONCE(l.looks))
			usleep_range(1000, 2000);
	}
	scoped_guard(mutex, &etch_mutex)
		KUNIT_EXPECT_EQ(test, 0, etch_instance_destroy(inst));
	WRITE_ONCE(l.gone, true);
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, 0, l.outlived);
}

/* The rings are at home, if they have homes, and their CPUs find them. Under etch_mutex. */
static void etch_instance_expect_home(struct kunit *test, const struct etch_instance *inst)
{
	int cpu, bit = inst->rec.bit;

	for_each_cpu(cpu, inst->cpus) {
		struct etch_ring *ring = inst->rings[cpu], *home = etch_home(cpu, bit);

		KUNIT_EXPECT_PTR_EQ(test, per_cpu(etch_cpu_rings, cpu).by_bit[bit], ring);
		KUNIT_EXPECT_EQ(test, etch_ring_subbuf_size(ring), inst->subbuf_bytes);
		if (!home)
			continue;
		KUNIT_EXPECT_PTR_EQ(test, ring, home);
		KUNIT_EXPECT_PTR_EQ(test, home->owner, (void *)home);
	}
}

/* Each time the old rings are in the way of the new ones. Under etch_mutex. */
static void etch_instance_exchange(struct kunit *test, struct etch_instance *inst)
{
	unsigned int subbuf = inst->subbuf_bytes;

	etch_instance_expect_home(test, inst);
	KUNIT_EXPECT_EQ(test, 0, etch_instance_set_subbuf(inst, 2 * subbuf));
	etch_instance_expect_home(test, inst);
	KUNIT_EXPECT_EQ(test, 0, etch_instance_set_subbuf(inst, subbuf));
	etch_instance_expect_home(test, inst);
}

/* Take the main tree's rings away again. Under etch_mutex. */
static void etch_instance_shrink(struct kunit *test, struct etch_instance *inst,
				 unsigned long bytes)
{
	int cpu;

	guard(mutex)(&inst->read_mutex);
	for_each_cpu(cpu, inst->cpus) {
		struct etch_ring *ring = inst->rings[cpu], *home = etch_home(cpu, ETCH_MAIN);

		etch_cpu_ring_publish(inst, cpu, NULL);
		synchronize_rcu();
		etch_ring_free(ring);
		KUNIT_EXPECT_PTR_EQ(test, home->owner,
				    (void *)&per_cpu_ptr(inst->absent, cpu)->ring);
		KUNIT_EXPECT_NULL(test, home->blocks);
	}
	inst->full_bytes = bytes;
}

static void etch_instance_main_is_at_home(struct kunit *test)
{
	struct etch_instance *inst;
	unsigned long bytes;

	guard(mutex)(&etch_mutex);
	inst = etch_instances[ETCH_MAIN];
	bytes = inst->full_bytes;
	/* Nothing here may end the thread, which holds a mutex. */
	if (!bytes) {
		kunit_mark_skipped(test, "the main tree is in use, and may hold records");
		return;
	}
	KUNIT_EXPECT_EQ(test, 0, etch_instance_grow(inst));
	if (inst->full_bytes)
		return;
	etch_instance_exchange(test, inst);
	etch_instance_shrink(test, inst, bytes);
}

/* As many instances as there are homes for, and one more. Nobody has opened their gates. */
static void etch_instance_is_at_home(struct kunit *test)
{
	struct etch_instance *inst[ETCH_HOMES + 1];
	struct etch_ring *home;
	char name[16];
	int i, nr, bit;

	guard(mutex)(&etch_mutex);
	for (nr = 0; nr < ARRAY_SIZE(inst); nr++) {
		snprintf(name, sizeof(name), "kunit_home_%d", nr);
		inst[nr] = etch_instance_create(name, PAGE_SIZE, PAGE_SIZE);
		KUNIT_EXPECT_FALSE(test, IS_ERR(inst[nr]));
		if (IS_ERR(inst[nr]))
			break;
		etch_instance_exchange(test, inst[nr]);
	}
	for (i = 0; i < nr; i++) {
		bit = inst[i]->rec.bit;
		KUNIT_EXPECT_EQ(test, 0, etch_instance_destroy(inst[i]));
		home = etch_home(raw_smp_processor_id(), bit);
		if (home) {
			KUNIT_EXPECT_NULL(test, home->owner);
			KUNIT_EXPECT_NULL(test, home->blocks);
		}
	}
}

static struct kunit_case etch_instance_cases[] = {
	KUNIT_CASE(etch_instance_main_is_at_home),
	KUNIT_CASE(etch_instance_is_at_home),
	KUNIT_CASE_SLOW(etch_instance_outlives_looks),
	{}
};

static struct kunit_suite etch_instance_suite = {
	.name = "etch_instance",
	.test_cases = etch_instance_cases,
};

kunit_test_suite(etch_instance_suite);
