// SPDX-License-Identifier: GPL-2.0
/*
 * Names, each kept once: a hash of numbers, and the texts by number. Names come from traces,
 * which anybody may have made, and go to terminals: characters that control those become ?.
 */
#include "states/states.h"

#include <stdlib.h>

#define LABEL_SIZE	128	/* of the longest name: the rest of one is cut off */

struct labels {
	char **texts;
	unsigned int nr, room;
	unsigned int *slots;	/* twice @room: numbers, 0 is free */
};

static unsigned int label_hash(const char *text, size_t len)
{
	unsigned int hash = 2166136261u;

	while (len--)
		hash = (hash ^ (unsigned char)*text++) * 16777619u;
	return hash ^ hash >> 15;
}

/* Where a name is, or belongs. */
static unsigned int *label_slot(const struct labels *l, const char *text, size_t len)
{
	unsigned int i = label_hash(text, len), mask = 2 * l->room - 1;

	for (i &= mask; l->slots[i]; i = (i + 1) & mask)
		if (!strncmp(l->texts[l->slots[i]], text, len) && !l->texts[l->slots[i]][len])
			break;
	return &l->slots[i];
}

static bool labels_grow(struct labels *l)
{
	unsigned int room = l->room ? 2 * l->room : 256;
	unsigned int *slots = calloc(2 * room, sizeof(*slots));
	char **texts = realloc(l->texts, room * sizeof(*texts));

	if (texts)
		l->texts = texts;
	if (!slots || !texts) {
		free(slots);
		return false;
	}
	free(l->slots);
	l->slots = slots;
	l->room = room;
	for (unsigned int i = 1; i < l->nr; i++)
		*label_slot(l, l->texts[i], strlen(l->texts[i])) = i;
	return true;
}

struct labels *labels_open(void)
{
	struct labels *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	if (labels_grow(l))
		l->texts[0] = strdup("?");
	if (!l->room || !l->texts[0]) {
		labels_close(l);
		return NULL;
	}
	l->nr = 1;
	return l;
}

/* Returns its length. */
static size_t label_clean(char *clean, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && i < LABEL_SIZE && text[i]; i++)
		clean[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	return i;
}

unsigned int labels_find(const struct labels *l, const char *text)
{
	return *label_slot(l, text, strlen(text));
}

unsigned int labels_add(struct labels *l, const char *text, size_t len)
{
	char clean[LABEL_SIZE];
	unsigned int *slot;

	len = label_clean(clean, text, len);
	text = clean;
	if (!len)
		return 0;
	slot = label_slot(l, text, len);
	if (*slot)
		return *slot;
	if (l->nr == l->room) {
		if (!labels_grow(l))
			return 0;
		slot = label_slot(l, text, len);
	}
	l->texts[l->nr] = strndup(text, len);
	if (!l->texts[l->nr])
		return 0;
	return *slot = l->nr++;
}

const char *labels_text(const struct labels *l, unsigned int label)
{
	return l->texts[label < l->nr ? label : 0];
}

unsigned int labels_nr(const struct labels *l)
{
	return l->nr;
}

void labels_close(struct labels *l)
{
	if (!l)
		return;
	for (unsigned int i = 0; i < l->nr; i++)
		free(l->texts[i]);
	free(l->texts);
	free(l->slots);
	free(l);
}
