// SPDX-License-Identifier: GPL-2.0
/*
 * check: whether a trace is whole, and how many records it lacks, where and why.
 *
 * The law of loss: of each CPU, the records in the trace and those that the packets count as
 * overwritten or lost are as many as the kernel has counted, cause by cause (.etch/account).
 */
#include "verbs/etch.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "verbs/line.h"

#define CHECK_PLACES	10	/* of losses that are listed, without -v */

static const char check_help[] =
	"etch check: is a trace whole, and what does it lack?\n"
	"\n"
	"  $ etch check trace\n"
	"  trace is whole: 46060 records of 1 CPU in 2.50 s, 53940 lost, 1.0 MB\n"
	"  CPU    records    packets overwritten      full throttled    nested   too big\n"
	"    0      46060         81       53940         0         0         0         0\n"
	"  lost on CPU 0 between 50.015434 and 50.022817: 1062 overwritten\n"
	"  ...\n"
	"  The kernel counts the same.\n"
	"\n"
	"  - Whole: each file ends with a whole packet, each packet has as many records as it\n"
	"    says, and packets and records are in order. A loss is none of that: it is known.\n"
	"  - Where a loss was: between the end of one packet and the first record of the next.\n"
	"  - The kernel's own figures are in the trace if etch recorded it: they must agree.\n"
	"\n"
	"etch check [-v] FOLDER\n"
	"\n"
	"  -v  all places of losses, not only the largest ones\n"
	"\n"
	"The exit status is 0 if the trace is whole and the figures agree, else 1.\n";

/* A loss, and its place. */
struct place_of_loss {
	int cpu;
	struct etch_loss loss;
	uint64_t to;
};

/**
 * struct check - the findings
 * @source: the trace
 * @shift: as line_shift() says
 * @list: the largest losses, or all of them
 * @nr: how many
 * @all: all of them are kept
 * @places: how many losses there were
 * @wrong: something is not as it should be, and was said
 */
struct check {
	struct etch_source *source;
	int64_t shift;
	struct place_of_loss *list;
	unsigned int nr;
	bool all;
	unsigned long long places;
	bool wrong;
};

/* Those of the CPUs, and those of programs' records. */
static unsigned int files_of(const struct check *check)
{
	return check->source->nr_cpus + check->source->nr_programs;
}

/* ---- Losses ---- */

static void keep_place(struct check *check, const struct etch_record *rec)
{
	struct place_of_loss *least = check->list, *more;

	check->places++;
	if (check->all && !(check->nr & (check->nr - 1))) {
		more = realloc(check->list, 2 * (check->nr + 1) * sizeof(*more));
		if (!more)
			return;
		check->list = more;
	}
	if (check->all || check->nr < CHECK_PLACES) {
		least = &check->list[check->nr++];
	} else {
		for (unsigned int i = 1; i < check->nr; i++)
			if (check->list[i].loss.total < least->loss.total)
				least = &check->list[i];
		if (least->loss.total >= rec->loss->total)
			return;
		/* The list stays in the order of time. */
		memmove(least, least + 1, (check->list + check->nr - least - 1) * sizeof(*least));
		least = &check->list[check->nr - 1];
	}
	*least = (struct place_of_loss){ rec->cpu, *rec->loss, rec->time };
}

static void tell_places(const struct check *check, struct out *out)
{
	const struct etch_clock *clock = &check->source->clock;

	for (unsigned int i = 0; i < check->nr; i++) {
		const struct place_of_loss *place = &check->list[i];

		out_print(out, "lost on CPU %d between ", place->cpu);
		line_time(out, etch_clock_ns(clock, place->loss.since) + check->shift, false);
		out_text(out, " and ");
		line_time(out, etch_clock_ns(clock, place->to) + check->shift, false);
		out_text(out, ": ");
		line_causes(out, &place->loss);
		out_char(out, '\n');
	}
	if (check->places > check->nr)
		out_print(out, "and in %llu more places, which -v lists\n",
			  check->places - check->nr);
}

/* ---- The table ---- */

static double seconds_between(const struct check *check)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (unsigned int i = 0; i < files_of(check); i++) {
		const struct etch_cpu *cpu = &check->source->cpus[i];

		if (!cpu->records)
			continue;
		first = cpu->first < first ? cpu->first : first;
		last = cpu->last > last ? cpu->last : last;
	}
	return last > first ? etch_clock_ns(&check->source->clock, last - first) / 1e9 : 0;
}

static void tell_sum(const struct check *check, struct out *out)
{
	unsigned long long records = 0, lost = 0, bytes = 0;
	int cpus = 0;

	for (unsigned int i = 0; i < files_of(check); i++) {
		const struct etch_cpu *cpu = &check->source->cpus[i];

		records += cpu->records;
		lost += cpu->lost.total;
		bytes += cpu->bytes;
		cpus += i < check->source->nr_cpus && (cpu->packets || cpu->no_file);
	}
	out_print(out, "%s is %swhole: %llu records of %d CPU%s in %.2f s, %llu lost, %.1f MB\n",
		  check->source->path, check->wrong ? "not " : "", records, cpus,
		  cpus == 1 ? "" : "s", seconds_between(check), lost, bytes / 1e6);
}

static void tell_cpus(const struct check *check, struct out *out)
{
	out_print(out, "%-4s %9s %10s %11s %9s %9s %9s %9s\n", "CPU", "records", "packets",
		  "overwritten", "full", "throttled", "nested", "too big");
	for (unsigned int i = 0; i < files_of(check); i++) {
		const struct etch_cpu *cpu = &check->source->cpus[i];
		const struct etch_loss *lost = &cpu->lost;

		if (cpu->packets)
			out_print(out, "%3d%c %9llu %10llu %11llu %9llu %9llu %9llu %9llu\n",
				  cpu->cpu, cpu->programs ? 'u' : ' ', cpu->records, cpu->packets,
				  lost->overwritten, lost->full, lost->throttled, lost->nested,
				  lost->too_big);
	}
}

/* ---- Is it whole? ---- */

static void __attribute__((format(printf, 3, 4)))
wrong(struct check *check, struct out *out, const char *fmt, ...)
{
	char sentence[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	out_colour(out, OUT_RED);
	out_text(out, sentence);
	out_colour(out, OUT_PLAIN);
	out_char(out, '\n');
	check->wrong = true;
}

static void check_cpu(struct check *check, struct out *out, const struct etch_cpu *cpu)
{
	const struct etch_loss *lost = &cpu->lost;
	unsigned long long sum = lost->overwritten + lost->full + lost->throttled +
				 lost->nested + lost->too_big + lost->unknown;

	if (cpu->cut)
		wrong(check, out, "%s%d ends within a packet: %llu bytes are not of a whole one. etch repair cuts them off",
		      etch_cpu_kind(cpu), cpu->cpu, cpu->cut);
	if (cpu->unreadable)
		wrong(check, out, "%s%d has %llu records that make no sense", etch_cpu_kind(cpu),
		      cpu->cpu, cpu->unreadable);
	if (cpu->disorder)
		wrong(check, out, "%s%d has packets that do not follow each other: %llu times",
		      etch_cpu_kind(cpu), cpu->cpu, cpu->disorder);
	if (sum != lost->total)
		wrong(check, out, "%s%d: %llu records were lost, but the causes add up to %llu",
		      etch_cpu_kind(cpu), cpu->cpu, lost->total, sum);
}

/* ---- The kernel's account ---- */

/* The number behind "cpuN NAME: "; -1: it is not there. */
static long long account_of(const char *account, int cpu, const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "cpu%d %s: ", cpu, name);
	for (at = account; (at = strstr(at, key)); at++)
		if (at == account || at[-1] == '\n')
			return strtoll(at + strlen(key), NULL, 10);
	return -1;
}

static void compare_cpu(struct check *check, struct out *out, const char *account,
			const struct etch_cpu *cpu)
{
	const struct {
		const char *name;
		unsigned long long found;
	} rows[] = {
		{ "read", cpu->records },
		{ "overwritten", cpu->lost.overwritten },
		{ "lost full", cpu->lost.full },
		{ "lost throttled", cpu->lost.throttled },
		{ "lost nested", cpu->lost.nested },
		{ "lost too big", cpu->lost.too_big },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		long long counted = account_of(account, cpu->cpu, rows[i].name);

		if (counted >= 0 && (unsigned long long)counted != rows[i].found)
			wrong(check, out, "cpu%d: the kernel counts %lld records %s, and the trace has %llu",
			      cpu->cpu, counted, rows[i].name, rows[i].found);
	}
}

static void check_account(struct check *check, struct out *out)
{
	char *account = etch_file_read(check->source->path, ".etch/account", NULL);
	bool before = check->wrong;

	check->wrong = false;
	/* Of programs' records it counts by process: user/stats. */
	for (unsigned int i = 0; account && i < check->source->nr_cpus; i++)
		compare_cpu(check, out, account, &check->source->cpus[i]);
	if (!account)
		out_text(out, "What the kernel counted is not in the trace.\n");
	else if (!check->wrong)
		out_text(out, "The kernel counts the same.\n");
	check->wrong |= before;
	free(account);
}

/* ---- The verb ---- */

static void check_all(struct check *check, struct out *out)
{
	struct etch_record rec;

	while (etch_next(check->source, &rec) > 0)
		if (rec.loss && rec.loss->total)
			keep_place(check, &rec);
	for (unsigned int i = 0; i < files_of(check); i++)
		check_cpu(check, out, &check->source->cpus[i]);
	tell_sum(check, out);
	tell_cpus(check, out);
	tell_places(check, out);
	check_account(check, out);
}

static int run_check(int argc, char **argv)
{
	static struct out out;
	struct check check = {};
	int option, ret;

	opterr = 0;
	optind = 1;
	while ((option = getopt(argc, argv, "v")) != -1) {
		if (option != 'v')
			return misused("there is no such option");
		check.all = true;
	}
	if (optind + 1 != argc)
		return misused("name one folder of a trace");
	check.list = calloc(CHECK_PLACES, sizeof(*check.list));
	check.source = check.list ? etch_trace_open(argv[optind]) : NULL;
	if (!check.source) {
		free(check.list);
		return EXIT_TROUBLE;
	}
	check.shift = line_shift(check.source);
	out_begin(&out, false);
	check_all(&check, &out);
	ret = out_end(&out);
	etch_close(check.source);
	free(check.list);
	return ret ? ret : check.wrong ? EXIT_TROUBLE : 0;
}

const struct verb verb_check = {
	"check", "check DIR", "whether it is whole, and what it lacks", check_help, run_check
};
