// SPDX-License-Identifier: GPL-2.0
/*
 * The files trigger in the folders of events, and the orders that users write there: see
 * trigger.h.
 */
#include <linux/atomic.h>
#include <linux/container_of.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "filter/parse.h"
#include "tree/tree.h"
#include "trigger/trigger.h"

/* Does not change any more after boot. */
static LIST_HEAD(etch_trigger_kinds);

/* In the order in which they were written. Under etch_mutex. */
static LIST_HEAD(etch_orders);

/**
 * etch_trigger_offer() - let users write triggers of a kind
 * @kind: the kind; kept
 *
 * Context: boot, before users can write: a core_initcall().
 */
void etch_trigger_offer(struct etch_trigger_kind *kind)
{
	list_add_tail(&kind->node, &etch_trigger_kinds);
}

/**
 * etch_order_next() - the next order in force
 * @inst: of this instance
 * @event: for this event; NULL: for any
 * @kind: of this kind; NULL: of any
 * @last: behind this one, which may not have gone since; NULL: the first
 *
 * Context: process; holds etch_mutex.
 * Return: the order, or NULL.
 */
struct etch_order *etch_order_next(const struct etch_instance *inst,
				   const struct etch_event *event,
				   const struct etch_trigger_kind *kind,
				   struct etch_order *last)
{
	struct etch_order *order;

	lockdep_assert_held(&etch_mutex);
	order = last ? list_next_entry(last, node) :
		       list_first_entry(&etch_orders, struct etch_order, node);
	list_for_each_entry_from(order, &etch_orders, node)
		if (order->inst == inst && (!event || order->event == event) &&
		    (!kind || order->kind == kind))
			return order;
	return NULL;
}

/* ---- A line and its parts ---- */

/**
 * struct etch_line - what a user wrote
 * @in: the input that has it
 * @remove: it begins with "!"
 * @kind: what it does
 * @name: where the kind's name stands
 * @args: the text between the name's colon and the filter, or the count; NULL: none
 * @len: characters of @args
 * @counted: there is a count
 * @count: see @counted
 * @filter: NULL: there is none
 */
struct etch_line {
	const struct etch_input *in;
	bool remove;
	const struct etch_trigger_kind *kind;
	const char *name;
	const char *args;
	size_t len;
	bool counted;
	s64 count;
	const char *filter;
};

static const struct etch_trigger_kind *etch_kind_find(const char *name, size_t len)
{
	const struct etch_trigger_kind *kind;

	list_for_each_entry(kind, &etch_trigger_kinds, node)
		if (strlen(kind->name) == len && !memcmp(kind->name, name, len))
			return kind;
	return NULL;
}

/* The first "if" that is a word, or the end. */
static const char *etch_find_if(const char *at)
{
	for (;;) {
		at = skip_spaces(at);
		if (!*at || (at[0] == 'i' && at[1] == 'f' && (!at[2] || isspace(at[2]))))
			return at;
		while (*at && !isspace(*at))
			at++;
	}
}

/* A number, or what a reader of the file sees in its place: count=NUMBER, unlimited. */
static int etch_line_count(struct etch_line *line, const char *at, size_t len)
{
	size_t skip = len > 6 && !memcmp(at, "count=", 6) ? 6 : 0;
	char text[24];

	if (len == 9 && !memcmp(at, "unlimited", len))
		return 0;
	if (len - skip >= sizeof(text))
		return etch_bad(line->in, at + skip, -EINVAL, "This count is too large");
	memcpy(text, at + skip, len - skip);
	text[len - skip] = '\0';
	if (kstrtos64(text, 0, &line->count) || line->count < 0)
		return etch_bad(line->in, at + skip, -EINVAL, "This is no count");
	line->counted = true;
	return 0;
}

/* Split a count off the end of the arguments, if there is one. */
static int etch_line_split(struct etch_line *line)
{
	const char *at = line->args + line->len;
	size_t len;
	int ret;

	while (at > line->args && at[-1] != ':')
		at--;
	len = line->args + line->len - at;
	if (!isdigit(*at) && strncmp(at, "count=", 6) && !(len == 9 && !memcmp(at, "unlimited", 9)))
		return 0;
	ret = etch_line_count(line, at, len);
	if (at == line->args)
		line->args = NULL;
	line->len = line->args ? at - 1 - line->args : 0;
	return ret;
}

/* The text behind the name's colon, up to @end. */
static int etch_line_args(struct etch_line *line, const char *args, const char *end)
{
	while (end > args && isspace(end[-1]))
		end--;
	line->args = args;
	line->len = end - args;
	if (!line->len)
		return etch_bad(line->in, args, -EINVAL, "Nothing stands behind the colon");
	return line->kind->no_count ? 0 : etch_line_split(line);
}

static int etch_line_parse(struct etch_line *line, const struct etch_input *in)
{
	const char *at = skip_spaces(in->text), *end;
	size_t len;
	int ret = 0;

	line->in = in;
	line->remove = *at == '!';
	at += line->remove;
	line->name = at;
	len = strcspn(at, ": \t\n");
	line->kind = etch_kind_find(at, len);
	if (!line->kind)
		return etch_bad(in, at, -EINVAL,
				"There is no such trigger: an event without one lists them");
	at += len;
	end = etch_find_if(at);
	if (*at == ':')
		ret = etch_line_args(line, at + 1, end);
	else if (skip_spaces(at) != end)
		return etch_bad(in, skip_spaces(at), -EINVAL,
				"Only a colon, or \"if\" and a filter, can stand behind the name");
	if (ret || !*end)
		return ret;
	line->filter = skip_spaces(end + 2);
	if (!*line->filter)
		return etch_bad(in, line->filter, -EINVAL, "The filter is missing behind \"if\"");
	return 0;
}

/* ---- Orders ---- */

static bool etch_order_take(struct etch_order *order)
{
	return atomic64_read(&order->left) > 0 && atomic64_dec_if_positive(&order->left) >= 0;
}

static void etch_order_hit(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	struct etch_order *order = container_of(trigger, struct etch_order, trigger);

	if (!order->counted || etch_order_take(order))
		order->kind->hit(order, hit);
}

/* As enabled events do: a record is shown with the name of its task. */
static void etch_order_names(struct etch_order *order, bool names)
{
	if (names && order->kind->records)
		etch_comm_get();
	else if (order->names)
		etch_comm_put();
	order->names = names && order->kind->records;
}

/* No writer is in it. */
static void etch_order_free(struct etch_order *order)
{
	etch_order_names(order, false);
	if (order->kind->free)
		order->kind->free(order);
	etch_program_free(order->trigger.filter);
	kfree(order);
}

/* The event goes. */
static void etch_order_gone(struct etch_trigger *trigger)
{
	struct etch_order *order = container_of(trigger, struct etch_order, trigger);

	list_del(&order->node);
	etch_order_free(order);
}

static int etch_order_understand(struct etch_order *order, const struct etch_line *line)
{
	const struct etch_trigger_kind *kind = order->kind;
	struct etch_program *program;

	/* A line that takes an order away need not repeat the filter. */
	if (line->filter && !line->remove) {
		program = etch_filter_parse(line->in, line->filter, order->event,
					    etch_event_ends(&order->inst->rec, order->event));
		if (IS_ERR(program))
			return PTR_ERR(program) == -ENOMEM ?
			       etch_bad(line->in, line->filter, -ENOMEM, "Not enough memory") :
			       PTR_ERR(program);
		order->trigger.filter = program;
	}
	if (kind->make)
		return kind->make(order, line->in, line->args, line->len);
	if (line->args)
		return etch_bad(line->in, line->args, -EINVAL,
				"Only a count can stand behind %s", kind->name);
	return 0;
}

/* An order that is not in force; or an ERR_PTR(), reported. */
static struct etch_order *etch_order_make(const struct etch_node *node,
					  const struct etch_line *line)
{
	struct etch_order *order = kzalloc(sizeof(*order), GFP_KERNEL);
	int ret;

	if (!order)
		return ERR_PTR(etch_bad(line->in, line->name, -ENOMEM, "Not enough memory"));
	order->trigger.hit = etch_order_hit;
	order->trigger.gone = etch_order_gone;
	order->trigger.bit = node->inst->rec.bit;
	order->trigger.early = line->kind->early;
	order->kind = line->kind;
	order->inst = node->inst;
	order->event = node->event;
	order->counted = line->counted;
	order->away = line->remove;
	atomic64_set(&order->left, line->count);
	INIT_LIST_HEAD(&order->node);
	ret = etch_order_understand(order, line);
	if (!ret)
		return order;
	etch_program_free(order->trigger.filter);
	kfree(order);
	return ERR_PTR(ret);
}

static bool etch_orders_same(const struct etch_order *a, const struct etch_order *b)
{
	if (a->kind->same != b->kind->same)
		return false;
	return a->kind->same ? a->kind->same(a, b) : a->kind == b->kind;
}

/* The order in force that is the same as one which is not. */
static struct etch_order *etch_order_find(const struct etch_order *like)
{
	struct etch_order *order;

	for_each_etch_order(order, like->inst, like->event, NULL)
		if (etch_orders_same(order, like))
			return order;
	return NULL;
}

/* ---- Into force, and out of it ---- */

static int etch_order_open(struct etch_order *order)
{
	struct etch_recorder *rec = &order->inst->rec;
	int ret = etch_rules_prepare(rec, order->event, true);
	int flushed = etch_rules_flush();

	ret = ret ?: flushed;
	if (ret) {
		etch_rules_forget(rec, order->event);
		etch_rules_flush();
	}
	return ret;
}

static int etch_order_start(struct etch_order *order, const struct etch_line *line)
{
	const struct etch_trigger_kind *kind = order->kind;
	int ret;

	if (kind->records && etch_instance_grow(order->inst))
		return etch_bad(line->in, line->name, -ENOMEM,
				"Not enough memory for the buffer");
	ret = kind->arm ? kind->arm(order, line->in) : 0;
	if (ret)
		return ret;
	ret = etch_order_open(order);
	if (ret)
		return etch_bad(line->in, line->name, ret,
				"The trigger cannot be set: error %d", ret);
	etch_order_names(order, true);
	list_add_tail(&order->node, &etch_orders);
	etch_trigger_add(order->event, &order->trigger);
	return 0;
}

/* Before a grace period, and before etch_rules_flush(). */
static void etch_order_stop(struct etch_order *order)
{
	etch_trigger_remove(&order->trigger);
	etch_rules_forget(&order->inst->rec, order->event);
}

/**
 * etch_order_drop() - take an order out of force that has become pointless
 * @order: the order, which is freed after a grace period; its @private is the caller's to free
 *
 * Context: process, may sleep; holds etch_mutex. etch_rules_flush() closes the gate.
 */
void etch_order_drop(struct etch_order *order)
{
	lockdep_assert_held(&etch_mutex);
	list_del(&order->node);
	etch_order_stop(order);
	etch_order_names(order, false);
	etch_program_free_later(order->trigger.filter);
	kfree_rcu(order, rcu);
}

static int etch_order_add(struct etch_order *order, const struct etch_line *line)
{
	struct etch_order *old = etch_order_find(order);
	int ret;

	if (!old) {
		ret = etch_order_start(order, line);
		if (!ret)
			return 0;
	} else if (old->kind == order->kind && order->kind->change) {
		ret = order->kind->change(old, order, line->in);
	} else {
		ret = etch_bad(line->in, line->name, -EEXIST,
			       "The event has a trigger %s: take it away first", old->kind->name);
	}
	etch_order_free(order);
	return ret;
}

static int etch_order_remove(struct etch_order *like, const struct etch_line *line)
{
	struct etch_order *order = etch_order_find(like);
	int ret = 0;

	if (order && order->kind == like->kind) {
		list_del(&order->node);
		etch_order_stop(order);
		etch_rules_flush();
		synchronize_rcu();
		etch_order_free(order);
	} else {
		ret = etch_bad(line->in, line->name, -ENOENT, "The event has no such trigger");
	}
	etch_order_free(like);
	return ret;
}

/* ---- The files ---- */

static int etch_trigger_store(struct etch_node *node, const struct etch_input *in)
{
	struct etch_line line = {};
	struct etch_order *order;
	int ret;

	ret = etch_line_parse(&line, in);
	if (ret)
		return ret;
	order = etch_order_make(node, &line);
	if (IS_ERR(order))
		return PTR_ERR(order);
	return line.remove ? etch_order_remove(order, &line) : etch_order_add(order, &line);
}

static void etch_order_show(struct seq_file *m, const struct etch_order *order)
{
	const struct etch_trigger_kind *kind = order->kind;
	long missed = atomic_long_read(&order->trigger.missed);

	if (kind->show)
		kind->show(m, order);
	else
		seq_puts(m, kind->name);
	if (order->counted)
		seq_printf(m, ":count=%lld", atomic64_read(&order->left));
	else if (!kind->no_count)
		seq_puts(m, ":unlimited");
	if (order->trigger.filter)
		seq_printf(m, " if %s", order->trigger.filter->text);
	seq_putc(m, '\n');
	if (kind->note)
		kind->note(m, order);
	if (missed)
		seq_printf(m, "# not reached by %ld hits: too many writers nested, or a record too long\n",
			   missed);
}

static void etch_trigger_show(struct seq_file *m, const struct etch_node *node)
{
	const struct etch_trigger_kind *kind;
	struct etch_order *order;
	bool any = false;

	for_each_etch_order(order, node->inst, node->event, NULL) {
		etch_order_show(m, order);
		any = true;
	}
	if (any)
		return;
	seq_puts(m, "# Available triggers:\n#");
	list_for_each_entry(kind, &etch_trigger_kinds, node)
		seq_printf(m, " %s", kind->name);
	seq_putc(m, '\n');
}

static const struct etch_event_control etch_trigger_controls[] = {
	{ "trigger", 0600, ETCH_OF_EVENT, .has = etch_event_has_rules,
	  .show = etch_trigger_show, .store = etch_trigger_store },
	{}
};

/* The instance goes. */
static void etch_triggers_remove(struct etch_instance *inst)
{
	struct etch_order *order, *next;
	LIST_HEAD(gone);

	list_for_each_entry_safe(order, next, &etch_orders, node) {
		if (order->inst != inst)
			continue;
		etch_order_stop(order);
		etch_rules_flush();
		list_move_tail(&order->node, &gone);
	}
	if (list_empty(&gone))
		return;
	synchronize_rcu();
	list_for_each_entry_safe(order, next, &gone, node)
		etch_order_free(order);
}

static struct etch_files etch_trigger_files = {
	.of_event = etch_trigger_controls,
	.remove = etch_triggers_remove,
};

static int __init etch_trigger_files_offer(void)
{
	etch_tree_offer(&etch_trigger_files);
	return 0;
}
core_initcall(etch_trigger_files_offer);
