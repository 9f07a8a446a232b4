// SPDX-License-Identifier: GPL-2.0
/*
 * trace_pipe_raw gives each record once, in packets, by read() and by splice(), in pieces
 * of any size. The next packet counts the records that a reader did not get.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "call.h"
#include "etch_test.h"
#include "packets.h"

#define TREE	ETCH "/instances/etch-raw"
#define CPU1	"/sys/devices/system/cpu/cpu1"

FIXTURE(raw) {
	struct packets seen;
	pthread_t later;
	int next;		/* mark */
	char buf[BUFFER_PAGES * LARGEST_PAGE];
};

FIXTURE_SETUP(raw)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, packets_tree(TREE));
}

FIXTURE_TEARDOWN(raw)
{
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_EQ(0, rmdir(TREE));
}

static void marks(int *next, int nr)
{
	packets_mark(TREE, next, nr);
}

static void flush(void)
{
	write_file(TREE, "flush", "1");
}

static void stop(void)
{
	write_file(TREE, "tracing_on", "0");
}

static ssize_t by_read(const struct call *c)
{
	static char bytes[BUFFER_PAGES * LARGEST_PAGE];

	return read(c->fd, bytes, sizeof(bytes));
}

static ssize_t by_splice(const struct call *c)
{
	return splice(c->fd, NULL, *(int *)c->data, NULL, PAGE, SPLICE_F_NONBLOCK);
}

TEST_F(raw, gives_what_was_flushed)
{
	int fd = packets_open(TREE, 0, O_NONBLOCK);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, read(fd, self->buf, sizeof(self->buf)));
	EXPECT_EQ(EAGAIN, errno);
	marks(&self->next, 10);
	EXPECT_EQ(-1, read(fd, self->buf, sizeof(self->buf)));
	EXPECT_EQ(EAGAIN, errno);
	flush();
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	EXPECT_EQ(1, self->seen.packets);
	EXPECT_EQ(10, self->seen.records);
	EXPECT_EQ(10, self->seen.marks);
	EXPECT_EQ(1, self->seen.head.packet_seq_num);
	EXPECT_EQ(0, self->seen.head.events_discarded);
	EXPECT_EQ(getpid(), self->seen.head.pid);
	EXPECT_STREQ("raw", self->seen.head.comm);

	/* Without records and losses, a flush makes no packet. */
	flush();
	flush();
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	EXPECT_EQ(1, self->seen.packets);
	EXPECT_EQ(10, stat_of(TREE, 0, "read"));
	EXPECT_EQ(0, stat_of(TREE, 0, "entries"));
	close(fd);
}

TEST_F(raw, gives_all_in_order)
{
	int fd = packets_open(TREE, 0, O_NONBLOCK), i;

	for (i = 0; i < 50; i++) {
		marks(&self->next, 100);
		EXPECT_TRUE(packets_drain(&self->seen, fd));
	}
	stop();
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	EXPECT_EQ(0, read(fd, self->buf, 1));
	EXPECT_EQ(5000, self->seen.marks);
	EXPECT_EQ(5000, self->seen.records);
	EXPECT_EQ(0, self->seen.order);
	EXPECT_EQ(0, self->seen.skipped);
	EXPECT_EQ(0, self->seen.empty);
	EXPECT_EQ(5000, stat_of(TREE, 0, "read"));
	close(fd);
}

TEST_F(raw, goes_on_where_a_short_read_stopped)
{
	size_t have = 0, step = 1;
	int fd = packets_open(TREE, 0, O_NONBLOCK);
	ssize_t n;

	marks(&self->next, 300);
	stop();
	while ((n = read(fd, self->buf + have, step)) > 0) {
		have += n;
		step = step * 7 % 1000;
		ASSERT_GT(sizeof(self->buf), have + 1000);
	}
	EXPECT_EQ(0, n);
	EXPECT_EQ(have, packets_add(&self->seen, self->buf, have));
	EXPECT_EQ(300, self->seen.marks);
	EXPECT_EQ(0, self->seen.order);
	close(fd);
}

TEST_F(raw, loses_nothing_to_a_bad_address)
{
	int fd = packets_open(TREE, 0, O_NONBLOCK);

	marks(&self->next, 10);
	flush();
	EXPECT_EQ(-1, read(fd, (void *)16, PAGE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	EXPECT_EQ(10, self->seen.marks);
	close(fd);
}

/* Splices through a pipe into a file, as a recorder does. */
static bool splice_all(struct packets *p, int fd, int pipes[2], size_t len)
{
	char name[] = "/tmp/etch-raw-XXXXXX";
	int out = mkstemp(name);
	ssize_t n, m;
	size_t all;
	char *data;
	bool ok;

	if (out < 0)
		give_up("%s", name);
	unlink(name);
	while ((n = splice(fd, NULL, pipes[1], NULL, len, SPLICE_F_NONBLOCK)) > 0) {
		while (n > 0) {
			m = splice(pipes[0], NULL, out, NULL, n, 0);
			if (m <= 0)
				give_up("splice to a file");
			n -= m;
		}
	}
	ok = n == 0 || errno == EAGAIN;
	lseek(out, 0, SEEK_SET);
	data = read_all(out, &all);
	ok = ok && data && packets_add(p, data, all) == all;
	free(data);
	close(out);
	return ok;
}

TEST_F(raw, is_spliced)
{
	const size_t lens[] = { 16 * PAGE, PAGE, 3 * PAGE, PAGE + 904, 100 };
	int fd = packets_open(TREE, 0, 0), pipes[2];
	size_t i;

	ASSERT_EQ(0, pipe(pipes));
	for (i = 0; i < ARRAY_LEN(lens); i++) {
		marks(&self->next, 300);
		flush();
		EXPECT_TRUE(splice_all(&self->seen, fd, pipes, lens[i]));
		EXPECT_EQ(self->next, self->seen.marks);
	}
	marks(&self->next, 10);
	stop();
	EXPECT_TRUE(splice_all(&self->seen, fd, pipes, 16 * PAGE));
	EXPECT_EQ(0, splice(fd, NULL, pipes[1], NULL, PAGE, 0));
	EXPECT_EQ(self->next, self->seen.marks);
	EXPECT_EQ(0, self->seen.order);
	EXPECT_EQ(0, self->seen.skipped);
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
}

/*
 * A socket keeps the pages after the pipe has released them, and the ring must not use them
 * again. The ring is so small that it would overwrite such pages at once.
 */
TEST_F(raw, is_sent)
{
	int fd, ends[2], pipes[2], i, room = 16 * PAGE;
	size_t have = 0;
	ssize_t n;

	ASSERT_EQ(0, packets_resize(TREE, 2));
	fd = packets_open(TREE, 0, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
		close(fd);
		ASSERT_TRUE(errno == EAFNOSUPPORT || errno == ENOSYS);
		SKIP(return, "no sockets: CONFIG_NET, CONFIG_UNIX");
	}
	/* Nobody reads until all is sent. */
	ASSERT_EQ(0, setsockopt(ends[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)));
	ASSERT_EQ(0, pipe(pipes));
	for (i = 0; i < 8; i++) {
		marks(&self->next, 60);
		flush();
		n = splice(fd, NULL, pipes[1], NULL, PAGE, 0);
		ASSERT_EQ(PAGE, n);
		ASSERT_EQ(n, splice(pipes[0], NULL, ends[0], NULL, n, 0));
	}
	close(ends[0]);
	while ((n = read(ends[1], self->buf + have, sizeof(self->buf) - have)) > 0)
		have += n;
	EXPECT_EQ(8 * PAGE, have);
	EXPECT_EQ(have, packets_add(&self->seen, self->buf, have));
	EXPECT_EQ(480, self->seen.marks);
	EXPECT_EQ(0, self->seen.order);
	close(ends[1]);
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
}

TEST_F(raw, waits_for_a_flush)
{
	int fd = packets_open(TREE, 0, 0);
	long long begin = now_ms();

	marks(&self->next, 3);
	call_later(&self->later, flush);
	EXPECT_EQ(PAGE, read(fd, self->buf, sizeof(self->buf)));
	EXPECT_LE(250, now_ms() - begin);
	EXPECT_EQ(PAGE, packets_add(&self->seen, self->buf, PAGE));
	EXPECT_EQ(3, self->seen.marks);
	pthread_join(self->later, NULL);
	close(fd);
}

TEST_F(raw, waits_for_the_end)
{
	int fd = packets_open(TREE, 0, 0);
	long long begin = now_ms();

	call_later(&self->later, stop);
	EXPECT_EQ(0, read(fd, self->buf, sizeof(self->buf)));
	EXPECT_LE(250, now_ms() - begin);
	pthread_join(self->later, NULL);
	close(fd);
}

/* Half of 16 sub-buffers: two are not enough. */
TEST_F(raw, polls_for_the_watermark)
{
	struct pollfd p = { .fd = packets_open(TREE, 0, O_NONBLOCK), .events = POLLIN };

	ASSERT_EQ(0, write_file(TREE, "buffer_percent", "50"));
	EXPECT_EQ(0, poll(&p, 1, 0));
	marks(&self->next, 250);
	EXPECT_EQ(0, poll(&p, 1, 100));
	flush();
	EXPECT_EQ(1, poll(&p, 1, 10000));
	EXPECT_TRUE(packets_drain(&self->seen, p.fd));
	EXPECT_EQ(250, self->seen.marks);
	EXPECT_EQ(0, poll(&p, 1, 100));
	marks(&self->next, 900);
	EXPECT_EQ(1, poll(&p, 1, 10000));
	stop();
	EXPECT_TRUE(packets_drain(&self->seen, p.fd));
	EXPECT_EQ(1150, self->seen.marks);
	EXPECT_EQ(1, poll(&p, 1, 0));
	close(p.fd);
}

/* A flush wakes readers once. After it, less than half is not enough again: when the flush */
TEST_F(raw, forgets_a_flush)
{
	struct pollfd p = { .events = POLLIN };
	int text;

	if (!have_text())
		SKIP(return, NO_TEXT);
	p.fd = packets_open(TREE, 0, O_NONBLOCK);
	text = open(TREE "/trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ASSERT_EQ(0, write_file(TREE, "buffer_percent", "50"));
	/* found no records, */
	flush();
	marks(&self->next, 200);
	EXPECT_EQ(0, poll(&p, 1, 100));
	flush();
	EXPECT_EQ(1, poll(&p, 1, 10000));
	EXPECT_TRUE(packets_drain(&self->seen, p.fd));
	EXPECT_EQ(200, self->seen.marks);

	/* when its records were read as text, */
	marks(&self->next, 10);
	flush();
	while (read(text, self->buf, sizeof(self->buf)) > 0)
		;
	EXPECT_EQ(EAGAIN, errno);
	marks(&self->next, 200);
	EXPECT_EQ(0, poll(&p, 1, 100));

	/* or when they were thrown away. */
	flush();
	overwrite_file(TREE, "trace", "");
	marks(&self->next, 200);
	EXPECT_EQ(0, poll(&p, 1, 100));
	flush();
	EXPECT_EQ(1, poll(&p, 1, 10000));
	close(text);
	close(p.fd);
}

/* A reader with O_NONBLOCK, or in splice(), does not wait for a reader that waits. */
TEST_F(raw, does_not_wait_for_who_waits)
{
	struct call waits = { .how = by_read }, reads = { .how = by_read };
	struct call splices = { .how = by_splice };
	int fd = packets_open(TREE, 0, 0), pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	waits.fd = reads.fd = splices.fd = fd;
	splices.data = &pipes[1];
	begin_call(&waits);
	begin_call(&splices);
	EXPECT_TRUE(call_ends(&splices));
	EXPECT_EQ(-1, splices.ret);
	EXPECT_EQ(EAGAIN, splices.err);
	ASSERT_EQ(0, fcntl(fd, F_SETFL, O_NONBLOCK));
	begin_call(&reads);
	EXPECT_TRUE(call_ends(&reads));
	EXPECT_EQ(-1, reads.ret);
	EXPECT_EQ(EAGAIN, reads.err);
	EXPECT_FALSE(waits.done);
	marks(&self->next, 10);
	flush();
	EXPECT_TRUE(call_ends(&waits));
	EXPECT_EQ(PAGE, waits.ret);
	pthread_join(waits.thread, NULL);
	pthread_join(splices.thread, NULL);
	pthread_join(reads.thread, NULL);
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
}

/* When another reader leaves a part of a packet, the waiting reader gets that part. */
TEST_F(raw, waits_for_the_rest)
{
	struct call waits = { .how = by_read, .fd = packets_open(TREE, 0, 0) };

	ASSERT_EQ(0, write_file(TREE, "buffer_percent", "50"));
	marks(&self->next, 10);
	flush();
	EXPECT_EQ(PAGE, read(waits.fd, self->buf, PAGE));
	begin_call(&waits);
	ASSERT_EQ(0, fcntl(waits.fd, F_SETFL, O_NONBLOCK));
	marks(&self->next, 150);
	EXPECT_EQ(100, read(waits.fd, self->buf, 100));
	EXPECT_TRUE(call_ends(&waits));
	EXPECT_EQ(PAGE - 100, waits.ret);
	stop();
	pthread_join(waits.thread, NULL);
	close(waits.fd);
}

/* Text and packets, in turn: each record to one of the two. */
TEST_F(raw, shares_with_text)
{
	unsigned int lines = 0;
	int fd, text, i;
	ssize_t n;

	if (!have_text())
		SKIP(return, NO_TEXT);
	fd = packets_open(TREE, 0, O_NONBLOCK);
	text = open(TREE "/trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	for (i = 0; i < 40; i++) {
		marks(&self->next, 70);
		/* With large pages marks are long. */
		n = read(text, self->buf, (i * 97 % 2000 + 200) * (PAGE / LEAST_PAGE));
		ASSERT_LT(0, n);
		self->buf[n] = 0;
		lines += count_lines(self->buf);
		if (i % 3 == 0)
			flush();
		EXPECT_TRUE(packets_drain(&self->seen, fd));
	}
	while ((n = read(text, self->buf, sizeof(self->buf) - 1)) > 0) {
		self->buf[n] = 0;
		lines += count_lines(self->buf);
	}
	EXPECT_LT(100, lines);
	EXPECT_LT(100, self->seen.marks);
	EXPECT_EQ(self->next, lines + self->seen.marks);
	EXPECT_EQ(self->seen.records, self->seen.marks);
	EXPECT_EQ(self->next, stat_of(TREE, 0, "read"));
	close(text);
	close(fd);
}

TEST_F(raw, tells_what_was_overwritten)
{
	int fd = packets_open(TREE, 0, O_NONBLOCK);

	marks(&self->next, 3000);
	stop();
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	EXPECT_LT(0, stat_of(TREE, 0, "overwritten"));
	EXPECT_EQ(stat_of(TREE, 0, "overwritten"), self->seen.discarded);
	EXPECT_EQ(self->seen.head.overwritten, self->seen.discarded);
	EXPECT_EQ(3000, self->seen.discarded + self->seen.marks);
	EXPECT_EQ(1, self->seen.empty);
	EXPECT_LT(0, self->seen.skipped);
	EXPECT_EQ(2999, self->seen.last);
	EXPECT_EQ(0, self->seen.order);
	close(fd);
}

TEST_F(raw, tells_what_was_lost)
{
	int fd = packets_open(TREE, 0, O_NONBLOCK);

	ASSERT_EQ(0, write_file(TREE, "buffer_mode", "discard"));
	marks(&self->next, 3000);
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	EXPECT_EQ(0, self->seen.discarded);
	marks(&self->next, 3000);
	stop();
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	EXPECT_LT(0, stat_of(TREE, 0, "lost full"));
	EXPECT_EQ(stat_of(TREE, 0, "lost full"), self->seen.discarded);
	EXPECT_EQ(self->seen.head.lost_full, self->seen.discarded);
	EXPECT_EQ(6000, self->seen.discarded + self->seen.marks);
	EXPECT_EQ(0, self->seen.skipped);
	/* The loss at the end has a packet of its own. */
	EXPECT_EQ(1, self->seen.empty);
	EXPECT_EQ(1, self->seen.order);
	close(fd);
}

/* The second reader's packet counts only the losses since the first reader's. */
TEST_F(raw, tells_loss_once)
{
	struct packets second = {};
	int fd = packets_open(TREE, 0, O_NONBLOCK);

	marks(&self->next, 3000);
	flush();
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	close(fd);
	marks(&self->next, 3000);
	stop();
	fd = packets_open(TREE, 0, O_NONBLOCK);
	EXPECT_TRUE(packets_drain(&second, fd));
	EXPECT_EQ(0, second.wrong);
	EXPECT_EQ(6000, self->seen.discarded + self->seen.marks +
			second.discarded + second.marks);
	EXPECT_EQ(stat_of(TREE, 0, "overwritten"), self->seen.discarded + second.discarded);
	close(fd);
}

/* Nobody empties the pipe: tracing goes on in other pages, up to a limit. */
TEST_F(raw, is_not_stopped_by_a_full_pipe)
{
	int fd = packets_open(TREE, 0, 0), pipes[64][2], n, full = 0;
	long long in_pipes = 0, got;

	for (n = 0; n < 64; n++) {
		ASSERT_EQ(0, pipe(pipes[n]));
		do {
			marks(&self->next, 60);
			flush();
			got = splice(fd, NULL, pipes[n][1], NULL, PAGE,
				     SPLICE_F_NONBLOCK);
			in_pipes += got > 0 ? got : 0;
		} while (got > 0);
		EXPECT_EQ(EAGAIN, errno);
		full += in_pipes / PAGE <= n * 16;
	}
	/* 16 sub-buffers, and 16 places in a pipe. */
	EXPECT_EQ(32 * PAGE, in_pipes);
	EXPECT_LT(30, full);
	EXPECT_EQ(self->next, stat_of(TREE, 0, "written"));
	EXPECT_LT(0, stat_of(TREE, 0, "overwritten"));
	for (n = 0; n < 64; n++) {
		close(pipes[n][1]);
		while ((got = read(pipes[n][0], self->buf, sizeof(self->buf))) > 0)
			packets_add(&self->seen, self->buf, got);
		close(pipes[n][0]);
	}
	EXPECT_EQ(32, self->seen.packets);
	EXPECT_EQ(0, self->seen.order);
	/* They have come back. */
	stop();
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	EXPECT_EQ(self->next, self->seen.marks + self->seen.discarded);
	close(fd);
}

/* Lends as many packets as the ring allows: 2, and as many as a pipe holds. */
static void lend_all(int fd, int pipes[3][2], int *next)
{
	packets_resize(TREE, 2);
	for (int i = 0; i < 3; i++) {
		if (pipe(pipes[i]))
			give_up("a pipe");
		do {
			marks(next, 60);
			flush();
		} while (splice(fd, NULL, pipes[i][1], NULL, PAGE, SPLICE_F_NONBLOCK) > 0);
	}
}

static void close_all(int pipes[3][2])
{
	for (int i = 0; i < 3; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

/* A reader that waits for lent packets to return ends when no records are left, */
TEST_F(raw, ends_while_all_is_lent)
{
	struct call waits = { .how = by_read };
	int pipes[3][2];

	if (!have_text())
		SKIP(return, NO_TEXT);
	waits.fd = packets_open(TREE, 0, 0);
	lend_all(waits.fd, pipes, &self->next);
	begin_call(&waits);
	stop();
	EXPECT_FALSE(waits.done);
	overwrite_file(TREE, "trace", "");
	EXPECT_TRUE(call_ends(&waits));
	EXPECT_EQ(0, waits.ret);
	close_all(pipes);
	pthread_join(waits.thread, NULL);
	close(waits.fd);
}

/* and goes on when a larger buffer allows more packets to be lent at once. */
TEST_F(raw, is_lent_more)
{
	struct call waits = { .how = by_read, .fd = packets_open(TREE, 0, 0) };
	int pipes[3][2];

	ASSERT_EQ(0, write_file(TREE, "buffer_percent", "100"));
	lend_all(waits.fd, pipes, &self->next);
	begin_call(&waits);
	EXPECT_FALSE(waits.done);
	EXPECT_EQ(0, packets_resize(TREE, 32));
	EXPECT_TRUE(call_ends(&waits));
	EXPECT_EQ(PAGE, waits.ret);
	close_all(pipes);
	pthread_join(waits.thread, NULL);
	close(waits.fd);
}

/* Closing a file drops the packet that it holds; packets in a pipe stay. */
TEST_F(raw, outlives_its_file)
{
	int fd = packets_open(TREE, 0, 0), pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	marks(&self->next, 60);
	flush();
	ASSERT_EQ(PAGE, splice(fd, NULL, pipes[1], NULL, PAGE, 0));
	close(fd);
	ASSERT_EQ(0, rmdir(TREE));
	ASSERT_EQ(0, mkdir(TREE, 0700));
	EXPECT_EQ(PAGE, read(pipes[0], self->buf, sizeof(self->buf)));
	EXPECT_EQ(PAGE, packets_add(&self->seen, self->buf, PAGE));
	EXPECT_EQ(60, self->seen.marks);
	close(pipes[0]);
	close(pipes[1]);
}

/* splice() does not wait. */
static ssize_t splice_next(int fd, int pipe)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, -1) == 1 ? splice(fd, NULL, pipe, NULL, PAGE, 0) : -1;
}

TEST_F(raw, outlives_who_splices)
{
	int status, i;
	pid_t child;

	for (i = 0; i < 20; i++) {
		child = fork();
		if (!child) {
			int fd = packets_open(TREE, 0, 0), pipes[2];

			if (pipe(pipes))
				_exit(1);
			while (splice_next(fd, pipes[1]) > 0)
				while (read(pipes[0], self->buf, 1000) == 1000)
					;
			_exit(0);
		}
		marks(&self->next, 200);
		usleep(i * 500);
		kill(child, SIGKILL);
		ASSERT_EQ(child, waitpid(child, &status, 0));
	}
	EXPECT_EQ(self->next, stat_of(TREE, 0, "written"));
	EXPECT_EQ(self->next, stat_of(TREE, 0, "read") + stat_of(TREE, 0, "entries") +
			      stat_of(TREE, 0, "overwritten"));
}

/* Numbers go on when the buffer is emptied or made anew: it is one stream. */
TEST_F(raw, is_one_stream)
{
	static const char * const sizes[] = { "64", "8", "128", "4" };
	int fd = packets_open(TREE, 0, O_NONBLOCK);
	unsigned char uuid[ETCH_PACKET_UUID];
	size_t i;

	for (i = 0; i < 2 * ARRAY_LEN(sizes); i++) {
		marks(&self->next, 500);
		flush();
		EXPECT_TRUE(packets_drain(&self->seen, fd));
		marks(&self->next, 10);
		if (i % 2)
			overwrite_file(TREE, "trace", "");
		else
			ASSERT_EQ(0, write_file(TREE, "buffer_subbuf_size_kb", sizes[i / 2]));
	}
	EXPECT_EQ(0, self->seen.wrong);
	EXPECT_LE(4000, self->seen.marks + self->seen.discarded);
	memcpy(uuid, self->seen.head.uuid, sizeof(uuid));

	/* Another clock begins another stream. No machine begins with this clock. */
	ASSERT_EQ(0, write_file(TREE, "trace_clock", "boot"));
	marks(&self->next, 10);
	stop();
	memset(&self->seen, 0, sizeof(self->seen));
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	EXPECT_EQ(10, self->seen.marks);
	EXPECT_NE(0, memcmp(uuid, self->seen.head.uuid, sizeof(uuid)));
	close(fd);
}

/* Packets' numbers go on after a CPU was off line while sub-buffers changed. */
TEST_F(raw, is_one_stream_over_hotplug)
{
	int fd = packets_open(TREE, 1, O_NONBLOCK);

	if (write_file(CPU1, "online", "1"))
		SKIP(return, "no second processor that can go off line");
	run_on(1);
	marks(&self->next, 200);
	flush();
	ASSERT_LT(0, read(fd, self->buf, PAGE));
	packets_add(&self->seen, self->buf, PAGE);
	run_on(0);
	ASSERT_EQ(0, write_file(CPU1, "online", "0"));
	EXPECT_EQ(0, write_fmt(TREE, "buffer_subbuf_size_kb", "%zu", 2 * PAGE >> 10));
	ASSERT_EQ(0, write_file(CPU1, "online", "1"));
	run_on(1);
	marks(&self->next, 20);
	flush();
	EXPECT_TRUE(packets_drain(&self->seen, fd));
	run_on(0);
	EXPECT_LT(1, self->seen.head.packet_seq_num);
	EXPECT_LE(20, self->seen.marks);
	close(fd);
}

/* Two readers of one CPU have different packets. */
TEST_F(raw, gives_a_packet_to_one)
{
	struct packets other = {};
	int a = packets_open(TREE, 0, O_NONBLOCK), b = packets_open(TREE, 0, O_NONBLOCK);
	ssize_t n;

	marks(&self->next, 500);
	stop();
	do {
		n = read(a, self->buf, PAGE);
		if (n > 0)
			packets_add(&self->seen, self->buf, n);
		n = read(b, self->buf, PAGE);
		if (n > 0)
			packets_add(&other, self->buf, n);
	} while (n > 0);
	EXPECT_TRUE(packets_drain(&self->seen, a));
	EXPECT_LT(0, other.marks);
	EXPECT_EQ(500, self->seen.marks + other.marks);
	close(a);
	close(b);
}

TEST_HARNESS_MAIN
