// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers: what a hit does, how often, for which hits, and lines that are refused.
 *
 * Most triggers here are those of the end of a task, for tasks of one name.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "sample.h"

#define ONE	ETCH "/instances/trigger"
#define EXIT	"events/sched/sched_process_exit"
#define FORK	"events/sched/sched_process_fork"
#define HIT	" if comm == \"trigger-hit\""

/* Such a task has a child. */
static pid_t forking(const char *name)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_NAME, name);
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	_exit(0);
}

/* Work that a hit leaves to be done is done soon. */
static bool becomes(const char *file, const char *line)
{
	for (int i = 0; i < 200 && strcmp(line, read_line(ONE, file)); i++)
		usleep(50000);
	return !strcmp(line, read_line(ONE, file));
}

static bool has_kind(const char *name)
{
	return times_in(ONE, EXIT "/trigger", name);
}

static void set_enable(const char *event, const char *value)
{
	char file[64];

	snprintf(file, sizeof(file), "%s/enable", event);
	if (write_file(ONE, file, value))
		give_up("%s", file);
}

/* Records of tasks that the machine starts meanwhile would be counted, too. */
static void record_own_tasks(const char *event)
{
	char file[64];

	snprintf(file, sizeof(file), "%s/filter", event);
	if (write_file(ONE, file, "comm ~ \"trigger*\""))
		give_up("%s", file);
}

FIXTURE(trigger) { };

FIXTURE_SETUP(trigger)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	ASSERT_EQ(0, mkdir(ONE, 0700));
}

FIXTURE_TEARDOWN(trigger)
{
	rmdir(ONE);
}

TEST_F(trigger, file_lists_what_there_is_and_what_is_in_force)
{
	char *text = read_file(ONE, EXIT "/trigger");

	EXPECT_NE(NULL, strstr(text, "# Available triggers:\n# "));
	EXPECT_NE(NULL, strstr(text, " traceon traceoff"));
	free(text);
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "  traceoff:5   if prio > 1000 "));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "enable_event:sched:sched_switch"));
	text = read_file(ONE, EXIT "/trigger");
	EXPECT_STREQ("traceoff:count=5 if prio > 1000\n"
		     "enable_event:sched:sched_switch:unlimited\n", text);
	free(text);
	/* The lines that are shown can be written, with "!" as well. */
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "!traceoff:count=5 if prio > 1000"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger",
				"!enable_event:sched:sched_switch:unlimited"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "traceon:unlimited"));
	EXPECT_STREQ("traceon:unlimited", read_line(ONE, EXIT "/trigger"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "!traceon"));
	EXPECT_STREQ("# Available triggers:", read_line(ONE, EXIT "/trigger"));
}

/* ---- Actions ---- */

TEST_F(trigger, traceoff_ends_the_recording_at_once)
{
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "traceoff" HIT));
	record_own_tasks(EXIT);
	set_enable(EXIT, "1");
	run_tasks("trigger-other", 3);
	EXPECT_STREQ("1", read_line(ONE, "tracing_on"));
	run_on(0);
	run_tasks("trigger-hit", 1);
	EXPECT_STREQ("0", read_line(ONE, "tracing_on"));
	run_tasks("trigger-other", 3);
	EXPECT_EQ(4, stat_sum(ONE, "written"));
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "1"));
	run_tasks("trigger-other", 3);
	EXPECT_EQ(7, stat_sum(ONE, "written"));
}

TEST_F(trigger, traceoff_counts_what_it_turns_off)
{
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "traceoff:2" HIT));
	run_tasks("trigger-hit", 3);
	EXPECT_STREQ("0", read_line(ONE, "tracing_on"));
	EXPECT_STREQ("traceoff:count=1" HIT, read_line(ONE, EXIT "/trigger"));
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "1"));
	run_tasks("trigger-hit", 1);
	EXPECT_STREQ("0", read_line(ONE, "tracing_on"));
	EXPECT_STREQ("traceoff:count=0" HIT, read_line(ONE, EXIT "/trigger"));
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "1"));
	run_tasks("trigger-hit", 1);
	EXPECT_STREQ("1", read_line(ONE, "tracing_on"));
}

TEST_F(trigger, traceon_begins_the_recording_soon)
{
	set_enable(FORK, "1");
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "0"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "traceon:1" HIT));
	run_tasks("trigger-other", 1);
	EXPECT_STREQ("0", read_line(ONE, "tracing_on"));
	run_tasks("trigger-hit", 1);
	EXPECT_STREQ("1", read_line(ONE, "tracing_on"));
	for (int i = 0; i < 200 && !stat_sum(ONE, "written"); i++) {
		run_tasks("trigger-other", 1);
		usleep(50000);
	}
	EXPECT_LT(0, stat_sum(ONE, "written"));
}

TEST_F(trigger, stacktrace_records_as_many_stacks_as_the_count_says)
{
	if (!has_kind("stacktrace"))
		SKIP(return, "no stacktrace: CONFIG_STACKTRACE");
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "stacktrace:5" HIT));
	run_tasks("trigger-other", 5);
	EXPECT_EQ(0, stat_sum(ONE, "written"));
	run_tasks("trigger-hit", 10);
	EXPECT_EQ(5, stat_sum(ONE, "written"));
	EXPECT_STREQ("stacktrace:count=0" HIT, read_line(ONE, EXIT "/trigger"));
	if (!have_text())
		return;
	EXPECT_EQ(5, times_in(ONE, "trace", ": <stack trace>\n => "));
	EXPECT_EQ(5, times_in(ONE, "trace", "\n => do_exit\n"));
	EXPECT_EQ(0, times_in(ONE, "trace", "etch_"));
}

TEST_F(trigger, the_stack_stands_behind_the_record)
{
	char *text;

	if (!has_kind("stacktrace"))
		SKIP(return, "no stacktrace: CONFIG_STACKTRACE");
	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "stacktrace" HIT));
	set_enable(EXIT, "1");
	run_tasks("trigger-hit", 1);
	text = read_file(ONE, "trace");
	EXPECT_NE(NULL, strstr(text, "sched_process_exit: comm=trigger-hit"));
	EXPECT_LT(strstr(text, "sched_process_exit: comm=trigger-hit"), strstr(text, "<stack"));
	free(text);
}

/* Several at once share a count. */
TEST_F(trigger, a_count_is_exact)
{
	if (!has_kind("stacktrace"))
		SKIP(return, "no stacktrace: CONFIG_STACKTRACE");
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "stacktrace:123" HIT));
	for (int i = 0; i < 4; i++) {
		if (fork())
			continue;
		run_tasks("trigger-hit", 50);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	EXPECT_EQ(123, stat_sum(ONE, "written"));
}

TEST_F(trigger, enable_event_takes_effect_at_once)
{
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger",
				"enable_event:sched:sched_process_fork:1" HIT));
	EXPECT_STREQ("0*", read_line(ONE, FORK "/enable"));
	run_tasks("trigger-other", 3);
	EXPECT_EQ(0, stat_sum(ONE, "written"));
	run_tasks("trigger-hit", 1);
	EXPECT_STREQ("1*", read_line(ONE, FORK "/enable"));
	run_tasks("trigger-other", 3);
	EXPECT_LE(3, stat_sum(ONE, "written"));
	EXPECT_STREQ("enable_event:sched:sched_process_fork:count=0" HIT,
		     read_line(ONE, EXIT "/trigger"));
	/* It stays as it is. */
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "!enable_event:sched:sched_process_fork"));
	EXPECT_STREQ("1", read_line(ONE, FORK "/enable"));
}

TEST_F(trigger, disable_event_takes_effect_at_once)
{
	long long written;

	set_enable(FORK, "1");
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger",
				"disable_event:sched:sched_process_fork" HIT));
	EXPECT_STREQ("1*", read_line(ONE, FORK "/enable"));
	run_tasks("trigger-hit", 1);
	EXPECT_STREQ("0*", read_line(ONE, FORK "/enable"));
	written = stat_sum(ONE, "written");
	EXPECT_LE(1, written);
	run_tasks("trigger-other", 3);
	EXPECT_EQ(written, stat_sum(ONE, "written"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "!disable_event:sched:sched_process_fork"));
	EXPECT_STREQ("0", read_line(ONE, FORK "/enable"));
	run_tasks("trigger-other", 3);
	EXPECT_EQ(written, stat_sum(ONE, "written"));
	set_enable(FORK, "1");
	run_tasks("trigger-other", 3);
	EXPECT_LE(written + 3, stat_sum(ONE, "written"));
}

/* Users enable and disable an event that a trigger enables and disables. */
TEST_F(trigger, users_go_on_enabling)
{
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "enable_event:sched:sched_process_fork"));
	EXPECT_EQ(0, times_in(ONE, "set_event", "sched_process_fork"));
	ASSERT_EQ(0, write_file(ONE, "set_event", "sched:sched_process_fork"));
	EXPECT_STREQ("1*", read_line(ONE, FORK "/enable"));
	EXPECT_EQ(1, times_in(ONE, "set_event", "sched_process_fork"));
	set_enable(FORK, "0");
	EXPECT_STREQ("0*", read_line(ONE, FORK "/enable"));
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "0"));
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "1"));
	EXPECT_STREQ("0*", read_line(ONE, FORK "/enable"));
	/* Two triggers, one after the other. */
	record_own_tasks(FORK);
	ASSERT_EQ(0, write_file(ONE, FORK "/trigger", "enable_event:sched:sched_process_fork"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "!enable_event:sched:sched_process_fork"));
	EXPECT_STREQ("0*", read_line(ONE, FORK "/enable"));
	run_tasks("trigger-other", 2);
	EXPECT_STREQ("1*", read_line(ONE, FORK "/enable"));
	EXPECT_EQ(1, stat_sum(ONE, "written"));
	ASSERT_EQ(0, write_file(ONE, FORK "/trigger", "!enable_event:sched:sched_process_fork"));
	EXPECT_STREQ("1", read_line(ONE, FORK "/enable"));
}

static bool snapshot_has(const char *word)
{
	bool found = false;
	char file[64], *text;
	size_t len;

	for (int cpu = 0; cpu < nr_cpus(); cpu++) {
		snprintf(file, sizeof(file), "%s/per_cpu/cpu%d/snapshot", ONE, cpu);
		text = read_path(file, &len);
		found |= text && memmem(text, len, word, strlen(word));
		free(text);
	}
	return found;
}

TEST_F(trigger, snapshot_is_of_the_moment_of_the_hit)
{
	if (!has_kind("snapshot"))
		SKIP(return, "no snapshot: CONFIG_ETCH_CTF");
	set_enable(EXIT, "1");
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "snapshot:1" HIT));
	run_tasks("trigger-early", 1);
	EXPECT_STREQ("0", read_line(ONE, "snapshot"));
	run_on(0);
	run_tasks("trigger-hit", 1);
	run_tasks("trigger-late", 1);
	EXPECT_TRUE(becomes("snapshot", "1"));
	EXPECT_TRUE(snapshot_has("trigger-early"));
	EXPECT_TRUE(snapshot_has("trigger-hit"));
	EXPECT_FALSE(snapshot_has("trigger-late"));
}

TEST_F(trigger, signal_stops_the_task_that_hits)
{
	int status = 0;
	pid_t child;

	ASSERT_EQ(0, write_file(ONE, FORK "/trigger",
				"signal:SIGSTOP:1 if parent_comm == \"trigger-hit\""));
	run_tasks("trigger-other", 1);
	child = forking("trigger-hit");
	EXPECT_EQ(child, waitpid(child, &status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(SIGSTOP, WSTOPSIG(status));
	EXPECT_STREQ("signal:STOP:count=0 if parent_comm == \"trigger-hit\"",
		     read_line(ONE, FORK "/trigger"));
	kill(child, SIGCONT);
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	/* Not once more. */
	child = forking("trigger-hit");
	EXPECT_EQ(child, waitpid(child, &status, WUNTRACED));
	EXPECT_TRUE(WIFEXITED(status));
}

TEST_F(trigger, signal_is_not_sent_to_tasks_that_are_exiting)
{
	char *text;

	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "signal:kill:3" HIT));
	run_tasks("trigger-hit", 5);
	text = read_file(ONE, EXIT "/trigger");
	EXPECT_STREQ("signal:KILL:count=3" HIT "\n"
		     "# not sent: 5 to tasks that get none, 0 with 64 on their way\n", text);
	free(text);
}

/* ---- Lines that are refused ---- */

TEST_F(trigger, is_not_set_twice)
{
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "traceoff"));
	EXPECT_EQ(EEXIST, write_file(ONE, EXIT "/trigger", "traceoff:3 if prio > 3"));
	EXPECT_EQ(EEXIST, write_file(ONE, EXIT "/trigger", "traceon"));
	EXPECT_EQ(ENOENT, write_file(ONE, EXIT "/trigger", "!traceon"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "enable_event:sched:sched_switch"));
	EXPECT_EQ(EEXIST, write_file(ONE, EXIT "/trigger", "disable_event:sched:sched_switch"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "disable_event:sched:sched_waking"));
	EXPECT_EQ(3, times_in(ONE, EXIT "/trigger", "\n"));
	EXPECT_NE(0, times_in(ONE, "error_log", "error: The event has a trigger traceoff: take it away"));
}

/* ---- Those that go ---- */

TEST_F(trigger, goes_with_its_instance)
{
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "traceoff:1000000"));
	ASSERT_EQ(0, write_file(ONE, FORK "/trigger", "enable_event:sched:sched_process_exit"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "disable_event:sched:sched_process_exit"));
	ASSERT_EQ(0, write_file(ONE, FORK "/trigger", "signal:CONT"));
	run_tasks("trigger-other", 3);
	ASSERT_EQ(0, rmdir(ONE));
	run_tasks("trigger-other", 3);
	ASSERT_EQ(0, mkdir(ONE, 0700));
	EXPECT_STREQ("# Available triggers:", read_line(ONE, EXIT "/trigger"));
	EXPECT_STREQ("# Available triggers:", read_line(ONE, FORK "/trigger"));
	EXPECT_STREQ("0", read_line(ONE, EXIT "/enable"));
	run_tasks("trigger-other", 3);
	EXPECT_EQ(0, stat_sum(ONE, "written"));
}

TEST_F(trigger, goes_with_the_module_of_its_event)
{
	if (!sample_path())
		SKIP(return, "%s", no_sample());
	sample_unload();
	ASSERT_EQ(0, sample_load());
	ASSERT_EQ(0, write_file(ONE, "events/" SAMPLE "/etch_sample_begin/trigger",
				"enable_event:sched:sched_process_exit"));
	EXPECT_STREQ("0*", read_line(ONE, EXIT "/enable"));
	ASSERT_EQ(0, write_fmt(SAMPLE_PARAMETERS, "fire", "%d", 1));
	EXPECT_STREQ("1*", read_line(ONE, EXIT "/enable"));
	ASSERT_EQ(0, sample_unload());
	EXPECT_STREQ("1", read_line(ONE, EXIT "/enable"));
}

TEST_F(trigger, goes_with_the_module_of_the_other_event)
{
	if (!sample_path())
		SKIP(return, "%s", no_sample());
	sample_unload();
	ASSERT_EQ(0, sample_load());
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger",
				"enable_event:" SAMPLE ":etch_sample_begin"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger",
				"disable_event:" SAMPLE ":etch_sample_end:3" HIT));
	ASSERT_EQ(0, write_file(ONE, "events/" SAMPLE "/etch_sample_end/trigger",
				"enable_event:" SAMPLE ":etch_sample_begin"));
	run_tasks("trigger-hit", 1);
	EXPECT_STREQ("1*", read_line(ONE, "events/" SAMPLE "/etch_sample_begin/enable"));
	ASSERT_EQ(0, sample_unload());
	EXPECT_STREQ("# Available triggers:", read_line(ONE, EXIT "/trigger"));
	run_tasks("trigger-hit", 1);
}

TEST_HARNESS_MAIN
