// SPDX-License-Identifier: GPL-2.0
/*
 * The window of mapped packets: it shows each packet once, whole, no matter what happens to
 * the buffer.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "packets.h"

#define TREE	ETCH "/instances/etch-window"
#define STRIDE	PAGE
#define SLOTS	8
#define BYTES	(SLOTS * STRIDE)

FIXTURE(window) {
	struct packets seen;
	int next;		/* mark */
	int fd;
	void *map;
	struct etch_window w;
	char buf[4 * LARGEST_PAGE];
};

FIXTURE_SETUP(window)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, packets_tree(TREE));
	self->fd = packets_open(TREE, 0, O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->map);
}

FIXTURE_TEARDOWN(window)
{
	EXPECT_EQ(0, self->seen.wrong);
	munmap(self->map, BYTES);
	close(self->fd);
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

/* How many packets the window has now; -1 with errno. */
static int show(struct __test_metadata *_metadata, struct _test_data_window *self,
		unsigned int slots)
{
	self->w = (struct etch_window) {
		.address = (unsigned long)self->map, .packets = slots, .stride = STRIDE,
	};
	if (ioctl(self->fd, ETCH_IOC_WINDOW, &self->w))
		return -1;
	for (unsigned int i = 0; i < self->w.packets; i++) {
		struct etch_packet_header *head = self->map + i * STRIDE;

		EXPECT_EQ(head->packet_size / 8,
			  packets_add(&self->seen, head, head->packet_size / 8));
	}
	return self->w.packets;
}

TEST_F(window, shows_each_packet_once)
{
	int i, n;

	EXPECT_EQ(-1, show(_metadata, self, SLOTS));
	EXPECT_EQ(EAGAIN, errno);
	for (i = 0; i < 50; i++) {
		marks(&self->next, 100);
		while ((n = show(_metadata, self, i % SLOTS + 1)) > 0)
			;
		EXPECT_EQ(-1, n);
		EXPECT_EQ(EAGAIN, errno);
	}
	write_file(TREE, "tracing_on", "0");
	while ((n = show(_metadata, self, SLOTS)) > 0)
		;
	EXPECT_EQ(0, n);
	EXPECT_EQ(5000, self->seen.marks);
	EXPECT_EQ(0, self->seen.order);
	EXPECT_EQ(0, self->seen.skipped);
	EXPECT_EQ(5000, stat_of(TREE, 0, "read"));
}

/* Shown packets stay while the ring goes on, and while others read() and splice(). */
TEST_F(window, stays_while_others_go_on)
{
	int pipes[2], shown, order;

	ASSERT_EQ(0, pipe(pipes));
	marks(&self->next, 600);
	flush();
	ASSERT_EQ(4, show(_metadata, self, 4));
	memcpy(self->buf, self->map, 4 * STRIDE);
	shown = self->seen.marks;
	order = self->seen.order;

	EXPECT_EQ(STRIDE, splice(self->fd, NULL, pipes[1], NULL, STRIDE, 0));
	EXPECT_EQ(0, packets_resize(TREE, 64));
	marks(&self->next, 6000);
	EXPECT_EQ(0, packets_resize(TREE, 4));
	EXPECT_EQ(0, memcmp(self->buf, self->map, 4 * STRIDE));
	EXPECT_LT(0, shown);
	EXPECT_EQ(0, order);

	/* Larger sub-buffers do not fit in. */
	EXPECT_EQ(0, write_fmt(TREE, "buffer_subbuf_size_kb", "%zu", 2 * PAGE >> 10));
	marks(&self->next, 300);
	flush();
	EXPECT_EQ(-1, show(_metadata, self, SLOTS));
	EXPECT_EQ(EINVAL, errno);
	self->w.stride = 2 * STRIDE;
	self->w.packets = SLOTS / 2;
	EXPECT_EQ(0, ioctl(self->fd, ETCH_IOC_WINDOW, &self->w));
	EXPECT_LT(0, self->w.packets);
	close(pipes[0]);
	close(pipes[1]);
}

static sigjmp_buf no_page;

static void jump(int sig)
{
	siglongjmp(no_page, sig);
}

static int signal_at(volatile const char *at)
{
	struct sigaction action = { .sa_handler = jump };
	int sig;

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sig = sigsetjmp(no_page, 1);
	if (!sig)
		(void)*at;
	signal(SIGBUS, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	return sig;
}

TEST_F(window, has_nothing_else_in_it)
{
	EXPECT_EQ(SIGBUS, signal_at(self->map));
	marks(&self->next, 10);
	flush();
	ASSERT_EQ(1, show(_metadata, self, SLOTS));
	EXPECT_EQ(0, signal_at(self->map));
	EXPECT_EQ(SIGBUS, signal_at(self->map + STRIDE));
	EXPECT_EQ(-1, show(_metadata, self, SLOTS));
	EXPECT_EQ(SIGBUS, signal_at(self->map));
}

/*
 * A packet of one page in a sub-buffer of several: the window shows that page only. The other
 * pages are full of records that were thrown away.
 */
TEST_F(window, has_the_packet_alone)
{
	struct etch_window w = {
		.address = (unsigned long)self->map, .packets = 1, .stride = 4 * STRIDE,
	};

	if (!have_text())
		SKIP(return, NO_TEXT);
	/* This shows the packet that only counts earlier losses; no such packet follows. */
	marks(&self->next, 1);
	flush();
	ASSERT_EQ(1, show(_metadata, self, 1));
	ASSERT_EQ(0, write_fmt(TREE, "buffer_subbuf_size_kb", "%zu", 4 * PAGE >> 10));
	marks(&self->next, 1200);
	overwrite_file(TREE, "trace", "");
	marks(&self->next, 3);
	flush();
	ASSERT_EQ(0, ioctl(self->fd, ETCH_IOC_WINDOW, &w));
	ASSERT_EQ(1, w.packets);
	EXPECT_EQ(PAGE, packets_add(&self->seen, self->map, PAGE));
	EXPECT_EQ(4, self->seen.marks);
	for (int i = 1; i < 4; i++)
		EXPECT_EQ(SIGBUS, signal_at(self->map + i * STRIDE));
}

/*
 * No other part of the kernel may hold a reference to a lent page: the page would outlive its
 * loan, and would not be counted.
 */
TEST_F(window, is_not_pinned)
{
	struct iovec from = { .iov_base = self->map, .iov_len = PAGE };
	struct iovec to = { .iov_base = self->buf, .iov_len = PAGE };
	int pipes[2], fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_LE(0, fd);
	marks(&self->next, 10);
	flush();
	ASSERT_EQ(1, show(_metadata, self, 1));
	EXPECT_EQ(-1, vmsplice(pipes[1], &from, 1, SPLICE_F_NONBLOCK));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, process_vm_readv(getpid(), &to, 1, &from, 1, 0));
	EXPECT_TRUE(errno == EFAULT || errno == ENOSYS);
	EXPECT_EQ(-1, pread(fd, self->buf, PAGE, (off_t)self->map));
	EXPECT_EQ(EIO, errno);
	/* Copying its bytes is allowed. */
	EXPECT_EQ(PAGE, write(pipes[1], self->map, PAGE));
	EXPECT_EQ(PAGE, read(pipes[0], self->buf, PAGE));
	EXPECT_EQ(0, memcmp(self->buf, self->map, PAGE));
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
}

/* A window has one place: when it moves, its former addresses give SIGBUS. */
TEST_F(window, is_in_one_place)
{
	void *other = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, self->fd, 0);
	struct etch_window w = { .packets = 1, .stride = STRIDE };

	ASSERT_NE(MAP_FAILED, other);
	marks(&self->next, 300);
	flush();
	ASSERT_EQ(1, show(_metadata, self, 1));
	w.address = (unsigned long)self->map + 4 * STRIDE;
	ASSERT_EQ(0, ioctl(self->fd, ETCH_IOC_WINDOW, &w));
	EXPECT_EQ(SIGBUS, signal_at(self->map));
	EXPECT_EQ(0, signal_at(self->map + 4 * STRIDE));
	w.address = (unsigned long)other;
	ASSERT_EQ(0, ioctl(self->fd, ETCH_IOC_WINDOW, &w));
	EXPECT_EQ(SIGBUS, signal_at(self->map + 4 * STRIDE));
	EXPECT_EQ(0, signal_at(other));
	munmap(other, BYTES);
}

/* Each open file has a window of its own. */
TEST_F(window, is_a_files)
{
	int fd = packets_open(TREE, 0, O_NONBLOCK);
	struct etch_window w = { .packets = 1, .stride = STRIDE };
	void *other = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);

	ASSERT_NE(MAP_FAILED, other);
	marks(&self->next, 300);
	flush();
	ASSERT_EQ(1, show(_metadata, self, 1));
	w.address = (unsigned long)other;
	ASSERT_EQ(0, ioctl(fd, ETCH_IOC_WINDOW, &w));
	EXPECT_EQ(0, signal_at(self->map));
	EXPECT_EQ(0, signal_at(other));
	w.address = (unsigned long)self->map;
	EXPECT_EQ(-1, ioctl(fd, ETCH_IOC_WINDOW, &w));
	EXPECT_EQ(EFAULT, errno);
	munmap(other, BYTES);
	close(fd);
}

/* If the ioctl cannot write its result, it shows no packets, and loses none. */
TEST_F(window, loses_nothing_to_a_bad_address)
{
	struct etch_window *w = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, w);
	w->address = (unsigned long)self->map;
	w->packets = SLOTS;
	w->stride = STRIDE;
	ASSERT_EQ(0, mprotect(w, PAGE, PROT_READ));
	marks(&self->next, 200);
	flush();
	EXPECT_EQ(-1, ioctl(self->fd, ETCH_IOC_WINDOW, w));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(SIGBUS, signal_at(self->map));
	EXPECT_LT(0, show(_metadata, self, SLOTS));
	EXPECT_EQ(200, self->seen.marks);
	EXPECT_EQ(0, self->seen.order);
	munmap(w, PAGE);
}

TEST_F(window, is_no_childs)
{
	int status;
	pid_t child;

	marks(&self->next, 10);
	flush();
	ASSERT_EQ(1, show(_metadata, self, SLOTS));
	child = fork();
	if (!child)
		_exit(signal_at(self->map) != SIGSEGV);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(window, is_to_be_read_only)
{
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, self->fd, 0));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(-1, mprotect(self->map, BYTES, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
}

TEST_F(window, refuses_nonsense)
{
	const struct {
		long at;
		unsigned int packets, stride;
		int err;
	} bad[] = {
		{ 0, 0, STRIDE, EINVAL },
		{ 0, 1025, STRIDE, EINVAL },
		{ 0, ~0U, ~0U, EINVAL },
		{ 0, 1, 0, EINVAL },
		{ 0, 1, 100, EINVAL },
		{ 0, 1, 1 << 20, EINVAL },
		{ 100, 1, STRIDE, EINVAL },
		{ 0, SLOTS + 1, STRIDE, EFAULT },
		{ STRIDE, SLOTS, STRIDE, EFAULT },
		{ 1L << 40, 1, STRIDE, EFAULT },
		{ -(1L << 40), 1, STRIDE, EFAULT },
	};
	size_t i;

	marks(&self->next, 10);
	flush();
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		struct etch_window w = {
			.address = (unsigned long)self->map + bad[i].at,
			.packets = bad[i].packets, .stride = bad[i].stride,
		};

		EXPECT_EQ(-1, ioctl(self->fd, ETCH_IOC_WINDOW, &w));
		EXPECT_EQ(bad[i].err, errno);
	}
	EXPECT_EQ(-1, ioctl(self->fd, ETCH_IOC_WINDOW, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, _IO(0xE7, 9), NULL));
	EXPECT_EQ(ENOTTY, errno);

	/* The refused calls lost nothing. */
	EXPECT_EQ(1, show(_metadata, self, SLOTS));
	EXPECT_EQ(10, self->seen.marks);
}

/* The file is closed before the window is unmapped. */
TEST_F(window, ends_in_any_order)
{
	int fd = packets_open(TREE, 0, O_NONBLOCK);
	struct etch_window w = { .packets = 2, .stride = STRIDE };
	void *map = mmap(NULL, 2 * STRIDE, PROT_READ, MAP_SHARED, fd, 0);

	marks(&self->next, 200);
	flush();
	w.address = (unsigned long)map;
	ASSERT_EQ(0, ioctl(fd, ETCH_IOC_WINDOW, &w));
	ASSERT_EQ(2, w.packets);
	close(fd);
	EXPECT_EQ(2 * STRIDE, packets_add(&self->seen, map, 2 * STRIDE));
	/* The mapping is a user of the file: it holds the instance. */
	EXPECT_EQ(-1, rmdir(TREE));
	EXPECT_EQ(0, munmap(map, 2 * STRIDE));
	EXPECT_LT(0, self->seen.marks);
}

TEST_HARNESS_MAIN
