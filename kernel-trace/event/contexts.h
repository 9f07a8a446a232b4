/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_CONTEXTS_H
#define _KERNEL_ETCH_CONTEXTS_H

/*
 * Contexts: what an instance adds to each of its records, whatever the event.
 *
 *	struct etch_head	12 bytes, as ever
 *	the contexts		the same number of bytes in all records of the instance
 *	the payload		as in a record without contexts, but further back
 *
 * Serializers and printers work on a record that begins so many bytes later: to them, it is as
 * if the contexts had taken the place of its head. So an offset that a record has in it, that of
 * a __data_loc field, counts from there, and no event is compiled a second time.
 *
 * An instance with contexts has rules for all its events (rules.h). Where nothing has to be
 * tested, the record is made in the instance's ring; else it is copied there from scratch memory.
 * Then each instance gets its own contexts. Events that are written for one instance by the
 * framework itself pass no gate: their writers get the mask from etch_own_mask() (own.h).
 *
 * The contexts of an instance change only while its rings are off and empty.
 */

#include <linux/etch.h>
#include <linux/kref.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "event/counter.h"
#include "event/event.h"

#define ETCH_CONTEXTS_MAX	10
#define ETCH_COUNTERS_MAX	4	/* of perf's */
#define ETCH_CONTEXT_STACK	64	/* addresses that a stack can have */
#define ETCH_CONTEXT_DEPTH	16	/* and has, if the user does not say */

/**
 * enum etch_context_kind - the contexts that records can have
 * @ETCH_CONTEXT_FLAGS: interrupts and preemption: off, and how often
 * @ETCH_CONTEXT_PRIO: the priority of the task
 * @ETCH_CONTEXT_CGROUP: the number of its group in the v2 hierarchy
 * @ETCH_CONTEXT_KSTACK: the functions that called the event
 * @ETCH_CONTEXT_USTACK: the functions of the program that the task runs
 * @ETCH_CONTEXT_LATENCY: how long what the hit has ended took (ended.h)
 * @ETCH_CONTEXT_PERF: a counter of perf's; the one kind that records can have several of
 * @ETCH_CONTEXT_NR: how many
 */
enum etch_context_kind {
	ETCH_CONTEXT_FLAGS,
	ETCH_CONTEXT_PRIO,
	ETCH_CONTEXT_CGROUP,
	ETCH_CONTEXT_KSTACK,
	ETCH_CONTEXT_USTACK,
	ETCH_CONTEXT_LATENCY,
	ETCH_CONTEXT_PERF,
	ETCH_CONTEXT_NR,
};

/**
 * struct etch_context_of - one context of an instance
 * @kind: enum etch_context_kind
 * @depth: of a stack: addresses
 * @counter: of ETCH_CONTEXT_PERF: which of the set's counters
 * @offset: bytes from the start of the record
 */
struct etch_context_of {
	u8 kind;
	u8 depth;
	u8 counter;
	u16 offset;
};

/**
 * struct etch_contexts - the contexts of an instance
 * @ref: holds of the instance and of its readers
 * @rcu: frees it when no writer looks at it
 * @bit: of the instance
 * @size: bytes that they add to a record; a multiple of 4
 * @nr: how many
 * @nr_fields: how many fields these are
 * @of: they, in the order of their places
 * @nr_counters: how many counters
 * @counters: they, in the order of their places
 * @fields: descriptors of their fields, with offsets from the start of the record
 */
struct etch_contexts {
	struct kref ref;
	struct rcu_head rcu;
	int bit;
	u16 size;
	u8 nr;
	u8 nr_fields;
	u8 nr_counters;
	struct etch_context_of of[ETCH_CONTEXTS_MAX];
	struct etch_counter counters[ETCH_COUNTERS_MAX];
	struct etch_field fields[ETCH_CONTEXTS_MAX + 2];
};

/* By the instance's bit; NULL: it has none. Set in etch_contexts_set() alone. */
extern struct etch_contexts __rcu *etch_contexts[ETCH_BITS];

/* ---- Sets of contexts ---- */

struct etch_contexts *etch_contexts_alloc(void);
int etch_contexts_add(struct etch_contexts *c, enum etch_context_kind kind, unsigned int depth);
int etch_contexts_add_counter(struct etch_contexts *c, const struct etch_counter_spec *spec);
struct etch_contexts *etch_contexts_get(struct etch_contexts *c);
void etch_contexts_put(struct etch_contexts *c);

const char *etch_context_name(enum etch_context_kind kind);
bool etch_context_usable(enum etch_context_kind kind);

static inline bool etch_context_is_stack(enum etch_context_kind kind)
{
	return kind == ETCH_CONTEXT_KSTACK || kind == ETCH_CONTEXT_USTACK;
}

static inline bool etch_contexts_have(const struct etch_contexts *c, enum etch_context_kind kind)
{
	unsigned int i;

	for (i = 0; c && i < c->nr; i++)
		if (c->of[i].kind == kind)
			return true;
	return false;
}

/* The counter of a context; NULL if it is of another kind. */
static inline const struct etch_counter *etch_context_counter(const struct etch_contexts *c,
							      const struct etch_context_of *of)
{
	return of->kind == ETCH_CONTEXT_PERF ? &c->counters[of->counter] : NULL;
}

/* Bytes that an instance's contexts add to a record. */
static inline unsigned int etch_contexts_size(const struct etch_contexts *c)
{
	return c ? c->size : 0;
}

/* ---- Their counters: see counter.h ---- */

int etch_contexts_begin_counting(struct etch_contexts *c);
void etch_contexts_renew_counters(struct etch_contexts *c);
void etch_contexts_end_counting(struct etch_contexts *c);

/* ---- Writers ---- */

void etch_contexts_set(struct etch_recorder *rec, struct etch_contexts *c);

struct etch_write etch_contexts_begin(unsigned long len, const struct etch_event *event, u64 mask,
				      unsigned long caller);
void etch_contexts_abandon(void);
void etch_contexts_copy(struct etch_ring *ring, const struct etch_contexts *c,
			const struct etch_head *from, unsigned int len, unsigned long caller);

#endif /* _KERNEL_ETCH_CONTEXTS_H */
