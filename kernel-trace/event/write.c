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
#include <linux/kconfig.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "event/event.h"

DEFINE_PER_CPU(struct etch_cpu_rings, etch_cpu_rings);

/*
 * Records that are on their way to several instances: who gets a copy. Writers on
 * one CPU nest, so this is a stack; those that are more than it can hold have
 * their copies lost.
 *
 * @mark is what struct etch_write has for such a record instead of its ring. Nobody is
 * ever in flight in there, which is how etch_write_end() comes to look twice.
 */
struct etch_copies {
	struct etch_ring mark;
	unsigned int depth;
	struct etch_copy {
		struct etch_ring *ring;
		const struct etch_head *record;
		unsigned int len;
		u64 mask;
	} stack[ETCH_RING_MAX_NEST];
};

static DEFINE_PER_CPU(struct etch_copies, etch_copies);

/*
 * Whoever finds a ring finds it complete: what is read of it depends on the pointer.
 * Pairs with the smp_store_release() that publishes it, in instance.c. A CPU has a
 * ring for each instance as long as it is on line, and stubs are silent when it is
 * not.
 */
static __always_inline struct etch_ring *etch_this_ring(u64 mask)
{
	return this_cpu_read(etch_cpu_rings.by_bit[__ffs(mask)]);
}

static __always_inline bool etch_is_one(u64 mask)
{
	return !(mask & (mask - 1));
}

/* Asked if it is no task. With PREEMPT_RT the preempt count does not know softirqs. */
static __always_inline enum etch_context etch_context_level(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !in_nmi() && !in_hardirq())
		return ETCH_SOFTIRQ;
	return interrupt_context_level();
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

/*
 * Remember who gets a copy, and return what etch_write_end() is to be told. A writer
 * that comes in between takes what is above the depth.
 */
static struct etch_ring *etch_copy_later(struct etch_ring *ring, const void *record,
					 unsigned int len, u64 mask)
{
	struct etch_copies *c = this_cpu_ptr(&etch_copies);
	unsigned int depth = READ_ONCE(c->depth);

	if (depth == ARRAY_SIZE(c->stack)) {
		for (; mask; mask &= mask - 1)
			etch_ring_lose(etch_this_ring(mask), ETCH_LOST_NESTED);
		return ring;
	}
	WRITE_ONCE(c->depth, depth + 1);
	barrier();	/* from here on it takes the next one */
	c->stack[depth] = (struct etch_copy) {
		.ring = ring,
		.record = record,
		.len = len,
		.mask = mask,
	};
	return &c->mark;
}

/*
 * What etch_write_begin() does if it is not that simple. @how: as
 * etch_ring_reserve_quick() ended in the first ring.
 */
static noinline struct etch_write etch_write_begin_any(unsigned long len,
						       const struct etch_event *event,
						       u64 mask, enum etch_quick how)
{
	struct etch_write w = {};
	u64 time;

	for (; mask; mask &= mask - 1) {
		w.ring = etch_this_ring(mask);
		w.record = etch_ring_reserve_other(w.ring, len, &time, how);
		how = ETCH_QUICK_OTHER;
		if (!w.record)
			continue;
		etch_stamp(w.record, time, event->word);
		if (!etch_is_one(mask))
			w.ring = etch_copy_later(w.ring, w.record, len, mask & (mask - 1));
		break;
	}
	return w;
}

/* An interrupt came, and wrote: the same again, with another time. */
static noinline struct etch_write etch_write_begin_raised(unsigned long len,
							  const struct etch_event *event,
							  struct etch_ring *ring)
{
	struct etch_write w = { .ring = ring };
	u64 time;

	w.record = etch_ring_reserve_other(ring, len, &time, ETCH_QUICK_RAISED);
	if (w.record)
		etch_stamp(w.record, time, event->word);
	return w;
}

/* As few cache lines as can be. */
struct etch_write etch_write_begin(unsigned long len, const struct etch_event *event,
				   u64 mask) __aligned(L1_CACHE_BYTES);
void etch_write_end(struct etch_ring *ring) __aligned(L1_CACHE_BYTES);

/**
 * etch_write_begin() - reserve a record
 * @len: bytes, head included
 * @event: what was hit
 * @mask: the instances that want it, by bit; at least one
 *
 * Where a record is lost, its ring has counted it.
 *
 * Context: any, NMI included, with preemption disabled until etch_write_end().
 * Return: the record with its head filled in, and what etch_write_end() wants; or
 * NULL as the record: then there is no etch_write_end() to call.
 */
struct etch_write etch_write_begin(unsigned long len, const struct etch_event *event,
				   u64 mask)
{
	struct etch_write w = { .ring = etch_this_ring(mask) };
	enum etch_quick how;
	u64 time;

	if (unlikely(!etch_is_one(mask)))
		return etch_write_begin_any(len, event, mask, ETCH_QUICK_OTHER);
	how = etch_ring_reserve_quick(w.ring, len, &time, &w.record);
	if (unlikely(how != ETCH_QUICK_DONE)) {
		if (how == ETCH_QUICK_LOST)
			return (struct etch_write) {};
		if (how == ETCH_QUICK_RAISED)
			return etch_write_begin_raised(len, event, w.ring);
		return etch_write_begin_any(len, event, mask, how);
	}
	etch_stamp(w.record, time, event->word);
	return w;
}
EXPORT_SYMBOL_GPL(etch_write_begin);

static void etch_write_copy(const struct etch_copy *copy, struct etch_ring *ring)
{
	const struct etch_head *from = copy->record;
	void *record;
	u64 time;

	record = __etch_ring_reserve(ring, copy->len, &time);
	if (!record)
		return;
	memcpy(record + sizeof(*from), from + 1, copy->len - sizeof(*from));
	etch_stamp(record, time, from->word & (u64)ETCH_ID_MAX << ETCH_TIME_BITS);
	etch_ring_commit(ring);
}

/* Hand out the copies of the record that began last, and hand in the record. */
static void etch_write_end_copied(struct etch_copies *c)
{
	unsigned int depth = READ_ONCE(c->depth) - 1;
	const struct etch_copy *copy = &c->stack[depth];
	struct etch_ring *ring = copy->ring;
	u64 mask;

	for (mask = copy->mask; mask; mask &= mask - 1)
		etch_write_copy(copy, etch_this_ring(mask));
	barrier();	/* up to here a writer that comes in between takes the next one */
	WRITE_ONCE(c->depth, depth);
	etch_ring_commit(ring);
}

/* Somebody else is in flight, or others are to get a copy. */
static noinline void etch_write_end_any(struct etch_ring *ring)
{
	struct etch_copies *c = this_cpu_ptr(&etch_copies);

	if (ring == &c->mark)
		etch_write_end_copied(c);
	else
		etch_ring_commit(ring);
}

/**
 * etch_write_end() - hand in a record
 * @ring: of struct etch_write, which etch_write_begin() returned
 *
 * Context: as etch_write_begin(), and the same CPU; records that began later have
 * ended.
 */
void etch_write_end(struct etch_ring *ring)
{
	if (unlikely(READ_ONCE(ring->nest) != 1))
		return etch_write_end_any(ring);
	etch_ring_commit_last(ring);
}
EXPORT_SYMBOL_GPL(etch_write_end);

/* The copies that this CPU's dead writers had still to make. */
static void etch_copies_abandon(struct etch_copies *c)
{
	unsigned int depth = READ_ONCE(c->depth), i;
	u64 mask;

	for (i = 0; i < depth; i++)
		for (mask = c->stack[i].mask; mask; mask &= mask - 1)
			etch_ring_lose(etch_this_ring(mask), ETCH_LOST_NESTED);
	WRITE_ONCE(c->depth, 0);
}

/**
 * etch_write_abandon() - all that were writing on this CPU are dead
 *
 * What they were writing stands in the rings where it was begun, its fields as far as
 * they had been filled in; the copies that others should have had are counted as lost:
 * nested.
 *
 * Context: on the CPU, interrupts disabled; in a task that was killed by what it wrote.
 * Return: how many records they had begun.
 */
unsigned int etch_write_abandon(void)
{
	unsigned int bit, nr = 0;

	etch_copies_abandon(this_cpu_ptr(&etch_copies));
	for (bit = ETCH_MAIN; bit < ETCH_BITS; bit++) {
		struct etch_ring *ring = this_cpu_read(etch_cpu_rings.by_bit[bit]);

		if (ring)
			nr += etch_ring_abandon(ring);
	}
	return nr;
}
