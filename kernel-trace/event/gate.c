// SPDX-License-Identifier: GPL-2.0
/*
 * Gates: which instances record an event.
 *
 * A gate is open for the instances that have the event enabled and are on.
 *
 * A gate is a tracepoint's, or what an event has instead. Tracepoints' gates are
 * changed many at a time: the cost is that of making all CPUs see changed code, which
 * is the same for one gate and for two hundred.
 */
#include <linux/etch.h>
#include <linux/glob.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "event/event.h"

/* All events: event.c adds and removes them. */
LIST_HEAD(etch_events);

/* Instances that are on, by bit. Under etch_mutex. */
static u64 etch_on;

/* Changes of tracepoints' gates that have been asked for. Under etch_mutex. */
static struct tracepoint_instances etch_changes[TRACEPOINT_SET_MAX];
static struct {
	struct etch_event *event;
	u64 mask;
} etch_changing[TRACEPOINT_SET_MAX];
static unsigned int etch_nr_changes;

static void etch_gate_changed(struct etch_event *event, u64 mask, int ret)
{
	if (!ret)
		event->mask = mask;
	else
		etch_rules_gate(event, event->mask & etch_on);
	/* It was enabled and is not any more; or it was to be, and is not. */
	if (!event->mask)
		etch_comm_put();
}

/* Returns the first errno; a gate that refuses stays as it was. */
static int etch_flush_changes(void)
{
	unsigned int i, nr = etch_nr_changes;
	int ret = 0;

	if (!nr)
		return 0;
	etch_nr_changes = 0;
	tracepoint_set_instances(etch_changes, nr);
	for (i = 0; i < nr; i++) {
		etch_gate_changed(etch_changing[i].event, etch_changing[i].mask,
				  etch_changes[i].ret);
		ret = ret ?: etch_changes[i].ret;
	}
	return ret;
}

/*
 * Let the gate be open for those in @mask that are on. Some time before the next
 * etch_flush_changes() has returned.
 */
static int etch_set_gate(struct etch_event *event, u64 mask)
{
	u64 instances = etch_rules_gate(event, mask & etch_on);
	int ret;

	if (!event->tp) {
		ret = event->gate(event, instances);
		etch_gate_changed(event, mask, ret);
		return ret;
	}
	etch_changing[etch_nr_changes].event = event;
	etch_changing[etch_nr_changes].mask = mask;
	etch_changes[etch_nr_changes++] = (struct tracepoint_instances) {
		.tp = event->tp,
		.instances = instances ? instances | event->word : 0,
	};
	return etch_nr_changes < TRACEPOINT_SET_MAX ? 0 : etch_flush_changes();
}

static int etch_change_gate(struct etch_event *event, u64 mask)
{
	if (mask == event->mask)
		return 0;
	/* Names are learnt from the first event on, and forgotten after the last. */
	if (!event->mask)
		etch_comm_get();
	if ((mask & etch_on) != (event->mask & etch_on))
		return etch_set_gate(event, mask);
	etch_gate_changed(event, mask, 0);
	return 0;
}

/* Bring the gates of all that an instance has enabled in line with etch_on. */
static int etch_follow_on(u64 bit)
{
	struct etch_event *event;
	int ret, err = 0;

	list_for_each_entry(event, &etch_events, node) {
		if (!(event->mask & bit))
			continue;
		ret = etch_set_gate(event, event->mask);
		err = err ?: ret;
	}
	ret = etch_flush_changes();
	return err ?: ret;
}

/**
 * etch_gates_set_on() - open or close the gates of the events that an instance has enabled
 * @rec: the instance's recorder
 * @on: open them; otherwise these events cost it nothing any more, but stay enabled
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, or the errno of a tracepoint's own registration function, and
 * nothing changed.
 */
int etch_gates_set_on(struct etch_recorder *rec, bool on)
{
	u64 bit = 1ULL << rec->bit, old = etch_on;
	int ret;

	lockdep_assert_held(&etch_mutex);
	etch_on = on ? old | bit : old & ~bit;
	if (etch_on == old)
		return 0;
	ret = etch_follow_on(bit);
	if (ret) {
		etch_on = old;
		etch_follow_on(bit);
	}
	return ret;
}

/**
 * etch_gate_instances() - the instances that record an event
 * @event: the event
 *
 * Context: process; holds etch_mutex.
 * Return: those that have it enabled and are on, by bit.
 */
u64 etch_gate_instances(const struct etch_event *event)
{
	return event->mask & etch_on;
}

/**
 * etch_gate_follow_rules() - bring an event's gate in line with its rules
 * @event: the event, whose rules have changed; once before each etch_gates_flush()
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, and etch_gates_flush() makes it so; or a negative errno.
 */
int etch_gate_follow_rules(struct etch_event *event)
{
	lockdep_assert_held(&etch_mutex);
	/* As in etch_change_gate(): etch_gate_changed() gives it back. */
	if (!event->mask)
		etch_comm_get();
	return etch_set_gate(event, event->mask);
}

/**
 * etch_gates_follow() - bring the gates of all that an instance has enabled in line with rules
 * @rec: the instance's recorder
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; or the first errno that a gate gave, after going on with the others.
 */
int etch_gates_follow(struct etch_recorder *rec)
{
	lockdep_assert_held(&etch_mutex);
	return etch_follow_on(1ULL << rec->bit);
}

/**
 * etch_gates_flush() - change the gates for which that was asked
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, or the first errno that a gate gave; that gate stays as it was.
 */
int etch_gates_flush(void)
{
	lockdep_assert_held(&etch_mutex);
	return etch_flush_changes();
}

static int etch_admit(struct etch_recorder *rec, const struct etch_event *event)
{
	if (!etch_recorder_takes(rec, event))
		return -EOPNOTSUPP;
	return rec->admit ? rec->admit(rec, event) : 0;
}

static int etch_change_bit(struct etch_recorder *rec, struct etch_event *event,
			   bool on)
{
	u64 bit = 1ULL << rec->bit;
	int ret = on ? etch_admit(rec, event) : 0;

	/* If triggers turn it on and off, its gate stays open, and the rules decide. */
	if (ret || etch_rules_soft(event, bit, on))
		return ret;
	return etch_change_gate(event, on ? event->mask | bit : event->mask & ~bit);
}

/**
 * etch_event_open() - open an event's gate for an instance, or close it
 * @rec: the instance's recorder
 * @event: the event, for which the gate is not changed once more before etch_gates_flush()
 * @on: open it
 *
 * Unlike etch_event_enable(), it does not ask the rules: they are its caller.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, and etch_gates_flush() makes it so; or a negative errno, as there.
 */
int etch_event_open(struct etch_recorder *rec, struct etch_event *event, bool on)
{
	u64 bit = 1ULL << rec->bit;
	int ret = on ? etch_admit(rec, event) : 0;

	lockdep_assert_held(&etch_mutex);
	return ret ?: etch_change_gate(event, on ? event->mask | bit : event->mask & ~bit);
}

/**
 * etch_event_enable() - make an instance record an event, or stop recording it
 * @rec: the instance's recorder
 * @event: the event
 * @on: record it
 *
 * A writer that is past the gate may still store one record after this has returned.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0 (also if it was so before); or the errno of the tracepoint's own registration
 * function, or that of @rec->admit(), and nothing changed.
 */
int etch_event_enable(struct etch_recorder *rec, struct etch_event *event, bool on)
{
	int ret;

	lockdep_assert_held(&etch_mutex);
	ret = etch_change_bit(rec, event, on);
	return ret ?: etch_flush_changes();
}

/**
 * etch_events_enable() - enable some events and disable others, together
 * @rec: the instance's recorder
 * @verdict: called for each event, in the order of the list: to enable it, to try to, to
 *	  disable it, or to leave it
 * @data: for @verdict
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, or the first errno that an event gave, after going on with the others.
 */
int etch_events_enable(struct etch_recorder *rec, etch_verdict_fn verdict, void *data)
{
	struct etch_event *event;
	int ret, err = 0;

	lockdep_assert_held(&etch_mutex);
	list_for_each_entry(event, &etch_events, node) {
		enum etch_verdict what;

		if (event->hidden)
			continue;
		what = verdict(event, data);
		if (what == ETCH_LEAVE || (what == ETCH_TRY && !etch_recorder_takes(rec, event)))
			continue;
		ret = etch_change_bit(rec, event, what != ETCH_DISABLE);
		err = err ?: ret;
	}
	ret = etch_flush_changes();
	return err ?: ret;
}

static enum etch_verdict etch_verdict_none(const struct etch_event *event, void *data)
{
	return ETCH_DISABLE;
}

/**
 * etch_events_disable_all() - make an instance record nothing
 * @rec: the instance's recorder
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, or the first errno of an event whose gate does not close, after going on with
 * the others.
 */
int etch_events_disable_all(struct etch_recorder *rec)
{
	return etch_events_enable(rec, etch_verdict_none, NULL);
}

/**
 * etch_event_close() - let nobody record an event any more
 * @event: the event
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_event_close(struct etch_event *event)
{
	bool triggered;

	lockdep_assert_held(&etch_mutex);
	triggered = etch_rules_unlink(event);
	etch_change_gate(event, 0);
	etch_flush_changes();
	/* If nobody recorded it, the gate was open all the same. */
	if (triggered) {
		etch_gate_follow_rules(event);
		etch_flush_changes();
	}
}

/* ---- By name ---- */

/* "SYSTEM", "EVENT", "SYSTEM:" or "SYSTEM:EVENT", taken apart; and how many it names. */
struct etch_pattern {
	char *copy;
	const char *system;
	const char *name;
	enum etch_verdict what;
	int named;
};

static int etch_pattern_init(struct etch_pattern *pattern, const char *match)
{
	char *name = kstrdup(match, GFP_KERNEL);

	if (!name)
		return -ENOMEM;
	pattern->copy = name;
	pattern->system = strchr(name, ':') ? strsep(&name, ":") : NULL;
	pattern->name = name;
	return 0;
}

static bool etch_pattern_names(const struct etch_pattern *pattern,
			       const struct etch_event *event)
{
	if (!pattern->system)
		return glob_match(pattern->name, event->name) ||
		       glob_match(pattern->name, event->class->system);
	if (!glob_match(pattern->system, event->class->system))
		return false;
	return !*pattern->name || glob_match(pattern->name, event->name);
}

static enum etch_verdict etch_verdict_pattern(const struct etch_event *event, void *data)
{
	struct etch_pattern *pattern = data;

	if (!etch_pattern_names(pattern, event))
		return ETCH_LEAVE;
	pattern->named++;
	return pattern->what;
}

/* One that has a glob may mean more than it can get. */
static enum etch_verdict etch_pattern_wish(const char *match)
{
	return strpbrk(match, "*?[") ? ETCH_TRY : ETCH_ENABLE;
}

/**
 * etch_events_set() - enable or disable the events that a pattern names
 * @rec: the instance's recorder
 * @match: "SYSTEM", "EVENT", "SYSTEM:", "SYSTEM:EVENT"; either part may be a glob
 * @on: enable
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: how many events it names; -ENOENT if none; -ENOMEM; or the first errno
 * that an event gave, after going on with the others.
 */
int etch_events_set(struct etch_recorder *rec, const char *match, bool on)
{
	struct etch_pattern pattern = { .what = on ? etch_pattern_wish(match) : ETCH_DISABLE };
	int ret = etch_pattern_init(&pattern, match);

	if (ret)
		return ret;
	ret = etch_events_enable(rec, etch_verdict_pattern, &pattern);
	kfree(pattern.copy);
	return ret ?: pattern.named ?: -ENOENT;
}

/**
 * etch_events_match() - find the events that a pattern names
 * @match: as for etch_events_set()
 * @notes: NULL, or room for one note for each event in the list, hidden ones included; those
 *	   of the events that @match names become @note
 * @note: see @notes
 *
 * Context: process; holds etch_mutex.
 * Return: how many events it names, or -ENOMEM.
 */
int etch_events_match(const char *match, u32 *notes, u32 note)
{
	struct etch_pattern pattern = {};
	struct etch_event *event;
	unsigned int i = 0;
	int ret = etch_pattern_init(&pattern, match);

	if (ret)
		return ret;
	list_for_each_entry(event, &etch_events, node) {
		if (!event->hidden && etch_pattern_names(&pattern, event)) {
			pattern.named++;
			if (notes)
				notes[i] = note;
		}
		i++;
	}
	kfree(pattern.copy);
	return pattern.named;
}
