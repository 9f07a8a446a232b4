// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of programs' records: user_pipe_raw and user_snapshot. Their headers have the kernel's
 * account, however a program writes into its ring.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "events.h"
#include "packets.h"

ETCH_PROVIDER_DEFINE(utest, TEST_EVENTS);

#define CPU0	ETCH "/per_cpu/cpu0"
#define RAW	CPU0 "/user_pipe_raw"
#define SHOT	CPU0 "/user_snapshot"

#define ROOM	(8 << 20)
#define TIME	((1ULL << 48) - 1)

/**
 * struct found - what a reader has found in packets of one CPU
 * @packets: those with records
 * @empty: those without
 * @records: of utest:number, as they are
 * @wrong: headers and records that cannot be right, which were printed
 * @discarded: between the first packet and the last
 * @overwritten: of these
 * @head: of the last packet
 * @last: time of the last record
 * @next: by process, of which a few write: the next number, if none is missing
 * @pids: the processes, @nr_pids of them
 * @holes: numbers of a process that were left out
 */
struct found {
	unsigned long packets, empty, records, wrong;
	unsigned long long discarded, overwritten;
	struct etch_packet_header head;
	unsigned long long last;
	uint64_t next[8];
	int pids[8];
	unsigned int nr_pids;
	unsigned long holes;
};

static bool wrong(struct found *f, bool is, const char *what)
{
	if (is && !f->wrong++)
		printf("# a mistake: %s, in packet %llu\n", what, f->head.packet_seq_num);
	return is;
}

static int pid_index(struct found *f, int pid)
{
	for (unsigned int i = 0; i < f->nr_pids; i++)
		if (f->pids[i] == pid)
			return i;
	if (wrong(f, f->nr_pids == 8, "too many processes"))
		return 0;
	f->pids[f->nr_pids] = pid;
	return f->nr_pids++;
}

/* utest:number is (u32, a), (u64, b), (s16, c): b is its number, of its process's. */
static size_t find_record(struct found *f, const char *at, size_t left)
{
	unsigned long long word, number;
	int pid, i;

	if (wrong(f, left < 26, "a record that does not fit"))
		return left;
	memcpy(&word, at, sizeof(word));
	memcpy(&pid, at + 8, sizeof(pid));
	memcpy(&number, at + 16, sizeof(number));
	wrong(f, word >> 62, "a context");
	wrong(f, (word >> 48 & 0x3fff) != (unsigned int)atoi(read_line(ETCH, NUMBER "/id")),
	      "another event");
	f->last += (word - f->last) & TIME;
	wrong(f, f->last > f->head.timestamp_end, "a record behind its packet's end");
	i = pid_index(f, pid);
	f->holes += number != f->next[i];
	f->next[i] = number + 1;
	f->records++;
	return 26 + 2 < left ? 28 : left;
}

static void find_head(struct found *f, const struct etch_packet_header *head)
{
	const struct etch_packet_header before = f->head;
	bool first = !before.magic;

	f->head = *head;
	wrong(f, head->magic != ETCH_PACKET_MAGIC, "the magic");
	wrong(f, head->stream_id != ETCH_STREAM_USER, "the stream");
	wrong(f, head->cpu_id, "the CPU");
	wrong(f, head->packet_size % (8 * PAGE), "half a page");
	wrong(f, head->content_size > head->packet_size, "the sizes");
	wrong(f, head->packet_size / 8 > ETCH_USER_SUBBUF + PAGE, "a packet that is too long");
	wrong(f, head->timestamp_end < head->timestamp_begin, "an end before the beginning");
	if (head->records)
		f->packets++;
	else
		f->empty++;
	if (!first) {
		wrong(f, head->timestamp_begin < before.timestamp_end, "packets that overlap");
		wrong(f, head->packet_seq_num != before.packet_seq_num + 1, "the number");
		wrong(f, head->events_discarded < before.events_discarded, "the losses go back");
		f->discarded += head->events_discarded - before.events_discarded;
		f->overwritten += head->overwritten - before.overwritten;
	}
	f->last = head->timestamp_begin;
}

/* All packets in some bytes. */
static void find_packets(struct found *f, const char *at, size_t len)
{
	struct etch_packet_header head;
	size_t pos, end, records;

	while (len >= sizeof(head)) {
		memcpy(&head, at, sizeof(head));
		find_head(f, &head);
		end = head.content_size / 8;
		if (wrong(f, head.magic != ETCH_PACKET_MAGIC || head.packet_size / 8 > len ||
			  end > len, "a packet that is cut off"))
			return;
		records = f->records;
		for (pos = sizeof(head); pos < end;)
			pos += find_record(f, at + pos, end - pos);
		wrong(f, f->records - records != head.records, "the number of records");
		for (; pos < head.packet_size / 8; pos++)
			if (wrong(f, at[pos], "something behind the records"))
				break;
		at += head.packet_size / 8;
		len -= head.packet_size / 8;
	}
	wrong(f, len, "a header that is cut off");
}

/* Goes on from the packets found before, up to the end of the file, or of what there is now. */
static void find_more(struct found *f, int fd)
{
	char *bytes = must_alloc(NULL, ROOM);
	size_t have = 0;
	ssize_t n;

	while (have < ROOM && (n = read(fd, bytes + have, ROOM - have)) > 0)
		have += n;
	if (n < 0 && errno != EAGAIN)
		give_up("packets cannot be read");
	find_packets(f, bytes, have);
	free(bytes);
}

static void find_all(struct found *f, int fd)
{
	memset(f, 0, sizeof(*f));
	find_more(f, fd);
}

/* All that is there, up to the end of the file: tracing is off. */
static void find_rest(struct found *f)
{
	int fd = open(RAW, O_RDONLY);

	find_all(f, fd);
	close(fd);
}

static void hit(unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		utest_number(i * 3, i, -1);
}

/* As fork(), and the child goes when the test does. */
static int make_child(void)
{
	int pid = fork();

	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

FIXTURE(packets) {
	struct found found;
	int fd;
};

FIXTURE_SETUP(packets)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access("/dev/etch", F_OK) || etch_provider_error(utest) == ENOSYS)
		SKIP(return, NO_USER);
	ASSERT_EQ(0, etch_provider_error(utest));
	run_on(0);
	etch_as_new();
	/* What others have told, this test need not hear of. */
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	find_rest(&self->found);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "1"));
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
	self->fd = -1;
}

FIXTURE_TEARDOWN(packets)
{
	if (self->fd >= 0)
		close(self->fd);
	write_file(ETCH, "snapshot", "0");
	etch_as_new();
}

TEST_F(packets, metadata_describes_a_second_stream)
{
	char *text = read_file(ETCH, "metadata"), event[128];

	ASSERT_NE(NULL, text);
	EXPECT_NE(NULL, strstr(text, "\nstream {\n\tid = 0;\n"));
	EXPECT_NE(NULL, strstr(text, "\nstream {\n\tid = 1;\n"));
	snprintf(event, sizeof(event), "\nevent {\n\tid = %s;\n\tname = \"utest:number\";\n"
		 "\tstream_id = 1;\n", read_line(ETCH, NUMBER "/id"));
	EXPECT_NE(NULL, strstr(text, event));
	EXPECT_NE(NULL, strstr(text, "\tstream_id = 0;\n"));
	free(text);
}

TEST_F(packets, all_records_are_in_them_once)
{
	hit(3000);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	find_rest(&self->found);
	EXPECT_EQ(0, self->found.wrong);
	EXPECT_EQ(3000, self->found.records);
	EXPECT_EQ(0, self->found.holes);
	EXPECT_EQ(0, self->found.discarded);
	EXPECT_EQ(1, self->found.nr_pids);
	EXPECT_EQ(getpid(), self->found.pids[0]);
	EXPECT_EQ(getpid(), self->found.head.pid);
	/* 84,000 bytes, and a packet has room for 16 KiB at least. */
	EXPECT_LE(1, self->found.packets);
	EXPECT_GE(6, self->found.packets);
	find_rest(&self->found);
	EXPECT_EQ(0, self->found.records + self->found.empty);
}

/* Three processes, one stream. */
TEST_F(packets, processes_share_a_stream_in_the_order_of_time)
{
	int status;

	for (int round = 0; round < 3; round++) {
		if (!make_child()) {
			for (int i = 0; i < 30; i++) {
				for (int j = 0; j < 20; j++)
					utest_number(0, i * 20 + j, 0);
				usleep(1000);
			}
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		EXPECT_EQ(0, status);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	find_rest(&self->found);
	EXPECT_EQ(0, self->found.wrong);
	EXPECT_EQ(3 * 600, self->found.records);
	EXPECT_EQ(0, self->found.holes);
	EXPECT_EQ(3, self->found.nr_pids);
}

/* A hit is in a packet, or counted. A packet without records tells of the last losses. */
TEST_F(packets, losses_are_counted_in_discard_mode)
{
	ASSERT_EQ(0, write_file(ETCH, "buffer_mode", "discard"));
	hit(40000);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	/* The ring is stopped: these are none of the trace's. */
	hit(1000);
	find_rest(&self->found);
	EXPECT_EQ(0, self->found.wrong);
	EXPECT_LT(5000, self->found.records);
	EXPECT_LT(10000, self->found.discarded);
	EXPECT_EQ(40000, self->found.records + self->found.discarded);
	EXPECT_EQ(0, self->found.overwritten);
	EXPECT_EQ(0, self->found.head.records);
	EXPECT_EQ(0, self->found.holes);
	find_rest(&self->found);
	EXPECT_EQ(0, self->found.packets + self->found.empty);
}

/* Losses that records follow: a ring tells of them with the block behind. */
TEST_F(packets, losses_between_records_are_counted)
{
	ASSERT_EQ(0, write_file(ETCH, "buffer_mode", "discard"));
	hit(40000);
	self->fd = open(RAW, O_RDONLY | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, write_file(ETCH, "per_cpu/cpu0/flush", "1"));
	find_all(&self->found, self->fd);
	EXPECT_LT(5000, self->found.records);
	for (unsigned int i = 40000; i < 41000; i++)
		utest_number(0, i, 0);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	find_more(&self->found, self->fd);
	EXPECT_EQ(0, self->found.wrong);
	EXPECT_EQ(1, self->found.holes);
	EXPECT_EQ(41000, self->found.next[0]);
	EXPECT_EQ(41000, self->found.records + self->found.discarded);
	/* Behind it there was no loss: the last packet has records. */
	EXPECT_LT(0, self->found.head.records);
}

/* They lie before the packet's first record, however many records of others were there before. */
TEST_F(packets, losses_begin_a_packet)
{
	size_t packets;
	int child, status;

	ASSERT_EQ(0, write_file(ETCH, "buffer_mode", "discard"));
	hit(40000);
	self->fd = open(RAW, O_RDONLY | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, write_file(ETCH, "per_cpu/cpu0/flush", "1"));
	find_all(&self->found, self->fd);
	packets = self->found.packets;
	child = make_child();
	if (!child) {
		hit(10);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	for (unsigned int i = 40000; i < 40010; i++)
		utest_number(0, i, 0);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	find_more(&self->found, self->fd);
	EXPECT_EQ(0, self->found.wrong);
	EXPECT_EQ(packets + 2, self->found.packets);
	EXPECT_EQ(10, self->found.head.records);
	EXPECT_EQ(40020, self->found.records + self->found.discarded);
}

TEST_F(packets, losses_are_counted_in_overwrite_mode)
{
	ASSERT_EQ(0, write_file(ETCH, "buffer_mode", "overwrite"));
	hit(40000);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	find_rest(&self->found);
	EXPECT_EQ(0, self->found.wrong);
	EXPECT_LT(5000, self->found.records);
	EXPECT_EQ(40000, self->found.records + self->found.discarded);
	EXPECT_EQ(self->found.discarded, self->found.overwritten);
	EXPECT_EQ(40000, self->found.next[0]);
}

/* The rings of a process that has gone give way to others, and then, too, nothing is unknown. */
TEST_F(packets, records_of_a_ring_that_went_are_counted)
{
	int status;

	for (int i = 0; i < 258 + 5; i++) {
		if (!make_child()) {
			hit(2);
			_exit(0);
		}
		ASSERT_LT(0, wait(&status));
	}
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	/* More processes than struct found has room for: only the headers count here. */
	find_rest(&self->found);
	EXPECT_LT(0, self->found.discarded);
	EXPECT_EQ(2 * (258 + 5), self->found.records + self->found.discarded);
}

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

TEST_F(packets, readers_wait_for_a_packet_or_a_flush)
{
	char buf[1 << 16];
	ssize_t len;
	int percent;

	self->fd = open(RAW, O_RDONLY | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EAGAIN, errno);
	hit(10);
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_FALSE(readable(self->fd, 100));
	ASSERT_EQ(0, write_file(ETCH, "per_cpu/cpu0/flush", "1"));
	EXPECT_TRUE(readable(self->fd, 1000));
	len = read(self->fd, buf, sizeof(buf));
	ASSERT_LT(0, len);
	memset(&self->found, 0, sizeof(self->found));
	find_packets(&self->found, buf, len);
	EXPECT_EQ(10, self->found.records);
	EXPECT_EQ(0, self->found.wrong);
	/* The flush is over. */
	hit(10);
	EXPECT_FALSE(readable(self->fd, 100));
	/* As much as a packet holds, and the watermark is one block. */
	percent = atoi(read_line(ETCH, "buffer_percent"));
	ASSERT_EQ(0, write_file(ETCH, "buffer_percent", "1"));
	hit(700);
	EXPECT_TRUE(readable(self->fd, 1000));
	ASSERT_EQ(0, write_fmt(ETCH, "buffer_percent", "%d", percent));
}

TEST_F(packets, a_reader_that_waits_is_woken_by_the_end)
{
	int pid = make_child(), status;

	if (!pid) {
		struct etch_packet_header header;
		int fd = open(RAW, O_RDONLY);

		_exit(read(fd, &header, sizeof(header)) == sizeof(header) &&
		      header.magic == ETCH_PACKET_MAGIC ? 0 : 1);
	}
	hit(5);
	usleep(100000);
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(packets, can_be_spliced)
{
	char *bytes = must_alloc(NULL, 1 << 20);
	size_t have = 0;
	ssize_t n;
	int pipes[2];

	ASSERT_EQ(0, pipe(pipes));
	hit(10);
	self->fd = open(RAW, O_RDONLY);
	EXPECT_EQ(-1, splice(self->fd, NULL, pipes[1], NULL, 1 << 20, 0));
	EXPECT_EQ(EAGAIN, errno);
	for (unsigned int i = 10; i < 3000; i++)
		utest_number(0, i, 0);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	while ((n = splice(self->fd, NULL, pipes[1], NULL, 1 << 15, 0)) > 0) {
		while (n > 0) {
			ssize_t got = read(pipes[0], bytes + have, n);

			ASSERT_LT(0, got);
			have += got;
			n -= got;
		}
	}
	EXPECT_EQ(0, n);
	memset(&self->found, 0, sizeof(self->found));
	find_packets(&self->found, bytes, have);
	EXPECT_EQ(3000, self->found.records);
	EXPECT_EQ(0, self->found.wrong);
	EXPECT_EQ(0, self->found.holes);
	close(pipes[0]);
	close(pipes[1]);
	free(bytes);
}

TEST_F(packets, a_snapshot_ends_at_its_moment_and_consumes_nothing)
{
	EXPECT_EQ(-1, open(SHOT, O_RDONLY));
	EXPECT_EQ(ENODATA, errno);
	hit(2000);
	ASSERT_EQ(0, write_file(ETCH, "snapshot", "1"));
	hit(1000);
	for (int i = 0; i < 2; i++) {
		self->fd = open(SHOT, O_RDONLY);
		ASSERT_LE(0, self->fd);
		find_all(&self->found, self->fd);
		close(self->fd);
		EXPECT_EQ(2000, self->found.records);
		EXPECT_EQ(0, self->found.wrong);
		EXPECT_EQ(0, self->found.holes);
	}
	self->fd = -1;
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	find_rest(&self->found);
	EXPECT_EQ(3000, self->found.records);
}

/* ---- Programs that break the rules ---- */

static struct etch_user_ring *my_ring(void)
{
	for (unsigned int i = 0; i < 32 * utest__provider.cpus; i++)
		if (utest__provider.rings[i])
			return utest__provider.rings[i];
	return NULL;
}

/* Bytes that a record may not have, and where. Most records are read in runs of like ones. */
static const struct {
	const char *what;
	size_t at;
	uint64_t flip;
} no_record[] = {
	{ "an event that is not there", 7, 0x20 },
	{ "a context", 7, 0x80 },
	{ "another thread", 8, 1 << 29 },
	{ "the future", 5, 0x40 },
};

/* A child writes three records, and something into the second one. */
static int spoil(size_t nr)
{
	struct etch_user_ring *ring;
	uint64_t word;
	char *second;

	hit(3);
	ring = my_ring();
	if (!ring)
		return 1;
	second = (char *)ring + ETCH_USER_DATA + sizeof(struct etch_user_block) + 28;
	memcpy(&word, second + no_record[nr].at, sizeof(word));
	word ^= no_record[nr].flip;
	memcpy(second + no_record[nr].at, &word, sizeof(word));
	return 0;
}

TEST_F(packets, a_record_behind_another_is_looked_at)
{
	int status;

	for (size_t i = 0; i < ARRAY_LEN(no_record); i++) {
		printf("# %s\n", no_record[i].what);
		if (!make_child())
			_exit(spoil(i));
		ASSERT_LT(0, wait(&status));
		ASSERT_EQ(0, status);
		ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
		find_rest(&self->found);
		EXPECT_EQ(0, self->found.wrong);
		EXPECT_EQ(1, self->found.records);
		ASSERT_EQ(0, write_file(ETCH, "tracing_on", "1"));
	}
}

/* A child writes records whose time is that of before; the parent's stand between. */
TEST_F(packets, old_times_make_no_packets_that_overlap)
{
	int go[2], done[2], pid;
	char c = 0;

	ASSERT_EQ(0, pipe(go) | pipe(done));
	hit(1);
	pid = make_child();
	if (!pid) {
		struct etch_user_block *block;
		uint64_t *first, *second;

		utest_number(1, 0, 0);
		block = (void *)((char *)my_ring() + ETCH_USER_DATA);
		first = (uint64_t *)(block + 1);
		second = (uint64_t *)((char *)first + 28);
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		utest_number(2, 1, 0);
		/* The second record's time becomes the first one's. */
		*second = (*second & ~TIME) | (*first & TIME);
		_exit(write(done[1], &c, 1) != 1);
	}
	usleep(100000);
	for (unsigned int i = 1; i < 700; i++)
		utest_number(0, i, 0);
	/* A reader takes what there is; so the child's second record comes too late. */
	self->fd = open(RAW, O_RDONLY | O_NONBLOCK);
	ASSERT_EQ(0, write_file(ETCH, "flush", "1"));
	find_all(&self->found, self->fd);
	EXPECT_EQ(701, self->found.records);
	ASSERT_EQ(1, write(go[1], &c, 1));
	ASSERT_EQ(1, read(done[0], &c, 1));
	waitpid(pid, NULL, 0);
	hit(1);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	find_more(&self->found, self->fd);
	EXPECT_EQ(0, self->found.wrong);
	EXPECT_EQ(702, self->found.records);
	EXPECT_EQ(1, self->found.discarded);
	EXPECT_EQ(1, times_in(ETCH, "user/stats", "malformed 1"));
}

/* Nobody reads on for ever. */
TEST_F(packets, a_program_that_does_not_stop_holds_no_reader_up)
{
	struct etch_user_ring *ring;
	int pid = make_child(), status;

	if (!pid) {
		uint64_t at;

		hit(1);
		ring = my_ring();
		/* The same record once more, and once more, whatever the kernel says. */
		for (;;) {
			at = ring->pos;
			if ((at >> ETCH_USER_COUNT_BITS) % ETCH_USER_SUBBUF > ETCH_USER_SUBBUF - 64)
				at = 60ULL << ETCH_USER_COUNT_BITS | 1;
			memcpy((char *)ring + ETCH_USER_DATA + (at >> ETCH_USER_COUNT_BITS),
			       (char *)ring + ETCH_USER_DATA + sizeof(struct etch_user_block), 28);
			ring->pos = at + (28ULL << ETCH_USER_COUNT_BITS) + 1;
		}
	}
	usleep(200000);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	alarm(20);
	find_rest(&self->found);
	alarm(0);
	EXPECT_EQ(0, self->found.wrong);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

TEST_HARNESS_MAIN
