/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_LISTS_H
#define _ETCH_LISTS_H

/* A text as a list of its lines, sorted if one wants to look things up. */

#include "etch_test.h"

struct list {
	char *text;		/* cut up by zeros */
	char **lines;
	size_t nr;
};

/* Takes over @text, which may be NULL: no lines. */
static inline struct list list_of(char *text)
{
	struct list l = { .text = text };
	char *line, *rest = text;

	if (!text)
		return l;
	l.lines = must_alloc(NULL, (count_lines(text) + 1) * sizeof(char *));
	while ((line = strsep(&rest, "\n"))) {
		if (*line)
			l.lines[l.nr++] = line;
	}
	return l;
}

static inline int list_compare(const void *a, const void *b)
{
	return strcmp(*(char * const *)a, *(char * const *)b);
}

static inline void list_sort(struct list *l)
{
	qsort(l->lines, l->nr, sizeof(char *), list_compare);
}

static inline bool list_has(const struct list *sorted, const char *line)
{
	return bsearch(&line, sorted->lines, sorted->nr, sizeof(char *), list_compare);
}

static inline void list_free(struct list *l)
{
	free(l->lines);
	free(l->text);
}

#endif /* _ETCH_LISTS_H */
