// SPDX-License-Identifier: GPL-2.0
/*
 * The files of events/ that every folder or event has: enable, id and format.
 */
#include <linux/bitmap.h>
#include <linux/etch.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "tree/enable.h"

/* Does a folder stand for an event? Ask while it is there. */
static bool etch_node_has(const struct etch_node *node, const struct etch_event *event)
{
	if (event->hidden)
		return false;
	if (node->event)
		return node->event == event;
	return !node->system || !strcmp(node->system, event->class->system);
}

/**
 * etch_node_events() - the events that a folder is of
 * @node: the folder; it is there
 *
 * Context: process; holds etch_mutex.
 * Return: how many.
 */
unsigned int etch_node_events(const struct etch_node *node)
{
	const struct etch_event *event;
	unsigned int nr = 0;

	list_for_each_entry(event, &etch_events, node)
		nr += etch_node_has(node, event);
	return nr;
}

/* ---- Changing several events, or none ---- */

/**
 * etch_enabled_save() - note which events are enabled
 * @inst: the instance
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: a bit for each event, by its place in the list, for bitmap_free(); or NULL.
 */
unsigned long *etch_enabled_save(struct etch_instance *inst)
{
	struct etch_event *event;
	unsigned long *bits;
	unsigned int i = 0;

	bits = bitmap_zalloc(ETCH_ID_MAX, GFP_KERNEL);
	if (!bits)
		return NULL;
	list_for_each_entry(event, &etch_events, node)
		__assign_bit(i++, bits, etch_event_enabled(&inst->rec, event));
	return bits;
}

/**
 * etch_places_first() - begin to count places
 *
 * Context: process; holds etch_mutex.
 * Return: the first place.
 */
struct etch_places etch_places_first(void)
{
	return (struct etch_places){
		.event = list_first_entry(&etch_events, struct etch_event, node),
	};
}

/**
 * etch_place() - the place of an event in the list
 * @at: the place of the event that was asked for last; moves on
 * @event: an event that is not before that one
 *
 * Context: process; holds etch_mutex.
 * Return: how many events are before it.
 */
unsigned int etch_place(struct etch_places *at, const struct etch_event *event)
{
	/* Hidden ones have a place, and are not asked for. */
	while (at->event != event) {
		at->event = list_next_entry(at->event, node);
		at->i++;
	}
	return at->i;
}

/* The bits that were saved. */
struct etch_enabled {
	const unsigned long *bits;
	struct etch_places at;
};

static enum etch_verdict etch_verdict_saved(const struct etch_event *event, void *data)
{
	struct etch_enabled *saved = data;

	return test_bit(etch_place(&saved->at, event), saved->bits) ? ETCH_ENABLE : ETCH_DISABLE;
}

/**
 * etch_enabled_restore() - enable the events that were enabled, and no others
 * @inst: the instance
 * @bits: from etch_enabled_save(); events have neither come nor gone since
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_enabled_restore(struct etch_instance *inst, const unsigned long *bits)
{
	struct etch_enabled saved = { .bits = bits, .at = etch_places_first() };

	etch_events_enable(&inst->rec, etch_verdict_saved, &saved);
}

static enum etch_verdict etch_verdict_enable(const struct etch_event *event, void *data)
{
	const struct etch_node *node = data;

	if (!etch_node_has(node, event))
		return ETCH_LEAVE;
	return node->system ? ETCH_ENABLE : ETCH_TRY;
}

static enum etch_verdict etch_verdict_disable(const struct etch_event *event, void *data)
{
	return etch_node_has(data, event) ? ETCH_DISABLE : ETCH_LEAVE;
}

/* All events of a folder; if one of them refuses, all stay as they were. */
static int etch_node_enable(struct etch_node *node, bool on)
{
	struct etch_instance *inst = node->inst;
	unsigned long *saved;
	int ret;

	ret = on ? etch_instance_grow(inst) : 0;
	if (ret)
		return ret;
	if (node->event)
		return etch_event_enable(&inst->rec, node->event, on);

	saved = etch_enabled_save(inst);
	if (!saved)
		return -ENOMEM;
	ret = etch_events_enable(&inst->rec, on ? etch_verdict_enable : etch_verdict_disable, node);
	if (ret)
		etch_enabled_restore(inst, saved);
	bitmap_free(saved);
	return ret;
}

/* ---- enable, id and format ---- */

static void etch_enable_show(struct seq_file *m, const struct etch_node *node)
{
	struct etch_event *event;
	bool on = false, off = false;

	list_for_each_entry(event, &etch_events, node) {
		if (!etch_node_has(node, event))
			continue;
		if (etch_event_enabled(&node->inst->rec, event))
			on = true;
		else
			off = true;
	}
	seq_puts(m, on && off ? "X" : on ? "1" : "0");
	/* Triggers may change it. */
	if (node->event && etch_event_is_soft(&node->inst->rec, node->event))
		seq_putc(m, '*');
	seq_putc(m, '\n');
}

static int etch_enable_store(struct etch_node *node, const struct etch_input *in)
{
	bool on;
	int ret;

	ret = etch_input_bool(in, &on);
	if (ret)
		return ret;
	ret = etch_node_enable(node, on);
	if (ret == -EOPNOTSUPP)
		return etch_bad(in, in->text, ret, ETCH_NO_USER);
	if (ret)
		return etch_bad(in, in->text, ret, "Refused, error %d", ret);
	return 0;
}

static void etch_id_show(struct seq_file *m, const struct etch_node *node)
{
	seq_printf(m, "%u\n", node->event->id);
}

/* A folder's has all of its events', each with an empty line behind it. */
static void etch_node_format_show(struct seq_file *m, const struct etch_node *node)
{
	struct etch_event *event;

	if (node->event) {
		etch_format_show(m, node->event, node->inst->contexts);
		return;
	}
	list_for_each_entry(event, &etch_events, node) {
		/* seq_file calls again, with more room. */
		if (seq_has_overflowed(m))
			return;
		if (!etch_node_has(node, event))
			continue;
		etch_format_show(m, event, node->inst->contexts);
		seq_putc(m, '\n');
		cond_resched();
	}
}

const struct etch_event_control etch_event_controls[] = {
	{ "enable", 0600, ETCH_OF_ALL | ETCH_OF_SYSTEM | ETCH_OF_EVENT,
	  .show = etch_enable_show, .store = etch_enable_store },
	{ "id", 0400, ETCH_OF_EVENT, .show = etch_id_show },
	{ "format", 0400, ETCH_OF_ALL | ETCH_OF_SYSTEM | ETCH_OF_EVENT, .room = 2048,
	  .show = etch_node_format_show },
	{}
};
