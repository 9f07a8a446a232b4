// SPDX-License-Identifier: GPL-2.0
/*
 * From the serializer into the rings: the way of a record.
 *
 * An event that several instances want is serialised once, into the ring of the
 * first one that has room, and copied from there into the others before it is
 * committed: until then no writer can overwrite the original. In each ring time and place must
 * agree: the original's time is right in another ring if nobody has reserved there since before
 * it was read. If somebody has, the copy gets a time of its own.
 *
 * The record of an event that has rules (rules.h) goes by way of scratch.c.
 *
 * If one instance wants the record, and no other writer is in flight in its ring,
 * etch_write_begin() and etch_write_end_quick() handle it themselves, in straight lines and
 * without saving a register. All other cases they leave to functions of their own.
 *
 * A stub hands on what its gate says: where this CPU's pointer to the instance's ring stands,
 * and the event's id, so that a record by the straight line touches nothing of the event.
 * If one pointer does not tell it all, it is one of three stand-ins, which are no rings. Of
 * their fields only nest is ever read, by the test that the fast path makes anyway:
 *
 *	pointer		nest			the instances
 *	rules		ETCH_NEST_SCRATCH	wanted, by the tracepoint; the event has rules
 *	several		ETCH_NEST_SEVERAL	wanted, by the tracepoint
 *	given		ETCH_NEST_GIVEN		etch_write_given(), just called, has them
 */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/cleanup.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/init.h>
#include <linux/kconfig.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "event/contexts.h"
#include "event/rules.h"
#include "event/write.h"

/*
 * So many copies may have the original's time. An event with more is rare. With this number the
 * size of struct etch_copy is a power of two: the writer finds its entry by a shift.
 */
#define ETCH_AT_ONCE	11

/*
 * The records of this CPU that are being written and have copies to make. Writers on one
 * CPU nest, so this is a stack. If it is full, the copies of further records are lost.
 *
 * etch_write_begin() hands such a record to the serializer with @stand_in instead of its
 * ring, and etch_write_end() gets that back:
 *
 *	ring of struct etch_write	its nest	etch_write_end()
 *	the record's ring		1		commits: in line, and not called
 *	the record's ring		0		commits again: an interrupt came
 *	the record's ring		more		counts down
 *	stand_in			ETCH_NEST_COPIES  makes the copies of the top of @stack,
 *							and commits
 *	what scratch.c has instead	ETCH_NEST_SCRATCH  tests and copies: etch_scratch_end()
 *
 * @stand_in is no ring. Of its fields only nest is ever read: so the one test that the fast
 * path makes anyway (nest is 1) sorts out these records, too.
 */
struct etch_copies {
	struct etch_ring stand_in;
	unsigned int depth;
	struct etch_copy {
		struct etch_ring *ring;		/* that has the record */
		const struct etch_head *record;
		unsigned int len;
		u64 mask;			/* the instances that get a copy */
		unsigned int nr;		/* how many of them, from the first on, @then has */
		u64 then[ETCH_AT_ONCE];		/* where their rings were before the time */
	} stack[ETCH_RING_MAX_NEST];
};

static DEFINE_PER_CPU(struct etch_copies, etch_copies) = {
	.stand_in.nest = ETCH_NEST_COPIES,
};

/* Stand in for a ring, where the instances have to be looked up. */
static DEFINE_PER_CPU(struct etch_ring, etch_several) = { .nest = ETCH_NEST_SEVERAL };
static DEFINE_PER_CPU(struct etch_ring, etch_given) = { .nest = ETCH_NEST_GIVEN };
static DEFINE_PER_CPU(u64, etch_given_mask);

/* In the ring of the first one that has room. The copies are lost. */
static noinline struct etch_write etch_write_begin_first(unsigned long len,
							 const struct etch_event *event, u64 mask)
{
	struct etch_write w = {};
	u64 time;

	do {
		w.ring = etch_this_ring(mask);
		w.record = etch_reserve(w.ring, len, &time);
		mask &= mask - 1;
	} while (!w.record && mask);
	if (w.record)
		etch_stamp(w.record, time, event->word);
	for (; mask; mask &= mask - 1)
		etch_ring_lose(etch_this_ring(mask), ETCH_LOST_NESTED);
	return w;
}

/*
 * etch_write_begin_many(), where etch_ring_reserve_quick() said @how of the first ring. The
 * record's time may be that of another clock, so no copy has it.
 */
static noinline struct etch_write etch_write_begin_many_other(unsigned long len,
							      const struct etch_event *event,
							      u64 mask, enum etch_quick how)
{
	struct etch_copies *c = this_cpu_ptr(&etch_copies);
	unsigned int depth = READ_ONCE(c->depth) - 1;
	struct etch_copy *copy = &c->stack[depth];
	struct etch_ring *ring = etch_this_ring(mask);
	void *record = NULL;
	u64 time;

	if (how != ETCH_QUICK_LOST)
		record = etch_ring_reserve_other(ring, len, &time, how);
	for (mask &= mask - 1; !record && mask; mask &= mask - 1) {
		ring = etch_this_ring(mask);
		record = etch_reserve(ring, len, &time);
	}
	if (record)
		etch_stamp(record, time, event->word);
	if (record && mask) {
		*copy = (struct etch_copy) {
			.ring = ring, .record = record, .len = len, .mask = mask,
		};
		return (struct etch_write) { .ring = &c->stand_in, .record = record };
	}
	barrier();	/* up to here a writer that comes in between takes the next entry */
	WRITE_ONCE(c->depth, depth);
	return (struct etch_write) { .ring = ring, .record = record };
}

/*
 * etch_write_begin() for several instances, two at least. A writer that comes in between uses the
 * entries above the depth.
 */
static noinline struct etch_write etch_write_begin_many(unsigned long len,
							const struct etch_event *event, u64 mask)
{
	struct etch_copies *c = this_cpu_ptr(&etch_copies);
	unsigned int depth = READ_ONCE(c->depth), nr = 0;
	struct etch_copy *copy = &c->stack[depth];
	struct etch_ring *ring = etch_this_ring(mask);
	u64 rest = mask & (mask - 1);
	struct etch_ticks time;
	enum etch_quick how;
	void *record;

	if (unlikely(depth == ARRAY_SIZE(c->stack)))
		return etch_write_begin_first(len, event, mask);
	WRITE_ONCE(c->depth, depth + 1);
	barrier();	/* from here on it takes the next entry */
	OPTIMIZER_HIDE_VAR(copy);	/* one register, not @c and an index */
	copy->mask = rest;
	do {
		copy->then[nr++] = etch_ring_position(etch_this_ring(rest));
		rest &= rest - 1;
	} while (rest && nr < ETCH_AT_ONCE);
	copy->nr = nr;
	how = etch_ring_reserve_quick(ring, &len, &time, &record);
	if (unlikely(how != ETCH_QUICK_DONE))
		return etch_write_begin_many_other(len, event, mask, how);
	etch_stamp(record, etch_ticks_whole(time), event->word);
	copy->ring = ring;
	copy->record = record;
	copy->len = len;
	return (struct etch_write) {
		.ring = this_cpu_ptr(&etch_copies.stand_in), .record = record,
	};
}

/*
 * etch_write_begin() for one instance, where etch_ring_reserve_quick() said @how. @word: the
 * event's. The event itself would take a register from the fast path, which needs it for the pid.
 */
static noinline struct etch_write etch_write_begin_other(unsigned long len, u64 word,
							 struct etch_ring *ring,
							 enum etch_quick how)
{
	struct etch_write w = { .ring = ring };
	u64 time;

	w.record = etch_ring_reserve_other(ring, len, &time, how);
	if (w.record)
		etch_stamp(w.record, time, word);
	return w;
}

/* etch_write_begin() for one instance, whose clock is not the counter. @word: the event's. */
static noinline struct etch_write etch_write_begin_clock(unsigned long len, u64 word,
							 struct etch_ring *ring)
{
	struct etch_write w = { .ring = ring };
	enum etch_quick how;
	u64 time;

	how = etch_ring_reserve_clock(ring, &len, &time, &w.record);
	if (unlikely(how != ETCH_QUICK_DONE)) {
		if (how == ETCH_QUICK_LOST)
			return (struct etch_write) {};
		return etch_write_begin_other(len, word, ring, how);
	}
	etch_stamp(w.record, time, word);
	return w;
}

/* etch_write_begin() for those in @mask, which was not the gate's, or need not be any more. */
static __always_inline struct etch_write etch_write_begin_some(unsigned long len,
							       const struct etch_event *event,
							       u64 mask)
{
	if (likely(!(mask & ETCH_RULES) && !etch_is_one(mask)))
		return etch_write_begin_many(len, event, mask);
	/* Since the stub has read the gate, all of them may have gone. */
	if (!mask)
		return (struct etch_write) {};
	return etch_write_begin_mask(len, event, mask);
}

static noinline struct etch_write etch_write_begin_several(unsigned long len,
							   const struct etch_event *event)
{
	return etch_write_begin_some(len, event,
				     READ_ONCE(event->tp->wanted) &
				     (TRACEPOINT_INSTANCES | TRACEPOINT_RULES));
}

static noinline struct etch_write etch_write_begin_given(unsigned long len,
							 const struct etch_event *event)
{
	return etch_write_begin_some(len, event, this_cpu_read(etch_given_mask));
}

/* etch_write_begin() where another writer is in flight, or something stands in for a ring. */
static __always_inline struct etch_write etch_write_begin_nested(unsigned long len,
								 const struct etch_event *event,
								 struct etch_ring *ring,
								 unsigned int nest)
{
	switch (nest) {
	case ETCH_NEST_SCRATCH:
		return etch_scratch_begin_gate(len, event);
	case ETCH_NEST_SEVERAL:
		return etch_write_begin_several(len, event);
	case ETCH_NEST_GIVEN:
		return etch_write_begin_given(len, event);
	default:
		return etch_write_begin_other(len, event->word, ring, ETCH_QUICK_NESTED);
	}
}

/* As few cache lines as can be. */
struct etch_write etch_write_begin(unsigned long who, const struct etch_event *event,
				   unsigned long len) __aligned(L1_CACHE_BYTES);
void etch_write_end(struct etch_ring *ring) __aligned(L1_CACHE_BYTES);

/**
 * etch_write_begin() - reserve a record
 * @who: the instances that want it, as the tracepoint's gate has them, or etch_write_given()
 * @event: the event that was hit, one with a tracepoint
 * @len: bytes, head included
 *
 * Where a record is lost, its ring has counted it.
 *
 * Context: any, NMI included, with preemption disabled until etch_write_end().
 * Return: the record with its head filled in, and the ring for etch_write_end(); or
 * NULL as the record: then there is no etch_write_end() to call.
 */
struct etch_write etch_write_begin(unsigned long who, const struct etch_event *event,
				   unsigned long len)
{
	/*
	 * Before all else: where caches are cold, the CPU fetches the task's memory and the ring's
	 * at the same time.
	 */
	pid_t pid = READ_ONCE(current->pid);
	struct etch_write w = { .ring = etch_ring_of(who) };
	unsigned int nest = READ_ONCE(w.ring->nest), id = (u32)who >> TRACEPOINT_GATE_ID;
	struct etch_ticks time;
	enum etch_quick how;

	if (unlikely(nest))
		return etch_write_begin_nested(len, event, w.ring, nest);
	how = etch_ring_reserve_alone(w.ring, &len, &time, &w.record);
	if (unlikely(how != ETCH_QUICK_DONE)) {
		if (how == ETCH_QUICK_LOST)
			return (struct etch_write) {};
		if (how == ETCH_QUICK_OTHER && READ_ONCE(w.ring->clock) != ETCH_CLOCK_COUNTER)
			return etch_write_begin_clock(len, etch_word_of(id), w.ring);
		return etch_write_begin_other(len, etch_word_of(id), w.ring, how);
	}
	etch_stamp_quick(w.record, time, id, pid);
	return w;
}
EXPORT_SYMBOL_GPL(etch_write_begin);

/**
 * etch_write_begin_mask() - reserve a record
 * @len: as for etch_write_begin()
 * @event: any event that was hit
 * @mask: the instances that want it, by bit; at least one
 *
 * Context: as there.
 * Return: as there.
 */
struct etch_write etch_write_begin_mask(unsigned long len, const struct etch_event *event,
					u64 mask)
{
	struct etch_write w = { .ring = etch_this_ring(mask) };
	struct etch_ticks time;
	enum etch_quick how;

	if (unlikely(!etch_is_one(mask))) {
		if (mask & ETCH_RULES_ANY)
			return etch_scratch_begin(len, event, mask & ~ETCH_RULES_ANY);
		return etch_write_begin_many(len, event, mask);
	}
	how = etch_ring_reserve_quick(w.ring, &len, &time, &w.record);
	if (unlikely(how != ETCH_QUICK_DONE)) {
		if (how == ETCH_QUICK_LOST)
			return (struct etch_write) {};
		return etch_write_begin_other(len, event->word, w.ring, how);
	}
	etch_stamp_quick(w.record, time, event->id, current->pid);
	return w;
}
EXPORT_SYMBOL_GPL(etch_write_begin_mask);

/**
 * etch_write_given() - have a serializer record for some instances
 * @mask: as for etch_write_begin_mask()
 *
 * Context: process, with preemption disabled until the serializer has returned. The next
 * record of a task on this CPU is for them.
 * Return: for the serializer.
 */
unsigned long etch_write_given(u64 mask)
{
	this_cpu_write(etch_given_mask, mask);
	return offsetof(struct etch_cpu_rings, given);
}

/* A copy with a time of its own, where etch_ring_reserve_since() said @how. */
static noinline void etch_write_copy_other(struct etch_ring *ring, const struct etch_copy *copy,
					   enum etch_quick how)
{
	u64 time;
	void *record = etch_ring_reserve_other(ring, copy->len, &time, how);

	if (record)
		etch_write_copy_into(ring, record, copy->record, copy->len, time);
}

/* A copy with the original's time, if nobody has reserved since the ring was at @then. */
static __always_inline void etch_write_copy_since(struct etch_ring *ring,
						  const struct etch_copy *copy, u64 then)
{
	void *record;
	enum etch_quick how = etch_ring_reserve_since(ring, copy->len, then, &record);

	if (likely(how == ETCH_QUICK_DONE))
		etch_write_copy_into(ring, record, copy->record, copy->len, copy->record->word);
	else if (how != ETCH_QUICK_LOST)
		etch_write_copy_other(ring, copy, how);
}

/* A copy with a time of its own: the writer did not note where this ring was before the time. */
static noinline void etch_write_copy_late(struct etch_ring *ring, const struct etch_copy *copy)
{
	etch_write_copy(ring, copy->record, copy->len);
}

/* Make the copies of the record that began last, and commit the record. There is one at least. */
static noinline void etch_write_end_copied(void)
{
	struct etch_copies *c = this_cpu_ptr(&etch_copies);
	const struct etch_copy *copy = &c->stack[READ_ONCE(c->depth) - 1];
	struct etch_ring *ring;
	unsigned int i = 0;
	u64 mask;

	OPTIMIZER_HIDE_VAR(copy);	/* one register, not @c and an index */
	mask = copy->mask;
	do {
		ring = etch_this_ring(mask);
		if (likely(i < copy->nr))
			etch_write_copy_since(ring, copy, copy->then[i]);
		else
			etch_write_copy_late(ring, copy);
		i++;
		mask &= mask - 1;
	} while (mask);
	ring = copy->ring;
	barrier();	/* up to here a writer that comes in between takes the next entry */
	__this_cpu_dec(etch_copies.depth);
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
	unsigned int nest = READ_ONCE(ring->nest);

	if (likely(nest == ETCH_NEST_SCRATCH))
		etch_scratch_end(ring);
	else if (nest == ETCH_NEST_COPIES)
		etch_write_end_copied();
	else
		etch_ring_commit_other(ring);
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

static int __init etch_write_init(void)
{
	int cpu;

	BUILD_BUG_ON_NOT_POWER_OF_2(sizeof(struct etch_copy));
	BUILD_BUG_ON(sizeof(struct etch_cpu_rings) > 1UL << TRACEPOINT_GATE_ID);
	BUILD_BUG_ON(TRACEPOINT_ID != (u64)ETCH_ID_MAX << ETCH_TIME_BITS);
	BUILD_BUG_ON(offsetof(struct etch_cpu_rings, homes[0].ring.owner) !=
		     TRACEPOINT_GATE_HOME(ETCH_MAIN));
	BUILD_BUG_ON(offsetof(struct etch_cpu_rings, homes[1].ring.owner) !=
		     TRACEPOINT_GATE_HOME(ETCH_MAIN + 1));
	BUILD_BUG_ON(offsetof(struct etch_cpu_rings, rules) != TRACEPOINT_GATE_RULES);
	BUILD_BUG_ON(offsetof(struct etch_cpu_rings, several) != TRACEPOINT_GATE_SEVERAL);
	for_each_possible_cpu(cpu) {
		struct etch_cpu_rings *rings = per_cpu_ptr(&etch_cpu_rings, cpu);

		rings->rules = etch_scratch_ring(cpu);
		rings->several = per_cpu_ptr(&etch_several, cpu);
		rings->given = per_cpu_ptr(&etch_given, cpu);
	}
	return 0;
}
core_initcall(etch_write_init);
