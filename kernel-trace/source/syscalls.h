/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_SYSCALLS_H
#define _KERNEL_ETCH_SYSCALLS_H

/* Names of system calls. */

#include <linux/types.h>

#ifdef CONFIG_ETCH_SYSCALLS
const char *etch_syscall_name(u64 nr);
#else
static inline const char *etch_syscall_name(u64 nr)
{
	return NULL;
}
#endif

#endif /* _KERNEL_ETCH_SYSCALLS_H */
