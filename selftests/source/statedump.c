// SPDX-License-Identifier: GPL-2.0
/*
 * A dump of the machine's state: its records are between a first and a last one that say
 * how many there are, in the instance that asked for it and nowhere else. Bad
 * input is refused, and lost records are counted.
 */

#include <signal.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "state.h"

#define INSTANCE	ETCH "/instances/etch-dump"
#define OTHER		ETCH "/instances/etch-dump-other"

static void remove_all(void)
{
	rmdir(INSTANCE);
	rmdir(OTHER);
	if (have_ftrace()) {
		write_file(FTRACE, "events/statedump/enable", "0");
		overwrite_file(FTRACE, "trace", "");
	}
}

FIXTURE(statedump) {
};

FIXTURE_SETUP(statedump)
{
	const char *why = no_statedump();

	if (why)
		SKIP(return, "%s", why);
	remove_all();
	etch_as_new();
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
	ASSERT_EQ(0, mkdir(OTHER, 0700));
	ASSERT_EQ(0, write_file(INSTANCE, "buffer_size_kb", "2048"));
	ASSERT_EQ(0, write_file(OTHER, "buffer_size_kb", "2048"));
}

FIXTURE_TEARDOWN(statedump)
{
	remove_all();
	etch_as_new();
}

static long long shown(const char *name)
{
	char *text = read_file(INSTANCE, "statedump");
	long long value = number_in(text, name);

	free(text);
	return value;
}

TEST_F(statedump, says_what_it_wrote)
{
	struct trace trace;
	const char *end;
	size_t sum = 2;

	EXPECT_STREQ("none", read_line(INSTANCE, "statedump"));
	trace = state_dump(INSTANCE);
	ASSERT_LT(10, trace.nr);
	EXPECT_STREQ("statedump_begin", trace.records[0].event);
	EXPECT_STREQ("number=1", trace.records[0].text);
	EXPECT_STREQ("statedump_end", trace.records[trace.nr - 1].event);
	end = trace.records[trace.nr - 1].text;
	EXPECT_EQ(1, state_value(end, "number"));
	EXPECT_EQ(0, state_value(end, "lost"));

	for (size_t i = 0; i < NR_STATE_KINDS; i++) {
		size_t nr = text_count(&trace, state_kinds[i].event);

		EXPECT_EQ(nr, state_value(end, state_kinds[i].count))
			TH_LOG("%s", state_kinds[i].event);
		EXPECT_EQ(nr, shown(state_kinds[i].count)) TH_LOG("%s", state_kinds[i].event);
		printf("# %zu %s\n", nr, state_kinds[i].count);
		sum += nr;
	}
	EXPECT_EQ(sum, trace.nr);
	EXPECT_EQ(sum, stat_sum(INSTANCE, "entries"));
	EXPECT_EQ(1, shown("number"));
	EXPECT_EQ(1, shown("complete"));
	EXPECT_EQ(0, shown("lost"));
	EXPECT_EQ(0, lost_sum(INSTANCE));
	text_free(&trace);
}

TEST_F(statedump, dumps_are_numbered)
{
	for (int i = 1; i <= 3; i++) {
		struct trace trace = state_dump(INSTANCE);

		ASSERT_LT(0, trace.nr);
		EXPECT_EQ(i, state_value(trace.records[0].text, "number"));
		EXPECT_EQ(i, state_value(trace.records[trace.nr - 1].text, "number"));
		EXPECT_EQ(i, shown("number"));
		text_free(&trace);
	}
	/* Another instance begins anew, also with the place of one that was removed. */
	EXPECT_STREQ("none", read_line(OTHER, "statedump"));
	ASSERT_EQ(0, rmdir(INSTANCE));
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
	EXPECT_STREQ("none", read_line(INSTANCE, "statedump"));
}

TEST_F(statedump, no_other_instance_gets_it)
{
	struct trace trace = state_dump(INSTANCE);

	ASSERT_LT(10, trace.nr);
	EXPECT_EQ(0, stat_sum(OTHER, "written"));
	EXPECT_EQ(0, stat_sum(ETCH, "entries"));
	EXPECT_EQ(0, lost_sum(OTHER));
	text_free(&trace);
	if (have_ftrace()) {
		trace = text_read(FTRACE, "trace");
		EXPECT_EQ(0, text_count(&trace, "statedump_task"));
		text_free(&trace);
	}
}

/* Who enables an event gets it of others' dumps, and once of its own. */
TEST_F(statedump, enabled_events_show_elsewhere)
{
	struct trace trace, other;
	size_t tasks;

	ASSERT_EQ(0, write_file(OTHER, "events/statedump/statedump_task/enable", "1"));
	ASSERT_EQ(0, write_file(INSTANCE, "events/statedump/enable", "1"));
	if (have_ftrace()) {
		ASSERT_EQ(0, write_file(FTRACE, "events/statedump/statedump_task/enable", "1"));
	}
	trace = state_dump(INSTANCE);
	ASSERT_LT(10, trace.nr);
	tasks = text_count(&trace, "statedump_task");
	EXPECT_EQ(tasks, state_value(trace.records[trace.nr - 1].text, "tasks"));
	EXPECT_EQ(1, text_count(&trace, "statedump_begin"));
	EXPECT_EQ(trace.nr, stat_sum(INSTANCE, "entries"));

	other = text_read(OTHER, "trace");
	EXPECT_EQ(tasks, text_count(&other, "statedump_task"));
	EXPECT_EQ(tasks, other.nr);
	text_free(&other);
	if (have_ftrace()) {
		other = text_read(FTRACE, "trace");
		EXPECT_EQ(tasks, text_count(&other, "statedump_task"));
		text_free(&other);
	}
	text_free(&trace);
}

static bool log_says(const char *sentence)
{
	char expected[200], *log = read_file(INSTANCE, "error_log");
	bool says;

	snprintf(expected, sizeof(expected),
		 "] statedump: error: %s\n  Command: 1\n           ^\n", sentence);
	says = log && strstr(log, expected);
	if (!says)
		printf("# error_log: %s\n", log);
	free(log);
	return says;
}

TEST_F(statedump, needs_tracing_to_be_on)
{
	ASSERT_EQ(0, write_file(INSTANCE, "tracing_on", "0"));
	EXPECT_EQ(EBADF, write_file(INSTANCE, "statedump", "1"));
	EXPECT_TRUE(log_says("Tracing is off"));
	EXPECT_STREQ("none", read_line(INSTANCE, "statedump"));
	EXPECT_EQ(0, stat_sum(INSTANCE, "written"));
	ASSERT_EQ(0, write_file(INSTANCE, "tracing_on", "1"));
	EXPECT_EQ(0, write_file(INSTANCE, "statedump", "1"));
	EXPECT_LT(0, stat_sum(INSTANCE, "written"));
}

TEST_F(statedump, bad_input_is_refused)
{
	static const char * const bad[] = { "0", "2", "11", "all", "-1", "1 1", "\n" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		EXPECT_EQ(EINVAL, write_file(INSTANCE, "statedump", bad[i])) TH_LOG("%s", bad[i]);
	}
	EXPECT_STREQ("none", read_line(INSTANCE, "statedump"));
	EXPECT_EQ(0, stat_sum(INSTANCE, "written"));
}

/* A buffer that keeps what is oldest, and is too small. */
TEST_F(statedump, what_is_lost_is_counted)
{
	long long lost, stored;

	ASSERT_EQ(0, write_file(INSTANCE, "buffer_mode", "discard"));
	ASSERT_EQ(0, write_file(INSTANCE, "buffer_subbuf_size_kb", "1"));
	ASSERT_EQ(0, write_file(INSTANCE, "buffer_size_kb", "1"));
	/* On one CPU: the last record has no room either. */
	run_on(0);
	EXPECT_EQ(ENOSPC, write_file(INSTANCE, "statedump", "1"));
	EXPECT_TRUE(log_says("The last record is lost"));
	EXPECT_EQ(0, shown("complete"));
	EXPECT_EQ(1, shown("number"));
	lost = shown("lost");
	EXPECT_LT(0, lost);
	/* And the last record. */
	EXPECT_EQ(lost + 1, lost_sum(INSTANCE));
	stored = stat_sum(INSTANCE, "written");
	for (size_t i = 0; i < NR_STATE_KINDS; i++)
		stored -= shown(state_kinds[i].count);
	/* The first one. */
	EXPECT_EQ(1, stored);

	/* Marks fill what room a longer record has left: not even the first record fits. */
	while (!write_file(INSTANCE, "trace_marker", "x"))
		;
	EXPECT_EQ(ENOSPC, write_file(INSTANCE, "statedump", "1"));
	EXPECT_TRUE(log_says("The buffer is full"));
	EXPECT_EQ(lost + 3, lost_sum(INSTANCE));
	EXPECT_EQ(lost, shown("lost"));
	EXPECT_EQ(1, shown("number"));
}

/* Several at once: each is whole, and one comes after the other. */
TEST_F(statedump, dumps_wait_for_each_other)
{
	pid_t pids[4];
	struct trace trace;
	bool inside = false;
	size_t dumps = 0;

	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(write_file(INSTANCE, "statedump", "1"));
	}
	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		int status;

		waitpid(pids[i], &status, 0);
		EXPECT_EQ(0, status);
	}
	trace = text_read(INSTANCE, "trace");
	for (size_t i = 0; i < trace.nr; i++) {
		const struct record *r = &trace.records[i];

		if (!strcmp(r->event, "statedump_begin")) {
			EXPECT_FALSE(inside);
			inside = true;
			EXPECT_EQ(++dumps, state_value(r->text, "number"));
		} else if (!strcmp(r->event, "statedump_end")) {
			EXPECT_TRUE(inside);
			inside = false;
			EXPECT_EQ(dumps, state_value(r->text, "number"));
			EXPECT_EQ(0, state_value(r->text, "lost"));
		}
	}
	EXPECT_EQ(ARRAY_LEN(pids), dumps);
	EXPECT_EQ(0, stat_sum(INSTANCE, "overwritten"));
	text_free(&trace);
}

/* Tasks come and go, and close what the walk looks at. */
TEST_F(statedump, tasks_may_end_meanwhile)
{
	pid_t pids[3];

	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		pids[i] = fork();
		for (; !pids[i];) {
			pid_t pid = fork();
			int fds[2];

			if (!pid) {
				if (!pipe(fds))
					close(fds[0]);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
	}
	for (int i = 0; i < 20; i++) {
		struct trace trace = state_dump(INSTANCE);

		ASSERT_LT(10, trace.nr);
		EXPECT_EQ(0, state_value(trace.records[trace.nr - 1].text, "lost"));
		EXPECT_EQ(text_count(&trace, "statedump_file"),
			  state_value(trace.records[trace.nr - 1].text, "files"));
		text_free(&trace);
	}
	for (size_t i = 0; i < ARRAY_LEN(pids); i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/* The instance that asks for a dump gets all of it. */
TEST_F(statedump, filters_and_triggers_do_not_cut_it)
{
	struct trace trace;

	ASSERT_EQ(0, write_file(INSTANCE, "events/statedump/filter", "common_pid == 0"));
	ASSERT_EQ(0, write_file(INSTANCE, "events/statedump/statedump_task/trigger",
				"traceoff"));
	ASSERT_EQ(0, write_file(INSTANCE, "events/statedump/statedump_end/enable", "1"));
	trace = state_dump(INSTANCE);
	ASSERT_LT(10, trace.nr);
	EXPECT_STREQ("statedump_end", trace.records[trace.nr - 1].event);
	EXPECT_EQ(0, state_value(trace.records[trace.nr - 1].text, "lost"));
	EXPECT_STREQ("1", read_line(INSTANCE, "tracing_on"));
	text_free(&trace);
}

TEST_HARNESS_MAIN
