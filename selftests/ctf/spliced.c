// SPDX-License-Identifier: GPL-2.0
/*
 * splice() holds the lock of its pipe, and a task at the pipe's other end waits for that
 * lock, even with O_NONBLOCK. So splice() from trace_pipe_raw never waits.
 */
#define _GNU_SOURCE
#include <poll.h>

#include "call.h"
#include "etch_test.h"
#include "packets.h"

#define TREE	ETCH "/instances/etch-spliced"

FIXTURE(spliced) {
	struct packets seen;
	int next;		/* mark */
	int fd;			/* may wait */
	int pipes[2];
	char buf[LARGEST_PAGE];
};

FIXTURE_SETUP(spliced)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, packets_tree(TREE));
	ASSERT_EQ(0, pipe2(self->pipes, O_CLOEXEC));
	self->fd = packets_open(TREE, 0, 0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(spliced)
{
	EXPECT_EQ(0, self->seen.wrong);
	close(self->fd);
	close(self->pipes[0]);
	close(self->pipes[1]);
	EXPECT_EQ(0, rmdir(TREE));
}

static void new_packet(int *next)
{
	packets_mark(TREE, next, 10);
	write_file(TREE, "flush", "1");
}

static ssize_t by_splice(const struct call *c)
{
	return splice(c->fd, NULL, *(int *)c->data, NULL, PAGE, 0);
}

static ssize_t by_read(const struct call *c)
{
	char byte;

	return read(c->fd, &byte, 1);
}

TEST_F(spliced, does_not_lock_the_pipe_and_wait)
{
	struct call splices = { .how = by_splice, .fd = self->fd, .data = &self->pipes[1] };
	struct call reads = { .how = by_read, .fd = self->pipes[0] };

	ASSERT_EQ(0, fcntl(self->pipes[0], F_SETFL, O_NONBLOCK));
	begin_call(&splices);
	begin_call(&reads);
	EXPECT_TRUE(call_ends(&reads));
	EXPECT_TRUE(call_ends(&splices));
	/* Ends a splice() that waits, so that the test fails and does not hang. */
	write_file(TREE, "tracing_on", "0");
	pthread_join(splices.thread, NULL);
	pthread_join(reads.thread, NULL);
	EXPECT_EQ(-1, reads.ret);
	EXPECT_EQ(EAGAIN, reads.err);
	EXPECT_EQ(-1, splices.ret);
	EXPECT_EQ(EAGAIN, splices.err);
}

/* splice() does not wait when too many packets are in pipes, either. */
TEST_F(spliced, does_not_wait_for_packets_to_come_back)
{
	struct call splices = { .how = by_splice, .fd = self->fd };
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	int pipes[3][2], i, nr = 0;
	bool all = false;

	ASSERT_EQ(0, packets_resize(TREE, 2));
	for (i = 0; i < 3 && !all; i++) {
		ASSERT_EQ(0, pipe(pipes[i]));
		do {
			new_packet(&self->next);
			all = poll(&p, 1, 0) == 0;
		} while (!all && splice(self->fd, NULL, pipes[i][1], NULL, PAGE,
					SPLICE_F_NONBLOCK) > 0 && ++nr);
	}
	ASSERT_TRUE(all);
	EXPECT_EQ(18, nr);
	splices.data = &self->pipes[1];
	begin_call(&splices);
	EXPECT_TRUE(call_ends(&splices));
	while (i--) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	pthread_join(splices.thread, NULL);
	EXPECT_EQ(-1, splices.ret);
	EXPECT_EQ(EAGAIN, splices.err);
	EXPECT_EQ(1, poll(&p, 1, 10000));
	EXPECT_EQ(PAGE, splice(self->fd, NULL, self->pipes[1], NULL, PAGE, 0));
}

/* poll() does the waiting: when it reports data, splice() gives a packet or the end. */
TEST_F(spliced, has_what_was_polled_for)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	ssize_t n;
	int i;

	for (i = 0; i < 20; i++) {
		EXPECT_EQ(0, poll(&p, 1, 0));
		EXPECT_EQ(-1, splice(self->fd, NULL, self->pipes[1], NULL, PAGE, 0));
		EXPECT_EQ(EAGAIN, errno);
		new_packet(&self->next);
		ASSERT_EQ(1, poll(&p, 1, 10000));
		ASSERT_EQ(PAGE, splice(self->fd, NULL, self->pipes[1], NULL, PAGE, 0));
		ASSERT_EQ(PAGE, read(self->pipes[0], self->buf, PAGE));
		EXPECT_EQ(PAGE, packets_add(&self->seen, self->buf, PAGE));
	}
	EXPECT_EQ(200, self->seen.marks);
	EXPECT_EQ(0, self->seen.order);
	packets_mark(TREE, &self->next, 1);
	write_file(TREE, "tracing_on", "0");
	ASSERT_EQ(1, poll(&p, 1, 10000));
	ASSERT_EQ(PAGE, splice(self->fd, NULL, self->pipes[1], NULL, PAGE, 0));
	ASSERT_EQ(1, poll(&p, 1, 10000));
	n = splice(self->fd, NULL, self->pipes[1], NULL, PAGE, 0);
	EXPECT_EQ(0, n);
}

TEST_HARNESS_MAIN
