// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of an instance, all together or one: going through them, stopping them for a change,
 * and turning them on again.
 */

#include <linux/cpumask.h>
#include <linux/etch_ring.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>

#include "instance/instance_internal.h"

int etch_next_ring(const struct etch_instance *inst, int cpu, int want)
{
	do {
		cpu = cpumask_next(cpu, cpu_possible_mask);
	} while (cpu < nr_cpu_ids &&
		 (!inst->rings[cpu] || (want != ETCH_ALL_CPUS && want != cpu)));
	return cpu;
}

void etch_rings_off(struct etch_instance *inst, int want)
{
	int cpu;

	for_each_etch_ring(inst, cpu, want)
		etch_ring_off(inst->rings[cpu]);
	synchronize_rcu();
}

/* A dump that has begun is waited for, being an RCU reader; one that begins sees @changing. */
void etch_rings_stop(struct etch_instance *inst, int want)
{
	WRITE_ONCE(inst->changing, true);
	etch_rings_off(inst, want);
}

void etch_rings_go(struct etch_instance *inst, int want)
{
	int cpu;

	/* The changes to the rings, then @changing. Pairs with that in dump.c. */
	smp_store_release(&inst->changing, false);
	if (!READ_ONCE(inst->on))
		return;
	for_each_etch_ring(inst, cpu, want)
		etch_ring_on(inst->rings[cpu]);
	/* (T) the rings, then @on: pairs with etch_instance_turn(). */
	smp_mb();
	if (!READ_ONCE(inst->on))
		for_each_etch_ring(inst, cpu, want)
			etch_ring_off(inst->rings[cpu]);
	/* Turning the rings off has taken their alarms back. */
	wake_up_interruptible_all(&inst->wait);
}
