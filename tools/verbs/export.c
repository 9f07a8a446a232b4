// SPDX-License-Identifier: GPL-2.0
/*
 * export: a trace in the formats of other programs. The room export/ writes them.
 */
#include "verbs/etch.h"

#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "export/export.h"
#include "verbs/choose.h"
#include "verbs/line.h"

static const char export_help[] =
	"etch export: write a trace in the format of another program.\n"
	"\n"
	"  $ etch export -f trace.dat trace\n"
	"  etch export: 104383 records of 2 CPUs, 17 lost, in trace.dat\n"
	"  $ trace-cmd report trace.dat | head -1\n"
	"\n"
	"All records are in it, at the times they had, and all losses at their places. The trace\n"
	"stays as it is.\n"
	"\n"
	"  -f FORMAT   which one, and how the file's name ends without -o:\n"
	"              trace.dat  .dat         for trace-cmd report, KernelShark\n"
	"              perf       .perf.data   for perf script, sched, kwork, trace -i, timechart\n"
	"              perfetto   .pftrace     for ui.perfetto.dev, and SQL by trace_processor\n"
	"              ctf-lttng  -lttng       a folder, for Trace Compass\n"
	"              json       .json        an object in each line\n"
	"              csv        .csv         for spreadsheets\n"
	"              sqlite     .sqlite      a database, for SQL\n"
	"              parquet    -parquet     a folder, for SQL about many machines\n"
	"              svg        .svg         a picture of the CPUs\n"
	"  -o FILE     where to (beside the trace, with the ending above). -: the standard\n"
	"              output, of json, csv, svg and perfetto\n"
	"  --from T, --to T\n"
	"              of svg: the part that the picture shows, in seconds as etch show prints\n"
	"              them; +T counts from the first record\n";

static int misused_format(const char *name)
{
	const struct exporter *one;
	char names[256] = "";
	size_t used = 0;

	for (size_t i = 0; (one = exporter_each(i)) && used < sizeof(names); i++)
		used += snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
				 one->name);
	return misused(name ? "there is no format '%s'. The formats are %s" :
		       "say which format, with %s: %s", name ? name : "-f", names);
}

/* The options. */
struct request {
	const char *name, *to;
	struct choice times;
};

static int export_options(struct request *r, int argc, char **argv)
{
	static const struct option options[] = { CHOOSE_LONG, {} };
	int option, ret = 0;

	opterr = 0;
	optind = 1;
	while (!ret && (option = getopt_long(argc, argv, "f:o:", options, NULL)) != -1) {
		if (option == 'f')
			r->name = optarg;
		else if (option == 'o')
			r->to = optarg;
		else if (option == '?')
			ret = misused("this option is not known, or lacks its value");
		else
			ret = choose_option(&r->times, option, optarg);
	}
	return ret;
}

/* Whether the part ends before it begins, as far as the options alone can tell. */
static bool backwards(const struct choice *c)
{
	return c->from_set && c->to_set && c->from_first == c->to_first && c->to <= c->from;
}

/* A time of the options, by the trace's clock. Zero is the trace's beginning, or its end. */
static uint64_t time_of(int64_t ns, bool set, bool first, int64_t shift)
{
	if (!set || first)
		return ns;
	return ns > shift ? ns - shift : 1;
}

static void silent(const char *sentence)
{
	(void)sentence;
}

/* What etch show adds to the trace's times. The export itself complains of the trace. */
static int64_t shift_of(const char *folder)
{
	void (*complain)(const char *sentence) = etch_complain;
	struct etch_source *source;
	int64_t shift;

	etch_complain = silent;
	source = etch_trace_open(folder);
	shift = source ? line_shift(source) : 0;
	etch_close(source);
	etch_complain = complain;
	return shift;
}

static struct part part_of(const struct choice *c, const char *folder)
{
	int64_t shift = shift_of(folder);

	return (struct part){
		.from = time_of(c->from, c->from_set, c->from_first, shift),
		.to = time_of(c->to, c->to_set, c->to_first, shift),
		.from_first = c->from_set && c->from_first,
		.to_first = c->to_set && c->to_first,
		.shift = shift,
	};
}

static int export_main(int argc, char **argv)
{
	struct request r = {};
	const struct exporter *format;
	struct part part;
	int ret = export_options(&r, argc, argv);

	if (ret)
		return ret;
	format = r.name ? exporter_find(r.name) : NULL;
	if (!format)
		return misused_format(r.name);
	if (optind + 1 != argc)
		return misused(optind == argc ? "name the folder of a trace" :
			       "name one folder");
	if (r.to && !strcmp(r.to, "-") && !format->stream)
		return misused("%s does not go to the standard output: name a file", r.name);
	if ((r.times.from_set || r.times.to_set) && !format->part)
		return misused("%s is of all of the trace: --from and --to are of svg", r.name);
	if (backwards(&r.times))
		return misused("--to is not behind --from");
	if (!format->part)
		return export_run(format, argv[optind], r.to, NULL);
	part = part_of(&r.times, argv[optind]);
	return export_run(format, argv[optind], r.to, &part);
}

const struct verb verb_export = {
	.name = "export",
	.example = "export -f trace.dat trace",
	.line = "write it for trace-cmd, perf, Perfetto, SQL, ...",
	.help = export_help,
	.run = export_main,
};
