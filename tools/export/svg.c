// SPDX-License-Identifier: GPL-2.0
/*
 * A picture of a trace, as SVG: a row for each CPU, with the threads that ran there, above it
 * softirqs and interrupts, and losses in red over all of it.
 *
 * A picture is SVG_WIDTH points wide, and each row keeps what is in one point only: the
 * longest slice of it. So the file does not grow with the trace.
 */
#include "export/value.h"

#include <stdio.h>
#include <stdlib.h>

#define SVG_WIDTH	1600
#define SVG_LEFT	60	/* points for the CPUs' numbers */
#define SVG_ROW		46	/* points of a CPU's row */
#define SVG_TOP		30

enum svg_layer { SVG_HARDIRQ, SVG_SOFTIRQ, SVG_TASK, SVG_LOST, SVG_LAYERS };

/* Where a layer is in its CPU's row. */
static const struct {
	int y, height;
	const char *class;
} layers[SVG_LAYERS] = {
	[SVG_HARDIRQ] = { 0, 6, "h" }, [SVG_SOFTIRQ] = { 7, 6, "s" },
	[SVG_TASK] = { 14, 24, "t" }, [SVG_LOST] = { 0, 38, "l" },
};

/* A point of a row: the longest slice that touches it. */
struct dot {
	uint64_t length;
	int what;
};

/**
 * struct row - a CPU
 * @dots: by layer: SVG_WIDTH points
 * @since: by layer: when the slice began that has no end yet, or 0
 * @what: and its thread, or number
 */
struct row {
	struct dot *dots[SVG_LAYERS];
	uint64_t since[SVG_LAYERS];
	int what[SVG_LAYERS];
};

/* The event's part in the picture. */
enum svg_role { SVG_NONE, SVG_SWITCH, SVG_IRQ_BEGIN, SVG_IRQ_END, SVG_SOFT_BEGIN, SVG_SOFT_END };

struct svg_event {
	bool begun;
	enum svg_role role;
	const struct etch_field *field;
};

/**
 * struct svg - a picture
 * @file: it
 * @rows: by place in the source's CPUs
 * @events: by event
 * @first: the time of the left edge
 * @last: and of the right one
 */
struct svg {
	struct file *file;
	struct row *rows;
	struct svg_event *events;
	uint64_t first, last;
};

/* The time of an edge of the picture; @otherwise, if the user did not choose one. */
static uint64_t edge(uint64_t time, bool since_first, uint64_t first, uint64_t otherwise)
{
	if (since_first)
		return first + time;
	return time ? time : otherwise;
}

/* From where to where the picture goes: always forward. */
static void svg_edges(struct svg *svg, const struct export *x)
{
	static const struct part all;
	const struct part *part = x->part ? x->part : &all;

	svg->first = edge(part->from, part->from_first, x->first, x->first);
	svg->last = edge(part->to, part->to_first, x->first, x->last);
	if (svg->last <= svg->first)
		svg->last = svg->first + 1;
}

static bool svg_open(struct export *x)
{
	struct svg *svg = calloc(1, sizeof(*svg));

	if (!svg)
		return false;
	x->own = svg;
	svg_edges(svg, x);
	svg->rows = calloc(x->source->nr_cpus + 1, sizeof(*svg->rows));
	svg->events = calloc(x->source->nr_events + 1, sizeof(*svg->events));
	if (!svg->rows || !svg->events)
		return false;
	for (unsigned int i = 0; i < x->source->nr_cpus; i++)
		for (int layer = 0; layer < SVG_LAYERS; layer++) {
			svg->rows[i].dots[layer] = calloc(SVG_WIDTH, sizeof(struct dot));
			if (!svg->rows[i].dots[layer])
				return false;
		}
	svg->file = file_open(x->to);
	return svg->file;
}

static struct row *row_of(const struct export *x, int cpu)
{
	struct svg *svg = x->own;
	unsigned int i = 0;

	while (i < x->source->nr_cpus - 1 && x->source->cpus[i].cpu != cpu)
		i++;
	return &svg->rows[i];
}

static unsigned int point_of(const struct svg *svg, uint64_t time)
{
	if (time <= svg->first)
		return 0;
	if (time >= svg->last)
		return SVG_WIDTH - 1;
	return (unsigned __int128)(time - svg->first) * (SVG_WIDTH - 1) /
	       (svg->last - svg->first);
}

static void slice(const struct svg *svg, struct row *row, enum svg_layer layer, uint64_t from,
		  uint64_t to, int what)
{
	/* Another part of the trace. */
	if (to < svg->first || from > svg->last)
		return;
	for (unsigned int i = point_of(svg, from); i <= point_of(svg, to); i++) {
		struct dot *dot = &row->dots[layer][i];

		if (dot->length > to - from)
			continue;
		dot->length = to - from + 1;
		dot->what = what;
	}
}

/* The slice on a layer ends. */
static void slice_end(const struct svg *svg, struct row *row, enum svg_layer layer, uint64_t time)
{
	if (row->since[layer] && time >= row->since[layer])
		slice(svg, row, layer, row->since[layer], time, row->what[layer]);
	row->since[layer] = 0;
}

static void slice_begin(struct row *row, enum svg_layer layer, uint64_t time, int what)
{
	row->since[layer] = time;
	row->what[layer] = what;
}

static void svg_know(struct svg_event *known, const struct etch_event *event)
{
	static const struct {
		const char *full, *field;
		enum svg_role role;
	} roles[] = {
		{ "sched:sched_switch", "next_pid", SVG_SWITCH },
		{ "irq:irq_handler_entry", "irq", SVG_IRQ_BEGIN },
		{ "irq:irq_handler_exit", "irq", SVG_IRQ_END },
		{ "irq:softirq_entry", "vec", SVG_SOFT_BEGIN },
		{ "irq:softirq_exit", "vec", SVG_SOFT_END },
	};

	known->begun = true;
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
		if (!etch_is(event, roles[i].full))
			continue;
		known->role = roles[i].role;
		known->field = etch_field(event, roles[i].field);
	}
}

static bool svg_record(struct export *x, const struct etch_record *rec)
{
	struct svg *svg = x->own;
	struct svg_event *known = &svg->events[rec->event->index];
	struct row *row = row_of(x, rec->cpu);
	int what;

	if (!known->begun)
		svg_know(known, rec->event);
	what = (int)etch_number(rec, known->field);
	switch (known->role) {
	case SVG_SWITCH:
		slice_end(svg, row, SVG_TASK, rec->ns);
		if (what)
			slice_begin(row, SVG_TASK, rec->ns, what);
		break;
	case SVG_IRQ_BEGIN:
		slice_begin(row, SVG_HARDIRQ, rec->ns, what);
		break;
	case SVG_IRQ_END:
		slice_end(svg, row, SVG_HARDIRQ, rec->ns);
		break;
	case SVG_SOFT_BEGIN:
		slice_begin(row, SVG_SOFTIRQ, rec->ns, what);
		break;
	case SVG_SOFT_END:
		slice_end(svg, row, SVG_SOFTIRQ, rec->ns);
		break;
	case SVG_NONE:
		break;
	}
	return true;
}

/* Who ran meanwhile is not known. */
static bool svg_loss(struct export *x, const struct etch_record *rec)
{
	uint64_t since = etch_clock_ns(&x->source->clock, rec->loss->since);
	struct svg *svg = x->own;
	struct row *row = row_of(x, rec->cpu);

	for (int layer = 0; layer < SVG_LOST; layer++)
		slice_end(svg, row, layer, since);
	slice(svg, row, SVG_LOST, since < rec->ns ? since : rec->ns, rec->ns, 0);
	return true;
}

/* ---- The file ---- */

static void put_xml(struct bytes *b, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			bytes_text(b, "&lt;");
		else if (*text == '&')
			bytes_text(b, "&amp;");
		else
			/* Names may have bytes of any character set. */
			bytes_u8(b, (unsigned char)*text < 127 ? *text : '?');
	}
}

static void put_title(struct bytes *b, const struct export *x, enum svg_layer layer, int what)
{
	const char *name = names_now(names_find(x->names, what));

	bytes_text(b, "<title>");
	if (layer == SVG_TASK) {
		put_xml(b, name);
		bytes_print(b, "-%d", what);
	} else if (layer == SVG_LOST) {
		bytes_text(b, "records lost");
	} else {
		bytes_print(b, "%s %d", layer == SVG_SOFTIRQ ? "softirq" : "irq", what);
	}
	bytes_text(b, "</title>");
}

/* Points of one thread, side by side. */
static void put_slice(struct bytes *b, const struct export *x, enum svg_layer layer, int y,
		      unsigned int from, unsigned int to, int what)
{
	bytes_print(b, "<rect class=\"%s\" x=\"%u\" y=\"%d\" width=\"%u\" height=\"%d\"",
		    layers[layer].class, SVG_LEFT + from, y + layers[layer].y, to - from,
		    layers[layer].height);
	if (layer == SVG_TASK)
		bytes_print(b, " fill=\"hsl(%u 55%% 60%%)\"", (unsigned int)what * 137 % 360);
	bytes_text(b, ">");
	put_title(b, x, layer, what);
	bytes_text(b, "</rect>\n");
	if (layer != SVG_TASK || to - from < 40)
		return;
	bytes_print(b, "<text class=\"n\" x=\"%u\" y=\"%d\" textLength=\"%u\">",
		    SVG_LEFT + from + 3, y + 30, to - from - 6);
	put_xml(b, names_now(names_find(x->names, what)));
	bytes_text(b, "</text>\n");
}

static void put_layer(struct bytes *b, const struct export *x, const struct dot *dots,
		      enum svg_layer layer, int y)
{
	unsigned int from = 0;

	for (unsigned int i = 1; i <= SVG_WIDTH; i++) {
		if (i < SVG_WIDTH && dots[i].length && dots[from].length &&
		    dots[i].what == dots[from].what)
			continue;
		if (dots[from].length)
			put_slice(b, x, layer, y, from, i, dots[from].what);
		from = i;
	}
}

static void put_head(struct bytes *b, const struct export *x)
{
	const struct svg *svg = x->own;
	int height = SVG_TOP + SVG_ROW * x->source->nr_cpus + 10;
	unsigned long long from = svg->first + (x->part ? x->part->shift : 0);
	char hostname[128];

	etch_env(x->source, "hostname", hostname, sizeof(hostname));
	bytes_print(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n",
		    SVG_LEFT + SVG_WIDTH + 10, height);
	bytes_text(b, "<style>text{font:12px sans-serif}.n{font-size:11px}.h{fill:#c60}.s{fill:#08a}"
		   ".l{fill:#e00;fill-opacity:.6}</style>\n"
		   "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	bytes_print(b, "<text x=\"%d\" y=\"18\">", SVG_LEFT);
	put_xml(b, hostname);
	bytes_print(b, ", from %llu.%06llu s, %llu.%06llu s</text>\n",
		    from / 1000000000, from % 1000000000 / 1000,
		    (unsigned long long)(svg->last - svg->first) / 1000000000,
		    (unsigned long long)(svg->last - svg->first) % 1000000000 / 1000);
}

static bool svg_end(struct export *x)
{
	struct svg *svg = x->own;
	struct bytes b = {};
	bool fine;

	put_head(&b, x);
	for (unsigned int i = 0; i < x->source->nr_cpus; i++) {
		int y = SVG_TOP + SVG_ROW * i;

		bytes_print(&b, "<text x=\"4\" y=\"%d\">CPU %d</text>\n", y + 30,
			    x->source->cpus[i].cpu);
		for (int layer = 0; layer < SVG_LAYERS; layer++) {
			if (layer != SVG_LOST)
				slice_end(svg, &svg->rows[i], layer, svg->last);
			put_layer(&b, x, svg->rows[i].dots[layer], layer, y);
		}
	}
	bytes_text(&b, "</svg>\n");
	fine = !b.failed;
	file_put(svg->file, b.at, fine ? b.len : 0);
	bytes_free(&b);
	return fine;
}

static bool svg_close(struct export *x, bool whole)
{
	struct svg *svg = x->own;

	if (!svg)
		return false;
	if (svg->file) {
		whole = whole && svg_end(x);
		whole = file_close(svg->file, whole);
	}
	for (unsigned int i = 0; svg->rows && i < x->source->nr_cpus; i++)
		for (int layer = 0; layer < SVG_LAYERS; layer++)
			free(svg->rows[i].dots[layer]);
	free(svg->rows);
	free(svg->events);
	free(svg);
	return whole;
}

const struct exporter export_svg = {
	.name = "svg",
	.suffix = ".svg",
	.line = "browsers, and documents: a picture",
	.stream = true,
	.twice = true,
	.part = true,
	.open = svg_open,
	.record = svg_record,
	.loss = svg_loss,
	.close = svg_close,
};
