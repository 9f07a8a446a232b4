// SPDX-License-Identifier: GPL-2.0
/*
 * Events of a program without restartable sequences: the kernel stores each record.
 *
 * The test starts itself once more, with those of the C library turned off.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "events.h"
#include "text.h"

ETCH_PROVIDER_DEFINE(utest, TEST_EVENTS);

#define TUNABLES	"GLIBC_TUNABLES"
#define NO_RSEQ		"glibc.pthread.rseq=0"

static int tid(void)
{
	return syscall(SYS_gettid);
}

FIXTURE(write) {
	struct trace trace;
};

FIXTURE_SETUP(write)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access("/dev/etch", F_OK))
		SKIP(return, NO_USER);
	ASSERT_TRUE(etch_provider_calls(utest));
	ASSERT_EQ(0, etch_provider_error(utest));
	etch_as_new();
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
}

FIXTURE_TEARDOWN(write)
{
	text_free(&self->trace);
	write_file(ETCH, "buffer_mode", "overwrite");
	etch_as_new();
}

TEST_F(write, stores_records_as_they_are)
{
	ASSERT_EQ(0, write_file(ETCH, TEXT "/enable", "1"));
	utest_number(4, 1ULL << 40, -6);
	utest_text("one", 1, "");
	utest_text(NULL, 2, "three");
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "0"));
	utest_number(5, 5, 5);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(3, self->trace.nr);
	EXPECT_STREQ("a=4 b=1099511627776 c=-6", self->trace.records[0].text);
	EXPECT_STREQ("first=one n=1 second=", self->trace.records[1].text);
	EXPECT_STREQ("first=(null) n=2 second=three", self->trace.records[2].text);
	EXPECT_EQ(getpid(), self->trace.records[0].pid);
}

TEST_F(write, stands_among_the_kernels)
{
	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(0, write_fmt(ETCH, "trace_marker", "before %d", i));
		utest_number(i, 0, 0);
	}
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	self->trace = text_read(ETCH, "trace_pipe");
	ASSERT_EQ(100, self->trace.nr);
	for (int i = 0; i < 50; i++) {
		EXPECT_STREQ("number", self->trace.records[2 * i + 1].event);
		EXPECT_EQ(i, number_after(self->trace.records[2 * i + 1].text, "a="));
	}
}

static void *run(void *nr)
{
	for (uintptr_t i = 0; i < (uintptr_t)nr; i++)
		utest_number(i, tid(), 0);
	return NULL;
}

TEST_F(write, knows_processes_and_threads)
{
	pthread_t threads[4];
	pid_t child = fork();

	if (!child) {
		run((void *)10);
		if (!fork()) {
			run((void *)10);
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, run, (void *)10));
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	waitpid(child, NULL, 0);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(60, self->trace.nr);
	for (size_t i = 0; i < self->trace.nr; i++) {
		EXPECT_EQ(self->trace.records[i].pid,
			  number_after(self->trace.records[i].text, "b="));
	}
}

TEST_F(write, leaves_what_a_killed_process_wrote)
{
	long long last = -1;
	pid_t child = fork();

	if (!child)
		run((void *)UINTPTR_MAX);
	usleep(100000);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	EXPECT_EQ(1, times_in(ETCH, "user/stats", "gone"));
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	self->trace = text_read(ETCH, "trace_pipe");
	EXPECT_LT(10, self->trace.nr);
	for (size_t i = 0; i < self->trace.nr; i++) {
		long long nr = number_after(self->trace.records[i].text, "a=");

		ASSERT_TRUE(last == -1 || nr == last + 1);
		last = nr;
	}
	/* Its ring has gone with its last record. */
	EXPECT_EQ(0, times_in(ETCH, "user/stats", "gone"));
}

/* More than a ring holds: 28 bytes a record, and 256 KiB. */
#define MANY	12000

static void flood(struct __test_metadata *_metadata, struct trace *trace, const char *mode)
{
	char *stats;

	ASSERT_EQ(0, write_file(ETCH, "buffer_mode", mode));
	run((void *)MANY);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	*trace = text_read(ETCH, "trace_pipe");
	stats = read_file(ETCH, "user/stats");
	EXPECT_LT(MANY / 2, trace->nr);
	EXPECT_GT(MANY, trace->nr);
	EXPECT_EQ((long long)trace->nr, number_after(stats, "read "));
	EXPECT_EQ(MANY, number_after(stats, "read ") + number_after(stats, "overwritten ") +
		  number_after(stats, "lost "));
	EXPECT_EQ(0, number_after(stats, "malformed "));
	for (size_t i = 1; i < trace->nr; i++) {
		ASSERT_EQ(number_after(trace->records[i - 1].text, "a=") + 1,
			  number_after(trace->records[i].text, "a="));
	}
	free(stats);
}

TEST_F(write, counts_what_is_lost_when_the_ring_is_full)
{
	flood(_metadata, &self->trace, "discard");
	EXPECT_EQ(0, number_after(self->trace.records[0].text, "a="));
}

TEST_F(write, counts_what_gives_way)
{
	flood(_metadata, &self->trace, "overwrite");
	EXPECT_EQ(MANY - 1,
		  number_after(self->trace.records[self->trace.nr - 1].text, "a="));
	/* The text says how many are missing before the first one. */
	EXPECT_EQ(MANY, self->trace.lost + self->trace.nr);
}

/* Hands over what the library would not. Returns an errno. */
static int hand_over(unsigned int id, const void *fields, unsigned int len)
{
	struct etch_user_write w = { id, len, (uintptr_t)fields };

	return ioctl(utest__provider.fd, ETCH_USER_IOC_WRITE, &w) ? errno : 0;
}

static unsigned int id_of(const char *event)
{
	char file[100];

	snprintf(file, sizeof(file), "events/%s/id", event);
	return strtoul(read_line(ETCH, file), NULL, 10);
}

TEST_F(write, refuses_what_makes_no_sense)
{
	unsigned int number = id_of("utest/number"), text = id_of("utest/text");
	uint32_t fields[8] = { 7 }, words[3] = { 24 | 4 << 16, 0, 24 | 4 << 16 };

	ASSERT_EQ(0, write_file(ETCH, "events/utest/enable", "1"));
	EXPECT_EQ(EINVAL, hand_over(0, fields, sizeof(fields)));
	EXPECT_EQ(EINVAL, hand_over(0x3fff, fields, sizeof(fields)));
	EXPECT_EQ(EINVAL, hand_over(number | 0x4000, fields, sizeof(fields)));
	EXPECT_EQ(EINVAL, hand_over(id_of("sched/sched_switch"), fields, sizeof(fields)));
	EXPECT_EQ(EINVAL, hand_over(number, fields, 13));
	EXPECT_EQ(EINVAL, hand_over(number, fields, 0));
	EXPECT_EQ(EINVAL, hand_over(number, fields, ETCH_LONGEST - ETCH_HEAD + 1));
	EXPECT_EQ(EINVAL, hand_over(number, fields, ~0U));
	EXPECT_EQ(EFAULT, hand_over(number, NULL, 16));
	EXPECT_EQ(EFAULT, hand_over(number, (void *)(-4096UL), 16));
	/* A string behind the end of the record. */
	EXPECT_EQ(EINVAL, hand_over(text, words, sizeof(words)));
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(0, self->trace.nr);
	text_free(&self->trace);
	/* More than there is to the event is left out. */
	EXPECT_EQ(0, hand_over(number, fields, sizeof(fields)));
	utest_number(8, 0, 0);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(2, self->trace.nr);
	EXPECT_STREQ("a=7 b=0 c=0", self->trace.records[0].text);
	EXPECT_STREQ("a=8 b=0 c=0", self->trace.records[1].text);
	EXPECT_EQ(0, times_in(ETCH, "user/stats", "malformed 1"));
}

/* About as long as a block, which is more than a line of text shows. */
TEST_F(write, takes_long_records)
{
	struct {
		uint32_t nr[2], thread, pad;
		char text[16000];
	} record = { .pad = (12 + 16) | 16000U << 16 };
	unsigned int id = id_of("utest/step");

	memset(record.text, 'x', sizeof(record.text) - 1);
	ASSERT_EQ(0, write_file(ETCH, STEP "/enable", "1"));
	for (unsigned int i = 0; i < 10; i++) {
		record.nr[0] = i;
		ASSERT_EQ(0, hand_over(id, &record, sizeof(record)));
		utest_number(i, 0, 0);
	}
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	self->trace = text_read(ETCH, "trace_pipe");
	EXPECT_EQ(1, times_in(ETCH, "user/stats", ": alive cpus 1 read 20 overwritten 0 lost 0 "
			      "malformed 0"));
}

/* Of all lengths, so that blocks end at all places. */
TEST_F(write, takes_records_of_all_lengths)
{
	struct {
		uint32_t nr[2], thread, pad;
		char text[3000];
	} record = {};
	unsigned int id = id_of("utest/step"), nr = 0;

	memset(record.text, 'x', sizeof(record.text));
	ASSERT_EQ(0, write_file(ETCH, STEP "/enable", "1"));
	for (unsigned int len = 1; len < sizeof(record.text); len += 37) {
		record.nr[0] = nr++;
		record.pad = (12 + 16) | len << 16;
		record.text[len - 1] = '\0';
		ASSERT_EQ(0, hand_over(id, &record, 16 + len));
		record.text[len - 1] = 'x';
	}
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(nr, self->trace.nr);
	for (unsigned int i = 0; i < nr; i++) {
		const char *text = self->trace.records[i].text;

		EXPECT_EQ(i, number_after(text, "nr="));
		EXPECT_EQ(37 * i, strlen(strstr(text, "pad=") + 4));
	}
}

TEST_F(write, is_no_ring_to_map)
{
	utest_number(1, 0, 0);
	for (int i = 1; i < 64; i++)
		EXPECT_EQ(MAP_FAILED, mmap(NULL, ETCH_USER_RING, PROT_READ | PROT_WRITE,
					   MAP_SHARED, utest__provider.fd, i * (long)getpagesize()));
}

TEST_F(write, goes_on_when_the_file_was_closed)
{
	int status, child = fork();

	if (!child) {
		for (int i = 3; i < 100; i++)
			close(i);
		run((void *)2);
		_exit(0);
	}
	waitpid(child, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(2, times_in(ETCH, "trace", "number: a="));
}

int main(int argc, char **argv)
{
	const char *is = getenv(TUNABLES);

	if (!is || strcmp(is, NO_RSEQ)) {
		setenv(TUNABLES, NO_RSEQ, 1);
		execv("/proc/self/exe", argv);
		give_up("execv");
	}
	return test_harness_run(argc, argv);
}
