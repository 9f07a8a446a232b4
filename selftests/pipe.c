// SPDX-License-Identifier: GPL-2.0
/*
 * trace_pipe takes what it shows, waits for more and ends when there will be
 * none; trace shows what is there, and leaves it.
 */

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "text.h"

#define TREE	ETCH "/instances/etch-pipe"

static void mark(const char *text)
{
	write_file(TREE, "trace_marker", text);
}

static int open_pipe(int flags)
{
	return open(TREE "/trace_pipe", O_RDONLY | O_CLOEXEC | flags);
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

struct later {
	pthread_t thread;
	void (*what)(void);
};

static void *do_later(void *arg)
{
	usleep(300000);
	((struct later *)arg)->what();
	return NULL;
}

static void mark_later(void)
{
	mark("at last");
}

static void stop_later(void)
{
	write_file(TREE, "tracing_on", "0");
}

static void start_later(struct later *later, void (*what)(void))
{
	later->what = what;
	pthread_create(&later->thread, NULL, do_later, later);
}

FIXTURE(pipe) {
	struct later later;
	char buf[8192];
};

FIXTURE_SETUP(pipe)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	memset(self, 0, sizeof(*self));
	rmdir(TREE);
	ASSERT_EQ(0, mkdir(TREE, 0700));
}

FIXTURE_TEARDOWN(pipe)
{
	EXPECT_EQ(0, rmdir(TREE));
}

TEST_F(pipe, takes_what_it_shows)
{
	int fd = open_pipe(O_NONBLOCK);
	ssize_t n;

	mark("once");
	n = read(fd, self->buf, sizeof(self->buf) - 1);
	ASSERT_LT(0, n);
	EXPECT_NE(NULL, strstr(self->buf, ": tracing_mark_write: once\n"));
	EXPECT_EQ(1, count_lines(self->buf));
	EXPECT_EQ(0, stat_sum(TREE, "entries"));
	EXPECT_EQ(1, stat_sum(TREE, "read"));
	EXPECT_EQ(-1, read(fd, self->buf, sizeof(self->buf)));
	EXPECT_EQ(EAGAIN, errno);
	close(fd);
}

TEST_F(pipe, does_not_wait_if_told_so)
{
	int fd = open_pipe(O_NONBLOCK);

	EXPECT_EQ(-1, read(fd, self->buf, sizeof(self->buf)));
	EXPECT_EQ(EAGAIN, errno);
	close(fd);
}

TEST_F(pipe, waits)
{
	int fd = open_pipe(0);
	long long begin = now_ms();

	start_later(&self->later, mark_later);
	ASSERT_LT(0, read(fd, self->buf, sizeof(self->buf) - 1));
	EXPECT_NE(NULL, strstr(self->buf, "at last"));
	EXPECT_LE(250, now_ms() - begin);
	EXPECT_GE(2000, now_ms() - begin);
	pthread_join(self->later.thread, NULL);
	close(fd);
}

TEST_F(pipe, polls)
{
	struct pollfd p = { .fd = open_pipe(O_NONBLOCK), .events = POLLIN };
	long long begin = now_ms();

	EXPECT_EQ(0, poll(&p, 1, 50));
	start_later(&self->later, mark_later);
	ASSERT_EQ(1, poll(&p, 1, 5000));
	EXPECT_LE(250, now_ms() - begin);
	EXPECT_TRUE(p.revents & POLLIN);
	EXPECT_LT(0, read(p.fd, self->buf, sizeof(self->buf)));
	EXPECT_EQ(0, poll(&p, 1, 50));
	pthread_join(self->later.thread, NULL);
	close(p.fd);
}

/* Off and not empty: what is there comes first. */
TEST_F(pipe, ends_when_off_and_empty)
{
	int fd = open_pipe(0);

	mark("one");
	mark("two");
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "0"));
	ASSERT_LT(0, read(fd, self->buf, sizeof(self->buf) - 1));
	EXPECT_NE(NULL, strstr(self->buf, "one"));
	if (!strstr(self->buf, "two")) {
		EXPECT_LT(0, read(fd, self->buf, sizeof(self->buf)));
	}
	EXPECT_EQ(0, read(fd, self->buf, sizeof(self->buf)));
	close(fd);
}

/* A reader that waits is told when tracing is turned off. */
TEST_F(pipe, ends_while_waiting)
{
	int fd = open_pipe(0);

	mark("one");
	ASSERT_LT(0, read(fd, self->buf, sizeof(self->buf)));
	start_later(&self->later, stop_later);
	EXPECT_EQ(0, read(fd, self->buf, sizeof(self->buf)));
	pthread_join(self->later.thread, NULL);
	close(fd);
}

static void on_alarm(int sig)
{
}

TEST_F(pipe, a_signal_ends_the_wait)
{
	struct sigaction act = { .sa_handler = on_alarm };
	int fd = open_pipe(0);

	sigaction(SIGALRM, &act, NULL);
	alarm(1);
	EXPECT_EQ(-1, read(fd, self->buf, sizeof(self->buf)));
	EXPECT_EQ(EINTR, errno);
	close(fd);
}

/* A read that is shorter than a line gets its beginning, the next one the rest. */
TEST_F(pipe, gives_a_line_in_pieces)
{
	int fd = open_pipe(O_NONBLOCK);
	size_t len = 0;
	ssize_t n;

	mark("a line that is read by few bytes at a time");
	while ((n = read(fd, self->buf + len, 7)) > 0)
		len += n;
	EXPECT_NE(NULL, strstr(self->buf, ": tracing_mark_write: a line that is read by few bytes at a time\n"));
	EXPECT_EQ(1, count_lines(self->buf));
	close(fd);
}

TEST_F(pipe, readers_share)
{
	int a = open_pipe(O_NONBLOCK), b = open_pipe(O_NONBLOCK);

	mark("for one of them");
	EXPECT_LT(0, read(a, self->buf, sizeof(self->buf)));
	EXPECT_EQ(-1, read(b, self->buf, sizeof(self->buf)));
	EXPECT_EQ(EAGAIN, errno);
	close(a);
	close(b);
}

TEST_F(pipe, trace_takes_nothing)
{
	char *first, *second;

	mark("stays");
	first = read_file(TREE, "trace");
	second = read_file(TREE, "trace");
	ASSERT_NE(NULL, first);
	EXPECT_NE(NULL, strstr(first, ": tracing_mark_write: stays\n"));
	EXPECT_EQ('#', first[0]);
	EXPECT_STREQ(first, second);
	EXPECT_EQ(1, stat_sum(TREE, "entries"));
	free(first);
	free(second);
}

/* Read by small pieces, and from the start again, it is the same text. */
TEST_F(pipe, trace_can_be_read_in_pieces)
{
	char *whole, *pieces = must_alloc(NULL, 1 << 20);
	size_t len = 0;
	ssize_t n;
	int fd;

	for (int i = 0; i < 500; i++)
		write_fmt(TREE, "trace_marker", "number %d", i);
	whole = read_file(TREE, "trace");
	fd = open(TREE "/trace", O_RDONLY | O_CLOEXEC);
	ASSERT_LT(0, read(fd, pieces, 1000));
	ASSERT_EQ(0, lseek(fd, 0, SEEK_SET));
	while ((n = read(fd, pieces + len, 333)) > 0)
		len += n;
	pieces[len] = 0;
	EXPECT_EQ(500, count_records(whole));
	EXPECT_EQ(strlen(whole), len);
	EXPECT_EQ(0, strcmp(whole, pieces));
	close(fd);
	free(whole);
	free(pieces);
}

TEST_F(pipe, writing_trace_empties_it)
{
	char *text;

	mark("gone soon");
	EXPECT_EQ(1, stat_sum(TREE, "entries"));
	ASSERT_EQ(0, overwrite_file(TREE, "trace", "\n"));
	text = read_file(TREE, "trace");
	EXPECT_EQ(0, count_records(text));
	EXPECT_EQ(0, stat_sum(TREE, "entries"));
	free(text);
	mark("a new one");
	text = read_file(TREE, "trace");
	EXPECT_EQ(1, count_records(text));
	free(text);
}

/* The files of one CPU have what was recorded there, and nothing else. */
TEST_F(pipe, a_cpu_has_its_own)
{
	size_t sum = 0;
	char file[64];
	struct trace trace;

	write_file(TREE, "events/sched/sched_switch/enable", "1");
	usleep(100000);
	write_file(TREE, "tracing_on", "0");
	for (int cpu = 0; cpu < nr_cpus(); cpu++) {
		snprintf(file, sizeof(file), "per_cpu/cpu%d/trace", cpu);
		trace = text_read(TREE, file);
		for (size_t i = 0; i < trace.nr; i++) {
			EXPECT_EQ(cpu, trace.records[i].cpu);
		}
		sum += trace.nr;
		text_free(&trace);
		snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe", cpu);
		trace = text_read(TREE, file);
		EXPECT_EQ(0, stat_of(TREE, cpu, "entries"));
		EXPECT_EQ(stat_of(TREE, cpu, "read"), trace.nr);
		text_free(&trace);
	}
	EXPECT_LT(0, sum);
}

TEST_HARNESS_MAIN
