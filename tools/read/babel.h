/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of babel.c know of each other.
 *
 *	babel.c		the trace: streams, merged by time, and what they lost
 *	babel_event.c	events and fields, described once, and each record laid out
 *	babel_name.c	what LTTng calls the things that Etch has, too
 */
#ifndef _ETCH_READ_BABEL_H
#define _ETCH_READ_BABEL_H

#include <babeltrace2/babeltrace.h>

#include "read/read.h"

#define BABEL_RECORD	(1 << 16)	/* bytes of a record: dynamic fields' words reach so far */

/* The tracer that made a trace: it decides what names mean. */
enum babel_tracer { BABEL_ANY, BABEL_ETCH, BABEL_LTTNG };

/* Which part of an event has a field. */
enum babel_part { BABEL_PAYLOAD, BABEL_SPECIFIC, BABEL_COMMON, BABEL_PARTS };

enum babel_how {
	BABEL_NUMBER,
	BABEL_STRING,
	BABEL_NUMBERS,	/* an array of them */
	BABEL_RWBS,	/* a number, of which Etch has the letters */
	BABEL_TREE,	/* a struct, or a field that fits nowhere else: as text */
};

/**
 * struct babel_field - a field of an event
 * @part: where it is, and
 * @member: there
 * @how: what becomes of it
 * @index: of the event's fields
 */
struct babel_field {
	enum babel_part part;
	unsigned int member;
	enum babel_how how;
	unsigned int index;
};

/* A member of a part that is no field of the event; -1: there is none. */
struct babel_member {
	enum babel_part part;
	int member;
};

/**
 * struct babel_event - an event
 * @class: as the library knows it
 * @event: as others know it
 * @fields: its fields, @nr of them
 * @nr: see @fields
 * @tid: the thread
 * @context: what the CPU was doing
 * @prev: of a switch: the field with the thread that ran
 * @next: and the one that runs now; NULL: it is no switch
 */
struct babel_event {
	const bt_event_class *class;
	struct etch_event *event;
	struct babel_field *fields;
	unsigned int nr;
	struct babel_member tid, context;
	const struct etch_field *prev, *next;
};

/**
 * struct babel_events - all of them, by class
 * @tracer: it made the trace
 * @list: a hash table of @room places
 * @room: a power of two, or 0
 * @nr: how many there are
 */
struct babel_events {
	enum babel_tracer tracer;
	struct babel_event *list;
	size_t room, nr;
};

/* ---- babel_event.c ---- */

/* Describes all events of a trace to @source. False: no memory, said. */
bool babel_events_add(struct babel_events *events, struct etch_source *source,
		      const bt_trace_class *class);
const struct babel_event *babel_event(const struct babel_events *events,
				      const bt_event_class *class);
/*
 * Lays @event out in @buf, which has BABEL_RECORD bytes, and fills @rec, but for its time. Its
 * @pid is -1 if the record does not tell of a thread. True: a part did not fit.
 */
bool babel_lay_out(const struct babel_event *known, const bt_event *event, unsigned char *buf,
		   struct etch_record *rec);
/* A number, whatever its sign. */
uint64_t babel_number(const bt_field *field);

/* ---- babel_name.c ---- */

/* Etch's name of an event, SYSTEM:NAME, or the same name. */
void babel_event_name(enum babel_tracer tracer, const char *name, char full[256]);
/* Etch's name of a field of the event that Etch calls @full. */
const char *babel_field_name(enum babel_tracer tracer, const char *full, const char *name);

#endif /* _ETCH_READ_BABEL_H */
