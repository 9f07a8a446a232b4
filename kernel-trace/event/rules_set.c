// SPDX-License-Identifier: GPL-2.0
/*
 * Setting the rules of events, and taking them away: see rules.h, whose.h and contexts.h.
 *
 * An event gets its struct etch_rules with its first rule and keeps it, so that a writer who
 * comes through a gate with rules always finds them.
 */
#include <linux/etch.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "event/rules.h"
#include "event/whose.h"

static u64 etch_bit(const struct etch_recorder *rec)
{
	return 1ULL << rec->bit;
}

static int etch_rules_make(struct etch_event *event)
{
	struct etch_rules *rules;

	if (event->rules)
		return 0;
	rules = kzalloc(sizeof(*rules), GFP_KERNEL);
	if (!rules)
		return -ENOMEM;
	INIT_LIST_HEAD(&rules->triggers);
	INIT_LIST_HEAD(&rules->watches);
	rules->recording = etch_gate_instances(event);
	rules->all.hit = etch_scratch_call_all;
	/* Writers look here once the gate leads them: etch_rules_gate() has the barrier. */
	WRITE_ONCE(event->rules, rules);
	return 0;
}

/**
 * etch_rules_prepare() - have an event's gate lead to the rules of an instance
 * @rec: the instance's recorder
 * @event: the event
 * @trigger: open the gate even if the instance does not record the event
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, and etch_rules_flush() makes it so; or a negative errno, for etch_rules_forget().
 */
int etch_rules_prepare(struct etch_recorder *rec, struct etch_event *event, bool trigger)
{
	struct etch_rules *rules;
	u64 asked, triggered;
	int ret;

	lockdep_assert_held(&etch_mutex);
	/* Its records do not pass here. */
	if (event->user)
		return -EOPNOTSUPP;
	ret = etch_scratch_make() ?: etch_rules_make(event);
	if (ret)
		return ret;
	rules = event->rules;
	asked = rules->asked | etch_bit(rec);
	triggered = trigger ? rules->triggered | etch_bit(rec) : rules->triggered;
	if (asked == rules->asked && triggered == rules->triggered)
		return 0;
	rules->asked = asked;
	rules->triggered = triggered;
	return etch_gate_follow_rules(event);
}

/* What the rules that an instance still has for an event do not need. True: something. */
static bool etch_rules_lessen(struct etch_recorder *rec, struct etch_event *event)
{
	struct etch_rules *rules = event->rules;
	u64 asked = rules->asked, triggered = rules->triggered;
	struct etch_trigger *other;
	bool trigger = false;

	list_for_each_entry(other, &rules->triggers, node)
		trigger |= other->bit == rec->bit;
	if (!trigger)
		rules->triggered &= ~etch_bit(rec);
	if (!trigger && !etch_filter_get(rec, event) && !etch_event_is_soft(rec, event))
		rules->asked &= ~etch_bit(rec);
	return asked != rules->asked || triggered != rules->triggered;
}

/**
 * etch_rules_forget() - let an event's gate lead no more to the rules of an instance
 * @rec: the instance's recorder
 * @event: the event. If the instance still has rules for it, only what these do not need is
 *	   forgotten
 *
 * If the gate cannot be changed, hits still come this way, and find no rules.
 *
 * Context: process, may sleep; holds etch_mutex. etch_rules_flush() makes it so.
 */
void etch_rules_forget(struct etch_recorder *rec, struct etch_event *event)
{
	lockdep_assert_held(&etch_mutex);
	if (!event->rules)
		return;
	etch_rules_sort_out(event->rules);
	if (etch_rules_lessen(rec, event))
		etch_gate_follow_rules(event);
}

/**
 * etch_rules_flush() - change the gates that etch_rules_prepare() and _forget() asked for
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; or a negative errno, and some of the gates did not change.
 */
int etch_rules_flush(void)
{
	return etch_gates_flush();
}

/* ---- Filters ---- */

/**
 * etch_filter_set() - have an instance record only what passes
 * @rec: the instance's recorder
 * @event: the event; prepared, if @program is not NULL
 * @program: the filter, which goes to the event; NULL: all hits pass
 *
 * The event may be off: then the filter holds from when it is on.
 *
 * Context: process; holds etch_mutex.
 * Return: the filter before, which the caller frees after a grace period, or NULL.
 */
struct etch_program *etch_filter_set(struct etch_recorder *rec, struct etch_event *event,
				     struct etch_program *program)
{
	struct etch_rules *rules = event->rules;
	u64 early;

	if (!rules)
		return NULL;
	early = program && program->early ? rules->early | etch_bit(rec) :
					    rules->early & ~etch_bit(rec);
	WRITE_ONCE(rules->early, early);
	return rcu_replace_pointer(rules->filters[rec->bit], program,
				   lockdep_is_held(&etch_mutex));
}

/* ---- Triggers ---- */

/* Those with a lower number are called before. */
static int etch_trigger_turn(const struct etch_trigger *trigger)
{
	if (trigger->ends)
		return 0;
	return trigger->early ? 1 : 2;
}

/**
 * etch_trigger_add() - call a trigger from now on
 * @event: the event whose hits call it; prepared for triggers
 * @trigger: the trigger; its caller keeps it
 *
 * Context: process; holds etch_mutex.
 */
void etch_trigger_add(struct etch_event *event, struct etch_trigger *trigger)
{
	struct list_head *before = &event->rules->triggers;
	struct etch_trigger *other;

	lockdep_assert_held(&etch_mutex);
	trigger->mask = 1ULL << trigger->bit;
	list_for_each_entry(other, &event->rules->triggers, node) {
		if (etch_trigger_turn(other) <= etch_trigger_turn(trigger))
			continue;
		before = &other->node;
		break;
	}
	list_add_tail_rcu(&trigger->node, before);
	etch_rules_sort_out(event->rules);
}

/**
 * etch_trigger_remove() - call a trigger no more
 * @trigger: the trigger; writers may still be in it until a grace period is over
 *
 * The caller goes on with etch_rules_forget().
 *
 * Context: process; holds etch_mutex.
 */
void etch_trigger_remove(struct etch_trigger *trigger)
{
	lockdep_assert_held(&etch_mutex);
	list_del_rcu(&trigger->node);
}

/* ---- Events that triggers turn on and off ---- */

/**
 * etch_soft_begin() - let triggers turn an event on and off in an instance
 * @rec: the instance's recorder
 * @event: the event, which stays as it is
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, also if they do already; or a negative errno, and nothing has changed.
 */
int etch_soft_begin(struct etch_recorder *rec, struct etch_event *event)
{
	u64 bit = etch_bit(rec);
	bool open = event->mask & bit;
	int ret, flushed;

	lockdep_assert_held(&etch_mutex);
	ret = etch_scratch_make() ?: etch_rules_make(event);
	if (ret || event->rules->soft & bit)
		return ret;
	if (!open)
		atomic64_or(bit, &event->rules->off);
	event->rules->soft |= bit;
	event->rules->asked |= bit;
	ret = open ? etch_gate_follow_rules(event) : etch_event_open(rec, event, true);
	flushed = etch_gates_flush();
	ret = ret ?: flushed;
	if (ret)
		etch_soft_end(rec, event);
	return ret;
}

/**
 * etch_soft_watch() - have a function called when an event goes
 * @event: the event, after etch_soft_begin()
 * @watch: has the function; its caller keeps it, and takes it out of the list by list_del()
 *
 * Context: process; holds etch_mutex.
 */
void etch_soft_watch(struct etch_event *event, struct etch_watch *watch)
{
	lockdep_assert_held(&etch_mutex);
	list_add(&watch->node, &event->rules->watches);
}

/**
 * etch_soft_end() - let triggers turn an event on and off no more
 * @rec: the instance's recorder
 * @event: the event, which stays on or off, as it is now
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_soft_end(struct etch_recorder *rec, struct etch_event *event)
{
	struct etch_rules *rules = event->rules;
	u64 bit = etch_bit(rec);

	lockdep_assert_held(&etch_mutex);
	if (!rules || !(rules->soft & bit))
		return;
	rules->soft &= ~bit;
	if (!etch_event_enabled(rec, event)) {
		etch_event_open(rec, event, false);
		etch_gates_flush();
		/* If the gate stays open all the same, nothing is recorded behind it. */
		if (!(event->mask & bit))
			atomic64_andnot(bit, &rules->off);
	}
	etch_rules_lessen(rec, event);
	etch_gate_follow_rules(event);
	etch_gates_flush();
}

/* ---- Rules for all events of an instance ---- */

/* Instances whose records have contexts, or are about to. Under etch_mutex. */
static u64 etch_contexts_bits;

static void etch_ruled_update(void)
{
	WRITE_ONCE(etch_ruled_bits, etch_whose_bits | etch_contexts_bits);
}

static void etch_whose_put(struct etch_recorder *rec, struct etch_whose *whose)
{
	u64 bit = etch_bit(rec);

	rcu_assign_pointer(etch_whose[rec->bit], whose);
	WRITE_ONCE(etch_whose_bits, etch_whose_restricts(whose) ? etch_whose_bits | bit :
								  etch_whose_bits & ~bit);
	etch_ruled_update();
}

/**
 * etch_whose_set() - choose the tasks whose events an instance records
 * @rec: the instance's recorder
 * @whose: the tasks; goes to the instance. NULL: all
 *
 * Writers that are under way may go by the choice before, which etch_whose_get() has returned
 * and the caller frees after a grace period.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; or a negative errno, and nothing has changed. If @whose leaves no task out, 0.
 */
int etch_whose_set(struct etch_recorder *rec, struct etch_whose *whose)
{
	struct etch_whose *before = etch_whose_get(rec);
	bool restricts = etch_whose_restricts(whose);
	int ret;

	lockdep_assert_held(&etch_mutex);
	ret = restricts ? etch_scratch_make() : 0;
	if (ret)
		return ret;
	etch_whose_put(rec, whose);
	if (restricts == etch_whose_restricts(before))
		return 0;
	ret = etch_gates_follow(rec);
	/* A gate that still leads to rules where there are none costs time, and is right. */
	if (!ret || !restricts)
		return 0;
	etch_whose_put(rec, before);
	etch_gates_follow(rec);
	return ret;
}

/**
 * etch_contexts_prepare() - have the gates of an instance's events lead to its contexts
 * @rec: the instance's recorder
 *
 * When this has returned 0, and a grace period is over, all of its writers look for contexts.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; or a negative errno, and nothing has changed.
 */
int etch_contexts_prepare(struct etch_recorder *rec)
{
	int ret = etch_scratch_make();

	lockdep_assert_held(&etch_mutex);
	if (ret || etch_contexts_bits & etch_bit(rec))
		return ret;
	etch_contexts_bits |= etch_bit(rec);
	etch_ruled_update();
	ret = etch_gates_follow(rec);
	if (ret)
		etch_contexts_forget(rec);
	return ret;
}

/**
 * etch_contexts_forget() - have the gates lead there no more
 * @rec: the instance's recorder; has no contexts
 *
 * A gate that cannot be changed still leads there: that costs time, and is right.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_contexts_forget(struct etch_recorder *rec)
{
	lockdep_assert_held(&etch_mutex);
	etch_contexts_bits &= ~etch_bit(rec);
	etch_ruled_update();
	etch_gates_follow(rec);
}
