// SPDX-License-Identifier: GPL-2.0
/*
 * From the serializer into the rings: the way of a record.
 *
 * An event that several instances want is serialised once, into the ring of the
 * first one that has room, and copied from there into the others before it is
 * committed: until then nobody can overwrite what is copied. The copies carry
 * time stamps of their own, because in each ring time and place must agree.
 *
 * What one instance wants, while no other writer is in flight in its ring, is
 * handled by etch_write_begin() and etch_write_end() themselves, in straight lines and
 * without saving a register. Everything else goes on in functions of its own, by
 * a jump.
 */
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "etch.h"

/* In struct etch_write.ring: others are to get a copy. */
#define ETCH_WRITE_COPIED	1UL

DEFINE_PER_CPU(struct etch_cpu_rings, etch_cpu_rings);

/*
 * Records that are on their way to several instances: who gets a copy. Writers on
 * one CPU nest, so this is a stack; those that are more than it can hold have
 * their copies lost.
 */
struct etch_copies {
	unsigned int depth;
	struct etch_copy {
		const struct etch_head *record;
		unsigned int len;
		u64 mask;
	} stack[ETCH_RING_MAX_NEST];
};

static DEFINE_PER_CPU(struct etch_copies, etch_copies);

/*
 * Whoever finds a ring finds it complete: what is read of it depends on the pointer.
 * Pairs with the smp_store_release() that publishes it, in instance.c.
 */
static __always_inline struct etch_ring *etch_this_ring(u64 mask)
{
	return raw_cpu_read(etch_cpu_rings.by_bit[__ffs(mask)]);
}

static __always_inline bool etch_is_one(u64 mask)
{
	return !(mask & (mask - 1));
}

/* @word: of the event, struct etch_event.word. */
static __always_inline void etch_stamp(struct etch_head *head, u64 time, u64 word)
{
	word |= time & ETCH_TIME_MASK;
	if (unlikely(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))
		word |= (u64)interrupt_context_level() << ETCH_CONTEXT_SHIFT;
	head->word = word;
	head->pid = current->pid;
}

/* Remember who gets a copy. What is interrupted half-way is above the depth. */
static unsigned long etch_copy_later(struct etch_ring *ring, const void *record,
				     unsigned int len, u64 mask)
{
	struct etch_copies *c = this_cpu_ptr(&etch_copies);
	unsigned int depth = READ_ONCE(c->depth);

	if (depth == ARRAY_SIZE(c->stack)) {
		for (; mask; mask &= mask - 1) {
			struct etch_ring *other = etch_this_ring(mask);

			if (other)
				etch_ring_lose(other, ETCH_LOST_NESTED);
		}
		return (unsigned long)ring;
	}
	WRITE_ONCE(c->depth, depth + 1);
	barrier();	/* from here on a nested writer takes the next one */
	c->stack[depth] = (struct etch_copy) {
		.record = record,
		.len = len,
		.mask = mask,
	};
	return (unsigned long)ring | ETCH_WRITE_COPIED;
}

/*
 * What etch_write_begin() does if it is not that simple. @why: how
 * etch_ring_reserve_quick() ended in the first ring.
 */
static noinline struct etch_write etch_write_begin_any(u64 mask, const struct etch_event *event,
						       unsigned long len, enum etch_quick why)
{
	struct etch_write w = {};
	struct etch_ring *ring;
	u64 time;

	for (; mask; mask &= mask - 1) {
		ring = etch_this_ring(mask);
		if (!ring)
			continue;
		w.record = etch_ring_reserve_other(ring, len, &time, why);
		why = ETCH_QUICK_OTHER;
		if (!w.record)
			continue;
		etch_stamp(w.record, time, event->word);
		w.ring = (unsigned long)ring;
		if (!etch_is_one(mask))
			w.ring = etch_copy_later(ring, w.record, len, mask & (mask - 1));
		break;
	}
	return w;
}

/**
 * etch_write_begin() - reserve a record
 * @mask: the instances that want it, by bit; at least one
 * @event: what was hit
 * @len: bytes, head included
 *
 * Where a record is lost, its ring has counted it.
 *
 * Context: any, NMI included, with preemption disabled until etch_write_end().
 * Return: the record with its head filled in, and what etch_write_end() wants; or
 * NULL as the record: then there is no etch_write_end() to call.
 */
__aligned(L1_CACHE_BYTES)
struct etch_write etch_write_begin(u64 mask, const struct etch_event *event,
				   unsigned long len)
{
	struct etch_ring *ring = etch_this_ring(mask);
	struct etch_write w = {};
	enum etch_quick how;
	u64 time;

	if (unlikely(!ring || !etch_is_one(mask)))
		return etch_write_begin_any(mask, event, len, ETCH_QUICK_OTHER);
	how = etch_ring_reserve_quick(ring, len, &time, &w.record);
	if (unlikely(how != ETCH_QUICK_DONE)) {
		if (how == ETCH_QUICK_LOST)
			return (struct etch_write) {};
		return etch_write_begin_any(mask, event, len, how);
	}
	etch_stamp(w.record, time, event->word);
	w.ring = (unsigned long)ring;
	return w;
}
EXPORT_SYMBOL_GPL(etch_write_begin);

static void etch_write_copy(const struct etch_copy *copy, struct etch_ring *ring)
{
	const struct etch_head *from = copy->record;
	void *record;
	u64 time;

	record = etch_ring_reserve(ring, copy->len, &time);
	if (!record)
		return;
	memcpy(record + sizeof(*from), from + 1, copy->len - sizeof(*from));
	etch_stamp(record, time, from->word & (u64)ETCH_ID_MAX << ETCH_TIME_BITS);
	etch_ring_commit(ring);
}

/* Hand out the copies of the record that began last, and hand in the record. */
static noinline void etch_write_end_copied(unsigned long first)
{
	struct etch_copies *c = this_cpu_ptr(&etch_copies);
	const struct etch_copy *copy = &c->stack[c->depth - 1];
	struct etch_ring *ring;
	u64 mask;

	for (mask = copy->mask; mask; mask &= mask - 1) {
		ring = etch_this_ring(mask);
		if (ring)
			etch_write_copy(copy, ring);
	}
	barrier();	/* up to here a nested writer takes the next one */
	WRITE_ONCE(c->depth, c->depth - 1);
	etch_ring_commit((struct etch_ring *)(first & ~ETCH_WRITE_COPIED));
}

/**
 * etch_write_end() - hand in a record
 * @ring: of struct etch_write, which etch_write_begin() returned
 *
 * Context: as etch_write_begin(), and the same CPU; records that began later have
 * ended.
 */
void etch_write_end(unsigned long ring)
{
	if (unlikely(ring & ETCH_WRITE_COPIED))
		return etch_write_end_copied(ring);
	etch_ring_commit((struct etch_ring *)ring);
}
EXPORT_SYMBOL_GPL(etch_write_end);
