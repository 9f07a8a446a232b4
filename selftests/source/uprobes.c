// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events in programs: uprobes and uretprobes, defined in Etch's tree.
 *
 * The probed program is the test itself. probed() is called with numbers and texts, by the test
 * or by a child that it starts later.
 */
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "probing.h"
#include "text.h"

#define EVENT	"events/uprobes/etch_probed"
#define OTHER	ETCH "/instances/uprobes"
#define LIBRARY	"/tmp/etch-library.so"
#define HITS	20
#define STARTS	30	/* of a program; the long lanes ask for 1,000 */
#define TURN	8

static const char *program;

__attribute__((noipa)) int probed(int number, const char *text, const char *const *texts)
{
	return number * 2 + !text + !texts;
}

static void calls(int nr)
{
	static const char * const texts[] = { "first", "second" };
	char text[32];

	for (int i = 0; i < nr; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		probed(i, i == 7 ? (void *)8 : text, texts);
	}
}

/* Where in the file the code at @addr is. */
static unsigned long offset_of(unsigned long addr)
{
	char *maps = read_path("/proc/self/maps", NULL), *line = maps;
	unsigned long start, end, offset = 0;

	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    addr >= start && addr < end)
			break;
	free(maps);
	return addr - start + offset;
}

static int define(const char *what, const char *arguments)
{
	char text[512];

	snprintf(text, sizeof(text), "%s %s:0x%lx %s", what, program,
		 offset_of((unsigned long)probed), arguments);
	return write_bytes(ETCH, "uprobe_events", O_APPEND, text, strlen(text));
}

static int forget(void)
{
	return write_bytes(ETCH, "uprobe_events", O_APPEND, "-:etch_probed", 13);
}

/* The program that a test starts is this one: it calls probed() and ends. */
__attribute__((constructor)) static void as_a_program(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "probed"))
		_exit(probed(atoi(argv[2]), "", NULL) & 127);
}

static int start(int number)
{
	char text[16], *const argv[] = { (char *)program, "probed", text, NULL };
	int status = -1;
	pid_t pid;

	snprintf(text, sizeof(text), "%d", number);
	if (!posix_spawn(&pid, program, NULL, NULL, argv, environ))
		waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What the task that switches the event, and the one that starts programs, know of each other. */
struct turns {
	volatile unsigned int era;	/* odd: the event is on for sure */
	volatile unsigned int ended;	/* programs */
};

/* Switch the event on for TURN programs or more, and off. */
static void toggle(struct turns *turns)
{
	for (;;) {
		unsigned int until;

		if (write_file(ETCH, EVENT "/enable", "1"))
			_exit(1);
		turns->era++;
		for (until = turns->ended + TURN; (int)(turns->ended - until) < 0; )
			usleep(1000);
		turns->era++;
		if (write_file(ETCH, EVENT "/enable", "0"))
			_exit(1);
		usleep(1000);
	}
}

FIXTURE(uprobes) {
	struct trace trace;
};

FIXTURE_SETUP(uprobes)
{
	const char *why = probing_begins("uprobe_events", OTHER);

	if (why)
		SKIP(return, "%s", why);
	program = this_program();
	ASSERT_NE(NULL, program);
	ASSERT_EQ(0, access(OTHER, F_OK));
}

FIXTURE_TEARDOWN(uprobes)
{
	probing_ends(OTHER, &self->trace);
}

#ifdef __x86_64__
#define BYTE	"byte=%di:u8"
#define NUMBER	"number=%di:s32"
#define TEXT	"text=+0(%si):string"
#define TEXTS	"texts=+0(%dx):string[2]"
#else
#define BYTE	"byte=%x0:u8"
#define NUMBER	"number=%x0:s32"
#define TEXT	"text=+0(%x1):string"
#define TEXTS	"texts=+0(%x2):string[2]"
#endif

TEST_F(uprobes, record_arguments)
{
	char comm[32];

	ASSERT_EQ(0, define("p:etch_probed", BYTE " comm=$comm " NUMBER " " TEXT " " TEXTS));
	calls(1);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	calls(HITS);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	calls(1);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(HITS, self->trace.nr);
	snprintf(comm, sizeof(comm), "%s", read_line("/proc/self", "comm"));
	for (int i = 0; i < HITS; i++) {
		char want[160], text[32];

		snprintf(text, sizeof(text), i == 7 ? "(fault)" : "\"text %d\"", i);
		snprintf(want, sizeof(want),
			 "(0x%lx) byte=%d comm=\"%s\" number=%d text=%s "
			 "texts={\"first\",\"second\"}", (unsigned long)probed, i, comm, i, text);
		EXPECT_STREQ(want, self->trace.records[i].text);
		EXPECT_EQ(getpid(), self->trace.records[i].pid);
	}
	EXPECT_EQ(HITS, number_in(read_file(ETCH, EVENT "/stats"), "hits"));
}

TEST_F(uprobes, record_return_values)
{
	ASSERT_EQ(0, define("r:etch_probed", "ret=$retval:s32"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/filter", "ret >= 10 && ret < 20"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	calls(HITS);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(5, self->trace.nr);
	for (int i = 0; i < 5; i++) {
		char from[64], ret[32];

		snprintf(from, sizeof(from), " <- 0x%lx) ", (unsigned long)probed);
		snprintf(ret, sizeof(ret), ") ret=%d", 2 * (i + 5));
		EXPECT_NE(NULL, strstr(self->trace.records[i].text, from));
		EXPECT_NE(NULL, strstr(self->trace.records[i].text, ret));
	}
}

/* Two instances, a histogram, and children that start when the probe is there already. */
TEST_F(uprobes, miss_nobody)
{
	ASSERT_EQ(0, define("p:etch_probed", NUMBER));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/trigger", "hist:keys=number"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	ASSERT_EQ(0, write_file(OTHER, EVENT "/enable", "1"));
	for (int i = 0; i < HITS; i++) {
		pid_t child = fork();

		ASSERT_LE(0, child);
		if (!child) {
			calls(HITS);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	EXPECT_EQ(EBUSY, forget());
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	EXPECT_EQ(EBUSY, forget());
	ASSERT_EQ(0, write_file(OTHER, EVENT "/enable", "0"));
	EXPECT_EQ(EBUSY, forget());
	EXPECT_EQ(1, times_in(ETCH, EVENT "/hist", "Hits: 400\n"));
	EXPECT_EQ(1, times_in(ETCH, EVENT "/hist", "Entries: 20\n"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/trigger", "!hist:keys=number"));
	EXPECT_EQ(0, forget());
	EXPECT_EQ(-1, access(OTHER "/" EVENT, F_OK));
	EXPECT_EQ(HITS * HITS, stat_sum(ETCH, "written"));
	EXPECT_EQ(HITS * HITS, stat_sum(OTHER, "written"));
}

/* The same code in another file, which is mapped when the event is on already. */
TEST_F(uprobes, are_in_libraries_that_are_mapped_later)
{
	unsigned long offset = offset_of((unsigned long)probed), page = getpagesize();
	int (*copied)(int number, const char *text, const char *const *texts);
	char text[256], *map;
	size_t len = 0;
	char *all = read_path(program, &len);
	int fd = open(LIBRARY, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	ASSERT_TRUE(all && fd >= 0);
	ASSERT_EQ(len, write(fd, all, len));
	free(all);
	snprintf(text, sizeof(text), "p:etch_probed " LIBRARY ":0x%lx %s", offset, NUMBER);
	ASSERT_EQ(0, write_bytes(ETCH, "uprobe_events", O_APPEND, text, strlen(text)));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	map = mmap(NULL, 2 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset / page * page);
	ASSERT_NE(MAP_FAILED, map);
	copied = (void *)(map + offset % page);
	calls(HITS);
	for (int i = 0; i < HITS; i++)
		ASSERT_EQ(2 * i + 2, copied(i, NULL, NULL));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	ASSERT_EQ(2, copied(0, NULL, NULL));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(HITS, self->trace.nr);
	for (int i = 0; i < HITS; i++) {
		snprintf(text, sizeof(text), "(0x%lx) number=%d", (unsigned long)copied, i);
		EXPECT_STREQ(text, self->trace.records[i].text);
	}
	munmap(map, 2 * page);
	close(fd);
	unlink(LIBRARY);
}

/* Two processes hit it, and the instance wants one of them. */
TEST_F(uprobes, are_of_one_process)
{
	pid_t child;

	ASSERT_EQ(0, define("p:etch_probed", NUMBER));
	ASSERT_EQ(0, write_fmt(ETCH, "set_event_pid", "%d", getpid()));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		calls(HITS);
		_exit(0);
	}
	calls(HITS);
	waitpid(child, NULL, 0);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(HITS, self->trace.nr);
	for (int i = 0; i < HITS; i++)
		EXPECT_EQ(getpid(), self->trace.records[i].pid);
	EXPECT_EQ(2 * HITS, number_in(read_file(ETCH, EVENT "/stats"), "hits"));
}

/* A start while the event is on, from its beginning to its end, is recorded once. */
TEST_F_TIMEOUT(uprobes, miss_no_program_that_starts, 1800)
{
	int starts = test_number("ETCH_STARTS", "starts", STARTS), sure = 0;
	struct turns *turns;
	pid_t toggler;
	bool *wanted;

	turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	wanted = calloc(starts, sizeof(*wanted));
	ASSERT_TRUE(turns != MAP_FAILED && wanted);
	ASSERT_EQ(0, define("p:etch_probed", NUMBER));
	toggler = fork();
	ASSERT_LE(0, toggler);
	if (!toggler)
		toggle(turns);
	/* Where processors are slow, all would have ended before the event is on. */
	while (!turns->era && !waitpid(toggler, NULL, WNOHANG))
		usleep(1000);
	for (int i = 0; i < starts; i++) {
		unsigned int era = turns->era;

		/* Twice the number, and one for the texts that are not there. */
		ASSERT_EQ((2 * i + 1) & 127, start(i));
		wanted[i] = era % 2 && era == turns->era;
		sure += wanted[i];
		turns->ended++;
	}
	EXPECT_EQ(0, waitpid(toggler, NULL, WNOHANG));
	kill(toggler, SIGKILL);
	waitpid(toggler, NULL, 0);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	for (int i = 0; i < starts; i++) {
		char want[32];
		int found = 0;

		snprintf(want, sizeof(want), ") number=%d", i);
		for (size_t r = 0; r < self->trace.nr; r++)
			found += !strcmp(strchr(self->trace.records[r].text, ')') ?: "", want);
		EXPECT_GE(1, found);
		EXPECT_LE(wanted[i], found)
			TH_LOG("start %d of %d", i, starts);
	}
	/* Those of the first turn. */
	EXPECT_LE(TURN, sure);
	munmap(turns, sizeof(*turns));
	free(wanted);
}

/* Numbers at hand; those on the program's stack, which are read from its memory; and texts. */
TEST_F(uprobes, say_the_same_as_ftrace)
{
	static const char * const arguments[] = {
		NUMBER " " BYTE, NUMBER " slot=$stack0:x64 deep=$stack3:x64 at=$stack:x64",
		NUMBER " " TEXT " " TEXTS,
	};
	struct trace theirs;

	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	for (int n = 0; n < ARRAY_LEN(arguments); n++) {
		ASSERT_EQ(0, define("p:etch_probed", arguments[n]));
		ASSERT_EQ(0, write_file(FTRACE, "trace", ""));
		ASSERT_EQ(0, overwrite_file(ETCH, "trace", ""));
		ASSERT_EQ(0, write_file(FTRACE, EVENT "/enable", "1"));
		ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
		calls(7);
		ASSERT_EQ(0, write_file(FTRACE, EVENT "/enable", "0"));
		calls(1);
		ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
		text_free(&self->trace);
		self->trace = text_read(ETCH, "trace");
		theirs = text_read(FTRACE, "trace");
		EXPECT_EQ(8, self->trace.nr);
		ASSERT_EQ(7, theirs.nr);
		for (int i = 0; i < 7; i++)
			EXPECT_STREQ(theirs.records[i].text, self->trace.records[i].text);
		text_free(&theirs);
		ASSERT_EQ(0, forget());
	}
}

TEST_F(uprobes, mistakes_are_shown_with_their_place)
{
	ASSERT_EQ(0, write_file(ETCH, "error_log", ""));
	EXPECT_EQ(EINVAL, define("p:etch_probed", "number=%nope"));
	EXPECT_EQ(1, times_in(ETCH, "error_log", "uprobe_events: error: Invalid register name\n"));
}

TEST_HARNESS_MAIN
