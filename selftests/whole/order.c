// SPDX-License-Identifier: GPL-2.0
/*
 * Time stamps never decrease on a CPU, and the files of all CPUs show records in
 * the order of time: trace, and trace_pipe, which merges records while others are
 * written. Each record has only a part of its time; times are right nevertheless,
 * even if hours pass between two records.
 */

#include <pthread.h>
#include <time.h>

#include "etch_test.h"
#include "load.h"
#include "packets.h"
#include "text.h"

#define TREE	ETCH "/instances/etch-order"
#define ROUNDS	5

static void *read_pipe(void *arg)
{
	struct trace *trace = arg;
	char *text = read_file(TREE, "trace_pipe");

	if (text)
		*trace = text_parse(text);
	return NULL;
}

static void run_load(void)
{
	pid_t pid[64];
	int cpus = nr_cpus() < 64 ? nr_cpus() : 64;

	for (int cpu = 0; cpu < cpus; cpu++)
		pid[cpu] = load_start(cpu, ROUNDS, NULL);
	for (int cpu = 0; cpu < cpus; cpu++)
		load_wait(pid[cpu]);
}

static void expect_order(struct __test_metadata *_metadata, const struct trace *trace,
			 const char *what)
{
	unsigned long long last[64] = {}, merged = 0;
	size_t back_on_cpu = 0, back_merged = 0, seen[64] = {};

	for (size_t i = 0; i < trace->nr; i++) {
		const struct record *r = &trace->records[i];

		ASSERT_GT(64, r->cpu);
		back_on_cpu += r->time < last[r->cpu];
		back_merged += r->time < merged;
		last[r->cpu] = merged = r->time;
		seen[r->cpu]++;
	}
	EXPECT_EQ(0, back_on_cpu);
	EXPECT_EQ(0, back_merged);
	for (int cpu = 0; cpu < nr_cpus() && cpu < 64; cpu++) {
		EXPECT_LT(0, seen[cpu]);
		printf("# %s: %zu records of CPU %d\n", what, seen[cpu], cpu);
	}
}

FIXTURE(order) {
};

FIXTURE_VARIANT(order) {
	const char *clock;
};

/* Clocks that can be compared between CPUs. */
FIXTURE_VARIANT_ADD(order, chosen_at_boot) {
};

FIXTURE_VARIANT_ADD(order, mono) {
	.clock = "mono",
};

FIXTURE_VARIANT_ADD(order, global) {
	.clock = "global",
};

FIXTURE_VARIANT_ADD(order, seq) {
	.clock = "seq",
};

FIXTURE_SETUP(order)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	rmdir(TREE);
	ASSERT_EQ(0, mkdir(TREE, 0700));
	if (variant->clock) {
		ASSERT_EQ(0, write_file(TREE, "trace_clock", variant->clock));
	}
	ASSERT_EQ(0, write_file(TREE, "buffer_size_kb", "8192"));
	ASSERT_EQ(0, overwrite_file(TREE, "set_event",
				    "sched:* irq:* timer:* kmem:* signal:* task:*"));
	loopback(true);
}

FIXTURE_TEARDOWN(order)
{
	rmdir(TREE);
}

TEST_F_TIMEOUT(order, of_trace, 120)
{
	struct trace trace;

	run_load();
	/* Once while writers go on, and once when all is quiet. */
	trace = text_read(TREE, "trace");
	EXPECT_LT(1000, trace.nr);
	expect_order(_metadata, &trace, "trace, while on");
	text_free(&trace);
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "0"));
	trace = text_read(TREE, "trace");
	expect_order(_metadata, &trace, "trace");
	EXPECT_EQ(stat_sum(TREE, "entries"), trace.nr);
	text_free(&trace);
}

TEST_F_TIMEOUT(order, of_trace_pipe, 120)
{
	struct trace trace = {};
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, read_pipe, &trace));
	run_load();
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "0"));
	pthread_join(thread, NULL);
	EXPECT_LT(1000, trace.nr);
	expect_order(_metadata, &trace, "trace_pipe");
	EXPECT_EQ(stat_sum(TREE, "read"), trace.nr);
	text_free(&trace);
}

/* ---- A clock that is set ---- */

#define SET_BACK	1000	/* seconds */

static void set_clock(long seconds)
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now))
		give_up("clock_gettime");
	now.tv_sec += seconds;
	if (clock_settime(CLOCK_REALTIME, &now))
		give_up("clock_settime");
}

FIXTURE(set_back) {
	struct packets seen, shot;
	int next, fd;
};

FIXTURE_SETUP(set_back)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	rmdir(TREE);
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, packets_tree(TREE));
	ASSERT_EQ(0, write_file(TREE, "trace_clock", "tai"));
	/* The clock cannot be set to a time before the boot, and some machines boot in 1970. */
	set_clock(2 * SET_BACK);
	self->fd = packets_open(TREE, 0, O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	/* Before the clock is set back, and behind that, in several sub-buffers. */
	packets_mark(TREE, &self->next, 10);
	set_clock(-SET_BACK);
	packets_mark(TREE, &self->next, 1000);
	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
}

FIXTURE_TEARDOWN(set_back)
{
	set_clock(1 - SET_BACK);
	close(self->fd);
	EXPECT_EQ(0, rmdir(TREE));
}

TEST_F(set_back, times_stand_still)
{
	struct trace trace = text_read(TREE, "trace");

	ASSERT_EQ(self->next, trace.nr);
	for (size_t i = 1; i < trace.nr; i++) {
		EXPECT_LE(trace.records[i - 1].time, trace.records[i].time);
	}
	/* Microseconds. */
	EXPECT_GT(60 * 1000000ULL, trace.records[trace.nr - 1].time - trace.records[0].time);
	text_free(&trace);
}

TEST_F(set_back, snapshots_are_whole)
{
	int fd = open(TREE "/per_cpu/cpu0/snapshot", O_RDONLY | O_CLOEXEC);

	EXPECT_TRUE(packets_drain(&self->shot, fd));
	close(fd);
	EXPECT_EQ(self->next, self->shot.marks);
	EXPECT_EQ(0, self->shot.order);
	EXPECT_EQ(0, self->shot.wrong);
}

/* A file's packets are one stream, also when the buffer is emptied or its sub-buffers change. */
TEST_F(set_back, packets_are_in_order)
{
	EXPECT_EQ(0, write_file(TREE, "flush", "1"));
	EXPECT_TRUE(packets_drain(&self->seen, self->fd));
	EXPECT_EQ(0, overwrite_file(TREE, "trace", ""));
	packets_mark(TREE, &self->next, 10);
	EXPECT_EQ(0, write_file(TREE, "flush", "1"));
	EXPECT_TRUE(packets_drain(&self->seen, self->fd));
	EXPECT_EQ(0, write_fmt(TREE, "buffer_subbuf_size_kb", "%zu", 2 * PAGE >> 10));
	packets_mark(TREE, &self->next, 10);
	EXPECT_EQ(0, write_file(TREE, "flush", "1"));
	EXPECT_TRUE(packets_drain(&self->seen, self->fd));
	EXPECT_EQ(self->next, self->seen.marks);
	EXPECT_EQ(0, self->seen.order);
	EXPECT_EQ(0, self->seen.wrong);
}

/* ---- Hours between records ---- */

#define HOUR	3600	/* seconds */
#define TIMES	12

FIXTURE(set_ahead) {
	int next, pipe, ahead;	/* the next mark, a file, seconds */
};

FIXTURE_SETUP(set_ahead)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	rmdir(TREE);
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, packets_tree(TREE));
	ASSERT_EQ(0, write_file(TREE, "trace_clock", "tai"));
	self->pipe = open(TREE "/trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ASSERT_LE(0, self->pipe);
}

FIXTURE_TEARDOWN(set_ahead)
{
	set_clock(-self->ahead);
	close(self->pipe);
	EXPECT_EQ(0, rmdir(TREE));
}

static void pass_hours(FIXTURE_DATA(set_ahead) *self, int hours)
{
	set_clock(hours * HOUR);
	self->ahead += hours * HOUR;
}

/* The time of the only record in trace_pipe; 0 if it has another number of records. */
static unsigned long long pipe_time(int fd)
{
	unsigned long long time = 0;
	char *text = calloc(1, 4096);
	struct trace trace;
	ssize_t len;

	len = read(fd, text, 4095);
	trace = text_parse(text);
	if (len > 0 && trace.nr == 1)
		time = trace.records[0].time;
	text_free(&trace);
	return time;
}

/* From @from to @to @hours hours pass, and a minute more at most. */
static void expect_hours(struct __test_metadata *_metadata, unsigned long long from,
			 unsigned long long to, int hours)
{
	long long seconds = (long long)(to - from) / 1000000;

	EXPECT_LE(hours * HOUR - 1, seconds);
	EXPECT_GE(hours * HOUR + 60, seconds);
}

/* Each is read before the next one comes, and all lie in one sub-buffer. */
TEST_F(set_ahead, read_one_by_one)
{
	unsigned long long first = 0, time;

	for (int i = 0; i < TIMES; i++) {
		packets_mark(TREE, &self->next, 1);
		time = pipe_time(self->pipe);
		ASSERT_NE(0, time);
		first = first ?: time;
		expect_hours(_metadata, first, time, 10 * i);
		pass_hours(self, 10);
	}
}

/* The unread rest of a sub-buffer, as a packet. */
TEST_F(set_ahead, a_packet_behind_what_was_read)
{
	unsigned long long first = 0;
	struct packets seen = {};
	int fd;

	fd = packets_open(TREE, 0, O_NONBLOCK);
	ASSERT_LE(0, fd);
	for (int i = 0; i < TIMES; i++) {
		packets_mark(TREE, &self->next, 1);
		if (!i)
			first = pipe_time(self->pipe);
		else if (i < TIMES - 1)
			pipe_time(self->pipe);
		pass_hours(self, 10);
	}
	EXPECT_EQ(0, write_file(TREE, "flush", "1"));
	EXPECT_TRUE(packets_drain(&seen, fd));
	close(fd);
	EXPECT_EQ(1, seen.marks);
	EXPECT_EQ(0, seen.wrong);
	expect_hours(_metadata, first, seen.time / 1000, 10 * (TIMES - 1));
}

/* More hours at once than a record's part of the time holds: in text, a snapshot, packets. */
TEST_F(set_ahead, more_than_a_record_can_tell)
{
	struct packets seen = {}, shot = {};
	struct trace trace;
	int fd, shot_fd;

	fd = packets_open(TREE, 0, O_NONBLOCK);
	ASSERT_LE(0, fd);
	for (int i = 0; i < TIMES; i++) {
		packets_mark(TREE, &self->next, 2);
		pass_hours(self, 100);
	}
	trace = text_read(TREE, "trace");
	ASSERT_EQ(2 * TIMES, trace.nr);
	for (int i = 2; i < 2 * TIMES; i++)
		expect_hours(_metadata, trace.records[i - 2].time, trace.records[i].time, 100);

	EXPECT_EQ(0, write_file(TREE, "snapshot", "1"));
	shot_fd = open(TREE "/per_cpu/cpu0/snapshot", O_RDONLY | O_CLOEXEC);
	EXPECT_TRUE(packets_drain(&shot, shot_fd));
	close(shot_fd);
	EXPECT_EQ(2 * TIMES, shot.marks);
	EXPECT_EQ(0, shot.order);
	EXPECT_EQ(0, shot.wrong);
	EXPECT_EQ(trace.records[2 * TIMES - 1].time, shot.time / 1000);

	EXPECT_EQ(0, write_file(TREE, "flush", "1"));
	EXPECT_TRUE(packets_drain(&seen, fd));
	close(fd);
	EXPECT_EQ(2 * TIMES, seen.marks);
	EXPECT_EQ(0, seen.order);
	EXPECT_EQ(0, seen.wrong);
	EXPECT_EQ(trace.records[2 * TIMES - 1].time, seen.time / 1000);
	text_free(&trace);
}

TEST_HARNESS_MAIN
