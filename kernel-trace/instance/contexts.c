// SPDX-License-Identifier: GPL-2.0
/*
 * The contexts of an instance's records: event/contexts.h.
 */
#include <linux/cpuhotplug.h>
#include <linux/etch_ring.h>
#include <linux/init.h>
#include <linux/kconfig.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "event/contexts.h"
#include "event/rules.h"
#include "instance/instance_internal.h"

/* As when the clock changes: the records so far are of another trace. */
static void etch_contexts_exchange(struct etch_instance *inst, struct etch_contexts *c)
{
	mutex_lock(&inst->read_mutex);
	etch_rings_stop(inst, ETCH_ALL_CPUS);
	etch_contexts_set(&inst->rec, c);
	swap(inst->contexts, c);
	etch_rings_restart(inst);
	mutex_unlock(&inst->read_mutex);
	wake_up_interruptible_all(&inst->wait);
	etch_contexts_end_counting(c);
	etch_contexts_put(c);
}

/**
 * etch_instance_set_contexts() - choose what is added to each record
 * @inst: the instance; its rings are not in a region of reserved memory
 * @c: the contexts, which go to the instance; NULL: none
 *
 * Empties the rings: nobody could tell where the fields of their records are. The records from
 * then on are another trace, with a uuid of its own. Records that come meanwhile are lost.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; or a negative errno, and nothing has changed: @c is the caller's. -ENOENT,
 * -EOPNOTSUPP, -ENODEV: this machine has no such counter.
 */
int etch_instance_set_contexts(struct etch_instance *inst, struct etch_contexts *c)
{
	int ret;

	lockdep_assert_held(&etch_mutex);
	ret = etch_contexts_begin_counting(c);
	if (ret)
		return ret;
	ret = c ? etch_contexts_prepare(&inst->rec) : 0;
	if (ret) {
		etch_contexts_end_counting(c);
		return ret;
	}
	etch_contexts_exchange(inst, c);
	if (!c)
		etch_contexts_forget(&inst->rec);
	return 0;
}

/* ---- CPUs that come ---- */

static void etch_counters_renew(struct work_struct *work)
{
	struct etch_instance *inst;
	int bit;

	mutex_lock(&etch_mutex);
	for (bit = 0; bit < ETCH_BITS; bit++) {
		inst = etch_instances[bit];
		if (inst)
			etch_contexts_renew_counters(inst->contexts);
	}
	mutex_unlock(&etch_mutex);
}

static DECLARE_WORK(etch_counters_work, etch_counters_renew);

/* perf waits for hotplug to end before it counts something new. */
static int etch_counters_online(unsigned int cpu)
{
	schedule_work(&etch_counters_work);
	return 0;
}

/**
 * etch_contexts_init() - have the counters of CPUs that come renewed
 *
 * Context: boot, once.
 * Return: 0 or a negative errno.
 */
int __init etch_contexts_init(void)
{
	int ret = 0;

	if (IS_ENABLED(CONFIG_PERF_EVENTS))
		ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "etch:online",
						etch_counters_online, NULL);
	return min(ret, 0);
}
