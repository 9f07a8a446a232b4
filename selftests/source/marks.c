// SPDX-License-Identifier: GPL-2.0
/*
 * What programs write to trace_marker and trace_marker_raw is kept byte for byte: in text, and in
 * packets. Text of the form that Perfetto and systrace know is shown as these expect it.
 */

#include "etch_test.h"
#include "packets.h"
#include "text.h"

#define TREE	ETCH "/instances/etch-marks"
#define ROOM	(4 << 20)

/* A number, in the machine's order, and bytes. */
#define RAW(id, bytes)	id, bytes, sizeof(bytes) - 1

static int write_raw(uint32_t id, const void *bytes, size_t len)
{
	char buf[8192];

	memcpy(buf, &id, sizeof(id));
	memcpy(buf + sizeof(id), bytes, len);
	return write_bytes(TREE, "trace_marker_raw", O_WRONLY, buf, sizeof(id) + len);
}

FIXTURE(marks) {
	char *text;
	char *packets;
	size_t len;
};

FIXTURE_SETUP(marks)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	self->text = NULL;
	self->packets = NULL;
	rmdir(TREE);
	ASSERT_EQ(0, mkdir(TREE, 0700));
	run_on(0);
}

FIXTURE_TEARDOWN(marks)
{
	rmdir(TREE);
	free(self->text);
	free(self->packets);
}

/* The lines behind the columns of the task and the time, each with its newline. */
static char *texts(void)
{
	char *text = read_file(TREE, "trace"), *to = text, *line, *next, *at;

	for (line = text; *line; line = next) {
		next = strchr(line, '\n') + 1;
		/* Columns: "[000] .....   12.345678: ". */
		at = *line == '#' ? NULL : strstr(line, "] ");
		at = at && at < next ? strstr(at, ": ") : NULL;
		if (!at || at >= next)
			continue;
		memmove(to, at + 2, next - at - 2);
		to += next - at - 2;
	}
	*to = 0;
	return text;
}

static bool has_bytes(const char *in, size_t room, const void *bytes, size_t len)
{
	return memmem(in, room, bytes, len);
}

/* All packets of the first CPU, when recording has stopped. */
static void read_packets(struct __test_metadata *_metadata, FIXTURE_DATA(marks) *self)
{
	int fd = open(TREE "/per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	ASSERT_LE(0, fd);
	self->packets = must_alloc(NULL, ROOM);
	while ((n = read(fd, self->packets + self->len, ROOM - self->len)) > 0)
		self->len += n;
	close(fd);
	ASSERT_LT(PACKET_HEADER, self->len);
}

/* ---- Text ---- */

/* Begin and end of a slice, a counter, an asynchronous slice, an instant; with newline or not. */
TEST_F(marks, keep_what_perfetto_reads)
{
	static const char * const forms[] = {
		"B|1234|a slice: of work", "E|1234", "E", "C|1234|bytes free|42", "S|1234|io|7",
		"F|1234|io|7", "I|1234|now", "N|1234|track|now",
	};
	char expected[1024] = "", bytes[64];

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		ASSERT_EQ(0, write_file(TREE, "trace_marker", forms[i]));
		ASSERT_EQ(0, write_fmt(TREE, "trace_marker", "%s\n", forms[i]));
		for (int twice = 0; twice < 2; twice++) {
			strcat(expected, "tracing_mark_write: ");
			strcat(expected, forms[i]);
			strcat(expected, "\n");
		}
	}
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "0"));
	self->text = texts();
	EXPECT_STREQ(expected, self->text);
	read_packets(_metadata, self);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		/* With the zero that ends it, and the newline only where there was one. */
		EXPECT_TRUE(has_bytes(self->packets, self->len, forms[i], strlen(forms[i]) + 1));
		snprintf(bytes, sizeof(bytes), "%s\n", forms[i]);
		EXPECT_TRUE(has_bytes(self->packets, self->len, bytes, strlen(bytes) + 1));
	}
}

/* ---- A number, and bytes ---- */

TEST_F(marks, show_raw_ones_as_ftrace_does)
{
	ASSERT_EQ(0, write_raw(RAW(0x2a, "a\0\xff")));
	ASSERT_EQ(0, write_raw(RAW(0xdeadbeef, "")));
	ASSERT_EQ(0, write_raw(RAW(0, "\n")));
	self->text = texts();
	EXPECT_STREQ("# 2a buf: 61 00 ff\n# deadbeef buf:\n# 0 buf: 0a\n", self->text);
}

/* The record's head, of 12 bytes, then the number, the word for the bytes, and the bytes. */
TEST_F(marks, have_raw_ones_in_packets)
{
	static const char record[] = "\x78\x56\x34\x12\x14\x00\x06\x00" "b\0\n\xff~!";
	const char *at;
	char *metadata;

	ASSERT_EQ(0, write_raw(RAW(0x12345678, "b\0\n\xff~!")));
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "0"));
	read_packets(_metadata, self);
	EXPECT_TRUE(has_bytes(self->packets, self->len, record, sizeof(record) - 1));
	EXPECT_EQ(1, stat_sum(TREE, "read"));

	metadata = read_file(TREE, "metadata");
	at = strstr(metadata, "\"etch:marker_raw\"");
	ASSERT_NE(NULL, at);
	self->text = strndup(at, strstr(at, "};\n};") - at);
	EXPECT_NE(NULL, strstr(self->text, " _id;"));
	EXPECT_NE(NULL, strstr(self->text, " _buf["));
	free(metadata);
}

/* No record is cut in two: the second half would be taken for another one. */
TEST_F(marks, take_raw_ones_whole_or_not)
{
	static char bytes[8192];

	memset(bytes, 'x', sizeof(bytes));
	for (size_t len = 1; len < sizeof(uint32_t); len++)
		EXPECT_EQ(EINVAL, write_bytes(TREE, "trace_marker_raw", O_WRONLY, bytes, len));
	EXPECT_EQ(0, write_bytes(TREE, "trace_marker_raw", O_WRONLY, bytes, 4));
	EXPECT_EQ(0, write_bytes(TREE, "trace_marker_raw", O_WRONLY, bytes, 2000));
	EXPECT_EQ(EINVAL, write_bytes(TREE, "trace_marker_raw", O_WRONLY, bytes, 4097));
	EXPECT_EQ(2, stat_sum(TREE, "entries"));
	EXPECT_EQ(0, lost_sum(TREE));
}

/* With sub-buffers of a page: the longest that is taken fits, and so nothing is lost. */
TEST_F(marks, take_raw_ones_up_to_the_room)
{
	static char bytes[8192];
	size_t len = 4096;

	memset(bytes, 'x', sizeof(bytes));
	ASSERT_EQ(0, write_fmt(TREE, "buffer_subbuf_size_kb", "%zu", PAGE >> 10));
	while (len && write_bytes(TREE, "trace_marker_raw", O_WRONLY, bytes, len) == EINVAL)
		len--;
	EXPECT_LT(3800, len);
	EXPECT_EQ(1, stat_sum(TREE, "entries"));
	EXPECT_EQ(0, lost_sum(TREE));
	/* As long as its line. */
	self->text = texts();
	EXPECT_STREQ("[LINE TOO BIG]\n", self->text);
}

/* ---- Both ---- */

/* Nothing is lost without a word. */
TEST_F(marks, say_what_is_not_stored)
{
	unsigned int lost = 0;

	ASSERT_EQ(0, write_file(TREE, "tracing_on", "0"));
	EXPECT_EQ(EBADF, write_raw(RAW(1, "off")));
	EXPECT_EQ(EBADF, write_file(TREE, "trace_marker", "off"));
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "1"));
	ASSERT_EQ(0, write_file(TREE, "buffer_mode", "discard"));
	ASSERT_EQ(0, write_fmt(TREE, "buffer_size_kb", "%zu", 4 * PAGE >> 10));
	for (int i = 0; i < 100000 && !lost; i++)
		lost = write_raw(RAW(i, "to the brim"));
	EXPECT_EQ(ENOSPC, lost);
	EXPECT_EQ(1, stat_sum(TREE, "lost full"));
}

TEST_F(marks, go_to_their_own_instance)
{
	etch_as_new();
	ASSERT_EQ(0, write_raw(RAW(1, "here")));
	EXPECT_EQ(1, stat_sum(TREE, "entries"));
	EXPECT_EQ(0, stat_sum(ETCH, "entries"));
}

TEST_HARNESS_MAIN
