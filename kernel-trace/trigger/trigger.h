/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_TRIGGER_H
#define _KERNEL_ETCH_TRIGGER_H

/*
 * Triggers as users write them, in an event's file "trigger":
 *
 *	line	= [ "!" ] NAME [ ":" ARGUMENTS ] [ ":" COUNT ] [ " if " FILTER ]
 *
 * A kind of triggers stands for each NAME. A source that has a kind offers it at boot:
 *
 *	static struct etch_trigger_kind etch_beep_kind = {
 *		.name = "beep",
 *		.hit = etch_beep_hit,
 *	};
 *
 *	static int __init etch_beep_offer(void)
 *	{
 *		etch_trigger_offer(&etch_beep_kind);
 *		return 0;
 *	}
 *	core_initcall(etch_beep_offer);
 *
 * An order is a line that is in force. The life of an order, under etch_mutex but for its hits:
 *
 *	make()		understands the arguments
 *	same()		looks for an order of that kind: a second one is refused, or changes the
 *			first: change(). "!" takes that one away
 *	arm()		gets what the hits need: the order comes into force
 *	hit()		for each hit that passes the filter, as long as the count lasts
 *	free()		a grace period after the last hit; or right after make(), if the order
 *			did not come into force
 */

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "event/rules.h"
#include "instance/instance.h"

struct seq_file;

struct etch_order;

/**
 * struct etch_trigger_kind - what lines that begin with one word do
 * @name: the word
 * @early: its orders are hit before the record is stored
 * @records: hits store records: the instance gets its rings, if it has none yet
 * @no_count: @make understands all of the arguments: no count is split off
 * @make: understands the @len bytes at @args, which stand between the name's colon and the
 *	  filter, in @in->text. NULL: there is nothing there, and @len is 0. Allocates
 *	  @order->private. Returns 0, or a negative errno that etch_bad() has reported, and
 *	  frees what it has allocated. A kind without @make takes no arguments
 * @same: are two orders the same, whatever their counts and filters are? Kinds that share this
 *	  function exclude each other. NULL: all orders of the kind are the same
 * @change: @order names what @old is already, which it changes as it likes; @order is freed
 *	    then. Returns as @make does. NULL: -EEXIST
 * @arm: gets what the hits need. Returns as @make does, and @free is called in any case
 * @hit: does it. Context: as that of struct etch_trigger
 * @show: prints the line without count and filter; NULL: the name is all
 * @note: prints lines about the order that begin with "#", behind its own; may be NULL
 * @free: frees @order->private; may sleep; may be NULL
 * @node: in the list of all kinds
 */
struct etch_trigger_kind {
	const char *name;
	bool early;
	bool records;
	bool no_count;
	int (*make)(struct etch_order *order, const struct etch_input *in, const char *args,
		    size_t len);
	bool (*same)(const struct etch_order *a, const struct etch_order *b);
	int (*change)(struct etch_order *old, struct etch_order *order,
		      const struct etch_input *in);
	int (*arm)(struct etch_order *order, const struct etch_input *in);
	void (*hit)(struct etch_order *order, const struct etch_hit *hit);
	void (*show)(struct seq_file *m, const struct etch_order *order);
	void (*note)(struct seq_file *m, const struct etch_order *order);
	void (*free)(struct etch_order *order);
	struct list_head node;
};

/**
 * struct etch_order - a line of a trigger file
 * @trigger: what the event calls; it has the filter. A kind whose orders have no count may set
 *	     @trigger.hit in its @make, and saves a call for each hit
 * @kind: what the line does
 * @inst: the instance that has it
 * @event: whose hits it is for
 * @away: it only says which order is to be taken away
 * @counted: there is a count: @left hits are still to come
 * @left: see @counted
 * @private: of the kind
 * @names: it keeps the names of tasks
 * @node: in the list of all orders; empty: it is not in force
 * @rcu: frees it
 */
struct etch_order {
	struct etch_trigger trigger;
	const struct etch_trigger_kind *kind;
	struct etch_instance *inst;
	struct etch_event *event;
	bool away;
	bool counted;
	atomic64_t left;
	void *private;
	bool names;
	struct list_head node;
	struct rcu_head rcu;
};

void etch_trigger_offer(struct etch_trigger_kind *kind);
void etch_order_drop(struct etch_order *order);

/**
 * etch_order_give_back() - a hit had nothing to do: it does not count
 * @order: the order that is being hit
 *
 * Context: in its kind's hit().
 */
static inline void etch_order_give_back(struct etch_order *order)
{
	if (order->counted)
		atomic64_inc(&order->left);
}

struct etch_order *etch_order_next(const struct etch_instance *inst,
				   const struct etch_event *event,
				   const struct etch_trigger_kind *kind,
				   struct etch_order *last);

/* The orders in force: of a kind, or of all: NULL; for an event, or for all; of an instance. */
#define for_each_etch_order(order, inst, event, kind)				\
	for ((order) = etch_order_next(inst, event, kind, NULL); (order);	\
	     (order) = etch_order_next(inst, event, kind, order))

#endif /* _KERNEL_ETCH_TRIGGER_H */
