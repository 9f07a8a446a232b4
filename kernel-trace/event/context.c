// SPDX-License-Identifier: GPL-2.0
/*
 * What this CPU is doing, and for which task: the numbers that a record may have of it.
 *
 * A writer has disabled preemption once, which does not count.
 */
#include <linux/cgroup.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/trace_events.h>

#include "event/context.h"

/**
 * etch_context_flags() - the state of interrupts and preemption
 *
 * Context: any, NMI included, preemption disabled once by the caller.
 * Return: TRACE_FLAG_* of linux/trace_events.h.
 */
u8 etch_context_flags(void)
{
	u8 flags = 0;

	if (irqs_disabled())
		flags |= TRACE_FLAG_IRQS_OFF;
	if (in_nmi())
		flags |= TRACE_FLAG_NMI;
	if (in_hardirq())
		flags |= TRACE_FLAG_HARDIRQ;
	if (in_serving_softirq())
		flags |= TRACE_FLAG_SOFTIRQ;
	/* Serving a softirq counts one, disabling softirqs two. */
	if (softirq_count() & ~SOFTIRQ_OFFSET)
		flags |= TRACE_FLAG_BH_OFF;
	if (tif_need_resched())
		flags |= TRACE_FLAG_NEED_RESCHED;
	if (test_preempt_need_resched())
		flags |= TRACE_FLAG_PREEMPT_RESCHED;
	return flags;
}

/**
 * etch_context_preempt_count() - how often preemption is disabled
 *
 * Context: as etch_context_flags().
 * Return: how often, without the caller; 255 also stands for more.
 */
u8 etch_context_preempt_count(void)
{
	unsigned int count = preempt_count() & PREEMPT_MASK;

	return IS_ENABLED(CONFIG_PREEMPT_COUNT) && count ? min(count - 1, 255U) : 0;
}

/**
 * etch_context_migrate_disable() - how often the task is kept on its CPU
 *
 * Context: any.
 * Return: how often.
 */
u16 etch_context_migrate_disable(void)
{
#ifdef CONFIG_SMP
	return current->migration_disabled;
#else
	return 0;
#endif
}

/**
 * etch_context_cgroup() - the group of the current task
 *
 * Context: any, NMI included, preemption disabled.
 * Return: its number in the v2 hierarchy, which is that of the inode of its folder; 0 without
 * CONFIG_CGROUPS.
 */
u64 etch_context_cgroup(void)
{
#ifdef CONFIG_CGROUPS
	return cgroup_id(rcu_dereference_raw(current->cgroups)->dfl_cgrp);
#else
	return 0;
#endif
}
