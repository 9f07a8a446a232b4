// SPDX-License-Identifier: GPL-2.0
/*
 * The formats' table, and the pass over the trace.
 */
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>

static const struct exporter * const exporters[] = {
	&export_dat,
	&export_perf,
	&export_perfetto,
	&export_lttng,
	&export_json,
	&export_csv,
	&export_sqlite,
	&export_parquet,
	&export_svg,
};

const struct exporter *exporter_each(size_t n)
{
	return n < sizeof(exporters) / sizeof(*exporters) ? exporters[n] : NULL;
}

const struct exporter *exporter_find(const char *name)
{
	const struct exporter *one;

	for (size_t i = 0; (one = exporter_each(i)); i++)
		if (!strcmp(one->name, name))
			return one;
	return NULL;
}

/* The first of two passes; the second one reports damage of the trace. */
static void silent(const char *sentence)
{
	(void)sentence;
}

static bool pass_first(struct export *x)
{
	void (*complain)(const char *sentence) = etch_complain;
	struct etch_record rec;

	etch_complain = silent;
	x->source = etch_trace_open(x->folder);
	while (x->source && etch_next(x->source, &rec) > 0) {
		x->first = x->first ? x->first : rec.ns;
		x->last = rec.ns;
		if (rec.loss)
			continue;
		names_look(x->names, x->source, &rec, NULL, NULL);
		if (x->largest < ftrace_len(x->source, &rec))
			x->largest = ftrace_len(x->source, &rec);
	}
	names_rewind(x->names);
	etch_close(x->source);
	etch_complain = complain;
	return true;
}

static bool pass(struct export *x, const struct exporter *format)
{
	struct etch_record rec;
	bool fine = format->open(x);

	x->rec = &rec;
	while (fine && etch_next(x->source, &rec) > 0) {
		if (rec.loss) {
			fine = format->loss(x, &rec);
			continue;
		}
		names_look(x->names, x->source, &rec, format->renamed, x);
		fine = format->record(x, &rec);
		x->records++;
	}
	return format->close(x, fine);
}

/* "trace/" and "trace" become "trace.dat". */
static char *beside(const char *folder, const char *suffix)
{
	size_t len = strlen(folder);
	char *path;

	while (len > 1 && folder[len - 1] == '/')
		len--;
	return asprintf(&path, "%.*s%s", (int)len, folder, suffix) < 0 ? NULL : path;
}

/* Tells the user how much was written, and where. */
static void report(const struct export *x)
{
	unsigned long long lost = 0;

	for (unsigned int i = 0; i < x->source->nr_cpus + x->source->nr_programs; i++)
		lost += x->source->cpus[i].lost.total;
	fprintf(stderr, "etch export: %llu records of %u CPU%s, %llu lost, in %s\n", x->records,
		x->source->nr_cpus, x->source->nr_cpus == 1 ? "" : "s", lost,
		strcmp(x->to, "-") ? x->to : "the standard output");
}

int export_run(const struct exporter *format, const char *folder, const char *to,
	       const struct part *part)
{
	char *path = to ? NULL : beside(folder, format->suffix);
	struct export x = { .folder = folder, .to = to ? to : path, .part = part };
	bool fine = false;

	x.names = x.to ? names_open(folder) : NULL;
	if (x.names && (!format->twice || pass_first(&x)))
		x.source = etch_trace_open(folder);
	else
		x.source = NULL;
	x.symbols = x.source ? etch_symbols_open(folder) : NULL;
	if (x.source)
		fine = pass(&x, format);
	if (fine)
		report(&x);
	etch_symbols_close(x.symbols);
	etch_close(x.source);
	names_close(x.names);
	free(path);
	return fine ? 0 : 1;
}
