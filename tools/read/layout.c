// SPDX-License-Identifier: GPL-2.0
/*
 * Events and fields, where they are in a record, and their values.
 */
#include "read/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ARENA_BLOCK	(1 << 16)
#define LAYOUT_SIZE	(512 << 10)	/* bytes of the largest record */
#define LAYOUT_FIELDS	1024		/* of an event */

/* Memory that is freed all at once. */
struct etch_arena {
	struct etch_arena *next;
	size_t used, room;
	unsigned char bytes[] __attribute__((aligned(16)));
};

static void complain_to_stderr(const char *sentence)
{
	fprintf(stderr, "etch: %s\n", sentence);
}

void (*etch_complain)(const char *sentence) = complain_to_stderr;

void etch_complaint(const char *fmt, ...)
{
	char sentence[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	etch_complain(sentence);
}

void *etch_source_alloc(struct etch_source *source, size_t size)
{
	struct etch_arena *arena = source->arena;
	size_t room;

	size = (size + 15) & ~(size_t)15;
	if (!arena || arena->room - arena->used < size) {
		room = size > ARENA_BLOCK ? size : ARENA_BLOCK;
		arena = calloc(1, sizeof(*arena) + room);
		if (!arena) {
			etch_complaint("There is no memory for the trace's events");
			return NULL;
		}
		arena->room = room;
		arena->next = source->arena;
		source->arena = arena;
	}
	arena->used += size;
	return arena->bytes + arena->used - size;
}

char *etch_source_text(struct etch_source *source, const char *text, size_t len)
{
	char *copy = etch_source_alloc(source, len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

void etch_close(struct etch_source *source)
{
	struct etch_arena *arena;

	if (!source)
		return;
	if (source->close)
		source->close(source);
	while ((arena = source->arena)) {
		source->arena = arena->next;
		free(arena);
	}
	free(source->events);
	free(source->cpus);
	free(source->metadata);
	free(source->path);
	free(source);
}

/* ---- Events and fields ---- */

/* Room for one more in a list that doubles: the old list if it has some. */
static void *grow(void *list, unsigned int nr, size_t each)
{
	if (nr & (nr - 1) || (nr && nr < 8))
		return list;
	return realloc(list, (nr < 8 ? 8 : 2 * (size_t)nr) * each);
}

struct etch_event *etch_event_add(struct etch_source *source, unsigned int id, const char *full)
{
	struct etch_event **list = grow(source->events, source->nr_events, sizeof(*list));
	struct etch_event *event = etch_source_alloc(source, sizeof(*event));
	const char *colon = strchr(full, ':');

	if (list)
		source->events = list;
	if (!list || !event || id >= ETCH_IDS)
		return NULL;
	event->full = etch_source_text(source, full, strlen(full));
	event->system = etch_source_text(source, full, colon ? colon - full : 0);
	if (!event->full || !event->system)
		return NULL;
	event->name = event->full + (colon ? colon + 1 - full : 0);
	event->id = id;
	event->size = ETCH_HEAD;
	event->index = source->nr_events;
	list[source->nr_events++] = event;
	source->by_id[id] = event;
	return event;
}

void *etch_by_event(const struct etch_source *source, void *table, unsigned int *nr, size_t size)
{
	unsigned char *more = realloc(table, (source->nr_events + 1) * size);

	if (!more) {
		etch_complaint("There is no memory for a table of events");
		return NULL;
	}
	memset(more + *nr * size, 0, (source->nr_events + 1 - *nr) * size);
	*nr = source->nr_events;
	return more;
}

static bool field_makes_sense(const struct etch_field *field)
{
	if (field->offset > LAYOUT_SIZE || field->size > LAYOUT_SIZE)
		return false;
	if (field->where != ETCH_FIXED && field->size != 4)
		return false;
	if (field->kind == ETCH_NUMBER || field->kind == ETCH_ARRAY)
		return field->elem == 1 || field->elem == 2 || field->elem == 4 ||
		       field->elem == 8;
	return true;
}

/* A copy of a list with one more. Lists are short, and old ones stay in the arena. */
static bool fields_add(struct etch_source *source, struct etch_field **fields, unsigned int *nr,
		       const struct etch_field *field)
{
	struct etch_field *more = *fields;

	if (!field_makes_sense(field) || *nr == LAYOUT_FIELDS)
		return false;
	if (!(*nr & (*nr - 1))) {
		more = etch_source_alloc(source, (*nr ? 2 * *nr : 1) * sizeof(*more));
		if (!more)
			return false;
		memcpy(more, *fields ? *fields : more, *nr * sizeof(*more));
		*fields = more;
	}
	more[(*nr)++] = *field;
	return true;
}

bool etch_field_add(struct etch_source *source, struct etch_event *event,
		    const struct etch_field *field)
{
	if (!fields_add(source, &event->fields, &event->nr_fields, field))
		return false;
	if (event->size < field->offset + field->size)
		event->size = field->offset + field->size;
	event->dynamic |= field->where != ETCH_FIXED;
	return true;
}

bool etch_context_add(struct etch_source *source, const struct etch_field *field)
{
	if (field->offset != ETCH_HEAD + source->more ||
	    !fields_add(source, &source->contexts, &source->nr_contexts, field))
		return false;
	source->more += field->size;
	return true;
}

struct etch_event *etch_event(const struct etch_source *source, const char *full)
{
	for (unsigned int i = source->nr_events; i--;)
		if (!strcmp(source->events[i]->full, full))
			return source->events[i];
	return NULL;
}

static const struct etch_field *field_named(const struct etch_field *fields, unsigned int nr,
					    const char *name)
{
	for (unsigned int i = 0; i < nr; i++)
		if (!strcmp(fields[i].name, name))
			return fields + i;
	return NULL;
}

const struct etch_field *etch_field(const struct etch_event *event, const char *name)
{
	return field_named(event->fields, event->nr_fields, name);
}

const struct etch_field *etch_context(const struct etch_source *source, const char *name)
{
	return field_named(source->contexts, source->nr_contexts, name);
}

/* ---- Values ---- */

uint64_t etch_load(const void *at, unsigned int size, bool is_signed)
{
	uint64_t value = 0;

	switch (size) {
	case 1:
		value = *(const uint8_t *)at;
		return is_signed ? (uint64_t)(int64_t)(int8_t)value : value;
	case 2:
		memcpy(&value, at, 2);
		return is_signed ? (uint64_t)(int64_t)(int16_t)value : value;
	case 4:
		memcpy(&value, at, 4);
		return is_signed ? (uint64_t)(int64_t)(int32_t)value : value;
	case 8:
		memcpy(&value, at, 8);
	}
	return value;
}

const unsigned char *etch_bytes(const struct etch_record *rec, const struct etch_field *field,
				size_t *len)
{
	unsigned int word, start;

	*len = 0;
	if (!field)
		return (const unsigned char *)"";
	if (field->where == ETCH_FIXED) {
		*len = field->size;
		return rec->data + field->offset;
	}
	word = etch_load(rec->data + field->offset, 4, false);
	if (!(word >> 16))
		return (const unsigned char *)"";
	start = word & 0xffff;
	if (field->where == ETCH_REL_LOC)
		start += field->offset + 4;
	*len = word >> 16;
	return rec->data + start;
}

uint64_t etch_number(const struct etch_record *rec, const struct etch_field *field)
{
	if (!field || field->kind != ETCH_NUMBER)
		return 0;
	return etch_load(rec->data + field->offset, field->size, field->is_signed);
}

uint64_t etch_context_number(const struct etch_record *rec, const struct etch_field *context)
{
	if (!context || context->kind != ETCH_NUMBER)
		return 0;
	return etch_load(rec->head + context->offset, context->size, context->is_signed);
}

const char *etch_text(const struct etch_record *rec, const struct etch_field *field, size_t *len)
{
	const char *text = (const char *)etch_bytes(rec, field, len);

	*len = strnlen(text, *len);
	return text;
}
