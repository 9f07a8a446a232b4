// SPDX-License-Identifier: GPL-2.0
/*
 * show: the records of a trace as text, one line each, all CPUs in the order of time.
 */
#include "verbs/etch.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "verbs/choose.h"
#include "verbs/durations.h"
#include "verbs/line.h"

static const char show_help[] =
	"etch show: records as text, as the kernel's file \"trace\" has them.\n"
	"\n"
	"  $ etch show -e sched_switch -t nc --from +1 trace\n"
	"    nc-62     [000] .....    62.620079: sched_switch: prev_comm=nc prev_pid=62 ...\n"
	"  CPU:0 [LOST 17 EVENTS] 12 overwritten, 5 because the buffer was full\n"
	"\n"
	"  - All CPUs are in the order of time. A loss stands in front of the first record\n"
	"    behind it; -e, -t and -f do not hide losses, for nobody knows what was lost.\n"
	"  - Addresses have names if the recorder could see them. A pointer shows as it is.\n"
	"  - On a terminal, $PAGER shows it, and $NO_COLOR leaves out the colours.\n"
	"\n"
	"etch show [OPTION]... FOLDER\n"
	"\n"
	CHOOSE_HELP
	"  -n NUMBER         no more than so many lines\n"
	"  -N                times in nanoseconds\n"
	"  -D, --durations   how long things took, and a system call as one line\n"
	"  -F                fields as name=value, without the event's own text\n"
	"  -H                without the lines at the top that explain the columns\n"
	"  -P                without a pager\n";

/**
 * struct show - the command line
 * @choice: which records
 * @liner: how
 * @folder: of which trace
 * @most: so many lines at most
 * @durations: with what took how long; NULL: without
 * @with_durations: the user wants that
 * @fine: with nanoseconds
 * @by_fields: as name=value
 * @no_header: without the lines at the top
 * @no_pager: without a pager
 */
struct show {
	struct choice choice;
	struct liner liner;
	const char *folder;
	unsigned long long most;
	struct durations *durations;
	bool with_durations, fine, by_fields, no_header, no_pager;
};

static int show_option(struct show *show, int option)
{
	int ret = choose_option(&show->choice, option, optarg);
	char *end;

	if (ret >= 0)
		return ret;
	switch (option) {
	case 'n':
		show->most = strtoull(optarg, &end, 10);
		return *end || end == optarg ? misused("'%s' is no number", optarg) : 0;
	case 'N':
		show->fine = true;
		return 0;
	case 'D':
		show->with_durations = true;
		return durations_open ? 0 : misused("this program has no durations");
	case 'F':
		show->by_fields = true;
		return 0;
	case 'H':
		show->no_header = true;
		return 0;
	case 'P':
		show->no_pager = true;
		return 0;
	default:
		return misused("there is no such option");
	}
}

static int show_options(struct show *show, int argc, char **argv)
{
	static const struct option options[] = {
		CHOOSE_LONG, { "durations", no_argument, NULL, 'D' }, {}
	};
	int option, ret;

	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, CHOOSE_SHORT "n:NDFHP", options, NULL)) != -1) {
		ret = show_option(show, option);
		if (ret)
			return ret;
	}
	if (optind + 1 != argc)
		return misused("name one folder of a trace");
	show->folder = argv[optind];
	return 0;
}

void report_damage(const struct etch_source *source)
{
	for (unsigned int i = 0; i < source->nr_cpus + source->nr_programs; i++) {
		const struct etch_cpu *cpu = &source->cpus[i];

		if (cpu->cut)
			etch_complaint("%s/%s%d: %llu bytes behind the last whole packet are not shown: it was cut off there. etch repair makes it whole",
				       source->path, etch_cpu_kind(cpu), cpu->cpu, cpu->cut);
		if (cpu->unreadable)
			etch_complaint("%s/%s%d: %llu records make no sense and are not shown",
				       source->path, etch_cpu_kind(cpu), cpu->cpu, cpu->unreadable);
	}
}

/* Returns how many lines it printed. */
static unsigned int show_record(struct show *show, struct out *out, const struct etch_record *rec,
				bool wanted)
{
	if (show->durations)
		return durations_line(show->durations, out, rec, wanted);
	if (wanted && rec->loss)
		line_loss(&show->liner, out, rec);
	else if (wanted)
		line_record(&show->liner, out, rec);
	return wanted;
}

static void show_records(struct show *show, struct etch_source *source, struct out *out)
{
	unsigned long long lines = 0;
	struct etch_record rec;
	uint64_t last = 0;
	bool wanted;

	while (lines < show->most && !out->failed && etch_next(source, &rec) > 0) {
		names_look(show->liner.names, source, &rec, NULL, NULL);
		wanted = chosen(&show->choice, &rec);
		if (!wanted && choose_is_over(&show->choice, &rec))
			return;
		lines += show_record(show, out, &rec, wanted);
		last = rec.ns;
	}
	if (lines >= show->most || out->failed)
		return;
	if (show->durations)
		durations_tell_open(show->durations, out, last, 0);
	report_damage(source);
}

static int show_begin(struct show *show, struct etch_source *source)
{
	show->liner.fine = show->fine;
	show->liner.by_fields = show->by_fields;
	if (show->with_durations) {
		show->durations = durations_open(&show->liner, NULL);
		if (!show->durations)
			return EXIT_TROUBLE;
	}
	return choose_begin(&show->choice, source, show->liner.names);
}

static int show_trace(struct show *show, struct etch_source *source)
{
	static struct out out;
	int ret;

	if (!liner_open(&show->liner, source))
		return EXIT_TROUBLE;
	ret = show_begin(show, source);
	if (!ret) {
		out_begin(&out, !show->no_pager);
		if (!show->no_header)
			line_header(&show->liner, &out);
		show_records(show, source, &out);
		ret = out_end(&out);
	}
	if (show->durations)
		durations_close(show->durations);
	liner_close(&show->liner);
	return ret;
}

static int run_show(int argc, char **argv)
{
	struct show show = { .most = ~0ULL };
	struct etch_source *source = NULL;
	int ret = show_options(&show, argc, argv);

	if (!ret) {
		source = etch_trace_open(show.folder);
		ret = source ? show_trace(&show, source) : EXIT_TROUBLE;
	}
	choose_end(&show.choice);
	etch_close(source);
	return ret;
}

const struct verb verb_show = {
	"show", "show -e sched_switch DIR", "records as text, as the kernel's", show_help, run_show
};
