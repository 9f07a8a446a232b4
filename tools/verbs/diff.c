// SPDX-License-Identifier: GPL-2.0
/*
 * diff: two recordings side by side.
 */
#include "verbs/etch.h"

#include <stdio.h>
#include <stdlib.h>

#include "verbs/table.h"

static const char diff_help[] =
	"etch diff: two recordings side by side: tasks, waits, system calls.\n"
	"\n"
	"  $ etch diff -n 1 before after\n"
	"  # before: 4.003 s, 2 CPUs, 104383 records, 0 lost\n"
	"  # after: 4.001 s, 2 CPUs, 98213 records, 0 lost\n"
	"  TASK                          RUN          ->   CHANGE  SWITCHES          ->\n"
	"  sh                      809.21 ms   612.03 ms   -24.4%       184         160\n"
	"  # from being woken to running   ->   CHANGE\n"
	"  p50                      145.4 us    98.3 us   -32.4%\n"
	"  ...\n"
	"\n"
	"  - The largest sum in one of the two comes first.\n"
	"  - Lengths are those of etch top, latency and syscalls; of calls, the median.\n"
	"\n"
	"etch diff [OPTION]... FOLDER FOLDER\n"
	"\n"
	TABLE_HELP;

/* A name, and what each of the two has of it, or an empty row. */
struct pair {
	const char *name;
	const struct summary_row *a, *b;
};

static const struct summary_row no_row;

static unsigned long long larger(const struct pair *pair)
{
	return pair->a->sum > pair->b->sum ? pair->a->sum : pair->b->sum;
}

static int pair_order(const void *one, const void *two)
{
	unsigned long long a = larger(one), b = larger(two);

	return a < b ? 1 : a > b ? -1 :
	       strcmp(((const struct pair *)one)->name, ((const struct pair *)two)->name);
}

/* All names of both tables. NULL: no memory, said. */
static struct pair *pair_up(const struct summary *a, const struct summary_table *rows_a,
			    const struct summary *b, const struct summary_table *rows_b,
			    unsigned int *nr)
{
	struct pair *pairs = calloc(rows_a->nr + rows_b->nr + 1, sizeof(*pairs));
	const struct summary_row *other;
	const char *name;

	*nr = 0;
	if (!pairs) {
		etch_complaint("There is no memory to compare the tables");
		return NULL;
	}
	for (unsigned int i = 0; i < rows_a->nr; i++) {
		if (!rows_a->rows[i])
			continue;
		name = states_label(a->states, i);
		other = summary_find(b, rows_b, name);
		pairs[(*nr)++] = (struct pair){ name, rows_a->rows[i], other ?: &no_row };
	}
	for (unsigned int i = 0; i < rows_b->nr; i++) {
		name = states_label(b->states, i);
		if (rows_b->rows[i] && !summary_find(a, rows_a, name))
			pairs[(*nr)++] = (struct pair){ name, &no_row, rows_b->rows[i] };
	}
	qsort(pairs, *nr, sizeof(*pairs), pair_order);
	return pairs;
}

static const char *change(char text[24], uint64_t a, uint64_t b)
{
	if (!a)
		return b ? "new" : "-";
	snprintf(text, 24, "%+.1f%%", 100.0 * ((double)b - a) / a);
	return text;
}

static void print_tasks(struct out *out, const struct table *table, const struct summary *a,
			const struct summary *b)
{
	unsigned int nr;
	struct pair *pairs = pair_up(a, &a->tasks, b, &b->tasks, &nr);
	char one[24], two[24], by[24];

	if (pairs && nr)
		out_print(out, "%-22s %10s %11s %8s %9s %11s\n", "TASK", "RUN", "->", "CHANGE",
			  "SWITCHES", "->");
	for (unsigned int i = 0; pairs && i < nr && (!table->lines || i < table->lines); i++)
		out_print(out, "%-22s %10s %11s %8s %9llu %11llu\n", pairs[i].name,
			  length_text(one, pairs[i].a->sum), length_text(two, pairs[i].b->sum),
			  change(by, pairs[i].a->sum, pairs[i].b->sum), pairs[i].a->nr,
			  pairs[i].b->nr);
	table_more(out, table, pairs ? nr : 0);
	free(pairs);
}

static void print_waits(struct out *out, const struct summary *a, const struct summary *b)
{
	static const struct {
		const char *name;
		double percent;
	} lines[] = { { "p50", 50 }, { "p99", 99 }, { "worst", 100 } };
	char one[24], two[24], by[24];

	if (!a->latency.nr && !b->latency.nr)
		return;
	out_print(out, "# from being woken to running\n%-22s %10llu %11llu\n", "N", a->latency.nr,
		  b->latency.nr);
	for (int i = 0; i < 3; i++) {
		uint64_t first = histogram_percentile(&a->latency, lines[i].percent);
		uint64_t second = histogram_percentile(&b->latency, lines[i].percent);

		out_print(out, "%-22s %10s %11s %8s\n", lines[i].name, length_text(one, first),
			  length_text(two, second), change(by, first, second));
	}
}

static uint64_t median(const struct summary_row *row)
{
	return row->lengths ? histogram_percentile(row->lengths, 50) : 0;
}

static void print_calls(struct out *out, const struct table *table, const struct summary *a,
			const struct summary *b)
{
	unsigned int nr;
	struct pair *pairs = pair_up(a, &a->calls, b, &b->calls, &nr);
	char sum[24], to[24], by[24], one[24], two[24];

	if (pairs && nr)
		out_print(out, "%-22s %10s %11s %8s %7s %7s %10s %11s\n", "CALL", "SUM", "->",
			  "CHANGE", "N", "->", "p50", "->");
	for (unsigned int i = 0; pairs && i < nr && (!table->lines || i < table->lines); i++)
		out_print(out, "%-22s %10s %11s %8s %7llu %7llu %10s %11s\n", pairs[i].name,
			  length_text(sum, pairs[i].a->sum), length_text(to, pairs[i].b->sum),
			  change(by, pairs[i].a->sum, pairs[i].b->sum), pairs[i].a->nr,
			  pairs[i].b->nr, length_text(one, median(pairs[i].a)),
			  length_text(two, median(pairs[i].b)));
	table_more(out, table, pairs ? nr : 0);
	free(pairs);
}

static int run_diff(int argc, char **argv)
{
	static struct out out;
	struct table table = {};
	struct etch_source *sources[2] = {};
	struct summary *m[2] = {};
	int ret = table_options(&table, argc, argv, 2);

	for (int i = 0; i < 2 && !ret; i++) {
		m[i] = table_summary(&table, table.folders[i], &sources[i]);
		ret = m[i] ? 0 : EXIT_TROUBLE;
	}
	if (!ret) {
		out_begin(&out, true);
		for (int i = 0; i < 2; i++)
			table_head(&out, m[i], sources[i], table.folders[i]);
		print_tasks(&out, &table, m[0], m[1]);
		print_waits(&out, m[0], m[1]);
		print_calls(&out, &table, m[0], m[1]);
		ret = out_end(&out);
	}
	for (int i = 0; i < 2; i++) {
		summary_close(m[i]);
		etch_close(sources[i]);
	}
	choose_end(&table.choice);
	return ret;
}

const struct verb verb_diff = {
	"diff", "diff DIR DIR", "two traces side by side", diff_help, run_diff
};
