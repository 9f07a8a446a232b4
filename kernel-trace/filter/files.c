// SPDX-License-Identifier: GPL-2.0
/*
 * The files filter in the folders of events/: what of an event an instance records.
 *
 * An event's own file has its filter. That of a system, and that of all events, has none to
 * show: a filter written there is set for each event below that has its fields.
 */
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/rules.h"
#include "filter/parse.h"
#include "tree/tree.h"

static void etch_filter_show(struct seq_file *m, const struct etch_node *node)
{
	const struct etch_program *program;

	if (!node->event) {
		seq_puts(m, "### Write a filter here, and each event below that has its fields gets it ###\n");
		return;
	}
	program = etch_filter_get(&node->inst->rec, node->event);
	seq_printf(m, "%s\n", program ? program->text : "none");
}

/**
 * struct etch_filter_store - the filters that a text sets
 * @inst: for this instance
 * @text: the text; "0" takes the filters away
 * @nr: how many
 * @each: for an event each: the program, or NULL
 */
struct etch_filter_store {
	struct etch_instance *inst;
	const char *text;
	unsigned int nr;
	struct etch_filter_of {
		struct etch_event *event;
		struct etch_program *program;
	} *each;
};

static bool etch_filter_takes_away(const struct etch_filter_store *store)
{
	return !strcmp(store->text, "0");
}

/* Returns 0 or a negative errno, reported if @in is there. */
static int etch_filter_add(struct etch_filter_store *store, struct etch_event *event,
			   const struct etch_input *in)
{
	struct etch_program *program = NULL;

	if (!etch_filter_takes_away(store)) {
		program = etch_filter_parse(in, store->text, event,
					    etch_event_ends(&store->inst->rec, event));
		if (IS_ERR(program))
			return PTR_ERR(program);
	}
	store->each[store->nr++] = (struct etch_filter_of) { event, program };
	return 0;
}

static bool etch_filter_in_folder(const struct etch_node *node, const struct etch_event *event)
{
	if (node->event)
		return event == node->event;
	return !event->hidden && !event->user &&
	       (!node->system || !strcmp(node->system, event->class->system));
}

/* No event of the folder can have the filter: report what is wrong for the first of them. */
static int etch_filter_explain(const struct etch_filter_store *store,
			       const struct etch_node *node, const struct etch_input *in)
{
	struct etch_program *program;
	struct etch_event *event;

	list_for_each_entry(event, &etch_events, node) {
		if (!etch_filter_in_folder(node, event))
			continue;
		program = etch_filter_parse(in, store->text, event,
					    etch_event_ends(&store->inst->rec, event));
		if (IS_ERR(program))
			return PTR_ERR(program);
		etch_program_free(program);
		break;
	}
	return etch_bad(in, store->text, -EINVAL, "No event here can have this filter");
}

/* A program for each event of the folder that has the fields. */
static int etch_filter_make(struct etch_filter_store *store, const struct etch_node *node,
			    const struct etch_input *in)
{
	struct etch_event *event;
	unsigned int nr = 0;
	int ret;

	list_for_each_entry(event, &etch_events, node)
		nr += etch_filter_in_folder(node, event);
	if (!nr)
		return etch_filter_takes_away(store) ? 0 :
		       etch_bad(in, store->text, -EINVAL, "Events of programs have no filters");
	store->each = kvcalloc(nr, sizeof(*store->each), GFP_KERNEL);
	if (!store->each)
		return etch_bad(in, store->text, -ENOMEM, "Not enough memory");
	list_for_each_entry(event, &etch_events, node) {
		if (!etch_filter_in_folder(node, event))
			continue;
		ret = etch_filter_add(store, event, node->event ? in : NULL);
		if (ret == -ENOMEM)
			return etch_bad(in, store->text, ret, "Not enough memory");
		if (ret && node->event)
			return ret;
	}
	return store->nr ? 0 : etch_filter_explain(store, node, in);
}

static int etch_filter_prepare(const struct etch_filter_store *store)
{
	struct etch_recorder *rec = &store->inst->rec;
	unsigned int i;
	int ret = 0, flushed;

	if (etch_filter_takes_away(store))
		return 0;
	for (i = 0; i < store->nr && !ret; i++)
		ret = etch_rules_prepare(rec, store->each[i].event, false);
	flushed = etch_rules_flush();
	return ret ?: flushed;
}

/* Before a grace period, or after a failure. */
static void etch_filter_forget(const struct etch_filter_store *store)
{
	unsigned int i;

	for (i = 0; i < store->nr; i++)
		etch_rules_forget(&store->inst->rec, store->each[i].event);
	etch_rules_flush();
}

/* Afterwards @each has the filters of before. */
static void etch_filter_exchange(struct etch_filter_store *store)
{
	struct etch_filter_of *each;

	for (each = store->each; each < store->each + store->nr; each++)
		each->program = etch_filter_set(&store->inst->rec, each->event, each->program);
	if (etch_filter_takes_away(store))
		etch_filter_forget(store);
	/* No hit goes by a filter of before when the write to the file returns. */
	synchronize_rcu();
}

static int etch_filter_store(struct etch_node *node, const struct etch_input *in)
{
	struct etch_filter_store store = { .inst = node->inst, .text = skip_spaces(in->text) };
	unsigned int i;
	int ret;

	ret = etch_filter_make(&store, node, in);
	if (!ret) {
		ret = etch_filter_prepare(&store);
		if (ret) {
			etch_filter_forget(&store);
			etch_bad(in, store.text, ret, "The filter cannot be set: error %d", ret);
		} else {
			etch_filter_exchange(&store);
		}
	}
	for (i = 0; i < store.nr; i++)
		etch_program_free(store.each[i].program);
	kvfree(store.each);
	return ret;
}

static const struct etch_event_control etch_filter_controls[] = {
	{ "filter", 0600, ETCH_OF_ALL | ETCH_OF_SYSTEM | ETCH_OF_EVENT,
	  .has = etch_event_has_rules, .show = etch_filter_show, .store = etch_filter_store },
	{}
};

/* The instance goes. */
static void etch_filter_remove(struct etch_instance *inst)
{
	struct etch_event *event;

	list_for_each_entry(event, &etch_events, node) {
		etch_program_free_later(etch_filter_set(&inst->rec, event, NULL));
		etch_rules_forget(&inst->rec, event);
	}
	etch_rules_flush();
}

static struct etch_files etch_filter_files = {
	.of_event = etch_filter_controls,
	.remove = etch_filter_remove,
};

static int __init etch_filter_offer(void)
{
	etch_tree_offer(&etch_filter_files);
	return 0;
}
core_initcall(etch_filter_offer);
