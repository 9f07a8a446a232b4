// SPDX-License-Identifier: GPL-2.0
/*
 * enable_event:SYSTEM:EVENT and disable_event:SYSTEM:EVENT: a hit turns another event on or off
 * in the instance.
 *
 * The other event's gate is open from the beginning, so a hit takes effect at once: see
 * event/rules.h. When the other event goes with its module, so do the triggers that name it.
 */
#include <linux/container_of.h>
#include <linux/etch.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trigger/trigger.h"

/**
 * struct etch_target - the other event of an order
 * @event: the event
 * @order: the order
 * @watch: tells that the event goes
 * @armed: the order turns it on and off, and watches it
 * @rcu: frees it
 */
struct etch_target {
	struct etch_event *event;
	struct etch_order *order;
	struct etch_watch watch;
	bool armed;
	struct rcu_head rcu;
};

static struct etch_target *etch_target(const struct etch_order *order)
{
	return order->private;
}

/* Writers may be in the order, and turn the event off, until a grace period is over. */
static void etch_target_gone(struct etch_watch *watch)
{
	struct etch_target *target = container_of(watch, struct etch_target, watch);

	etch_order_drop(target->order);
	kfree_rcu(target, rcu);
}

static struct etch_event *etch_target_find(const char *system, size_t len, const char *name,
					   size_t name_len)
{
	struct etch_event *event;

	list_for_each_entry(event, &etch_events, node)
		if (!event->hidden && strlen(event->class->system) == len &&
		    !memcmp(event->class->system, system, len) &&
		    strlen(event->name) == name_len && !memcmp(event->name, name, name_len))
			return event;
	return NULL;
}

static int etch_target_make(struct etch_order *order, const struct etch_input *in,
			    const char *args, size_t len)
{
	const char *colon = args ? memchr(args, ':', len) : NULL;
	struct etch_target *target;
	struct etch_event *event;

	if (!colon)
		return etch_bad(in, args ?: in->text + strlen(in->text), -EINVAL,
				"The other event is missing: %s:SYSTEM:EVENT", order->kind->name);
	event = etch_target_find(args, colon - args, colon + 1, args + len - colon - 1);
	if (!event)
		return etch_bad(in, args, -EINVAL, "There is no such event");
	target = kzalloc(sizeof(*target), GFP_KERNEL);
	if (!target)
		return etch_bad(in, args, -ENOMEM, "Not enough memory");
	target->event = event;
	target->order = order;
	target->watch.gone = etch_target_gone;
	order->private = target;
	return 0;
}

static bool etch_target_same(const struct etch_order *a, const struct etch_order *b)
{
	return etch_target(a)->event == etch_target(b)->event;
}

static int etch_target_arm(struct etch_order *order, const struct etch_input *in)
{
	struct etch_target *target = etch_target(order);
	int ret = etch_soft_begin(&order->inst->rec, target->event);

	if (ret)
		return etch_bad(in, in->text, ret, "The other event cannot be enabled: error %d",
				ret);
	etch_soft_watch(target->event, &target->watch);
	target->armed = true;
	return 0;
}

static void etch_target_hit(struct etch_order *order, bool on)
{
	if (!etch_soft_turn(etch_target(order)->event, order->trigger.bit, on))
		etch_order_give_back(order);
}

static void etch_enable_hit(struct etch_order *order, const struct etch_hit *hit)
{
	etch_target_hit(order, true);
}

static void etch_disable_hit(struct etch_order *order, const struct etch_hit *hit)
{
	etch_target_hit(order, false);
}

static void etch_target_show(struct seq_file *m, const struct etch_order *order)
{
	const struct etch_event *event = etch_target(order)->event;

	seq_printf(m, "%s:%s:%s", order->kind->name, event->class->system, event->name);
}

static bool etch_target_used(const struct etch_order *order)
{
	struct etch_order *other;

	for_each_etch_order(other, order->inst, NULL, NULL)
		if (other != order && other->kind->same == etch_target_same &&
		    etch_target_same(other, order))
			return true;
	return false;
}

/* The last one that names the event lets go of it. */
static void etch_target_free(struct etch_order *order)
{
	struct etch_target *target = etch_target(order);

	if (target->armed) {
		list_del(&target->watch.node);
		if (!etch_target_used(order))
			etch_soft_end(&order->inst->rec, target->event);
	}
	kfree(target);
}

static struct etch_trigger_kind etch_enable_kind = {
	.name = "enable_event",
	.records = true,
	.make = etch_target_make,
	.same = etch_target_same,
	.arm = etch_target_arm,
	.hit = etch_enable_hit,
	.show = etch_target_show,
	.free = etch_target_free,
};

static struct etch_trigger_kind etch_disable_kind = {
	.name = "disable_event",
	.records = true,
	.make = etch_target_make,
	.same = etch_target_same,
	.arm = etch_target_arm,
	.hit = etch_disable_hit,
	.show = etch_target_show,
	.free = etch_target_free,
};

static int __init etch_target_offer(void)
{
	etch_trigger_offer(&etch_enable_kind);
	etch_trigger_offer(&etch_disable_kind);
	return 0;
}
core_initcall(etch_target_offer);
