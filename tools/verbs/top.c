// SPDX-License-Identifier: GPL-2.0
/*
 * top: which tasks ran, for how long, and how long they had to wait.
 */
#include "verbs/etch.h"

#include <stdlib.h>

#include "verbs/table.h"

static const char top_help[] =
	"etch top: which tasks ran, for how long, and how long they waited for a CPU.\n"
	"\n"
	"  $ etch top -n 3 trace\n"
	"  # 4.003 s, 2 CPUs, 104383 records, 0 lost\n"
	"  TASK                          RUN     CPU  SWITCHES   WORST WAIT\n"
	"  <idle>                    4.300 s  107.4%       318            -\n"
	"  sh                      809.21 ms   20.2%       184    217.47 ms\n"
	"  sleep                   636.53 ms   15.9%       126     31.73 ms\n"
	"\n"
	"  - A line is for all threads of a name. 100% is one CPU for the whole time.\n"
	"  - SWITCHES: how often one of them left a CPU.\n"
	"  - WORST WAIT: how long one of them could run, woken or preempted, and had no CPU.\n"
	"  - Before a CPU's first switch, and where its records are lost, nobody knows what ran.\n"
	"\n"
	"etch top [OPTION]... FOLDER, or -- COMMAND, which is recorded first, or --live\n"
	"\n"
	TABLE_HELP
	TABLE_LIVE_HELP;

static void print_task(struct out *out, const struct summary *m, const struct summary_row *row)
{
	char run[24], wait[24];
	double all = m->last - m->first;

	length_text(wait, row->worst);
	out_print(out, "%-22s %10s %6.1f%% %9llu %12s\n", states_label(m->states, row->label),
		  length_text(run, row->sum), all ? 100.0 * row->sum / all : 0, row->nr,
		  row->worst_at ? wait : "-");
}

static void print_top(struct out *out, const struct table *table, struct summary *m)
{
	unsigned int nr = 0;
	struct summary_row **list = summary_sorted(&m->tasks, &nr);

	if (!list)
		return;
	if (!nr)
		out_print(out, "# no record tells of tasks: record %s\n", SCHED_LEAST);
	else
		out_text(out, "TASK                          RUN     CPU  SWITCHES   WORST WAIT\n");
	for (unsigned int i = 0; i < nr && (!table->lines || i < table->lines); i++)
		print_task(out, m, list[i]);
	table_more(out, table, nr);
	table_foot(out, m, 1 << SPAN_READY);
	if (m->unknown[SPAN_RUN])
		out_print(out, "# not known, %llu time%s: what ran until the next switch, %s\n",
			  m->unknown[SPAN_RUN], m->unknown[SPAN_RUN] == 1 ? "" : "s",
			  "because records are missing");
	free(list);
}

static int run_top(int argc, char **argv)
{
	return table_run(argc, argv, SCHED_EVENTS, print_top);
}

const struct verb verb_top = {
	"top", "top DIR", "which tasks ran, and waited", top_help, run_top
};
