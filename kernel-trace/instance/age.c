// SPDX-License-Identifier: GPL-2.0
/*
 * What time does to the rings of instances: see ring_age.c.
 *
 * A record holds the low 48 bits of its time, 26 hours of a 3 GHz counter. A work item looks
 * at all rings once an hour and closes the sub-buffers that have been open for a quarter of
 * that, so the next record, be it a week later, begins another one. It does so whether
 * somebody reads or not, and whether tracing is on or not. Writers pay nothing. A CPU that
 * records is interrupted for it every few hours, and one on which nothing happens is
 * interrupted once, and then left alone until it has recorded something.
 *
 * Rings whose clock is the counter are notified before the machine suspends, and again after
 * it has resumed.
 */

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/etch_ring.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/smp.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>

#include "instance/instance.h"

/* An hour of a 5 GHz counter is a quarter of what a sub-buffer may get old. */
#define ETCH_AGE_PERIOD		(60 * 60 * HZ)

/* A function to be called for a ring, on the ring's CPU. */
struct etch_age_call {
	void (*what)(struct etch_ring *ring);
	struct etch_ring *ring;
};

/* As a writer that interrupts all others but NMIs. */
static void etch_age_here(void *call)
{
	struct etch_age_call *c = call;

	c->what(c->ring);
}

/* Under cpus_read_lock(). @if_so: only to rings of which that is true; or NULL. */
static void etch_age_rings(struct etch_instance *inst, void (*what)(struct etch_ring *ring),
			   bool (*if_so)(const struct etch_ring *ring))
{
	int cpu;

	lockdep_assert_cpus_held();
	for_each_possible_cpu(cpu) {
		struct etch_age_call call = { .what = what };

		mutex_lock(&inst->read_mutex);
		call.ring = inst->rings[cpu];
		/* A CPU that is off line stays so, and nobody else writes there. */
		if (call.ring && (!if_so || if_so(call.ring)) &&
		    smp_call_function_single(cpu, etch_age_here, &call, 1))
			etch_age_here(&call);
		mutex_unlock(&inst->read_mutex);
	}
}

static void etch_age_all(void (*what)(struct etch_ring *ring),
			 bool (*if_so)(const struct etch_ring *ring))
{
	int bit;

	mutex_lock(&etch_mutex);
	cpus_read_lock();
	for (bit = ETCH_MAIN; bit < ETCH_BITS; bit++)
		if (etch_instances[bit])
			etch_age_rings(etch_instances[bit], what, if_so);
	cpus_read_unlock();
	mutex_unlock(&etch_mutex);
}

/**
 * etch_age_look() - close the sub-buffers that have got old, in all rings
 *
 * Context: process, may sleep; takes etch_mutex.
 */
void etch_age_look(void)
{
	etch_age_all(etch_ring_close, etch_ring_old);
}

static void etch_age_work(struct work_struct *work)
{
	etch_age_look();
	queue_delayed_work(system_unbound_wq, to_delayed_work(work), ETCH_AGE_PERIOD);
}

static DECLARE_DELAYED_WORK(etch_age, etch_age_work);

static int etch_age_notify(struct notifier_block *self, unsigned long what, void *unused)
{
	switch (what) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		etch_age_all(etch_ring_suspend, NULL);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		etch_age_all(etch_ring_resume, NULL);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block etch_age_notifier = {
	.notifier_call = etch_age_notify,
};

/*
 * Not under etch_mutex: the notifier takes it inside the lock of the notifier chain, which
 * registering takes, too.
 */
static int __init etch_age_init(void)
{
	queue_delayed_work(system_unbound_wq, &etch_age, ETCH_AGE_PERIOD);
	return register_pm_notifier(&etch_age_notifier);
}
fs_initcall(etch_age_init);
