// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the end of an instance: its rings outlive those who look for them without a gate.
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

static struct kunit_case etch_instance_cases[] = {
	KUNIT_CASE_SLOW(etch_instance_outlives_looks),
	{}
};

static struct kunit_suite etch_instance_suite = {
	.name = "etch_instance",
	.test_cases = etch_instance_cases,
};

kunit_test_suite(etch_instance_suite);
