// SPDX-License-Identifier: GPL-2.0
/*
 * Enables every event of the kernel at once, runs a load for ten seconds, and disables
 * them. The kernel must survive, and its counts must add up.
 */

#include <sys/resource.h>

#include "etch_test.h"
#include "lists.h"
#include "load.h"
#include "text.h"

#define SECONDS	10
#define TOGGLES	2

/* Each record was read, was overwritten, or is still there. Tracing must be off. */
static void expect_stats_add_up(struct __test_metadata *_metadata)
{
	for (int cpu = 0; cpu < nr_cpus(); cpu++) {
		long long written = stat_of(ETCH, cpu, "written");

		EXPECT_LT(0, written);
		EXPECT_EQ(written, stat_of(ETCH, cpu, "read") +
			  stat_of(ETCH, cpu, "overwritten") + stat_of(ETCH, cpu, "entries"));
		EXPECT_EQ(0, stat_of(ETCH, cpu, "lost too big"));
		printf("# CPU %d: %lld written, %lld overwritten, %lld lost nested\n", cpu,
		       written, stat_of(ETCH, cpu, "overwritten"),
		       stat_of(ETCH, cpu, "lost nested"));
	}
}

/* How many different events the buffer has records of. */
static size_t count_fired(const struct trace *trace)
{
	char *names = must_alloc(NULL, trace->nr * 64 + 1), *at = names;
	struct list list;
	size_t n = 0;

	*names = 0;
	for (size_t i = 0; i < trace->nr; i++)
		at += sprintf(at, "%.62s\n", trace->records[i].event);
	list = list_of(names);
	list_sort(&list);
	for (size_t i = 0; i < list.nr; i++)
		n += !i || strcmp(list.lines[i - 1], list.lines[i]);
	list_free(&list);
	return n;
}

FIXTURE(all_events) {
};

FIXTURE_SETUP(all_events)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	etch_as_new();
	loopback(true);
}

FIXTURE_TEARDOWN(all_events)
{
	write_file(ETCH, "events/enable", "0");
	etch_as_new();
}

TEST_F_TIMEOUT(all_events, survive_load, 300)
{
	struct list available = list_of(read_file(ETCH, "available_events")), enabled;
	struct load_disk disk;
	struct trace trace;
	pid_t pid[64];
	int cpus = nr_cpus() < 64 ? nr_cpus() : 64;

	load_disk_open(&disk);
	ASSERT_EQ(0, write_file(ETCH, "events/enable", "1"));
	EXPECT_STREQ("1", read_line(ETCH, "events/enable"));
	enabled = list_of(read_file(ETCH, "set_event"));
	EXPECT_EQ(available.nr, enabled.nr);

	for (int cpu = 0; cpu < cpus; cpu++)
		pid[cpu] = load_start(cpu, 0, &disk);
	sleep(SECONDS);
	for (int cpu = 0; cpu < cpus; cpu++)
		load_stop(pid[cpu]);
	load_rare();
	load_disk_close(&disk);

	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	ASSERT_EQ(0, write_file(ETCH, "events/enable", "0"));
	EXPECT_STREQ("0", read_line(ETCH, "events/enable"));
	expect_stats_add_up(_metadata);
	trace = text_read(ETCH, "trace");
	EXPECT_EQ(stat_sum(ETCH, "entries"), trace.nr);
	printf("# %zu events were enabled at once; %zu different ones are in the buffer\n",
	       enabled.nr, count_fired(&trace));
	text_free(&trace);
	list_free(&enabled);
	list_free(&available);
}

/*
 * Enabled and disabled in a row while they are hit: nobody is left behind. The
 * load is the one to wait, or on few processors this takes minutes.
 */
TEST_F_TIMEOUT(all_events, toggle_under_load, 500)
{
	pid_t pid[64];
	int cpus = nr_cpus() < 64 ? nr_cpus() : 64;

	for (int cpu = 0; cpu < cpus; cpu++) {
		pid[cpu] = load_start(cpu, 0, NULL);
		setpriority(PRIO_PROCESS, pid[cpu], 19);
	}
	for (int i = 0; i < TOGGLES; i++) {
		EXPECT_EQ(0, write_file(ETCH, "events/enable", "1"));
		EXPECT_STREQ("1", read_line(ETCH, "events/enable"));
		EXPECT_EQ(0, write_file(ETCH, "events/enable", "0"));
		EXPECT_STREQ("0", read_line(ETCH, "events/enable"));
	}
	for (int cpu = 0; cpu < cpus; cpu++)
		load_stop(pid[cpu]);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	expect_stats_add_up(_metadata);
}

TEST_HARNESS_MAIN
