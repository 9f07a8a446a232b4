// SPDX-License-Identifier: GPL-2.0
/*
 * Sums, percentiles and worst cases of spans, by name: what tables print.
 */
#include "states/states.h"

#include <stdlib.h>

/* The row of a label. NULL: no memory, noted. */
static struct summary_row *row_of(struct summary *m, struct summary_table *table,
				  unsigned int label, bool lengths)
{
	struct summary_row **rows = table->rows, *row;
	unsigned int nr = label + label / 2 + 64;

	if (label >= table->nr) {
		rows = realloc(rows, nr * sizeof(*rows));
		if (!rows)
			goto fail;
		memset(rows + table->nr, 0, (nr - table->nr) * sizeof(*rows));
		table->rows = rows;
		table->nr = nr;
	}
	if (rows[label])
		return rows[label];
	row = calloc(1, sizeof(*row));
	if (!row)
		goto fail;
	row->label = label;
	row->lengths = lengths ? calloc(1, sizeof(*row->lengths)) : NULL;
	if (lengths && !row->lengths) {
		free(row);
		goto fail;
	}
	return rows[label] = row;
fail:
	m->trouble = true;
	return NULL;
}

static void row_worst(struct summary_row *row, const struct span *span)
{
	if (span->end - span->start < row->worst || (row->worst_at && span->end - span->start ==
						     row->worst))
		return;
	row->worst = span->end - span->start;
	row->worst_at = span->end;
	row->worst_tid = span->tid;
	row->worst_task = span->task;
}

static void row_add(struct summary_row *row, const struct span *span)
{
	row->nr++;
	row->sum += span->end - span->start;
	row->bytes += span->bytes;
	row_worst(row, span);
	if (row->lengths)
		histogram_add(row->lengths, span->end - span->start);
}

/* Of running, the part in the range counts, even if it is not over. */
static void add_run(struct summary *m, const struct span *span)
{
	const struct summary_choice *c = &m->choice;
	uint64_t start = span->start < c->from ? c->from : span->start;
	uint64_t end = c->to && span->end > c->to ? c->to : span->end;
	struct summary_row *row = row_of(m, &m->tasks, span->label, false);

	if (!row || start > end)
		return;
	row->sum += end - start;
	if (span->fate == SPAN_WHOLE && span->end == end)
		row->nr++;
}

static void add_ready(struct summary *m, const struct span *span)
{
	struct summary_row *row = row_of(m, &m->tasks, span->task, false);

	if (row)
		row_worst(row, span);
	if (!span->woken)
		return;
	histogram_add(&m->latency, span->end - span->start);
	row_worst(&m->latency_worst, span);
}

static void got_span(void *arg, const struct span *span)
{
	struct summary *m = arg;
	struct summary_table *table;

	if (span->end < m->choice.from ||
	    (m->choice.wants && !m->choice.wants(m->choice.arg, m->states, span)))
		return;
	m->unknown[span->kind] += span->fate == SPAN_LOST;
	m->open[span->kind] += span->fate == SPAN_OPEN;
	/* That a thread ran until its CPU's records end is known. */
	if (span->kind == SPAN_RUN) {
		add_run(m, span);
		return;
	}
	if (span->fate != SPAN_WHOLE)
		return;
	if (span->kind == SPAN_READY) {
		add_ready(m, span);
		return;
	}
	table = span->kind == SPAN_CALL ? &m->calls : span->kind == SPAN_IO ? &m->io :
		span->kind == SPAN_IRQ || span->kind == SPAN_SOFTIRQ ? &m->irqs : NULL;
	if (table) {
		struct summary_row *row = row_of(m, table, span->label, true);

		if (row)
			row_add(row, span);
	}
}

static void summary_first(struct summary *m, uint64_t ns)
{
	if (m->choice.from_first)
		m->choice.from += ns;
	if (m->choice.to_first)
		m->choice.to += ns;
	m->begun = true;
}

/* Counts a record or a loss. */
static void summary_count(struct summary *m, const struct etch_record *rec)
{
	if (rec->ns < m->choice.from)
		return;
	if (rec->loss) {
		m->lost += rec->loss->total;
		return;
	}
	if (!m->records++)
		m->first = rec->ns;
	m->last = rec->ns;
}

struct summary *summary_open(struct etch_source *source, const struct summary_choice *choice)
{
	struct summary *m = calloc(1, sizeof(*m));

	if (!m) {
		etch_complaint("There is no memory for what the records tell");
		return NULL;
	}
	m->states = states_open(source, got_span, m);
	if (!m->states) {
		free(m);
		return NULL;
	}
	m->source = source;
	m->choice = *choice;
	return m;
}

bool summary_record(struct summary *m, const struct etch_record *rec)
{
	if (!m->begun)
		summary_first(m, rec->ns);
	if (m->choice.to && rec->ns > m->choice.to)
		return false;
	m->trouble |= states_record(m->states, rec) < 0;
	summary_count(m, rec);
	return !m->trouble;
}

void summary_end(struct summary *m)
{
	states_end(m->states, m->last);
	if (m->trouble)
		etch_complaint("There is no memory for all names; this is only of the beginning");
}

struct summary *summary_of(struct etch_source *source, const struct summary_choice *choice)
{
	struct summary *m = summary_open(source, choice);
	struct etch_record rec;

	if (!m)
		return NULL;
	while (etch_next(source, &rec) > 0)
		if (!summary_record(m, &rec))
			break;
	summary_end(m);
	return m;
}

static void table_close(struct summary_table *table)
{
	for (unsigned int i = 0; i < table->nr; i++) {
		if (table->rows[i])
			free(table->rows[i]->lengths);
		free(table->rows[i]);
	}
	free(table->rows);
	*table = (struct summary_table){};
}

void summary_until(struct summary *m, uint64_t until)
{
	uint64_t from = m->choice.from ? m->choice.from : m->records ? m->first : until;

	states_running(m->states, until);
	m->first = from < until ? from : until;
	m->last = until;
}

void summary_again(struct summary *m)
{
	table_close(&m->tasks);
	table_close(&m->calls);
	table_close(&m->irqs);
	table_close(&m->io);
	m->choice.from = m->last;
	m->latency = (struct histogram){};
	m->latency_worst = (struct summary_row){};
	m->records = m->lost = 0;
	memset(m->unknown, 0, sizeof(m->unknown));
	memset(m->open, 0, sizeof(m->open));
}

void summary_close(struct summary *m)
{
	if (!m)
		return;
	table_close(&m->tasks);
	table_close(&m->calls);
	table_close(&m->irqs);
	table_close(&m->io);
	states_close(m->states);
	free(m);
}

const struct summary_row *summary_find(const struct summary *summary,
				       const struct summary_table *table, const char *name)
{
	unsigned int label = states_find(summary->states, name);

	return label && label < table->nr ? table->rows[label] : NULL;
}

static int by_sum(const void *one, const void *two)
{
	const struct summary_row *a = *(struct summary_row **)one, *b = *(struct summary_row **)two;

	if (a->sum != b->sum)
		return a->sum < b->sum ? 1 : -1;
	return a->label < b->label ? -1 : a->label > b->label;
}

struct summary_row **summary_sorted(const struct summary_table *table, unsigned int *nr)
{
	struct summary_row **list = malloc((table->nr + 1) * sizeof(*list));

	*nr = 0;
	for (unsigned int i = 0; list && i < table->nr; i++)
		if (table->rows[i])
			list[(*nr)++] = table->rows[i];
	if (!list)
		etch_complaint("There is no memory to sort the table");
	else
		qsort(list, *nr, sizeof(*list), by_sum);
	return list;
}
