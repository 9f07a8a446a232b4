// SPDX-License-Identifier: GPL-2.0
/*
 * Events of fprobes: at the entry or the exit of a function, or at a tracepoint.
 */
#include <signal.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "probing.h"
#include "sample.h"
#include "text.h"

#define EVENT	"events/fprobes/etch_open"
#define SIGNAL	"events/tracepoints/etch_signal"
#define OTHER	ETCH "/instances/fprobes"
#define HITS	20

#define OPEN	"f:etch_open do_sys_openat2 dfd=$arg1:s32 name=+0($arg2):ustring"
#define OPENED	"f:etch_open do_sys_openat2%return ret=$retval:s32 dfd=$arg1:s32"
#define SENT	"t:etch_signal signal_generate sig=$arg1:s32 group=$arg4:s32"

FIXTURE(fprobes) {
	struct trace trace;
};

FIXTURE_SETUP(fprobes)
{
	const char *why = probing_begins("dynamic_events", OTHER);

	if (why)
		SKIP(return, "%s", why);
	if (define_probe(OPEN)) {
		probing_ends(OTHER, &self->trace);
		SKIP(return, NO_FPROBES);
	}
	ASSERT_EQ(0, write_file(ETCH, "error_log", ""));
	ASSERT_EQ(0, access(OTHER, F_OK));
}

FIXTURE_TEARDOWN(fprobes)
{
	probing_ends(OTHER, &self->trace);
}

/* Hit the event, with a filter, while it is on, and before and after. */
static int record(const char *event, const char *filter, void (*fire)(int nr))
{
	int err;

	err = write_fmt(ETCH, "set_event_pid", "%d", getpid());
	fire(3);
	err = err ?: write_fmt(ETCH, strcmp(event, EVENT) ? SIGNAL "/filter" : EVENT "/filter",
			       "%s", filter);
	err = err ?: write_fmt(ETCH, "set_event", "%s", strrchr(event, '/') + 1);
	fire(HITS);
	err = err ?: overwrite_file(ETCH, "set_event", "");
	fire(3);
	return err;
}

/* The default action is to ignore it. */
static void signals(int nr)
{
	while (nr--)
		kill(getpid(), SIGURG);
}

TEST_F(fprobes, record_entries)
{
	ASSERT_EQ(0, record(EVENT, MINE, hits));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(HITS, self->trace.nr);
	for (int i = 0; i < HITS; i++) {
		const struct record *r = &self->trace.records[i];
		char end[64];

		snprintf(end, sizeof(end), ") dfd=%d name=\"/etch-probe-%d\"", DFD + i, i);
		EXPECT_STREQ("etch_open", r->event);
		EXPECT_EQ(0, strncmp(r->text, "(do_sys_openat2+0x", 18));
		EXPECT_STREQ(end, strchr(r->text, ')') ?: "")
			TH_LOG("'%s'", r->text);
	}
	/* Nobody counts them. */
	EXPECT_STREQ("missed: 0\n", read_file(ETCH, EVENT "/stats"));
}

TEST_F(fprobes, record_exits)
{
	forget_all();
	ASSERT_EQ(0, define_probe(OPENED));
	EXPECT_TRUE(says(ETCH, EVENT "/format", "\tfield:unsigned long __probe_func;\toffset:12;\t"
			 "size:8;\tsigned:0;\n\tfield:unsigned long __probe_ret_ip;\toffset:20;\t"
			 "size:8;\tsigned:0;\n\tfield:s32 ret;\toffset:28;\t"));
	ASSERT_EQ(0, record(EVENT, MINE " && ret == -2", hits));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(HITS, self->trace.nr);
	for (int i = 0; i < HITS; i++) {
		char end[64];

		snprintf(end, sizeof(end), " <- do_sys_openat2) ret=-2 dfd=%d", DFD + i);
		EXPECT_NE(NULL, strstr(self->trace.records[i].text, end))
			TH_LOG("'%s'", self->trace.records[i].text);
	}
}

TEST_F(fprobes, record_tracepoints)
{
	ASSERT_EQ(0, define_probe(SENT));
	EXPECT_TRUE(says(ETCH, "available_events", "tracepoints:etch_signal\n"));
	ASSERT_EQ(0, record(SIGNAL, "sig == 23", signals));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(HITS, self->trace.nr);
	for (int i = 0; i < HITS; i++) {
		EXPECT_EQ(0, strncmp(self->trace.records[i].text,
				     "(__probestub_signal_generate+0x", 31));
		EXPECT_STREQ(") sig=23 group=1", strchr(self->trace.records[i].text, ')') ?: "")
			TH_LOG("'%s'", self->trace.records[i].text);
	}
}

/* The tracepoint's own event, and the probe on it: each has all hits. */
TEST_F(fprobes, stand_beside_the_event_of_a_tracepoint)
{
	ASSERT_EQ(0, define_probe(SENT));
	ASSERT_EQ(0, write_file(ETCH, "events/signal/signal_generate/enable", "1"));
	ASSERT_EQ(0, write_file(ETCH, "events/signal/signal_generate/filter", "sig == 23"));
	ASSERT_EQ(0, write_fmt(ETCH, "set_event_pid", "%d", getpid()));
	ASSERT_EQ(0, write_file(ETCH, SIGNAL "/enable", "1"));
	signals(HITS);
	ASSERT_EQ(0, write_file(ETCH, SIGNAL "/enable", "0"));
	signals(HITS);
	ASSERT_EQ(0, overwrite_file(ETCH, "set_event", ""));
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(HITS, text_count(&self->trace, "etch_signal"));
	EXPECT_EQ(2 * HITS, text_count(&self->trace, "signal_generate"));
}

/*
 * Defined and enabled before the module is there that has the tracepoint. The definition goes
 * first: the kernel's fprobes do not survive a module that comes twice.
 */
TEST_F(fprobes, wait_for_a_module)
{
	if (!sample_path())
		SKIP(return, "%s", no_sample());
	ASSERT_EQ(0, define_probe("t:etch_signal etch_sample_end round=$arg1:s32 "
				  "result=$arg2:s32"));
	ASSERT_EQ(0, write_file(ETCH, SIGNAL "/enable", "1"));
	ASSERT_EQ(0, sample_load());
	EXPECT_EQ(0, write_file(SAMPLE_PARAMETERS, "fire", "3"));
	ASSERT_EQ(0, write_file(ETCH, SIGNAL "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(0, define_probe("-:etch_signal"));
	ASSERT_EQ(0, sample_unload());
	ASSERT_EQ(3, self->trace.nr);
	EXPECT_NE(NULL, strstr(self->trace.records[2].text, ") round=2 result=2"))
		TH_LOG("'%s'", self->trace.records[2].text);
}

TEST_F(fprobes, say_the_same_as_ftrace)
{
	struct trace theirs;

	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/filter", MINE));
	ASSERT_EQ(0, write_file(FTRACE, EVENT "/filter", MINE));
	ASSERT_EQ(0, write_file(FTRACE, "trace", ""));
	ASSERT_EQ(0, write_file(FTRACE, EVENT "/enable", "1"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	hits(HITS);
	ASSERT_EQ(0, write_file(FTRACE, EVENT "/enable", "0"));
	hits(1);
	/* Etch has it still. */
	EXPECT_EQ(EBUSY, write_bytes(FTRACE, "dynamic_events", O_APPEND, "-:etch_open", 11));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	theirs = text_read(FTRACE, "trace");
	EXPECT_EQ(HITS + 1, self->trace.nr);
	ASSERT_EQ(HITS, theirs.nr);
	for (int i = 0; i < HITS; i++)
		EXPECT_STREQ(theirs.records[i].text, self->trace.records[i].text);
	text_free(&theirs);
}

/* A probe that keeps the return of one call, for eight calls that do not return. */
TEST_F(fprobes, tell_what_they_missed)
{
	pid_t children[8];
	sigset_t none;

	forget_all();
	sigemptyset(&none);
	ASSERT_EQ(0, define_probe("f1:etch_open " ENTRY "sys_rt_sigtimedwait%return"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	for (size_t i = 0; i < ARRAY_LEN(children); i++) {
		children[i] = fork();
		ASSERT_LE(0, children[i]);
		if (!children[i])
			for (;;)
				sigtimedwait(&none, NULL, NULL);
	}
	for (int i = 0; i < 600 &&
	     number_in(read_file(ETCH, EVENT "/stats"), "missed") < 7; i++)
		usleep(50000);
	EXPECT_EQ(7, number_in(read_file(ETCH, EVENT "/stats"), "missed"));
	for (size_t i = 0; i < ARRAY_LEN(children); i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

TEST_F(fprobes, mistakes_are_shown_with_their_place)
{
	EXPECT_NE(0, define_probe("f:etch_bad etch_no_function"));
	EXPECT_TRUE(says(ETCH, "error_log",
			 "\n  Command: f:etch_bad etch_no_function\n"
			 "                      ^\n"));
	EXPECT_NE(0, define_probe("t:etch_bad signal-generate"));
	EXPECT_TRUE(says(ETCH, "error_log",
			 "dynamic_events: error: Invalid character in tracepoint name\n"
			 "  Command: t:etch_bad signal-generate\n"
			 "                            ^\n"));
	EXPECT_NE(0, define_probe("t:etch_bad signal_generate ret=$retval"));
	EXPECT_EQ(-1, access(ETCH "/events/tracepoints/etch_bad", F_OK));
	EXPECT_EQ(-1, access(ETCH "/events/fprobes/etch_bad", F_OK));
}

/* A child hits the probes while definitions come and go. */
TEST_F_TIMEOUT(fprobes, come_and_go_under_fire, 900)
{
	pid_t child;
	int status;

	forget_all();
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		for (;;) {
			hits(1);
			signals(1);
		}
	for (int i = 0; i < 12; i++) {
		ASSERT_EQ(0, define_probe(i % 2 ? OPEN : OPENED));
		ASSERT_EQ(0, define_probe(SENT));
		ASSERT_EQ(0, write_file(OTHER, EVENT "/enable", "1"));
		ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
		ASSERT_EQ(0, write_file(ETCH, SIGNAL "/enable", "1"));
		/* The child may not have run. */
		hits(1);
		signals(1);
		ASSERT_EQ(EBUSY, define_probe("-:etch_open"));
		ASSERT_EQ(EBUSY, define_probe("-:etch_signal"));
		ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
		ASSERT_EQ(EBUSY, define_probe("-:etch_open"));
		ASSERT_EQ(0, write_file(ETCH, SIGNAL "/enable", "0"));
		ASSERT_EQ(0, write_file(OTHER, EVENT "/enable", "0"));
		ASSERT_EQ(0, define_probe("-:etch_open"));
		ASSERT_EQ(0, define_probe("-:etch_signal"));
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	self->trace = text_read(ETCH, "trace");
	EXPECT_LT(0, text_count(&self->trace, "etch_open"));
	EXPECT_LT(0, text_count(&self->trace, "etch_signal"));
	EXPECT_EQ(self->trace.nr, text_count(&self->trace, "etch_open") +
				  text_count(&self->trace, "etch_signal"));
}

TEST_HARNESS_MAIN
