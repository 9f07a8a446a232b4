// SPDX-License-Identifier: GPL-2.0
/*
 * The main tree before its first use: it has no buffers, and all its files work. For a boot
 * without etch_event=, in which no other test was run before.
 */

#include "etch_test.h"

FIXTURE(unused) {
	unsigned long kb;
};

/* Each CPU says the same. */
static bool has_no_buffers(unsigned long kb)
{
	char says[64];

	snprintf(says, sizeof(says), "0 (expanded: %lu)", kb);
	for (int cpu = 0; cpu < nr_cpus(); cpu++) {
		char file[64];

		snprintf(file, sizeof(file), "per_cpu/cpu%d/buffer_size_kb", cpu);
		if (strcmp(says, read_line(ETCH, file)))
			return false;
	}
	return !strcmp(says, read_line(ETCH, "buffer_size_kb"));
}

FIXTURE_SETUP(unused)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (sscanf(read_line(ETCH, "buffer_size_kb"), "0 (expanded: %lu)", &self->kb) != 1)
		SKIP(return, "the main tree was used before: boot without etch_event=");
	ASSERT_TRUE(has_no_buffers(self->kb));
}

FIXTURE_TEARDOWN(unused)
{
}

TEST_F(unused, reading_needs_no_buffers)
{
	static const char * const files[] = {
		"trace", "trace_pipe", "per_cpu/cpu0/trace", "per_cpu/cpu0/trace_pipe",
		"per_cpu/cpu0/trace_pipe_raw", "metadata", "events/enable",
	};
	char buf[4096];

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		int fd = open(path_of(ETCH, files[i]), O_RDONLY | O_NONBLOCK | O_CLOEXEC);

		/* Files of texts and packets are there if the kernel has them. */
		if (fd < 0 && errno == ENOENT)
			continue;
		ASSERT_LE(0, fd) TH_LOG("%s", files[i]);
		if (read(fd, buf, sizeof(buf)) < 0) {
			EXPECT_EQ(EAGAIN, errno) TH_LOG("%s", files[i]);
		}
		close(fd);
	}
	EXPECT_EQ(0, stat_sum(ETCH, "written"));
	EXPECT_EQ(0, lost_sum(ETCH));
	EXPECT_TRUE(has_no_buffers(self->kb));
}

TEST_F(unused, settings_need_no_buffers)
{
	EXPECT_EQ(0, write_file(ETCH, "buffer_mode", "discard"));
	EXPECT_EQ(0, write_file(ETCH, "buffer_mode", "overwrite"));
	EXPECT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "64"));
	EXPECT_EQ(0, write_file(ETCH, "buffer_subbuf_size_kb", "16"));
	EXPECT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	EXPECT_EQ(0, write_file(ETCH, "tracing_on", "1"));
	EXPECT_EQ(0, write_file(ETCH, "trace_clock", "mono"));
	EXPECT_EQ(0, write_file(ETCH, "buffer_percent", "50"));
	EXPECT_EQ(0, write_file(ETCH, "buffer_percent", "0"));
	overwrite_file(ETCH, "trace", "");
	if (!access(ETCH "/flush", F_OK)) {
		EXPECT_EQ(0, write_file(ETCH, "flush", "1"));
		EXPECT_EQ(0, write_file(ETCH, "snapshot", "1"));
		EXPECT_EQ(0, write_file(ETCH, "snapshot", "0"));
	}
	EXPECT_TRUE(has_no_buffers(self->kb));
}

TEST_F(unused, a_size_that_cannot_be_changes_nothing)
{
	EXPECT_EQ(ENOMEM, write_file(ETCH, "buffer_size_kb", "1000000000"));
	EXPECT_EQ(ENOMEM, write_file(ETCH, "per_cpu/cpu0/buffer_size_kb", "1000000000"));
	EXPECT_EQ(EINVAL, write_file(ETCH, "buffer_size_kb", "9007199254740992"));
	EXPECT_EQ(EINVAL, write_file(ETCH, "buffer_size_kb", "0"));
	EXPECT_TRUE(has_no_buffers(self->kb));
}

/* The last one: from here on there are buffers. */
TEST_F(unused, the_first_use_makes_them)
{
	unsigned long first, second;

	ASSERT_EQ(0, write_file(ETCH, "per_cpu/cpu0/buffer_size_kb", "64"));
	EXPECT_STREQ("64", read_line(ETCH, "per_cpu/cpu0/buffer_size_kb"));
	if (nr_cpus() > 1) {
		second = strtoul(read_line(ETCH, "per_cpu/cpu1/buffer_size_kb"), NULL, 10);
		EXPECT_LE(self->kb, second);
		EXPECT_STREQ("X", read_line(ETCH, "buffer_size_kb"));
	}
	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "128"));
	first = strtoul(read_line(ETCH, "buffer_size_kb"), NULL, 10);
	EXPECT_EQ(128, first);
	EXPECT_EQ(0, write_file(ETCH, "events/sched/sched_switch/enable", "1"));
	sched_yield();
	usleep(1000);
	EXPECT_EQ(0, write_file(ETCH, "events/enable", "0"));
	EXPECT_LT(0, stat_sum(ETCH, "written"));
	EXPECT_EQ(0, lost_sum(ETCH));
}

TEST_HARNESS_MAIN
