// SPDX-License-Identifier: GPL-2.0
/*
 * Contexts: what an instance adds to each record, in text, format and metadata.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "etch_test.h"

#define ONE	ETCH "/instances/contexts"
#define TWO	ETCH "/instances/contexts_two"
#define EXIT	"events/sched/sched_process_exit"
#define MINE	"comm == \"contexts-mine\""

static bool has_kind(const char *name)
{
	return times_in(ONE, "contexts", name);
}

FIXTURE(contexts) { };

FIXTURE_SETUP(contexts)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	ASSERT_EQ(0, mkdir(ONE, 0700));
	ASSERT_EQ(0, mkdir(TWO, 0700));
}

FIXTURE_TEARDOWN(contexts)
{
	rmdir(ONE);
	rmdir(TWO);
}

TEST_F(contexts, file_takes_words_and_signs)
{
	EXPECT_STREQ("# Available contexts:", read_line(ONE, "contexts"));
	ASSERT_EQ(0, write_file(ONE, "contexts", "  prio  flags "));
	EXPECT_STREQ("prio flags", read_line(ONE, "contexts"));
	EXPECT_EQ(1, times_in(ONE, "contexts", "\n# 8 bytes in each record\n"));
	ASSERT_EQ(0, write_file(ONE, "contexts", "-prio"));
	EXPECT_STREQ("flags", read_line(ONE, "contexts"));
	ASSERT_EQ(0, write_file(ONE, "contexts", "-flags +prio +flags"));
	EXPECT_STREQ("prio flags", read_line(ONE, "contexts"));
	ASSERT_EQ(0, write_file(ONE, "contexts", "flags"));
	EXPECT_STREQ("flags", read_line(ONE, "contexts"));
	EXPECT_STREQ("# Available contexts:", read_line(TWO, "contexts"));
	ASSERT_EQ(0, write_file(ONE, "contexts", "none"));
	EXPECT_STREQ("# Available contexts:", read_line(ONE, "contexts"));
}

TEST_F(contexts, are_not_added_twice_nor_taken_away_twice)
{
	ASSERT_EQ(0, write_file(ONE, "contexts", "prio"));
	EXPECT_EQ(EEXIST, write_file(ONE, "contexts", "+flags +prio"));
	EXPECT_EQ(1, times_in(ONE, "error_log", "error: Records have this context already\n"
			      "  Command: +flags +prio\n                   ^\n"));
	EXPECT_EQ(ENOENT, write_file(ONE, "contexts", "-prio -flags"));
	EXPECT_EQ(1, times_in(ONE, "error_log", "error: Records have no such context\n"));
	EXPECT_EQ(EEXIST, write_file(ONE, "contexts", "flags flags"));
	EXPECT_STREQ("prio", read_line(ONE, "contexts"));
}

/* A record has contexts as soon as the file shows them, however fast the writers are. */
TEST_F(contexts, change_while_events_are_recorded)
{
	static const char * const lists[] = { "prio", "none", "flags prio", "none", "flags" };
	pid_t load;

	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ONE, "events/sched/enable", "1"));
	load = fork();
	for (; !load;)
		run_tasks("contexts-mine", 10);
	for (int i = 0; i < 60; i++) {
		const char *list = lists[i % ARRAY_LEN(lists)];

		ASSERT_EQ(0, write_file(ONE, "contexts", list));
		usleep(5000);
		ASSERT_EQ(0, write_file(ONE, "tracing_on", "0"));
		EXPECT_EQ(0, times_in(ONE, "trace", "[etch: "));
		EXPECT_EQ(strstr(list, "prio") ? stat_sum(ONE, "entries") : 0,
			  times_in(ONE, "trace", " {prio="));
		EXPECT_LT(0, stat_sum(ONE, "entries"));
		ASSERT_EQ(0, write_file(ONE, "tracing_on", "1"));
	}
	kill(load, SIGKILL);
	waitpid(load, NULL, 0);
}

/* How many lines of @event there are; and in how many of these a column of flags is @flag. */
static int flags_of(const char *event, unsigned int column, char flag, int *all)
{
	char *text = read_file(ONE, "trace"), *line, *rest = text;
	int nr = 0;

	*all = 0;
	while (rest && (line = strsep(&rest, "\n"))) {
		char *cpu = strstr(line, "] ");

		if (*line == '#' || !cpu || !strstr(line, event))
			continue;
		++*all;
		nr += cpu[2 + column] == flag;
	}
	free(text);
	return nr;
}

/* The scheduler switches with interrupts off; a mark is written with interrupts on. */
TEST_F(contexts, columns_are_the_state_of_the_cpu)
{
	int all, off;

	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ONE, "contexts", "flags"));
	ASSERT_EQ(0, write_file(ONE, "events/sched/sched_switch/enable", "1"));
	run_tasks("contexts-mine", 5);
	ASSERT_EQ(0, write_file(ONE, "trace_marker", "a mark"));
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "0"));
	/* With PREEMPT_RT a task with softirqs off may be switched away. */
	off = flags_of(" sched_switch: ", 0, 'd', &all);
	off += flags_of(" sched_switch: ", 0, 'D', &all);
	EXPECT_EQ(all, off);
	EXPECT_LE(5, all);
	EXPECT_EQ(1, flags_of(" tracing_mark_write: ", 0, '.', &all));
	EXPECT_EQ(1, flags_of(" tracing_mark_write: ", 2, '.', &all));
	EXPECT_EQ(1, flags_of(" tracing_mark_write: ", 3, '.', &all));
	ASSERT_EQ(0, write_file(ONE, "contexts", "none"));
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "1"));
	run_tasks("contexts-mine", 5);
	EXPECT_EQ(0, flags_of(" sched_switch: ", 0, 'd', &all));
	EXPECT_EQ(0, flags_of(" sched_switch: ", 0, 'D', &all));
	EXPECT_LE(5, all);
}

TEST_F(contexts, lines_show_them)
{
	char *text;

	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ONE, "contexts", "prio flags"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "1"));
	ASSERT_EQ(0, write_file(ONE, "trace_marker", "a mark"));
	run_tasks("contexts-mine", 3);
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "0"));
	text = read_file(ONE, "trace");
	EXPECT_NE(NULL, strstr(text, "flags: off (d interrupts, b softirqs, D both)"));
	EXPECT_NE(NULL, strstr(text, "tracing_mark_write: a mark {prio=120}\n"));
	EXPECT_NE(NULL, strstr(text, "sched_process_exit: comm=contexts-mine pid="));
	free(text);
	EXPECT_EQ(stat_sum(ONE, "written"), times_in(ONE, "trace", " {prio="));
}

/* What a task does when it ends, up to the signal that lets its parent go on. */
#define OWN_EVENTS	"sched:sched_process_exit signal:signal_generate"

/* By the task that hits, whatever the event calls comm. */
#define BY_MINE		"COMM == \"contexts-mine\""

/* The text of the same records, in an instance with contexts and in one without. */
TEST_F(contexts, payloads_are_as_without)
{
	char *one, *two, *a, *b;

	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ONE, "contexts", "prio"));
	ASSERT_EQ(0, write_file(ONE, "events/filter", BY_MINE));
	ASSERT_EQ(0, write_file(TWO, "events/filter", BY_MINE));
	/* One CPU: the files show one order. */
	run_on(0);
	ASSERT_EQ(0, write_file(ONE, "set_event", OWN_EVENTS));
	ASSERT_EQ(0, write_file(TWO, "set_event", OWN_EVENTS));
	run_tasks("contexts-mine", 20);
	ASSERT_EQ(0, write_file(ONE, "events/enable", "0"));
	ASSERT_EQ(0, write_file(TWO, "events/enable", "0"));
	EXPECT_LE(2 * 20, stat_sum(ONE, "written"));
	EXPECT_EQ(stat_sum(ONE, "written"), stat_sum(TWO, "written"));
	one = a = read_file(ONE, "trace");
	two = b = read_file(TWO, "trace");
	/* Behind the time, which differs. */
	while ((a = strstr(a, ": ")) && (b = strstr(b, ": "))) {
		char *end = strchr(a, '\n'), *cut = end;

		if (!end)
			break;
		while (cut > a && *cut != '{')
			cut--;
		if (cut > a)
			EXPECT_EQ(0, strncmp(a, b, cut - 1 - a));
		a = end;
		b = strchr(b, '\n');
	}
	free(one);
	free(two);
}

/* Records that make their way through scratch memory. */
TEST_F(contexts, filters_and_triggers_go_on)
{
	ASSERT_EQ(0, write_file(ONE, "contexts", "prio flags"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", MINE));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "traceoff:1 if " MINE));
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "1"));
	run_tasks("contexts-other", 3);
	EXPECT_EQ(0, stat_sum(ONE, "written"));
	EXPECT_STREQ("1", read_line(ONE, "tracing_on"));
	run_tasks("contexts-mine", 1);
	EXPECT_EQ(1, stat_sum(ONE, "written"));
	EXPECT_STREQ("0", read_line(ONE, "tracing_on"));
	if (have_text())
		EXPECT_EQ(1, times_in(ONE, "trace", " {prio=120}\n"));
}

TEST_F(contexts, change_empties_the_buffers)
{
	ASSERT_EQ(0, write_file(ONE, "trace_marker", "before"));
	EXPECT_EQ(1, stat_sum(ONE, "entries"));
	ASSERT_EQ(0, write_file(ONE, "contexts", "prio"));
	EXPECT_EQ(0, stat_sum(ONE, "entries"));
	ASSERT_EQ(0, write_file(ONE, "trace_marker", "between"));
	/* No change. */
	ASSERT_EQ(0, write_file(ONE, "contexts", "prio"));
	EXPECT_EQ(1, stat_sum(ONE, "entries"));
	ASSERT_EQ(0, write_file(ONE, "contexts", "none"));
	EXPECT_EQ(0, stat_sum(ONE, "entries"));
	ASSERT_EQ(0, write_file(ONE, "trace_marker", "after"));
	if (have_text())
		EXPECT_EQ(1, times_in(ONE, "trace", "tracing_mark_write: after\n"));
}

TEST_F(contexts, stack_is_the_events)
{
	if (!has_kind(" kstack"))
		SKIP(return, "no kstack: CONFIG_STACKTRACE");
	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ONE, "contexts", "kstack:8"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", MINE));
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "1"));
	run_tasks("contexts-mine", 2);
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "0"));
	run_tasks("contexts-mine", 2);
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "0"));
	EXPECT_LE(4, times_in(ONE, "trace", "\n<kernel stack>\n => do_exit\n"));
	EXPECT_EQ(0, times_in(ONE, "trace", "etch_"));
}

/* It begins where the program is: in the system call that writes the mark. */
TEST_F(contexts, stack_of_the_program)
{
	if (!has_kind(" ustack"))
		SKIP(return, "no ustack: CONFIG_USER_STACKTRACE_SUPPORT");
	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ONE, "contexts", "ustack:2 kstack:8"));
	ASSERT_EQ(0, write_file(ONE, "trace_marker", "here"));
	EXPECT_EQ(1, times_in(ONE, "trace", ": here\n<user stack>\n => <0000"));
	EXPECT_EQ(0, times_in(ONE, "trace", " => <0000000000000000>"));
	EXPECT_EQ(1, times_in(ONE, "trace", "\n<kernel stack>\n => "));
}

TEST_F(contexts, latency_is_that_of_the_pair)
{
	char *text, *at;

	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ONE, "contexts", "latency"));
	ASSERT_EQ(0, write_file(ONE, "events/sched/sched_process_fork/trigger",
				"start:life:key=child_pid"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger", "end:life:key=pid if " MINE));
	ASSERT_EQ(0, write_file(ONE, "events/sched/sched_process_fork/enable", "1"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "1"));
	run_tasks("contexts-mine", 3);
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "0"));
	text = at = read_file(ONE, "trace");
	for (int i = 0; i < 3; i++) {
		unsigned long long ns;

		at = strstr(at, "sched_process_exit: comm=contexts-mine");
		ASSERT_NE(NULL, at);
		at = strstr(at, " {latency=");
		ASSERT_NE(NULL, at);
		ns = strtoull(at + strlen(" {latency="), NULL, 10);
		EXPECT_LT(1000, ns);
		EXPECT_GT(10000000000ULL, ns);
	}
	free(text);
	EXPECT_LE(3, times_in(ONE, "trace", " {latency=0}\n"));
}

TEST_F(contexts, format_and_metadata_describe_them)
{
	ASSERT_EQ(0, write_file(ONE, "contexts", "flags prio"));
	EXPECT_EQ(1, times_in(ONE, EXIT "/format",
			      "\tfield:unsigned char common_flags;\toffset:12;\tsize:1;\tsigned:0;\n"
			      "\tfield:unsigned char common_preempt_count;\toffset:13;\tsize:1;\tsigned:0;\n"
			      "\tfield:unsigned short common_migrate_disable;\toffset:14;\tsize:2;\tsigned:0;\n"
			      "\tfield:int common_prio;\toffset:16;\tsize:4;\tsigned:1;\n\n"));
	EXPECT_EQ(1, times_in(ONE, EXIT "/format", "comm[16];\toffset:20;\tsize:16;"));
	EXPECT_EQ(1, times_in(TWO, EXIT "/format", "comm[16];\toffset:12;\tsize:16;"));
	if (access(ONE "/metadata", F_OK))
		return;
	EXPECT_EQ(1, times_in(ONE, "metadata",
			      " pid;\n"
			      "\t\tinteger { size = 8; align = 1; signed = false; base = 16; } flags;\n"
			      "\t\tinteger { size = 8; align = 1; signed = false; base = 10; } preempt_count;\n"
			      "\t\tinteger { size = 16; align = 1; signed = false; base = 10; } migrate_disable;\n"
			      "\t\tinteger { size = 32; align = 1; signed = true; base = 10; } prio;\n"
			      "\t};\n"));
	EXPECT_EQ(0, times_in(TWO, "metadata", " prio;\n\t};\n"));
}

TEST_F(contexts, histograms_have_them_as_keys)
{
	ASSERT_EQ(0, write_file(ONE, EXIT "/trigger",
				"hist:keys=common_prio,common_migrate_disable if " MINE));
	run_tasks("contexts-mine", 4);
	EXPECT_EQ(1, times_in(ONE, EXIT "/hist", "{ common_prio:        120, "));
	EXPECT_EQ(1, times_in(ONE, EXIT "/hist", "} hitcount:          4\n"));
}

TEST_F(contexts, filters_know_them)
{
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "common_prio == 120 && " MINE));
	ASSERT_EQ(0, write_file(TWO, EXIT "/filter", "common_prio != 120 && " MINE));
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "1"));
	ASSERT_EQ(0, write_file(TWO, EXIT "/enable", "1"));
	run_tasks("contexts-mine", 2);
	if (!fork()) {
		setpriority(PRIO_PROCESS, 0, 5);
		run_tasks("contexts-mine", 3);
		_exit(0);
	}
	wait(NULL);
	EXPECT_EQ(2, stat_sum(ONE, "written"));
	EXPECT_EQ(3, stat_sum(TWO, "written"));
}

/* ---- Counters of perf's ---- */

#define SWITCH	"events/sched/sched_switch"
#define NO_PERF	"no counters of perf's: CONFIG_PERF_EVENTS"

TEST_F(contexts, counters_have_names_of_perf)
{
	if (!has_kind(" perf:NAME"))
		SKIP(return, NO_PERF);
	ASSERT_EQ(0, write_file(ONE, "contexts", "prio perf:context-switches perf:cpu-clock"));
	EXPECT_STREQ("prio perf:context-switches perf:cpu-clock", read_line(ONE, "contexts"));
	EXPECT_EQ(1, times_in(ONE, SWITCH "/format", "u64 common_perf_context_switches;"));
	EXPECT_EQ(EEXIST, write_file(ONE, "contexts", "+perf:cpu-clock"));
	EXPECT_EQ(EINVAL, write_file(ONE, "contexts", "+perf:nothing"));
	EXPECT_EQ(1, times_in(ONE, "error_log", "error: No such counter\n"
			      "  Command: +perf:nothing\n                 ^\n"));
	EXPECT_EQ(EINVAL, write_file(ONE, "contexts", "+perf"));
	EXPECT_EQ(ENOSPC, write_file(ONE, "contexts",
				     "+perf:page-faults +perf:minor-faults +perf:major-faults"));
	EXPECT_STREQ("prio perf:context-switches perf:cpu-clock", read_line(ONE, "contexts"));
	ASSERT_EQ(0, write_file(ONE, "contexts", "-perf:context-switches"));
	EXPECT_STREQ("prio perf:cpu-clock", read_line(ONE, "contexts"));
}

/* Each switch counts one; the next record of that CPU has one more. */
TEST_F(contexts, a_counter_counts_the_switches)
{
	unsigned long long last = 0, now;
	char *text, *line, *rest;
	int lines = 0, wrong = 0;

	if (!has_kind(" perf:NAME"))
		SKIP(return, NO_PERF);
	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ONE, "contexts", "perf:context-switches"));
	ASSERT_EQ(0, write_file(ONE, SWITCH "/enable", "1"));
	run_on(0);
	run_tasks("contexts-mine", 50);
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "0"));
	rest = text = read_file(ONE, "per_cpu/cpu0/trace");
	while (rest && (line = strsep(&rest, "\n"))) {
		char *at = strstr(line, "{context-switches=");

		if (!at)
			continue;
		now = strtoull(at + strlen("{context-switches="), NULL, 10);
		wrong += lines++ && now != last + 1;
		last = now;
	}
	free(text);
	EXPECT_LT(50, lines);
	EXPECT_EQ(0, wrong);
}

/* perf drops what counts on a CPU that goes: the records there have 0 until it is renewed. */
TEST_F(contexts, a_cpu_that_comes_back_counts)
{
	int counted = 0;

	if (!has_kind(" perf:NAME"))
		SKIP(return, NO_PERF);
	if (!have_text())
		SKIP(return, NO_TEXT);
	if (access("/sys/devices/system/cpu/cpu1/online", F_OK))
		SKIP(return, "no second processor that can go off line");
	ASSERT_EQ(0, write_file(ONE, "contexts", "perf:cpu-clock"));
	ASSERT_EQ(0, write_file("/sys/devices/system/cpu", "cpu1/online", "0"));
	ASSERT_EQ(0, write_file("/sys/devices/system/cpu", "cpu1/online", "1"));
	for (int i = 0; i < 200 && !counted; i++) {
		run_on(1);
		ASSERT_EQ(0, write_file(ONE, "trace_marker", "a mark"));
		run_on(0);
		counted = times_in(ONE, "per_cpu/cpu1/trace", "{cpu-clock=") -
			  times_in(ONE, "per_cpu/cpu1/trace", "{cpu-clock=0}");
		usleep(20000);
	}
	EXPECT_EQ(1, counted);
}

/* This machine may have none; then nothing changes. */
TEST_F(contexts, a_counter_that_is_not_there_changes_nothing)
{
	int err;

	if (!has_kind(" perf:NAME"))
		SKIP(return, NO_PERF);
	ASSERT_EQ(0, write_file(ONE, "contexts", "prio"));
	err = write_file(ONE, "contexts", "perf:cpu-clock perf:cycles");
	if (!err)
		SKIP(return, "this processor counts cycles");
	EXPECT_TRUE(err == ENOENT || err == EOPNOTSUPP || err == ENODEV);
	EXPECT_EQ(1, times_in(ONE, "error_log", "error: This machine has no such counter\n"));
	EXPECT_STREQ("prio", read_line(ONE, "contexts"));
}

TEST_HARNESS_MAIN
