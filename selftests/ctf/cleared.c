// SPDX-License-Identifier: GPL-2.0
/*
 * No reader sees records that are gone, neither behind the records of a packet nor between
 * them: root may have emptied the buffer before handing the tree to somebody else.
 *
 * The bytes of a sub-buffer that no record has used since the buffer was emptied are zero.
 * Records that were read since then may show between newer ones. So each packet of this test
 * has its marks at the same places.
 */
#define _GNU_SOURCE
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "etch_test.h"
#include "packets.h"

#define TREE		ETCH "/instances/etch-cleared"
#define FIRST		1000
#define MARKS		8	/* in a new packet */

FIXTURE(cleared) {
	struct packets seen;
	int next;		/* mark */
	int fd;
	int pipes[2];
	void *map;
	char buf[LARGEST_PAGE];
};

FIXTURE_SETUP(cleared)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	memset(self, 0, sizeof(*self));
	self->next = FIRST;
	ASSERT_EQ(0, packets_tree(TREE));
	ASSERT_EQ(0, pipe(self->pipes));
	self->fd = packets_open(TREE, 0, O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->map);
	/* This reads the packet that only counts earlier losses; no such packet follows. */
	write_file(TREE, "trace_marker", "first");
	write_file(TREE, "flush", "1");
	ASSERT_EQ(PAGE, read(self->fd, self->buf, PAGE));
}

FIXTURE_TEARDOWN(cleared)
{
	EXPECT_EQ(0, self->seen.wrong);
	munmap(self->map, PAGE);
	close(self->fd);
	close(self->pipes[0]);
	close(self->pipes[1]);
	EXPECT_EQ(0, rmdir(TREE));
}

/* Marks that no reader may see later: more of them than @pages pages hold. */
static void old_marks(unsigned int pages)
{
	char text[200];

	memset(text, 'S', sizeof(text));
	for (size_t bytes = 0; bytes < pages * PAGE; bytes += sizeof(text))
		write_fmt(TREE, "trace_marker", "%.*s", (int)sizeof(text), text);
}

static void forget(void)
{
	overwrite_file(TREE, "trace", "");
}

/*
 * A packet with marks of all lengths that leave bytes in between. All numbers have four
 * digits, so its marks lie in the same places as those of the packet before.
 */
static void new_packet(int *next)
{
	for (int i = 0; i < MARKS; i++)
		write_fmt(TREE, "trace_marker", "<%d>%.*s", (*next)++, i % 4, "...");
	write_file(TREE, "flush", "1");
}

static unsigned int not_zero(const char *at, const char *end)
{
	unsigned int n = 0;

	while (at < end)
		n += !!*at++;
	return n;
}

/* How many bytes of a packet are neither its header's, nor a mark's, nor zero. */
static unsigned int remains(const void *packet)
{
	const struct etch_packet_header *head = packet;
	const char *at = packet + PACKET_HEADER, *end = packet + head->content_size / 8;
	unsigned int word, len, n = 0;

	while (at < end) {
		memcpy(&word, at + MARK_WORD, sizeof(word));
		len = MARK_TEXT + (word >> 16);
		if (at + len < end)
			n += not_zero(at + len, at + ((len + 3) & ~3U));
		at += (len + 3) & ~3U;
	}
	return n + not_zero(end, packet + head->packet_size / 8);
}

/* @packet has the marks of new_packet(), and nothing else. */
static void expect_clean(struct __test_metadata *_metadata, struct _test_data_cleared *self,
			 const void *packet)
{
	unsigned int before = self->seen.marks;

	EXPECT_EQ(PAGE, packets_add(&self->seen, packet, PAGE));
	EXPECT_EQ(MARKS, self->seen.marks - before);
	EXPECT_EQ(0, remains(packet));
}

TEST_F(cleared, is_not_read)
{
	old_marks(2 * BUFFER_PAGES);
	forget();
	new_packet(&self->next);
	ASSERT_EQ(PAGE, read(self->fd, self->buf, PAGE));
	expect_clean(_metadata, self, self->buf);
}

TEST_F(cleared, is_not_spliced)
{
	old_marks(2 * BUFFER_PAGES);
	forget();
	new_packet(&self->next);
	ASSERT_EQ(PAGE, splice(self->fd, NULL, self->pipes[1], NULL, PAGE, 0));
	ASSERT_EQ(PAGE, read(self->pipes[0], self->buf, PAGE));
	expect_clean(_metadata, self, self->buf);
}

TEST_F(cleared, is_not_mapped)
{
	struct etch_window w = {
		.address = (unsigned long)self->map, .packets = 1, .stride = PAGE,
	};

	old_marks(2 * BUFFER_PAGES);
	forget();
	new_packet(&self->next);
	ASSERT_EQ(0, ioctl(self->fd, ETCH_IOC_WINDOW, &w));
	ASSERT_EQ(1, w.packets);
	expect_clean(_metadata, self, self->map);
}

TEST_F(cleared, is_in_no_snapshot)
{
	int fd;

	old_marks(2 * BUFFER_PAGES);
	forget();
	new_packet(&self->next);
	write_file(TREE, "snapshot", "1");
	fd = open(TREE "/per_cpu/cpu0/snapshot", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(PAGE, read(fd, self->buf, PAGE));
	expect_clean(_metadata, self, self->buf);
	close(fd);
}

/* A snapshot's packets are copied to one buffer. None shows a part of the one before. */
TEST_F(cleared, is_what_a_snapshot_gave_before)
{
	int fd, nr;

	packets_mark(TREE, &self->next, 200);
	write_file(TREE, "snapshot", "1");
	fd = open(TREE "/per_cpu/cpu0/snapshot", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	for (nr = 0; read(fd, self->buf, PAGE) == (ssize_t)PAGE; nr++) {
		EXPECT_EQ(PAGE, packets_add(&self->seen, self->buf, PAGE));
		EXPECT_EQ(0, remains(self->buf));
	}
	EXPECT_LT(1, nr);
	EXPECT_EQ(200, self->seen.marks);
	close(fd);
}

/* Records that were read as text are not in the packet, nor behind its end. */
TEST_F(cleared, is_what_was_read_as_text)
{
	int text = open(TREE "/trace_pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	ASSERT_LE(0, text);
	packets_mark(TREE, &self->next, 30);
	/* With large pages marks are long. */
	EXPECT_LT(0, read(text, self->buf, 500 * (PAGE / LEAST_PAGE)));
	write_file(TREE, "flush", "1");
	ASSERT_EQ(PAGE, read(self->fd, self->buf, PAGE));
	EXPECT_EQ(PAGE, packets_add(&self->seen, self->buf, PAGE));
	EXPECT_LT(FIRST, self->seen.first);
	EXPECT_EQ(FIRST + 29, self->seen.last);
	EXPECT_EQ(0, remains(self->buf));
	close(text);
}

/* Pages that come back from a pipe go into the ring again, but not into an emptied one: */
TEST_F(cleared, is_not_lent_again)
{
	for (int i = 0; i < 4; i++) {
		old_marks(1);
		write_file(TREE, "flush", "1");
		ASSERT_EQ(PAGE, splice(self->fd, NULL, self->pipes[1], NULL, PAGE, 0));
		ASSERT_EQ(PAGE, read(self->pipes[0], self->buf, PAGE));
	}
	forget();
	while (read(self->fd, self->buf, PAGE) > 0)
		;
	for (int i = 0; i < 3 * BUFFER_PAGES; i++) {
		new_packet(&self->next);
		ASSERT_EQ(PAGE, read(self->fd, self->buf, PAGE));
		expect_clean(_metadata, self, self->buf);
	}
}

/* nor do those that come back later. */
TEST_F(cleared, is_not_lent_when_it_comes_back)
{
	old_marks(4);
	write_file(TREE, "flush", "1");
	ASSERT_EQ(4 * PAGE, splice(self->fd, NULL, self->pipes[1], NULL, 4 * PAGE, 0));
	forget();
	while (read(self->fd, self->buf, PAGE) > 0)
		;
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(PAGE, read(self->pipes[0], self->buf, PAGE));
	for (int i = 0; i < 3 * BUFFER_PAGES; i++) {
		new_packet(&self->next);
		ASSERT_EQ(PAGE, read(self->fd, self->buf, PAGE));
		expect_clean(_metadata, self, self->buf);
	}
}

TEST_HARNESS_MAIN
