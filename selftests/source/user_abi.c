// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that register events by user_events_data of tracefs: their events are in Etch's tree,
 * are enabled there, and what they write is recorded there, with ftrace beside it or without.
 */

#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <linux/user_events.h>

#include "etch_test.h"
#include "packets.h"
#include "text.h"

#define TREE	ETCH "/instances/etch-abi"
#define DATA	FTRACE "/user_events_data"
#define NAME	"etch_abi"
#define OF	"events/user_events/" NAME
#define FIELDS	"u8 odd; u32 id; char[16] name; __rel_loc char[] text; u64 big; s16 small; " \
		"__data_loc u8[] bytes; struct point at 8"

/* What the program writes, with all fields side by side. */
struct payload {
	uint8_t odd;
	uint32_t id;
	char name[16];
	uint32_t text_at;
	uint64_t big;
	int16_t small;
	uint32_t bytes_at;
	uint32_t at[2];
	char rest[16];
} __attribute__((packed));

/* To the program, a record begins with eight bytes of ftrace's. */
#define PLACE(member)		((uint32_t)offsetof(struct payload, member))
#define DATA_LOC(member, len)	((8 + PLACE(member)) | (uint32_t)(len) << 16)
#define REL_LOC(word, member, len) \
	((PLACE(member) - PLACE(word) - 4) | (uint32_t)(len) << 16)

static const struct payload usual = {
	.odd = 200, .id = 7, .name = "a name", .big = 1ULL << 40, .small = -3, .at = { 1, 2 },
	.text_at = REL_LOC(text_at, rest, 7), .bytes_at = DATA_LOC(rest[7], 3),
	.rest = "a text\0" "\x01\xff\x03",
};

/* A program's own. */
struct program {
	int fd;
	uint32_t enabled;	/* the kernel sets bit 3 */
	uint32_t index;
};

static int program_register(struct program *p, const char *event, int flags)
{
	struct user_reg reg = {
		.size = sizeof(reg), .enable_bit = 3, .enable_size = sizeof(p->enabled),
		.enable_addr = (unsigned long)&p->enabled, .name_args = (unsigned long)event,
		.flags = flags,
	};

	if (ioctl(p->fd, DIAG_IOCSREG, &reg))
		return errno;
	p->index = reg.write_index;
	return 0;
}

static int program_begin(struct program *p, const char *event)
{
	*p = (struct program){ .fd = open(DATA, O_RDWR | O_CLOEXEC) };
	return p->fd < 0 ? errno : program_register(p, event, 0);
}

static void program_end(struct program *p)
{
	struct user_unreg unreg = {
		.size = sizeof(unreg), .disable_bit = 3,
		.disable_addr = (unsigned long)&p->enabled,
	};

	ioctl(p->fd, DIAG_IOCSUNREG, &unreg);
	close(p->fd);
	p->fd = -1;
}

/* 0, or an errno. */
static int program_write(const struct program *p, const void *payload, size_t len)
{
	struct iovec parts[] = {
		{ (void *)&p->index, sizeof(p->index) }, { (void *)payload, len },
	};
	ssize_t n = writev(p->fd, parts, 2);

	return n < 0 ? errno : n == (ssize_t)(len + sizeof(p->index)) ? 0 : EIO;
}

static bool has_event(const char *name)
{
	char line[128];

	snprintf(line, sizeof(line), "user_events:%s\n", name);
	return times_in(ETCH, "available_events", line) == 1;
}

/* The kernel lets an event go by a worker. */
static bool event_goes(const char *name)
{
	for (int i = 0; i < 500 && has_event(name); i++)
		usleep(10000);
	return !has_event(name);
}

FIXTURE(abi) {
	struct program program;
	struct trace trace;
};

FIXTURE_SETUP(abi)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	if (access(DATA, F_OK))
		SKIP(return, "no " DATA ": CONFIG_USER_EVENTS");
	memset(&self->trace, 0, sizeof(self->trace));
	write_file(FTRACE, OF "/enable", "0");
	rmdir(TREE);
	ASSERT_EQ(0, mkdir(TREE, 0700));
	run_on(0);
	ASSERT_TRUE(event_goes(NAME));
	ASSERT_EQ(0, program_begin(&self->program, NAME " " FIELDS));
}

FIXTURE_TEARDOWN(abi)
{
	write_file(FTRACE, OF "/enable", "0");
	rmdir(TREE);
	text_free(&self->trace);
	program_end(&self->program);
}

static unsigned int nr_in_ftrace(void)
{
	char *text = read_file(FTRACE, "trace");
	unsigned int nr = 0;

	for (const char *at = text; (at = strstr(at, ": " NAME ": ")); at++)
		nr++;
	free(text);
	return nr;
}

/* ---- The way of a record ---- */

TEST_F(abi, are_listed_with_their_fields)
{
	char *format = read_file(ETCH, OF "/format");

	EXPECT_TRUE(has_event(NAME));
	ASSERT_NE(NULL, format);
	EXPECT_NE(NULL, strstr(format, "name: " NAME "\n"));
	EXPECT_NE(NULL, strstr(format, "field:u8 odd;\toffset:12;\tsize:1;\tsigned:0;"));
	EXPECT_NE(NULL, strstr(format, "field:u32 id;\toffset:16;\tsize:4;\tsigned:0;"));
	EXPECT_NE(NULL, strstr(format, "field:char name[16];\toffset:20;\tsize:16;"));
	EXPECT_NE(NULL, strstr(format, "field:__rel_loc char[] text;\toffset:36;\tsize:4;"));
	EXPECT_NE(NULL, strstr(format, "field:u64 big;\toffset:40;\tsize:8;\tsigned:0;"));
	EXPECT_NE(NULL, strstr(format, "field:s16 small;\toffset:48;\tsize:2;\tsigned:1;"));
	EXPECT_NE(NULL, strstr(format, "field:__data_loc u8[] bytes;\toffset:52;\tsize:4;"));
	EXPECT_NE(NULL, strstr(format, "field:u8 at[8];\toffset:56;\tsize:8;"));
	free(format);
}

TEST_F(abi, are_recorded_while_enabled)
{
	EXPECT_EQ(0, self->program.enabled);
	EXPECT_EQ(EBADF, program_write(&self->program, &usual, sizeof(usual)));
	ASSERT_EQ(0, write_file(TREE, OF "/enable", "1"));
	EXPECT_EQ(1 << 3, self->program.enabled);
	EXPECT_EQ(0, program_write(&self->program, &usual, sizeof(usual)));
	ASSERT_EQ(0, write_file(TREE, OF "/enable", "0"));
	EXPECT_EQ(0, self->program.enabled);
	EXPECT_EQ(EBADF, program_write(&self->program, &usual, sizeof(usual)));

	self->trace = text_read(TREE, "trace");
	ASSERT_EQ(1, self->trace.nr);
	EXPECT_STREQ(NAME, self->trace.records[0].event);
	EXPECT_EQ(getpid(), self->trace.records[0].pid);
	EXPECT_STREQ("odd=200 id=7 name=a name text=a text big=1099511627776 small=-3 "
		     "bytes={1,255,3} at={1,0,0,0,2,0,0,0}",
		     self->trace.records[0].text);
	EXPECT_EQ(0, lost_sum(TREE));
}

TEST_F(abi, are_in_both_trees)
{
	unsigned int before = nr_in_ftrace();
	char *status;

	ASSERT_EQ(0, write_file(TREE, OF "/enable", "1"));
	ASSERT_EQ(0, write_file(FTRACE, OF "/enable", "1"));
	EXPECT_EQ(0, program_write(&self->program, &usual, sizeof(usual)));
	status = read_file(FTRACE, "user_events_status");
	EXPECT_NE(NULL, strstr(status, NAME " # Used by ftrace other"));
	free(status);
	EXPECT_EQ(1, stat_sum(TREE, "entries"));
	EXPECT_EQ(before + 1, nr_in_ftrace());
	/* One that stops does not stop the other one. */
	ASSERT_EQ(0, write_file(FTRACE, OF "/enable", "0"));
	EXPECT_EQ(1 << 3, self->program.enabled);
	EXPECT_EQ(0, program_write(&self->program, &usual, sizeof(usual)));
	EXPECT_EQ(2, stat_sum(TREE, "entries"));
	EXPECT_EQ(before + 1, nr_in_ftrace());
	ASSERT_EQ(0, write_file(FTRACE, OF "/enable", "1"));
	ASSERT_EQ(0, write_file(TREE, OF "/enable", "0"));
	EXPECT_EQ(1 << 3, self->program.enabled);
	EXPECT_EQ(0, program_write(&self->program, &usual, sizeof(usual)));
	EXPECT_EQ(2, stat_sum(TREE, "entries"));
	EXPECT_EQ(before + 2, nr_in_ftrace());
	ASSERT_EQ(0, write_file(FTRACE, OF "/enable", "0"));
	EXPECT_EQ(0, self->program.enabled);
}

TEST_F(abi, pass_filters)
{
	struct payload payload = usual;

	ASSERT_EQ(0, write_file(TREE, OF "/filter", "id == 9 && text == \"a text\""));
	ASSERT_EQ(0, write_file(TREE, OF "/enable", "1"));
	for (payload.id = 5; payload.id < 15; payload.id++)
		EXPECT_EQ(0, program_write(&self->program, &payload, sizeof(payload)));
	self->trace = text_read(TREE, "trace");
	ASSERT_EQ(1, self->trace.nr);
	EXPECT_NE(NULL, strstr(self->trace.records[0].text, " id=9 "));
}

TEST_F(abi, are_in_packets)
{
	struct packets p = {};
	int fd;

	ASSERT_EQ(0, write_file(TREE, OF "/enable", "1"));
	for (int i = 0; i < 1000; i++)
		ASSERT_EQ(0, program_write(&self->program, &usual, sizeof(usual)));
	ASSERT_EQ(0, write_file(TREE, "tracing_on", "0"));
	EXPECT_EQ(1, times_in(TREE, "metadata", "\"user_events:" NAME "\""));
	fd = packets_open(TREE, 0, O_NONBLOCK);
	ASSERT_LE(0, fd);
	packets_drain(&p, fd);
	close(fd);
	EXPECT_EQ(1000, p.records);
	/* Once in each packet, because these are no marks. */
	EXPECT_EQ(p.packets - p.empty, p.wrong);
}

/* ---- What programs write ---- */

static int write_changed(const struct program *p, uint32_t text_at, uint32_t bytes_at)
{
	struct payload payload = usual;

	payload.text_at = text_at;
	payload.bytes_at = bytes_at;
	return program_write(p, &payload, sizeof(payload));
}

/* The errno is the one that ftrace gives, if it has the event enabled. */
TEST_F(abi, refuse_what_lies_outside)
{
	static const uint32_t bad_texts[] = {
		REL_LOC(text_at, rest, 17), REL_LOC(text_at, rest, 0xffff), 0x0001ffff, 0xffffffff,
		/* Does not end. */
		REL_LOC(text_at, rest, 3),
	};
	/* The last ones lie in ftrace's own part of the record, of which Etch has none. */
	static const uint32_t bad_bytes[] = {
		DATA_LOC(rest[7], 10), 0x0001ffff, 0xffffffff, 1 << 16 | 7, 1 << 16,
	};
	struct payload *nowhere = mmap(NULL, getpagesize(), PROT_NONE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_EQ(0, write_file(TREE, OF "/enable", "1"));
	for (size_t i = 0; i < ARRAY_LEN(bad_texts); i++)
		EXPECT_EQ(EFAULT, write_changed(&self->program, bad_texts[i], usual.bytes_at));
	for (size_t i = 0; i < ARRAY_LEN(bad_bytes); i++)
		EXPECT_EQ(EFAULT, write_changed(&self->program, usual.text_at, bad_bytes[i]));
	EXPECT_EQ(EFAULT, program_write(&self->program, nowhere, sizeof(*nowhere)));
	EXPECT_EQ(EINVAL, program_write(&self->program, &usual, sizeof(usual) - 17));
	EXPECT_EQ(0, stat_sum(TREE, "entries") + lost_sum(TREE));
	/* These are all right: no text, a text over fields, the last byte. */
	EXPECT_EQ(0, write_changed(&self->program, 0, 0));
	EXPECT_EQ(0, write_changed(&self->program, usual.text_at, DATA_LOC(odd, 57)));
	EXPECT_EQ(0, write_changed(&self->program, REL_LOC(text_at, rest[15], 1), 0));
	self->trace = text_read(TREE, "trace");
	EXPECT_EQ(3, self->trace.nr);
	munmap(nowhere, getpagesize());
}

TEST_F(abi, count_what_is_too_long)
{
	char bytes[9000] = "";

	memcpy(bytes, &usual, sizeof(usual));
	ASSERT_EQ(0, write_file(TREE, OF "/enable", "1"));
	/* What no field names is left out. */
	EXPECT_EQ(0, program_write(&self->program, bytes, 8192));
	EXPECT_EQ(1, stat_sum(TREE, "entries"));
	EXPECT_EQ(0, program_write(&self->program, bytes, 8193));
	EXPECT_EQ(1, stat_sum(TREE, "entries"));
	EXPECT_EQ(1, stat_sum(TREE, "lost too big"));
}

/* ---- Life ---- */

TEST_F(abi, come_and_go_with_programs)
{
	struct program other;

	ASSERT_EQ(0, program_begin(&other, "etch_abi_2 u32 a"));
	EXPECT_TRUE(has_event("etch_abi_2"));
	program_end(&other);
	EXPECT_TRUE(event_goes("etch_abi_2"));
	/* The same name, with another field, is another event. */
	ASSERT_EQ(0, program_begin(&other, "etch_abi_2 u64 b"));
	EXPECT_EQ(1, times_in(ETCH, "events/user_events/etch_abi_2/format", "field:u64 b;"));
	program_end(&other);
	EXPECT_TRUE(event_goes("etch_abi_2"));
}

/* An event that is enabled stays, for the next start of its program. */
TEST_F(abi, stay_while_enabled)
{
	struct program other;
	pid_t child = fork();

	if (!child)
		_exit(program_begin(&other, "etch_abi_2 u32 a") ||
		      write_file(TREE, "events/user_events/etch_abi_2/enable", "1"));
	waitpid(child, NULL, 0);
	usleep(100000);
	EXPECT_TRUE(has_event("etch_abi_2"));
	ASSERT_EQ(0, program_begin(&other, "etch_abi_2 u32 a"));
	EXPECT_EQ(1 << 3, other.enabled);
	EXPECT_EQ(0, program_write(&other, "four", 4));
	EXPECT_EQ(1, stat_sum(TREE, "entries"));
	program_end(&other);
	usleep(100000);
	EXPECT_TRUE(has_event("etch_abi_2"));
	ASSERT_EQ(0, write_file(TREE, "events/user_events/etch_abi_2/enable", "0"));
	EXPECT_TRUE(event_goes("etch_abi_2"));
	/* The records are still there, as text by their numbers. */
	self->trace = text_read(TREE, "trace");
	EXPECT_EQ(1, self->trace.nr);
}

TEST_F(abi, let_no_event_go_that_is_recorded)
{
	ASSERT_EQ(0, write_file(FTRACE, "dynamic_events", "u:etch_abi_3 u32 a"));
	EXPECT_TRUE(has_event("etch_abi_3"));
	ASSERT_EQ(0, write_file(TREE, "events/user_events/etch_abi_3/enable", "1"));
	EXPECT_EQ(EBUSY, write_file(FTRACE, "dynamic_events", "-:user_events/etch_abi_3 u32 a"));
	EXPECT_TRUE(has_event("etch_abi_3"));
	ASSERT_EQ(0, rmdir(TREE));
	EXPECT_EQ(0, write_file(FTRACE, "dynamic_events", "-:user_events/etch_abi_3 u32 a"));
	EXPECT_FALSE(has_event("etch_abi_3"));
}

/* They are ftrace's alone: other programs could not read a trace with them. */
TEST_F(abi, leave_out_what_nobody_can_spell)
{
	static const char * const odd[] = {
		"etch_abi_4 u32 a-b", "etch_abi_4 u32 a; u32 a", "etch_abi_4 u32 1a",
		"etch_abi\"4 u32 a",
	};
	struct program other;

	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		ASSERT_EQ(0, program_begin(&other, odd[i]))
			TH_LOG("%s", odd[i]);
		EXPECT_EQ(0, times_in(ETCH, "available_events", "etch_abi_4"));
		EXPECT_EQ(0, times_in(ETCH, "available_events", "etch_abi\"4"));
		program_end(&other);
		usleep(50000);
	}
}

/* ---- All at once ---- */

static volatile bool over;

static void *registers(void *arg)
{
	struct program p;

	while (!over) {
		if (program_begin(&p, "etch_abi_5 u32 a"))
			continue;
		for (int i = 0; i < 10; i++)
			program_write(&p, "four", 4);
		program_end(&p);
	}
	return NULL;
}

static void *removes(void *arg)
{
	while (!over)
		write_file(FTRACE, "dynamic_events", "-:user_events/etch_abi_5 u32 a");
	return NULL;
}

TEST_F(abi, come_and_go_while_enabled)
{
	pthread_t threads[3];
	unsigned int enabled = 0;
	long long until = now_ms() + 2000;

	over = false;
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, i < 2 ? registers : removes, NULL));
	while (now_ms() < until) {
		enabled += !write_file(TREE, "events/user_events/etch_abi_5/enable", "1");
		write_file(FTRACE, "events/user_events/etch_abi_5/enable", "1");
		usleep(1000);
		write_file(FTRACE, "events/user_events/etch_abi_5/enable", "0");
		write_file(TREE, "events/user_events/etch_abi_5/enable", "0");
	}
	over = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("# enabled %u times, %lld records\n", enabled, stat_sum(TREE, "written"));
	EXPECT_LT(0, enabled);
	EXPECT_LT(0, stat_sum(TREE, "written"));
	EXPECT_TRUE(event_goes("etch_abi_5"));
}

TEST_HARNESS_MAIN
