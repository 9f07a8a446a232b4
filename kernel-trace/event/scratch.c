// SPDX-License-Identifier: GPL-2.0
/*
 * Scratch memory, in which the records of events with rules are made and tested.
 *
 * etch_write_begin() comes here when an event's gate says that it has rules. If the rules do not
 * reject the hit by what is known without a record, the serializer makes the record in this
 * CPU's scratch memory. etch_write_end() comes here again, and the record is copied into the
 * ring of each instance that records the event and whose filter it passes. A rejected hit reads
 * no clock and touches no ring.
 *
 * Writers on one CPU nest, so the memory is a stack: a record lies behind that of the writer
 * which it interrupted. A record for which there is no room left is lost, and counted.
 */
#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/unaligned.h>

#include "event/rules.h"
#include "event/whose.h"
#include "event/write.h"

/* Bytes for each CPU: a record of a sub-buffer's size, and those of nested writers. */
#define ETCH_SCRATCH		32768

/**
 * struct etch_frame - a record that is being made
 * @event: the event that was hit
 * @mask: the instances that may want to record it
 * @callers: the instances whose triggers it may call
 * @unsure: of both, those that want it if it is about a task which the record names
 * @at: where it is, in bytes of the memory
 * @len: its bytes
 */
struct etch_frame {
	const struct etch_event *event;
	u64 mask;
	u64 callers;
	u64 unsure;
	unsigned int at;
	unsigned int len;
};

/**
 * struct etch_scratch - this CPU's scratch memory
 * @stand_in: for struct etch_write, in place of a ring: only its nest is read, which is 0
 * @depth: entries of @stack that are in use
 * @used: bytes of @memory that are, if @depth is not 0
 * @memory: ETCH_SCRATCH bytes; NULL: there never was a rule
 * @stack: the records that are being made, outermost first
 */
struct etch_scratch {
	unsigned int depth;
	unsigned int used;
	void *memory;
	struct etch_frame stack[ETCH_RING_MAX_NEST];
	struct etch_ring stand_in;
};

static DEFINE_PER_CPU_ALIGNED(struct etch_scratch, etch_scratch);

/* ---- What the rules say ---- */

static __always_inline void etch_count_filtered(unsigned int bit)
{
	local_inc(this_cpu_ptr(&etch_filtered.by_bit[bit]));
}

static __always_inline const struct etch_program *
etch_filter_of(const struct etch_rules *rules, unsigned int bit)
{
	return rcu_dereference_sched(rules->filters[bit]);
}

static void etch_count_all_filtered(u64 mask)
{
	for (; mask; mask &= mask - 1)
		etch_count_filtered(__ffs(mask));
}

/* The instances that may still want to record the hit, as far as that is known early. */
static __always_inline u64 etch_mask_early(const struct etch_rules *rules, u64 mask)
{
	u64 left = mask;

	for (; mask; mask &= mask - 1) {
		unsigned int bit = __ffs(mask);
		const struct etch_program *program = etch_filter_of(rules, bit);

		if (!program || !program->early || !etch_program_refuses(program))
			continue;
		etch_count_filtered(bit);
		left &= ~(1ULL << bit);
	}
	return left;
}

/* Of @mask, the instances that do not want the current task's hits. */
static noinline u64 etch_whose_not(u64 mask)
{
	u64 not = 0;

	for (mask &= READ_ONCE(etch_whose_bits); mask; mask &= mask - 1) {
		const struct etch_whose *whose = rcu_dereference_sched(etch_whose[__ffs(mask)]);

		if (whose && !etch_whose_current(whose))
			not |= mask & -mask;
	}
	return not;
}

/* Of those that are unsure, the instances that do not want the hits of the other task either. */
static noinline u64 etch_whose_not_other(const struct etch_frame *frame, const void *record)
{
	pid_t pid = get_unaligned((const pid_t *)(record + frame->event->other));
	u64 mask = frame->unsure, not = 0;

	for (; mask; mask &= mask - 1) {
		const struct etch_whose *whose = rcu_dereference_sched(etch_whose[__ffs(mask)]);

		if (whose && !etch_whose_pid(whose, pid))
			not |= mask & -mask;
	}
	return not;
}

static noinline void etch_call_triggers(const struct etch_rules *rules, u64 callers,
					const struct etch_hit *hit, bool early)
{
	struct etch_trigger *trigger;

	list_for_each_entry_rcu(trigger, &rules->triggers, node, rcu_read_lock_sched_held()) {
		if (trigger->early != early || !(callers & 1ULL << trigger->bit))
			continue;
		if (!trigger->filter || etch_program_passes(trigger->filter, hit->record))
			trigger->hit(trigger, hit);
	}
}

/* ---- The way of a record ---- */

/* @nested: other records are in the memory. */
static noinline void etch_scratch_lose(u64 mask, bool nested)
{
	for (; mask; mask &= mask - 1)
		etch_ring_lose(etch_this_ring(mask), nested ? ETCH_LOST_NESTED : ETCH_LOST_TOO_BIG);
}

/**
 * etch_scratch_begin() - etch_write_begin() for an event with rules
 * @len: as there
 * @event: as there
 * @mask: the instances for which the gate is open
 *
 * Context: as there.
 * Return: as there: NULL as the record also if the rules have rejected the hit.
 */
struct etch_write etch_scratch_begin(unsigned long len, const struct etch_event *event, u64 mask)
{
	struct etch_scratch *s = this_cpu_ptr(&etch_scratch);
	unsigned int depth = READ_ONCE(s->depth);
	u64 callers = mask, unsure = 0;
	const struct etch_rules *rules;
	unsigned int at = 0;
	void *record;

	/* (R) the gate before the rules: pairs with etch_rules_gate() */
	smp_rmb();
	rules = READ_ONCE(event->rules) ?: &etch_rules_none;
	mask &= READ_ONCE(rules->recording);
	if (unlikely(callers & READ_ONCE(etch_whose_bits))) {
		unsure = etch_whose_not(callers);
		if (!event->other) {
			etch_count_all_filtered(mask & unsure);
			mask &= ~unsure;
			callers &= ~unsure;
			unsure = 0;
		}
	}
	mask = etch_mask_early(rules, mask);
	if (!mask && (!callers || list_empty(&rules->triggers)))
		return (struct etch_write) {};

	/* No dependency on the last writer's store, where there is no writer to nest in. */
	if (unlikely(depth))
		at = READ_ONCE(s->used);
	if (unlikely(at + len > ETCH_SCRATCH || depth == ARRAY_SIZE(s->stack))) {
		etch_scratch_lose(mask, depth);
		return (struct etch_write) {};
	}
	record = s->memory + at;
	/*
	 * A writer that interrupts this one between the two stores takes the memory that this one
	 * is about to take, and has done with it when this one goes on.
	 */
	WRITE_ONCE(s->depth, depth + 1);
	WRITE_ONCE(s->used, at + ALIGN(len, sizeof(u64)));
	barrier();	/* from here on it takes the next entry, and other memory */
	s->stack[depth] = (struct etch_frame) {
		.event = event,
		.mask = mask,
		.callers = callers,
		.unsure = unsure,
		.at = at,
		.len = len,
	};
	etch_stamp(record, 0, event->word);
	return (struct etch_write) { .record = record, .ring = &s->stand_in };
}

/**
 * etch_is_scratch() - is a record being made in scratch memory?
 * @ring: that of its struct etch_write
 *
 * Context: as etch_write_end().
 * Return: true if it is: etch_scratch_end() ends it.
 */
bool etch_is_scratch(const struct etch_ring *ring)
{
	return ring == this_cpu_ptr(&etch_scratch.stand_in);
}

/* Now there is a record: the instances that did not know whether they want it do. */
static noinline void etch_scratch_settle(struct etch_frame *frame, const void *record)
{
	u64 not = etch_whose_not_other(frame, record);

	etch_count_all_filtered(frame->mask & not);
	frame->mask &= ~not;
	frame->callers &= ~not;
}

/* The record goes to those whose filter it passes. */
static __always_inline void etch_scratch_copy(const struct etch_rules *rules, u64 mask,
					      const struct etch_hit *hit)
{
	for (; mask; mask &= mask - 1) {
		unsigned int bit = __ffs(mask);
		const struct etch_program *program = etch_filter_of(rules, bit);

		if (!program || etch_program_passes(program, hit->record))
			etch_write_copy(etch_this_ring(mask), hit->record, hit->len);
		else
			etch_count_filtered(bit);
	}
}

/**
 * etch_scratch_end() - etch_write_end() for the record that was last begun in scratch memory
 *
 * Context: as there.
 */
void etch_scratch_end(void)
{
	struct etch_scratch *s = this_cpu_ptr(&etch_scratch);
	unsigned int depth = READ_ONCE(s->depth) - 1;
	struct etch_frame *frame = &s->stack[depth];
	const struct etch_rules *rules = READ_ONCE(frame->event->rules) ?: &etch_rules_none;
	const struct etch_hit hit = {
		.event = frame->event,
		.record = s->memory + frame->at,
		.len = frame->len,
	};
	bool triggers = !list_empty(&rules->triggers);

	if (unlikely(frame->unsure))
		etch_scratch_settle(frame, hit.record);
	if (unlikely(triggers))
		etch_call_triggers(rules, frame->callers, &hit, true);
	etch_scratch_copy(rules, frame->mask, &hit);
	if (unlikely(triggers))
		etch_call_triggers(rules, frame->callers, &hit, false);
	barrier();	/* up to here a writer that comes in between takes the next entry */
	WRITE_ONCE(s->used, frame->at);
	WRITE_ONCE(s->depth, depth);
}

/**
 * etch_scratch_abandon() - forget the records of this CPU's writers, which are all dead
 *
 * They count as lost: nested, in the instances that may have wanted them.
 *
 * Context: as etch_write_abandon().
 */
void etch_scratch_abandon(void)
{
	struct etch_scratch *s = this_cpu_ptr(&etch_scratch);
	unsigned int depth = READ_ONCE(s->depth), i;

	for (i = 0; i < depth; i++)
		etch_scratch_lose(s->stack[i].mask, true);
	WRITE_ONCE(s->depth, 0);
}

/**
 * etch_scratch_make() - get scratch memory for the first rule
 *
 * The memory stays: writers may come to it as long as there are rules.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0 or -ENOMEM.
 */
int etch_scratch_make(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct etch_scratch *s = per_cpu_ptr(&etch_scratch, cpu);

		if (!s->memory)
			s->memory = kzalloc_node(ETCH_SCRATCH, GFP_KERNEL, cpu_to_node(cpu));
		if (!s->memory)
			return -ENOMEM;
	}
	return 0;
}
