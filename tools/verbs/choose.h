/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which records of a trace: options that several verbs have.
 *
 *	--from T, --to T	by time, as etch show prints it; +T counts from the first record
 *	-c CPU			of a CPU, "0-3,7"
 *	-t TASK			of a thread: its number, or its name, as a glob
 *	-e EVENT		of an event: "sched", "sched:*", "sched_switch"
 *	-f 'FIELD OP VALUE'	with a field; OP is == != < <= > >= & or ~ (a glob)
 *
 * Of one option that is given several times one must hold; but each -f must.
 */
#ifndef _ETCH_CHOOSE_H
#define _ETCH_CHOOSE_H

#include "read/names.h"

#define CHOOSE_MOST	64	/* of each option */

/* For getopt_long(): those without a short name. */
enum { CHOOSE_FROM = 1000, CHOOSE_TO, CHOOSE_NEXT };

#define CHOOSE_SHORT	"c:t:e:f:"
#define CHOOSE_LONG	{ "from", required_argument, NULL, CHOOSE_FROM },	\
			{ "to", required_argument, NULL, CHOOSE_TO }

#define CHOOSE_HELP							\
	"  --from T, --to T  records between these times, in seconds as they are shown;\n"	\
	"                    +T counts from the first record\n"		\
	"  -c CPU            of these CPUs: 0-3,7\n"			\
	"  -t TASK           of a thread: its number, or its name: 1234, 'kworker*'\n"	\
	"  -e EVENT          of these events: sched, sched_switch, 'irq:*'\n"	\
	"  -f CONDITION      with a field: 'bytes_req > 4096', 'comm ~ nc*', 'prio != 120'; with\n" \
	"                    several -f, those for which all hold\n"

struct condition;

/**
 * struct choice - the records that the user wants
 * @any: all of them
 * @from: times, in nanoseconds; see @from_set
 * @to: see @from
 * @from_set: there is a @from
 * @to_set: there is a @to
 * @from_first: @from counts from the first record
 * @to_first: @to does
 * @begun: the first record has been seen
 * @cpus: a list as it was given, or NULL
 * @tasks: the threads
 * @events: the events
 * @nr_tasks: how many
 * @nr_events: how many
 * @nr_conditions: how many
 * @conditions: the conditions
 * @source: the trace
 * @names: of its threads
 * @shift: as line_shift() says
 * @event_chosen: by event's index
 * @nr_known: how many events are in @event_chosen and in the conditions
 */
struct choice {
	bool any;
	int64_t from, to;
	bool from_set, to_set, from_first, to_first, begun;
	const char *cpus;
	const char *tasks[CHOOSE_MOST], *events[CHOOSE_MOST];
	unsigned int nr_tasks, nr_events, nr_conditions;
	struct condition *conditions;
	struct etch_source *source;
	const struct names *names;
	int64_t shift;
	bool *event_chosen;
	unsigned int nr_known;
};

/* Is @option one of these? Then takes it: 0, or EXIT_MISUSED, said. -1: it is another one. */
int choose_option(struct choice *choice, int option, const char *arg);
/* Before the first record. 0, or an exit status, said: no event has that name, say. */
int choose_begin(struct choice *choice, struct etch_source *source, const struct names *names);
/* Is it chosen? Of losses, by time and CPU. */
bool chosen(struct choice *choice, const struct etch_record *rec);
/* Whether a CPU is in a list as "0-3,7". */
bool cpu_chosen(const char *list, int cpu);
/* This record, and so all that follow it, are too late. */
bool choose_is_over(const struct choice *choice, const struct etch_record *rec);
void choose_end(struct choice *choice);

/* Whether a @word of -e means the event. */
bool choose_names(const char *word, const struct etch_event *event);

#endif /* _ETCH_CHOOSE_H */
