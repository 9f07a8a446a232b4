// SPDX-License-Identifier: GPL-2.0
/*
 * An instance records no more than the file budget allows, counts all the rest, and leaves other
 * instances alone.
 *
 * The test takes times from the records, and does not depend on how long it takes itself.
 */

#include "etch_test.h"
#include "packets.h"
#include "text.h"

#define ONE		ETCH "/instances/etch-budget"
#define OTHER		ETCH "/instances/etch-budget-other"

#define MARKER		200
#define MARKERS		20000

/* Of ring_budget.c, in microseconds. */
#define PERIOD		100000

/* Writes markers on one CPU. Returns how many were refused. */
static unsigned int flood(const char *tree, unsigned int nr)
{
	char *path = path_of(tree, "trace_marker");
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	char text[MARKER];
	unsigned int refused = 0;

	memset(text, 'm', sizeof(text));
	for (unsigned int i = 0; i < nr; i++)
		refused += write(fd, text, MARKER) != MARKER;
	close(fd);
	return refused;
}

/* Sub-buffers of so many pages. */
static int set_subbuf(const char *tree, int pages)
{
	return write_fmt(tree, "buffer_subbuf_size_kb", "%zu", pages * PAGE >> 10);
}

static void make(struct __test_metadata *_metadata, const char *tree, const char *mode)
{
	rmdir(tree);
	ASSERT_EQ(0, mkdir(tree, 0700));
	ASSERT_EQ(0, set_subbuf(tree, 1));
	ASSERT_EQ(0, write_file(tree, "buffer_size_kb", "8192"));
	ASSERT_EQ(0, write_file(tree, "buffer_mode", mode));
	ASSERT_EQ(0, write_file(tree, "trace_clock", "mono"));
}

/* All was recorded, or lost: nothing but throttled. */
static void expect_exact(struct __test_metadata *_metadata, const char *tree, long long tried)
{
	EXPECT_EQ(tried, stat_sum(tree, "written") + stat_sum(tree, "lost throttled"));
	EXPECT_EQ(stat_sum(tree, "lost throttled"), lost_sum(tree));
	EXPECT_EQ(stat_sum(tree, "written"), stat_sum(tree, "read") +
		  stat_sum(tree, "overwritten") + stat_sum(tree, "entries"));
}

FIXTURE(budget) {
};

FIXTURE_VARIANT(budget) {
	const char *mode;
};

FIXTURE_VARIANT_ADD(budget, overwrite) {
	.mode = "overwrite",
};

FIXTURE_VARIANT_ADD(budget, discard) {
	.mode = "discard",
};

FIXTURE_SETUP(budget)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	make(_metadata, ONE, variant->mode);
	make(_metadata, OTHER, variant->mode);
	run_on(0);
}

FIXTURE_TEARDOWN(budget)
{
	rmdir(ONE);
	rmdir(OTHER);
}

/* At a byte a second the instance fills one sub-buffer of this CPU, and no more. */
TEST_F(budget, counts_each_record)
{
	long long written;

	ASSERT_EQ(0, write_file(ONE, "budget", "bytes=1"));
	EXPECT_EQ(flood(ONE, MARKERS), stat_sum(ONE, "lost throttled"));
	expect_exact(_metadata, ONE, MARKERS);
	written = stat_sum(ONE, "written");
	EXPECT_LT(0, written);
	EXPECT_GE(getpagesize(), written * MARKER);
	/* The file tells the same. */
	EXPECT_EQ(MARKERS - written, number_in(read_file(ONE, "budget"), "throttled"));

	/* The other instance has none. */
	EXPECT_EQ(0, flood(OTHER, MARKERS));
	EXPECT_EQ(0, lost_sum(OTHER));

	/* Taken away, it is as if it had never been. */
	ASSERT_EQ(0, overwrite_file(ONE, "budget", "\n"));
	EXPECT_EQ(0, flood(ONE, 1000));
	expect_exact(_metadata, ONE, MARKERS + 1000);
}

/* In no stretch of time more than the rate, for a period more; and one sub-buffer. */
TEST_F(budget, keeps_the_rate)
{
	const long long rate = 128 << 10;
	long long bytes, room;
	struct trace trace;
	size_t from = 0;

	if (!have_text())
		SKIP(return, NO_TEXT);
	ASSERT_EQ(0, write_file(ONE, "budget", "bytes=128K/s"));
	for (long long end = now_ms() + 500; now_ms() < end;)
		flood(ONE, 1000);
	EXPECT_LT(0, stat_sum(ONE, "lost throttled"));
	EXPECT_EQ(stat_sum(ONE, "lost throttled"), lost_sum(ONE));
	trace = text_read(ONE, "trace");
	ASSERT_LT(2 * getpagesize() / MARKER, trace.nr);
	/* For each record: back to where the stretch that ends here has most to spare. */
	for (size_t i = 0; i < trace.nr; i++) {
		for (from = i > 4000 ? i - 4000 : 0; from < i; from += 97) {
			bytes = (i - from + 1) * MARKER;
			room = rate * (long long)(trace.records[i].time -
						  trace.records[from].time + PERIOD) / 1000000 +
			       getpagesize();
			ASSERT_GE(room, bytes)
				TH_LOG("records %zu to %zu", from, i);
		}
	}
	text_free(&trace);
}

/* Throttled records stand in the headers, and in the sum of the discarded. */
TEST_F(budget, is_in_the_packets)
{
	struct packets seen = {};
	int fd, next = 0;

	ASSERT_EQ(0, write_file(ONE, "budget", "bytes=1"));
	packets_mark(ONE, &next, 1000);
	ASSERT_EQ(0, write_file(ONE, "budget", "none"));
	packets_mark(ONE, &next, 100);
	ASSERT_EQ(0, write_file(ONE, "tracing_on", "0"));
	fd = packets_open(ONE, 0, O_RDONLY);
	ASSERT_LE(0, fd);
	EXPECT_TRUE(packets_drain(&seen, fd));
	close(fd);
	EXPECT_EQ(0, seen.wrong);
	EXPECT_LT(0, stat_of(ONE, 0, "lost throttled"));
	EXPECT_EQ(stat_of(ONE, 0, "lost throttled"), seen.head.lost_throttled);
	EXPECT_EQ(seen.head.events_discarded, seen.head.lost_throttled);
}

TEST_F(budget, shows_what_was_set)
{
	char *text, *end;

	EXPECT_STREQ("none", read_line(ONE, "budget"));
	EXPECT_EQ(0, write_file(ONE, "budget", " bytes=10M  cpu=3% \n"));
	text = read_file(ONE, "budget");
	EXPECT_EQ(0, strncmp(text, "bytes=10M/s\ncpu=3% (at ", 23))
		TH_LOG("%s", text);
	/* The figure behind it, of this machine. */
	EXPECT_LT(0, strtol(text + 23, &end, 10));
	EXPECT_EQ(0, strncmp(end, " ns per record)\n", 16));
	/* A write that is refused changes nothing. */
	EXPECT_EQ(EINVAL, write_file(ONE, "budget", "bytes=1 cpu=x"));
	EXPECT_STREQ(text, read_file(ONE, "budget"));
	EXPECT_NE(NULL, strstr(read_file(ONE, "error_log"), "Not a number"));
	/* One that does not name a bound takes it away. */
	EXPECT_EQ(0, write_file(ONE, "budget", "bytes=1000/s"));
	EXPECT_STREQ("bytes=1000/s\nthrottled: 0\n", read_file(ONE, "budget"));
	EXPECT_EQ(0, write_file(ONE, "budget", "bytes=0"));
	EXPECT_STREQ("none\nthrottled: 0\n", read_file(ONE, "budget"));
}

/* Other sub-buffers are other rings: of the same budget. */
TEST_F(budget, outlives_the_rings)
{
	ASSERT_EQ(0, write_file(ONE, "budget", "bytes=1"));
	ASSERT_EQ(0, set_subbuf(ONE, 2));
	flood(ONE, MARKERS);
	EXPECT_LT(0, stat_sum(ONE, "lost throttled"));
	expect_exact(_metadata, ONE, MARKERS);
}

TEST_HARNESS_MAIN
