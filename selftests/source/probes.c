// SPDX-License-Identifier: GPL-2.0
/*
 * Probe events: defined in Etch's tree or in tracefs, and recorded by Etch.
 */
#include <signal.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "probing.h"
#include "text.h"

#define EVENT	"events/kprobes/etch_open"
#define UNWANTED	"events/kprobes/etch_close"
#define OTHER	ETCH "/instances/probes"
#define HITS	20

#define OPEN	"p:etch_open do_sys_openat2 dfd=$arg1:s32 name=+0($arg2):ustring"

static int define(const char *text)
{
	return write_bytes(ETCH, "kprobe_events", O_APPEND, text, strlen(text));
}

FIXTURE(probes) {
	struct trace trace;
};

FIXTURE_SETUP(probes)
{
	const char *why = probing_begins("kprobe_events", OTHER);

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, access(OTHER, F_OK));
}

FIXTURE_TEARDOWN(probes)
{
	probing_ends(OTHER, &self->trace);
}

TEST_F(probes, are_events_of_each_instance)
{
	ASSERT_EQ(0, define(OPEN));
	EXPECT_TRUE(says(ETCH, "kprobe_events", "p:kprobes/etch_open do_sys_openat2 dfd=$arg1:s32 "
			 "name=+0($arg2):ustring\n"));
	EXPECT_TRUE(says(ETCH, "dynamic_events", "p:kprobes/etch_open do_sys_openat2 "));
	EXPECT_TRUE(says(ETCH, "available_events", "kprobes:etch_open\n"));
	EXPECT_TRUE(says(ETCH, EVENT "/format", "name: etch_open\n"));
	EXPECT_TRUE(says(ETCH, EVENT "/format",
			 "\tfield:unsigned long __probe_ip;\toffset:12;\tsize:8;\tsigned:0;\n"
			 "\tfield:s32 dfd;\toffset:20;\tsize:4;\tsigned:1;\n"
			 "\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n"));
	EXPECT_TRUE(says(ETCH, EVENT "/format", "print fmt: \"(%lx) dfd=%d name=\\\"%s\\\"\", "
			 "REC->__probe_ip, REC->dfd, __get_str(name)\n"));
	EXPECT_STREQ("0", read_line(OTHER, EVENT "/enable"));
	EXPECT_EQ(0, define("-:etch_open"));
	EXPECT_EQ(-1, access(ETCH "/" EVENT, F_OK));
	EXPECT_EQ(-1, access(OTHER "/" EVENT, F_OK));
	EXPECT_EQ(NULL, strstr(read_file(ETCH, "available_events"), "etch_open"));
}

TEST_F(probes, mistakes_are_shown_with_their_place)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "p:etch_bad etch_no_function",
		  "kprobe_events: error: Invalid probed address or symbol\n"
		  "  Command: p:etch_bad etch_no_function\n"
		  "                      ^\n" },
		{ "p:etch_bad do_sys_openat2 dfd=$arg1:s99",
		  "kprobe_events: error: Unknown type is specified\n"
		  "  Command: p:etch_bad do_sys_openat2 dfd=$arg1:s99\n"
		  "                                               ^\n" },
		{ "p:etch_bad do_sys_openat2 dfd=%nope",
		  "kprobe_events: error: Invalid register name\n"
		  "  Command: p:etch_bad do_sys_openat2 dfd=%nope\n"
		  "                                         ^\n" },
		{ "-:etch_none",
		  "kprobe_events: error: There is no such event, or nothing to probe at this place\n"
		  "  Command: -:etch_none\n"
		  "           ^\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		EXPECT_NE(0, define(bad[i].text));
		EXPECT_TRUE(says(ETCH, "error_log", bad[i].says));
	}
	EXPECT_EQ(-1, access(ETCH "/events/kprobes/etch_bad", F_OK));
	EXPECT_STREQ("", read_file(ETCH, "kprobe_events"));
}

TEST_F(probes, record_what_they_are_asked_for)
{
	ASSERT_EQ(0, define(OPEN));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/filter", MINE));
	hits(3);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	hits(HITS);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	hits(3);
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(HITS, self->trace.nr);
	for (int i = 0; i < HITS; i++) {
		const struct record *r = &self->trace.records[i];
		char end[64];

		snprintf(end, sizeof(end), ") dfd=%d name=\"/etch-probe-%d\"", DFD + i, i);
		EXPECT_STREQ("etch_open", r->event);
		EXPECT_EQ(0, strncmp(r->text, "(do_sys_openat2+0x0/0x", 22));
		EXPECT_STREQ(end, strchr(r->text, ')') ?: "")
			TH_LOG("'%s'", r->text);
		EXPECT_EQ(getpid(), r->pid);
	}
}

/* Sizes that leave gaps, an array, a bit-field, and several strings, one of which is not there. */
TEST_F(probes, record_arguments_of_all_kinds)
{
	static const char all[] =
		"p:etch_open do_sys_openat2 a=$arg1:u8 b=$arg1:x64 c=$arg1:u16 "
		"flags=+0($arg3):x16[3] one=+1($arg2):ustring none=+0($arg1):string "
		"d=$arg1:b4@4/16 comm=$comm:string two=+6($arg2):ustring e=$arg1:s8 dfd=$arg1:s32";
	const struct record *r;
	char comm[32] = "", want[512];

	ASSERT_EQ(0, define(all));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/filter", MINE));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	hits(HITS);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(HITS, self->trace.nr);
	snprintf(comm, sizeof(comm), "%s", read_line("/proc/self", "comm"));
	for (int i = 0; i < HITS; i++) {
		unsigned int flags = O_DIRECTORY | KERNEL_O_LARGEFILE;
		int dfd = DFD + i;

		r = &self->trace.records[i];
		snprintf(want, sizeof(want), ") a=%u b=0x%x c=%u flags={0x%x,0x%x,0x0} "
			 "one=\"etch-probe-%d\" none=(fault) d=%u comm=\"%s\" two=\"probe-%d\" "
			 "e=%d dfd=%d", dfd & 255, dfd, dfd, flags & 0xffff,
			 flags >> 16, i, dfd >> 4 & 15, comm, i, (int8_t)dfd,
			 dfd);
		EXPECT_STREQ(want, strchr(r->text, ')') ?: "");
	}
}

/* A struct filename begins with two pointers, to its own copy of the name and to the user's. */
TEST_F(probes, record_arrays_of_strings)
{
	ASSERT_EQ(0, define("p:etch_open do_filp_open names=+0($arg2):string[2] dfd=$arg1:s32"));
	EXPECT_TRUE(says(ETCH, EVENT "/format",
			 "\tfield:__data_loc char[] names_0;\toffset:20;\tsize:4;\tsigned:0;\n"
			 "\tfield:__data_loc char[] names_1;\toffset:24;\tsize:4;\tsigned:0;\n"));
	EXPECT_TRUE(says(ETCH, EVENT "/format", "__get_str(names_0), __get_str(names_1), REC->dfd"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/filter", MINE " && names_0 ~ \"*-[0-3]\""));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	hits(HITS);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(4, self->trace.nr);
	EXPECT_STREQ(") names={\"/etch-probe-3\",\"/etch-probe-3\"} dfd=7003",
		     strchr(self->trace.records[3].text, ')') ?: "");
}

TEST_F(probes, pass_filters_and_are_counted_by_histograms)
{
	ASSERT_EQ(0, define(OPEN));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/trigger", "hist:keys=dfd:sort=dfd if " MINE));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/filter",
				"dfd > 7002 && dfd < 8000 && name ~ \"/etch-probe-[0-4]\""));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	hits(HITS);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(2, self->trace.nr);
	EXPECT_NE(NULL, strstr(self->trace.records[0].text, "name=\"/etch-probe-3\""));
	EXPECT_NE(NULL, strstr(self->trace.records[1].text, "name=\"/etch-probe-4\""));
	EXPECT_TRUE(says(ETCH, EVENT "/hist", "Hits: 20\n"));
	EXPECT_TRUE(says(ETCH, EVENT "/hist", "Entries: 20\n"));
	EXPECT_EQ(EINVAL, write_file(ETCH, EVENT "/filter", "nothing == 1"));
	/* The histogram wants it, although nobody has it enabled. */
	EXPECT_EQ(EBUSY, define("-:etch_open"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/trigger", "!hist:keys=dfd:sort=dfd if " MINE));
	EXPECT_EQ(0, define("-:etch_open"));
}

TEST_F(probes, record_return_values)
{
	ASSERT_EQ(0, define("r:etch_open do_sys_openat2 ret=$retval:s32 dfd=$arg1:s32"));
	EXPECT_TRUE(says(ETCH, EVENT "/format", "\tfield:unsigned long __probe_func;\toffset:12;\t"
			 "size:8;\tsigned:0;\n\tfield:unsigned long __probe_ret_ip;\toffset:20;\t"
			 "size:8;\tsigned:0;\n\tfield:s32 ret;\toffset:28;\t"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/filter", MINE " && ret == -2"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	hits(HITS);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(HITS, self->trace.nr);
	EXPECT_NE(NULL, strstr(self->trace.records[3].text, " <- do_sys_openat2) ret=-2 dfd=7003"))
		TH_LOG("'%s'", self->trace.records[3].text);
	EXPECT_LE(HITS, number_in(read_file(ETCH, EVENT "/stats"), "hits"));
	EXPECT_EQ(0, number_in(read_file(ETCH, EVENT "/stats"), "missed"));
}

/* A kretprobe that keeps the return of one call, for eight calls that do not return. */
TEST_F(probes, tell_what_they_missed)
{
	pid_t children[8];
	sigset_t none;

	sigemptyset(&none);
	ASSERT_EQ(0, define("r1:etch_open " ENTRY "sys_rt_sigtimedwait"));
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
	EXPECT_EQ(-1, access(ETCH "/events/markers/sample_step/stats", F_OK));
	EXPECT_EQ(-1, access(ETCH "/events/sched/sched_switch/stats", F_OK));
	EXPECT_EQ(0, access(OTHER "/" EVENT "/stats", F_OK));
}

TEST_F(probes, stay_while_somebody_wants_them)
{
	ASSERT_EQ(0, define(OPEN));
	ASSERT_EQ(0, write_file(OTHER, EVENT "/enable", "1"));
	EXPECT_EQ(EBUSY, define("-:etch_open"));
	EXPECT_TRUE(says(ETCH, "error_log", "kprobe_events: error: The event is in use: here, in "
			 "tracefs, or by perf\n  Command: -:etch_open\n           ^\n"));
	EXPECT_EQ(EBUSY, overwrite_file(ETCH, "kprobe_events", ""));
	/* Off is not disabled. */
	ASSERT_EQ(0, write_file(OTHER, "tracing_on", "0"));
	EXPECT_EQ(EBUSY, define("-:etch_open"));
	EXPECT_EQ(EBUSY, overwrite_file(ETCH, "dynamic_events", ""));
	if (have_ftrace())
		EXPECT_EQ(EBUSY, write_bytes(FTRACE, "kprobe_events", O_APPEND, "-:etch_open", 11));
	EXPECT_EQ(0, access(ETCH "/" EVENT, F_OK));
	ASSERT_EQ(0, write_file(OTHER, "tracing_on", "1"));
	ASSERT_EQ(0, write_file(OTHER, EVENT "/enable", "0"));
	EXPECT_EQ(0, define("-:etch_open"));
	EXPECT_EQ(-1, access(ETCH "/" EVENT, F_OK));
}

TEST_F(probes, of_tracefs_are_here_and_the_reverse)
{
	struct trace theirs;

	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	ASSERT_EQ(0, write_bytes(FTRACE, "kprobe_events", O_APPEND, OPEN, strlen(OPEN)));
	ASSERT_EQ(0, access(ETCH "/" EVENT, F_OK));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/filter", MINE));
	ASSERT_EQ(0, write_file(FTRACE, EVENT "/filter", MINE));
	ASSERT_EQ(0, write_file(FTRACE, "trace", ""));
	ASSERT_EQ(0, write_file(FTRACE, EVENT "/enable", "1"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	hits(HITS);
	ASSERT_EQ(0, write_file(FTRACE, EVENT "/enable", "0"));
	hits(1);
	/* Etch has it still. */
	EXPECT_EQ(EBUSY, write_bytes(FTRACE, "kprobe_events", O_APPEND, "-:etch_open", 11));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	theirs = text_read(FTRACE, "trace");
	EXPECT_EQ(HITS + 1, self->trace.nr);
	ASSERT_EQ(HITS, theirs.nr);
	for (int i = 0; i < HITS; i++)
		EXPECT_STREQ(theirs.records[i].text, self->trace.records[i].text);
	text_free(&theirs);
	ASSERT_EQ(0, define("p:etch_close do_sys_openat2"));
	EXPECT_EQ(0, access(FTRACE "/" UNWANTED, F_OK));
	ASSERT_EQ(0, write_bytes(FTRACE, "kprobe_events", O_APPEND, "-:etch_open", 11));
	EXPECT_EQ(-1, access(ETCH "/" EVENT, F_OK));
	ASSERT_EQ(0, overwrite_file(FTRACE, "dynamic_events", ""));
	EXPECT_EQ(-1, access(ETCH "/" UNWANTED, F_OK));
}

/* Two probes of one event; the event stays until both have gone. */
TEST_F(probes, may_share_an_event)
{
	ASSERT_EQ(0, define(OPEN));
	ASSERT_EQ(0, define("p:etch_open do_filp_open dfd=$arg1:s32 name=+0(+8($arg2)):ustring"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/filter",
				"name ~ \"/etch-probe-*\""));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	hits(HITS);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(2 * HITS, self->trace.nr);
	EXPECT_EQ(0, strncmp(self->trace.records[1].text, "(do_filp_open+0x0/0x", 20));
	EXPECT_NE(NULL, strstr(self->trace.records[1].text, " name=\"/etch-probe-0\""));
	ASSERT_EQ(0, define("-:etch_open do_sys_openat2"));
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
	hits(HITS);
	ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
	EXPECT_EQ(0, define("-:etch_open"));
	EXPECT_EQ(-1, access(ETCH "/" EVENT, F_OK));
}

/* A child hits the probe while definitions come and go. */
TEST_F_TIMEOUT(probes, come_and_go_under_fire, 900)
{
	pid_t child = fork();
	int status;

	ASSERT_LE(0, child);
	if (!child)
		for (;;)
			hits(HITS);
	for (int i = 0; i < 25; i++) {
		ASSERT_EQ(0, define(i % 2 ? OPEN : "r:etch_open do_sys_openat2 dfd=$retval:s32"));
		ASSERT_EQ(0, write_file(OTHER, EVENT "/enable", "1"));
		ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "1"));
		ASSERT_EQ(EBUSY, define("-:etch_open"));
		ASSERT_EQ(0, write_file(ETCH, EVENT "/enable", "0"));
		ASSERT_EQ(0, write_file(OTHER, EVENT "/enable", "0"));
		ASSERT_EQ(0, define("-:etch_open"));
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	/* Records of definitions that have gone are still readable, field by field. */
	self->trace = text_read(ETCH, "trace");
	EXPECT_LT(0, text_count(&self->trace, "etch_open"));
	EXPECT_EQ(self->trace.nr, text_count(&self->trace, "etch_open"));
}

TEST_HARNESS_MAIN
