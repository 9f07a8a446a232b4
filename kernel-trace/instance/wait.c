// SPDX-License-Identifier: GPL-2.0
/*
 * Readers that wait for records, and the code that wakes them.
 *
 * Writers wake nobody: they may be anywhere. A reader that is about to wait sets an alarm in
 * the rings that it reads (ring/ring_alarm.c). The writer that raises it queues an irq_work,
 * which wakes all waiting readers of the instance, and each looks at its rings. A writer that
 * was in flight when the alarm was set does not know of it. So once, after a grace period, a
 * work item looks at the rings in the readers' place. While nothing is recorded, nothing
 * else happens.
 *
 * Readers are also woken by a flush, when tracing is turned off, and whenever rings change,
 * because that may end the wait, or because it took the alarm back.
 */
#include <linux/cpumask.h>
#include <linux/etch_ring.h>
#include <linux/irq_work.h>
#include <linux/lockdep.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "instance/instance.h"

/* How many full sub-buffers a ring has to have; 0: a record is enough. */
static unsigned int etch_ring_mark(const struct etch_instance *inst, const struct etch_ring *ring)
{
	unsigned int nr = etch_ring_nr_subbufs(ring);

	return min(DIV_ROUND_UP(nr * inst->percent, 100), nr - 1);
}

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
	lockdep_assert_held(&inst->read_mutex);
	if (!inst->percent)
		return !etch_ring_empty(ring);
	return etch_ring_filled(ring) >= etch_ring_mark(inst, ring);
}

/**
 * etch_instance_set_percent() - choose how full a ring has to be for readers to be woken
 * @inst: the instance
 * @percent: of its sub-buffers, up to 100; 0: as soon as it has a record
 *
 * Readers that wait already go by it from now on.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_instance_set_percent(struct etch_instance *inst, unsigned int percent)
{
	lockdep_assert_held(&etch_mutex);
	mutex_lock(&inst->read_mutex);
	inst->percent = percent;
	mutex_unlock(&inst->read_mutex);
	wake_up_interruptible_all(&inst->wait);
}

/* Under read_mutex. */
static bool etch_instance_reached(struct etch_instance *inst)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (inst->rings[cpu] && etch_ring_reached(inst, inst->rings[cpu]))
			return true;
	return false;
}

/*
 * Have etch_look_again() look, a grace period from now. One that is on its way may have begun
 * to wait too early, and then asks for another one. Under read_mutex.
 */
static void etch_ask_again(struct etch_instance *inst)
{
	inst->again = !queue_rcu_work(system_unbound_wq, &inst->look_again);
}

/* No writer that was in flight when the alarm was set is so any longer. */
static void etch_look_again(struct work_struct *work)
{
	struct etch_instance *inst = container_of(to_rcu_work(work), struct etch_instance,
						  look_again);
	bool wake;

	mutex_lock(&inst->read_mutex);
	if (inst->again)
		etch_ask_again(inst);
	wake = !READ_ONCE(inst->on) || etch_instance_reached(inst);
	mutex_unlock(&inst->read_mutex);
	if (wake)
		wake_up_interruptible_all(&inst->wait);
}

/**
 * etch_instance_set_alarm() - have the caller woken when there is something to read
 * @inst: the instance
 * @want: the CPU whose ring the caller reads, or ETCH_ALL_CPUS
 * @whole: it reads whole sub-buffers
 *
 * A reader calls this once in @inst->wait, and each time that it was woken; then it asks
 * whether to wait (on).
 *
 * Context: process, may sleep.
 */
void etch_instance_set_alarm(struct etch_instance *inst, int want, bool whole)
{
	int cpu;

	mutex_lock(&inst->read_mutex);
	for_each_possible_cpu(cpu) {
		struct etch_ring *ring = inst->rings[cpu];

		if (ring && (want == ETCH_ALL_CPUS || want == cpu))
			etch_ring_set_alarm(ring, max(etch_ring_mark(inst, ring), whole));
	}
	etch_ask_again(inst);
	mutex_unlock(&inst->read_mutex);
}

static void etch_alarm_wake(struct irq_work *work)
{
	struct etch_instance *inst = container_of(work, struct etch_instance, alarm);

	wake_up_interruptible_all(&inst->wait);
}

/**
 * etch_instance_alarm() - wake the instance's readers, from anywhere
 * @data: the instance
 *
 * Context: any, NMI included.
 */
void etch_instance_alarm(void *data)
{
	struct etch_instance *inst = data;

	irq_work_queue(&inst->alarm);
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
	init_irq_work(&inst->alarm, etch_alarm_wake);
	INIT_RCU_WORK(&inst->look_again, etch_look_again);
}

/**
 * etch_wait_exit() - no reader waits any more
 * @inst: the instance, of which no file is open, and in whose rings no writer is
 *
 * Context: process, may sleep.
 */
void etch_wait_exit(struct etch_instance *inst)
{
	while (flush_rcu_work(&inst->look_again))
		;
	irq_work_sync(&inst->alarm);
}
