// SPDX-License-Identifier: GPL-2.0

#include "lists.h"

/* Takes over @text, which may be NULL: no lines. */
struct list list_of(char *text)
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

static int list_compare(const void *a, const void *b)
{
	return strcmp(*(char * const *)a, *(char * const *)b);
}

void list_sort(struct list *l)
{
	qsort(l->lines, l->nr, sizeof(char *), list_compare);
}

bool list_has(const struct list *sorted, const char *line)
{
	return bsearch(&line, sorted->lines, sorted->nr, sizeof(char *), list_compare);
}

void list_free(struct list *l)
{
	free(l->lines);
	free(l->text);
}
