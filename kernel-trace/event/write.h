/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_WRITE_H
#define _KERNEL_ETCH_WRITE_H

/*
 * What the two ways of a record into the rings share: the straight one (write.c), and the one
 * by way of scratch memory (scratch.c).
 */

#include <linux/bitops.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "event/context.h"
#include "event/event.h"

/*
 * A writer that finds a ring finds it complete: it reads the ring's fields through the
 * pointer. Pairs with the smp_store_release() that publishes it, in instance.c. A CPU has
 * a ring for each instance as long as it is on line, and stubs are silent when it is not.
 */
static __always_inline struct etch_ring *etch_this_ring(u64 mask)
{
	return this_cpu_read(etch_cpu_rings.by_bit[__ffs(mask)]);
}

static __always_inline bool etch_is_one(u64 mask)
{
	return !(mask & (mask - 1));
}

/* @word: of the event, struct etch_event.word. */
static __always_inline void etch_stamp(struct etch_head *head, u64 time, u64 word)
{
	word |= time & ETCH_TIME_MASK;
	if (unlikely(!in_task()))
		word |= (u64)etch_context_level() << ETCH_CONTEXT_SHIFT;
	head->word = word;
	head->pid = current->pid;
}

/* Whatever the case. NULL: the record is lost, which the ring has counted. */
static __always_inline void *etch_reserve(struct etch_ring *ring, unsigned long len, u64 *time)
{
	void *record;
	enum etch_quick how = etch_ring_reserve_quick(ring, len, time, &record);

	if (likely(how == ETCH_QUICK_DONE))
		return record;
	if (how == ETCH_QUICK_LOST)
		return NULL;
	return etch_ring_reserve_other(ring, len, time, how);
}

/* Store a record again, with a time of this ring. All else is the original's. */
static __always_inline void etch_write_copy(struct etch_ring *ring, const struct etch_head *from,
					    unsigned int len)
{
	struct etch_head *head;
	u64 time;

	head = etch_reserve(ring, len, &time);
	if (!head)
		return;
	head->word = (from->word & ~ETCH_TIME_MASK) | (time & ETCH_TIME_MASK);
	head->pid = from->pid;
	memcpy(head + 1, from + 1, len - sizeof(*from));
	etch_ring_commit(ring);
}

/* ---- scratch.c ---- */

/* The nest that etch_write_end() finds if a record is made in scratch memory, not in a ring. */
#define ETCH_NEST_SCRATCH	UINT_MAX

struct etch_write etch_scratch_begin(unsigned long len, const struct etch_event *event, u64 mask);
void etch_scratch_end(struct etch_ring *stand_in);
void etch_scratch_abandon(void);

#endif /* _KERNEL_ETCH_WRITE_H */
