// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms: what they count of the events of etch-sample, whose hits are known, and what
 * their files say.
 */
#include <sys/prctl.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "sample.h"

#define ONE	ETCH "/instances/hist_one"
#define END	"events/" SAMPLE "/etch_sample_end"
#define GREET	"events/" SAMPLE "/etch_sample_greet"

static int fire(int rounds)
{
	return write_fmt(SAMPLE_PARAMETERS, "fire", "%d", rounds);
}

/* "Hits: " and its like, of the first histogram. */
static long long total(const char *event, const char *what)
{
	char name[32], *text = read_file(ONE, event);
	long long number;
	const char *at;

	snprintf(name, sizeof(name), "    %s: ", what);
	at = text ? strstr(text, name) : NULL;
	number = at ? atoll(at + strlen(name)) : -1;
	free(text);
	return number;
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

/* A new histogram, beside those that are there. */
#define HIST(event, text)	write_file(ONE, event "/trigger", text)

FIXTURE(hist) { };

FIXTURE_SETUP(hist)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!sample_path())
		SKIP(return, "%s", no_sample());
	ASSERT_EQ(0, sample_load());
	ASSERT_EQ(0, mkdir(ONE, 0700));
}

FIXTURE_TEARDOWN(hist)
{
	rmdir(ONE);
	sample_unload();
}

TEST_F(hist, counts_each_value_of_a_key)
{
	ASSERT_EQ(0, HIST(END, "hist:keys=result"));
	ASSERT_EQ(0, fire(301));
	EXPECT_TRUE(says(END "/hist", "# event histogram\n#\n# trigger info: "
			 "hist:keys=result:vals=hitcount:sort=hitcount:size=2048 [active]\n"));
	EXPECT_TRUE(says(END "/hist",
			 "{ result:          1 } hitcount:        100\n"
			 "{ result:          2 } hitcount:        100\n"
			 "{ result:          0 } hitcount:        101\n"
			 "\nTotals:\n    Hits: 301\n    Entries: 3\n    Dropped: 0\n"));
	/* The event is not recorded for that. */
	EXPECT_EQ(0, stat_sum(ONE, "written"));
	EXPECT_STREQ("0", read_line(ONE, END "/enable"));
}

TEST_F(hist, adds_values_up_and_sorts)
{
	ASSERT_EQ(0, HIST(END, "hist:keys=result:vals=round,result.hex:sort=round.descending"));
	ASSERT_EQ(0, fire(10));
	EXPECT_TRUE(says(END "/hist",
			 "{ result:          0 } hitcount:          4  round:         18  result:          0\n"
			 "{ result:          2 } hitcount:          3  round:         15  result:          6\n"
			 "{ result:          1 } hitcount:          3  round:         12  result:          3\n"));
}

TEST_F(hist, counts_powers_and_ranges)
{
	ASSERT_EQ(0, HIST(END, "hist:keys=round.log2:sort=round"));
	ASSERT_EQ(0, HIST(END, "hist:keys=round.buckets=10:sort=round:vals=hitcount.percent"));
	ASSERT_EQ(0, fire(20));
	EXPECT_TRUE(says(END "/hist", "{ round: ~ 2^0  } hitcount:          2\n"
			 "{ round: ~ 2^1  } hitcount:          1\n"
			 "{ round: ~ 2^2  } hitcount:          2\n"
			 "{ round: ~ 2^3  } hitcount:          4\n"
			 "{ round: ~ 2^4  } hitcount:          8\n"
			 "{ round: ~ 2^5  } hitcount:          3\n"));
	EXPECT_TRUE(says(END "/hist",
			 "{ round: ~ 0-9 } hitcount:         10  hitcount (%):  50.00\n"
			 "{ round: ~ 10-19 } hitcount:         10  hitcount (%):  50.00\n"));
}

TEST_F(hist, counts_by_text_and_by_several_keys)
{
	ASSERT_EQ(0, HIST(GREET, "hist:keys=name,digest[0]:sort=name,digest[0]"));
	ASSERT_EQ(0, fire(8));
	EXPECT_EQ(8, total(GREET "/hist", "Hits"));
	EXPECT_EQ(8, total(GREET "/hist", "Entries"));
	EXPECT_TRUE(says(GREET "/hist", "{ name: Ada                     "
			 "                          , digest[0]:          1 } hitcount:          1\n"
			 "{ name: Ada                                               , digest[0]:"));
}

TEST_F(hist, counts_by_the_task)
{
	char wanted[100];
	pid_t child;

	ASSERT_EQ(0, HIST(END, "hist:keys=common_pid.execname"));
	ASSERT_EQ(0, HIST(END, "hist:keys=comm,cpu"));
	child = fork();
	if (!child) {
		prctl(PR_SET_NAME, "hist-child");
		_exit(fire(5));
	}
	waitpid(child, NULL, 0);
	snprintf(wanted, sizeof(wanted), "{ common_pid: %-16s[%10d] } hitcount:          5\n",
		 "hist-child", child);
	EXPECT_TRUE(says(END "/hist", wanted));
	EXPECT_TRUE(says(END "/hist", "{ comm: hist-child "));
}

TEST_F(hist, counts_by_the_stack)
{
	int ret = HIST(END, "hist:keys=common_stacktrace,result");

	if (ret == EINVAL && says("error_log", "This kernel has no stack traces"))
		SKIP(return, "no stack traces: CONFIG_STACKTRACE");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, fire(30));
	EXPECT_EQ(30, total(END "/hist", "Hits"));
	EXPECT_EQ(3, total(END "/hist", "Entries"));
	EXPECT_TRUE(says(END "/hist", "{ common_stacktrace:\n         fire_"));
}

/* No memory is taken later, so what does not fit is counted. */
TEST_F(hist, of_too_small_a_size_counts_what_it_drops)
{
	ASSERT_EQ(0, HIST(END, "hist:keys=round:size=128"));
	ASSERT_EQ(0, fire(1000));
	EXPECT_LT(0, total(END "/hist", "Dropped"));
	EXPECT_GE(128 * nr_cpus(), total(END "/hist", "Entries"));
	EXPECT_EQ(1000, total(END "/hist", "Hits") + total(END "/hist", "Dropped"));
}

TEST_F(hist, pauses_goes_on_and_is_cleared)
{
	ASSERT_EQ(0, HIST(END, "hist:keys=result:pause"));
	ASSERT_EQ(0, fire(10));
	EXPECT_EQ(0, total(END "/hist", "Hits"));
	EXPECT_TRUE(says(END "/hist", " [paused]\n"));
	ASSERT_EQ(0, HIST(END, "hist:keys=result:cont"));
	ASSERT_EQ(0, fire(10));
	EXPECT_EQ(10, total(END "/hist", "Hits"));
	EXPECT_TRUE(says(END "/hist", " [active]\n"));
	ASSERT_EQ(0, HIST(END, "hist:keys=result:pause"));
	ASSERT_EQ(0, fire(10));
	EXPECT_EQ(10, total(END "/hist", "Hits"));
	ASSERT_EQ(0, HIST(END, "hist:keys=result:continue"));
	ASSERT_EQ(0, HIST(END, "hist:keys=result:clear"));
	EXPECT_EQ(0, total(END "/hist", "Hits"));
	EXPECT_EQ(0, total(END "/hist", "Entries"));
	ASSERT_EQ(0, fire(7));
	EXPECT_EQ(7, total(END "/hist", "Hits"));
	EXPECT_EQ(EEXIST, HIST(END, "hist:keys=result"));
	EXPECT_EQ(ENOENT, HIST(END, "hist:keys=round:clear"));
	EXPECT_EQ(7, total(END "/hist", "Hits"));
}

TEST_F(hist, counts_what_passes_its_filter)
{
	ASSERT_EQ(0, HIST(END, "hist:keys=result if round >= 100 && result != 1"));
	ASSERT_EQ(0, fire(160));
	EXPECT_TRUE(says(END "/hist", "size=2048 if round >= 100 && result != 1 [active]\n"));
	EXPECT_EQ(40, total(END "/hist", "Hits"));
	EXPECT_EQ(2, total(END "/hist", "Entries"));
}

/* An event's own histograms, of other keys, stand one behind the other. One is taken away. */
TEST_F(hist, is_one_of_several_and_taken_away)
{
	ASSERT_EQ(0, HIST(END, "hist:keys=result"));
	ASSERT_EQ(0, HIST(END, "hist:keys=round"));
	ASSERT_EQ(0, fire(10));
	EXPECT_TRUE(says(END "/hist", "Entries: 3\n"));
	EXPECT_TRUE(says(END "/hist", "Entries: 10\n"));
	EXPECT_TRUE(says(END "/trigger", "hist:keys=result:vals=hitcount"));
	EXPECT_TRUE(says(END "/trigger", "KiB of memory for each of"));
	ASSERT_EQ(0, HIST(END, "!hist:keys=result"));
	EXPECT_EQ(10, total(END "/hist", "Entries"));
	EXPECT_NE(0, HIST(END, "!hist:keys=result"));
	ASSERT_EQ(0, HIST(END, "!hist:keys=round"));
	EXPECT_EQ(-1, total(END "/hist", "Hits"));
}

TEST_F(hist, of_a_name_is_shared)
{
	ASSERT_EQ(0, HIST(END, "hist:name=both:keys=round"));
	ASSERT_EQ(0, HIST(GREET, "hist:name=both:keys=round"));
	EXPECT_EQ(EINVAL, HIST(GREET, "hist:name=both:keys=name"));
	ASSERT_EQ(0, fire(10));
	EXPECT_EQ(20, total(END "/hist", "Hits"));
	EXPECT_EQ(10, total(GREET "/hist", "Entries"));
	ASSERT_EQ(0, HIST(END, "!hist:name=both:keys=round"));
	ASSERT_EQ(0, fire(10));
	EXPECT_EQ(30, total(GREET "/hist", "Hits"));
}

/* Hits on all CPUs at once; on each they are counted without the others. */
TEST_F(hist, counts_exactly_on_all_cpus)
{
	int cpus = nr_cpus(), cpu, status;

	ASSERT_EQ(0, HIST(END, "hist:keys=round:vals=round"));
	for (cpu = 0; cpu < cpus; cpu++) {
		if (fork())
			continue;
		run_on(cpu);
		_exit(fire(500));
	}
	for (cpu = 0; cpu < cpus; cpu++) {
		ASSERT_LT(0, wait(&status));
		EXPECT_EQ(0, status);
	}
	EXPECT_EQ(500 * cpus, total(END "/hist", "Hits"));
	EXPECT_EQ(500, total(END "/hist", "Entries"));
	EXPECT_EQ(0, total(END "/hist", "Dropped"));
}

TEST_F(hist, counts_while_the_event_is_recorded_too)
{
	ASSERT_EQ(0, HIST(END, "hist:keys=result"));
	ASSERT_EQ(0, write_file(ONE, END "/filter", "result == 2"));
	ASSERT_EQ(0, write_file(ONE, END "/enable", "1"));
	ASSERT_EQ(0, fire(30));
	EXPECT_EQ(10, stat_sum(ONE, "written"));
	EXPECT_EQ(30, total(END "/hist", "Hits"));
}

TEST_F(hist, goes_with_its_event_and_with_its_instance)
{
	ASSERT_EQ(0, HIST(END, "hist:keys=result"));
	ASSERT_EQ(0, fire(3));
	ASSERT_EQ(0, sample_unload());
	EXPECT_EQ(ENOENT, HIST(END, "hist:keys=result"));
	ASSERT_EQ(0, sample_load());
	EXPECT_EQ(-1, total(END "/hist", "Hits"));
	ASSERT_EQ(0, HIST(END, "hist:keys=result"));
	ASSERT_EQ(0, HIST(END, "hist:keys=round:pause"));
	EXPECT_EQ(0, rmdir(ONE));
	ASSERT_EQ(0, fire(3));
}

TEST_F(hist, a_bad_one_changes_nothing_and_is_explained)
{
	static const struct {
		const char *text, *why;
		int caret;
	} bad[] = {
		{ "hist:keys=nothing", "The event has no such field", 10 },
		{ "hist:keys=result:vals=round:sort=round.up", "The order is .ascending", 39 },
		{ "hist:keys=result:ts0=round", "there are no variables", 17 },
		{ "hist:keys=result.usecs", "There is no such modifier", 17 },
		{ "hist:keys=result:size=9", "A histogram's size is a number from 128 to", 22 },
		{ "hist:keys=result:vals=comm", "Only numbers can be added up", 22 },
		{ "hist:vals=result", "Name what to count by: keys=FIELD", 5 },
	};
	char wanted[200], *log;
	unsigned int i;

	ASSERT_EQ(0, HIST(END, "hist:keys=result"));
	for (i = 0; i < ARRAY_LEN(bad); i++) {
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
	ASSERT_EQ(0, fire(5));
	EXPECT_EQ(5, total(END "/hist", "Hits"));
}

TEST_HARNESS_MAIN
