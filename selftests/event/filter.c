// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of events: what an instance records, what it counts as filtered, and bad filters.
 */
#include "etch_test.h"

#define ONE	ETCH "/instances/filter_one"
#define TWO	ETCH "/instances/filter_two"
#define EXIT	"events/sched/sched_process_exit"

FIXTURE(filter) { };

FIXTURE_SETUP(filter)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	ASSERT_EQ(0, mkdir(ONE, 0700));
	ASSERT_EQ(0, mkdir(TWO, 0700));
}

FIXTURE_TEARDOWN(filter)
{
	rmdir(ONE);
	rmdir(TWO);
}

TEST_F(filter, what_does_not_pass_is_counted_and_not_recorded)
{
	EXPECT_STREQ("none", read_line(ONE, EXIT "/filter"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "comm == \"filter-wanted\""));
	EXPECT_STREQ("comm == \"filter-wanted\"", read_line(ONE, EXIT "/filter"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "1"));
	run_tasks("filter-wanted", 10);
	run_tasks("filter-other", 20);
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "0"));
	EXPECT_EQ(10, stat_sum(ONE, "written"));
	EXPECT_LE(20, stat_sum(ONE, "filtered"));
	EXPECT_EQ(0, lost_sum(ONE));
}

/* One event, two instances with filters of their own, and one without. */
TEST_F(filter, each_instance_has_its_own)
{
	ASSERT_EQ(0, mkdir(ETCH "/instances/filter_all", 0700));
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "comm ~ 'filter-o*'"));
	ASSERT_EQ(0, write_file(TWO, EXIT "/filter", "comm ~ 'filter-t*' && prio > 0"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "1"));
	ASSERT_EQ(0, write_file(TWO, EXIT "/enable", "1"));
	ASSERT_EQ(0, write_file(ETCH "/instances/filter_all", EXIT "/enable", "1"));
	run_tasks("filter-one", 10);
	run_tasks("filter-two", 20);
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "0"));
	ASSERT_EQ(0, write_file(TWO, EXIT "/enable", "0"));
	ASSERT_EQ(0, write_file(ETCH "/instances/filter_all", EXIT "/enable", "0"));
	EXPECT_EQ(10, stat_sum(ONE, "written"));
	EXPECT_EQ(20, stat_sum(TWO, "written"));
	EXPECT_LE(30, stat_sum(ETCH "/instances/filter_all", "written"));
	EXPECT_EQ(0, stat_sum(ETCH "/instances/filter_all", "filtered"));
	EXPECT_EQ(0, rmdir(ETCH "/instances/filter_all"));
}

TEST_F(filter, one_is_exchanged_and_taken_away_while_the_event_is_on)
{
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "1"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "comm == 'filter-nobody'"));
	ASSERT_EQ(0, overwrite_file(ONE, "trace", "\n"));
	run_tasks("filter-one", 10);
	EXPECT_EQ(0, stat_sum(ONE, "written"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "comm == 'filter-one'"));
	run_tasks("filter-one", 10);
	EXPECT_EQ(10, stat_sum(ONE, "written"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "0"));
	EXPECT_STREQ("none", read_line(ONE, EXIT "/filter"));
	run_tasks("filter-two", 10);
	EXPECT_LE(20, stat_sum(ONE, "written"));
}

TEST_F(filter, a_bad_one_changes_nothing_and_is_explained)
{
	char *log;

	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "prio > 0"));
	EXPECT_EQ(EINVAL, write_file(ONE, EXIT "/filter", "prio > 0 && nothing == 1"));
	EXPECT_STREQ("prio > 0", read_line(ONE, EXIT "/filter"));
	log = read_file(ONE, "error_log");
	ASSERT_NE(NULL, log);
	EXPECT_NE(NULL, strstr(log, EXIT "/filter: error: The event has no such field"));
	EXPECT_NE(NULL, strstr(log, "\n                       ^\n"));
	free(log);
}

/* Events without the field keep what they have. */
TEST_F(filter, a_system_s_is_set_where_it_can_be)
{
	ASSERT_EQ(0, write_file(ONE, "events/sched/filter", "prev_prio > 0"));
	EXPECT_STREQ("prev_prio > 0", read_line(ONE, "events/sched/sched_switch/filter"));
	EXPECT_STREQ("none", read_line(ONE, EXIT "/filter"));
	EXPECT_EQ(EINVAL, write_file(ONE, "events/sched/filter", "nothing > 0"));
	ASSERT_EQ(0, write_file(ONE, "events/sched/filter", "0"));
	EXPECT_STREQ("none", read_line(ONE, "events/sched/sched_switch/filter"));
}

static int nr_machine_code(void)
{
	char *symbols = read_path("/proc/kallsyms", NULL), *at;
	int nr = 0;

	for (at = symbols; at && (at = strstr(at, "_etch_filter\t[bpf]")); at++)
		nr++;
	free(symbols);
	return nr;
}

/* It is among the kernel's symbols as long as a filter is it. */
TEST_F(filter, two_comparisons_are_machine_code)
{
	char *jit = read_path("/proc/sys/net/core/bpf_jit_enable", NULL);
	bool none = !jit || atoi(jit) == 0;

	free(jit);
	if (none)
		SKIP(return, "BPF has no JIT here, or it is off");
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "prio > 0"));
	EXPECT_EQ(0, nr_machine_code());
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "prio > 0 && pid > 0"));
	EXPECT_EQ(1, nr_machine_code());
	ASSERT_EQ(0, write_file(ONE, EXIT "/enable", "1"));
	run_tasks("filter-one", 10);
	EXPECT_LE(10, stat_sum(ONE, "written"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "prio < 0 && pid > 0"));
	EXPECT_EQ(1, nr_machine_code());
	ASSERT_EQ(0, overwrite_file(ONE, "trace", "\n"));
	run_tasks("filter-one", 10);
	EXPECT_EQ(0, stat_sum(ONE, "written"));
	ASSERT_EQ(0, write_file(ONE, EXIT "/filter", "0"));
	EXPECT_EQ(0, nr_machine_code());
}

TEST_HARNESS_MAIN
