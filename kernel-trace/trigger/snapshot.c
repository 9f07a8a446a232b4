// SPDX-License-Identifier: GPL-2.0
/*
 * snapshot: a hit chooses its moment as the instance's snapshot (ctf/snapshot.c).
 *
 * The moment is that of the hit, whose record is the last one of its CPU in the snapshot. But the
 * packets are fixed a little later, in a task. In a ring that overwrites its oldest records,
 * those that are overwritten between the two are missing in the snapshot.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/printk.h>

#include "ctf/ctf.h"
#include "trigger/later.h"
#include "trigger/trigger.h"

/**
 * struct etch_moment - when an instance was hit
 * @time: by @clock; 0: it was not
 * @clock: the instance's. If it has another one since, the moment is that of the task
 */
struct etch_moment {
	u64 time;
	enum etch_clock clock;
};

/* By the instance's bit. */
static struct etch_moment etch_moments[ETCH_BITS];
static struct etch_later etch_shots[ETCH_BITS];

static void etch_snapshot_hit(struct etch_order *order, const struct etch_hit *hit)
{
	struct etch_moment *moment = &etch_moments[order->trigger.bit];
	const struct etch_ring *ring = this_cpu_read(etch_cpu_rings.by_bit[order->trigger.bit]);
	enum etch_clock clock = READ_ONCE(order->inst->clock);

	/* The clock may have gone back behind the record. */
	WRITE_ONCE(moment->time, max(etch_clock_read(clock), etch_ring_latest(ring)));
	WRITE_ONCE(moment->clock, clock);
	etch_later_run(&etch_shots[order->trigger.bit]);
}

static void etch_snapshot_run(struct etch_instance *inst)
{
	struct etch_moment *moment = &etch_moments[inst->rec.bit];
	u64 time = xchg(&moment->time, 0);
	int ret;

	if (!time)
		return;
	ret = READ_ONCE(moment->clock) == inst->clock ? etch_snapshot_take_of(inst, time) :
							 etch_snapshot_take(inst);
	if (ret)
		pr_warn("%s: no memory for the snapshot of a trigger\n",
			inst->name ?: "main tree");
}

/* If the instance goes, another one may get the bit. */
static void etch_snapshot_free(struct etch_order *order)
{
	if (!etch_instance_shown(order->inst))
		WRITE_ONCE(etch_moments[order->trigger.bit].time, 0);
}

static struct etch_trigger_kind etch_snapshot_kind = {
	.name = "snapshot",
	.records = true,
	.hit = etch_snapshot_hit,
	.free = etch_snapshot_free,
};

static int __init etch_snapshot_offer(void)
{
	etch_later_init(etch_shots, etch_snapshot_run);
	etch_trigger_offer(&etch_snapshot_kind);
	return 0;
}
core_initcall(etch_snapshot_offer);
