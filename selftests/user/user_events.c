// SPDX-License-Identifier: GPL-2.0
/*
 * Events of programs: registered by the library, enabled by a user, recorded without a system
 * call, and shown among the kernel's.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "etch_test.h"
#include "events.h"
#include "text.h"

ETCH_PROVIDER_DEFINE(utest, TEST_EVENTS);

#define OTHER	ETCH "/instances/user-other"

static int reg(int fd, unsigned int gate, const char *name, const char *fields)
{
	struct etch_user_register r = {
		.size = sizeof(r), .gate = gate, .name = (uintptr_t)name,
		.fields = (uintptr_t)fields,
	};

	return ioctl(fd, ETCH_USER_IOC_REGISTER, &r) ? errno : 0;
}

static bool says(const char *tree, const char *file, const char *what)
{
	char *text = read_file(tree, file);
	bool found = text && strstr(text, what);

	if (!found)
		printf("# %s does not say '%s', but:\n%s\n", file, what, text ?: "nothing");
	free(text);
	return found;
}

FIXTURE(events) {
	struct trace trace;
	int fd;
};

FIXTURE_SETUP(events)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access("/dev/etch", F_OK) || etch_provider_error(utest) == ENOSYS)
		SKIP(return, NO_USER);
	ASSERT_EQ(0, etch_provider_error(utest));
	etch_as_new();
	self->fd = open("/dev/etch", O_RDWR);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(events)
{
	text_free(&self->trace);
	close(self->fd);
	rmdir(OTHER);
	use_counter(ETCH);
	etch_as_new();
}

TEST_F(events, are_off_until_they_are_enabled)
{
	EXPECT_STREQ("0", read_line(ETCH, NUMBER "/enable"));
	EXPECT_FALSE(utest_number_enabled());
	utest_number(1, 2, 3);
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
	EXPECT_TRUE(utest_number_enabled());
	utest_number(4, 5, -6);
	utest_number(7, 1ULL << 40, 9);
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "0"));
	EXPECT_FALSE(utest_number_enabled());
	utest_number(10, 11, 12);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(2, self->trace.nr);
	EXPECT_STREQ("number", self->trace.records[0].event);
	EXPECT_STREQ("a=4 b=5 c=-6", self->trace.records[0].text);
	EXPECT_STREQ("a=7 b=1099511627776 c=9", self->trace.records[1].text);
	EXPECT_EQ(getpid(), self->trace.records[0].pid);
	EXPECT_EQ('.', self->trace.records[0].context);
	EXPECT_LE(self->trace.records[0].time, self->trace.records[1].time);
}

TEST_F(events, take_strings)
{
	char big[2000];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	ASSERT_EQ(0, write_file(ETCH, TEXT "/enable", "1"));
	utest_text("one", 1, "");
	utest_text(NULL, 2, "three");
	utest_text(big, 3, big);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(3, self->trace.nr);
	EXPECT_STREQ("first=one n=1 second=", self->trace.records[0].text);
	EXPECT_STREQ("first=(null) n=2 second=three", self->trace.records[1].text);
	EXPECT_EQ(6 + ETCH_STRING + 12 + ETCH_STRING, strlen(self->trace.records[2].text));
}

TEST_F(events, say_in_format_what_they_are_and_where)
{
	EXPECT_TRUE(says(ETCH, NUMBER "/format", "\tfield:u32 a;\toffset:12;\tsize:4;\tsigned:0;\n"
			 "\tfield:u64 b;\toffset:16;\tsize:8;\tsigned:0;\n"
			 "\tfield:s16 c;\toffset:24;\tsize:2;\tsigned:1;\n"));
	EXPECT_TRUE(says(ETCH, NUMBER "/format",
			 "print fmt: \"a=%u b=%llu c=%d\", REC->a, REC->b, REC->c\n"));
	EXPECT_TRUE(says(ETCH, TEXT "/format",
			 "print fmt: \"first=%s n=%u second=%s\", __get_str(first), REC->n, "
			 "__get_str(second)\n"));
	EXPECT_TRUE(says(ETCH, "available_events", "utest:text\n"));
}

/* The kernel's markers before and after. */
TEST_F(events, stand_among_the_kernels)
{
	ASSERT_EQ(0, write_file(ETCH, "events/utest/enable", "1"));
	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(0, write_fmt(ETCH, "trace_marker", "before %d", i));
		utest_number(i, 0, 0);
		ASSERT_EQ(0, write_fmt(ETCH, "trace_marker", "after %d", i));
	}
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(150, self->trace.nr);
	for (int i = 0; i < 50; i++)
		EXPECT_STREQ("number", self->trace.records[3 * i + 1].event);
	text_free(&self->trace);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	self->trace = text_read(ETCH, "trace_pipe");
	ASSERT_EQ(150, self->trace.nr);
	for (int i = 0; i < 50; i++)
		EXPECT_STREQ("number", self->trace.records[3 * i + 1].event);
}

TEST_F(events, go_once_to_trace_pipe_and_to_each_instance)
{
	ASSERT_EQ(0, mkdir(OTHER, 0700));
	ASSERT_EQ(0, use_counter(OTHER));
	ASSERT_EQ(0, write_file(OTHER, NUMBER "/enable", "1"));
	utest_number(1, 0, 0);
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
	utest_number(2, 0, 0);
	ASSERT_EQ(0, write_file(OTHER, NUMBER "/enable", "0"));
	utest_number(3, 0, 0);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	self->trace = text_read(ETCH, "trace_pipe");
	ASSERT_EQ(2, self->trace.nr);
	EXPECT_STREQ("a=2 b=0 c=0", self->trace.records[0].text);
	text_free(&self->trace);
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(0, self->trace.nr);
	text_free(&self->trace);
	self->trace = text_read(OTHER, "trace");
	ASSERT_EQ(2, self->trace.nr);
	EXPECT_STREQ("a=1 b=0 c=0", self->trace.records[0].text);
}

/* Its gate's bit, and the place of its ring, are the next one's. */
TEST_F(events, go_to_an_instance_that_takes_the_place_of_another)
{
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, mkdir(OTHER, 0700));
		ASSERT_EQ(0, use_counter(OTHER));
		ASSERT_EQ(0, write_file(OTHER, NUMBER "/enable", "1"));
		utest_number(i, 0, 0);
		self->trace = text_read(OTHER, "trace");
		EXPECT_EQ(1, self->trace.nr);
		text_free(&self->trace);
		ASSERT_EQ(0, rmdir(OTHER));
		EXPECT_FALSE(utest_number_enabled());
	}
}

TEST_F(events, end_with_tracing_on_and_with_emptying)
{
	char payload[16] = {};

	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
	utest_number(1, 0, 0);
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	EXPECT_FALSE(utest_number_enabled());
	/* As if it had passed the gate before. */
	EXPECT_EQ(1, etch__store(utest__provider.rings, 0, utest__tid, payload, sizeof(payload)));
	EXPECT_EQ(0, etch__slow(&utest__provider, utest__provider.rings, 0, &utest__tid,
				ETCH_HEAD + sizeof(payload)));
	EXPECT_TRUE(says(ETCH, "user/stats", " lost 1 malformed 0\n"));
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "1"));
	utest_number(3, 0, 0);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(2, self->trace.nr);
	EXPECT_STREQ("a=3 b=0 c=0", self->trace.records[1].text);
	text_free(&self->trace);
	ASSERT_EQ(0, overwrite_file(ETCH, "trace", ""));
	utest_number(4, 0, 0);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(1, self->trace.nr);
	EXPECT_STREQ("a=4 b=0 c=0", self->trace.records[0].text);
}

TEST_F(events, wake_a_reader_that_waits)
{
	char buf[4096];
	ssize_t len;
	pid_t pid;
	int fd;

	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
	utest_number(1, 0, 0);
	fd = open(ETCH "/trace_pipe", O_RDONLY);
	ASSERT_LE(0, fd);
	ASSERT_LT(0, read(fd, buf, sizeof(buf)));
	pid = fork();
	if (!pid) {
		usleep(100000);
		utest_number(2, 0, 0);
		_exit(0);
	}
	len = read(fd, buf, sizeof(buf) - 1);
	ASSERT_LT(0, len);
	buf[len] = '\0';
	EXPECT_NE(NULL, strstr(buf, "number: a=2 b=0 c=0"));
	close(fd);
	waitpid(pid, NULL, 0);
}

TEST_F(events, need_the_counter)
{
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
	EXPECT_EQ(EBUSY, write_file(ETCH, "trace_clock", "mono"));
	EXPECT_TRUE(says(ETCH, "error_log", "A program's event is enabled"));
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "0"));
	ASSERT_EQ(0, write_file(ETCH, "trace_clock", "mono"));
	EXPECT_EQ(EOPNOTSUPP, write_file(ETCH, NUMBER "/enable", "1"));
	EXPECT_TRUE(says(ETCH, "error_log", "A program's event needs trace_clock 'counter'"));
	EXPECT_EQ(EOPNOTSUPP, write_file(ETCH, "events/utest/enable", "1"));
	EXPECT_EQ(EOPNOTSUPP, write_file(ETCH, "set_event", "utest:number"));
	EXPECT_FALSE(utest_number_enabled());
	/* These leave out the events that the instance cannot take. */
	EXPECT_EQ(0, write_file(ETCH, "set_event", "*:sched_switch utest:*"));
	EXPECT_STREQ("1", read_line(ETCH, "events/sched/sched_switch/enable"));
	EXPECT_EQ(0, write_file(ETCH, "events/enable", "1"));
	EXPECT_STREQ("1", read_line(ETCH, "events/sched/sched_switch/enable"));
	EXPECT_STREQ("0", read_line(ETCH, NUMBER "/enable"));
	EXPECT_EQ(0, write_file(ETCH, "events/enable", "0"));
	ASSERT_EQ(0, write_file(ETCH, "trace_clock", "counter"));
	ASSERT_EQ(0, write_file(ETCH, NUMBER "/enable", "1"));
	utest_number(8, 0, 0);
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(1, self->trace.nr);
}

TEST_F(events, have_no_rules)
{
	EXPECT_EQ(ENOENT, write_file(ETCH, NUMBER "/filter", "a == 1"));
	EXPECT_EQ(ENOENT, write_file(ETCH, NUMBER "/trigger", "traceoff"));
	EXPECT_EQ(EINVAL, write_file(ETCH, "events/utest/filter", "a == 1"));
	EXPECT_TRUE(says(ETCH, "error_log", "Events of programs have no filters"));
	EXPECT_EQ(0, write_file(ETCH, "events/utest/filter", "0"));
}

/* Programs have a ring for each number that a CPU may have. */
TEST_F(events, come_with_the_number_of_cpus)
{
	struct etch_user_register r = {
		.size = sizeof(r), .name = (uintptr_t)"right:cpus", .fields = (uintptr_t)"u32 a",
		.cpus = 1,
	};
	char *possible = read_file("/sys/devices/system/cpu", "possible");
	char *last = possible ? strrchr(possible, '-') ?: strrchr(possible, ',') : NULL;

	EXPECT_EQ(-1, ioctl(self->fd, ETCH_USER_IOC_REGISTER, &r));
	EXPECT_EQ(EINVAL, errno);
	r.cpus = 0;
	ASSERT_EQ(0, ioctl(self->fd, ETCH_USER_IOC_REGISTER, &r));
	EXPECT_LE(nr_cpus(), r.cpus);
	if (possible)
		EXPECT_EQ(atoi(last ? last + 1 : possible) + 1, r.cpus);
	free(possible);
}

TEST_F(events, that_cannot_be_are_refused)
{
	static const struct {
		int err;
		const char *name, *fields;
	} wrong[] = {
		{ EINVAL, "noevent", "u32 a" },
		{ EINVAL, ":none", "u32 a" },
		{ EINVAL, "none:", "u32 a" },
		{ EINVAL, "a b:c", "u32 a" },
		{ EINVAL, "9a:c", "u32 a" },
		{ EINVAL, "../x:c", "u32 a" },
		{ EINVAL, "wrong:type", "u33 a" },
		{ EINVAL, "wrong:name", "u32 a b" },
		{ EINVAL, "wrong:name", "u32 1a" },
		{ EINVAL, "wrong:twice", "u32 a; u64 a" },
		{ EINVAL, "wrong:array", "u32 a[]" },
		{ EINVAL, "wrong:array", "u32 a[99999]" },
		{ EINVAL, "wrong:loc", "__data_loc char a" },
		{ EINVAL, "wrong:loc", "__data_loc " },
		{ E2BIG, "wrong:size", "u64 a[1024]; u64 b[1024]" },
		{ EEXIST, "sched:mine", "u32 a" },
		{ EEXIST, "etch:mine", "u32 a" },
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		EXPECT_EQ(wrong[i].err, reg(self->fd, 0, wrong[i].name, wrong[i].fields))
			TH_LOG("%s %s", wrong[i].name, wrong[i].fields);
	}
	EXPECT_EQ(EINVAL, reg(self->fd, ETCH_USER_GATES, "right:gate", "u32 a"));
	EXPECT_EQ(EFAULT, reg(self->fd, 0, NULL, "u32 a"));
	EXPECT_EQ(0, reg(self->fd, 0, "right:all", "u32 a; s64 b; unsigned long c; char d[16]; "
			 "u16 e[3]; __data_loc char[] f; __rel_loc u8[] g; bool h"));
	EXPECT_EQ(EEXIST, reg(self->fd, 0, "right:gate", "u32 a"));
	EXPECT_TRUE(says(ETCH, "events/right/all/format", "\tfield:u16 e[3];\toffset:48;"));
}

TEST_F(events, of_one_name_are_one_if_their_fields_agree)
{
	int other = open("/dev/etch", O_RDWR);

	ASSERT_LE(0, other);
	EXPECT_EQ(0, reg(self->fd, 1, "same:one", "u32 a; u64 b"));
	EXPECT_EQ(0, reg(other, 1, "same:one", "u32 a;u64 b;"));
	EXPECT_EQ(0, reg(other, 2, "same:one", "u32 a; u64 c"));
	EXPECT_TRUE(says(ETCH, "available_events", "same:one\nsame:one_"));
	/* Nobody has them any more. The next one may look different. */
	close(other);
	close(self->fd);
	self->fd = open("/dev/etch", O_RDWR);
	EXPECT_EQ(0, reg(self->fd, 1, "same:one", "u8 x"));
	EXPECT_TRUE(says(ETCH, "events/same/one/format", "\tfield:u8 x;"));
}

TEST_F(events, go_when_nobody_has_them)
{
	ASSERT_EQ(0, reg(self->fd, 1, "going:one", "u32 a"));
	EXPECT_EQ(-1, ioctl(self->fd, ETCH_USER_IOC_UNREGISTER, "going:one"));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(-1, ioctl(self->fd, ETCH_USER_IOC_UNREGISTER, "going:two"));
	EXPECT_EQ(ENOENT, errno);
	close(self->fd);
	self->fd = open("/dev/etch", O_RDWR);
	EXPECT_EQ(0, access(ETCH "/events/going/one", F_OK));
	EXPECT_EQ(0, ioctl(self->fd, ETCH_USER_IOC_UNREGISTER, "going:one"));
	EXPECT_EQ(-1, access(ETCH "/events/going/one", F_OK));
}

TEST_HARNESS_MAIN
