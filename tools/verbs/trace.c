// SPDX-License-Identifier: GPL-2.0
/*
 * trace: records as lines, while they come.
 */
#include "verbs/etch.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "live/live.h"
#include "record/record.h"
#include "verbs/choose.h"
#include "verbs/durations.h"
#include "verbs/line.h"

#define TRACE_PRESET	"syscalls"	/* unless the user says otherwise */
#define TRACE_PATIENCE	1000000000ULL	/* ns: then a line tells that a call lasts */
#define TRACE_BEHIND	1000000000ULL	/* ns: then a line tells that printing is slow */

static const char trace_help[] =
	"etch trace: records as lines, while they come.\n"
	"\n"
	"  # etch trace -p syscalls -t sh -- sh -c 'read x < /dev/zero'\n"
	"    sh-812  [001] .....  61.034417: openat(dfd: ffffff9c, ...) = 3 <12.3 us>\n"
	"    sh-812  [001] .....  61.034431: read(fd: 0, buf: 7ffd52a0, count: 1) = 1 <1.9 us>\n"
	"\n"
	"  - It ends with the command or, if there is none, with Ctrl-C.\n"
	"  - A system call is one line, at its end; one that lasts a second has a comment before.\n"
	"    Behind other lines is how long tasks ran, waited or slept, and interrupts took.\n"
	"    A wait of 10 ms or more has an exclamation mark.\n"
	"  - Records that were lost are a line in their place. If printing is too slow\n"
	"    for the records, a line tells how far behind it is. Of etch's own records, only\n"
	"    those of interrupts are shown.\n"
	"\n"
	"etch trace [OPTION]... [-- COMMAND [ARGUMENT]...]\n"
	"\n"
	"  -e EVENT          what to show: sched, sched:sched_switch, 'irq:*'; several with commas\n"
	"  -p PRESET         events that belong together: sched, syscalls, io, irq, boot, all\n"
	"                    (syscalls, if there is no -e)\n"
	"  -c CPU            of these CPUs: 0-3,7\n"
	"  -t TASK           of a thread: its number, or its name: 1234, 'kworker*'\n"
	"  -f CONDITION      with a field: 'bytes_req > 4096', 'comm ~ nc*'\n"
	"  -d SECONDS        no longer than that\n"
	"  -b SIZE           of each CPU's buffer: KiB, or with K, M, G\n"
	"  -N, -F            times in nanoseconds; fields as name=value\n"
	"  --tree FOLDER     where Etch's files are (/sys/kernel/debug/etch)\n";

enum { TRACE_TREE = CHOOSE_NEXT };

/**
 * struct tracer - the command line, and the state of the printing
 * @wish: what to record
 * @choice: what of it to show
 * @liner: how
 * @durations: with what took how long
 * @seconds: no longer than that; 0: until it ends
 * @fine: with nanoseconds
 * @by_fields: as name=value
 * @pid: this program's; asked once, for the question may be recorded, too
 * @begin: ns when it began
 * @told: ns of the last line about being behind
 */
struct tracer {
	struct live_wish wish;
	struct choice choice;
	struct liner liner;
	struct durations *durations;
	double seconds;
	bool fine, by_fields;
	int pid;
	uint64_t begin, told;
};

/* ---- Options ---- */

static int add_wish(const char **list, unsigned int *nr, const char *what)
{
	if (*nr == LIVE_EVENTS)
		return misused("there are too many: put commas between names");
	list[(*nr)++] = what;
	return 0;
}

static int trace_option(struct tracer *t, int option)
{
	struct live_wish *wish = &t->wish;
	char *end;

	switch (option) {
	case 'e':
		return add_wish(wish->events, &wish->nr_events, optarg);
	case 'p':
		return preset_check(optarg) ? EXIT_MISUSED :
		       add_wish(wish->presets, &wish->nr_presets, optarg);
	case 'd':
		t->seconds = strtod(optarg, &end);
		return *end || end == optarg || !(t->seconds > 0) || t->seconds > 1e9 ?
		       misused("-d needs a number of seconds") : 0;
	case 'b':
		wish->size = optarg;
		return 0;
	case 'N':
		t->fine = true;
		return 0;
	case 'F':
		t->by_fields = true;
		return 0;
	case TRACE_TREE:
		wish->root = optarg;
		return 0;
	case '?':
		return misused("there is no such option, or its value is missing");
	default:
		return choose_option(&t->choice, option, optarg);
	}
}

static int trace_options(struct tracer *t, int argc, char **argv)
{
	static const struct option options[] = {
		{ "tree", required_argument, NULL, TRACE_TREE }, {}
	};
	int option, ret;

	say_as("etch trace");
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, "+e:p:c:t:f:d:b:NF", options, NULL)) != -1) {
		ret = trace_option(t, option);
		if (ret)
			return ret;
	}
	if (!t->wish.nr_events && !t->wish.nr_presets)
		t->wish.presets[t->wish.nr_presets++] = TRACE_PRESET;
	if (optind < argc)
		t->wish.command = argv + optind;
	return 0;
}

/* ---- Lines ---- */

/* Of what this program does itself. An interrupt that comes meanwhile is others' matter. */
static bool is_own(const struct tracer *t, const struct etch_record *rec)
{
	return !rec->loss && rec->pid == t->pid && rec->context == ETCH_TASK;
}

/* Up to the end of a round. */
static void print_round(struct tracer *t, struct live *live, struct out *out)
{
	struct etch_record rec;
	bool wanted;

	while (!out->failed && etch_next(live_source(live), &rec) > 0) {
		names_look(t->liner.names, live_source(live), &rec, NULL, NULL);
		wanted = live_is_chosen(live, &rec) && chosen(&t->choice, &rec) &&
			 !is_own(t, &rec);
		durations_line(t->durations, out, &rec, wanted);
	}
	if (!live_is_last(live))
		durations_tell_open(t->durations, out, live_until(live), TRACE_PATIENCE);
}

static void tell_behind(struct tracer *t, struct live *live, struct out *out)
{
	uint64_t behind = live_behind(live), until = live_until(live);

	if (behind < TRACE_BEHIND || until < t->told + TRACE_BEHIND)
		return;
	t->told = until;
	out_colour(out, OUT_RED);
	out_print(out, "# %.1f s behind: printing is too slow for the records; choose fewer events\n",
		  behind / 1e9);
	out_colour(out, OUT_PLAIN);
}

static void print_rounds(struct tracer *t, struct live *live, struct out *out)
{
	do {
		print_round(t, live, out);
		/* It may take long: somebody reads slowly. */
		out_flush(out);
		tell_behind(t, live, out);
		if (!t->begin)
			t->begin = live_until(live);
		if (out->failed ||
		    (t->seconds && live_until(live) - t->begin >= t->seconds * 1e9))
			live_end(live);
	} while (live_wait(live));
	durations_tell_open(t->durations, out, live_until(live), 0);
	report_damage(live_source(live));
}

static int print_live(struct tracer *t, struct live *live)
{
	static struct out out;
	int ret = EXIT_TROUBLE;

	if (!liner_open(&t->liner, live_source(live)))
		return ret;
	t->liner.fine = t->fine;
	t->liner.by_fields = t->by_fields;
	t->durations = durations_open(&t->liner, live_events(live));
	if (t->durations)
		ret = choose_begin(&t->choice, live_source(live), t->liner.names);
	if (!ret) {
		out_begin(&out, false);
		line_header(&t->liner, &out);
		if (!live_start(live))
			print_rounds(t, live, &out);
		ret = out_end(&out);
	}
	durations_close(t->durations);
	liner_close(&t->liner);
	return ret;
}

static int run_trace(int argc, char **argv)
{
	struct tracer t = { .wish = { .name = "etch trace" }, .pid = getpid() };
	struct live *live;
	int ret = trace_options(&t, argc, argv), status;

	if (!ret) {
		live = live_open(&t.wish);
		ret = live ? print_live(&t, live) : EXIT_TROUBLE;
		status = live_close(live);
		ret = live && status ? status : ret;
	}
	choose_end(&t.choice);
	return ret;
}

const struct verb verb_trace = {
	"trace", "trace -p syscalls -- ls", "as lines, while it happens", trace_help, run_trace
};
