// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts of records: see contexts.h.
 */
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/kref.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sprintf.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "event/context.h"
#include "event/contexts.h"
#include "event/counter.h"
#include "event/ended.h"
#include "event/stack.h"
#include "event/write.h"

struct etch_contexts __rcu *etch_contexts[ETCH_BITS] __read_mostly;

/* ---- The kinds ---- */

/**
 * struct etch_context_desc - what a context is made of
 * @name: as users write it
 * @usable: this kernel has it
 * @nr: fields in @fields
 * @fields: its fields, in order; their places follow
 */
struct etch_context_desc {
	const char *name;
	bool usable;
	u8 nr;
	struct etch_field fields[3];
};

#define ETCH_CONTEXT_NUMBER(_type, _name)				\
{									\
	.type = #_type,							\
	.name = "common_" #_name,					\
	.size = sizeof(_type),						\
	.elem_size = sizeof(_type),					\
	.align = ETCH_ALIGN(_type),					\
	.kind = ETCH_FIELD_FIXED,					\
	.is_signed = is_signed_type(_type),				\
}

/* As many addresses as the user wants. */
#define ETCH_CONTEXT_ADDRESSES(_name)					\
{									\
	.type = "unsigned long[]",					\
	.name = "common_" #_name,					\
	.elem_size = sizeof(long),					\
	.align = ETCH_ALIGN(long),					\
	.kind = ETCH_FIELD_ARRAY,					\
	.is_pointer = true,						\
}

static const struct etch_context_desc etch_context_descs[] = {
	[ETCH_CONTEXT_FLAGS] = { "flags", true, 3, {
		ETCH_CONTEXT_NUMBER(unsigned char, flags),
		ETCH_CONTEXT_NUMBER(unsigned char, preempt_count),
		ETCH_CONTEXT_NUMBER(unsigned short, migrate_disable),
	} },
	[ETCH_CONTEXT_PRIO] = { "prio", true, 1, {
		ETCH_CONTEXT_NUMBER(int, prio),
	} },
	[ETCH_CONTEXT_CGROUP] = { "cgroup", IS_ENABLED(CONFIG_CGROUPS), 1, {
		ETCH_CONTEXT_NUMBER(unsigned long, cgroup),
	} },
	[ETCH_CONTEXT_KSTACK] = { "kstack", IS_ENABLED(CONFIG_STACKTRACE), 1, {
		ETCH_CONTEXT_ADDRESSES(kstack),
	} },
	[ETCH_CONTEXT_USTACK] = { "ustack", IS_ENABLED(CONFIG_STACKTRACE) &&
					    IS_ENABLED(CONFIG_USER_STACKTRACE_SUPPORT), 1, {
		ETCH_CONTEXT_ADDRESSES(ustack),
	} },
	[ETCH_CONTEXT_LATENCY] = { "latency", true, 1, {
		ETCH_CONTEXT_NUMBER(u64, latency),
	} },
	/* The name is the counter's. */
	[ETCH_CONTEXT_PERF] = { "perf", IS_ENABLED(CONFIG_PERF_EVENTS), 1, {
		ETCH_CONTEXT_NUMBER(u64, perf),
	} },
};

static_assert(ARRAY_SIZE(etch_context_descs) == ETCH_CONTEXT_NR);

/**
 * etch_context_name() - what users call a context
 * @kind: the context
 *
 * Context: any.
 * Return: the name, without the number of addresses that a stack has.
 */
const char *etch_context_name(enum etch_context_kind kind)
{
	return etch_context_descs[kind].name;
}

/**
 * etch_context_usable() - has this kernel such a context?
 * @kind: the context
 *
 * Context: any.
 * Return: true if it has.
 */
bool etch_context_usable(enum etch_context_kind kind)
{
	return etch_context_descs[kind].usable;
}

/* ---- Sets ---- */

/**
 * etch_contexts_alloc() - make a set of contexts
 *
 * Context: process, may sleep.
 * Return: an empty one, for etch_contexts_put(); NULL if there is no memory.
 */
struct etch_contexts *etch_contexts_alloc(void)
{
	struct etch_contexts *c = kzalloc(sizeof(*c), GFP_KERNEL);

	if (c)
		kref_init(&c->ref);
	return c;
}

/**
 * etch_contexts_add() - add a context to a set
 * @c: the set; no instance has it yet
 * @kind: the context; usable
 * @depth: of a stack, how many addresses: 1 to ETCH_CONTEXT_STACK; else 0
 *
 * Context: process.
 * Return: 0; -EEXIST if it is there already; -ENOSPC if there are as many as can be.
 */
int etch_contexts_add(struct etch_contexts *c, enum etch_context_kind kind, unsigned int depth)
{
	const struct etch_context_desc *desc = &etch_context_descs[kind];
	unsigned int i, at = sizeof(struct etch_head) + c->size;

	if (kind != ETCH_CONTEXT_PERF && etch_contexts_have(c, kind))
		return -EEXIST;
	if (c->nr == ARRAY_SIZE(c->of) || c->nr_fields + desc->nr > ARRAY_SIZE(c->fields))
		return -ENOSPC;
	c->of[c->nr++] = (struct etch_context_of) {
		.kind = kind,
		.depth = depth,
		.offset = at,
	};
	for (i = 0; i < desc->nr; i++) {
		struct etch_field *field = &c->fields[c->nr_fields++];

		*field = desc->fields[i];
		if (depth)
			field->size = depth * field->elem_size;
		field->offset = at;
		at += field->size;
	}
	c->size = at - sizeof(struct etch_head);
	return 0;
}

/**
 * etch_contexts_add_counter() - add a counter of perf's to a set
 * @c: the set; no instance has it yet
 * @spec: what it counts
 *
 * Context: process.
 * Return: 0; -ENOSPC if there are as many as can be.
 */
int etch_contexts_add_counter(struct etch_contexts *c, const struct etch_counter_spec *spec)
{
	struct etch_counter *counter = &c->counters[c->nr_counters];
	int ret;

	if (c->nr_counters == ARRAY_SIZE(c->counters))
		return -ENOSPC;
	ret = etch_contexts_add(c, ETCH_CONTEXT_PERF, 0);
	if (ret)
		return ret;
	counter->spec = *spec;
	snprintf(counter->field, sizeof(counter->field), "common_perf_%s", spec->name);
	strreplace(counter->field, '-', '_');
	c->of[c->nr - 1].counter = c->nr_counters++;
	c->fields[c->nr_fields - 1].name = counter->field;
	return 0;
}

/**
 * etch_contexts_get() - keep a set
 * @c: the set; may be NULL
 *
 * Context: any.
 * Return: @c, for etch_contexts_put().
 */
struct etch_contexts *etch_contexts_get(struct etch_contexts *c)
{
	if (c)
		kref_get(&c->ref);
	return c;
}

static void etch_contexts_release(struct kref *ref)
{
	kfree_rcu(container_of(ref, struct etch_contexts, ref), rcu);
}

/**
 * etch_contexts_put() - do not keep a set any longer
 * @c: the set; may be NULL
 *
 * Context: any but NMI. RCU readers may still look at it.
 */
void etch_contexts_put(struct etch_contexts *c)
{
	if (c)
		kref_put(&c->ref, etch_contexts_release);
}

/**
 * etch_contexts_begin_counting() - begin the counters of a set
 * @c: the set; may be NULL
 *
 * Context: as etch_counter_begin().
 * Return: 0, for etch_contexts_end_counting(); or an errno of etch_counter_begin(), and no
 * counter is begun.
 */
int etch_contexts_begin_counting(struct etch_contexts *c)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; c && i < c->nr_counters && !ret; i++)
		ret = etch_counter_begin(&c->counters[i]);
	if (ret)
		etch_contexts_end_counting(c);
	return ret;
}

/**
 * etch_contexts_renew_counters() - count on CPUs that have come, too
 * @c: the set; may be NULL
 *
 * Context: as etch_counter_renew().
 */
void etch_contexts_renew_counters(struct etch_contexts *c)
{
	unsigned int i;

	for (i = 0; c && i < c->nr_counters; i++)
		etch_counter_renew(&c->counters[i]);
}

/**
 * etch_contexts_end_counting() - end the counters of a set
 * @c: the set, which no instance has; may be NULL. What readers keep of it, they do not count
 *
 * Context: as etch_counter_end().
 */
void etch_contexts_end_counting(struct etch_contexts *c)
{
	unsigned int i;

	for (i = 0; c && i < c->nr_counters; i++)
		etch_counter_end(&c->counters[i]);
}

/**
 * etch_contexts_set() - have an instance's writers use other contexts
 * @rec: the instance's recorder
 * @c: the contexts, which the caller keeps; NULL: none
 *
 * Context: process, may sleep; holds etch_mutex; etch_contexts_prepare() has returned 0 and a
 * grace period is over since. The instance's rings are off, and stay off until this has returned.
 */
void etch_contexts_set(struct etch_recorder *rec, struct etch_contexts *c)
{
	if (c)
		c->bit = rec->bit;
	rcu_assign_pointer(etch_contexts[rec->bit], c);
	/* No writer that found the ones before comes to a ring that is on again. */
	synchronize_rcu();
}

/* ---- Writers ---- */

#if defined(CONFIG_STACKTRACE) && defined(CONFIG_USER_STACKTRACE_SUPPORT)

/* Reading user memory may fault, and that is an event, which would have a stack again. */
static DEFINE_PER_CPU(bool, etch_in_ustack);

static unsigned int etch_ustack_save(unsigned long *callers, unsigned int max)
{
	unsigned int nr;

	if (in_nmi() || !current->mm || this_cpu_read(etch_in_ustack))
		return 0;
	this_cpu_write(etch_in_ustack, true);
	nr = stack_trace_save_user(callers, max);
	this_cpu_write(etch_in_ustack, false);
	return nr;
}

static void etch_ustack_abandon(void)
{
	this_cpu_write(etch_in_ustack, false);
}

#else

static unsigned int etch_ustack_save(unsigned long *callers, unsigned int max)
{
	return 0;
}

static void etch_ustack_abandon(void)
{
}

#endif

/**
 * etch_contexts_abandon() - forget the contexts that this CPU's dead writers were storing
 *
 * Context: as etch_write_abandon().
 */
void etch_contexts_abandon(void)
{
	etch_ustack_abandon();
}

static void etch_context_put_stack(const struct etch_context_of *of, void *at,
				   unsigned long caller)
{
	unsigned long callers[ETCH_CONTEXT_STACK];
	unsigned int nr = of->kind == ETCH_CONTEXT_KSTACK ?
			  etch_stack_save(callers, of->depth, caller) :
			  etch_ustack_save(callers, of->depth);

	memcpy(at, callers, nr * sizeof(*callers));
	memset(at + nr * sizeof(*callers), 0, (of->depth - nr) * sizeof(*callers));
}

static void etch_context_put_flags(void *at)
{
	struct {
		u8 flags;
		u8 preempt_count;
		u16 migrate_disable;
	} *flags = at;

	flags->flags = etch_context_flags();
	flags->preempt_count = etch_context_preempt_count();
	flags->migrate_disable = etch_context_migrate_disable();
}

/* A context's place is aligned to 4 bytes. */
static void etch_context_put_number(void *at, u64 number)
{
	memcpy(at, &number, sizeof(number));
}

static void etch_context_put(const struct etch_contexts *c, const struct etch_context_of *of,
			     void *at, unsigned long caller, u64 latency)
{
	switch (of->kind) {
	case ETCH_CONTEXT_FLAGS:
		return etch_context_put_flags(at);
	case ETCH_CONTEXT_PRIO:
		*(s32 *)at = current->prio;
		return;
	case ETCH_CONTEXT_CGROUP:
		return etch_context_put_number(at, etch_context_cgroup());
	case ETCH_CONTEXT_LATENCY:
		return etch_context_put_number(at, latency);
	case ETCH_CONTEXT_PERF:
		return etch_context_put_number(at, etch_counter_read(&c->counters[of->counter]));
	default:
		return etch_context_put_stack(of, at, caller);
	}
}

static void etch_contexts_fill(const struct etch_contexts *c, void *record, unsigned long caller,
			       u64 latency)
{
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		etch_context_put(c, &c->of[i], record + c->of[i].offset, caller, latency);
}

/**
 * etch_contexts_begin() - etch_write_begin() for a record with contexts, in its ring
 * @len: as there, without contexts
 * @event: as there
 * @mask: as there, of one instance
 * @caller: the address in the serializer to which etch_write_begin() returns
 *
 * Context: as there.
 * Return: as there. The record begins behind the contexts, as if they were its head.
 */
struct etch_write etch_contexts_begin(unsigned long len, const struct etch_event *event, u64 mask,
				      unsigned long caller)
{
	const struct etch_contexts *c = rcu_dereference_sched(etch_contexts[__ffs(mask)]);
	unsigned int more = etch_contexts_size(c);
	struct etch_write w = { .ring = etch_this_ring(mask) };
	void *record;
	u64 time;

	record = etch_reserve(w.ring, len + more, &time);
	if (!record)
		return w;
	etch_stamp(record, time, event->word);
	if (c)
		etch_contexts_fill(c, record, caller, 0);
	w.record = record + more;
	return w;
}

/**
 * etch_contexts_copy() - store a record again, with contexts and with a time of this ring
 * @ring: where
 * @c: the contexts of that ring's instance
 * @from: the record, complete but for its time, and without contexts
 * @len: its bytes
 * @caller: as for etch_contexts_begin()
 *
 * Context: as etch_write_end().
 */
void etch_contexts_copy(struct etch_ring *ring, const struct etch_contexts *c,
			const struct etch_head *from, unsigned int len, unsigned long caller)
{
	struct etch_head *head;
	u64 time, latency = 0;

	head = etch_reserve(ring, len + c->size, &time);
	if (!head)
		return;
	head->word = (from->word & ~ETCH_TIME_MASK) | (time & ETCH_TIME_MASK);
	head->pid = from->pid;
	etch_ended_latency(c->bit, &latency);
	etch_contexts_fill(c, head, caller, latency);
	memcpy((void *)(head + 1) + c->size, from + 1, len - sizeof(*from));
	etch_ring_commit(ring);
}
