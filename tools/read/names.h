/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads: what they are called, and which process they belong to, as it was when a record
 * was written. The tasks that the recorder noted tell it, and packets, and records.
 *
 *	struct names *names = names_open(source->path);
 *
 *	while (etch_next(source, &rec) > 0) {
 *		names_look(names, source, &rec, NULL, NULL);
 *		puts(names_shown(names, rec.pid));
 *	}
 *	names_close(names);
 *
 * There is one struct name for each thread that the trace has, however long the trace is.
 */
#ifndef _ETCH_NAMES_H
#define _ETCH_NAMES_H

#include "read/read.h"

/**
 * struct name - a thread
 * @tid: its number
 * @tgid: its process; @tid itself if nobody knows better
 * @ppid: the process's parent, or 0
 * @first: the first name it had, "" if none is known
 * @now: the name it has, as far as records were looked at
 */
struct name {
	int tid, tgid, ppid;
	char first[16], now[16];
};

struct names;

/* The threads of .etch/tasks, if it is there. NULL: no memory, said. */
struct names *names_open(const char *folder);
/*
 * Looks for names in a record or a loss, and in the packet that it is in, and calls @changed,
 * if there is one, for each thread whose name is another one from now on. Before the name of
 * the record's thread is used.
 */
void names_look(struct names *names, const struct etch_source *source,
		const struct etch_record *rec,
		void (*changed)(void *arg, const struct name *name), void *arg);
/* Back to the first names, for one more pass, which may be of another source. */
void names_rewind(struct names *names);
/* The thread, NULL if it was never seen. */
const struct name *names_find(const struct names *names, int tid);
/* The name it has now, or had first; "" if none is known, or @name is NULL. */
const char *names_now(const struct name *name);
/* The same as the kernel shows it: "<...>" if none is known. */
const char *names_shown(const struct names *names, int tid);
/* All of them by number, in the order of numbers; NULL behind the last. */
const struct name *names_each(const struct names *names, size_t n);
void names_close(struct names *names);

#endif /* _ETCH_NAMES_H */
