// SPDX-License-Identifier: GPL-2.0
/*
 * Setting the rules of events, and taking them away: see rules.h.
 *
 * An event gets its struct etch_rules with its first rule and keeps it, so that a writer who
 * comes through a gate with rules always finds them.
 */
#include <linux/etch.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "event/rules.h"
#include "event/whose.h"

DEFINE_PER_CPU(struct etch_filtered, etch_filtered);

/* Of an event that has none: it is here because of its tasks (whose.h). */
const struct etch_rules etch_rules_none = {
	.recording = U64_MAX,
	.triggers = LIST_HEAD_INIT(etch_rules_none.triggers),
};

static u64 etch_bit(const struct etch_recorder *rec)
{
	return 1ULL << rec->bit;
}

/* After a change of any of these. */
static void etch_rules_sort_out(struct etch_rules *rules)
{
	WRITE_ONCE(rules->simple, rules->recording & ~rules->triggered);
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
	rules->recording = etch_gate_instances(event);
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
	struct etch_rules *rules = event->rules;
	bool filter, trigger = false;
	struct etch_trigger *other;
	u64 asked, triggered;

	lockdep_assert_held(&etch_mutex);
	if (!rules)
		return;
	filter = etch_filter_get(rec, event);
	list_for_each_entry(other, &rules->triggers, node)
		trigger |= other->bit == rec->bit;
	asked = filter || trigger ? rules->asked : rules->asked & ~etch_bit(rec);
	triggered = trigger ? rules->triggered : rules->triggered & ~etch_bit(rec);
	if (asked == rules->asked && triggered == rules->triggered)
		return;
	rules->asked = asked;
	rules->triggered = triggered;
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

/**
 * etch_trigger_add() - call a trigger from now on
 * @event: the event whose hits call it; prepared for triggers
 * @trigger: the trigger; its caller keeps it
 *
 * Context: process; holds etch_mutex.
 */
void etch_trigger_add(struct etch_event *event, struct etch_trigger *trigger)
{
	lockdep_assert_held(&etch_mutex);
	list_add_tail_rcu(&trigger->node, &event->rules->triggers);
}

/**
 * etch_trigger_remove() - call a trigger no more
 * @trigger: the trigger; writers may still be in it until a grace period is over
 *
 * Context: process; holds etch_mutex.
 */
void etch_trigger_remove(struct etch_trigger *trigger)
{
	lockdep_assert_held(&etch_mutex);
	list_del_rcu(&trigger->node);
}

/* ---- For gate.c and event.c ---- */

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
	u64 gate = mask, ruled = etch_whose_bits;

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
	bool triggered = rules && rules->triggered;

	if (rules) {
		rules->asked = 0;
		rules->triggered = 0;
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
