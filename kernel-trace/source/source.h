/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_SOURCE_H
#define _KERNEL_ETCH_SOURCE_H

/*
 * Events that come from no header.
 */

#include "tree/tree.h"

/* ---- marker.c: what user space writes ---- */

/* The hidden event of trace_marker. */
extern struct etch_event etch_marker_event;

/* ---- syscalls.c: the system calls as events ---- */

#ifdef CONFIG_ETCH_SYSCALLS
void etch_syscalls_init(void);
#else
static inline void etch_syscalls_init(void)
{
}
#endif

int etch_marker_init(void);
extern struct etch_files etch_marker_files;

#endif /* _KERNEL_ETCH_SOURCE_H */
