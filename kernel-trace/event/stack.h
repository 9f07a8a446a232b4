/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_STACK_H
#define _KERNEL_ETCH_STACK_H

/* The kernel's stack where an event is hit, without the functions that record it. */

#define ETCH_STACK_MAX		64	/* addresses */

unsigned int etch_stack_save(unsigned long *callers, unsigned int max, unsigned long caller);
long etch_stack_skip(const void *callers, long nr);

#endif /* _KERNEL_ETCH_STACK_H */
