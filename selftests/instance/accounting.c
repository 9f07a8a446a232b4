// SPDX-License-Identifier: GPL-2.0
/*
 * Every record is accounted for, through a hundred times the buffer's size: in
 * both modes, with a reader at work and without one.
 *
 * The records are trace_marker's: the test knows exactly how many it tried to write,
 * and each has its number, so gaps in the numbers show the missing ones.
 */

#include <pthread.h>

#include "etch_test.h"
#include "text.h"

#define TREE		ETCH "/instances/etch-accounting"
#define TIMES		100

/* A buffer has two sub-buffers at least, each of a page at least. */
#define BUFFER		(getpagesize() > 32768 ? 2 * getpagesize() : 65536)

/* A marker of about 200 bytes; there are enough for TIMES the buffer of a CPU. */
#define MARKER		200
#define MARKERS		(TIMES * BUFFER / MARKER + 1000)

struct reader {
	pthread_t thread;
	int fd;
	struct trace trace;
	bool failed;
};

/* trace_pipe ends when tracing is off and all has been read. */
static void *read_pipe(void *arg)
{
	struct reader *r = arg;
	char *text = read_all(r->fd, NULL);

	if (text)
		r->trace = text_parse(text);
	else
		r->failed = true;
	return NULL;
}

/* Writes numbered markers on one CPU. Returns how many were refused. */
static unsigned int write_markers(unsigned int nr)
{
	int fd = open(TREE "/trace_marker", O_WRONLY | O_CLOEXEC);
	char text[MARKER + 1];
	unsigned int refused = 0;
	size_t len;

	for (unsigned int i = 0; i < nr; i++) {
		len = sprintf(text, "%08u ", i);
		memset(text + len, 'm', MARKER - len);
		refused += write(fd, text, MARKER) != MARKER;
	}
	close(fd);
	return refused;
}

/* Markers must come in order, each once. Returns how many numbers are missing. */
static long long check_numbers(struct __test_metadata *_metadata, const struct trace *trace)
{
	long long last = -1, missing = 0, n;

	for (size_t i = 0; i < trace->nr; i++) {
		ASSERT_STREQ("tracing_mark_write", trace->records[i].event);
		n = atoll(trace->records[i].text);
		ASSERT_LT(last, n);
		missing += n - last - 1;
		last = n;
	}
	return missing;
}

static void expect_conserved(struct __test_metadata *_metadata, unsigned int tried)
{
	EXPECT_EQ(tried, stat_sum(TREE, "written") + lost_sum(TREE));
	for (int cpu = 0; cpu < nr_cpus(); cpu++) {
		EXPECT_EQ(stat_of(TREE, cpu, "written"), stat_of(TREE, cpu, "read") +
			  stat_of(TREE, cpu, "overwritten") + stat_of(TREE, cpu, "entries"));
	}
}

FIXTURE(accounting) {
};

FIXTURE_VARIANT(accounting) {
	const char *mode;
	bool overwrite;
};

FIXTURE_VARIANT_ADD(accounting, overwrite) {
	.mode = "overwrite",
	.overwrite = true,
};

FIXTURE_VARIANT_ADD(accounting, discard) {
	.mode = "discard",
};

FIXTURE_SETUP(accounting)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	rmdir(TREE);
	ASSERT_EQ(0, mkdir(TREE, 0700))
		TH_LOG("%s: %s", TREE, strerror(errno));
	ASSERT_EQ(0, write_fmt(TREE, "buffer_size_kb", "%d", BUFFER >> 10));
	ASSERT_EQ(0, write_file(TREE, "buffer_mode", variant->mode));
	run_on(0);
}

FIXTURE_TEARDOWN(accounting)
{
	rmdir(TREE);
}

TEST_F_TIMEOUT(accounting, without_a_reader, 120)
{
	struct trace trace;
	long long missing;

	/* write() fails for each marker that is lost. */
	EXPECT_EQ(write_markers(MARKERS), lost_sum(TREE));
	expect_conserved(_metadata, MARKERS);
	EXPECT_EQ(0, stat_sum(TREE, "read"));
	EXPECT_EQ(0, stat_sum(TREE, "lost nested"));
	EXPECT_EQ(0, stat_sum(TREE, "lost too big"));
	EXPECT_EQ(0, stat_sum(TREE, "lost off"));
	if (variant->overwrite) {
		EXPECT_EQ(0, stat_sum(TREE, "lost full"));
	} else {
		EXPECT_EQ(0, stat_sum(TREE, "overwritten"));
	}

	/* The last ones in overwrite mode, the first ones in discard mode. */
	trace = text_read(TREE, "trace");
	missing = check_numbers(_metadata, &trace);
	ASSERT_LT(0, trace.nr);
	EXPECT_EQ(stat_sum(TREE, "entries"), trace.nr);
	EXPECT_EQ(variant->overwrite ? MARKERS - 1 : trace.nr - 1,
		  atoll(trace.records[trace.nr - 1].text));
	EXPECT_EQ(variant->overwrite ? stat_sum(TREE, "overwritten") : 0, missing);
	/* A ring that is full uses at least half of the size that it shows. */
	EXPECT_LE(BUFFER / 2, stat_of(TREE, 0, "bytes"));
	printf("# %d tried, %lld overwritten, %lld lost, %zu still there\n", MARKERS,
	       stat_sum(TREE, "overwritten"), lost_sum(TREE), trace.nr);
	text_free(&trace);
}

TEST_F_TIMEOUT(accounting, with_a_reader, 240)
{
	struct reader reader = {
		.fd = open(TREE "/trace_pipe", O_RDONLY | O_CLOEXEC),
	};
	long long missing, gone;

	ASSERT_LE(0, reader.fd);
	ASSERT_EQ(0, pthread_create(&reader.thread, NULL, read_pipe, &reader));
	EXPECT_EQ(write_markers(MARKERS), lost_sum(TREE));
	EXPECT_EQ(0, write_file(TREE, "tracing_on", "0"));
	pthread_join(reader.thread, NULL);
	ASSERT_FALSE(reader.failed);

	expect_conserved(_metadata, MARKERS);
	EXPECT_EQ(0, stat_sum(TREE, "entries"));
	EXPECT_EQ(stat_sum(TREE, "read"), reader.trace.nr);
	missing = check_numbers(_metadata, &reader.trace);
	gone = stat_sum(TREE, "overwritten") + lost_sum(TREE);
	/* The last markers may be lost, and then no later line announces that. */
	EXPECT_EQ(MARKERS, reader.trace.nr + gone);
	EXPECT_GE(gone, missing);
	/* The reader's lines announce all markers that are missing between others. */
	EXPECT_LE(missing, reader.trace.lost);
	EXPECT_GE(gone, reader.trace.lost);
	printf("# %d tried, %zu read, %lld gone, %llu of them announced in %zu notes\n",
	       MARKERS, reader.trace.nr, gone, reader.trace.lost, reader.trace.lost_notes);
	text_free(&reader.trace);
	close(reader.fd);
}

#define SWITCH		"events/sched/sched_switch/enable"
#define OTHER		ETCH "/instances/other"

/* Enough for the event to be hit some times. */
static void switch_tasks(void)
{
	for (int i = 0; i < 10; i++)
		usleep(1000);
}

/*
 * A marker that is refused while tracing is off is not counted, and neither are hits of
 * enabled events. The events stay enabled, and record again when tracing is on.
 */
TEST_F(accounting, while_off)
{
	long long before;

	ASSERT_EQ(0, write_file(TREE, SWITCH, "1"));
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "0"));
	EXPECT_EQ(EBADF, write_file(TREE, "trace_marker", "not heard"));
	before = stat_sum(TREE, "written") + stat_sum(TREE, "lost off");
	switch_tasks();
	EXPECT_EQ(before, stat_sum(TREE, "written") + stat_sum(TREE, "lost off"));
	EXPECT_STREQ("1", read_line(TREE, SWITCH));

	ASSERT_EQ(0, write_file(TREE, "tracing_on", "1"));
	switch_tasks();
	EXPECT_LT(before, stat_sum(TREE, "written") + stat_sum(TREE, "lost off"));
}

/* An event enabled while tracing is off records when tracing is on; a disabled one does not. */
TEST_F(accounting, chosen_while_off)
{
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "0"));
	ASSERT_EQ(0, write_file(TREE, SWITCH, "1"));
	switch_tasks();
	EXPECT_EQ(0, stat_sum(TREE, "written") + stat_sum(TREE, "lost off"));
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "1"));
	switch_tasks();
	EXPECT_LT(0, stat_sum(TREE, "written"));

	ASSERT_EQ(0, write_file(TREE, "tracing_on", "0"));
	ASSERT_EQ(0, write_file(TREE, SWITCH, "0"));
	ASSERT_EQ(0, overwrite_file(TREE, "trace", ""));
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "1"));
	switch_tasks();
	EXPECT_EQ(0, stat_sum(TREE, "written"));
}

/* One tree that is off does not keep another from recording, nor costs it records. */
TEST_F(accounting, another_off)
{
	ASSERT_EQ(0, mkdir(OTHER, 0755));
	EXPECT_EQ(0, write_file(OTHER, SWITCH, "1"));
	EXPECT_EQ(0, write_file(TREE, SWITCH, "1"));
	EXPECT_EQ(0, write_file(TREE, "tracing_on", "0"));
	EXPECT_EQ(0, overwrite_file(TREE, "trace", ""));
	EXPECT_EQ(0, overwrite_file(OTHER, "trace", ""));
	switch_tasks();
	EXPECT_EQ(0, stat_sum(TREE, "written") + stat_sum(TREE, "lost off"));
	EXPECT_LT(0, stat_sum(OTHER, "written"));

	EXPECT_EQ(0, write_file(TREE, "tracing_on", "1"));
	EXPECT_EQ(0, write_file(OTHER, "tracing_on", "0"));
	EXPECT_EQ(0, overwrite_file(OTHER, "trace", ""));
	switch_tasks();
	EXPECT_LT(0, stat_sum(TREE, "written"));
	EXPECT_EQ(0, stat_sum(OTHER, "written") + stat_sum(OTHER, "lost off"));
	EXPECT_EQ(0, rmdir(OTHER));
}

/* Emptying starts the count anew. */
TEST_F(accounting, after_emptying)
{
	EXPECT_EQ(0, write_markers(10));
	EXPECT_EQ(10, stat_sum(TREE, "entries"));
	EXPECT_EQ(0, overwrite_file(TREE, "trace", ""));
	EXPECT_EQ(0, stat_sum(TREE, "entries"));
	EXPECT_EQ(0, write_markers(3));
	EXPECT_EQ(3, stat_sum(TREE, "entries"));
	expect_conserved(_metadata, 3);
}

TEST_HARNESS_MAIN
