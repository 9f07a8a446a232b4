// SPDX-License-Identifier: GPL-2.0
/*
 * From the serializer into the rings: the way of a record.
 *
 * An event that several instances want is serialised once, into the ring of the
 * first one that has room, and copied from there into the others before it is
 * committed: until then nobody can overwrite what is copied. The copies carry
 * time stamps of their own, because in each ring time and place must agree.
 */
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "etch.h"

DEFINE_PER_CPU(struct etch_cpu_rings, etch_cpu_rings);

static __always_inline struct etch_ring *etch_this_ring(unsigned int bit)
{
	/* Pairs with the smp_store_release() that publishes a ring, in instance.c. */
	return smp_load_acquire(this_cpu_ptr(&etch_cpu_rings.by_bit[bit]));
}

static __always_inline void etch_stamp(struct etch_head *head, u64 time,
				       unsigned int id)
{
	head->word = (time & ETCH_TIME_MASK) | (u64)id << ETCH_TIME_BITS |
		     (u64)interrupt_context_level() << ETCH_CONTEXT_SHIFT;
	head->pid = current->pid;
}

/**
 * etch_write_begin() - reserve a record
 * @w: state, for etch_write_end()
 * @event: what was hit
 * @mask: the instances that want it, by bit
 * @len: bytes, head included
 *
 * Where a record is lost, its ring has counted it.
 *
 * Context: any, NMI included, with preemption disabled until etch_write_end().
 * Return: the record with its head filled in, or NULL: then there is no
 * etch_write_end() to call.
 */
void *etch_write_begin(struct etch_write *w, const struct etch_event *event,
		       u64 mask, unsigned int len)
{
	struct etch_ring *ring;
	void *record;
	u64 time;

	/* Bit 0 is not ours. */
	for (mask &= ~1ULL; mask; mask &= mask - 1) {
		ring = etch_this_ring(__ffs64(mask));
		if (!ring)
			continue;
		record = etch_ring_reserve(ring, len, &time);
		if (likely(record)) {
			w->ring = ring;
			w->record = record;
			w->len = len;
			w->others = mask & (mask - 1);
			etch_stamp(record, time, event->id);
			return record;
		}
	}
	return NULL;
}
EXPORT_SYMBOL_GPL(etch_write_begin);

static noinline void etch_write_others(const struct etch_write *w)
{
	const struct etch_head *first = w->record;
	unsigned int id = (first->word >> ETCH_TIME_BITS) & ETCH_ID_MAX;
	struct etch_ring *ring;
	void *record;
	u64 mask, time;

	for (mask = w->others; mask; mask &= mask - 1) {
		ring = etch_this_ring(__ffs64(mask));
		if (!ring)
			continue;
		record = etch_ring_reserve(ring, w->len, &time);
		if (!record)
			continue;
		memcpy(record + sizeof(*first), w->record + sizeof(*first),
		       w->len - sizeof(*first));
		etch_stamp(record, time, id);
		etch_ring_commit(ring);
	}
}

/**
 * etch_write_end() - hand in a record
 * @w: what etch_write_begin() filled in
 *
 * Context: as etch_write_begin(), and the same CPU.
 */
void etch_write_end(struct etch_write *w)
{
	if (unlikely(w->others))
		etch_write_others(w);
	etch_ring_commit(w->ring);
}
EXPORT_SYMBOL_GPL(etch_write_end);
