// SPDX-License-Identifier: GPL-2.0
/*
 * list: the events of the kernel, or of a trace, with their fields.
 *
 * The kernel's events become those of a source that has no records, so that both are listed
 * in one way.
 */
#include "verbs/etch.h"

#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/record.h"
#include "verbs/choose.h"
#include "verbs/out.h"

static const char list_help[] =
	"etch list: the events that there are, and their fields.\n"
	"\n"
	"  # etch list 'sched_wak*'\n"
	"  sched:sched_wakeup    comm pid prio target_cpu\n"
	"  sched:sched_waking    comm pid prio target_cpu (on in instance mine)\n"
	"  $ etch list -d trace irq\n"
	"      104  irq:softirq_entry    vec\n"
	"\n"
	"  - Without -d, it lists the events of this kernel, and the instances that record them.\n"
	"    Only root can see these.\n"
	"  - With -d, it lists the events that a trace describes, and how many records it has\n"
	"    of each.\n"
	"  - An EVENT is named as in etch record -e: sched, sched_switch, 'irq:*'.\n"
	"\n"
	"etch list [OPTION]... [EVENT]...\n"
	"\n"
	"  -d FOLDER   of a trace\n"
	"  -v          their format files: types of fields, and how a record is printed\n"
	"  -n          names alone\n"
	"  -o          only those that are on, or that the trace has records of\n"
	"  -t FOLDER   where Etch's files are (/sys/kernel/debug/etch)\n"
	"  -P          without a pager\n";

/**
 * struct row - an event
 * @event: which
 * @on: the instances that record it, "main tree, NAME"; NULL: none
 * @records: how many the trace has
 */
struct row {
	const struct etch_event *event;
	char *on;
	unsigned long long records;
};

/**
 * struct list - the command line, and what it names
 * @words: the events
 * @trace: the trace's folder; NULL: this kernel
 * @root: where Etch's files are, or NULL
 * @tree: the main tree
 * @source: the events
 * @rows: those that are listed, by name
 * @nr: how many
 * @verbose: -v
 * @names: -n
 * @used: -o
 * @no_pager: -P
 */
struct list {
	char **words;
	const char *trace, *root;
	struct tree tree;
	struct etch_source *source;
	struct row *rows;
	unsigned int nr;
	bool verbose, names, used, no_pager;
};

/* ---- The kernel's events ---- */

static bool list_wants(const struct list *list, const struct etch_event *event)
{
	char **word = list->words;

	while (*word && !choose_names(*word, event))
		word++;
	return !*list->words || *word;
}

/* False: there is no memory, and the user has read so. */
static bool tree_event(struct list *list, const char *system, const struct tree_format *format)
{
	char *full;
	bool ok;

	if (format->id < 0 || format->id >= ETCH_IDS || list->source->by_id[format->id])
		return true;
	if (asprintf(&full, "%s:%.*s", system, (int)format->name_len, format->name) < 0) {
		trouble("there is no memory");
		return false;
	}
	ok = etch_event_add(list->source, format->id, full);
	free(full);
	return ok;
}

/* A system that has gone with its module meanwhile is none. */
static bool tree_system(struct list *list, const char *system)
{
	char *text = tree_formats(&list->tree, system), *copy;
	struct tree_format format;
	const char *at = text;
	bool ok = true;

	if (!text)
		return true;
	while (ok && (at = tree_format(at, &format)))
		ok = tree_event(list, system, &format);
	copy = ok ? etch_source_text(list->source, text, strlen(text)) : NULL;
	if (copy)
		etch_formats_read(list->source, copy, strlen(copy));
	free(text);
	return copy;
}

static int tree_source(struct list *list)
{
	char *events, *rest, *full;
	const char *last = "";
	bool ok = true;

	if (tree_open(&list->tree, list->root, "."))
		return EXIT_TROUBLE;
	list->source = calloc(1, sizeof(*list->source));
	events = list->source ? tree_events(&list->tree) : NULL;
	if (!events)
		return list->source ? EXIT_TROUBLE : trouble("there is no memory");
	list->source->path = strdup(list->tree.path);
	/* The events of a system mostly follow each other. */
	for (rest = events; ok && (full = strsep(&rest, "\n"));) {
		full[strcspn(full, ":")] = 0;
		if (!*full || !strcmp(full, last))
			continue;
		ok = tree_system(list, full);
		last = full;
	}
	free(events);
	return ok ? 0 : EXIT_TROUBLE;
}

static int row_order(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	return strcmp(one->event->full, other->event->full);
}

static void row_on(struct list *list, const char *full, const char *where)
{
	struct etch_event event = { .full = full };
	struct row key = { .event = &event }, *row;
	char *on = NULL;

	row = bsearch(&key, list->rows, list->nr, sizeof(key), row_order);
	if (!row || asprintf(&on, "%s%s%s", row->on ? row->on : "", row->on ? ", " : "", where) < 0)
		return;
	free(row->on);
	row->on = on;
}

static void list_instance(struct list *list, const struct tree *tree, const char *where)
{
	char *text = tree_read(tree, "set_event", NULL), *rest = text, *full;

	while ((full = strsep(&rest, "\n")))
		row_on(list, full, where);
	free(text);
}

static void list_instances(struct list *list)
{
	struct tree tree = {};
	char path[PATH_MAX + 16], where[300];
	struct dirent *entry;
	DIR *dir;

	list_instance(list, &list->tree, "the main tree");
	snprintf(path, sizeof(path), "%s/instances", list->tree.path);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.' ||
		    snprintf(tree.path, sizeof(tree.path), "%s/%s", path, entry->d_name) >=
		    (int)sizeof(tree.path))
			continue;
		snprintf(where, sizeof(where), "instance %s", entry->d_name);
		list_instance(list, &tree, where);
	}
	if (dir)
		closedir(dir);
}

/* ---- Rows ---- */

static int list_rows(struct list *list)
{
	list->rows = calloc(list->source->nr_events + 1, sizeof(*list->rows));
	if (!list->rows)
		return trouble("there is no memory");
	for (unsigned int i = 0; i < list->source->nr_events; i++)
		if (list_wants(list, list->source->events[i]))
			list->rows[list->nr++].event = list->source->events[i];
	if (!list->nr)
		return trouble("%s has no event '%s'", list->trace ? "the trace" : "this kernel",
			       *list->words ? *list->words : "");
	qsort(list->rows, list->nr, sizeof(*list->rows), row_order);
	return 0;
}

static int count_records(struct list *list)
{
	unsigned long long *counts = calloc(list->source->nr_events, sizeof(*counts));
	struct etch_record rec;

	if (!counts)
		return trouble("there is no memory");
	while (etch_next(list->source, &rec) > 0)
		if (!rec.loss)
			counts[rec.event->index]++;
	for (unsigned int i = 0; i < list->nr; i++)
		list->rows[i].records = counts[list->rows[i].event->index];
	free(counts);
	return 0;
}

static void print_row(const struct list *list, struct out *out, const struct row *row, int width)
{
	const struct etch_event *event = row->event;

	if (list->trace && !list->names)
		out_print(out, "%9llu  ", row->records);
	if (list->names || !event->nr_fields)
		out_text(out, event->full);
	else
		out_print(out, "%-*s ", width, event->full);
	for (unsigned int i = 0; !list->names && i < event->nr_fields; i++)
		out_print(out, " %s", event->fields[i].name);
	if (row->on && !list->names)
		out_print(out, " (on in %s)", row->on);
	out_char(out, '\n');
	if (list->verbose && event->format) {
		out_bytes(out, event->format, event->format_len);
		out_text(out, "\n\n");
	}
}

static int print_list(const struct list *list)
{
	static struct out out;
	int width = 0, len;

	for (unsigned int i = 0; i < list->nr; i++) {
		len = strlen(list->rows[i].event->full);
		width = len > width && len <= 36 ? len : width;
	}
	out_begin(&out, !list->no_pager);
	for (unsigned int i = 0; i < list->nr && !out.failed; i++)
		if (!list->used || list->rows[i].on || list->rows[i].records)
			print_row(list, &out, &list->rows[i], width);
	return out_end(&out);
}

/* ---- The verb ---- */

static int list_options(struct list *list, int argc, char **argv)
{
	int option;

	opterr = 0;
	optind = 1;
	while ((option = getopt(argc, argv, "d:vnot:P")) != -1) {
		if (option == 'd')
			list->trace = optarg;
		else if (option == 't')
			list->root = optarg;
		else if (option == 'v')
			list->verbose = true;
		else if (option == 'n')
			list->names = true;
		else if (option == 'o')
			list->used = true;
		else if (option == 'P')
			list->no_pager = true;
		else
			return misused("there is no such option, or it lacks its value");
	}
	if (list->trace && list->root)
		return misused("-d and -t exclude each other");
	if (list->verbose && list->names)
		return misused("-v and -n exclude each other");
	list->words = argv + optind;
	return 0;
}

static int list_all(struct list *list)
{
	int ret = 0;

	if (list->trace)
		list->source = etch_trace_open(list->trace);
	else
		ret = tree_source(list);
	if (!list->source || ret)
		return EXIT_TROUBLE;
	ret = list_rows(list);
	if (ret)
		return ret;
	if (!list->trace)
		list_instances(list);
	else if (!list->names || list->used)
		ret = count_records(list);
	return ret ? ret : print_list(list);
}

static int run_list(int argc, char **argv)
{
	struct list list = {};
	int ret = list_options(&list, argc, argv);

	if (ret)
		return ret;
	say_as("etch list");
	ret = list_all(&list);
	tree_close(&list.tree);
	for (unsigned int i = 0; i < list.nr; i++)
		free(list.rows[i].on);
	free(list.rows);
	etch_close(list.source);
	return ret;
}

const struct verb verb_list = {
	"list", "list 'irq:*'", "the events that there are, and their fields", list_help, run_list
};
