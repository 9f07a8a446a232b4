// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of an event, and what its gate has to say of them: see rules.h.
 */
#include <linux/etch.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "event/rules.h"

DEFINE_PER_CPU(struct etch_filtered, etch_filtered);

u64 etch_ruled_bits __read_mostly;

/* Of an event that has none: it is here because its instance has rules for all events. */
struct etch_rules etch_rules_none = {
	.recording = U64_MAX,
	.triggers = LIST_HEAD_INIT(etch_rules_none.triggers),
};

/**
 * etch_rules_sort_out() - find out which usual case an event is
 * @rules: of the event; they have changed
 *
 * Context: process; holds etch_mutex.
 */
void etch_rules_sort_out(struct etch_rules *rules)
{
	u64 soft = rules->soft | atomic64_read(&rules->off);
	u64 simple = rules->recording & ~rules->triggered & ~soft, callers = 0;
	u64 gate = rules->recording | rules->triggered;
	struct etch_trigger *lone = NULL, *trigger;

	WRITE_ONCE(rules->gate, gate);
	WRITE_ONCE(rules->sole, is_power_of_2(gate) ? simple : 0);
	list_for_each_entry(trigger, &rules->triggers, node)
		callers |= trigger->mask;
	if (is_power_of_2(callers) && !(callers & (rules->recording | soft)))
		lone = list_is_singular(&rules->triggers) ?
		       list_first_entry(&rules->triggers, struct etch_trigger, node) :
		       &rules->all;
	/* A writer that has come for another mask finds that it differs, and goes the long way. */
	if (lone == &rules->all)
		WRITE_ONCE(rules->all.mask, callers);
	rcu_assign_pointer(rules->lone, lone);
}

/**
 * etch_event_enabled() - does an instance record an event, when the instance is on?
 * @rec: the instance's recorder
 * @event: the event
 *
 * Context: process; holds etch_mutex.
 * Return: true if so; triggers may change it at any time.
 */
bool etch_event_enabled(const struct etch_recorder *rec, const struct etch_event *event)
{
	u64 off = event->rules ? atomic64_read(&event->rules->off) : 0;

	return event->mask & ~off & 1ULL << rec->bit;
}

/**
 * etch_event_is_soft() - do triggers turn an event on and off in an instance?
 * @rec: the instance's recorder
 * @event: the event
 *
 * Context: process; holds etch_mutex.
 * Return: true if they do.
 */
bool etch_event_is_soft(const struct etch_recorder *rec, const struct etch_event *event)
{
	return event->rules && event->rules->soft & 1ULL << rec->bit;
}

/**
 * etch_rules_soft() - enable or disable an event that triggers turn on and off
 * @event: the event
 * @bit: of the instance
 * @on: enable it
 *
 * Context: process; holds etch_mutex.
 * Return: true if that is done; false: no trigger does, and the caller changes the gate.
 */
bool etch_rules_soft(struct etch_event *event, u64 bit, bool on)
{
	struct etch_rules *rules = event->rules;

	if (!rules)
		return false;
	if (on)
		atomic64_andnot(bit, &rules->off);
	else if (rules->soft & bit)
		atomic64_or(bit, &rules->off);
	return rules->soft & bit;
}

/**
 * etch_filter_get() - the filter that an instance has for an event
 * @rec: the instance's recorder
 * @event: the event
 *
 * Context: process; holds etch_mutex.
 * Return: the filter, or NULL: the instance records all hits.
 */
const struct etch_program *etch_filter_get(const struct etch_recorder *rec,
					   const struct etch_event *event)
{
	if (!event->rules)
		return NULL;
	return rcu_dereference_protected(event->rules->filters[rec->bit],
					 lockdep_is_held(&etch_mutex));
}

/**
 * etch_event_ends() - do hits of an event end latencies in an instance?
 * @rec: the instance's recorder
 * @event: the event
 *
 * Context: process; holds etch_mutex.
 * Return: the instance's bit, if it has a trigger for the event that finds them; else 0.
 */
unsigned int etch_event_ends(const struct etch_recorder *rec, const struct etch_event *event)
{
	const struct etch_trigger *trigger;

	if (!event->rules)
		return 0;
	lockdep_assert_held(&etch_mutex);
	list_for_each_entry(trigger, &event->rules->triggers, node)
		if (trigger->ends && trigger->bit == rec->bit)
			return rec->bit;
	return 0;
}

/**
 * etch_rules_gate() - what an event's gate has to be
 * @event: the event
 * @mask: the instances that have it enabled and are on
 *
 * Context: process; holds etch_mutex. The caller changes the gate to that at once.
 * Return: the instances for which the gate is to be open, and ETCH_RULES if it has rules.
 */
u64 etch_rules_gate(struct etch_event *event, u64 mask)
{
	struct etch_rules *rules = event->rules;
	u64 gate = mask, ruled = etch_ruled_bits;

	if (rules) {
		WRITE_ONCE(rules->recording, mask);
		etch_rules_sort_out(rules);
		gate |= rules->triggered;
		ruled |= rules->asked;
	}
	if (gate & ruled)
		gate |= ETCH_RULES;
	/* (W) the rules before the gate: pairs with etch_scratch_begin() */
	smp_wmb();
	return gate;
}

/**
 * etch_rules_unlink() - prepare the end of an event: its gate has rules no more
 * @event: the event
 *
 * Context: process; holds etch_mutex. The caller sets the gate.
 * Return: the gate was open for triggers.
 */
bool etch_rules_unlink(struct etch_event *event)
{
	struct etch_rules *rules = event->rules;
	struct etch_watch *watch, *next;
	bool triggered;

	if (!rules)
		return false;
	triggered = rules->triggered;
	rules->asked = 0;
	rules->triggered = 0;
	rules->soft = 0;
	list_for_each_entry_safe(watch, next, &rules->watches, node) {
		list_del(&watch->node);
		watch->gone(watch);
	}
	return triggered;
}

/**
 * etch_rules_drop() - free the rules of an event that goes
 * @event: nobody records it any more, and no writer is under way
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_rules_drop(struct etch_event *event)
{
	struct etch_rules *rules = event->rules;
	struct etch_trigger *trigger, *next;
	int bit;

	if (!rules)
		return;
	event->rules = NULL;
	list_for_each_entry_safe(trigger, next, &rules->triggers, node) {
		list_del(&trigger->node);
		trigger->gone(trigger);
	}
	for (bit = 0; bit < ETCH_BITS; bit++)
		etch_program_free(rcu_dereference_protected(rules->filters[bit], true));
	kfree(rules);
}
