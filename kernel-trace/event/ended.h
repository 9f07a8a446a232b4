/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_ENDED_H
#define _KERNEL_ETCH_ENDED_H

/*
 * The latencies that a hit has ended, for what looks at them later in the same hit: filters,
 * triggers, and the record.
 *
 * A trigger may find that the hit ends something that began with another hit, and how long that
 * took: struct etch_trigger, @ends. It is called before all that look at it. Each instance has a
 * latency of its own. Hits on one CPU nest, so each hit whose rules are followed one by one has
 * its own struct etch_ended, and etch_ended_now leads to that of the innermost one.
 */

#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "event/event.h"

/**
 * struct etch_ended - what a hit has ended
 * @mask: the instances for which it ended something, by bit
 * @max: of these, those for which it took longer than ever before
 * @ns: how long it took, by bit; in nanoseconds
 */
struct etch_ended {
	u64 mask;
	u64 max;
	u64 ns[ETCH_BITS];
};

/* NULL: no hit is under way, or the one that is has no trigger that looks at it. */
DECLARE_PER_CPU(struct etch_ended *, etch_ended_now);

/**
 * etch_ended_latency() - the latency that the current hit has ended
 * @bit: in the instance of this bit
 * @ns: gets it
 *
 * Context: any, NMI included; while the rules of a hit are followed, on its CPU.
 * Return: true; false: the hit has ended none, and @ns is as it was.
 */
static inline bool etch_ended_latency(unsigned int bit, u64 *ns)
{
	const struct etch_ended *ended = this_cpu_read(etch_ended_now);

	if (!ended || !(ended->mask & BIT_ULL(bit)))
		return false;
	*ns = ended->ns[bit];
	return true;
}

/**
 * etch_ended_longest() - did the latency that the current hit has ended last longer than all?
 * @bit: in the instance of this bit
 *
 * Context: as etch_ended_latency(), which returns true.
 * Return: true if it did.
 */
static inline bool etch_ended_longest(unsigned int bit)
{
	return this_cpu_read(etch_ended_now)->max & BIT_ULL(bit);
}

/**
 * etch_ended_set() - the current hit has ended a latency
 * @bit: in the instance of this bit
 * @ns: the latency
 * @longest: it lasted longer than all before
 *
 * Context: as etch_ended_latency(); called by a trigger that has @ends.
 */
static inline void etch_ended_set(unsigned int bit, u64 ns, bool longest)
{
	struct etch_ended *ended = this_cpu_read(etch_ended_now);

	/* If it is the only trigger, nothing looks at it. */
	if (!ended)
		return;
	ended->ns[bit] = ns;
	ended->mask |= BIT_ULL(bit);
	if (longest)
		ended->max |= BIT_ULL(bit);
}

#endif /* _KERNEL_ETCH_ENDED_H */
