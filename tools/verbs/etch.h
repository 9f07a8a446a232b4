/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The program etch: its verbs.
 *
 *	main.c		finds the verb; help and version
 *	record.c	record, receive, repair: the recorder of the room record/, by these names
 *	list.c		list: the events of the kernel, or of a trace
 *	show.c		show: records as text
 *	trace.c		trace: the same, while records come, by the room live/
 *	check.c		check: whether a trace is whole, and what it lacks
 *	top.c, latency.c, lengths.c, diff.c
 *			top, latency, syscalls, irqs, block, diff: tables, by table.c, and by
 *			table_live.c of the running kernel
 *	view.c		view: a page for a browser, by the room view/; or by serve.c Perfetto's
 *	export.c	export: for other programs, by the room export/
 *
 *	choose.c	which records: options by time, CPU, task, event, field
 *	durations.c	what took how long, for show and trace
 *	line.c		a record as a line of text, as the kernel's file "trace" has it
 *	print.c		what an event says: its print format, for line.c
 *	expr.c		the expressions in a print format; expr_parse.c parses them
 *	out.c		output: a large buffer, a pager and colours on a terminal
 *
 * To add a verb, write a file with a struct verb, and name it in the table of main.c. Its
 * line is in what "etch" prints; its help is one screen: what it does, an example with
 * what it prints, and its options.
 *
 * Exit statuses: 0, EXIT_TROUBLE after a message, EXIT_MISUSED if the command makes no
 * sense. A verb that only reads fails with EXIT_TROUBLE if the trace cannot be opened; a trace
 * that is cut off or damaged is shown as far as it goes, and reported, and that is no failure.
 */
#ifndef _ETCH_VERBS_H
#define _ETCH_VERBS_H

#include "read/read.h"

enum { EXIT_TROUBLE = 1, EXIT_MISUSED = 2 };

/**
 * struct verb - a verb of the program
 * @name: what users write
 * @example: an example of its use, for the list of verbs
 * @line: what it does, in a few words
 * @help: all there is to say
 * @run: does it; @argc and @argv as those of main(), from the verb on. Returns an exit status.
 *	--help and -h are dealt with before
 */
struct verb {
	const char *name, *example, *line, *help;
	int (*run)(int argc, char **argv);
};

extern const struct verb verb_record, verb_list, verb_show, verb_check, verb_export, verb_receive,
	verb_repair;

/* These come with later patches; without them, they are NULL. */
#define LATER	__attribute__((weak))
extern const struct verb verb_top LATER, verb_latency LATER, verb_syscalls LATER,
			 verb_irqs LATER, verb_block LATER, verb_diff LATER, verb_view LATER, verb_trace LATER;

/* By name, or NULL. */
const struct verb *verb_find(const char *name);
/* As if the user had written it; messages begin with its name from then on. */
int verb_run(const struct verb *verb, int argc, char **argv);

/* Says which CPUs' files are cut off or damaged, behind the last record. */
void report_damage(const struct etch_source *source);

/* "etch show: ...", for the verb that runs. A hint on --help follows. Returns EXIT_MISUSED. */
int __attribute__((format(printf, 1, 2))) misused(const char *fmt, ...);
/* "etch show: ..."; returns EXIT_TROUBLE. */
int __attribute__((format(printf, 1, 2))) trouble(const char *fmt, ...);

#endif /* _ETCH_VERBS_H */
