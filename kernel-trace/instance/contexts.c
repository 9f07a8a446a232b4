// SPDX-License-Identifier: GPL-2.0
/*
 * The contexts of an instance's records: event/contexts.h.
 */
#include <linux/etch_ring.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>

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
 * Return: 0; or a negative errno, and nothing has changed: @c is the caller's.
 */
int etch_instance_set_contexts(struct etch_instance *inst, struct etch_contexts *c)
{
	int ret = c ? etch_contexts_prepare(&inst->rec) : 0;

	lockdep_assert_held(&etch_mutex);
	if (ret)
		return ret;
	etch_contexts_exchange(inst, c);
	if (!c)
		etch_contexts_forget(&inst->rec);
	return 0;
}
