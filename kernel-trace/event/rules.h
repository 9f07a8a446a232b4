/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_RULES_H
#define _KERNEL_ETCH_RULES_H

/*
 * The rules of an event: which of its hits each instance records, and what else a hit does.
 *
 * A filter is a program that an instance has for an event: the instance records the hits that
 * pass it. A trigger is a function that is called for each hit, or for those that pass the
 * trigger's own filter, whether the instance records the event or not.
 *
 * The record of an event with rules is made in this CPU's scratch memory (scratch.c), tested
 * there, and copied to the instances whose filter it passes: before that neither a clock is
 * read nor room reserved. The event's gate says that it has rules; all other events pay nothing
 * for them.
 *
 * SETTING RULES
 *
 * The caller prepares each event, flushes the gates once, and then sets what cannot fail:
 *
 *	etch_rules_prepare()	the event's gate will lead to the rules of this instance
 *	etch_rules_flush()	now it does. Or it failed: etch_rules_forget()
 *	etch_filter_set(), etch_trigger_add()
 *
 * and takes them away with
 *
 *	etch_filter_set(NULL), etch_trigger_remove()
 *	etch_rules_forget()	the gate leads there no more, if this was the instance's last
 *	etch_rules_flush()
 *	synchronize_rcu()	writers may still run the old filter or trigger until this returns
 *
 * All of it under etch_mutex. Between two flushes an event is prepared or forgotten once.
 *
 * EVENTS THAT TRIGGERS TURN ON AND OFF
 *
 * A trigger of one event may turn another event on and off in its instance. A hit can open no
 * gate. So the other event's gate is opened beforehand, by etch_soft_begin(), and leads to the
 * rules, where a bit says whether the instance records the event. etch_soft_turn() changes the
 * bit. As long as that lasts, users who enable or disable the event change the bit, too.
 * etch_soft_end() leaves the event as it is then. The caller of the first one watches the event,
 * because it may go with its module: then that is the end, too.
 */

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include <asm/local.h>

#include "event/event.h"
#include "event/program.h"

/* In masks of instances: the event has rules. In a stub's mask it may be bit 0. */
#define ETCH_RULES		BIT_ULL(63)
#define ETCH_RULES_ANY		(ETCH_RULES | 1)

/*
 * In the mask of a writer that has the bit of one instance: the record is that instance's own. It
 * passes no filter, and calls no trigger. Comes with ETCH_RULES.
 */
#define ETCH_OWN		BIT_ULL(62)

/**
 * struct etch_hit - a hit of an event, as a trigger sees it
 * @event: the event
 * @record: complete but for its time, in memory of this CPU; until the trigger returns
 * @len: its bytes, head included
 */
struct etch_hit {
	const struct etch_event *event;
	const struct etch_head *record;
	unsigned int len;
};

/**
 * struct etch_trigger - what a hit of an event does, besides being recorded
 * @hit: called for each hit that passes @filter. Context: any, NMI included, in the task and on
 *	 the CPU that hit the event, preemption disabled: it must not block, allocate, or take
 *	 a lock that a hit may interrupt
 * @gone: called when the event goes, which its module does: nobody calls @hit any more. The
 *	  trigger is in no list then, and its owner frees it. Under etch_mutex
 * @filter: the hits for which @hit is called; NULL: all. The trigger's owner frees it
 * @bit: of the instance that has the trigger
 * @mask: the same as a mask; set when the trigger is added
 * @early: @hit is called before the hit is recorded, not after
 * @ends: @hit finds the latencies that the instance's filter and its other triggers look at
 *	  (ended.h): it is called before these. Such a trigger is also @early
 * @missed: hits for which @hit could not be called, because there was no scratch memory to make
 *	    their records in; @filter may have rejected some of them
 * @node: in the event's rules
 */
struct etch_trigger {
	void (*hit)(struct etch_trigger *trigger, const struct etch_hit *hit);
	void (*gone)(struct etch_trigger *trigger);
	struct etch_program *filter;
	int bit;
	bool early;
	bool ends;
	u64 mask;
	atomic_long_t missed;
	struct list_head node;
};

/**
 * struct etch_watch - tells that an event goes
 * @gone: called when the event begins to go, and is in no list then. Writers may still be behind
 *	  its gate: they may be until a grace period is over. Under etch_mutex
 * @node: in the event's rules
 */
struct etch_watch {
	void (*gone)(struct etch_watch *watch);
	struct list_head node;
};

/**
 * struct etch_rules - the rules of an event
 * @filters: by bit; NULL: the instance records all hits. They come first, and so an index is all
 *	     that it takes to find one
 * @recording: the instances that have the event enabled and are on, by bit
 * @asked: the instances for which the gate leads here
 * @triggered: of these, those for which it is open even if they do not record the event
 * @early: the instances whose filter may reject a hit before there is a record
 * @gate: the instances for which the gate is open
 * @sole: the only one of these, if it records the event and has no trigger, nor is in @soft; else 0
 * @lone: the only trigger, if its instance does not record the event; @all, if there are several,
 *	  all of one such instance; else NULL
 * @all: calls all triggers of the instance of its @mask
 * @soft: the instances where triggers turn the event on and off; they have it enabled
 * @off: of the instances that have it enabled, those that do not record it
 * @triggers: of all instances: those that end latencies, the other early ones, and the rest, each
 *	      in the order in which they were added
 * @watches: of those who want to know when the event goes; writers do not read it
 *
 * An event that once had rules keeps this structure. Writers read all of it, at any time.
 */
struct etch_rules {
	struct etch_program __rcu *filters[ETCH_BITS];
	u64 recording;
	u64 asked;
	u64 triggered;
	u64 early;
	u64 gate;
	u64 sole;
	struct etch_trigger __rcu *lone;
	struct etch_trigger all;
	u64 soft;
	atomic64_t off;
	struct list_head triggers;
	struct list_head watches;
};

extern struct etch_rules etch_rules_none;

/*
 * By bit, the instances that have rules for all their events: their records have contexts
 * (contexts.h), or some tasks are left out (whose.h).
 */
extern u64 etch_ruled_bits;

/* Hits that a filter kept from an instance, by its bit. This CPU's writers count. */
struct etch_filtered {
	local_t by_bit[ETCH_BITS];
};

DECLARE_PER_CPU(struct etch_filtered, etch_filtered);

void etch_rules_sort_out(struct etch_rules *rules);
unsigned int etch_event_ends(const struct etch_recorder *rec, const struct etch_event *event);
const struct etch_program *etch_filter_get(const struct etch_recorder *rec,
					   const struct etch_event *event);

/**
 * etch_soft_turn() - turn an event on or off in an instance
 * @event: the event
 * @bit: the instance's, between etch_soft_begin() and etch_soft_end()
 * @on: record it
 *
 * Hits from now on go by it, on all CPUs.
 *
 * Context: any, NMI included; an RCU reader.
 * Return: true if it was the other way round.
 */
static inline bool etch_soft_turn(const struct etch_event *event, int bit, bool on)
{
	atomic64_t *off = &event->rules->off;
	u64 mask = 1ULL << bit;

	if (!(atomic64_read(off) & mask) == on)
		return false;
	if (on)
		return atomic64_fetch_andnot(mask, off) & mask;
	return !(atomic64_fetch_or(mask, off) & mask);
}

/* Programs write their events' records past all rules. NULL stands for a folder of several. */
static inline bool etch_event_has_rules(const struct etch_event *event)
{
	return !event || !event->user;
}

/* ---- rules_set.c ---- */

int etch_rules_prepare(struct etch_recorder *rec, struct etch_event *event, bool trigger);
void etch_rules_forget(struct etch_recorder *rec, struct etch_event *event);
int etch_rules_flush(void);

struct etch_program *etch_filter_set(struct etch_recorder *rec, struct etch_event *event,
				     struct etch_program *program);
void etch_trigger_add(struct etch_event *event, struct etch_trigger *trigger);
void etch_trigger_remove(struct etch_trigger *trigger);

int etch_soft_begin(struct etch_recorder *rec, struct etch_event *event);
void etch_soft_watch(struct etch_event *event, struct etch_watch *watch);
void etch_soft_end(struct etch_recorder *rec, struct etch_event *event);

int etch_contexts_prepare(struct etch_recorder *rec);
void etch_contexts_forget(struct etch_recorder *rec);

/* ---- scratch.c ---- */

int etch_scratch_make(void);
void etch_scratch_call_all(struct etch_trigger *all, const struct etch_hit *hit);

#endif /* _KERNEL_ETCH_RULES_H */
