// SPDX-License-Identifier: GPL-2.0
/*
 * How much there is to read in the rings of programs: what readers wait for.
 */
#include <linux/etch.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include "user/reader.h"
#include "user/user.h"

/**
 * etch_user_empty() - was all read?
 * @inst: the instance
 * @first: the first CPU
 * @nr: how many
 *
 * Context: process; holds the instance's read_mutex.
 * Return: true if there is nothing to read.
 */
bool etch_user_empty(const struct etch_instance *inst, int first, unsigned int nr)
{
	struct etch_user_ring_of *ring;

	if (!inst->user)
		return true;
	list_for_each_entry(ring, &inst->user->rings, node)
		if (etch_user_wants(ring, first, nr) && !etch_user_ring_empty(ring))
			return false;
	return true;
}

/* Of ETCH_USER_SUBBUFS blocks, as many as buffer_percent says have something in them. */
static bool etch_user_ring_reached(const struct etch_instance *inst,
				   const struct etch_user_ring_of *ring)
{
	u64 bytes = etch_user_limit(ring) - ring->at.next;
	u64 mark = min(DIV_ROUND_UP(ETCH_USER_SUBBUFS * inst->percent, 100),
		       ETCH_USER_SUBBUFS - 1U);

	return !etch_user_ring_empty(ring) && bytes >= mark << ETCH_USER_SUBBUF_SHIFT;
}

/**
 * etch_user_reached() - is there as much as readers wait for?
 * @inst: the instance
 * @first: the first CPU
 * @nr: how many
 *
 * Context: process; holds the instance's read_mutex.
 * Return: true if a ring is as full as buffer_percent says.
 */
bool etch_user_reached(const struct etch_instance *inst, int first, unsigned int nr)
{
	struct etch_user_ring_of *ring;

	if (!inst->user)
		return false;
	list_for_each_entry(ring, &inst->user->rings, node)
		if (etch_user_wants(ring, first, nr) && etch_user_ring_reached(inst, ring))
			return true;
	return false;
}

/**
 * etch_user_fills() - is there as much as a packet holds, or is what there is wanted?
 * @inst: the instance
 * @cpu: the CPU
 *
 * Context: process; holds the instance's read_mutex.
 * Return: what of that; ETCH_USER_FEW: neither.
 */
enum etch_user_fill etch_user_fills(const struct etch_instance *inst, int cpu)
{
	struct etch_user_ring_of *ring;
	u64 bytes = 0;

	if (!inst->user)
		return ETCH_USER_FEW;
	list_for_each_entry(ring, &inst->user->rings, node) {
		if (ring->cpu != cpu || etch_user_ring_empty(ring))
			continue;
		if (ring->at.next < ring->flushed)
			return ETCH_USER_WANTED;
		bytes += etch_user_limit(ring) - ring->at.next;
	}
	return bytes < ETCH_USER_SUBBUF ? ETCH_USER_FEW : ETCH_USER_PACKET_FULL;
}
