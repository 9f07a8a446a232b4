// SPDX-License-Identifier: GPL-2.0
/*
 * syscalls, irqs, block: how long system calls, interrupts, and requests to disks took.
 */
#include "verbs/etch.h"

#include <stdlib.h>

#include "verbs/line.h"
#include "verbs/table.h"

#define BLOCK_EVENTS "block:block_rq_issue,block:block_rq_complete,block:block_rq_requeue"

#define LENGTHS_HELP							\
	"  - p50, p99: of 100, 50 or 99 took at most that long, to 3%.\n"	\
	"    The worst is exact, and ended at the time AT.\n"

static const char syscalls_help[] =
	"etch syscalls: how long system calls took.\n"
	"\n"
	"  $ etch syscalls -n 2 trace\n"
	"  # 4.003 s, 2 CPUs, 104383 records, 0 lost\n"
	"  CALL                  N        SUM        p50        p99      WORST           AT TASK\n"
	"  poll                 17   10.834 s  591.69 ms    1.011 s    1.011 s     3.114150 nc-62\n"
	"  wait4               239   10.465 s    95.3 us  238.10 ms  301.39 ms     2.718281 sh-61\n"
	"\n"
	"  - The time that a call sleeps counts.\n"
	LENGTHS_HELP
	"  - Calls have names if the trace has events of syscalls:, and numbers if it has only\n"
	"    those of raw_syscalls:.\n"
	"\n"
	"etch syscalls [OPTION]... FOLDER, or -- COMMAND, which is recorded first, or --live\n"
	"\n"
	TABLE_HELP
	TABLE_LIVE_HELP;

static const char irqs_help[] =
	"etch irqs: how long interrupts and softirqs took.\n"
	"\n"
	"  $ etch irqs -n 2 trace\n"
	"  # 4.003 s, 2 CPUs, 104383 records, 0 lost\n"
	"  INTERRUPT             N        SUM        p50        p99      WORST           AT TASK\n"
	"  softirq RCU         479  183.08 ms    55.4 us    9.11 ms   15.29 ms     3.114150 sh-61\n"
	"  softirq TIMER       300   47.97 ms    83.5 us    1.04 ms   14.34 ms     1.414213 nc-62\n"
	"\n"
	"  - TASK is the one that was interrupted. The time of an interrupt that came meanwhile\n"
	"    counts in both.\n"
	LENGTHS_HELP
	"\n"
	"etch irqs [OPTION]... FOLDER, or -- COMMAND, which is recorded first, or --live\n"
	"\n"
	TABLE_HELP
	TABLE_LIVE_HELP;

static const char block_help[] =
	"etch block: how long disks took for requests.\n"
	"\n"
	"  $ etch block trace\n"
	"  # 4.003 s, 2 CPUs, 104383 records, 0 lost\n"
	"  DEVICE, REQUEST       N        SUM        p50        p99      WORST           AT TASK\n"
	"  254,0 R              61   12.10 ms   151.5 us  811.0 us   823.1 us     3.114150 dd-90\n"
	"\n"
	"  - From when the driver got a request until all of it was complete. R reads, W writes,\n"
	"    D discards, F flushes; then S: somebody waits, A: ahead, M: metadata.\n"
	LENGTHS_HELP
	"\n"
	"etch block [OPTION]... FOLDER, or -- COMMAND, which is recorded first, or --live\n"
	"\n"
	TABLE_HELP
	TABLE_LIVE_HELP;

static void print_row(struct out *out, const struct summary *m, const struct summary_row *row)
{
	char sum[24], p50[24], p99[24], worst[24];
	uint64_t at = row->worst_at + line_shift(m->source);

	out_print(out, "%-22s %7llu %10s %10s %10s %10s %6llu.%06llu %s-%d\n",
		  states_label(m->states, row->label), row->nr, length_text(sum, row->sum),
		  length_text(p50, histogram_percentile(row->lengths, 50)),
		  length_text(p99, histogram_percentile(row->lengths, 99)),
		  length_text(worst, row->worst), (unsigned long long)at / 1000000000,
		  (unsigned long long)at / 1000 % 1000000,
		  states_label(m->states, row->worst_task), row->worst_tid);
}

static void print_lengths(struct out *out, const struct table *table, const struct summary *m,
			  const struct summary_table *rows, const char *what, const char *events)
{
	unsigned int nr = 0;
	struct summary_row **list = summary_sorted(rows, &nr);

	if (!list)
		return;
	if (!nr)
		out_print(out, "# no record tells of them: record %s\n", events);
	else
		out_print(out, "%-22s %7s %10s %10s %10s %10s %13s TASK\n", what, "N", "SUM", "p50",
			  "p99", "WORST", "AT");
	for (unsigned int i = 0; i < nr && (!table->lines || i < table->lines); i++)
		print_row(out, m, list[i]);
	table_more(out, table, nr);
	free(list);
}

static void print_syscalls(struct out *out, const struct table *table, struct summary *m)
{
	print_lengths(out, table, m, &m->calls, "CALL", "syscalls or raw_syscalls");
	table_foot(out, m, 1 << SPAN_CALL);
}

static void print_irqs(struct out *out, const struct table *table, struct summary *m)
{
	print_lengths(out, table, m, &m->irqs, "INTERRUPT", "irq");
	table_foot(out, m, 1 << SPAN_IRQ | 1 << SPAN_SOFTIRQ);
}

static void print_block(struct out *out, const struct table *table, struct summary *m)
{
	print_lengths(out, table, m, &m->io, "DEVICE, REQUEST",
		      "block:block_rq_issue and block:block_rq_complete");
	table_foot(out, m, 1 << SPAN_IO);
}

static int run_syscalls(int argc, char **argv)
{
	return table_run(argc, argv, "syscalls," NAME_EVENTS, print_syscalls);
}

static int run_irqs(int argc, char **argv)
{
	return table_run(argc, argv, "irq," NAME_EVENTS, print_irqs);
}

static int run_block(int argc, char **argv)
{
	return table_run(argc, argv, BLOCK_EVENTS "," NAME_EVENTS, print_block);
}

const struct verb verb_syscalls = {
	"syscalls", "syscalls DIR", "how long system calls took", syscalls_help, run_syscalls
};

const struct verb verb_irqs = {
	"irqs", "irqs DIR", "how long interrupts took", irqs_help, run_irqs
};

const struct verb verb_block = {
	"block", "block DIR", "how long disks took", block_help, run_block
};
