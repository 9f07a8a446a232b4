// SPDX-License-Identifier: GPL-2.0
/*
 * Latencies: which pairs of hits have one, what filters, triggers and histograms see of it, and
 * lines that are refused.
 *
 * Each round of etch-sample hits the event BEGIN, and then the event END, with its number. Tasks
 * that sleep are what the scheduler's events tell of.
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "sample.h"

#define ONE	ETCH "/instances/latency"
#define BEGIN	"events/" SAMPLE "/etch_sample_begin"
#define END	"events/" SAMPLE "/etch_sample_end"
#define SWITCH	"events/sched/sched_switch"
#define WAKING	"events/sched/sched_waking"
#define EXIT	"events/sched/sched_process_exit"
#define SLEEPER	"latency-sleeper"

static int fire(int rounds)
{
	return write_fmt(SAMPLE_PARAMETERS, "fire", "%d", rounds);
}

/* A task that sleeps so often, so many milliseconds each time. */
static void sleeper(int times, int ms)
{
	pid_t child = fork();

	if (!child) {
		prctl(PR_SET_NAME, SLEEPER);
		while (times--)
			usleep(ms * 1000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* A figure of a table; -1: there is no such table. */
static long long figure(const char *table, const char *name)
{
	char *text = read_file(ONE, "latency"), *line, *at, wanted[64];
	long long number = -1;

	snprintf(wanted, sizeof(wanted), "%s: ", table);
	line = text ? strstr(text, wanted) : NULL;
	snprintf(wanted, sizeof(wanted), " %s=", name);
	at = line ? strstr(line, wanted) : NULL;
	if (at)
		number = atoll(at + strlen(wanted));
	free(text);
	return number;
}

/* What the counts of a table have to add up to, while no hit is under way. */
static bool adds_up(const char *table)
{
	long long starts = figure(table, "pairs") + figure(table, "displaced") +
			   figure(table, "replaced") + figure(table, "now") +
			   figure(table, "busy_starts");
	long long ends = figure(table, "pairs") + figure(table, "missed") +
			 figure(table, "busy_ends");

	if (figure(table, "starts") == starts && figure(table, "ends") == ends)
		return true;
	printf("# starts %lld, ends %lld, but: %s\n", starts, ends, read_line(ONE, "latency"));
	return false;
}

static bool says(const char *file, const char *what)
{
	char *text = read_file(ONE, file);
	bool found = text && strstr(text, what);

	if (!found)
		printf("# %s does not say '%s', but:\n%s\n", file, what, text ?: "nothing");
	free(text);
	return found;
}

/* "Hits: " of the first histogram. */
static long long hits(const char *event)
{
	char *text = read_file(ONE, event);
	const char *at = text ? strstr(text, "    Hits: ") : NULL;
	long long number = at ? atoll(at + strlen("    Hits: ")) : -1;

	free(text);
	return number;
}

#define TRIGGER(event, text)	write_file(ONE, event "/trigger", text)

FIXTURE(latency) { };

FIXTURE_SETUP(latency)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!sample_path())
		SKIP(return, "%s", no_sample());
	ASSERT_EQ(0, sample_load());
	ASSERT_EQ(0, mkdir(ONE, 0700));
}

FIXTURE_TEARDOWN(latency)
{
	rmdir(ONE);
	sample_unload();
}

TEST_F(latency, pairs_hits_of_two_events)
{
	EXPECT_STREQ("", read_line(ONE, "latency"));
	ASSERT_EQ(0, TRIGGER(BEGIN, "start:step:key=round"));
	ASSERT_EQ(0, TRIGGER(END, "end:step:key=round"));
	EXPECT_STREQ("start:step:key=round", read_line(ONE, BEGIN "/trigger"));
	EXPECT_STREQ("end:step:key=round", read_line(ONE, END "/trigger"));
	ASSERT_EQ(0, fire(301));
	EXPECT_TRUE(says("latency", "step: starts=301 ends=301 pairs=301 displaced=0 replaced=0 "
			 "missed=0 busy_starts=0 busy_ends=0 now=0 max="));
	EXPECT_LT(0, figure("step", "max"));
	/* Neither event is recorded for that. */
	EXPECT_EQ(0, stat_sum(ONE, "written"));
	ASSERT_EQ(0, TRIGGER(BEGIN, "!start:step:key=round"));
	EXPECT_EQ(301, figure("step", "pairs"));
	ASSERT_EQ(0, TRIGGER(END, "!end:step:key=round"));
	EXPECT_STREQ("", read_line(ONE, "latency"));
}

TEST_F(latency, counts_what_is_no_pair)
{
	ASSERT_EQ(0, TRIGGER(BEGIN, "start:some:key=round if round & 1"));
	ASSERT_EQ(0, TRIGGER(END, "end:some:key=round if round >= 10"));
	ASSERT_EQ(0, fire(100));
	EXPECT_EQ(50, figure("some", "starts"));
	EXPECT_EQ(90, figure("some", "ends"));
	EXPECT_EQ(45, figure("some", "pairs"));
	EXPECT_EQ(45, figure("some", "missed"));
	EXPECT_EQ(5, figure("some", "now"));
	ASSERT_EQ(0, fire(10));
	EXPECT_EQ(5, figure("some", "replaced"));
	EXPECT_TRUE(adds_up("some"));
	ASSERT_EQ(0, write_file(ONE, "latency", "some"));
	EXPECT_EQ(0, figure("some", "starts") + figure("some", "now") + figure("some", "max"));
	ASSERT_EQ(0, fire(100));
	EXPECT_EQ(45, figure("some", "pairs"));
	ASSERT_EQ(0, write_file(ONE, "latency", "\n"));
	EXPECT_EQ(0, figure("some", "pairs"));
}

TEST_F(latency, of_more_keys_than_there_is_room_for_displaces)
{
	ASSERT_EQ(0, TRIGGER(BEGIN, "start:many:key=round"));
	ASSERT_EQ(0, fire(10000));
	EXPECT_EQ(10000, figure("many", "displaced") + figure("many", "now"));
	EXPECT_GE(4096, figure("many", "now"));
	EXPECT_TRUE(adds_up("many"));
}

/* Every comparison of a latency that is not there is false. */
TEST_F(latency, is_there_for_the_filter)
{
	static const struct {
		const char *filter;
		int recorded;
	} cases[] = {
		{ "latency >= 0", 50 },
		{ "latency != 98765432109876", 50 },
		{ "latency < 98765432109876", 50 },
		{ "latency > 98765432109876", 0 },
		{ "latency.max == 0 || latency.max == 1", 50 },
		{ "!(latency >= 0)", 51 },
		{ "cpu >= 0 && latency > 0 && round < 20", 10 },
	};

	ASSERT_EQ(0, TRIGGER(BEGIN, "start:step:key=round if round & 1"));
	ASSERT_EQ(0, TRIGGER(END, "end:step:key=round"));
	ASSERT_EQ(0, write_file(ONE, END "/enable", "1"));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		ASSERT_EQ(0, write_file(ONE, END "/filter", cases[i].filter));
		ASSERT_EQ(0, write_file(ONE, "trace", "\n"));
		ASSERT_EQ(0, fire(101));
		EXPECT_EQ(cases[i].recorded, stat_sum(ONE, "entries")) {
			printf("# %s\n", cases[i].filter);
		}
	}
	/* Without an end, there is none. */
	ASSERT_EQ(0, write_file(ONE, END "/filter", "latency >= 0"));
	ASSERT_EQ(0, TRIGGER(END, "!end:step:key=round"));
	ASSERT_EQ(0, write_file(ONE, "trace", "\n"));
	ASSERT_EQ(0, fire(101));
	EXPECT_EQ(0, stat_sum(ONE, "entries"));
	EXPECT_STREQ("latency >= 0", read_line(ONE, END "/filter"));
	ASSERT_EQ(0, TRIGGER(END, "end:step:key=round"));
	ASSERT_EQ(0, fire(101));
	EXPECT_EQ(50, stat_sum(ONE, "entries"));
}

/* A filter of all events reaches those that end something. */
TEST_F(latency, is_there_for_the_filter_of_a_folder)
{
	EXPECT_EQ(EINVAL, write_file(ONE, "events/" SAMPLE "/filter", "latency > 5"));
	ASSERT_EQ(0, TRIGGER(END, "end:step:key=round"));
	ASSERT_EQ(0, write_file(ONE, "events/" SAMPLE "/filter", "latency > 5"));
	EXPECT_STREQ("latency > 5", read_line(ONE, END "/filter"));
	EXPECT_STREQ("none", read_line(ONE, BEGIN "/filter"));
}

/* The end is evaluated first, whatever the order in which the lines were written. */
TEST_F(latency, is_there_for_triggers)
{
	ASSERT_EQ(0, TRIGGER(END, "hist:keys=result"));
	ASSERT_EQ(0, TRIGGER(BEGIN, "start:step:key=round if round & 1"));
	ASSERT_EQ(0, TRIGGER(END, "end:step:key=round"));
	ASSERT_EQ(0, TRIGGER(END, "traceon if latency > 98765432109876"));
	ASSERT_EQ(0, TRIGGER(END, "hist:keys=round if latency >= 0"));
	ASSERT_EQ(0, TRIGGER(END, "!hist:keys=result"));
	ASSERT_EQ(0, fire(101));
	EXPECT_EQ(50, hits(END "/hist"));
	EXPECT_STREQ("1", read_line(ONE, "tracing_on"));
	ASSERT_EQ(0, TRIGGER(END, "!traceon"));
	ASSERT_EQ(0, TRIGGER(END, "traceoff if latency.max == 1"));
	ASSERT_EQ(0, write_file(ONE, "latency", "step"));
	ASSERT_EQ(0, fire(2));
	EXPECT_STREQ("0", read_line(ONE, "tracing_on"));
}

TEST_F(latency, is_counted_by_and_added_up)
{
	ASSERT_EQ(0, TRIGGER(BEGIN, "start:step:key=round if round & 1"));
	ASSERT_EQ(0, TRIGGER(END, "end:step:key=round"));
	ASSERT_EQ(0, TRIGGER(END, "hist:keys=latency.log2:sort=latency"));
	ASSERT_EQ(0, fire(101));
	EXPECT_TRUE(says(END "/hist", "{ latency: ~ 2^"));
	EXPECT_EQ(50, hits(END "/hist"));
	ASSERT_EQ(0, TRIGGER(END, "!hist:keys=latency.log2:sort=latency"));
	ASSERT_EQ(0, TRIGGER(END, "hist:keys=round:vals=latency:sort=latency.descending"));
	ASSERT_EQ(0, fire(6));
	EXPECT_EQ(3, hits(END "/hist"));
	EXPECT_TRUE(says(END "/hist", "  latency: "));
	ASSERT_EQ(0, TRIGGER(END, "!hist:keys=round:vals=latency:sort=latency.descending"));
	ASSERT_EQ(0, TRIGGER(END, "hist:keys=latency.max:sort=latency.max.descending"));
	ASSERT_EQ(0, write_file(ONE, "latency", "\n"));
	ASSERT_EQ(0, fire(2));
	EXPECT_TRUE(says(END "/hist", "{ latency.max:          1 } hitcount:          1\n"));
	/* Without an end it counts nothing, and can be taken away. */
	ASSERT_EQ(0, TRIGGER(END, "!end:step:key=round"));
	ASSERT_EQ(0, fire(20));
	EXPECT_EQ(1, hits(END "/hist"));
	EXPECT_EQ(EINVAL, TRIGGER(END, "hist:keys=latency"));
	ASSERT_EQ(0, TRIGGER(END, "!hist:keys=latency.max:sort=latency.max.descending"));
}

/* Instances do not see each other's. */
TEST_F(latency, belongs_to_the_instance)
{
	ASSERT_EQ(0, mkdir(ONE "_two", 0700));
	ASSERT_EQ(0, TRIGGER(BEGIN, "start:step:key=round"));
	ASSERT_EQ(0, TRIGGER(END, "end:step:key=round"));
	EXPECT_EQ(EINVAL, write_file(ONE "_two", END "/filter", "latency > 0"));
	ASSERT_EQ(0, write_file(ONE "_two", END "/trigger", "end:step:key=round"));
	ASSERT_EQ(0, write_file(ONE "_two", END "/filter", "latency >= 0"));
	ASSERT_EQ(0, write_file(ONE "_two", END "/enable", "1"));
	ASSERT_EQ(0, write_file(ONE, END "/filter", "latency >= 0"));
	ASSERT_EQ(0, write_file(ONE, END "/enable", "1"));
	ASSERT_EQ(0, fire(20));
	EXPECT_EQ(20, stat_sum(ONE, "entries"));
	EXPECT_EQ(0, stat_sum(ONE "_two", "entries"));
	EXPECT_EQ(0, rmdir(ONE "_two"));
	EXPECT_EQ(20, figure("step", "pairs"));
}

/* traceon is done before the record is stored, as the end is, and was written before it. */
TEST_F(latency, is_there_for_triggers_that_come_early)
{
	ASSERT_EQ(0, TRIGGER(BEGIN, "start:step:key=round"));
	ASSERT_EQ(0, TRIGGER(END, "end:step:key=round"));
	ASSERT_EQ(0, TRIGGER(END, "traceon if latency >= 0"));
	ASSERT_EQ(0, TRIGGER(END, "!end:step:key=round"));
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "0"));
	ASSERT_EQ(0, fire(10));
	EXPECT_STREQ("0", read_line(ONE, "tracing_on"));
	ASSERT_EQ(0, TRIGGER(END, "end:step:key=round"));
	ASSERT_EQ(0, fire(10));
	EXPECT_STREQ("1", read_line(ONE, "tracing_on"));
}

/* From when a task begins to sleep until it runs: one event is the start and the end. */
TEST_F(latency, of_sleeps_is_their_length)
{
	ASSERT_EQ(0, TRIGGER(SWITCH, "start:sleep:key=prev_pid"));
	ASSERT_EQ(0, TRIGGER(SWITCH, "end:sleep:key=next_pid"));
	ASSERT_EQ(0, write_file(ONE, SWITCH "/filter",
				"latency > 100000000 && next_comm == \"" SLEEPER "\""));
	ASSERT_EQ(0, write_file(ONE, SWITCH "/enable", "1"));
	sleeper(20, 1);
	EXPECT_EQ(0, stat_sum(ONE, "entries"));
	ASSERT_EQ(0, TRIGGER(SWITCH, "traceoff if latency > 300000000 && next_comm == \""
			     SLEEPER "\""));
	sleeper(2, 150);
	EXPECT_EQ(2, stat_sum(ONE, "entries"));
	EXPECT_STREQ("1", read_line(ONE, "tracing_on"));
	sleeper(1, 400);
	EXPECT_STREQ("0", read_line(ONE, "tracing_on"));
	EXPECT_LE(400000000, figure("sleep", "max"));
}

/* The two events may be hit on different CPUs. A third trigger keeps the table. */
TEST_F(latency, of_wakeups_adds_up)
{
	ASSERT_EQ(0, TRIGGER(EXIT, "start:wakeup:key=common_pid if cpu < 0"));
	ASSERT_EQ(0, TRIGGER(WAKING, "start:wakeup:key=pid"));
	ASSERT_EQ(0, TRIGGER(SWITCH, "end:wakeup:key=next_pid"));
	ASSERT_EQ(0, TRIGGER(SWITCH, "hist:keys=latency.log2 if next_comm == \"" SLEEPER "\""));
	sleeper(50, 2);
	ASSERT_EQ(0, TRIGGER(WAKING, "!start:wakeup:key=pid"));
	ASSERT_EQ(0, TRIGGER(SWITCH, "!end:wakeup:key=next_pid"));
	EXPECT_LE(50, figure("wakeup", "pairs"));
	EXPECT_LE(50, hits(SWITCH "/hist"));
	EXPECT_LT(0, figure("wakeup", "max"));
	EXPECT_TRUE(adds_up("wakeup"));
}

TEST_F(latency, a_bad_line_changes_nothing_and_is_explained)
{
	static const struct {
		const char *text, *why;
		int caret;
	} bad[] = {
		{ "end", "A name and a key are missing: end:NAME:key=FIELD", 3 },
		{ "end:", "Nothing stands behind the colon", 4 },
		{ "start:a-b:key=round", "A name has letters, digits and _ only", 7 },
		{ "end::key=round", "A name has 1 to 31 characters", 4 },
		{ "end:step", "The key is missing: end:step:key=FIELD", 8 },
		{ "end:step:round", "The key is missing: end:step:key=FIELD", 9 },
		{ "end:step:key=", "The name of a field is missing here", 13 },
		{ "end:step:key=nothing", "The event has no such field", 13 },
		{ "end:step:key=comm", "This field is no number", 13 },
		{ "end:step:key=round.log2", "Only the name of a field can stand here", 13 },
		{ "end:step:key=round:5", "This belongs to no field's name", 18 },
		{ "end:step:key=round if latency > 5", "The event ends no latency: write end:", 22 },
		{ "traceoff if round > 5 && latency > 5", "The event ends no latency: write", 25 },
		{ "hist:keys=latency", "The event ends no latency: write end:NAME:key=FIELD", 10 },
	};
	char wanted[200], *log;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		EXPECT_EQ(EINVAL, write_file(ONE, END "/trigger", bad[i].text));
		log = read_file(ONE, "error_log");
		ASSERT_NE(NULL, log);
		EXPECT_NE(NULL, strstr(log, bad[i].why));
		snprintf(wanted, sizeof(wanted), "  Command: %s\n%*s^\n", bad[i].text,
			 bad[i].caret + (int)strlen("  Command: "), "");
		EXPECT_NE(NULL, strstr(log, wanted)) {
			printf("# no\n%sin\n%s", wanted, log);
		}
		free(log);
	}
	EXPECT_STREQ("", read_line(ONE, "latency"));
	EXPECT_EQ(EINVAL, write_file(ONE, "latency", "step"));
	EXPECT_TRUE(says("error_log", "No trigger names this"));
}

TEST_F(latency, an_event_has_one_end)
{
	ASSERT_EQ(0, TRIGGER(END, "end:step:key=round"));
	EXPECT_EQ(EEXIST, TRIGGER(END, "end:step:key=round"));
	EXPECT_EQ(EEXIST, TRIGGER(END, "end:other:key=result"));
	EXPECT_TRUE(says("error_log", "The event has an end already, of step: take that away"));
	EXPECT_EQ(-1, figure("other", "starts"));
	EXPECT_EQ(ENOENT, TRIGGER(END, "!end:other:key=result"));
	EXPECT_EQ(ENOENT, TRIGGER(END, "!start:step:key=round"));
	ASSERT_EQ(0, TRIGGER(END, "start:step:key=round"));
	ASSERT_EQ(0, TRIGGER(END, "start:other:key=result"));
	ASSERT_EQ(0, TRIGGER(END, "!end:step:key=round"));
	ASSERT_EQ(0, TRIGGER(END, "end:other:key=result"));
	EXPECT_EQ(EINVAL, write_file(ONE, END "/filter", "latency.min > 0"));
	EXPECT_TRUE(says("error_log", "Only .max can follow"));
	EXPECT_EQ(0, rmdir(ONE));
	ASSERT_EQ(0, fire(3));
}

TEST_HARNESS_MAIN
