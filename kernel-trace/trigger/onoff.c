// SPDX-License-Identifier: GPL-2.0
/*
 * traceon and traceoff: a hit has the instance record, or record no more.
 *
 * traceoff takes effect at once: the hit's own record is the last one of its CPU, and other CPUs
 * store what they have begun. The gates of events are closed a little later, in a task. traceon
 * takes effect when the gates are open, which is a little later, too.
 */
#include <linux/etch.h>
#include <linux/init.h>

#include "trigger/later.h"
#include "trigger/trigger.h"

static struct etch_later etch_turned[ETCH_BITS];

static void etch_turn_hit(struct etch_order *order, bool on)
{
	if (etch_instance_turn(order->inst, on))
		etch_later_run(&etch_turned[order->trigger.bit]);
	else
		etch_order_give_back(order);
}

static void etch_traceon_hit(struct etch_order *order, const struct etch_hit *hit)
{
	etch_turn_hit(order, true);
}

static void etch_traceoff_hit(struct etch_order *order, const struct etch_hit *hit)
{
	etch_turn_hit(order, false);
}

/* An event has one of the two, and once. */
static bool etch_turn_same(const struct etch_order *a, const struct etch_order *b)
{
	return true;
}

static struct etch_trigger_kind etch_traceon_kind = {
	.name = "traceon",
	.early = true,
	.same = etch_turn_same,
	.hit = etch_traceon_hit,
};

static struct etch_trigger_kind etch_traceoff_kind = {
	.name = "traceoff",
	.same = etch_turn_same,
	.hit = etch_traceoff_hit,
};

static int __init etch_turn_offer(void)
{
	etch_later_init(etch_turned, etch_instance_settle);
	etch_trigger_offer(&etch_traceon_kind);
	etch_trigger_offer(&etch_traceoff_kind);
	return 0;
}
core_initcall(etch_turn_offer);
