// SPDX-License-Identifier: GPL-2.0
/*
 * start:NAME:key=FIELD and end:NAME:key=FIELD: how long it takes from a hit of one event to a hit
 * of another, or of the same. And the file latency of an instance, which has a line for each NAME.
 *
 * The two triggers meet in a table of pairs (pairs.h), which belongs to the instance and has the
 * name. It is made by the first trigger that names it, and goes with the last.
 *
 * An event has one "end" at most in an instance. It is called before the event's filter and the
 * other triggers, which find there what it found: event/ended.h. If it is taken away, what names
 * the latency stays, and finds none.
 */
#include <linux/container_of.h>
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/ended.h"
#include "hist/parse.h"
#include "latency/pairs.h"
#include "tree/tree.h"
#include "trigger/trigger.h"

#define ETCH_LATENCY_NAME	32	/* bytes of a name, the zero at the end included */

/**
 * struct etch_latency - a table with a name
 * @inst: the instance that has it
 * @users: triggers that name it
 * @pairs: the table
 * @name: what users call it
 * @node: in the list of all, in the order in which they were made
 */
struct etch_latency {
	struct etch_instance *inst;
	unsigned int users;
	struct etch_pairs *pairs;
	char name[ETCH_LATENCY_NAME];
	struct list_head node;
};

/**
 * struct etch_mark - what an order has: the hits are the starts, or the ends, of pairs
 * @pairs: the table of @latency; NULL: the order is not in force yet
 * @key: the field that the key is in
 * @latency: the table with its name
 * @name: that
 */
struct etch_mark {
	struct etch_pairs *pairs;
	struct etch_hist_field key;
	struct etch_latency *latency;
	char name[ETCH_LATENCY_NAME];
};

/* Under etch_mutex. */
static LIST_HEAD(etch_latencies);

static struct etch_trigger_kind etch_end_kind;

/* ---- Hits ---- */

static __always_inline const struct etch_mark *etch_mark_of(const struct etch_trigger *trigger)
{
	return container_of(trigger, struct etch_order, trigger)->private;
}

static void etch_start_hit(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	const struct etch_mark *mark = etch_mark_of(trigger);

	etch_pairs_start(mark->pairs, etch_hist_value(&mark->key, hit->record));
}

static void etch_end_hit(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	const struct etch_mark *mark = etch_mark_of(trigger);
	bool longest;
	u64 ns;

	if (etch_pairs_end(mark->pairs, etch_hist_value(&mark->key, hit->record), &ns, &longest))
		etch_ended_set(trigger->bit, ns, longest);
}

/* ---- Tables with names ---- */

static struct etch_latency *etch_latency_find(const struct etch_instance *inst, const char *name)
{
	struct etch_latency *latency;

	list_for_each_entry(latency, &etch_latencies, node)
		if (latency->inst == inst && !strcmp(latency->name, name))
			return latency;
	return NULL;
}

/* The table of that name, for etch_latency_put(); NULL: there is not enough memory. */
static struct etch_latency *etch_latency_get(struct etch_instance *inst, const char *name)
{
	struct etch_latency *latency = etch_latency_find(inst, name);

	if (latency) {
		latency->users++;
		return latency;
	}
	latency = kzalloc(sizeof(*latency), GFP_KERNEL);
	if (!latency)
		return NULL;
	latency->pairs = etch_pairs_create();
	if (!latency->pairs) {
		kfree(latency);
		return NULL;
	}
	latency->inst = inst;
	latency->users = 1;
	strscpy(latency->name, name);
	list_add_tail(&latency->node, &etch_latencies);
	return latency;
}

static void etch_latency_put(struct etch_latency *latency)
{
	if (--latency->users)
		return;
	list_del(&latency->node);
	etch_pairs_free(latency->pairs);
	kfree(latency);
}

/* ---- The lines ---- */

static const char *etch_end_of_text(const struct etch_input *in)
{
	return in->text + strlen(in->text);
}

/* The name up to the colon, or to the end. Returns 0 or a negative errno, reported. */
static int etch_mark_name(struct etch_mark *mark, const struct etch_input *in, const char *args,
			  size_t len)
{
	size_t i;

	for (i = 0; i < len && args[i] != ':'; i++)
		if (!isalnum(args[i]) && args[i] != '_')
			return etch_bad(in, args + i, -EINVAL,
					"A name has letters, digits and _ only");
	if (!i || i >= sizeof(mark->name))
		return etch_bad(in, args, -EINVAL, "A name has 1 to %zu characters",
				sizeof(mark->name) - 1);
	memcpy(mark->name, args, i);
	return 0;
}

/* NAME:key=FIELD */
static int etch_mark_parse(struct etch_mark *mark, const struct etch_order *order,
			   const struct etch_input *in, const char *args, size_t len)
{
	size_t at, skip;
	int ret = etch_mark_name(mark, in, args, len);

	if (ret)
		return ret;
	at = strlen(mark->name);
	skip = strlen(":key=");
	if (len < at + skip || memcmp(args + at, ":key=", skip))
		return etch_bad(in, at < len ? args + at + 1 : args + at, -EINVAL,
				"The key is missing: %s:%s:key=FIELD", order->kind->name,
				mark->name);
	at += skip;
	ret = etch_hist_parse_word(in, args + at, len - at, order->event, &mark->key);
	return ret == -ENOMEM ? etch_bad(in, args, ret, "Not enough memory") : ret;
}

static int etch_mark_make(struct etch_order *order, const struct etch_input *in, const char *args,
			  size_t len)
{
	struct etch_mark *mark;
	int ret;

	if (!args)
		return etch_bad(in, etch_end_of_text(in), -EINVAL,
				"A name and a key are missing: %s:NAME:key=FIELD",
				order->kind->name);
	mark = kzalloc(sizeof(*mark), GFP_KERNEL);
	if (!mark)
		return etch_bad(in, args, -ENOMEM, "Not enough memory");
	ret = etch_mark_parse(mark, order, in, args, len);
	if (ret) {
		kfree(mark);
		return ret;
	}
	order->private = mark;
	order->trigger.ends = order->kind == &etch_end_kind;
	order->trigger.hit = order->trigger.ends ? etch_end_hit : etch_start_hit;
	return 0;
}

/* An event may be the start and the end of one table. */
static bool etch_mark_same(const struct etch_order *a, const struct etch_order *b)
{
	const struct etch_mark *one = a->private, *other = b->private;

	return a->kind == b->kind && !strcmp(one->name, other->name) &&
	       !strcmp(one->key.name, other->key.name);
}

static int etch_mark_arm(struct etch_order *order, const struct etch_input *in)
{
	struct etch_mark *mark = order->private;

	mark->latency = etch_latency_get(order->inst, mark->name);
	if (!mark->latency)
		return etch_bad(in, in->text, -ENOMEM, "Not enough memory");
	mark->pairs = mark->latency->pairs;
	return 0;
}

/* "latency" in the event's filter means that of its only end. */
static int etch_end_arm(struct etch_order *order, const struct etch_input *in)
{
	struct etch_order *other;

	for_each_etch_order(other, order->inst, order->event, &etch_end_kind) {
		const struct etch_mark *mark = other->private;

		return etch_bad(in, in->text, -EEXIST,
				"The event has an end already, of %s: take that away first",
				mark->name);
	}
	return etch_mark_arm(order, in);
}

static void etch_mark_show(struct seq_file *m, const struct etch_order *order)
{
	const struct etch_mark *mark = order->private;

	seq_printf(m, "%s:%s:key=%s", order->kind->name, mark->name, mark->key.name);
}

static void etch_mark_free(struct etch_order *order)
{
	struct etch_mark *mark = order->private;

	if (mark->latency)
		etch_latency_put(mark->latency);
	kfree(mark->key.name);
	kfree(mark);
}

static struct etch_trigger_kind etch_start_kind = {
	.name = "start",
	.no_count = true,
	.make = etch_mark_make,
	.same = etch_mark_same,
	.arm = etch_mark_arm,
	.show = etch_mark_show,
	.free = etch_mark_free,
};

static struct etch_trigger_kind etch_end_kind = {
	.name = "end",
	.early = true,
	.no_count = true,
	.make = etch_mark_make,
	.same = etch_mark_same,
	.arm = etch_end_arm,
	.show = etch_mark_show,
	.free = etch_mark_free,
};

/* ---- The file latency ---- */

static void etch_latency_show(struct seq_file *m, const struct etch_view_of *of)
{
	struct etch_latency *latency;
	struct etch_pairs_view v;

	list_for_each_entry(latency, &etch_latencies, node) {
		if (latency->inst != of->inst)
			continue;
		etch_pairs_read(latency->pairs, &v);
		seq_printf(m, "%s: starts=%llu ends=%llu pairs=%llu displaced=%llu replaced=%llu missed=%llu busy_starts=%llu busy_ends=%llu now=%llu max=%llu\n",
			   latency->name, v.starts, v.ends, v.pairs, v.displaced, v.replaced,
			   v.missed, v.busy_starts, v.busy_ends, v.now, v.max);
	}
}

/* A name: forget its starts and counts. Nothing: those of all. */
static int etch_latency_store(const struct etch_input *in)
{
	const char *name = skip_spaces(in->text);
	struct etch_latency *latency;

	if (*name) {
		latency = etch_latency_find(in->inst, name);
		if (!latency)
			return etch_bad(in, name, -EINVAL,
					"No trigger names this: the file lists those that are named");
		etch_pairs_clear(latency->pairs);
		return 0;
	}
	list_for_each_entry(latency, &etch_latencies, node)
		if (latency->inst == in->inst)
			etch_pairs_clear(latency->pairs);
	return 0;
}

static const struct etch_control etch_latency_controls[] = {
	{ "latency", 0600, .show = etch_latency_show, .store = etch_latency_store },
	{}
};

static struct etch_files etch_latency_files = {
	.of_tree = etch_latency_controls,
};

static int __init etch_latency_offer(void)
{
	etch_trigger_offer(&etch_start_kind);
	etch_trigger_offer(&etch_end_kind);
	etch_tree_offer(&etch_latency_files);
	return 0;
}
core_initcall(etch_latency_offer);
