// SPDX-License-Identifier: GPL-2.0
/*
 * trace_pipe removes the records that it shows, waits for more, and ends when there will
 * be none. trace shows the records of the buffer and leaves them there.
 */

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "call.h"
#include "etch_test.h"
#include "load.h"
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

static void mark_later(void)
{
	mark("at last");
}

static void stop_later(void)
{
	write_file(TREE, "tracing_on", "0");
}

static ssize_t by_read(const struct call *c)
{
	return read(c->fd, c->data, 4096);
}

FIXTURE(pipe) {
	pthread_t later;
	char buf[8192];
};

FIXTURE_SETUP(pipe)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
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

	call_later(&self->later, mark_later);
	ASSERT_LT(0, read(fd, self->buf, sizeof(self->buf) - 1));
	EXPECT_NE(NULL, strstr(self->buf, "at last"));
	EXPECT_LE(250, now_ms() - begin);
	EXPECT_GE(20000, now_ms() - begin);
	pthread_join(self->later, NULL);
	close(fd);
}

/* How often one of Etch's work items ran while @fd had nothing to read. */
static int work_while_idle(int fd)
{
	static const char watch[] = ETCH "/instances/etch-pipe-watch";
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char *lines, *line, *rest;
	int items = 0;

	rmdir(watch);
	if (mkdir(watch, 0700) ||
	    write_file(watch, "events/workqueue/workqueue_execute_start/enable", "1"))
		give_up("%s", watch);
	if (poll(&p, 1, 1000))
		give_up("there is something to read");
	write_file(watch, "tracing_on", "0");
	lines = read_file(watch, "trace");
	rest = lines;
	while ((line = strsep(&rest, "\n")))
		items += !!strstr(line, "function etch_");
	free(lines);
	rmdir(watch);
	return items;
}

/* One look for writers that were in flight when it began to wait, and two from other work. */
TEST_F(pipe, a_waiting_reader_costs_nothing)
{
	int fd = open_pipe(O_NONBLOCK);

	EXPECT_GE(3, work_while_idle(fd));
	close(fd);
}

/* Nor if another CPU has records, or if there are too few for a packet: nobody takes these. */
TEST_F(pipe, records_for_nobody_cost_nothing)
{
	int other = open(TREE "/per_cpu/cpu1/trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int raw = open(TREE "/per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	load_pin(0);
	mark("for nobody");
	if (other >= 0) {
		EXPECT_GE(3, work_while_idle(other));
		close(other);
	}
	if (raw >= 0) {
		EXPECT_GE(3, work_while_idle(raw));
		close(raw);
	}
	EXPECT_EQ(1, stat_sum(TREE, "entries"));
}

/*
 * Reads, for a second, what the scheduler does on CPU 0, which is that this task is woken, and
 * lets its CPU go. Returns how often it was, for each tick.
 */
static double wakes_per_tick(const char *file)
{
	struct pollfd p = { .fd = open(path_of(TREE, file), O_RDONLY | O_NONBLOCK | O_CLOEXEC),
			    .events = POLLIN };
	struct rusage before, after;
	long long begin = now_ms(), ms;
	struct timespec tick;
	char buf[65536];

	if (p.fd < 0 || clock_getres(CLOCK_MONOTONIC_COARSE, &tick) ||
	    write_file(TREE, "events/sched/enable", "1"))
		give_up("%s", file);
	getrusage(RUSAGE_THREAD, &before);
	while ((ms = now_ms() - begin) < 1000)
		if (poll(&p, 1, 100) == 1)
			while (read(p.fd, buf, sizeof(buf)) > 0)
				;
	getrusage(RUSAGE_THREAD, &after);
	write_file(TREE, "events/enable", "0");
	close(p.fd);
	printf("# %s: %ld waits in %lld ms, ticks of %ld us\n", file,
	       after.ru_nvcsw - before.ru_nvcsw, ms, tick.tv_nsec / 1000);
	return (after.ru_nvcsw - before.ru_nvcsw) * (tick.tv_nsec / 1e6) / ms;
}

/* A reader's own wake-ups are records, too. They must not wake it for ever. */
TEST_F(pipe, a_reader_does_not_keep_itself_awake)
{
	load_pin(0);
	EXPECT_GT(3, wakes_per_tick("per_cpu/cpu0/trace_pipe"));
	overwrite_file(TREE, "trace", "");
	if (!access(TREE "/per_cpu/cpu0/trace_pipe_raw", F_OK)) {
		EXPECT_GT(3, wakes_per_tick("per_cpu/cpu0/trace_pipe_raw"));
	}
}

TEST_F(pipe, polls)
{
	struct pollfd p = { .fd = open_pipe(O_NONBLOCK), .events = POLLIN };
	long long begin = now_ms();

	EXPECT_EQ(0, poll(&p, 1, 50));
	call_later(&self->later, mark_later);
	ASSERT_EQ(1, poll(&p, 1, 5000));
	EXPECT_LE(250, now_ms() - begin);
	EXPECT_TRUE(p.revents & POLLIN);
	EXPECT_LT(0, read(p.fd, self->buf, sizeof(self->buf)));
	EXPECT_EQ(0, poll(&p, 1, 50));
	pthread_join(self->later, NULL);
	close(p.fd);
}

/* When another reader leaves a part of a line, the waiting reader gets that part. */
TEST_F(pipe, waits_for_the_rest_of_a_line)
{
	char rest[4097] = "";
	struct call waits = { .how = by_read, .fd = open_pipe(0), .data = rest };

	ASSERT_EQ(0, write_file(TREE, "buffer_percent", "100"));
	begin_call(&waits);
	ASSERT_EQ(0, fcntl(waits.fd, F_SETFL, O_NONBLOCK));
	mark("a line");
	EXPECT_EQ(5, read(waits.fd, self->buf, 5));
	EXPECT_TRUE(call_ends(&waits));
	EXPECT_LT(0, waits.ret);
	EXPECT_NE(NULL, strstr(rest, ": tracing_mark_write: a line\n"));
	stop_later();
	pthread_join(waits.thread, NULL);
	close(waits.fd);
}

/* When tracing is off, readers get the remaining records first, then the end. */
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

/* Turning tracing off wakes a waiting reader. */
TEST_F(pipe, ends_while_waiting)
{
	int fd = open_pipe(0);

	mark("one");
	ASSERT_LT(0, read(fd, self->buf, sizeof(self->buf)));
	call_later(&self->later, stop_later);
	EXPECT_EQ(0, read(fd, self->buf, sizeof(self->buf)));
	pthread_join(self->later, NULL);
	close(fd);
}

/*
 * buffer_percent. The buffer has four sub-buffers of 16 KiB, or of a page where that is
 * more. So many marks of 4000 bytes, and no more, fit in one. All marks are of one CPU.
 */
#define SUBBUF_KB	atoi(read_line(TREE, "buffer_subbuf_size_kb"))
#define SUBBUF_MARKS	(SUBBUF_KB / 4)

static void use_percent(struct __test_metadata *_metadata, const char *percent)
{
	load_pin(0);
	ASSERT_EQ(0, write_fmt(TREE, "buffer_size_kb", "%d", 4 * SUBBUF_KB));
	ASSERT_EQ(0, write_file(TREE, "buffer_percent", percent));
	EXPECT_STREQ(percent, read_line(TREE, "buffer_percent"));
}

static void fill(int marks)
{
	char text[4001];

	memset(text, 'm', 4000);
	text[4000] = 0;
	while (marks--)
		mark(text);
}

/*
 * Not ready, and not ready later without a further record: by the end of this time
 * poll() has looked at the rings many times, and each look must give the same answer.
 */
#define expect_not_ready(p)	EXPECT_EQ(0, poll(p, 1, 300))
/* Ready, however long a busy machine takes to say so. */
#define expect_ready(p)		EXPECT_EQ(1, poll(p, 1, 60000))

/* How many lines a reader gets without waiting. */
static int drain(int fd)
{
	char buf[65536];
	int lines = 0;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf) - 1)) > 0) {
		buf[n] = 0;
		lines += count_lines(buf);
	}
	return n < 0 && errno == EAGAIN ? lines : -1;
}

TEST_F(pipe, is_not_woken_by_a_few)
{
	struct pollfd p = { .fd = open_pipe(O_NONBLOCK), .events = POLLIN };

	use_percent(_metadata, "50");
	fill(1);
	expect_not_ready(&p);
	/* One sub-buffer and a part of the next are less than a half of four. */
	fill(SUBBUF_MARKS);
	expect_not_ready(&p);
	/* A reader with O_NONBLOCK gets them all the same. */
	EXPECT_EQ(1 + SUBBUF_MARKS, drain(p.fd));
	close(p.fd);
}

TEST_F(pipe, is_woken_when_half_is_filled)
{
	struct pollfd p = { .fd = open_pipe(O_NONBLOCK), .events = POLLIN };

	use_percent(_metadata, "50");
	fill(2 * SUBBUF_MARKS);
	expect_not_ready(&p);
	fill(1);
	expect_ready(&p);
	EXPECT_EQ(2 * SUBBUF_MARKS + 1, drain(p.fd));

	/* And it waits anew. */
	fill(1);
	expect_not_ready(&p);
	fill(2 * SUBBUF_MARKS);
	expect_ready(&p);
	close(p.fd);
}

/* Once half is filled, readers get all of it without waiting, in any number of reads. */
TEST_F(pipe, half_is_read_to_the_end)
{
	struct pollfd p = { .fd = open_pipe(0), .events = POLLIN };
	int lines = 0;
	ssize_t n;

	use_percent(_metadata, "50");
	fill(2 * SUBBUF_MARKS + 1);
	while (lines < 2 * SUBBUF_MARKS + 1) {
		expect_ready(&p);
		n = read(p.fd, self->buf, sizeof(self->buf) - 1);
		ASSERT_LT(0, n);
		self->buf[n] = 0;
		lines += count_lines(self->buf);
	}
	EXPECT_EQ(2 * SUBBUF_MARKS + 1, lines);
	expect_not_ready(&p);
	close(p.fd);
}

/* A later record counts for the next half, even if no read() found the buffer empty before. */
TEST_F(pipe, one_more_is_not_half)
{
	struct pollfd p = { .fd = open_pipe(O_NONBLOCK), .events = POLLIN };
	char *text = must_alloc(NULL, 65536);
	int lines = 0;
	ssize_t n;

	use_percent(_metadata, "50");
	fill(2 * SUBBUF_MARKS + 1);
	expect_ready(&p);
	while (lines < 2 * SUBBUF_MARKS + 1) {
		n = read(p.fd, text, 65535);
		ASSERT_LT(0, n);
		text[n] = 0;
		lines += count_lines(text);
	}
	fill(1);
	expect_not_ready(&p);
	free(text);
	close(p.fd);
}

/* With 100 percent, in discard mode, readers wait until a record was lost. */
TEST_F(pipe, is_woken_when_all_is_filled)
{
	struct pollfd p = { .fd = open_pipe(O_NONBLOCK), .events = POLLIN };

	use_percent(_metadata, "100");
	ASSERT_EQ(0, write_file(TREE, "buffer_mode", "discard"));
	fill(3 * SUBBUF_MARKS);
	expect_not_ready(&p);
	while (!stat_of(TREE, 0, "lost full"))
		fill(1);
	expect_ready(&p);
	EXPECT_EQ(stat_of(TREE, 0, "entries"), drain(p.fd));
	close(p.fd);
}

/* A CPU's own pipe waits for that CPU's buffer. */
TEST_F(pipe, half_of_another_cpu_is_not_meant)
{
	struct pollfd own = { .events = POLLIN }, other = { .events = POLLIN };

	if (nr_cpus() < 2)
		SKIP(return, "one CPU has no other");
	own.fd = open(TREE "/per_cpu/cpu0/trace_pipe", O_RDONLY | O_NONBLOCK);
	other.fd = open(TREE "/per_cpu/cpu1/trace_pipe", O_RDONLY | O_NONBLOCK);
	use_percent(_metadata, "50");
	fill(2 * SUBBUF_MARKS + 1);
	load_pin(1);
	mark("a few");
	expect_ready(&own);
	expect_not_ready(&other);
	close(own.fd);
	close(other.fd);
}

/* A lower mark holds for readers that already wait. */
TEST_F(pipe, the_mark_may_be_lowered)
{
	struct pollfd p = { .fd = open_pipe(0), .events = POLLIN };

	use_percent(_metadata, "50");
	fill(SUBBUF_MARKS + 1);
	expect_not_ready(&p);
	ASSERT_EQ(0, write_file(TREE, "buffer_percent", "25"));
	expect_ready(&p);
	close(p.fd);
}

/* A reader that waits for half gets the few records there are when tracing is turned off. */
TEST_F(pipe, the_few_come_when_off)
{
	int fd = open_pipe(0);
	ssize_t n;

	use_percent(_metadata, "50");
	mark("a few");
	call_later(&self->later, stop_later);
	n = read(fd, self->buf, sizeof(self->buf) - 1);
	EXPECT_LT(0, n);
	EXPECT_NE(NULL, strstr(self->buf, "a few"));
	/* The read() did not return before that: it waited. */
	EXPECT_STREQ("0", read_line(TREE, "tracing_on"));
	EXPECT_EQ(0, read(fd, self->buf, sizeof(self->buf)));
	pthread_join(self->later, NULL);
	close(fd);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	alarms++;
}

/* The signal repeats, because the first one may come before the wait. */
static void alarm_often(bool on)
{
	struct itimerval every = { .it_interval.tv_usec = on ? 500000 : 0,
				   .it_value.tv_usec = on ? 500000 : 0 };
	struct sigaction act = { .sa_handler = on_alarm };

	alarms = 0;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

TEST_F(pipe, a_signal_ends_the_wait)
{
	int fd = open_pipe(0);

	alarm_often(true);
	EXPECT_EQ(-1, read(fd, self->buf, sizeof(self->buf)));
	EXPECT_EQ(EINTR, errno);
	alarm_often(false);
	close(fd);
}

/* A reader that waits for half gets the few records there are when a signal comes. */
TEST_F(pipe, the_few_come_with_a_signal)
{
	int fd = open_pipe(0);

	use_percent(_metadata, "50");
	mark("a few");
	alarm_often(true);
	EXPECT_LT(0, read(fd, self->buf, sizeof(self->buf) - 1));
	EXPECT_LT(0, alarms);
	EXPECT_NE(NULL, strstr(self->buf, "a few"));
	EXPECT_EQ(-1, read(fd, self->buf, sizeof(self->buf)));
	EXPECT_EQ(EINTR, errno);
	alarm_often(false);
	close(fd);
}

/* A reader that is killed while it waits has taken nothing. */
TEST_F(pipe, the_dead_take_nothing)
{
	pid_t pid;
	int fd;

	use_percent(_metadata, "50");
	mark("a few");
	pid = fork();
	if (!pid) {
		fd = open_pipe(0);
		_exit(read(fd, self->buf, sizeof(self->buf)) > 0);
	}
	usleep(300000);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(1, stat_sum(TREE, "entries"));
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
