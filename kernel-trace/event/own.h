/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_OWN_H
#define _KERNEL_ETCH_OWN_H

/* Records that are one instance's own, written by the framework itself: they pass no gate. */

#include <linux/bits.h>
#include <linux/rcupdate.h>

#include "event/contexts.h"
#include "event/rules.h"

/**
 * etch_own_mask() - the mask for a record of one instance's own
 * @bit: of the instance
 *
 * Context: preemption disabled until the record's etch_write_end().
 * Return: for etch_write_begin().
 */
static inline u64 etch_own_mask(int bit)
{
	u64 mask = 1ULL << bit;

	return rcu_access_pointer(etch_contexts[bit]) ? mask | ETCH_OWN | ETCH_RULES : mask;
}

#endif /* _KERNEL_ETCH_OWN_H */
