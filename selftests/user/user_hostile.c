// SPDX-License-Identifier: GPL-2.0
/*
 * A program that writes at random into its rings, while others write and readers read: the
 * kernel counts what makes no sense, and nobody else's record is touched. The program itself may
 * die of it: the library believes the positions in its rings.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "etch_test.h"

static int counted_ioctl(int fd, unsigned long request, void *arg);

/* The library's system calls are counted. */
#define ioctl(fd, request, ...)	counted_ioctl(fd, request, (void *)(uintptr_t)(__VA_ARGS__ + 0))
#include "events.h"
#undef ioctl
#include "text.h"

ETCH_PROVIDER_DEFINE(utest, TEST_EVENTS);

/* More records than a ring holds. */
#define MANY	20000

FIXTURE(hostile) {
	struct trace trace;
};

FIXTURE_SETUP(hostile)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access("/dev/etch", F_OK) || etch_provider_error(utest) == ENOSYS)
		SKIP(return, NO_USER);
	ASSERT_EQ(0, etch_provider_error(utest));
	etch_as_new();
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
}

FIXTURE_TEARDOWN(hostile)
{
	text_free(&self->trace);
	etch_as_new();
}

static int calls;

static int counted_ioctl(int fd, unsigned long request, void *arg)
{
	calls++;
	return ioctl(fd, request, arg);
}

static struct etch_user_ring *my_ring(void)
{
	for (unsigned int i = 0; i < 32 * utest__provider.cpus; i++)
		if (utest__provider.rings[i])
			return utest__provider.rings[i];
	return NULL;
}

static void scribble(unsigned long rounds, unsigned int seed)
{
	volatile uint32_t *words;

	utest_number(666, 0, 0);
	words = (volatile uint32_t *)my_ring();
	for (unsigned long i = 0; i < rounds; i++) {
		seed = seed * 1103515245 + 12345;
		/* Half of it where the words are, and the first blocks' heads. */
		words[seed >> 16 & 1 ? (seed >> 8) % 32 :
		      (seed >> 8) % (ETCH_USER_RING / 4)] = seed ^ i;
		if (i % 64 == 0)
			utest_number(666, i, 0);
	}
}

TEST_F(hostile, random_words_harm_nobody_else)
{
	unsigned long rounds = test_number("ETCH_SCRIBBLES", "scribbles", 100000);
	unsigned int good = 0, next = 0;
	pid_t children[3];

	for (size_t i = 0; i < ARRAY_LEN(children); i++) {
		children[i] = fork();
		if (!children[i]) {
			scribble(rounds, i + 1);
			_exit(0);
		}
	}
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 20; i++)
			utest_number(next++, 77, 77);
		free(read_file(ETCH, "user/stats"));
		self->trace = text_read(ETCH, "trace");
		for (size_t i = 0; i < self->trace.nr; i++)
			good += self->trace.records[i].pid == getpid();
		EXPECT_EQ(20, good);
		good = 0;
		text_free(&self->trace);
		EXPECT_EQ(0, overwrite_file(ETCH, "trace", ""));
	}
	for (size_t i = 0; i < ARRAY_LEN(children); i++) {
		waitpid(children[i], NULL, 0);
		utest_number(next++, 77, 77);
	}
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	self->trace = text_read(ETCH, "trace_pipe");
	for (size_t i = 0; i < self->trace.nr; i++)
		good += self->trace.records[i].pid == getpid();
	EXPECT_EQ(ARRAY_LEN(children), good);
}

/* Stores two records, and @len bytes over the second one, @at bytes behind its start. */
static bool spoil_second(size_t at, const void *bytes, size_t len)
{
	struct etch_user_ring *ring;

	utest_number(1, 0, 0);
	utest_number(2, 0, 0);
	ring = my_ring();
	if (!ring)
		return false;
	memcpy((char *)ring + ETCH_USER_DATA + sizeof(struct etch_user_block) + 28 + at, bytes,
	       len);
	return true;
}

/* Neither a reader that looks nor one that takes finds the second record, and that is counted. */
static void expect_one_malformed(struct __test_metadata *_metadata, struct trace *trace)
{
	*trace = text_read(ETCH, "trace");
	EXPECT_EQ(1, trace->nr);
	text_free(trace);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	*trace = text_read(ETCH, "trace_pipe");
	EXPECT_EQ(1, trace->nr);
	EXPECT_EQ(1, times_in(ETCH, "user/stats", " malformed 1\n"));
}

TEST_F(hostile, a_record_of_an_event_of_the_kernels_is_counted)
{
	/* Its records have 20 bytes, and so would fit. */
	uint16_t id = atoi(read_line(ETCH, "events/irq/irq_handler_exit/id"));

	ASSERT_LT(0, id);
	ASSERT_TRUE(spoil_second(6, &id, sizeof(id)));
	expect_one_malformed(_metadata, &self->trace);
}

TEST_F(hostile, a_record_of_another_process_is_counted)
{
	int pid = getppid();

	ASSERT_TRUE(spoil_second(8, &pid, sizeof(pid)));
	expect_one_malformed(_metadata, &self->trace);
}

/*
 * A program that overwrites makes the oldest block invalid, and begins the next one in its place.
 * It may be killed in between, or have no CPU. Readers get the records of the other blocks, and
 * the kernel counts those of the oldest one as overwritten.
 */
TEST_F(hostile, a_block_that_is_about_to_begin_costs_the_oldest_one)
{
	struct etch_user_ring *ring;
	unsigned int seen;
	cpu_set_t here;
	uint64_t open;
	char *stats;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(here), &here));
	ASSERT_EQ(0, write_file(ETCH, "buffer_mode", "overwrite"));
	for (unsigned int i = 0; i < MANY; i++)
		utest_number(i, 0, 0);
	ring = my_ring();
	ASSERT_NE(NULL, ring);
	open = ((ring->pos >> ETCH_USER_COUNT_BITS) - 1) >> ETCH_USER_SUBBUF_SHIFT;
	ASSERT_LT(ETCH_USER_SUBBUFS, open);
	*(uint64_t *)((char *)ring + ETCH_USER_DATA +
		      (open + 1) % ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF) = 0;
	self->trace = text_read(ETCH, "trace");
	seen = self->trace.nr;
	EXPECT_LT((ETCH_USER_SUBBUFS - 2) * (ETCH_USER_SUBBUF / 32), seen);
	text_free(&self->trace);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	self->trace = text_read(ETCH, "trace_pipe");
	EXPECT_EQ(seen, self->trace.nr);
	/* The first line is this program's. */
	stats = read_file(ETCH, "user/stats");
	ASSERT_NE(NULL, stats);
	EXPECT_EQ(seen, number_after(stats, " read "));
	EXPECT_EQ(MANY, seen + number_after(stats, " overwritten "));
	EXPECT_EQ(0, number_after(stats, " lost "));
	EXPECT_EQ(0, number_after(stats, " malformed "));
	free(stats);
}

TEST_F(hostile, calls_with_nonsense_are_refused)
{
	struct etch_user_attach attach = { .instance = 32 };
	int fd = open("/dev/etch", O_RDWR);
	size_t page = getpagesize();
	void *map;

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, ioctl(fd, ETCH_USER_IOC_ATTACH, &attach));
	EXPECT_EQ(EINVAL, errno);
	attach.instance = 31;
	EXPECT_EQ(-1, ioctl(fd, ETCH_USER_IOC_ATTACH, &attach));
	EXPECT_EQ(ENOENT, errno);
	attach.instance = 0;
	attach.cpu = 1 << 20;
	EXPECT_EQ(-1, ioctl(fd, ETCH_USER_IOC_ATTACH, &attach));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, ETCH_USER_IOC_ATTACH, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(fd, 0xE71F));
	EXPECT_EQ(ENOTTY, errno);
	map = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	EXPECT_EQ(MAP_FAILED, map);
	map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	EXPECT_NE(MAP_FAILED, map);
	EXPECT_EQ(-1, mprotect(map, page, PROT_READ | PROT_WRITE));
	munmap(map, page);
	/* Rings are found by what the kernel calls them. */
	for (int i = 1; i < 100; i++) {
		map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, i * (off_t)page);
		EXPECT_EQ(MAP_FAILED, map);
	}
	close(fd);
}

static void limit_memory(rlim_t bytes)
{
	struct rlimit limit = { bytes, 8 << 20 };

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		_exit(1);
}

/*
 * A child cannot have its parent's ring, and a small process none: the program goes on. It does
 * not ask at each record, and those that were lost are counted in the ring that it gets later.
 */
TEST_F(hostile, without_a_ring_records_are_lost_and_nothing_else)
{
	int status, child, lost;
	char *stats;

	utest_number(1, 0, 0);
	EXPECT_EQ(-1, madvise(my_ring(), ETCH_USER_RING, MADV_DOFORK));
	child = fork();
	if (!child) {
		limit_memory(0);
		if (setgid(65534) || setuid(65534))
			_exit(1);
		calls = 0;
		for (int i = 0; i < 5000; i++)
			utest_number(666, 0, 0);
		if (calls > 50)
			_exit(2);
		limit_memory(4 << 20);
		for (int i = 0; i < 1500; i++)
			utest_number(667, 0, 0);
		_exit(0);
	}
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
	self->trace = text_read(ETCH, "trace");
	ASSERT_LT(1, self->trace.nr);
	EXPECT_STREQ("a=667 b=0 c=0", self->trace.records[1].text);
	stats = read_file(ETCH, "user/stats");
	lost = number_after(strstr(stats, ": gone"), "lost ");
	EXPECT_EQ(5000 + 1500 + 1, lost + self->trace.nr)
		TH_LOG("%s", stats);
	free(stats);
}

TEST_HARNESS_MAIN
