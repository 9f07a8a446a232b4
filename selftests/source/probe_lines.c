// SPDX-License-Identifier: GPL-2.0
/*
 * Collect variables at any line, and go on: definitions that perf makes of debug information.
 *
 * The probed program is the test itself. These commands, where it was built, put what the test
 * defines beside it:
 *
 *	perf probe -x probe_lines -D 'walk:8 sum stop->number name=stop->name:string' \
 *		> probe_lines.user
 *	perf probe -k vmlinux -D 'etch_line=do_sys_openat2:14 how->flags:u64' > probe_lines.kernel
 */
#include <fcntl.h>
#include <limits.h>

#include "etch_test.h"
#include "probing.h"
#include "text.h"

#define NR_STOPS	4

struct stop {
	int number;
	const char *name;
};

static const struct stop stops[NR_STOPS] = {
	{ 1, "one" }, { 20, "twenty" }, { -300, "minus" }, { 4000, "four" },
};

__attribute__((noipa)) static void use(const struct stop *stop, int sum)
{
	asm volatile("" : : "r"(stop), "r"(sum));
}

/* The definition is of the line that calls use(): it is number 8 from the function's first. */
__attribute__((noipa)) int walk(const struct stop *all, int nr)
{
	int sum = 0;

	for (int i = 0; i < nr; i++) {
		const struct stop *stop = &all[i];

		sum += stop->number;
		use(stop, sum);
	}
	return sum;
}

static const char *program;

/* What perf made: its first line, without what it says of the place of the program then. */
static char *definition(const char *kind)
{
	char path[PATH_MAX + 16];
	char *text;

	snprintf(path, sizeof(path), "%s.%s", program, kind);
	text = read_path(path, NULL);
	if (text)
		*strchrnul(text, '\n') = 0;
	return text;
}

FIXTURE(probe_lines) {
	struct trace trace;
};

FIXTURE_SETUP(probe_lines)
{
	const char *why = probing_begins("uprobe_events", NULL);

	if (why)
		SKIP(return, "%s", why);
	program = this_program();
	ASSERT_NE(NULL, program);
}

FIXTURE_TEARDOWN(probe_lines)
{
	probing_ends(NULL, &self->trace);
}

TEST_F(probe_lines, collect_variables_of_a_program)
{
	char *made = definition("user"), *rest, text[PATH_MAX + 512];
	int sum = 0;

	if (!made)
		SKIP(return, "no %s.user: perf did not make it", program);
	/* p:GROUP/EVENT PATH:OFFSET ARGUMENTS, where PATH is that of another machine. */
	rest = strstr(made, ":0x");
	ASSERT_NE(NULL, rest);
	snprintf(text, sizeof(text), "p:uprobes/etch_walk %s%s", program, rest);
	ASSERT_EQ(0, write_bytes(ETCH, "uprobe_events", O_APPEND, text, strlen(text)));
	ASSERT_EQ(0, write_file(ETCH, "events/uprobes/etch_walk/enable", "1"));
	EXPECT_EQ(3721, walk(stops, NR_STOPS));
	ASSERT_EQ(0, write_file(ETCH, "events/uprobes/etch_walk/enable", "0"));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(NR_STOPS, self->trace.nr);
	for (int i = 0; i < NR_STOPS; i++) {
		char want[128];

		sum += stops[i].number;
		snprintf(want, sizeof(want), ") sum=%d number=%d name=\"%s\"", sum,
			 stops[i].number, stops[i].name);
		EXPECT_STREQ(want, strchr(self->trace.records[i].text, ')') ?: "");
	}
	free(made);
}

/* At a line of do_sys_openat2(), behind its getname(). */
TEST_F(probe_lines, collect_variables_of_the_kernel)
{
	char *made = definition("kernel"), want[64];

	if (!made)
		SKIP(return, "no %s.kernel: the kernel has no debug information", program);
	ASSERT_EQ(0, define_probe(made));
	ASSERT_EQ(0, write_fmt(ETCH, "set_event_pid", "%d", getpid()));
	ASSERT_EQ(0, write_file(ETCH, "tracing_on", "0"));
	ASSERT_EQ(0, write_file(ETCH, "set_event", "etch_line"));
	hits_alone(NR_STOPS);
	ASSERT_EQ(0, overwrite_file(ETCH, "set_event", ""));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(NR_STOPS, self->trace.nr);
	snprintf(want, sizeof(want), ") flags=%d", O_DIRECTORY | KERNEL_O_LARGEFILE);
	for (int i = 0; i < NR_STOPS; i++)
		EXPECT_STREQ(want, strchr(self->trace.records[i].text, ')') ?: "");
	free(made);
}

TEST_HARNESS_MAIN
