// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU's records are one stream, whatever becomes of its rings.
 */
#include <linux/etch_ring.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>

#include "instance/instance.h"

/**
 * etch_stream_rebase() - a CPU's ring is about to be emptied, or was exchanged
 * @inst: the instance
 * @cpu: the CPU
 * @ring: its ring, in which nobody writes any more
 *
 * The stream goes on with the next number, and not before the latest time. Records that
 * nobody has read, and nobody will read, are not counted as overwritten: someone has
 * thrown them away.
 *
 * Context: process; holds the instance's read_mutex.
 */
void etch_stream_rebase(struct etch_instance *inst, int cpu, struct etch_ring *ring)
{
	struct etch_stream_base *base = &inst->bases[cpu];
	struct etch_ring_stats stats;

	lockdep_assert_held(&inst->read_mutex);
	etch_ring_stats(ring, &stats);
	base->seq += etch_ring_next_seq(ring);
	base->overwritten += stats.overwritten;
	base->lost[ETCH_LOST_FULL] += stats.lost_full;
	base->lost[ETCH_LOST_NESTED] += stats.lost_nested;
	base->lost[ETCH_LOST_TOO_BIG] += stats.lost_too_big;
	base->lost[ETCH_LOST_THROTTLED] += stats.lost_throttled;
	base->floor = etch_ring_latest(ring);
	/* The next ring, or this one when it is empty, counts from zero. */
	base->lines = (struct etch_unreported) {};
}
