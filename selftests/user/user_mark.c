// SPDX-License-Identifier: GPL-2.0
/*
 * Markers of programs: events in one line of code, whose fields have types by themselves.
 *
 * Run as "hit" it only hits one, as a program that the tests start.
 */
#include <stdbool.h>
#include <sys/wait.h>

#include <etch/mark.h>

#include "etch_test.h"
#include "events.h"
#include "text.h"

ETCH_PROVIDER_DEFINE(utest, TEST_EVENTS);

#define MARK	"events/user_mark/"

enum colour { RED, GREEN = 7 };

struct thing {
	int a[3];
	const char *name;
	unsigned int bits : 3;
	signed int less : 4;
};

static int evaluated;

static int evaluate(void)
{
	return ++evaluated;
}

static inline void in_a_header(int x)
{
	etch_mark("inlined", x);
}

static void hit_integers(void)
{
	signed char sc = -1;
	unsigned char uc = 255;
	short sh = -2;
	unsigned short ush = 65535;
	int in = -3;
	unsigned int un = 4000000000U;
	long lo = -1L << 40;
	unsigned long long ull = ~0ULL;
	bool yes = true;
	char ch = 'A';
	enum colour colour = GREEN;

	etch_mark("integers", sc, uc, sh, ush, in, un, lo, ull, yes, ch, colour);
}

static void hit_strings(const struct thing *thing, const char *none)
{
	char text[8] = "text", full[4] = { 'f', 'u', 'l', 'l' };
	char *variable = text + 1;

	etch_mark("strings", thing->name, text, full, variable, none, "a, (literal");
}

static void hit_names(struct thing *thing, int (*fn)(const char *, int))
{
	etch_mark("names", thing->a[1], thing->bits, thing->less, (thing->a[2] + 1), fn("x,y", 2),
		  thing->a[1], 3, &thing->a[0]);
}

static void hit_two(unsigned int first)
{
	etch_mark("two", first);
	first++;
	etch_mark("two", first);
}

static void hit_unlike(unsigned int x, const char *y)
{
	etch_mark("unlike", x);
	etch_mark("unlike", y);
}

static int length(const char *text, int nr)
{
	return strlen(text) + nr;
}

#undef ETCH_MARK_PROVIDER
#define ETCH_MARK_PROVIDER	"umarklib"

static void hit_other_provider(void)
{
	etch_mark("own", 1);
}

#undef ETCH_MARK_PROVIDER
#define ETCH_MARK_PROVIDER	NULL

/* Marks events as gone, so that they are not in the way of other tests. */
static __attribute__((destructor)) void forget_marks(void)
{
	int fd;

	if (etch__marks.fd < 0)
		return;
	mmap((void *)etch__mark_gates, ETCH_PAGE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	close(etch__marks.fd);
	fd = open("/dev/etch", O_RDWR);
	forget_provider(fd, "user_mark:");
	forget_provider(fd, "user_mark_cxx:");
	forget_provider(fd, "umarklib:");
	forget_provider(fd, "user_sched:");
	close(fd);
}

FIXTURE(mark) {
	struct trace trace;
	struct thing thing;
};

FIXTURE_SETUP(mark)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (access("/dev/etch", F_OK) || etch_mark_error() == ENOSYS)
		SKIP(return, NO_USER);
	ASSERT_EQ(0, etch_mark_error());
	etch_as_new();
	self->thing = (struct thing){ { 1, -2, 3 }, "thing", 5, -6 };
}

FIXTURE_TEARDOWN(mark)
{
	text_free(&self->trace);
	etch_as_new();
}

static bool says(const char *file, const char *what)
{
	char *text = read_file(ETCH, file);
	bool found = text && strstr(text, what);

	if (!found)
		printf("# %s does not say '%s', but:\n%s\n", file, what, text ?: "nothing");
	free(text);
	return found;
}

TEST_F(mark, has_integers_in_their_own_size_and_sign)
{
	ASSERT_EQ(0, write_file(ETCH, MARK "integers/enable", "1"));
	hit_integers();
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(1, self->trace.nr);
	EXPECT_STREQ("integers", self->trace.records[0].event);
	EXPECT_EQ(getpid(), self->trace.records[0].pid);
	EXPECT_STREQ("sc=-1 uc=255 sh=-2 ush=65535 in=-3 un=4000000000 lo=-1099511627776 "
		     "ull=18446744073709551615 yes=1 ch=65 colour=7", self->trace.records[0].text);
	EXPECT_TRUE(says(MARK "integers/format",
			 "\tfield:s8 sc;\toffset:12;\tsize:1;\tsigned:1;\n"
			 "\tfield:u8 uc;\toffset:13;\tsize:1;\tsigned:0;\n"
			 "\tfield:s16 sh;\toffset:14;\tsize:2;\tsigned:1;\n"
			 "\tfield:u16 ush;\toffset:16;\tsize:2;\tsigned:0;\n"
			 "\tfield:s32 in;\toffset:20;\tsize:4;\tsigned:1;\n"
			 "\tfield:u32 un;\toffset:24;\tsize:4;\tsigned:0;\n"
			 "\tfield:s64 lo;\toffset:28;\tsize:8;\tsigned:1;\n"
			 "\tfield:u64 ull;\toffset:36;\tsize:8;\tsigned:0;\n"
			 "\tfield:bool yes;\toffset:44;\tsize:1;\tsigned:0;\n"
			 "\tfield:char ch;\toffset:45;\tsize:1;\tsigned:1;\n"
			 "\tfield:u32 colour;\toffset:48;\tsize:4;\tsigned:0;\n"));
}

TEST_F(mark, copies_strings_up_to_their_end)
{
	ASSERT_EQ(0, write_file(ETCH, MARK "strings/enable", "1"));
	hit_strings(&self->thing, NULL);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(1, self->trace.nr);
	EXPECT_STREQ("thing_name=thing text=text full=full variable=ext none=(null) "
		     "a_literal=a, (literal", self->trace.records[0].text);
}

TEST_F(mark, names_fields_by_their_expressions)
{
	char wanted[200];

	ASSERT_EQ(0, write_file(ETCH, MARK "names/enable", "1"));
	hit_names(&self->thing, length);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(1, self->trace.nr);
	snprintf(wanted, sizeof(wanted), "thing_a_1=-2 thing_bits=5 thing_less=-6 thing_a_2_1=4 "
		 "fn_x_y_2=5 thing_a_1_6=-2 _3=3 thing_a_0=%lu", (unsigned long)&self->thing);
	EXPECT_STREQ(wanted, self->trace.records[0].text);
}

TEST_F(mark, evaluates_nothing_while_it_is_off)
{
	evaluated = 0;
	for (int i = 0; i < 4; i++) {
		etch_mark("evaluating", evaluate());
		ASSERT_EQ(0, write_file(ETCH, MARK "evaluating/enable", i < 2 ? "1" : "0"));
	}
	EXPECT_EQ(2, evaluated);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(2, self->trace.nr);
	EXPECT_STREQ("evaluate=1", self->trace.records[0].text);
	EXPECT_STREQ("evaluate=2", self->trace.records[1].text);
}

TEST_F(mark, may_have_no_fields_or_be_inlined)
{
	ASSERT_EQ(0, write_file(ETCH, "events/user_mark/enable", "1"));
	etch_mark("bare");
	in_a_header(1);
	in_a_header(2);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(3, self->trace.nr);
	EXPECT_STREQ("bare", self->trace.records[0].event);
	EXPECT_STREQ("x=1", self->trace.records[1].text);
	EXPECT_STREQ("x=2", self->trace.records[2].text);
}

TEST_F(mark, of_one_name_are_one_event_if_their_fields_agree)
{
	ASSERT_EQ(0, write_file(ETCH, "events/user_mark/enable", "1"));
	hit_two(1);
	hit_unlike(3, "other");
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(4, self->trace.nr);
	EXPECT_STREQ("first=1", self->trace.records[0].text);
	EXPECT_STREQ("first=2", self->trace.records[1].text);
	EXPECT_STREQ("x=3", self->trace.records[2].text);
	EXPECT_STREQ("y=other", self->trace.records[3].text);
	EXPECT_STREQ("two", self->trace.records[0].event);
	EXPECT_STREQ("two", self->trace.records[1].event);
	EXPECT_TRUE(says("available_events", "user_mark:unlike\n"));
	EXPECT_TRUE(says("available_events", "user_mark:unlike_"));
}

TEST_F(mark, may_have_another_provider)
{
	ASSERT_EQ(0, write_file(ETCH, "events/umarklib/own/enable", "1"));
	hit_other_provider();
	EXPECT_EQ(1, times_in(ETCH, "trace", "own: _1=1"));
}

/* Runs the program as @name, and returns its exit code. */
static int run(const char *path, const char *name, const char *arg)
{
	char *argv[] = { (char *)name, (char *)arg, NULL };
	int status = -1, pid = fork();

	if (!pid) {
		execv(path, argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The first run makes the event known, which the second one finds enabled. */
TEST_F(mark, has_its_programs_name_unless_the_kernel_has_it)
{
	ASSERT_EQ(0, run("/proc/self/exe", "/usr/bin/sched", "hit"));
	ASSERT_EQ(0, write_file(ETCH, "events/user_sched/hit/enable", "1"));
	ASSERT_EQ(0, run("/proc/self/exe", "/usr/bin/sched", "hit"));
	EXPECT_EQ(1, times_in(ETCH, "trace", " hit: _4=4 name=sched"));
}

TEST_F(mark, works_in_cxx)
{
	char path[4096] = "";
	int ret;

	ASSERT_LT(0, readlink("/proc/self/exe", path, sizeof(path) - 5));
	strcat(path, "_cxx");
	ret = run(path, "user_mark_cxx", NULL);
	if (ret == 127)
		SKIP(return, "the tests were built without a C++ compiler");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, write_file(ETCH, "events/user_mark_cxx/enable", "1"));
	ASSERT_EQ(0, run(path, "user_mark_cxx", NULL));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(8, self->trace.nr);
	EXPECT_STREQ("this_name=method bits=5", self->trace.records[0].text);
	EXPECT_STREQ("c=-1 b=1 ch=65 u=4000000000 ll=-1099511627776 e=7 sc=-2",
		     self->trace.records[1].text);
	EXPECT_STREQ("text=text full=full s=std none=(null) nullptr=0",
		     self->trace.records[2].text);
	EXPECT_STREQ("x=3 sizeof_T=4", self->trace.records[3].text);
	EXPECT_STREQ("x=4 sizeof_T=8", self->trace.records[4].text);
	EXPECT_STREQ("x=5", self->trace.records[5].text);
	EXPECT_STREQ("q=6 in=-1", self->trace.records[6].text);
	EXPECT_STREQ("bare", self->trace.records[7].event);
	/* Those of a template are two events, because a field has two types. */
	EXPECT_TRUE(says("available_events", "user_mark_cxx:templated\n"));
	EXPECT_TRUE(says("available_events", "user_mark_cxx:templated_"));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "hit")) {
		char name[] = "sched";

		etch_mark("hit", 4, name);
		/* The event stays. */
		_exit(etch_mark_error());
	}
	return test_harness_run(argc, argv);
}
