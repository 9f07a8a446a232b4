// SPDX-License-Identifier: GPL-2.0
/*
 * Scratch memory, in which the records of events with rules are made and tested.
 *
 * etch_write_begin() comes here when an event's gate says that it has rules. If the rules do not
 * reject the hit before there is a record, the serializer makes the record in this
 * CPU's scratch memory. etch_write_end() comes here again, and the record is copied into the
 * ring of each instance that records the event and whose filter it passes. A rejected hit reads
 * no clock and touches no ring.
 *
 * Writers on one CPU nest, so the memory is a stack: a record lies behind that of the writer
 * which it interrupted. A record for which there is no room left is lost, and counted; so is the
 * hit, by each trigger that it does not reach.
 *
 * etch_scratch_begin() and etch_scratch_end() handle the usual case themselves, in straight lines
 * and with few registers: no writer is interrupted, one instance records the event, the record
 * has to be tested, no task is left out and there is neither trigger nor context. The other usual
 * case is that of triggers of one instance, mostly a lone one, which does not record the event but
 * counts it, for one. For all others they jump to functions of their own.
 */
#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/instruction_pointer.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/topology.h>
#include <linux/tracepoint-defs.h>
#include <linux/unaligned.h>

#include "event/contexts.h"
#include "event/ended.h"
#include "event/rules.h"
#include "event/whose.h"
#include "event/write.h"

/* Bytes for each CPU: a record of a sub-buffer's size, and those of nested writers. */
#define ETCH_SCRATCH		32768

/* And more for programs, which read eight bytes wherever a number is. */
#define ETCH_SCRATCH_BEHIND	sizeof(u64)

/**
 * struct etch_frame - a record that is being made
 * @hit: the event that was hit, where its record is, and how many bytes that has
 * @mask: the instances that may want to record it
 * @lone: if @simple, the trigger, and @mask is its instance; or NULL
 * @callers: the instances whose triggers it may call
 * @unsure: of both, those that want it only if it is about a task which the record names
 * @at: where the record is, in bytes of the memory
 * @simple: it is a usual case and the outermost record, and the three before are not filled in
 */
struct etch_frame {
	struct etch_hit hit;
	u64 mask;
	struct etch_trigger *lone;
	u64 callers;
	u64 unsure;
	unsigned int at;
	bool simple;
};

/**
 * struct etch_scratch - this CPU's scratch memory
 * @memory: ETCH_SCRATCH bytes, and those behind; and for each entry of @stack a struct
 *	    etch_ended. NULL: there never was a rule
 * @depth: entries of @stack that are in use
 * @used: bytes of @memory that are, if @depth is not 0
 * @pad: puts @nest where a ring has it
 * @nest: ETCH_NEST_SCRATCH. A struct etch_write has this structure in place of a ring, of which
 *	  etch_write_end() reads nest alone
 * @stack: the records that are being made, outermost first
 */
struct etch_scratch {
	void *memory;
	unsigned int depth;
	unsigned int used;
	u64 pad[2];
	unsigned int nest;
	struct etch_frame stack[ETCH_RING_MAX_NEST];
};

static_assert(offsetof(struct etch_scratch, nest) == offsetof(struct etch_ring, nest));

static DEFINE_PER_CPU_ALIGNED(struct etch_scratch, etch_scratch) = {
	.nest = ETCH_NEST_SCRATCH,
};

/* ---- What the rules say ---- */

static __always_inline void etch_count_filtered(unsigned long bit)
{
	local_inc(&this_cpu_ptr(&etch_filtered)->by_bit[bit]);
}

static void etch_count_all_filtered(u64 mask)
{
	for (; mask; mask &= mask - 1)
		etch_count_filtered(__ffs(mask));
}

static __always_inline const struct etch_program *
etch_filter_of(const struct etch_rules *rules, unsigned long bit)
{
	return rcu_dereference_sched(rules->filters[bit]);
}

/* Of @mask, the instances whose filter rejects the hit whatever the record is. */
static u64 etch_rejected_early(const struct etch_rules *rules, u64 mask)
{
	u64 not = 0;

	for (; mask; mask &= mask - 1) {
		const struct etch_program *program = etch_filter_of(rules, __ffs(mask));

		if (program && program->early && etch_program_refuses(program))
			not |= mask & -mask;
	}
	return not;
}

/* Of @mask, the instances that do not want the current task's hits. */
static __always_inline u64 etch_whose_not(u64 mask)
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
static u64 etch_whose_not_other(const struct etch_frame *frame, const void *record)
{
	pid_t pid = get_unaligned((const pid_t *)(record + frame->hit.event->other));
	u64 mask = frame->unsure, not = 0;

	for (; mask; mask &= mask - 1) {
		const struct etch_whose *whose = rcu_dereference_sched(etch_whose[__ffs(mask)]);

		if (whose && !etch_whose_pid(whose, pid))
			not |= mask & -mask;
	}
	return not;
}

static void etch_call_triggers(const struct etch_rules *rules, u64 callers,
			       const struct etch_hit *hit, bool early)
{
	struct etch_trigger *trigger;

	list_for_each_entry_rcu(trigger, &rules->triggers, node, rcu_read_lock_sched_held()) {
		if (trigger->early != early || !(callers & trigger->mask))
			continue;
		if (!trigger->filter || etch_program_passes(trigger->filter, hit->record))
			trigger->hit(trigger, hit);
	}
}

/* The triggers that a hit without a record would have reached. */
static void etch_miss_triggers(const struct etch_rules *rules, u64 callers)
{
	struct etch_trigger *trigger;

	list_for_each_entry_rcu(trigger, &rules->triggers, node, rcu_read_lock_sched_held())
		if (callers & trigger->mask)
			atomic_long_inc(&trigger->missed);
}

/* ---- The beginning of a record ---- */

/*
 * Take an entry, and memory from @at on. A writer that interrupts this one between the two stores
 * takes the memory that this one is about to take, and has done with it when this one goes on.
 */
static __always_inline struct etch_frame *etch_scratch_push(struct etch_scratch *s,
							    unsigned int depth, unsigned int at,
							    unsigned int len)
{
	WRITE_ONCE(s->depth, depth + 1);
	WRITE_ONCE(s->used, at + ALIGN(len, sizeof(u64)));
	barrier();	/* from here on it takes the next entry, and other memory */
	return &s->stack[depth];
}

static __always_inline struct etch_write etch_scratch_write(struct etch_scratch *s, void *record,
							    const struct etch_event *event)
{
	etch_stamp(record, 0, event->word);
	return (struct etch_write) { .record = record, .ring = (struct etch_ring *)s };
}

/* Find the instances that want the hit, as far as that is known. False: there are none. */
static bool etch_frame_begin(struct etch_frame *frame, const struct etch_rules *rules, u64 mask)
{
	u64 recording = mask & READ_ONCE(rules->recording) & ~atomic64_read(&rules->off);
	u64 not = etch_whose_not(mask);

	if (frame->hit.event->other) {
		frame->unsure = not;
		not = 0;
	}
	frame->callers = mask & ~not;
	not |= etch_rejected_early(rules, recording & ~not);
	etch_count_all_filtered(recording & not);
	frame->mask = recording & ~not;
	return frame->mask || (frame->callers && !list_empty(&rules->triggers));
}

/*
 * Can the record of this hit be made in the ring at once? Its instance has contexts, and there is
 * nothing to be tested or called.
 */
static bool etch_is_direct(const struct etch_rules *rules, u64 mask)
{
	u64 plain = READ_ONCE(rules->recording) & ~READ_ONCE(rules->triggered) &
		    ~READ_ONCE(etch_whose_bits) & ~atomic64_read(&rules->off);

	return etch_is_one(mask) && mask & plain && !etch_filter_of(rules, __ffs(mask)) &&
	       rcu_access_pointer(etch_contexts[__ffs(mask)]);
}

/* All cases. */
static noinline struct etch_write etch_scratch_begin_any(unsigned long len,
							 const struct etch_event *event, u64 mask,
							 const struct etch_rules *rules)
{
	struct etch_scratch *s = this_cpu_ptr(&etch_scratch);
	unsigned int depth = READ_ONCE(s->depth);
	struct etch_frame frame = {
		.hit.event = event,
		.hit.len = len,
		.at = depth ? READ_ONCE(s->used) : 0,
	};

	if (mask & ETCH_OWN || etch_is_direct(rules, mask))
		return etch_contexts_begin(len, event, mask & ~ETCH_OWN, _RET_IP_);
	if (!etch_frame_begin(&frame, rules, mask))
		return (struct etch_write) {};
	if (frame.at + len <= ETCH_SCRATCH && depth < ARRAY_SIZE(s->stack)) {
		frame.hit.record = s->memory + frame.at;
		*etch_scratch_push(s, depth, frame.at, len) = frame;
		return etch_scratch_write(s, s->memory + frame.at, event);
	}
	for (mask = frame.mask; mask; mask &= mask - 1)
		etch_ring_lose(etch_this_ring(mask),
			       depth ? ETCH_LOST_NESTED : ETCH_LOST_TOO_BIG);
	etch_miss_triggers(rules, frame.callers);
	return (struct etch_write) {};
}

/*
 * All cases but the usual ones. One of them is quick: a single instance has the event enabled,
 * and it does not record the current task's events.
 */
static noinline struct etch_write etch_scratch_begin_unusual(unsigned long len,
							     const struct etch_event *event,
							     u64 mask,
							     const struct etch_rules *rules)
{
	const struct etch_whose *whose;
	unsigned long bit;

	/* An event about two tasks has to have its record first. */
	if (!etch_is_one(mask) || !(mask & READ_ONCE(etch_whose_bits)) || event->other)
		return etch_scratch_begin_any(len, event, mask, rules);
	bit = __ffs(mask);
	whose = rcu_dereference_sched(etch_whose[bit]);
	if (!whose || (etch_whose_has_pid(whose, current->pid) &&
		       (!whose->cgroup || etch_whose_current(whose))))
		return etch_scratch_begin_any(len, event, mask, rules);
	if (mask & READ_ONCE(rules->recording) & ~atomic64_read(&rules->off))
		etch_count_filtered(bit);
	return (struct etch_write) {};
}

/* The usual cases. */
static __always_inline struct etch_write
etch_scratch_begin_simple(unsigned long len, const struct etch_event *event, u64 mask,
			  struct etch_trigger *lone)
{
	struct etch_scratch *s = this_cpu_ptr(&etch_scratch);
	struct etch_frame *frame = etch_scratch_push(s, 0, 0, len);

	frame->hit.event = event;
	frame->hit.len = len;
	frame->mask = mask;
	frame->simple = true;
	frame->lone = lone;
	frame->hit.record = s->memory;
	return etch_scratch_write(s, s->memory, event);
}

static __always_inline bool etch_scratch_is_free(unsigned long len)
{
	return !this_cpu_read(etch_scratch.depth) && len <= ETCH_SCRATCH;
}

/* The first of them, but the filter may reject the hit now. */
static noinline struct etch_write etch_scratch_begin_perhaps(unsigned long len,
							     const struct etch_event *event,
							     u64 mask,
							     const struct etch_rules *rules)
{
	const struct etch_program *program = etch_filter_of(rules, __ffs(mask));

	if (unlikely(!etch_scratch_is_free(len)))
		return etch_scratch_begin_any(len, event, mask, rules);
	if (program && program->early && etch_program_refuses(program)) {
		etch_count_filtered(__ffs(mask));
		return (struct etch_write) {};
	}
	return etch_scratch_begin_simple(len, event, mask, NULL);
}

/* The filter's first test is enough to reject the hit. */
static __always_inline bool etch_scratch_rejects(const struct etch_rules *rules, u64 mask)
{
	unsigned long bit = __ffs(mask);
	const struct etch_program *program = etch_filter_of(rules, bit);

	if (!program || !etch_program_refuses_at_once(program))
		return false;
	etch_count_filtered(bit);
	return true;
}

/* Another usual case, or none. */
static noinline struct etch_write etch_scratch_begin_other(unsigned long len,
							   const struct etch_event *event,
							   u64 mask,
							   const struct etch_rules *rules)
{
	struct etch_trigger *lone = rcu_dereference_sched(rules->lone);

	if (lone && mask == READ_ONCE(lone->mask) && !(mask & READ_ONCE(etch_whose_bits)) &&
	    etch_scratch_is_free(len))
		return etch_scratch_begin_simple(len, event, mask, lone);
	return etch_scratch_begin_unusual(len, event, mask, rules);
}

/* The first usual case: @mask is rules->sole. */
static noinline struct etch_write etch_scratch_begin_sole(unsigned long len,
							  const struct etch_event *event,
							  u64 mask,
							  const struct etch_rules *rules)
{
	if (mask & READ_ONCE(rules->early)) {
		if (etch_scratch_rejects(rules, mask))
			return (struct etch_write) {};
		return etch_scratch_begin_perhaps(len, event, mask, rules);
	}
	if (unlikely(!etch_scratch_is_free(len)))
		return etch_scratch_begin_any(len, event, mask, rules);
	return etch_scratch_begin_simple(len, event, mask, NULL);
}

/**
 * etch_scratch_begin() - etch_write_begin_mask() for an event with rules
 * @len: as there
 * @event: as there
 * @mask: the instances for which the gate is open
 *
 * Context: as there.
 * Return: as there: NULL as the record also if the rules have rejected the hit.
 */
struct etch_write etch_scratch_begin(unsigned long len, const struct etch_event *event, u64 mask)
{
	const struct etch_rules *rules;

	/* (R) the gate before the rules: pairs with etch_rules_gate() */
	smp_rmb();
	rules = READ_ONCE(event->rules);
	if (unlikely(!rules))
		return etch_scratch_begin_any(len, event, mask, &etch_rules_none);
	if (mask != READ_ONCE(rules->sole) || unlikely(mask & READ_ONCE(etch_ruled_bits)))
		return etch_scratch_begin_other(len, event, mask, rules);
	return etch_scratch_begin_sole(len, event, mask, rules);
}

/* etch_scratch_begin_gate() for an event that never had rules: its instance has them for all. */
static noinline struct etch_write etch_scratch_begin_ruled(unsigned long len,
							   const struct etch_event *event)
{
	u64 mask = READ_ONCE(event->tp->wanted) & TRACEPOINT_INSTANCES;

	/* Since the stub has read the gate, the last of them may have gone. */
	if (unlikely(!mask))
		return (struct etch_write) {};
	return etch_scratch_begin_unusual(len, event, mask, &etch_rules_none);
}

/**
 * etch_scratch_begin_gate() - etch_write_begin() for an event with rules
 * @len: as there
 * @event: as there; its gate says that it has rules
 *
 * Context: as there.
 * Return: as etch_scratch_begin().
 */
struct etch_write etch_scratch_begin_gate(unsigned long len, const struct etch_event *event)
{
	const struct etch_rules *rules;
	u64 mask;

	/* (R) as in etch_scratch_begin() */
	smp_rmb();
	rules = READ_ONCE(event->rules);
	if (unlikely(!rules))
		return etch_scratch_begin_ruled(len, event);
	mask = READ_ONCE(rules->sole);
	/* Since the stub has read the gate, it may have closed: then the mask is 0. */
	if (!mask || unlikely(mask & READ_ONCE(etch_ruled_bits)))
		return etch_scratch_begin_other(len, event, READ_ONCE(rules->gate), rules);
	return etch_scratch_begin_sole(len, event, mask, rules);
}

/* What gates lead to, in place of a ring. */
struct etch_ring *etch_scratch_ring(int cpu)
{
	return (struct etch_ring *)per_cpu_ptr(&etch_scratch, cpu);
}

/* ---- The end of a record ---- */

/* Now there is a record: the instances that did not know whether they want it do. */
static void etch_frame_settle(struct etch_frame *frame)
{
	u64 not = etch_whose_not_other(frame, frame->hit.record);

	etch_count_all_filtered(frame->mask & not);
	frame->mask &= ~not;
	frame->callers &= ~not;
}

static void etch_scratch_store(unsigned int bit, const struct etch_hit *hit, unsigned long caller)
{
	const struct etch_contexts *contexts = rcu_dereference_sched(etch_contexts[bit]);
	struct etch_ring *ring = etch_this_ring(1ULL << bit);

	if (contexts)
		etch_contexts_copy(ring, contexts, hit->record, hit->len, caller);
	else
		etch_write_copy(ring, hit->record, hit->len);
}

/* The record goes to those whose filter it passes. */
static void etch_scratch_copy(const struct etch_rules *rules, u64 mask,
			      const struct etch_hit *hit, unsigned long caller)
{
	for (; mask; mask &= mask - 1) {
		unsigned long bit = __ffs(mask);
		const struct etch_program *program = etch_filter_of(rules, bit);

		if (!program || etch_program_passes(program, hit->record))
			etch_scratch_store(bit, hit, caller);
		else
			etch_count_filtered(bit);
	}
}

static __always_inline void etch_scratch_pop(struct etch_scratch *s, unsigned int depth)
{
	barrier();	/* up to here a writer that comes in between takes the next entry */
	if (depth)
		WRITE_ONCE(s->used, s->stack[depth].at);
	WRITE_ONCE(s->depth, depth);
}

static __always_inline struct etch_ended *etch_scratch_ended(const struct etch_scratch *s,
							     unsigned int depth)
{
	struct etch_ended *all = s->memory + ETCH_SCRATCH + ETCH_SCRATCH_BEHIND;

	return &all[depth];
}

/* From here on this hit's triggers say what it has ended. Returns what was there before. */
static __always_inline struct etch_ended *etch_ended_begin(struct etch_ended *ended)
{
	struct etch_ended *outer = this_cpu_read(etch_ended_now);

	ended->mask = 0;
	ended->max = 0;
	this_cpu_write(etch_ended_now, ended);
	return outer;
}

/* All cases. */
static noinline void etch_scratch_end_any(struct etch_scratch *s, unsigned int depth)
{
	struct etch_frame *frame = &s->stack[depth];
	struct etch_ended *outer = etch_ended_begin(etch_scratch_ended(s, depth));
	const struct etch_rules *rules = READ_ONCE(frame->hit.event->rules) ?: &etch_rules_none;
	bool triggers = !list_empty(&rules->triggers);

	if (frame->unsure)
		etch_frame_settle(frame);
	if (triggers)
		etch_call_triggers(rules, frame->callers, &frame->hit, true);
	etch_scratch_copy(rules, frame->mask, &frame->hit, _RET_IP_);
	if (triggers)
		etch_call_triggers(rules, frame->callers, &frame->hit, false);
	this_cpu_write(etch_ended_now, outer);
	etch_scratch_pop(s, depth);
}

/**
 * etch_scratch_call_all() - call all triggers of an instance that does not record the event
 * @all: stands for them
 * @hit: of the outermost record in this CPU's scratch memory
 *
 * Context: as the hit of a trigger.
 */
void etch_scratch_call_all(struct etch_trigger *all, const struct etch_hit *hit)
{
	const struct etch_rules *rules = container_of(all, struct etch_rules, all);
	u64 mask = container_of(hit, struct etch_frame, hit)->mask;
	struct etch_trigger *trigger;

	etch_ended_begin(etch_scratch_ended(this_cpu_ptr(&etch_scratch), 0));
	list_for_each_entry_rcu(trigger, &rules->triggers, node, rcu_read_lock_sched_held()) {
		/* Those of another instance have just been added. */
		if (unlikely(trigger->mask != mask))
			continue;
		if (!trigger->filter || etch_program_passes(trigger->filter, hit->record))
			trigger->hit(trigger, hit);
	}
	this_cpu_write(etch_ended_now, NULL);
}

/* A lone trigger. */
static __always_inline void etch_scratch_call(struct etch_scratch *s, struct etch_trigger *lone)
{
	lone->hit(lone, &s->stack->hit);
	etch_scratch_pop(s, 0);
}

static noinline void etch_scratch_end_lone_tested(struct etch_scratch *s)
{
	struct etch_trigger *lone = s->stack->lone;

	if (etch_program_passes(lone->filter, s->memory))
		return etch_scratch_call(s, lone);
	etch_scratch_pop(s, 0);
}

static noinline void etch_scratch_end_lone(struct etch_scratch *s)
{
	struct etch_trigger *lone = s->stack->lone;

	if (lone->filter)
		return etch_scratch_end_lone_tested(s);
	etch_scratch_call(s, lone);
}

/* The usual case: it is known to pass. */
static noinline void etch_scratch_end_passed(struct etch_scratch *s)
{
	const struct etch_frame *frame = s->stack;

	etch_write_copy(etch_this_ring(frame->mask), frame->hit.record, frame->hit.len);
	etch_scratch_pop(s, 0);
}

/* The usual case, but for a program that has tests of all kinds. */
static noinline void etch_scratch_end_tested(struct etch_scratch *s,
					     const struct etch_program *program)
{
	if (etch_program_run(program, s->memory, false))
		return etch_scratch_end_passed(s);
	etch_count_filtered(__ffs(s->stack->mask));
	etch_scratch_pop(s, 0);
}

/* The usual case, but for a program that is machine code. */
static noinline void etch_scratch_end_native(struct etch_scratch *s,
					     const struct etch_program *program)
{
	if (program->native(s->memory, NULL))
		return etch_scratch_end_passed(s);
	etch_count_filtered(__ffs(s->stack->mask));
	etch_scratch_pop(s, 0);
}

/**
 * etch_scratch_end() - etch_write_end() for the record that was last begun in scratch memory
 * @stand_in: of its struct etch_write
 *
 * Context: as there.
 */
void etch_scratch_end(struct etch_ring *stand_in)
{
	struct etch_scratch *s = (struct etch_scratch *)stand_in;
	unsigned int depth = READ_ONCE(s->depth);
	const struct etch_frame *frame = s->stack;
	const struct etch_program *program;
	unsigned long bit;

	if (unlikely(depth != 1 || !frame->simple))
		return etch_scratch_end_any(s, depth - 1);
	if (frame->lone)
		return etch_scratch_end_lone(s);
	bit = __ffs(frame->mask);
	program = etch_filter_of(READ_ONCE(frame->hit.event->rules), bit);
	if (!program)
		return etch_scratch_end_passed(s);
	if (program->plain) {
		if (etch_program_run(program, s->memory, true))
			return etch_scratch_end_passed(s);
	} else if (!etch_program_rejects_at_once(program, s->memory)) {
		if (program->native)
			return etch_scratch_end_native(s, program);
		return etch_scratch_end_tested(s, program);
	}
	etch_count_filtered(bit);
	etch_scratch_pop(s, 0);
}

/* ---- Control ---- */

/* The instances that may record it. */
static u64 etch_frame_recording(const struct etch_frame *frame)
{
	return frame->simple && frame->lone ? 0 : frame->mask;
}

/* The instances whose triggers it may call. */
static u64 etch_frame_calling(const struct etch_frame *frame)
{
	if (frame->simple)
		return frame->lone ? frame->mask : 0;
	return frame->callers;
}

/* Its writer is dead. */
static void etch_frame_abandon(const struct etch_frame *frame)
{
	const struct etch_rules *rules = READ_ONCE(frame->hit.event->rules) ?: &etch_rules_none;
	u64 mask;

	for (mask = etch_frame_recording(frame); mask; mask &= mask - 1)
		etch_ring_lose(etch_this_ring(mask), ETCH_LOST_NESTED);
	etch_miss_triggers(rules, etch_frame_calling(frame));
}

/**
 * etch_scratch_abandon() - forget the records of this CPU's writers, which are all dead
 *
 * They count as lost: nested, in the instances that may have wanted them, and as missed by the
 * triggers.
 *
 * Context: as etch_write_abandon().
 */
void etch_scratch_abandon(void)
{
	struct etch_scratch *s = this_cpu_ptr(&etch_scratch);
	unsigned int depth = READ_ONCE(s->depth), i;

	for (i = 0; i < depth; i++)
		etch_frame_abandon(&s->stack[i]);
	this_cpu_write(etch_ended_now, NULL);
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
	size_t bytes = ETCH_SCRATCH + ETCH_SCRATCH_BEHIND +
		       ETCH_RING_MAX_NEST * sizeof(struct etch_ended);
	int cpu;

	for_each_possible_cpu(cpu) {
		struct etch_scratch *s = per_cpu_ptr(&etch_scratch, cpu);

		if (!s->memory)
			s->memory = kzalloc_node(bytes, GFP_KERNEL, cpu_to_node(cpu));
		if (!s->memory)
			return -ENOMEM;
	}
	return 0;
}
