/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_TREE_ENABLE_H
#define _KERNEL_ETCH_TREE_ENABLE_H

/*
 * Changing which events are enabled, so that either all of a change is made or none: the
 * caller saves, changes, and restores if it fails. All under etch_mutex.
 */

#include "tree/tree.h"

/* What -EOPNOTSUPP means. */
#define ETCH_NO_USER	"A program's event needs trace_clock 'counter', and no reserved memory"

/* The events as they come, and the place in the list of the last one. */
struct etch_places {
	const struct etch_event *event;
	unsigned int i;
};

struct etch_places etch_places_first(void);
unsigned int etch_place(struct etch_places *at, const struct etch_event *event);

unsigned long *etch_enabled_save(struct etch_instance *inst);
void etch_enabled_restore(struct etch_instance *inst, const unsigned long *bits);

#endif /* _KERNEL_ETCH_TREE_ENABLE_H */
