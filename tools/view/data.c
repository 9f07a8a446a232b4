// SPDX-License-Identifier: GPL-2.0
/*
 * What the page shows of a trace: view.h says in which form.
 */
#include "view/view.h"

#include <stdlib.h>

/* ---- Bytes ---- */

static void put_signed(struct bytes *b, int64_t number)
{
	bytes_varint(b, number < 0 ? 2 * -(uint64_t)number - 1 : 2 * (uint64_t)number);
}

/* A string of JSON. Bytes that are no ASCII stay: the page shows them as UTF-8. */
static void put_string(struct bytes *b, const char *text, size_t len)
{
	bytes_put(b, "\"", 1);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = text[i];

		if (c < ' ' || c == '"' || c == '\\' || c == 0x7f)
			bytes_print(b, "\\u%04x", c);
		else
			bytes_put(b, &c, 1);
	}
	bytes_put(b, "\"", 1);
}

/* ---- Records, losses, marks ---- */

/* Most often, CPUs are numbered from 0 on. */
static unsigned int cpu_index(const struct view *v, int cpu)
{
	const struct etch_source *source = v->source;

	if (cpu >= 0 && (unsigned int)cpu < source->nr_cpus && source->cpus[cpu].cpu == cpu)
		return cpu;
	for (unsigned int i = 0; i < source->nr_cpus; i++)
		if (source->cpus[i].cpu == cpu)
			return i;
	return source->nr_cpus;
}

static void add_loss(struct view *v, const struct etch_record *rec)
{
	const struct etch_loss *loss = rec->loss;
	int64_t since = etch_clock_ns(&v->source->clock, loss->since) - v->base;
	int64_t until = rec->ns - v->base;

	v->lost += loss->total;
	bytes_print(&v->json, "%s[%u,%lld,%lld,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu]",
		    v->nr_losses++ ? "," : "", cpu_index(v, rec->cpu), (long long)since,
		    (long long)until, loss->total, loss->overwritten, loss->full,
		    loss->throttled, loss->nested, loss->too_big, loss->unknown, loss->packets);
}

/* A file that is cut off: from there on, nobody knows how many records are missing. */
static void add_cut(struct view *v, unsigned int cpu)
{
	const struct etch_cpu *from = &v->source->cpus[cpu];
	uint64_t since = etch_clock_ns(&v->source->clock, from->gap_since);

	if (v->begun && from->cut && since < v->last)
		bytes_print(&v->json, "%s[%u,%lld,%llu,0,0,0,0,0,0,0,0]",
			    v->nr_losses++ ? "," : "", cpu, (long long)(since - v->base),
			    (unsigned long long)(v->last - v->base));
}

static void add_mark(struct view *v, const struct etch_record *rec)
{
	const char *text;
	size_t len;

	if (v->nr_marks == VIEW_MARKS)
		return;
	text = etch_text(rec, etch_field(rec->event, "buf"), &len);
	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	bytes_print(&v->marks, "%s[%llu,%u,%d,", v->nr_marks++ ? "," : "",
		    (unsigned long long)(rec->ns - v->base), cpu_index(v, rec->cpu), rec->pid);
	put_string(&v->marks, text, len < VIEW_TEXT ? len : VIEW_TEXT);
	bytes_put(&v->marks, "]", 1);
}

static void add_record(struct view *v, const struct etch_record *rec)
{
	bytes_varint(&v->records, rec->ns - v->last);
	bytes_varint(&v->records, cpu_index(v, rec->cpu));
	bytes_varint(&v->records, rec->event->index);
	put_signed(&v->records, rec->pid);
	v->last = rec->ns;
	if (!v->nr_records++)
		v->first = rec->ns;
	if (etch_is(rec->event, "etch:marker"))
		add_mark(v, rec);
}

static void add_span(void *arg, const struct span *span)
{
	struct view *v = arg;
	int64_t end;

	if (!v->begun || span->end < v->base)
		return;
	end = span->end - v->base;
	bytes_varint(&v->spans, span->kind << 3 | span->woken << 2 | span->fate);
	put_signed(&v->spans, end - v->span_end);
	bytes_varint(&v->spans, span->end - span->start);
	bytes_varint(&v->spans, span->cpu < 0 ? 0 : 1 + cpu_index(v, span->cpu));
	put_signed(&v->spans, span->tid);
	bytes_varint(&v->spans, span->task);
	bytes_varint(&v->spans, span->label);
	if (span->kind == SPAN_IO)
		bytes_varint(&v->spans, span->bytes);
	v->span_end = end;
	v->nr_spans++;
}

static void first_record(struct view *v, uint64_t ns)
{
	v->from += v->from_first ? ns : 0;
	v->to += v->to_first ? ns : 0;
	v->from_first = v->to_first = false;
}

/* Of one record or loss; false if it is behind the end. */
static bool view_record(struct view *v, const struct etch_record *rec)
{
	if (v->from_first || v->to_first)
		first_record(v, rec->ns);
	if (v->to && rec->ns > v->to)
		return false;
	if (!v->begun && rec->ns >= v->from) {
		v->begun = true;
		v->base = v->last = rec->ns;
	}
	if (states_record(v->states, rec))
		v->spans.failed = true;
	if (!v->begun)
		return true;
	if (rec->loss)
		add_loss(v, rec);
	else
		add_record(v, rec);
	return true;
}

enum view_end view_read(struct view *v)
{
	struct etch_record rec;

	v->states = states_open(v->source, add_span, v);
	if (!v->states)
		return VIEW_FAILED;
	while (etch_next(v->source, &rec) > 0 && view_record(v, &rec))
		if (v->nr_records > VIEW_RECORDS)
			return VIEW_TOO_MANY;
	states_end(v->states, v->last);
	for (unsigned int i = 0; i < v->source->nr_cpus; i++)
		add_cut(v, i);
	return VIEW_DONE;
}

/* ---- The JSON ---- */

static void add_env(struct view *v, const char *name)
{
	char value[256];

	etch_env(v->source, name, value, sizeof(value));
	bytes_print(&v->json, ",\"%s\":", name);
	put_string(&v->json, value, strlen(value));
}

static void add_names(struct view *v)
{
	bytes_print(&v->json, ",\"labels\":[");
	for (unsigned int i = 0; i < states_labels(v->states); i++) {
		const char *text = states_label(v->states, i);

		bytes_print(&v->json, i ? "," : "");
		put_string(&v->json, text, strlen(text));
	}
	bytes_print(&v->json, "],\"events\":[");
	for (unsigned int i = 0; i < v->source->nr_events; i++) {
		const char *text = v->source->events[i]->full;

		bytes_print(&v->json, i ? "," : "");
		put_string(&v->json, text, strlen(text));
	}
	bytes_print(&v->json, "],\"cpus\":[");
	for (unsigned int i = 0; i < v->source->nr_cpus; i++)
		bytes_print(&v->json, "%s%d", i ? "," : "", v->source->cpus[i].cpu);
	bytes_print(&v->json, "]");
}

/* Times are in two parts: in JavaScript, a number has no 64 bits. */
static void add_times(struct view *v)
{
	int64_t shown = v->base + v->shift;
	int64_t wall = v->base + v->source->clock.offset_ns;

	bytes_print(&v->json, ",\"base\":[%lld,%lld],\"first\":%llu,\"end\":%llu,\"lost\":%llu",
		    (long long)(shown / 1000000000), (long long)(shown % 1000000000),
		    (unsigned long long)(v->first - v->base),
		    (unsigned long long)(v->last - v->base), v->lost);
	if (v->source->clock.absolute)
		bytes_print(&v->json, ",\"wall\":%lld", (long long)(wall / 1000000));
}

bool view_finish(struct view *v)
{
	struct bytes losses = v->json;

	v->json = (struct bytes){};
	bytes_print(&v->json, "{\"version\":1,\"losses\":[");
	bytes_put(&v->json, losses.at ? losses.at : (unsigned char *)"", losses.len);
	v->json.failed |= losses.failed;
	free(losses.at);
	bytes_print(&v->json, "],\"marks\":[");
	bytes_put(&v->json, v->marks.at ? v->marks.at : (unsigned char *)"", v->marks.len);
	bytes_print(&v->json, "]");
	add_times(v);
	add_names(v);
	add_env(v, "hostname");
	add_env(v, "sysname");
	add_env(v, "kernel_release");
	add_env(v, "architecture");
	bytes_print(&v->json, ",\"nr\":[%llu,%llu],\"bytes\":[%zu,%zu]}", v->nr_records,
		    v->nr_spans, v->records.len, v->spans.len);
	return !v->json.failed && !v->marks.failed && !v->records.failed && !v->spans.failed;
}

void view_free(struct view *v)
{
	states_close(v->states);
	free(v->json.at);
	free(v->marks.at);
	free(v->records.at);
	free(v->spans.at);
}
