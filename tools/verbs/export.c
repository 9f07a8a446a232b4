// SPDX-License-Identifier: GPL-2.0
/*
 * export: a trace in the formats of other programs. The room export/ writes them.
 */
#include "verbs/etch.h"

#include <stdio.h>
#include <unistd.h>

#include "export/export.h"

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
	"              output, of json, csv, svg and perfetto\n";

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

static int export_main(int argc, char **argv)
{
	const char *name = NULL, *to = NULL;
	const struct exporter *format;
	int option;

	while ((option = getopt(argc, argv, "f:o:")) != -1) {
		if (option == 'f')
			name = optarg;
		else if (option == 'o')
			to = optarg;
		else
			return misused("this option is not known, or lacks its value");
	}
	format = name ? exporter_find(name) : NULL;
	if (!format)
		return misused_format(name);
	if (optind + 1 != argc)
		return misused(optind == argc ? "name the folder of a trace" :
			       "name one folder");
	if (to && !strcmp(to, "-") && !format->stream)
		return misused("%s does not go to the standard output: name a file", name);
	return export_run(format, argv[optind], to);
}

const struct verb verb_export = {
	.name = "export",
	.example = "export -f trace.dat trace",
	.line = "write it for trace-cmd, perf, Perfetto, SQL, ...",
	.help = export_help,
	.run = export_main,
};
