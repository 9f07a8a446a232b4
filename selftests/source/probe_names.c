// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments of probes by their names in the source, with their types: $arg*, NAME, NAME->FIELD.
 * The kernel has them in BTF.
 */
#include "etch_test.h"
#include "probing.h"
#include "text.h"

#define HITS	5

FIXTURE(probe_names) {
	struct trace trace;
};

FIXTURE_SETUP(probe_names)
{
	const char *why = NULL;

	if (access("/sys/kernel/btf/vmlinux", F_OK))
		why = "no /sys/kernel/btf/vmlinux: CONFIG_DEBUG_INFO_BTF";
	why = why ?: probing_begins("kprobe_events", NULL);
	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(probe_names)
{
	probing_ends(NULL, &self->trace);
}

/* Hit what @definition probes, and read what its event "etch_open" recorded of it. */
static struct trace record(const char *definition)
{
	struct trace none = {};

	if (define_probe(definition) || write_file(ETCH, "tracing_on", "0") ||
	    write_file(ETCH, "set_event", "etch_open") ||
	    write_fmt(ETCH, "set_event_pid", "%d", getpid()))
		return none;
	hits_alone(HITS);
	overwrite_file(ETCH, "set_event", "");
	return text_read(ETCH, "trace");
}

/* All of them have these values. */
static bool all_say(const struct trace *trace, const char *fmt)
{
	for (size_t i = 0; i < trace->nr; i++) {
		char want[256];

		snprintf(want, sizeof(want), fmt, DFD + (int)i, (int)i);
		if (strstr(trace->records[i].text, want))
			continue;
		printf("# '%s' instead of '%s'\n", trace->records[i].text, want);
		return false;
	}
	return trace->nr == HITS;
}

TEST_F(probe_names, give_a_kprobe_its_arguments)
{
	self->trace = record("p:etch_open do_sys_openat2 dfd name=+0(filename):ustring");
	EXPECT_TRUE(all_say(&self->trace, ") dfd=%d name=\"/etch-probe-%d\""));
	EXPECT_TRUE(says(ETCH, "events/kprobes/etch_open/format",
			 "\tfield:s32 dfd;\toffset:20;\tsize:4;\tsigned:1;\n"));
}

TEST_F(probe_names, give_fields_of_structs)
{
	char want[64];

	snprintf(want, sizeof(want), ") dfd=%%d flags=%d",
		 O_DIRECTORY | KERNEL_O_LARGEFILE);
	self->trace = record("p:etch_open do_sys_openat2 dfd flags=how->flags");
	EXPECT_TRUE(all_say(&self->trace, want));
}

TEST_F(probe_names, are_all_meant_by_a_star)
{
	self->trace = record("p:etch_open do_sys_openat2 $arg*");
	EXPECT_TRUE(all_say(&self->trace, ") dfd=%d filename="));
	EXPECT_TRUE(says(ETCH, "kprobe_events",
			 "p:kprobes/etch_open do_sys_openat2 dfd=dfd filename=filename how=how\n"));
	EXPECT_TRUE(says(ETCH, "events/kprobes/etch_open/format", "\tfield:u64 how;\toffset:32;\t"));
}

TEST_F(probe_names, give_fprobes_their_arguments_and_values)
{
	self->trace = record("f:etch_open do_sys_openat2%return $retval dfd");
	if (!self->trace.nr)
		SKIP(return, NO_FPROBES);
	EXPECT_TRUE(all_say(&self->trace, " <- do_sys_openat2) arg1=-2 dfd=%d"));
}

TEST_F(probe_names, give_tracepoints_their_arguments)
{
	if (define_probe("t:etch_open signal_generate sig group"))
		SKIP(return, NO_FPROBES);
	ASSERT_EQ(0, write_file(ETCH, "set_event", "etch_open"));
	ASSERT_EQ(0, write_fmt(ETCH, "set_event_pid", "%d", getpid()));
	for (int i = 0; i < HITS; i++)
		kill(getpid(), SIGURG);
	ASSERT_EQ(0, overwrite_file(ETCH, "set_event", ""));
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(HITS, self->trace.nr);
	EXPECT_TRUE(all_say(&self->trace, ") sig=23 group=1"));
}

TEST_F(probe_names, are_refused_where_they_are_wrong)
{
	EXPECT_NE(0, define_probe("p:etch_open do_sys_openat2 how->flag"));
	EXPECT_TRUE(says(ETCH, "error_log",
			 "dynamic_events: error: This field is not found.\n"
			 "  Command: p:etch_open do_sys_openat2 how->flag\n"
			 "                                           ^\n"));
	EXPECT_NE(0, define_probe("p:etch_open do_sys_openat2 number=dfdd"));
	EXPECT_TRUE(says(ETCH, "error_log",
			 "dynamic_events: error: This variable is not found at this probe point\n"
			 "  Command: p:etch_open do_sys_openat2 number=dfdd\n"
			 "                                             ^\n"));
	EXPECT_NE(0, define_probe("p:etch_open do_sys_openat2+4 $arg*"));
	EXPECT_EQ(-1, access(ETCH "/events/kprobes/etch_open", F_OK));
}

TEST_HARNESS_MAIN
