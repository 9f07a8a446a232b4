// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once, for some seconds. Tasks write and read all files; instances, a module
 * and CPUs come and go; the machine suspends where it can; all events are on, and tasks hit
 * them. Then the test checks the accounts.
 *
 * ETCH_STORM_MS and ETCH_STORM_SEED in the environment, or etch_test.storm_ms=N and
 * etch_test.storm_seed=N on the kernel's command line, say how long, and repeat the choices
 * of a storm, though not the order of what its tasks do.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <time.h>

#include "etch_test.h"
#include "sample.h"
#include "storm_control.h"
#include "storm_read.h"

#define DEFAULT_MS	10000
#define MAX_MS		3600000
/* How much longer it may take until each task has done its part. */
#define PATIENCE_MS	600000

static unsigned int how_long(void)
{
	unsigned long ms = test_number("ETCH_STORM_MS", "storm_ms", DEFAULT_MS);

	return ms < MAX_MS ? ms : MAX_MS;
}

/* ---- The workers ---- */

static void op_load(struct worker *w)
{
	load_pin(w->arg % nr_cpus());
	load_round(NULL);
	w->done++;
}

/* Name, operation, longest pause in microseconds, least number of operations. */
static const struct worker workers[] = {
	{ "all-events", op_all_events, 500000, 3 },
	{ "systems", op_systems, 200000, 3 },
	{ "set-event", op_set_event, 400000, 3 },
	{ "size", op_size, 10000, 3 },
	{ "subbuf", op_subbuf, 20000, 3 },
	{ "clock", op_clock, 20000, 3 },
	{ "mode", op_mode, 10000, 3 },
	{ "on", op_on, 300000, 3 },
	{ "percent", op_percent, 20000, 3 },
	{ "flush", op_flush, 5000, 3 },
	{ "take-snapshot", op_snapshot, 10000, 3 },
	{ "empty", op_empty, 20000, 3 },
	{ "mark", op_mark, 1000, 5 },
	{ "statedump", op_statedump, 20000, 2 },
	{ "nonsense", op_nonsense, 20000, 3 },
	{ "instance", op_instance, 500000, 2 },
	{ "read-trace", op_read_trace, 10000, 5 },
	{ "read-pipe", op_read_pipe, 5000, 5 },
	{ "read-lists", op_read_lists, 20000, 3 },
	{ "visit", op_visit, 5000, 2 },
	{ "list", op_list, 5000, 2 },
	{ "forget", op_forget, 20000, 2 },
	{ "read-snapshot", op_read_snapshot, 5000, 2 },
	{ "take", op_take, 2000, 5 },
	{ "take-too", op_take, 2000, 5 },
	{ "poll", op_poll, 2000, 5 },
	{ "wait-text", op_wait_text, 2000, 3 },
	{ "wait-packets", op_wait_packets, 2000, 3 },
};

static void add_collectors(void)
{
	struct worker text = { "collect-text", op_collect_text, 500, 5, .rest = true };

	for (int cpu = 0; cpu < storm->nr_cpus; cpu++) {
		struct worker raw = { "collect", op_collect, 500, 5, .rest = true, .arg = cpu };

		storm_add(raw);
	}
	storm_add(text);
}

static void add_load(void)
{
	for (int i = 0; i < 2 * nr_cpus(); i++) {
		struct worker load = { "etch-load", op_load, 0, 2, .arg = i };

		storm_add(load);
	}
}

static void add_machine(void)
{
	struct worker record = { "record", op_record, 500000, 1 };
	struct worker module = { "module", op_module, 500000, 2 };
	struct worker cpu = { "hotplug", op_hotplug, 2000000, 1, .arg = 1 };
	struct worker suspend = { "suspend", op_suspend, 1000000, 1 };
	const char *why = suspend_prepare();

	if (storm_recorder())
		storm_add(record);
	else
		printf("# NOT done: recording: there is no etch-record\n");
	if (sample_path())
		storm_add(module);
	else
		printf("# NOT done: modules: %s\n", no_sample());
	if (!access("/sys/devices/system/cpu/cpu1/online", W_OK))
		storm_add(cpu);
	else
		printf("# NOT done: CPUs off and on line: there is no second one that can\n");
	if (!why)
		storm_add(suspend);
	else
		printf("# NOT done: suspend: %s\n", why);
}

/* ---- The trees ---- */

static void make_tree(struct __test_metadata *_metadata, const char *tree)
{
	rmdir(tree);
	ASSERT_EQ(0, mkdir(tree, 0700)) TH_LOG("%s: %s", tree, strerror(errno));
	ASSERT_EQ(0, write_file(tree, "buffer_size_kb", "512"));
	ASSERT_EQ(0, write_file(tree, "events/enable", "1"));
}

/* This machine's clocks, the present one, in brackets, first. */
static void learn_clocks(void)
{
	char *line = read_line(ETCH, "trace_clock"), *word;

	while ((word = strsep(&line, " "))) {
		word[strcspn(word, "]")] = 0;
		snprintf(storm->clocks[storm->nr_clocks++], sizeof(storm->clocks[0]), "%s",
			 word + (*word == '['));
	}
}

/* The events, those of the module and the marker's included. */
static void learn_events(struct __test_metadata *_metadata)
{
	static char packet[1 << 16];
	unsigned int nr;
	int fd;

	if (sample_path()) {
		ASSERT_EQ(0, sample_load());
	}
	nr = record_kinds_init();
	EXPECT_LT(100, nr);
	if (sample_path()) {
		ASSERT_EQ(0, sample_unload());
	}
	ASSERT_EQ(0, mkdir(FLEETING, 0700));
	run_on(0);
	ASSERT_EQ(0, write_file(FLEETING, "trace_marker", "what am I"));
	write_file(FLEETING, "flush", "1");
	fd = packets_open(FLEETING, 0, O_NONBLOCK);
	ASSERT_LE((ssize_t)PACKET_HEADER, read(fd, packet, sizeof(packet)));
	close(fd);
	record_kind_mark(record_id(packet + PACKET_HEADER));
	ASSERT_EQ(0, rmdir(FLEETING));
	printf("# %u events\n", nr);
}

FIXTURE(storm) {
	char clock[32], size[32], subbuf[32];
	long long slab;
};

FIXTURE_SETUP(storm)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	sample_unload();
	rmdir(FLEETING);
	etch_as_new();
	storm_init(test_number("ETCH_STORM_SEED", "storm_seed", time(NULL)));
	learn_clocks();
	learn_events(_metadata);
	snprintf(self->subbuf, sizeof(self->subbuf), "%s", read_line(ETCH, "buffer_subbuf_size_kb"));
	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "512"));
	make_tree(_metadata, ALL);
	make_tree(_metadata, RAW);
	make_tree(_metadata, TEXT);
	loopback(true);
}

FIXTURE_TEARDOWN(storm)
{
	sample_unload();
	rmdir(FLEETING);
	rmdir(ALL);
	rmdir(RAW);
	rmdir(TEXT);
	write_file("/sys/power", "pm_test", "none");
	etch_as_new();
	write_file(ETCH, "trace_clock", storm->clocks[0]);
	write_file(ETCH, "buffer_subbuf_size_kb", self->subbuf);
	write_file(ETCH, "buffer_size_kb", "1024");
}

/* ---- The storm ---- */

static void sleep_ms(unsigned int ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* A worker that has not done enough yet and has not failed, or NULL. */
static const struct worker *who_is_behind(void)
{
	for (unsigned int i = 0; i < storm->nr; i++) {
		const struct worker *w = &storm->workers[i];

		if (__atomic_load_n(&w->done, __ATOMIC_RELAXED) < w->least && !*w->failed)
			return w;
	}
	return NULL;
}

/* The storm itself: @ms, and on a slow machine until each worker has done its part. */
static void rage(struct __test_metadata *_metadata, unsigned int ms)
{
	const struct worker *behind;
	unsigned int longer = 0;

	for (size_t i = 0; i < ARRAY_LEN(workers); i++)
		storm_add(workers[i]);
	add_machine();
	add_load();
	add_collectors();
	printf("# seed %u, %u ms, %u tasks\n", storm->seed, ms, storm->nr);
	storm_begin();
	sleep_ms(ms);
	storm_abate();
	for (; (behind = who_is_behind()) && longer < PATIENCE_MS; longer += 100)
		sleep_ms(100);
	EXPECT_EQ(NULL, behind)
		TH_LOG("in %u ms more, %s has done %llu of %u", longer, behind->name, behind->done,
		       behind->least);
	storm_enter(STORM_OVER);
	printf("# it took %u ms longer until each task had done its part\n", longer);
}

static void take_the_rest(struct __test_metadata *_metadata)
{
	EXPECT_EQ(0, write_file(RAW, "tracing_on", "0"));
	EXPECT_EQ(0, write_file(TEXT, "tracing_on", "0"));
	storm_enter(STORM_REST);
}

/* ---- The checks after the storm ---- */

static void expect_all_on_line(struct __test_metadata *_metadata)
{
	EXPECT_EQ(sysconf(_SC_NPROCESSORS_CONF), nr_cpus());
}

/* Each worker did its operation often enough, and saw no wrong packet. */
static void expect_workers(struct __test_metadata *_metadata)
{
	for (unsigned int i = 0; i < storm->nr; i++) {
		const struct worker *w = &storm->workers[i];

		printf("# %-14s %8llu done, %6llu refused", w->name, w->done, w->refused);
		if (w->records.packets || w->records.records)
			printf(", %llu packets, %llu records", w->records.packets,
			       w->records.records);
		printf("\n");
		EXPECT_STREQ("", w->failed) TH_LOG("%s failed", w->name);
		EXPECT_LE(w->least, w->done) TH_LOG("%s did too little", w->name);
		EXPECT_EQ(0, w->records.wrong) TH_LOG("%s: %s", w->name, w->records.why);
		EXPECT_EQ(w->rest, w->ended) TH_LOG("%s did not come to the end", w->name);
	}
}

static void expect_off(struct __test_metadata *_metadata, const char *tree)
{
	EXPECT_EQ(0, write_file(tree, "events/enable", "0"));
	EXPECT_STREQ("0", read_line(tree, "events/enable")) TH_LOG("%s", tree);
	EXPECT_STREQ("", read_line(tree, "set_event")) TH_LOG("%s", tree);
}

static void expect_conserved(struct __test_metadata *_metadata, const char *tree)
{
	for (int cpu = 0; cpu < storm->nr_cpus; cpu++) {
		long long written = stat_of(tree, cpu, "written");
		long long read = stat_of(tree, cpu, "read");
		long long overwritten = stat_of(tree, cpu, "overwritten");
		long long entries = stat_of(tree, cpu, "entries");

		EXPECT_LE(0, written);
		EXPECT_EQ(written, read + overwritten + entries)
			TH_LOG("%s: CPU %d: %lld read, %lld overwritten, %lld there", tree, cpu,
			       read, overwritten, entries);
		EXPECT_EQ(0, stat_of(tree, cpu, "lost too big"));
	}
}

/* Whether @cpu stays on line. A CPU that was off line may have begun its stats anew. */
static bool storm_stays(int cpu)
{
	for (unsigned int i = 0; i < storm->nr; i++)
		if (!strcmp(storm->workers[i].name, "hotplug") && storm->workers[i].arg == cpu)
			return false;
	return true;
}

static const struct worker *storm_worker(const char *name, int arg)
{
	for (unsigned int i = 0; i < storm->nr; i++)
		if (!strcmp(storm->workers[i].name, name) && storm->workers[i].arg == arg)
			return &storm->workers[i];
	errno = ENOENT;
	give_up("%s %d", name, arg);
}

/* The only taking reader has all records that were read; packets counted the others as lost. */
static void expect_packets(struct __test_metadata *_metadata)
{
	for (int cpu = 0; cpu < storm->nr_cpus; cpu++) {
		const struct records *r = &storm_worker("collect", cpu)->records;
		long long lost = stat_of(RAW, cpu, "overwritten") + stat_of(RAW, cpu, "lost full") +
				 stat_of(RAW, cpu, "lost nested");
		long long read = stat_of(RAW, cpu, "read");

		EXPECT_LT(0, r->records);
		EXPECT_EQ(0, stat_of(RAW, cpu, "entries"));
		printf("# CPU %d: %llu records in %llu packets, %llu discarded\n", cpu, r->records,
		       r->packets, r->discarded);
		if (storm_stays(cpu)) {
			EXPECT_EQ(read, r->records);
			EXPECT_EQ(lost, r->discarded);
		} else {
			EXPECT_LE(read, r->records);
			EXPECT_LE(lost, r->discarded);
		}
	}
}

static void expect_text(struct __test_metadata *_metadata)
{
	const struct records *r = &storm_worker("collect-text", 0)->records;
	long long read = 0;
	bool stays = true;

	for (int cpu = 0; cpu < storm->nr_cpus; cpu++) {
		EXPECT_EQ(0, stat_of(TEXT, cpu, "entries"));
		read += stat_of(TEXT, cpu, "read");
		stays = stays && storm_stays(cpu);
	}
	EXPECT_LT(0, r->records);
	if (stays) {
		EXPECT_EQ(read, r->records);
	} else {
		EXPECT_LE(read, r->records);
	}
}

/* With tracing on and all events off, the load records nothing. */
static void expect_sites_off(struct __test_metadata *_metadata, const char * const trees[],
			     size_t nr)
{
	long long before[8];
	size_t i;

	for (i = 0; i < nr; i++) {
		EXPECT_EQ(0, write_file(trees[i], "tracing_on", "1"));
		before[i] = stat_sum(trees[i], "written") + lost_sum(trees[i]);
	}
	for (int cpu = 0; cpu < nr_cpus(); cpu++)
		load_wait(load_start(cpu, 2, NULL));
	for (i = 0; i < nr; i++) {
		EXPECT_EQ(before[i], stat_sum(trees[i], "written") + lost_sum(trees[i]))
			TH_LOG("%s records what is not enabled", trees[i]);
	}
}

/* Settings can be changed, and a mark can be read as text and as a packet. */
static void expect_works(struct __test_metadata *_metadata, const char *tree)
{
	struct records r = {};
	size_t len = 0;
	char *data;
	int fd;

	EXPECT_EQ(0, write_file(tree, "tracing_on", "1"));
	EXPECT_EQ(0, write_file(tree, "buffer_mode", "overwrite"));
	EXPECT_EQ(0, write_file(tree, "buffer_subbuf_size_kb", "8"));
	EXPECT_EQ(0, write_file(tree, "buffer_size_kb", "128"));
	EXPECT_STREQ("128", read_line(tree, "buffer_size_kb"));
	EXPECT_EQ(0, overwrite_file(tree, "trace", ""));
	run_on(0);
	EXPECT_EQ(0, write_file(tree, "trace_marker", "after the storm"));
	data = read_file(tree, "trace");
	EXPECT_EQ(1, count_records(data)) TH_LOG("%s: %s", tree, data);
	free(data);
	EXPECT_EQ(0, write_file(tree, "tracing_on", "0"));
	fd = packets_open(tree, 0, 0);
	data = read_all(fd, &len);
	close(fd);
	EXPECT_EQ(len, records_add(&r, data, len));
	EXPECT_EQ(0, r.wrong) TH_LOG("%s: %s", tree, r.why);
	EXPECT_EQ(1, r.records);
	free(data);
}

/* Instances can be removed and the module unloaded: nothing holds a reference. */
static void expect_nothing_left(struct __test_metadata *_metadata)
{
	static const char * const trees[] = { ALL, RAW, TEXT };
	glob_t instances = {};

	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		EXPECT_EQ(0, rmdir(trees[i])) TH_LOG("%s: %s", trees[i], strerror(errno));
	}
	EXPECT_EQ(-1, access(FLEETING, F_OK));
	/* Nor the recorder's. */
	EXPECT_EQ(GLOB_NOMATCH, glob(ETCH "/instances/*", 0, NULL, &instances));
	globfree(&instances);
	EXPECT_EQ(-1, access("/sys/module/" SAMPLE, F_OK));
	if (!sample_path())
		return;
	EXPECT_EQ(0, sample_load());
	EXPECT_STREQ("0", read_line("/sys/module/" SAMPLE, "refcnt"));
	EXPECT_EQ(0, sample_unload());
}

TEST_F_TIMEOUT(storm, leaves_the_accounts_in_order, 2 * MAX_MS / 1000)
{
	static const char * const trees[] = { ETCH, ALL, RAW, TEXT };
	size_t i;

	rage(_metadata, how_long());
	expect_all_on_line(_metadata);
	for (i = 0; i < ARRAY_LEN(trees); i++)
		expect_off(_metadata, trees[i]);
	take_the_rest(_metadata);
	expect_workers(_metadata);
	for (i = 0; i < ARRAY_LEN(trees); i++)
		expect_conserved(_metadata, trees[i]);
	expect_packets(_metadata);
	expect_text(_metadata);
	expect_sites_off(_metadata, trees, ARRAY_LEN(trees));
	for (i = 0; i < ARRAY_LEN(trees); i++)
		expect_works(_metadata, trees[i]);
	expect_nothing_left(_metadata);
}

TEST_HARNESS_MAIN
