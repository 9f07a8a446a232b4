// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of the present: see table.h. On a terminal one takes the place of the other.
 */
#include "verbs/table.h"

#include <stdio.h>
#include <unistd.h>

#include "live/live.h"
#include "verbs/etch.h"

#define CLEAR	"\033[H\033[2J"

/**
 * struct screen - a table that comes again and again
 * @table: what the user wants
 * @print: prints it
 * @live: the kernel
 * @summary: of the time since the last table
 * @tables: how many there were
 */
struct screen {
	const struct table *table;
	table_fn *print;
	struct live *live;
	struct summary *summary;
	unsigned int tables;
};

/* Is a table due? The last one may be of less time. */
static bool screen_is_due(const struct screen *s)
{
	const struct summary *m = s->summary;
	uint64_t from = m->choice.from ? m->choice.from : m->first, until = live_until(s->live);

	if (live_is_last(s->live))
		return m->records || !s->tables;
	return from && until >= from + s->table->live;
}

static void screen_show(struct screen *s, struct out *out)
{
	summary_until(s->summary, live_until(s->live));
	if (isatty(out->fd))
		out_text(out, CLEAR);
	else if (s->tables)
		out_char(out, '\n');
	table_head(out, s->summary, live_source(s->live), NULL);
	s->print(out, s->table, s->summary);
	summary_again(s->summary);
	s->tables++;
}

static void screen_rounds(struct screen *s, struct out *out)
{
	struct etch_record rec;

	do {
		while (etch_next(live_source(s->live), &rec) > 0)
			if (!summary_record(s->summary, &rec))
				live_end(s->live);
		if (screen_is_due(s))
			screen_show(s, out);
		out_flush(out);
		if (out->failed)
			live_end(s->live);
	} while (live_wait(s->live));
	report_damage(live_source(s->live));
}

int table_live(const struct table *table, table_fn *print)
{
	static struct out out;
	struct summary_choice choice = table_choice(table, 0);
	struct screen s = { .table = table, .print = print };
	static char name[32];	/* messages have it until the end */
	int ret = EXIT_TROUBLE, status;

	snprintf(name, sizeof(name), "etch %s", table->verb);
	s.live = live_open(&(struct live_wish){
		.name = name, .events = { table->events }, .nr_events = 1,
		.command = table->command });
	if (!s.live)
		return EXIT_TROUBLE;
	s.summary = summary_open(live_source(s.live), &choice);
	if (s.summary) {
		out_begin(&out, false);
		if (!live_start(s.live))
			screen_rounds(&s, &out);
		ret = out_end(&out);
	}
	summary_close(s.summary);
	status = live_close(s.live);
	return status ? status : ret;
}
