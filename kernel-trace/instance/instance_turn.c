// SPDX-License-Identifier: GPL-2.0
/*
 * Turning an instance on and off: its rings, and the gates of its events.
 *
 * The rings are turned on last and off first, so recording begins and ends for all events at
 * once. A hit of a trigger turns them from any context, and leaves the gates to be done later.
 */

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/etch_ring.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>

#include "instance/instance_internal.h"

/* Bring rings and gates in line with @on. If it is on, the caller has opened the gates. */
static void etch_instance_follow(struct etch_instance *inst)
{
	bool on = READ_ONCE(inst->on);

	mutex_lock(&inst->read_mutex);
	if (on) {
		WRITE_ONCE(inst->dumped, false);
		etch_rings_complete(inst);
		etch_rings_go(inst, ETCH_ALL_CPUS);
	} else {
		etch_rings_off(inst, ETCH_ALL_CPUS);
	}
	etch_annex_follow(inst);
	mutex_unlock(&inst->read_mutex);

	if (!on) {
		wake_up_interruptible_all(&inst->wait);
		/* A gate that stays open costs time, but lets nothing in. */
		etch_gates_set_on(&inst->rec, false);
	}
}

/**
 * etch_instance_set_on() - let records in, or no longer
 * @inst: the instance
 * @on: let them in; otherwise the gates of its events are closed, as far as nobody
 *	else wants them
 *
 * Recording begins and ends for all events at once, since the rings are what is
 * turned on last and off first. When this has returned for @on being false, nothing
 * more comes, and readers that wait for more have been woken.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, or the errno of an event whose gate does not open, and nothing changed.
 */
int etch_instance_set_on(struct etch_instance *inst, bool on)
{
	int ret;

	lockdep_assert_held(&etch_mutex);
	if (on) {
		ret = etch_gates_set_on(&inst->rec, true);
		if (ret)
			return ret;
	}
	WRITE_ONCE(inst->on, on);
	etch_instance_follow(inst);
	return 0;
}

/**
 * etch_instance_turn() - do the part of etch_instance_set_on() that any context can do
 * @inst: the instance
 * @on: let records in
 *
 * Recording ends at once, but the gates stay open: until they are closed, each hit counts as
 * lost, because the rings are off. Recording does not begin before the gates are open. So the
 * caller sees to it that etch_instance_settle() is called soon.
 *
 * Context: any, NMI included; an RCU reader, so that no ring goes meanwhile.
 * Return: true if it was the other way round.
 */
bool etch_instance_turn(struct etch_instance *inst, bool on)
{
	struct etch_ring *ring;
	int cpu;

	/* A full barrier: pairs with (S) and (T). */
	if (READ_ONCE(inst->on) == on || xchg(&inst->on, on) == on)
		return false;
	for_each_possible_cpu(cpu) {
		ring = on ? NULL : READ_ONCE(inst->rings[cpu]);
		if (ring)
			etch_ring_off(ring);
	}
	return true;
}

/**
 * etch_instance_settle() - do what etch_instance_turn() has left to be done
 * @inst: the instance
 *
 * If a gate does not open, the instance is off again.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_instance_settle(struct etch_instance *inst)
{
	lockdep_assert_held(&etch_mutex);
	if (READ_ONCE(inst->on) && etch_gates_set_on(&inst->rec, true))
		WRITE_ONCE(inst->on, false);
	etch_instance_follow(inst);
}
