// SPDX-License-Identifier: GPL-2.0
/*
 * instances/: a folder made there is a tree of its own, up to 31 of them, which
 * share nothing but the hits of an event.
 */

#include "etch_test.h"
#include "load.h"
#include "text.h"

#define EXIT	"events/sched/sched_process_exit"
#define INSTANCES	31

static const char *instance(int i)
{
	static char paths[4][128];
	static unsigned int turn;
	char *path = paths[turn++ % ARRAY_LEN(paths)];

	snprintf(path, sizeof(paths[0]), ETCH "/instances/etch-test-%d", i);
	return path;
}

static void remove_all(void)
{
	for (int i = 0; i <= INSTANCES; i++)
		rmdir(instance(i));
}

/* Makes up to @nr instances. Returns how many it made. */
static int make(int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (mkdir(instance(i), 0700))
			break;
	}
	return i;
}

FIXTURE(instances) {
};

FIXTURE_SETUP(instances)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	remove_all();
	etch_as_new();
}

FIXTURE_TEARDOWN(instances)
{
	remove_all();
	etch_as_new();
}

TEST_F_TIMEOUT(instances, there_are_up_to_31, 600)
{
	ASSERT_EQ(INSTANCES, make(INSTANCES));
	EXPECT_EQ(-1, mkdir(instance(INSTANCES), 0700));
	EXPECT_EQ(ENOSPC, errno);
	EXPECT_EQ(-1, access(instance(INSTANCES), F_OK));

	/* After one is removed, one can be made; all still work. */
	EXPECT_EQ(0, rmdir(instance(7)));
	EXPECT_EQ(-1, access(instance(7), F_OK));
	EXPECT_EQ(0, mkdir(instance(INSTANCES), 0700));
	EXPECT_EQ(0, rmdir(instance(INSTANCES)));
	EXPECT_EQ(0, mkdir(instance(7), 0700));
	for (int i = 0; i < INSTANCES; i++) {
		EXPECT_EQ(0, write_fmt(instance(i), "trace_marker", "this is %d", i));
		EXPECT_EQ(1, stat_sum(instance(i), "entries"));
	}
	EXPECT_EQ(0, stat_sum(ETCH, "entries"));
}

/* More than have their copies' places noted when the record begins. */
TEST_F_TIMEOUT(instances, all_record_one_event, 600)
{
	ASSERT_EQ(INSTANCES, make(INSTANCES));
	for (int i = 0; i < INSTANCES; i++)
		ASSERT_EQ(0, write_file(instance(i), EXIT "/enable", "1"));
	run_tasks("etch-all", 100);
	for (int i = 0; i < INSTANCES; i++)
		ASSERT_EQ(0, write_file(instance(i), EXIT "/enable", "0"));
	for (int i = 0; i < INSTANCES; i++) {
		EXPECT_LE(100, stat_sum(instance(i), "written"));
		EXPECT_EQ(0, lost_sum(instance(i)));
	}
}

/* Names must be new, and folders can be made and removed in instances/ only. */
TEST_F_TIMEOUT(instances, names_are_checked, 300)
{
	ASSERT_EQ(0, mkdir(instance(0), 0700));
	EXPECT_EQ(-1, mkdir(instance(0), 0700));
	EXPECT_EQ(EEXIST, errno);
	EXPECT_EQ(-1, rmdir(instance(1)));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(-1, rmdir(path_of(instance(0), "events")));
	EXPECT_EQ(-1, mkdir(path_of(instance(0), "more"), 0700));
	EXPECT_EQ(0, access(path_of(instance(0), "events/sched"), F_OK));
}

TEST_F(instances, settings_are_their_own)
{
	char main_size[64], main_clock[128];

	snprintf(main_size, sizeof(main_size), "%s", read_line(ETCH, "buffer_size_kb"));
	snprintf(main_clock, sizeof(main_clock), "%s", read_line(ETCH, "trace_clock"));
	ASSERT_EQ(2, make(2));

	EXPECT_EQ(0, write_file(instance(0), "buffer_size_kb", "256"));
	EXPECT_EQ(0, write_file(instance(0), "trace_clock", "boot"));
	EXPECT_EQ(0, write_file(instance(0), "buffer_mode", "discard"));
	EXPECT_EQ(0, write_file(instance(0), "events/sched/sched_switch/enable", "1"));
	EXPECT_EQ(0, write_file(instance(1), "tracing_on", "0"));

	EXPECT_STREQ("256", read_line(instance(0), "buffer_size_kb"));
	EXPECT_STRNE("256", read_line(instance(1), "buffer_size_kb"));
	EXPECT_STREQ(main_size, read_line(ETCH, "buffer_size_kb"));
	EXPECT_NE(NULL, strstr(read_line(instance(0), "trace_clock"), "[boot]"));
	EXPECT_EQ(NULL, strstr(read_line(instance(1), "trace_clock"), "[boot]"));
	EXPECT_STREQ(main_clock, read_line(ETCH, "trace_clock"));
	EXPECT_STREQ("overwrite [discard]", read_line(instance(0), "buffer_mode"));
	EXPECT_STREQ("[overwrite] discard", read_line(instance(1), "buffer_mode"));
	EXPECT_STREQ("[overwrite] discard", read_line(ETCH, "buffer_mode"));
	EXPECT_STREQ("sched:sched_switch", read_line(instance(0), "set_event"));
	EXPECT_STREQ("", read_line(instance(1), "set_event"));
	EXPECT_STREQ("", read_line(ETCH, "set_event"));
	EXPECT_STREQ("1", read_line(instance(0), "tracing_on"));
	EXPECT_STREQ("1", read_line(ETCH, "tracing_on"));
}

TEST_F(instances, errors_are_their_own)
{
	char *log;

	ASSERT_EQ(2, make(2));
	EXPECT_EQ(EINVAL, write_file(instance(0), "tracing_on", "maybe"));
	log = read_file(instance(0), "error_log");
	EXPECT_NE(NULL, strstr(log, "maybe"));
	free(log);
	EXPECT_STREQ("", read_line(instance(1), "error_log"));
	EXPECT_STREQ("", read_line(ETCH, "error_log"));
}

TEST_F(instances, records_are_their_own)
{
	ASSERT_EQ(2, make(2));
	EXPECT_EQ(0, write_file(instance(0), "trace_marker", "for the first"));
	EXPECT_EQ(1, stat_sum(instance(0), "entries"));
	EXPECT_EQ(0, stat_sum(instance(1), "entries"));
	EXPECT_EQ(0, write_file(instance(1), "trace_marker", "for the second"));
	EXPECT_EQ(0, overwrite_file(instance(0), "trace", "\n"));
	EXPECT_EQ(0, stat_sum(instance(0), "entries"));
	EXPECT_EQ(1, stat_sum(instance(1), "entries"));
}

static bool same_record(const struct record *a, const struct record *b)
{
	return !strcmp(a->event, b->event) && !strcmp(a->text, b->text) &&
	       a->pid == b->pid && a->cpu == b->cpu;
}

/* CPU 0's records of @b, if they are a run, without a gap, of those of @a; else 0. */
static size_t run_of(const char *a, const char *b)
{
	struct trace ta = text_read(a, "per_cpu/cpu0/trace");
	struct trace tb = text_read(b, "per_cpu/cpu0/trace");
	size_t at, i = 0, nr = tb.nr;

	for (at = 0; at + tb.nr <= ta.nr && i < tb.nr; at++) {
		for (i = 0; i < tb.nr && same_record(&ta.records[at + i], &tb.records[i]); i++)
			;
	}
	if (i < nr)
		nr = 0;
	text_free(&ta);
	text_free(&tb);
	return nr;
}

/*
 * These events are hit by tasks only, so hits do not nest, and all instances have the
 * records of a CPU in the same order. The instance that is turned on first is turned
 * off last, and must have every record that the others have.
 */
TEST_F_TIMEOUT(instances, one_event_reads_the_same_in_all, 120)
{
	static const char events[] = "task:* sched:sched_process_fork sched:sched_process_exec";
	size_t compared = 0;

	ASSERT_EQ(4, make(4));
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, write_file(instance(i), "tracing_on", "0"));
		ASSERT_EQ(0, overwrite_file(instance(i), "set_event", events));
	}
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, write_file(instance(i), "tracing_on", "1"));
	}
	load_wait(load_start(0, 5, NULL));
	for (int i = 3; i >= 0; i--) {
		ASSERT_EQ(0, write_file(instance(i), "tracing_on", "0"));
	}
	for (int i = 1; i < 4; i++) {
		compared = run_of(instance(0), instance(i));
		EXPECT_LE(20, compared);
	}
	printf("# %zu records compared over 4 instances\n", compared);
}

/* One that stops wanting an event does not take it from the other. */
TEST_F(instances, an_event_stays_on_for_the_others)
{
	ASSERT_EQ(2, make(2));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, write_file(instance(i), "events/sched/sched_process_fork/enable", "1"));
	}
	ASSERT_EQ(0, write_file(instance(0), "events/sched/sched_process_fork/enable", "0"));
	/* Others fork, too. From here on there is none of theirs left on its way. */
	ASSERT_EQ(0, overwrite_file(instance(0), "trace", ""));
	load_exec();
	EXPECT_EQ(0, stat_sum(instance(0), "entries"));
	EXPECT_LT(0, stat_sum(instance(1), "entries"));
	ASSERT_EQ(0, rmdir(instance(1)));
	EXPECT_STREQ("0", read_line(instance(0), "events/sched/sched_process_fork/enable"));
}

TEST_F(instances, an_open_file_keeps_the_folder)
{
	static const char * const files[] = {
		"trace", "trace_pipe", "set_event", "events/sched/sched_switch/enable",
		"events/sched/enable", "events/sched/sched_switch/format",
		"per_cpu/cpu0/stats", "error_log", "tracing_on",
	};

	ASSERT_EQ(1, make(1));
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		int fd = open(path_of(instance(0), files[i]), O_RDONLY | O_CLOEXEC);

		ASSERT_LE(0, fd)
			TH_LOG("%s: %s", files[i], strerror(errno));
		EXPECT_EQ(-1, rmdir(instance(0)));
		EXPECT_EQ(EBUSY, errno)
			TH_LOG("%s", files[i]);
		/* It was refused whole: everything still works. */
		EXPECT_EQ(0, write_file(instance(0), "trace_marker", "still here"));
		close(fd);
	}
	EXPECT_EQ(0, rmdir(instance(0)));
	EXPECT_EQ(-1, access(instance(0), F_OK));
}

/* Made and removed with events on, over and over: memory comes back. */
TEST_F_TIMEOUT(instances, nothing_is_left_of_one_that_goes, 600)
{
	long long before = 0, after;
	char *meminfo;
	int i;

	/* The first ones fill caches. */
	for (i = 0; i < 60; i++) {
		if (i == 10) {
			meminfo = read_path("/proc/meminfo", NULL);
			before = number_in(meminfo, "MemFree");
			free(meminfo);
		}
		ASSERT_EQ(1, make(1));
		ASSERT_EQ(0, write_file(instance(0), "buffer_size_kb", "1024"));
		ASSERT_EQ(0, write_file(instance(0), "events/sched/enable", "1"));
		ASSERT_EQ(0, write_file(instance(0), "trace_marker", "short life"));
		ASSERT_EQ(0, rmdir(instance(0)));
	}
	meminfo = read_path("/proc/meminfo", NULL);
	after = number_in(meminfo, "MemFree");
	free(meminfo);
	printf("# 50 instances with 1 MiB for each CPU came and went: %lld KiB less are free\n",
	       before - after);
	/* A leak of the buffers alone would be 50 MiB. */
	EXPECT_LT(before - after, 10 * 1024);
	EXPECT_EQ(0, stat_sum(ETCH, "entries"));
}

TEST_HARNESS_MAIN
