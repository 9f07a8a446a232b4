/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FUZZ_ORACLE_H
#define _ETCH_FUZZ_ORACLE_H

/*
 * The input that each file accepts, as Documentation/trace/etch/users.rst describes it: for
 * a test whose inputs are random.
 */

#include "fuzz_input.h"

/* How a file understands what is written. */
enum fuzz_kind {
	FUZZ_BOOL,		/* 0 or 1 */
	FUZZ_SIZE,		/* KiB of a buffer */
	FUZZ_SUBBUF,		/* KiB of a sub-buffer */
	FUZZ_PERCENT,
	FUZZ_BUDGET,		/* bytes= and cpu=, or none */
	FUZZ_CONTEXTS,		/* words, with signs or not, or none */
	FUZZ_CHOICE,		/* one of the words that it shows */
	FUZZ_EVENTS,		/* names of events */
	FUZZ_FILTER,		/* a filter, or 0 */
	FUZZ_TRIGGER,		/* a trigger, behind "!" or not */
	FUZZ_TASKS,		/* thread IDs; a group; a latency */
	FUZZ_DUMP,		/* whose records go to the console: see fuzz_is_dump() */
	FUZZ_TEXT,		/* any text, which is looked for zeros */
	FUZZ_ANY,		/* it is not looked at */
	FUZZ_MARKER,
	FUZZ_MARKER_RAW,	/* a number, and bytes */
	FUZZ_STATE,		/* 1, if tracing is on and the buffer has room */
	FUZZ_MODULE,		/* a module's own: a number, by rules of the kernel's */
	FUZZ_PROBES,		/* definitions, line by line, by rules of ftrace's */
};

struct fuzz_file {
	const char *name;
	enum fuzz_kind kind;
	size_t max;		/* bytes that may be written; 0: as many as one likes */
	size_t part;		/* it acts on so many bytes before it copies more; 0: on all */
};

enum fuzz_verdict {
	FUZZ_REFUSED,
	FUZZ_TAKEN,
	FUZZ_EITHER,		/* it depends on what there is: events, memory */
};

/* An input as a file sees it: without the white space around it. */
struct fuzz_seen {
	enum fuzz_verdict verdict;
	int at;			/* where the mistake is; -1: not said here */
	unsigned long number;
	char text[FUZZ_INPUT_MAX + 1];
};

const struct fuzz_file *fuzz_file_of(const char *path);
void fuzz_see(struct fuzz_seen *seen, const struct fuzz_file *file, const struct fuzz_input *in,
	      const char *shown);
bool fuzz_shows(const struct fuzz_seen *seen, enum fuzz_kind kind, const char *shown);

#endif /* _ETCH_FUZZ_ORACLE_H */
