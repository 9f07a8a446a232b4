/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_CONTEXT_H
#define _KERNEL_ETCH_CONTEXT_H

/* What this CPU is doing, as records have it. */

#include <linux/etch.h>
#include <linux/kconfig.h>
#include <linux/preempt.h>
#include <linux/types.h>

/* For other contexts than a task's. With PREEMPT_RT the preempt count omits softirqs. */
static __always_inline enum etch_context etch_context_level(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !in_nmi() && !in_hardirq())
		return ETCH_SOFTIRQ;
	return interrupt_context_level();
}

static __always_inline enum etch_context etch_context_now(void)
{
	return in_task() ? ETCH_TASK : etch_context_level();
}

u8 etch_context_flags(void);
u8 etch_context_preempt_count(void);
u16 etch_context_migrate_disable(void);
u64 etch_context_cgroup(void);

#endif /* _KERNEL_ETCH_CONTEXT_H */
