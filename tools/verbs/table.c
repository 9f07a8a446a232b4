// SPDX-License-Identifier: GPL-2.0
/*
 * What the verbs that print tables have in common: see table.h.
 */
#include "verbs/table.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "live/live.h"
#include "record/record.h"
#include "verbs/etch.h"
#include "verbs/line.h"

/* ---- Options ---- */

enum { TABLE_LIVE = CHOOSE_NEXT };

static int table_seconds(struct table *table, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (*end || end == text || !(seconds >= 0.1) || seconds > 1e6)
		return misused("'%s' is no number of seconds, 0.1 at least", text);
	table->live = seconds * 1e9;
	return 0;
}

static int table_option(struct table *table, int option)
{
	char *end;

	if (option == TABLE_LIVE)
		return table_seconds(table, optarg ? optarg : "1");
	if (option == 'n') {
		table->lines = strtoul(optarg, &end, 10);
		if (*end || end == optarg || *optarg == '-')
			return misused("'%s' is no number of lines", optarg);
		return 0;
	}
	if (option == '?' || option == ':')
		return misused("there is no such option, or its value is missing");
	return choose_option(&table->choice, option, optarg);
}

/* Takes the command off the words, which then end before the --. */
static int table_command(struct table *table, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--")) {
			table->command = argv + i + 1;
			return i;
		}
	return argc;
}

/* The words behind the options, up to a -- : folders, or the seconds of --live. */
static int table_words(struct table *table, int argc, char **argv, unsigned int folders)
{
	if (table->live) {
		if (folders != 1 || table->choice.from_set || table->choice.to_set)
			return misused("--live shows the present, without folders and times");
		return optind == argc ? 0 : optind + 1 == argc ?
		       table_seconds(table, argv[optind]) :
		       misused("--live takes one number of seconds");
	}
	if (table->command)
		return optind == argc ? 0 :
		       misused("name a folder, or a command behind --, and not both");
	if (optind + (int)folders != argc)
		return misused("name %s", folders == 1 ?
			       "one folder of a trace, or -- and a command" : "two folders");
	while (optind < argc)
		table->folders[table->nr_folders++] = argv[optind++];
	return 0;
}

int table_options(struct table *table, int argc, char **argv, unsigned int folders)
{
	static const struct option options[] = {
		CHOOSE_LONG, { "live", optional_argument, NULL, TABLE_LIVE }, {}
	};
	int option, ret;

	argc = folders == 1 ? table_command(table, argc, argv) : argc;
	table->lines = TABLE_LINES;
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "c:t:n:", options, NULL)) != -1) {
		ret = table_option(table, option);
		if (ret)
			return ret;
	}
	ret = table_words(table, argc, argv, folders);
	if (!ret && table->command && !*table->command)
		return misused("the command behind -- is missing");
	return ret;
}

/* ---- Recording a command ---- */

static int record_command(const struct table *table, char *folder)
{
	char *before[] = {
		"record", "-q", "-e", (char *)table->events, "-o", folder, "--",
	};
	unsigned int nr = 0, fixed = sizeof(before) / sizeof(*before);
	char **words;
	int ret;

	while (table->command[nr])
		nr++;
	words = calloc(nr + fixed + 1, sizeof(*words));
	if (!words)
		return trouble("There is no memory");
	memcpy(words, before, fixed * sizeof(*words));
	memcpy(words + fixed, table->command, nr * sizeof(*words));
	optind = 1;
	ret = record_main("etch record", nr + fixed, words);
	free(words);
	return ret;
}

static int print_table(const struct table *table, const char *folder, table_fn *fn)
{
	static struct out out;
	struct etch_source *source;
	struct summary *summary = table_summary(table, folder, &source);
	int ret = EXIT_TROUBLE;

	if (summary) {
		out_begin(&out, true);
		table_head(&out, summary, source, NULL);
		fn(&out, table, summary);
		ret = out_end(&out);
		report_damage(source);
	}
	summary_close(summary);
	etch_close(source);
	return ret;
}

/* The command's own status is ours, as the recorder has it. */
static int record_and_print(const struct table *table, table_fn *fn)
{
	char top[4096], folder[4104];
	int recorded, ret;

	if (scratch_make(top, sizeof(top)))
		return trouble("There is no place for a recording, see $TMPDIR: %m");
	snprintf(folder, sizeof(folder), "%s/trace", top);
	recorded = record_command(table, folder);
	ret = access(folder, R_OK) ? recorded ?: EXIT_TROUBLE : print_table(table, folder, fn);
	scratch_remove(top);
	return recorded ?: ret;
}

int table_run(int argc, char **argv, const char *events, table_fn *fn)
{
	struct table table = { .verb = argv[0], .events = events };
	int ret = table_options(&table, argc, argv, 1);

	if (!ret)
		ret = table.live ? table_live(&table, fn) : table.command ? record_and_print(&table, fn) :
				      print_table(&table, table.folders[0], fn);
	choose_end(&table.choice);
	return ret;
}

/* ---- Choosing spans ---- */

static bool table_wants(void *arg, const struct states *s, const struct span *span)
{
	const struct choice *choice = arg;
	const char *name = states_label(s, span->task);
	char number[16];

	if (choice->cpus && span->cpu >= 0 && !cpu_chosen(choice->cpus, span->cpu))
		return false;
	snprintf(number, sizeof(number), "%d", span->tid);
	for (unsigned int i = 0; i < choice->nr_tasks; i++)
		if (!strcmp(choice->tasks[i], number) || !fnmatch(choice->tasks[i], name, 0))
			return true;
	return !choice->nr_tasks;
}

struct summary_choice table_choice(const struct table *table, int64_t shift)
{
	const struct choice *c = &table->choice;

	return (struct summary_choice){
		.from = !c->from_set ? 0 : c->from_first ? c->from :
			c->from > shift ? c->from - shift : 0,
		.to = !c->to_set ? 0 : c->to_first ? c->to :
		      c->to > shift ? c->to - shift : 1,
		.from_first = c->from_set && c->from_first,
		.to_first = c->to_set && c->to_first,
		.wants = c->cpus || c->nr_tasks ? table_wants : NULL,
		.arg = (void *)c };
}

struct summary *table_summary(const struct table *table, const char *folder,
			      struct etch_source **source)
{
	struct summary_choice choice;

	*source = etch_trace_open(folder);
	if (!*source)
		return NULL;
	choice = table_choice(table, line_shift(*source));
	return summary_of(*source, &choice);
}

/* ---- Printing ---- */

char *length_text(char text[24], uint64_t ns)
{
	if (ns < 1000000)
		snprintf(text, 24, "%.1f us", ns / 1e3);
	else if (ns < 1000000000)
		snprintf(text, 24, "%.2f ms", ns / 1e6);
	else
		snprintf(text, 24, "%.3f s", ns / 1e9);
	return text;
}

void table_head(struct out *out, const struct summary *m, const struct etch_source *source,
		const char *name)
{
	char length[24];

	out_print(out, "# %s%s%s, %u CPU%s, %llu record%s, %llu lost\n", name ?: "",
		  name ? ": " : "", length_text(length, m->last - m->first), source->nr_cpus,
		  source->nr_cpus == 1 ? "" : "s", m->records, m->records == 1 ? "" : "s",
		  m->lost);
}

void table_foot(struct out *out, const struct summary *m, unsigned int kinds)
{
	unsigned long long unknown = 0, open = 0;

	for (int kind = 0; kind < SPAN_KINDS; kind++)
		if (kinds >> kind & 1) {
			unknown += m->unknown[kind];
			open += m->open[kind];
		}
	if (unknown)
		out_print(out, "# not counted: %llu whose ends are unknown, %s\n", unknown,
			  "because records are missing");
	if (open)
		out_print(out, "# not counted: %llu that had not ended %s\n", open,
			  "with the last record");
}

void table_more(struct out *out, const struct table *table, unsigned int nr)
{
	if (table->lines && nr > table->lines)
		out_print(out, "# and %lu more; -n 0 prints all\n", nr - table->lines);
}
