// SPDX-License-Identifier: GPL-2.0
/*
 * latency: how long tasks waited from being woken to running.
 */
#include "verbs/etch.h"
#include "verbs/line.h"
#include "verbs/table.h"

#define BAR	40	/* characters of the longest bar */

static const char latency_help[] =
	"etch latency: how long tasks waited from being woken to running.\n"
	"\n"
	"  $ etch latency trace\n"
	"  # 4.003 s, 2 CPUs, 104383 records, 0 lost\n"
	"     65.5 us .. 131.1 us        161 #####################################\n"
	"    131.1 us .. 262.1 us        170 ########################################\n"
	"    262.1 us .. 524.3 us         69 ################\n"
	"  p50 145.4 us, p99 28.64 ms, worst 217.47 ms: sh-2420 at 3.728301\n"
	"\n"
	"  - A line is for waits that are at least so long and shorter than twice that.\n"
	"  - p50, p99: of 100 waits, 50 or 99 were at most that long, to 3%. The worst is exact,\n"
	"    and etch show --from prints what was going on before it.\n"
	"\n"
	"etch latency [OPTION]... FOLDER, or -- COMMAND, which is recorded first, or --live\n"
	"\n"
	TABLE_HELP
	TABLE_LIVE_HELP;

/* Powers of two, in which there is something: [from, to). */
static void print_bars(struct out *out, const struct histogram *h)
{
	unsigned long long most = 0, nr;
	char from[24], to[24];

	for (int i = 0; i < 63; i++) {
		nr = histogram_between(h, i ? 1ULL << i : 0, 2ULL << i);
		most = nr > most ? nr : most;
	}
	for (int i = 0; i < 63; i++) {
		nr = histogram_between(h, i ? 1ULL << i : 0, 2ULL << i);
		if (!nr)
			continue;
		out_print(out, "%10s .. %-10s %8llu ", length_text(from, i ? 1ULL << i : 0),
			  length_text(to, 2ULL << i), nr);
		for (unsigned long long n = nr * BAR / most; n; n--)
			out_char(out, '#');
		out_char(out, '\n');
	}
}

static void print_latency(struct out *out, const struct table *table, struct summary *m)
{
	const struct summary_row *worst = &m->latency_worst;
	char p50[24], p99[24], longest[24];
	uint64_t at = worst->worst_at + line_shift(m->source);

	(void)table;
	print_bars(out, &m->latency);
	if (m->latency.nr)
		out_print(out, "p50 %s, p99 %s, worst %s: %s-%d at %llu.%06llu\n",
			  length_text(p50, histogram_percentile(&m->latency, 50)),
			  length_text(p99, histogram_percentile(&m->latency, 99)),
			  length_text(longest, worst->worst),
			  states_label(m->states, worst->worst_task), worst->worst_tid,
			  (unsigned long long)at / 1000000000,
			  (unsigned long long)at / 1000 % 1000000);
	else
		out_print(out, "# no record tells of waits: record %s\n", SCHED_LEAST);
	table_foot(out, m, 1 << SPAN_READY);
}

static int run_latency(int argc, char **argv)
{
	return table_run(argc, argv, SCHED_EVENTS, print_latency);
}

const struct verb verb_latency = {
	"latency", "latency DIR", "how long they waited, as bars", latency_help, run_latency
};
