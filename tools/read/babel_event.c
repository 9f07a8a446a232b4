// SPDX-License-Identifier: GPL-2.0
/*
 * Events of a trace that a library reads: described once, with the fields that Etch's reader
 * knows, and each record laid out in that way. Numbers come first, in the machine's byte order.
 * Texts and arrays are behind them, each with a word as in __data_loc.
 */
#ifdef HAVE_BABELTRACE2
#include "read/babel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Classes ---- */

static const bt_field_class *part_class(const bt_event_class *class, enum babel_part part)
{
	switch (part) {
	case BABEL_PAYLOAD:
		return bt_event_class_borrow_payload_field_class_const(class);
	case BABEL_SPECIFIC:
		return bt_event_class_borrow_specific_context_field_class_const(class);
	default:
		return bt_stream_class_borrow_event_common_context_field_class_const(
			bt_event_class_borrow_stream_class_const(class));
	}
}

static unsigned int members(const bt_field_class *part)
{
	return part ? bt_field_class_structure_get_member_count(part) : 0;
}

static const char *member_name(const bt_field_class *part, unsigned int i)
{
	return bt_field_class_structure_member_get_name(
		bt_field_class_structure_borrow_member_by_index_const(part, i));
}

static const bt_field_class *member_class(const bt_field_class *part, unsigned int i)
{
	return bt_field_class_structure_member_borrow_field_class_const(
		bt_field_class_structure_borrow_member_by_index_const(part, i));
}

static bool is_integer(const bt_field_class *class)
{
	return bt_field_class_type_is(bt_field_class_get_type(class), BT_FIELD_CLASS_TYPE_INTEGER);
}

/* A number that a record has of itself; in the payload are often others', of one that is woken. */
static struct babel_member find_member(const bt_event_class *class, const char *name,
				       enum babel_part first)
{
	for (enum babel_part part = first; part < BABEL_PARTS; part++) {
		const bt_field_class *in = part_class(class, part);

		for (unsigned int i = 0; i < members(in); i++)
			if (!strcmp(member_name(in, i), name) && is_integer(member_class(in, i)))
				return (struct babel_member){ part, i };
	}
	return (struct babel_member){ BABEL_PAYLOAD, -1 };
}

/* The number of elements of another member, which its content tells, or padding. */
static bool is_auxiliary(const bt_field_class *part, const char *name)
{
	size_t len = strlen(name);

	if (*name != '_')
		return false;
	if (!strncmp(name, "_pad_", 5))
		return true;
	if (len < 8 || (strcmp(name + len - 7, "_length") && strcmp(name + len - 7, "_offset")))
		return false;
	for (unsigned int i = 0; i < members(part); i++) {
		const char *other = member_name(part, i);

		if (strlen(other) == len - 8 && !memcmp(other, name + 1, len - 8))
			return true;
	}
	return false;
}

/* ---- Describing ---- */

static void describe_number(const bt_field_class *class, struct etch_field *field)
{
	uint64_t bits = bt_field_class_integer_get_field_value_range(class);

	field->kind = ETCH_NUMBER;
	field->elem = bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
	field->is_signed = bt_field_class_type_is(bt_field_class_get_type(class),
						  BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	field->hex = bt_field_class_integer_get_preferred_display_base(class) ==
		     BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;
}

static enum babel_how describe_class(const bt_field_class *class, struct etch_field *field)
{
	bt_field_class_type type = bt_field_class_get_type(class);

	if (is_integer(class)) {
		describe_number(class, field);
		field->size = field->elem;
		return BABEL_NUMBER;
	}
	field->where = ETCH_LOC;
	field->size = 4;
	field->kind = ETCH_TEXT;
	if (type == BT_FIELD_CLASS_TYPE_STRING)
		return BABEL_STRING;
	if (!bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		return BABEL_TREE;
	class = bt_field_class_array_borrow_element_field_class_const(class);
	if (!is_integer(class))
		return BABEL_TREE;
	describe_number(class, field);
	field->kind = ETCH_ARRAY;
	return BABEL_NUMBERS;
}

/*
 * Two parts may have members of one name: then the context's is "context_NAME". LTTng's
 * procname, the name of a record's thread, is always called so: names.c looks for it.
 */
static const char *free_name(struct etch_source *source, const struct etch_event *event,
			     const char *name, enum babel_part part)
{
	char other[256];

	if (part == BABEL_PAYLOAD || (strcmp(name, "procname") && !etch_field(event, name)))
		return etch_source_text(source, name, strlen(name));
	snprintf(other, sizeof(other), "context_%s", name);
	return etch_source_text(source, other, strlen(other));
}

static bool add_member(struct babel_events *events, struct etch_source *source,
		       struct babel_event *known, enum babel_part part, unsigned int i)
{
	const bt_field_class *in = part_class(known->class, part);
	const char *name = member_name(in, i);
	struct etch_field field = { .type = "" };
	struct babel_field *babel = &known->fields[known->nr];
	unsigned int align;

	if (is_auxiliary(in, name) || (part == known->tid.part && (int)i == known->tid.member &&
				       part == BABEL_COMMON) ||
	    (part == known->context.part && (int)i == known->context.member))
		return true;
	*babel = (struct babel_field){
		.part = part, .member = i, .index = known->event->nr_fields,
		.how = describe_class(member_class(in, i), &field) };
	if (babel->how == BABEL_NUMBER && events->tracer == BABEL_LTTNG && !strcmp(name, "rwbs")) {
		babel->how = BABEL_RWBS;
		field = (struct etch_field){
			.type = "", .kind = ETCH_TEXT, .where = ETCH_LOC, .size = 4 };
	}
	align = field.size;
	field.offset = (known->event->size + align - 1) / align * align;
	field.name = free_name(source, known->event, part == BABEL_PAYLOAD ?
			       babel_field_name(events->tracer, known->event->full, name) : name,
			       part);
	if (!field.name)
		return false;
	/* An event with so many fields is shown without the last ones. */
	known->nr += etch_field_add(source, known->event, &field);
	return true;
}

/* Which members tell things that every record has. */
static void find_members(struct babel_events *events, struct babel_event *known)
{
	known->tid.member = known->context.member = -1;
	if (events->tracer == BABEL_ETCH) {
		/* The first two; an event may have fields of such names. */
		const bt_field_class *common = part_class(known->class, BABEL_COMMON);

		if (members(common) >= 2 && is_integer(member_class(common, 0)) &&
		    is_integer(member_class(common, 1))) {
			known->context = (struct babel_member){ BABEL_COMMON, 0 };
			known->tid = (struct babel_member){ BABEL_COMMON, 1 };
		}
		return;
	}
	known->tid = find_member(known->class, "tid", BABEL_SPECIFIC);
	if (known->tid.member < 0)
		known->tid = find_member(known->class, "vtid", BABEL_SPECIFIC);
	/* perf has no contexts, but its own names in the payload. */
	if (known->tid.member < 0)
		known->tid = find_member(known->class, "perf_tid", BABEL_PAYLOAD);
}

static bool add_event(struct babel_events *events, struct etch_source *source,
		      const bt_event_class *class)
{
	const char *name = bt_event_class_get_name(class);
	struct babel_event known = { .class = class };
	unsigned int nr = 0;
	char full[256];
	size_t at;

	snprintf(full, sizeof(full), "event_%llu",
		 (unsigned long long)bt_event_class_get_id(class));
	if (name)
		babel_event_name(events->tracer, name, full);
	known.event = etch_event_add(source, source->nr_events, full);
	for (enum babel_part part = BABEL_PAYLOAD; part < BABEL_PARTS; part++)
		nr += members(part_class(class, part));
	known.fields = etch_source_alloc(source, (nr + 1) * sizeof(*known.fields));
	if (!known.event || !known.fields)
		return false;
	find_members(events, &known);
	for (enum babel_part part = BABEL_PAYLOAD; part < BABEL_PARTS; part++)
		for (unsigned int i = 0; i < members(part_class(class, part)); i++)
			if (!add_member(events, source, &known, part, i))
				return false;
	if (etch_is(known.event, "sched:sched_switch")) {
		known.prev = etch_field(known.event, "prev_pid");
		known.next = etch_field(known.event, "next_pid");
	}
	for (at = (uintptr_t)class / 16 & (events->room - 1); events->list[at].class;)
		at = (at + 1) & (events->room - 1);
	events->list[at] = known;
	events->nr++;
	return true;
}

bool babel_events_add(struct babel_events *events, struct etch_source *source,
		      const bt_trace_class *class)
{
	uint64_t streams = bt_trace_class_get_stream_class_count(class), nr = 0;

	for (uint64_t i = 0; i < streams; i++)
		nr += bt_stream_class_get_event_class_count(
			bt_trace_class_borrow_stream_class_by_index_const(class, i));
	if (nr > ETCH_IDS) {
		etch_complaint("%s describes %llu events, which are too many", source->path,
			       (unsigned long long)nr);
		return false;
	}
	for (events->room = 64; events->room < 2 * nr;)
		events->room *= 2;
	events->list = calloc(events->room, sizeof(*events->list));
	for (uint64_t i = 0; events->list && i < streams; i++) {
		const bt_stream_class *stream =
			bt_trace_class_borrow_stream_class_by_index_const(class, i);

		for (uint64_t n = 0; n < bt_stream_class_get_event_class_count(stream); n++)
			if (!add_event(events, source,
				       bt_stream_class_borrow_event_class_by_index_const(stream, n))) {
				etch_complaint("%s: there is no memory for its events",
					       source->path);
				return false;
			}
	}
	return events->list;
}

const struct babel_event *babel_event(const struct babel_events *events,
				      const bt_event_class *class)
{
	size_t at = (uintptr_t)class / 16 & (events->room - 1);

	while (events->list[at].class && events->list[at].class != class)
		at = (at + 1) & (events->room - 1);
	return events->list[at].class ? &events->list[at] : NULL;
}

/* ---- Values as text ---- */

/**
 * struct tail - the part behind the payload
 * @at: its end
 * @end: it must not go farther
 * @cut: something did not fit
 */
struct tail {
	unsigned char *at, *end;
	bool cut;
};

static void tail_put(struct tail *tail, const void *from, size_t len)
{
	size_t room = tail->end - tail->at;

	if (len > room) {
		tail->cut = true;
		len = room;
	}
	memcpy(tail->at, from, len);
	tail->at += len;
}

static void __attribute__((format(printf, 2, 3)))
tail_print(struct tail *tail, const char *fmt, ...)
{
	char text[64];
	va_list args;

	va_start(args, fmt);
	tail_put(tail, text, vsnprintf(text, sizeof(text), fmt, args));
	va_end(args);
}

uint64_t babel_number(const bt_field *field)
{
	if (bt_field_class_type_is(bt_field_get_class_type(field),
				   BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return bt_field_integer_signed_get_value(field);
	return bt_field_integer_unsigned_get_value(field);
}

static void put_tree(struct tail *tail, const bt_field *field, int depth);

static void put_members(struct tail *tail, const bt_field *field, int depth)
{
	const bt_field_class *class = bt_field_borrow_class_const(field);

	tail_put(tail, "{", 1);
	for (unsigned int i = 0; i < members(class); i++) {
		const char *name = member_name(class, i);

		if (i)
			tail_put(tail, " ", 1);
		tail_put(tail, name, strlen(name));
		tail_put(tail, "=", 1);
		put_tree(tail, bt_field_structure_borrow_member_field_by_index_const(field, i),
			 depth + 1);
	}
	tail_put(tail, "}", 1);
}

static void put_elements(struct tail *tail, const bt_field *field, int depth)
{
	uint64_t nr = bt_field_array_get_length(field);

	tail_put(tail, "[", 1);
	for (uint64_t i = 0; i < nr && !tail->cut; i++) {
		if (i)
			tail_put(tail, ",", 1);
		put_tree(tail, bt_field_array_borrow_element_field_by_index_const(field, i),
			 depth + 1);
	}
	tail_put(tail, "]", 1);
}

static void put_tree(struct tail *tail, const bt_field *field, int depth)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (depth > 16)
		tail_put(tail, "...", 3);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		tail_print(tail, "%lld", (long long)babel_number(field));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER))
		tail_print(tail, "%llu", (unsigned long long)babel_number(field));
	else if (type == BT_FIELD_CLASS_TYPE_BOOL)
		tail_print(tail, "%d", bt_field_bool_get_value(field) ? 1 : 0);
	else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)
		tail_print(tail, "%.9g", bt_field_real_single_precision_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)
		tail_print(tail, "%.17g", bt_field_real_double_precision_get_value(field));
	else if (type == BT_FIELD_CLASS_TYPE_STRING)
		tail_put(tail, bt_field_string_get_value(field), bt_field_string_get_length(field));
	else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		put_members(tail, field, depth);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		put_elements(tail, field, depth);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		put_tree(tail, bt_field_variant_borrow_selected_option_field_const(field), depth + 1);
	else
		tail_put(tail, "?", 1);
}

/* What a request does, in the letters and the order in which the kernel prints them. */
static void put_rwbs(struct tail *tail, uint64_t flags)
{
	static const struct {
		unsigned int bits;
		char letter;
	} letters[] = {
		{ 1 << 10, 'F' }, { 1 << 0, 'W' }, { 1 << 1, 'D' }, { 1 << 7, 'E' },
		{ 1 << 8, 'F' }, { 1 << 2, 'R' }, { 0, 'N' }, { 1 << 9, 'F' }, { 1 << 3, 'A' },
		{ 1 << 5, 'S' }, { 1 << 6, 'M' },
	};
	const unsigned int operations = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 8;

	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		if (letters[i].bits ? flags & letters[i].bits : !(flags & operations))
			tail_put(tail, &letters[i].letter, 1);
}

static void put_numbers(struct tail *tail, const bt_field *field, unsigned int elem)
{
	uint64_t nr = bt_field_array_get_length(field);

	for (uint64_t i = 0; i < nr; i++) {
		uint64_t value = babel_number(
			bt_field_array_borrow_element_field_by_index_const(field, i));

		/* No half elements. */
		if (tail->end - tail->at < (long)elem) {
			tail->cut = true;
			return;
		}
		tail_put(tail, &value, elem);
	}
}

/* ---- A record ---- */

static const bt_field *part_field(const bt_event *event, enum babel_part part)
{
	switch (part) {
	case BABEL_PAYLOAD:
		return bt_event_borrow_payload_field_const(event);
	case BABEL_SPECIFIC:
		return bt_event_borrow_specific_context_field_const(event);
	default:
		return bt_event_borrow_common_context_field_const(event);
	}
}

static const bt_field *member_field(const bt_event *event, enum babel_part part, unsigned int i)
{
	return bt_field_structure_borrow_member_field_by_index_const(part_field(event, part), i);
}

/* Puts a dynamic field behind the others, and where it is into its word. */
static void lay_out_behind(const struct babel_field *how, const struct etch_field *field,
			   const bt_field *value, unsigned char *buf, struct tail *tail)
{
	unsigned char *begin = tail->at;
	uint32_t word;

	if (how->how == BABEL_NUMBERS)
		put_numbers(tail, value, field->elem);
	else if (how->how == BABEL_RWBS)
		put_rwbs(tail, babel_number(value));
	else
		put_tree(tail, value, 0);
	/* Behind @end there is always room for a zero. */
	if (field->kind == ETCH_TEXT)
		*tail->at++ = 0;
	word = (uint32_t)(tail->at - begin) << 16 | (uint32_t)(begin - buf);
	memcpy(buf + field->offset, &word, sizeof(word));
}

bool babel_lay_out(const struct babel_event *known, const bt_event *event, unsigned char *buf,
		   struct etch_record *rec)
{
	const struct etch_event *as = known->event;
	/* Each text has a zero behind it, even if nothing else fits. */
	struct tail tail = { .at = buf + as->size, .end = buf + BABEL_RECORD - 1 - known->nr };

	memset(buf, 0, as->size);
	for (unsigned int i = 0; i < known->nr; i++) {
		const struct babel_field *how = &known->fields[i];
		const struct etch_field *field = &as->fields[how->index];
		const bt_field *value = member_field(event, how->part, how->member);
		uint64_t number;

		if (how->how == BABEL_NUMBER) {
			number = babel_number(value);
			memcpy(buf + field->offset, &number, field->size);
		} else {
			lay_out_behind(how, field, value, buf, &tail);
		}
	}
	rec->loss = NULL;
	rec->event = as;
	rec->head = rec->data = buf;
	rec->len = tail.at - buf;
	rec->pid = -1;
	if (known->tid.member >= 0)
		rec->pid = babel_number(member_field(event, known->tid.part, known->tid.member));
	rec->context = ETCH_TASK;
	if (known->context.member >= 0)
		rec->context = babel_number(member_field(event, known->context.part,
							 known->context.member)) & 3;
	return tail.cut;
}
#endif /* HAVE_BABELTRACE2 */
