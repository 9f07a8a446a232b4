// SPDX-License-Identifier: GPL-2.0
/*
 * How much the rings of an instance may store together: bytes a second, and a share of CPU time.
 *
 * The rings of all CPUs have one budget (ring/ring_budget.c). They know of bytes and of records.
 * CPU time is not measured, because that would cost each record more than it is worth: a record
 * counts as the time that one takes in a ring of the same kind, which is measured when the share
 * is set.
 */

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/numa.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "instance/instance_internal.h"

/* The cost of a record is that of the shortest of some bursts. Its length is a usual one. */
#define ETCH_COST_BURSTS	16
#define ETCH_COST_RECORDS	256
#define ETCH_COST_BYTES		40

static u64 etch_cost_burst(struct etch_ring *ring)
{
	u64 begin, end, time;
	void *record;
	int i;

	preempt_disable();
	begin = etch_clock_read_slow(ETCH_CLOCK_MONO);
	for (i = 0; i < ETCH_COST_RECORDS; i++) {
		record = etch_ring_reserve(ring, ETCH_COST_BYTES, &time);
		if (!record)
			continue;
		memset(record, 0, ETCH_COST_BYTES);
		etch_ring_commit(ring);
	}
	end = etch_clock_read_slow(ETCH_CLOCK_MONO);
	preempt_enable();
	return end - begin;
}

/* Nanoseconds of a record; 0 if there is no memory to try it. */
static unsigned int etch_cost_measure(const struct etch_instance *inst)
{
	struct etch_ring_params params = {
		.node = NUMA_NO_NODE,
		.size = 2 * inst->subbuf_bytes,
		.subbuf_size = inst->subbuf_bytes,
		.header_size = ETCH_PACKET_HEADER,
		.overwrite = true,
		.clock = inst->clock,
	};
	struct etch_ring *ring = etch_ring_create(&params);
	u64 least = U64_MAX;
	int i;

	if (IS_ERR(ring))
		return 0;
	for (i = 0; i < ETCH_COST_BURSTS; i++)
		least = min(least, etch_cost_burst(ring));
	etch_ring_free(ring);
	return clamp_t(u64, least / ETCH_COST_RECORDS, 1, NSEC_PER_MSEC);
}

/**
 * etch_instance_set_budget() - bound how much is recorded
 * @inst: the instance
 * @bytes: a second, at most ETCH_BUDGET_MAX_BYTES; 0: any number
 * @percent: of the time of one CPU; 0: any share
 *
 * The new budget owes nothing, whatever the old one did.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; or -ENOMEM, and nothing changed.
 */
int etch_instance_set_budget(struct etch_instance *inst, u64 bytes, unsigned int percent)
{
	struct etch_budget *budget = &inst->budget;
	unsigned int ns = 0;

	lockdep_assert_held(&etch_mutex);
	if (percent) {
		ns = etch_cost_measure(inst);
		if (!ns)
			return -ENOMEM;
	}
	etch_ring_rate_off(&budget->of_rings.bytes);
	etch_ring_rate_off(&budget->of_rings.records);
	synchronize_rcu();
	if (bytes)
		etch_ring_rate_set(&budget->of_rings.bytes, NSEC_PER_SEC, bytes);
	if (percent)
		etch_ring_rate_set(&budget->of_rings.records, ns * 100ULL, percent);
	budget->bytes = bytes;
	budget->percent = percent;
	budget->ns = ns;
	return 0;
}

/**
 * etch_instance_throttled() - how many records were lost because the budget was spent
 * @inst: the instance
 *
 * Context: process, may sleep.
 * Return: records of all its rings, since each was emptied last.
 */
u64 etch_instance_throttled(struct etch_instance *inst)
{
	struct etch_ring_stats stats;
	u64 sum = 0;
	int cpu;

	mutex_lock(&inst->read_mutex);
	for_each_etch_ring(inst, cpu, ETCH_ALL_CPUS) {
		etch_ring_stats(inst->rings[cpu], &stats);
		sum += stats.lost_throttled;
	}
	mutex_unlock(&inst->read_mutex);
	return sum;
}
