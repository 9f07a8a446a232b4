/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_TEXT_H
#define _ETCH_TEXT_H

/*
 * Lines of a trace file, taken apart. The shape is that of ftrace, which is
 * also Etch's:
 *
 *	            comm-pid     [cpu] flags  seconds.micros: event: text
 *
 * The words between the time and the first ": " are the event; a record of several
 * lines has the further ones in its text. An event of a system call has no name in
 * front, but "sys_NAME(" at the entry and "sys_NAME -> " at the exit.
 */

#include "etch.h"

struct record {
	const char *event;	/* ends with a zero */
	const char *text;	/* ends with a zero, no newline at the end */
	unsigned long long time;	/* microseconds, or the clock's own number */
	int pid;
	int cpu;
	char context;		/* 'Z', 'h', 's' or '.' */
};

struct trace {
	char *buf;		/* the file, cut up by zeros */
	struct record *records;
	size_t nr;
	size_t lost_notes;	/* lines "CPU:n [LOST m EVENTS]" */
	unsigned long long lost;	/* what these lines add up to */
};

bool text_parse_line(char *line, struct record *r);
struct trace text_parse(char *buf);
struct trace text_read(const char *tree, const char *file);
void text_free(struct trace *trace);
size_t text_count(const struct trace *trace, const char *event);

#endif /* _ETCH_TEXT_H */
