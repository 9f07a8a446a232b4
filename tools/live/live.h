/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The running kernel as a source: records of all CPUs while they come, in the order of time.
 *
 *	struct live *live = live_open(&wish);
 *	struct etch_source *source = live_source(live);
 *
 *	... names_open(), states_open(): they read the source's folder ...
 *	live_start(live);
 *	do {
 *		while (etch_next(source, &rec) > 0)
 *			...
 *	} while (live_wait(live));
 *	status = live_close(live);
 *
 * It goes in rounds. A round asks the kernel for what it has (the file flush), reads all
 * CPUs, and returns the records up to the time when it began, and so in order; those that are
 * later wait for the next round. There are several rounds in a second, and more if buffers
 * fill.
 *
 * Records come from an instance of its own, which ends with it, and whose clock is mono:
 * a time is that since boot, and known here, too. Where the kernel has events of programs, the
 * clock is the counter, which programs can read, and this does, too. Records lost are in their
 * place, as in any source. live_behind() tells how far the reader is behind the kernel.
 *
 * scratch.c has folders for what nobody keeps.
 */
#ifndef _ETCH_LIVE_H
#define _ETCH_LIVE_H

#include "read/read.h"

#define LIVE_EVENTS	100	/* options -e, and -p */

/**
 * struct live_wish - what the user wants
 * @name: what messages begin with
 * @root: Etch's tree, if not the usual one
 * @events: events, as in set_event, with commas between them
 * @presets: presets, likewise
 * @nr_events: how many
 * @nr_presets: how many
 * @size: of each CPU's buffer; NULL: as the kernel has it
 * @command: ends with it; NULL: until a signal
 */
struct live_wish {
	const char *name, *root;
	const char *events[LIVE_EVENTS], *presets[LIVE_EVENTS];
	unsigned int nr_events, nr_presets;
	const char *size;
	char **command;
};

struct live;

/* All is ready, and nothing recorded yet. NULL: said. */
struct live *live_open(const struct live_wish *wish);
/* What it has; live_close() closes it. Its folder is there until live_start(). */
struct etch_source *live_source(struct live *live);
/* The events that the user chose, SYSTEM:EVENT a line, until live_close(). */
const char *live_events(const struct live *live);
/*
 * Did the user choose the record's event? Those that tell the names of threads are on, too:
 * names_look() needs them, and others need not see them. A loss is everybody's.
 */
bool live_is_chosen(const struct live *live, const struct etch_record *rec);
/* Records come, and the command begins. -1: said; live_wait() ends it. */
int live_start(struct live *live);
/* Until the next round, or its time, in ns. False: all that there is was returned. */
bool live_wait(struct live *live);
/* Nanoseconds since the round began that etch_next() returns records of. */
uint64_t live_behind(const struct live *live);
/* The end of the last round: all records before this time, in ns, were returned. */
uint64_t live_until(const struct live *live);
/* The round is the last one. */
bool live_is_last(const struct live *live);
/* It is over after the next round, as if a signal had come. */
void live_end(struct live *live);
/* Returns the exit status: the command's, or 1 if something went wrong, which was said. */
int live_close(struct live *live);

/* ---- scratch.c ---- */

/* Makes a folder in $TMPDIR, whose name goes to @path. -1 with errno. */
int scratch_make(char *path, size_t room);
/* Removes it, and all that is in it. */
void scratch_remove(const char *path);

#endif /* _ETCH_LIVE_H */
