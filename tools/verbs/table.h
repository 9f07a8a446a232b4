/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the verbs top, latency, syscalls, irqs, block and diff have in common: their options,
 * a trace, a command that is recorded first, or the running kernel (table_live.c), and how they
 * print.
 */
#ifndef _ETCH_TABLE_H
#define _ETCH_TABLE_H

#include "states/states.h"
#include "verbs/choose.h"
#include "verbs/out.h"

#define TABLE_LINES	20	/* unless -n says otherwise */

#define TABLE_HELP							\
	"  --from T, --to T  what ends between these times, in seconds as etch show prints\n"	\
	"                    them; +T counts from the first record\n"	\
	"  -c CPU            on these CPUs: 0-3,7\n"			\
	"  -t TASK           of a thread: its number, or its name: 1234, 'kworker*'\n"	\
	"  -n NUMBER         so many lines; 0: all (20)\n"

#define TABLE_LIVE_HELP							\
	"  --live [SECONDS]  of the present, each second or so many, until COMMAND ends or,\n" \
	"                    without one, until Ctrl-C\n"

/* What to record for threads to have names. */
#define NAME_EVENTS "sched:sched_process_fork,task:task_rename"
/* For tables of tasks, and the least of it. */
#define SCHED_LEAST "sched:sched_switch and sched:sched_waking"
#define SCHED_EVENTS							\
	"sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,"	\
	"sched:sched_process_free," NAME_EVENTS

/**
 * struct table - what a verb was asked for
 * @choice: the options of choose.h; of these, -e and -f have no meaning here
 * @folders: traces
 * @nr_folders: how many
 * @command: a command to record; NULL: none
 * @lines: so many rows at most
 * @live: of each so many ns that pass now; 0: of a trace
 * @verb: the verb's name
 * @events: what to record then
 */
struct table {
	struct choice choice;
	const char *folders[2];
	unsigned int nr_folders;
	char **command;
	unsigned long lines;
	uint64_t live;
	const char *verb, *events;
};

typedef void table_fn(struct out *out, const struct table *table, struct summary *summary);

/* Takes the options and @folders names of traces, or a command. 0, or an exit status. */
int table_options(struct table *table, int argc, char **argv, unsigned int folders);
/* The whole verb: options, a recording of @events if a command is named, and what @fn prints. */
int table_run(int argc, char **argv, const char *events, table_fn *fn);
/* What the options say of a trace whose times are shown @shift later. */
struct summary_choice table_choice(const struct table *table, int64_t shift);
/* table_live.c: a table of the present each @live ns. Returns an exit status. */
int table_live(const struct table *table, table_fn *fn);
/* NULL: said. */
struct summary *table_summary(const struct table *table, const char *folder,
			      struct etch_source **source);

/* ---- Printing ---- */

/* "12.34 ms", into @text, which it returns. */
char *length_text(char text[24], uint64_t ns);
/* How long it was, CPUs, records, losses; @name in front, if any. */
void table_head(struct out *out, const struct summary *summary, const struct etch_source *source,
		const char *name);
/* How many spans were not counted, of kinds whose bits are in @kinds. */
void table_foot(struct out *out, const struct summary *summary, unsigned int kinds);
/* "and 12 more", if a table has more than @lines rows. */
void table_more(struct out *out, const struct table *table, unsigned int nr);

#endif /* _ETCH_TABLE_H */
