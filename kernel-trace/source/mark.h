/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_MARK_H
#define _KERNEL_ETCH_MARK_H

/* Markers: what mark.c has for its tests. */

#include <linux/etch_mark.h>

struct etch_event;

/* From the linker script: the kernel's own markers. */
extern struct etch_mark_site __start_etch_marks[], __stop_etch_marks[];

void etch_marks_add(struct etch_mark_site *sites, unsigned int nr);
void etch_marks_remove(struct etch_mark_site *sites, unsigned int nr);
const struct etch_event *etch_mark_event(const struct etch_mark_site *site);

#endif /* _KERNEL_ETCH_MARK_H */
