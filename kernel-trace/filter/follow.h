/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_FOLLOW_H
#define _KERNEL_ETCH_FOLLOW_H

/*
 * Sets of tasks that follow forks: a child of a task in the set gets there, too, before it runs,
 * and a task that has ended leaves the set before its number is used again.
 */

#include <linux/types.h>

int etch_follow_start(void);
void etch_follow_count(bool before, bool after);

#endif /* _KERNEL_ETCH_FOLLOW_H */
