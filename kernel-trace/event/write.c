// SPDX-License-Identifier: GPL-2.0
/*
 * From the serializer into the rings: the way of a record.
 *
 * An event that several instances want is serialised once, into the ring of the
 * first one that has room, and copied from there into the others before it is
 * committed: until then no writer can overwrite the original. The copies carry
 * time stamps of their own, because in each ring time and place must agree.
 *
 * The record of an event that has rules (rules.h) goes by way of scratch.c.
 *
 * If one instance wants the record, and no other writer is in flight in its ring,
 * etch_write_begin() and etch_write_end() handle it themselves, in straight lines and
 * without saving a register. For all other cases they jump to functions of their own.
 */
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/cleanup.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/kconfig.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "event/contexts.h"
#include "event/rules.h"
#include "event/write.h"

/*
 * The records of this CPU that are being written and have copies to make. Writers on one
 * CPU nest, so this is a stack. If it is full, the copies of further records are lost.
 *
 * etch_write_begin() hands such a record to the serializer with @stand_in instead of its
 * ring, and etch_write_end() gets that back:
 *
 *	ring of struct etch_write	its nest	etch_write_end()
 *	the record's ring		1		commits: the fast path
 *	the record's ring		more		etch_write_end_any() commits
 *	stand_in			0		etch_write_end_any() makes the copies of
 *							the top of @stack, and commits
 *	what scratch.c has instead	ETCH_NEST_SCRATCH  etch_scratch_end() tests and copies
 *
 * @stand_in is no ring. Of its fields only nest is ever read, and it is always 0: so the one
 * test that the fast path makes anyway (nest is 1) sorts out these records, too.
 */
struct etch_copies {
	struct etch_ring stand_in;
	unsigned int depth;
	struct etch_copy {
		struct etch_ring *ring;		/* that has the record */
		const struct etch_head *record;
		unsigned int len;
		u64 mask;			/* the instances that get a copy */
	} stack[ETCH_RING_MAX_NEST];
};

static DEFINE_PER_CPU(struct etch_copies, etch_copies);

/*
 * Note which instances get a copy, and return the ring for struct etch_write. A writer that
 * comes in between uses the entries above the depth.
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
	barrier();	/* from here on it takes the next entry */
	c->stack[depth] = (struct etch_copy) {
		.ring = ring,
		.record = record,
		.len = len,
		.mask = mask,
	};
	return &c->stand_in;
}

/* etch_write_begin() for several instances. */
static noinline struct etch_write etch_write_begin_many(unsigned long len,
							const struct etch_event *event, u64 mask)
{
	struct etch_write w = {};
	u64 time;

	do {
		w.ring = etch_this_ring(mask);
		w.record = etch_reserve(w.ring, len, &time);
		mask &= mask - 1;
	} while (!w.record && mask);
	if (!w.record)
		return w;
	etch_stamp(w.record, time, event->word);
	if (mask)
		w.ring = etch_copy_later(w.ring, w.record, len, mask);
	return w;
}

/* etch_write_begin() for one instance, where etch_ring_reserve_quick() said @how. */
static noinline struct etch_write etch_write_begin_other(unsigned long len,
							 const struct etch_event *event,
							 struct etch_ring *ring,
							 enum etch_quick how)
{
	struct etch_write w = { .ring = ring };
	u64 time;

	w.record = etch_ring_reserve_other(ring, len, &time, how);
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
 * @event: the event that was hit
 * @mask: the instances that want it, by bit; at least one
 *
 * Where a record is lost, its ring has counted it.
 *
 * Context: any, NMI included, with preemption disabled until etch_write_end().
 * Return: the record with its head filled in, and the ring for etch_write_end(); or
 * NULL as the record: then there is no etch_write_end() to call.
 */
struct etch_write etch_write_begin(unsigned long len, const struct etch_event *event,
				   u64 mask)
{
	struct etch_write w = { .ring = etch_this_ring(mask) };
	enum etch_quick how;
	u64 time;

	if (unlikely(!etch_is_one(mask))) {
		if (mask & ETCH_RULES_ANY)
			return etch_scratch_begin(len, event, mask & ~ETCH_RULES_ANY);
		return etch_write_begin_many(len, event, mask);
	}
	how = etch_ring_reserve_quick(w.ring, len, &time, &w.record);
	if (unlikely(how != ETCH_QUICK_DONE)) {
		if (how == ETCH_QUICK_LOST)
			return (struct etch_write) {};
		return etch_write_begin_other(len, event, w.ring, how);
	}
	etch_stamp(w.record, time, event->word);
	return w;
}
EXPORT_SYMBOL_GPL(etch_write_begin);

/* Make the copies of the record that began last, and commit the record. */
static void etch_write_end_copied(struct etch_copies *c)
{
	unsigned int depth = READ_ONCE(c->depth) - 1;
	const struct etch_copy *copy = &c->stack[depth];
	struct etch_ring *ring = copy->ring;
	u64 mask;

	for (mask = copy->mask; mask; mask &= mask - 1)
		etch_write_copy(etch_this_ring(mask), copy->record, copy->len);
	barrier();	/* up to here a writer that comes in between takes the next entry */
	WRITE_ONCE(c->depth, depth);
	etch_ring_commit(ring);
}

static noinline void etch_write_end_other(struct etch_ring *ring)
{
	struct etch_copies *c = this_cpu_ptr(&etch_copies);

	if (ring == &c->stand_in)
		etch_write_end_copied(c);
	else
		etch_ring_commit(ring);
}

/* Another writer is in flight, or the record has copies to make or rules to pass. */
static noinline void etch_write_end_any(struct etch_ring *ring)
{
	if (likely(READ_ONCE(ring->nest) == ETCH_NEST_SCRATCH))
		return etch_scratch_end(ring);
	etch_write_end_other(ring);
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
 * etch_write_abandon() - finish the records of this CPU's writers, which are all dead
 *
 * Their records stay in the rings where they were begun, with the fields that were filled
 * in; their copies for other instances are counted as lost: nested.
 *
 * Context: on the CPU, interrupts disabled; in a task that was killed by what it wrote. It
 * looks at the rings of all instances, gate or not: an RCU reader.
 * Return: how many records they had begun.
 */
unsigned int etch_write_abandon(void)
{
	unsigned int bit, nr = 0;

	guard(rcu)();
	etch_copies_abandon(this_cpu_ptr(&etch_copies));
	etch_scratch_abandon();
	etch_contexts_abandon();
	for (bit = ETCH_MAIN; bit < ETCH_BITS; bit++) {
		struct etch_ring *ring = this_cpu_read(etch_cpu_rings.by_bit[bit]);

		if (ring)
			nr += etch_ring_abandon(ring);
	}
	return nr;
}
