// SPDX-License-Identifier: GPL-2.0
/*
 * Whose events an instance records: set_event_pid, set_event_notrace_pid, options/event-fork.
 */
#include <sys/wait.h>

#include "etch_test.h"

#define INSTANCE	ETCH "/instances/tasks"
#define EXIT		"events/sched/sched_process_exit"
#define SWITCH		"events/sched/sched_switch"

/* A child that waits for a byte, and ends. */
struct child {
	pid_t pid;
	int go;
};

static struct child child_new(void)
{
	struct child child;
	int ends[2];
	char byte;

	if (pipe(ends))
		exit(KSFT_FAIL);
	child.go = ends[1];
	child.pid = fork();
	if (!child.pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) < 0)
			_exit(1);
		/* A child of its own, which ends before it. */
		if (!fork())
			_exit(0);
		wait(NULL);
		_exit(0);
	}
	close(ends[0]);
	return child;
}

static void child_end(struct child child)
{
	if (write(child.go, "x", 1) != 1)
		exit(KSFT_FAIL);
	close(child.go);
	waitpid(child.pid, NULL, 0);
}

static void write_pid(const char *file, pid_t pid, bool append)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	if (append ? write_file(INSTANCE, file, text) : overwrite_file(INSTANCE, file, text))
		ksft_exit_fail_msg("%s: %s\n", file, strerror(errno));
}

static int lines_with(const char *word)
{
	char *text = read_file(INSTANCE, "trace"), *line, *rest = text;
	int nr = 0;

	while ((line = strsep(&rest, "\n")))
		nr += line[0] != '#' && strstr(line, word);
	free(text);
	return nr;
}

FIXTURE(tasks) { };

FIXTURE_SETUP(tasks)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
}

FIXTURE_TEARDOWN(tasks)
{
	rmdir(INSTANCE);
}

/* The child, and not its own child; others are counted. */
TEST_F(tasks, only_those_that_are_named)
{
	struct child one = child_new(), other = child_new();

	write_pid("set_event_pid", one.pid, false);
	ASSERT_EQ(0, write_file(INSTANCE, EXIT "/enable", "1"));
	child_end(one);
	child_end(other);
	ASSERT_EQ(0, write_file(INSTANCE, EXIT "/enable", "0"));
	EXPECT_EQ(1, stat_sum(INSTANCE, "written"));
	EXPECT_LE(3, stat_sum(INSTANCE, "filtered"));
	EXPECT_EQ(0, lost_sum(INSTANCE));
}

TEST_F(tasks, all_but_those_that_are_named)
{
	struct child one = child_new(), other = child_new();
	char word[32];

	write_pid("set_event_notrace_pid", one.pid, false);
	ASSERT_EQ(0, write_file(INSTANCE, EXIT "/enable", "1"));
	child_end(one);
	child_end(other);
	ASSERT_EQ(0, write_file(INSTANCE, EXIT "/enable", "0"));
	EXPECT_LE(3, stat_sum(INSTANCE, "written"));
	EXPECT_LE(1, stat_sum(INSTANCE, "filtered"));
	snprintf(word, sizeof(word), "-%d ", one.pid);
	EXPECT_EQ(0, lines_with(word));
}

TEST_F(tasks, forks_are_followed_and_ends_forgotten)
{
	struct child one = child_new();

	EXPECT_STREQ("0", read_line(INSTANCE, "options/event-fork"));
	ASSERT_EQ(0, write_file(INSTANCE, "options/event-fork", "1"));
	write_pid("set_event_pid", one.pid, false);
	ASSERT_EQ(0, write_file(INSTANCE, EXIT "/enable", "1"));
	child_end(one);
	ASSERT_EQ(0, write_file(INSTANCE, EXIT "/enable", "0"));
	EXPECT_EQ(2, stat_sum(INSTANCE, "written"));
	/* A task is freed a while after it has ended. */
	for (int i = 0; i < 100 && strlen(read_line(INSTANCE, "set_event_pid")); i++)
		usleep(100000);
	EXPECT_STREQ("", read_line(INSTANCE, "set_event_pid"));
	ASSERT_EQ(0, write_file(INSTANCE, "options/event-fork", "0"));
}

/* A switch to the task and one from it. */
TEST_F(tasks, switches_match_by_either_task)
{
	struct child one = child_new();
	char from[32], to[32];
	int all, some;

	write_pid("set_event_pid", one.pid, false);
	ASSERT_EQ(0, write_file(INSTANCE, SWITCH "/enable", "1"));
	child_end(one);
	ASSERT_EQ(0, write_file(INSTANCE, SWITCH "/enable", "0"));
	snprintf(from, sizeof(from), "prev_pid=%d ", one.pid);
	snprintf(to, sizeof(to), "next_pid=%d ", one.pid);
	some = lines_with(from) + lines_with(to);
	all = lines_with("sched_switch:");
	EXPECT_LT(0, lines_with(from));
	EXPECT_LT(0, lines_with(to));
	EXPECT_EQ(all, some);
}

TEST_F(tasks, the_set_is_replaced_extended_and_emptied)
{
	write_pid("set_event_pid", 2, false);
	EXPECT_STREQ("2", read_line(INSTANCE, "set_event_pid"));
	write_pid("set_event_pid", 1, true);
	EXPECT_STREQ("1", read_line(INSTANCE, "set_event_pid"));
	EXPECT_EQ(EINVAL, overwrite_file(INSTANCE, "set_event_pid", "3 nobody"));
	EXPECT_STREQ("1", read_line(INSTANCE, "set_event_pid"));
	write_pid("set_event_pid", 4, false);
	EXPECT_STREQ("4", read_line(INSTANCE, "set_event_pid"));
	ASSERT_EQ(0, overwrite_file(INSTANCE, "set_event_pid", "\n"));
	EXPECT_STREQ("", read_line(INSTANCE, "set_event_pid"));
}

TEST_HARNESS_MAIN
