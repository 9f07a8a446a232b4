/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_LISTS_H
#define _ETCH_LISTS_H

/* A text as a list of its lines. Sort it before looking lines up. */

#include "etch.h"

struct list {
	char *text;		/* cut up by zeros */
	char **lines;
	size_t nr;
};

struct list list_of(char *text);
void list_sort(struct list *l);
bool list_has(const struct list *sorted, const char *line);
void list_free(struct list *l);

#endif /* _ETCH_LISTS_H */
