// SPDX-License-Identifier: GPL-2.0
/*
 * Ring buffers of a module, without events. User space reads, or the rings' figures
 * count, each record that the writers tried to write, while the rings are resized and
 * the module is loaded and unloaded.
 *
 * The module is samples/etch/etch-ring-sample.c, looked for in
 * $ETCH_RING_SAMPLE_KO, beside this test and among the modules of this kernel.
 */

#include <sys/mman.h>

#include "etch_test.h"
#include "sample.h"

#define FOLDER	RING_SAMPLE_FILES
#define SOURCES	2

/* As in the module. */
struct record {
	uint64_t time;
	uint32_t number;
	uint16_t cpu;
	uint16_t source;
} __attribute__((packed, aligned(4)));

/* The records that the test has read. */
struct seen {
	unsigned int records;
	unsigned int of[SOURCES];
	unsigned int bad;	/* of no CPU or source, or out of order */
	bool *numbers[SOURCES];
	unsigned int max;
	uint64_t last[256];	/* times, by CPU */
};

/* The sum of one figure of all CPUs. */
static long long figure(const char *name)
{
	char *text = read_file(FOLDER, "stats"), *at = text, word[32];
	long long sum = 0;
	size_t len;

	if (!text)
		give_up(FOLDER "/stats");
	len = sprintf(word, " %s ", name);
	while ((at = strstr(at, word))) {
		at += len;
		sum += strtoll(at, NULL, 10);
	}
	free(text);
	return sum;
}

static long long tried(void)
{
	return figure("written") + figure("lost");
}

/* How many sub-buffers a ring has at first: 64 KiB of them, and two at least. */
static const char *subbufs(void)
{
	return getpagesize() > 16384 ? "2" : "4";
}

static void see(struct seen *seen, const struct record *r)
{
	seen->records++;
	if (r->cpu >= ARRAY_LEN(seen->last) || r->source >= SOURCES || r->number >= seen->max ||
	    r->time < seen->last[r->cpu] || seen->numbers[r->source][r->number]) {
		seen->bad++;
		return;
	}
	seen->last[r->cpu] = r->time;
	seen->numbers[r->source][r->number] = true;
	seen->of[r->source]++;
}

/* Reads all records, by reads of an odd size. Returns 0 or an errno. */
static int read_records(struct seen *seen)
{
	int fd = open(FOLDER "/records", O_RDONLY | O_CLOEXEC);
	struct record buf[101];
	ssize_t n;

	if (fd < 0)
		return errno;
	while ((n = read(fd, buf, sizeof(buf) - 1)) > 0) {
		for (size_t i = 0; i < n / sizeof(buf[0]); i++)
			see(seen, &buf[i]);
		seen->bad += n % sizeof(buf[0]) != 0;
	}
	close(fd);
	return n < 0 ? EIO : 0;
}

static void expect_conserved(struct __test_metadata *_metadata)
{
	EXPECT_EQ(figure("written"), figure("read") + figure("overwritten") + figure("entries"));
}

FIXTURE(ring_sample) {
	struct seen seen;
};

FIXTURE_SETUP(ring_sample)
{
	if (!have_debugfs())
		SKIP(return, NO_DEBUGFS);
	if (!have_modules())
		SKIP(return, NO_MODULES);
	if (!ring_sample_path())
		SKIP(return, "no etch-ring-sample.ko: CONFIG_SAMPLE_ETCH_RING=m, or set ETCH_RING_SAMPLE_KO");
	ring_sample_unload();
	memset(&self->seen, 0, sizeof(self->seen));
	self->seen.max = 1000000;
	for (int i = 0; i < SOURCES; i++) {
		self->seen.numbers[i] = must_alloc(NULL, self->seen.max);
		memset(self->seen.numbers[i], 0, self->seen.max);
	}
}

FIXTURE_TEARDOWN(ring_sample)
{
	ring_sample_unload();
}

/* Every record of both writers, each once, in order on each CPU. */
TEST_F_TIMEOUT(ring_sample, gives_every_record_once, 120)
{
	ASSERT_EQ(0, ring_sample_load("count=1000 period=200"));
	while (tried() < SOURCES * 1000) {
		ASSERT_EQ(0, read_records(&self->seen));
		usleep(1000);
	}
	ASSERT_EQ(0, read_records(&self->seen));
	EXPECT_EQ(0, self->seen.bad);
	EXPECT_EQ(SOURCES * 1000, self->seen.records);
	for (int i = 0; i < SOURCES; i++) {
		EXPECT_EQ(1000, self->seen.of[i]);
	}
	EXPECT_EQ(SOURCES * 1000, figure("read"));
	EXPECT_EQ(0, figure("lost") + figure("overwritten") + figure("entries"));
	EXPECT_EQ(0, ring_sample_unload());
	EXPECT_EQ(-1, access(FOLDER, F_OK));
}

/* Nobody reads for long: each record was overwritten, or is left. */
TEST_F_TIMEOUT(ring_sample, counts_what_it_drops, 120)
{
	char parameters[64];
	int count = 4000;

	/* Sub-buffers are 16 KiB, or a page if that is more: fill two on each CPU. */
	if (getpagesize() > 16384)
		count *= getpagesize() / 16384;
	snprintf(parameters, sizeof(parameters), "count=%d period=100", count);
	ASSERT_EQ(0, ring_sample_load(parameters));
	ASSERT_EQ(0, write_file(FOLDER, "subbufs", "2"));
	while (tried() < SOURCES * count)
		usleep(10000);
	expect_conserved(_metadata);
	EXPECT_LT(0, figure("overwritten"));
	ASSERT_EQ(0, read_records(&self->seen));
	EXPECT_EQ(0, self->seen.bad);
	EXPECT_EQ(figure("read"), self->seen.records);
	EXPECT_EQ(0, figure("entries"));
	EXPECT_EQ(SOURCES * count, self->seen.records + figure("overwritten") + figure("lost"));
	printf("# %u read, %lld overwritten, %lld lost\n", self->seen.records,
	       figure("overwritten"), figure("lost"));
}

/* Resizing while both sources write loses only records that come meanwhile, and counts them. */
TEST_F_TIMEOUT(ring_sample, is_resized_while_it_is_written, 120)
{
	static const char * const sizes[] = { "2", "16", "8", "64", "4", "32" };

	ASSERT_EQ(0, ring_sample_load("count=2000 period=100"));
	EXPECT_STREQ(subbufs(), read_line(FOLDER, "subbufs"));
	for (int i = 0; tried() < SOURCES * 2000; i++) {
		const char *size = sizes[i % ARRAY_LEN(sizes)];

		ASSERT_EQ(0, write_file(FOLDER, "subbufs", size));
		ASSERT_STREQ(size, read_line(FOLDER, "subbufs"));
		ASSERT_EQ(0, read_records(&self->seen));
	}
	ASSERT_EQ(0, read_records(&self->seen));
	expect_conserved(_metadata);
	EXPECT_EQ(0, self->seen.bad);
	EXPECT_EQ(SOURCES * 2000, self->seen.records + figure("overwritten") + figure("lost"));
	printf("# %u read, %lld overwritten, %lld lost\n", self->seen.records,
	       figure("overwritten"), figure("lost"));
}

TEST_F(ring_sample, refuses_other_sizes)
{
	static const char * const bad[] = { "0", "1", "3", "6", "4294967296", "-2", "two" };

	ASSERT_EQ(0, ring_sample_load("count=100 period=100"));
	while (tried() < SOURCES * 100)
		usleep(10000);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		EXPECT_EQ(EINVAL, write_file(FOLDER, "subbufs", bad[i]))
			TH_LOG("'%s'", bad[i]);
	}
	/* More than there is. */
	EXPECT_EQ(ENOMEM, write_file(FOLDER, "subbufs", "1048576"));
	EXPECT_EQ(ENOMEM, write_file(FOLDER, "subbufs", "16777216"));
	EXPECT_STREQ(subbufs(), read_line(FOLDER, "subbufs"));
	EXPECT_EQ(SOURCES * 100, figure("entries"));
}

/* Reading into memory that is not there takes nothing. */
TEST_F(ring_sample, loses_nothing_to_a_bad_address)
{
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	ASSERT_EQ(0, ring_sample_load("count=100 period=100"));
	while (tried() < SOURCES * 100)
		usleep(10000);
	fd = open(FOLDER "/records", O_RDONLY | O_CLOEXEC);
	EXPECT_EQ(-1, read(fd, nowhere, 4096));
	EXPECT_EQ(EFAULT, errno);
	/* Less than a record. */
	EXPECT_EQ(0, read(fd, &self->seen, sizeof(struct record) - 1));
	close(fd);
	EXPECT_EQ(SOURCES * 100, figure("entries"));
}

TEST_F_TIMEOUT(ring_sample, comes_and_goes_with_writers_at_work, 120)
{
	for (int i = 0; i < 30; i++) {
		ASSERT_EQ(0, ring_sample_load("period=100"));
		while (!tried())
			usleep(1000);
		ASSERT_EQ(0, ring_sample_unload());
		ASSERT_EQ(-1, access(FOLDER, F_OK));
	}
	EXPECT_EQ(EINVAL, ring_sample_load("period=99"));
	EXPECT_EQ(EINVAL, ring_sample_load("period=1000001"));
}

TEST_HARNESS_MAIN
