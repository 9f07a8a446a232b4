// SPDX-License-Identifier: GPL-2.0
/*
 * Readers that wait for records, and the code that wakes them.
 *
 * Writers wake nobody: they may be anywhere. Instead a work item looks at the rings of
 * an instance every 20 ms while somebody waits for its records, and wakes all waiting
 * readers if a ring is as full as they want it, or if tracing is off. Each reader then
 * looks whether that is true of the rings that it reads. Readers are woken at once by a
 * flush, when tracing is turned off, and when rings are emptied or resized, which may end
 * the wait, or allow more packets outside of a ring.
 */
#include <linux/cpumask.h>
#include <linux/etch_ring.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "instance/instance.h"

/* How often a waiting reader's rings are looked at. */
#define ETCH_POLL_MS		20

/**
 * etch_ring_reached() - is a ring as full as readers wait for?
 * @inst: whose
 * @ring: the ring
 *
 * Sub-buffers are counted when they are full. The one that is being written never is,
 * so a ring in which all others are full is as full as can be seen.
 *
 * Context: process; holds the instance's read_mutex.
 * Return: true if it is.
 */
bool etch_ring_reached(const struct etch_instance *inst, const struct etch_ring *ring)
{
	unsigned int nr = etch_ring_nr_subbufs(ring);

	lockdep_assert_held(&inst->read_mutex);
	if (!inst->percent)
		return !etch_ring_empty(ring);
	return etch_ring_filled(ring) >= min(DIV_ROUND_UP(nr * inst->percent, 100), nr - 1);
}

/**
 * etch_instance_set_percent() - choose how full a ring has to be for readers to be woken
 * @inst: the instance
 * @percent: of its sub-buffers, up to 100; 0: as soon as it has a record
 *
 * Those who wait already go by it from the next look on.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_instance_set_percent(struct etch_instance *inst, unsigned int percent)
{
	lockdep_assert_held(&etch_mutex);
	mutex_lock(&inst->read_mutex);
	inst->percent = percent;
	mutex_unlock(&inst->read_mutex);
}

static bool etch_instance_reached(struct etch_instance *inst)
{
	bool reached = false;
	int cpu;

	mutex_lock(&inst->read_mutex);
	for_each_possible_cpu(cpu)
		reached = reached || (inst->rings[cpu] &&
				      etch_ring_reached(inst, inst->rings[cpu]));
	mutex_unlock(&inst->read_mutex);
	return reached;
}

static void etch_instance_poll(struct work_struct *work)
{
	struct etch_instance *inst = container_of(to_delayed_work(work),
						  struct etch_instance, poll);

	/* One that begins to wait after this arms the poll again. */
	if (!wq_has_sleeper(&inst->wait))
		return;
	if (!READ_ONCE(inst->on) || etch_instance_reached(inst))
		wake_up_interruptible_all(&inst->wait);
	etch_instance_arm_poll(inst);
}

/**
 * etch_instance_arm_poll() - have waiting readers woken
 * @inst: the instance
 *
 * Call this once in @inst->wait, and before asking whether to wait at all.
 *
 * Context: any but NMI.
 */
void etch_instance_arm_poll(struct etch_instance *inst)
{
	schedule_delayed_work(&inst->poll, msecs_to_jiffies(ETCH_POLL_MS));
}

/**
 * etch_wait_init() - get ready for readers that wait
 * @inst: the instance, being made
 *
 * Context: process.
 */
void etch_wait_init(struct etch_instance *inst)
{
	init_waitqueue_head(&inst->wait);
	INIT_DELAYED_WORK(&inst->poll, etch_instance_poll);
}

/**
 * etch_wait_exit() - no reader waits any more
 * @inst: the instance, of which no file is open
 *
 * Context: process, may sleep.
 */
void etch_wait_exit(struct etch_instance *inst)
{
	cancel_delayed_work_sync(&inst->poll);
}
