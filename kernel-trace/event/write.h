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
#include <linux/etch_ring_write.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

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

/*
 * The same, for what a gate says (struct tracepoint): the lower 16 bits are where the pointer to
 * the ring stands, the upper ones the event's id.
 */
static __always_inline struct etch_ring *etch_ring_of(unsigned long who)
{
	return this_cpu_read(*(struct etch_ring * __percpu *)
			     ((unsigned long)&etch_cpu_rings + (u16)who));
}

static __always_inline bool etch_is_one(u64 mask)
{
	return !(mask & (mask - 1));
}

/* The first word of an event's records, but for time and context. */
static __always_inline u64 etch_word_of(unsigned int id)
{
	return (u64)id << ETCH_TIME_BITS;
}

static __always_inline void etch_stamp_pid(struct etch_head *head, u64 time, u64 word, pid_t pid)
{
	word |= time & ETCH_TIME_MASK;
	if (unlikely(!in_task()))
		word |= (u64)etch_context_level() << ETCH_CONTEXT_SHIFT;
	head->word = word;
	head->pid = pid;
}

/* @word: of the event, struct etch_event.word. */
static __always_inline void etch_stamp(struct etch_head *head, u64 time, u64 word)
{
	etch_stamp_pid(head, time, word, current->pid);
}

/*
 * The same for a record whose first word nobody reads soon. Where the counter comes in two
 * registers, it goes into the record from there. @id: the event's; bits above 16 do not count.
 * @pid: current->pid, which the caller reads before it looks for room.
 */
static __always_inline void etch_stamp_quick(struct etch_head *head, struct etch_ticks time,
					     unsigned int id, pid_t pid)
{
#ifdef ETCH_COUNTER_HALVES
	u16 *part = (u16 *)&head->word;

	if (unlikely(!in_task())) {
		barrier();	/* so that the test above needs no register */
		id |= (unsigned int)etch_context_level() << (ETCH_CONTEXT_SHIFT - ETCH_TIME_BITS);
	}
	*(u32 *)part = time.low;
	part[2] = time.high;
	part[3] = id;
	head->pid = pid;
#else
	etch_stamp_pid(head, etch_ticks_whole(time), etch_word_of(id), pid);
#endif
}

/* Whatever the case. NULL: the record is lost, which the ring has counted. */
static __always_inline void *etch_reserve(struct etch_ring *ring, unsigned long len, u64 *time)
{
	void *record;
	struct etch_ticks counter;
	enum etch_quick how = etch_ring_reserve_quick(ring, &len, &counter, &record);

	if (likely(how == ETCH_QUICK_DONE)) {
		*time = etch_ticks_whole(counter);
	} else if (how == ETCH_QUICK_LOST) {
		record = NULL;
	} else {
		u64 slow;	/* of its own, so that @time can be in a register */

		record = etch_ring_reserve_other(ring, len, &slow, how);
		*time = slow;
	}
	return record;
}

/* Fill in and commit a copy. All but the time is the original's. */
static __always_inline void etch_write_copy_into(struct etch_ring *ring, struct etch_head *to,
						 const struct etch_head *from, unsigned int len,
						 u64 time)
{
	to->word = (from->word & ~ETCH_TIME_MASK) | (time & ETCH_TIME_MASK);
	to->pid = from->pid;
	memcpy(to + 1, from + 1, len - sizeof(*from));
	etch_ring_commit(ring);
}

/* Store a record again, with a time of this ring. */
static __always_inline void etch_write_copy(struct etch_ring *ring, const struct etch_head *from,
					    unsigned int len)
{
	struct etch_head *head;
	u64 time;

	head = etch_reserve(ring, len, &time);
	if (head)
		etch_write_copy_into(ring, head, from, len, time);
}

/* ---- scratch.c ---- */

/* The nest that etch_write_end() finds if a record is made in scratch memory, not in a ring. */
#define ETCH_NEST_SCRATCH	UINT_MAX

/* And those of what else stands in for a ring: see write.c. */
#define ETCH_NEST_COPIES	(UINT_MAX - 1)
#define ETCH_NEST_SEVERAL	(UINT_MAX - 2)
#define ETCH_NEST_GIVEN		(UINT_MAX - 3)

struct etch_write etch_scratch_begin(unsigned long len, const struct etch_event *event, u64 mask);
struct etch_write etch_scratch_begin_gate(unsigned long len, const struct etch_event *event);
struct etch_ring *etch_scratch_ring(int cpu);
void etch_scratch_end(struct etch_ring *stand_in);
void etch_scratch_abandon(void);

#endif /* _KERNEL_ETCH_WRITE_H */
