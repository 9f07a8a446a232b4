// SPDX-License-Identifier: GPL-2.0
/*
 * Readers that wait for records, and the code that wakes them.
 *
 * Writers wake nobody: they may be anywhere. A reader that is about to wait sets an alarm in
 * the rings that it reads (ring/ring_alarm.c). The writer that raises it queues an irq_work,
 * which wakes all waiting readers of the instance, and each looks at its rings. A writer that
 * was in flight when the alarm was set does not know of it. So once, after a grace period, a
 * work item looks at the rings in the readers' place: at those that a reader waits for, and for
 * what it waits for. While nothing is recorded, nothing else happens.
 *
 * A reader's wake-up may be recorded in the rings that the reader reads: without a limit each
 * wake-up would cause the next. So there is one for each tick. The first alarm of a tick wakes
 * readers at once, so a record after a pause waits for nothing; later ones are put off to a timer,
 * which goes off in the next tick. While it is pending, a reader sleeps beside records, but it
 * loses none for that. A reader that finds enough to read does not sleep, so the ring was all but
 * empty when this one went to sleep. And an alarm is not put off if half of the ring is full: the
 * reader is woken at once, and has the other half's time to come. A reader's own wake-up, a few
 * records, is far from filling half a ring.
 *
 * Readers are also woken by a flush, when tracing is turned off, and whenever rings change,
 * because that may end the wait, or because it took the alarm back.
 */
#include <linux/cpumask.h>
#include <linux/etch_ring.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "instance/instance.h"

/* What a reader waits for. */
enum etch_asked {
	ETCH_ASKED_RECORDS = 1,	/* that the ring is as full as buffer_percent says */
	ETCH_ASKED_SUBBUF = 2,	/* that, and a full sub-buffer at least */
};

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

/* Does it have what one of its readers waits for? Others must not be woken by it. */
static bool etch_ring_answers(const struct etch_instance *inst, int cpu)
{
	const struct etch_ring *ring = inst->rings[cpu];

	if (!ring || !inst->asked[cpu] || !etch_ring_reached(inst, ring))
		return false;
	return inst->asked[cpu] & ETCH_ASKED_RECORDS || etch_ring_filled(ring);
}

/* Is there what a reader waits for? The next look does not ask for it again. Under read_mutex. */
static bool etch_instance_reached(struct etch_instance *inst)
{
	bool reached = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		reached = reached || etch_ring_answers(inst, cpu);
		if (!inst->again)
			inst->asked[cpu] = 0;
	}
	return reached;
}

static void etch_wake_now(struct etch_instance *inst)
{
	WRITE_ONCE(inst->woken, jiffies);
	wake_up_interruptible_all(&inst->wait);
}

static void etch_wake_later(struct timer_list *timer)
{
	etch_wake_now(container_of(timer, struct etch_instance, later));
}

/*
 * Wake the readers now, or in the next tick. If the timer is pending, what it does is still to
 * come: the readers that it wakes see what was recorded before.
 */
static void etch_wake(struct etch_instance *inst)
{
	unsigned long last = READ_ONCE(inst->woken), now = jiffies;

	if (time_after(now, last) && cmpxchg(&inst->woken, last, now) == last)
		wake_up_interruptible_all(&inst->wait);
	else if (!timer_pending(&inst->later))
		mod_timer(&inst->later, now);
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
	wake = etch_instance_reached(inst) || !READ_ONCE(inst->on);
	if (inst->again)
		etch_ask_again(inst);
	mutex_unlock(&inst->read_mutex);
	if (wake)
		etch_wake(inst);
}

/**
 * etch_instance_set_alarm() - have the caller woken when there is something to read
 * @inst: the instance
 * @want: the CPU whose ring the caller reads, or ETCH_ALL_CPUS
 * @whole: it reads whole sub-buffers
 *
 * A reader in @inst->wait that finds nothing to read calls this, and asks once more; and so it
 * does each time that it was woken. A reader that has something to read need not call it.
 *
 * Context: process, may sleep.
 */
void etch_instance_set_alarm(struct etch_instance *inst, int want, bool whole)
{
	int cpu;

	mutex_lock(&inst->read_mutex);
	for_each_possible_cpu(cpu) {
		struct etch_ring *ring = inst->rings[cpu];

		if (!ring || (want != ETCH_ALL_CPUS && want != cpu))
			continue;
		etch_ring_set_alarm(ring, max(etch_ring_mark(inst, ring), whole));
		inst->asked[cpu] |= whole ? ETCH_ASKED_SUBBUF : ETCH_ASKED_RECORDS;
	}
	if (etch_annex)
		etch_annex->wait(inst);
	etch_ask_again(inst);
	mutex_unlock(&inst->read_mutex);
}

static void etch_alarm_wake(struct irq_work *work)
{
	struct etch_instance *inst = container_of(work, struct etch_instance, alarm);

	if (xchg(&inst->pressed, false))
		etch_wake_now(inst);
	else
		etch_wake(inst);
}

/**
 * etch_instance_alarm() - wake the instance's readers, from anywhere
 * @data: the instance
 * @pressing: do it in this tick, though they were woken in it before
 *
 * Context: any, NMI included.
 */
void etch_instance_alarm(void *data, bool pressing)
{
	struct etch_instance *inst = data;

	if (pressing)
		WRITE_ONCE(inst->pressed, true);
	/* If it is queued already, this orders the two all the same. */
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
	timer_setup(&inst->later, etch_wake_later, 0);
	inst->woken = jiffies - 1;
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
	/* Both may have started it. */
	timer_shutdown_sync(&inst->later);
}
