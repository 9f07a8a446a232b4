// SPDX-License-Identifier: GPL-2.0
/*
 * Bad input to every writable file: the file returns an errno, error_log has a
 * line with a caret under the mistake, and nothing changes.
 *
 * The test walks the tree, and fails if it finds a writable file without a row
 * here.
 */

#define _GNU_SOURCE
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "etch_test.h"
#include "text.h"

#define INSTANCE	ETCH "/instances/etch-bad"

/* A bad input, the place of the mistake, and the message about it. */
struct bad {
	const char *input;
	unsigned int at;
	const char *why;
};

/* The rows for one kind of file: by the last part of its name. */
struct row {
	const char *file;
	bool any_content;	/* the file accepts all input, or ignores it */
	struct bad bad[12];
};

static const struct row rows[] = {
	{ "enable", false, {
		{ "2", 0, "Neither 0 nor 1" },
		{ "on", 0, "Neither 0 nor 1" },
		{ "  10", 2, "Neither 0 nor 1" },
		{ "\n", 0, "Neither 0 nor 1" },
	} },
	{ "tracing_on", false, {
		{ "2", 0, "Neither 0 nor 1" },
		{ "-1", 0, "Neither 0 nor 1" },
		{ " yes", 1, "Neither 0 nor 1" },
		{ "\n", 0, "Neither 0 nor 1" },
	} },
	{ "trace_clock", false, {
		{ "sundial", 0, "No such clock" },
		{ "mono boot", 0, "No such clock" },
		{ "[mono]", 0, "No such clock" },
		{ "\n", 0, "No such clock" },
	} },
	{ "buffer_mode", false, {
		{ "sometimes", 0, "Neither overwrite nor discard" },
		{ "\n", 0, "Neither overwrite nor discard" },
	} },
	{ "buffer_size_kb", false, {
		{ "12x", 2, "Not a number" },
		{ "-5", 0, "Not a number" },
		{ "0x10", 1, "Not a number" },
		{ "\n", 0, "Not a number" },
		{ "0", 0, "A buffer has at least 1 KiB" },
		{ "99999999999999999999", 0, "Too large" },
		{ "18014398509481983", 0, "Too large" },
	} },
	{ "buffer_subbuf_size_kb", false, {
		{ "16k", 2, "Not a number" },
		{ "\n", 0, "Not a number" },
		{ "0", 0, "A sub-buffer has 1 to 512 KiB" },
		{ " 513", 1, "A sub-buffer has 1 to 512 KiB" },
		{ "18014398509481984", 0, "A sub-buffer has 1 to 512 KiB" },
		{ "18446744073709551616", 0, "Too large" },
	} },
	{ "buffer_percent", false, {
		{ "50%", 2, "Not a number" },
		{ "-1", 0, "Not a number" },
		{ "\n", 0, "Not a number" },
		{ "101", 0, "More than 100 percent" },
		{ " 4294967296", 1, "More than 100 percent" },
	} },
	{ "budget", false, {
		{ "10M", 0, "Neither bytes=, nor cpu=, nor none alone" },
		{ "none cpu=1", 0, "Neither bytes=, nor cpu=, nor none alone" },
		{ "bytes=M", 6, "Not a number" },
		{ "cpu=1% bytes=-1", 13, "Not a number" },
		{ "bytes=10X", 8, "Nothing may follow the number here" },
		{ "bytes=1 bytes=2", 8, "bytes= is there twice" },
		{ "cpu=1 cpu=1", 6, "cpu= is there twice" },
		{ "bytes=1025G", 6, "Too large: at most 1099511627776" },
		{ "bytes=99999999999999999999", 6, "Too large: at most 1099511627776" },
	} },
	{ "contexts", false, {
		{ "prio nope", 5, "No such context" },
		{ "prio +flags", 5, "Either all words have a sign, or none" },
		{ "+prio flags", 6, "Either all words have a sign, or none" },
		{ "prio:3", 4, "Nothing may follow the context here" },
		{ "prio,flags", 4, "Nothing may follow the context here" },
		{ "kstack:0", 7, "A stack has 1 to 64 addresses" },
		{ "kstack:65", 7, "A stack has 1 to 64 addresses" },
		{ "none prio", 0, "No such context" },
	} },
	{ "dump_on_oops", false, {
		{ "\n", 0, "Neither 0, 1, 2, orig_cpu nor INSTANCE or INSTANCE=2" },
		{ "1,,2", 2, "Neither 0, 1, 2, orig_cpu nor INSTANCE or INSTANCE=2" },
		{ "2,name=3", 2, "Neither 0, 1, 2, orig_cpu nor INSTANCE or INSTANCE=2" },
		{ " ,name", 1, "Neither 0, 1, 2, orig_cpu nor INSTANCE or INSTANCE=2" },
		{ "=2", 0, "Neither 0, 1, 2, orig_cpu nor INSTANCE or INSTANCE=2" },
	} },
	{ "set_event", false, {
		{ "sched:nope", 6, "No such event" },
		{ "sched:sched_switch nope:*", 19, "No such event" },
		{ "!sched:sched_switch !", 21, "No such event" },
		{ "irq:* !sched:nope sched:*", 13, "No such event" },
		{ ":", 0, "No such event" },
	} },
	{ "statedump", false, {
		{ "0", 0, "Not 1" },
		{ " 10", 1, "Not 1" },
		{ "now", 0, "Not 1" },
		{ "\n", 0, "Not 1" },
	} },
	{ "filter", false, {
		{ "nothing == 1", 0, "The event has no such field" },
		{ "common_pid = 1", 11,
		  "A comparison is missing here: == != < <= > >= & or ~" },
		{ "(common_pid == 1", 0, "This parenthesis has no other end" },
		{ "common_pid == 1 &&", 18, "The name of a field is missing here" },
		{ "comm == nobody", 8, "A text in quotation marks is missing here" },
		{ "\n", 0, "The name of a field is missing here" },
	} },
	{ "trigger", false, {
		{ "!traceof:1", 1, "There is no such trigger: an event without one lists them" },
		{ "traceoff now", 9,
		  "Only a colon, or \"if\" and a filter, can stand behind the name" },
		{ "traceoff:badparam", 9, "Only a count can stand behind traceoff" },
		{ "traceoff:1x", 9, "This is no count" },
		{ "traceoff if nothing == 1", 12, "The event has no such field" },
		{ "enable_event:sched", 13,
		  "The other event is missing: enable_event:SYSTEM:EVENT" },
		{ "signal:SIG", 7, "There is no such signal" },
		{ "start:x:key=nothing", 12, "The event has no such field" },
		{ "end:x", 5, "The key is missing: end:x:key=FIELD" },
	} },
	{ "set_event_pid", false, {
		{ "x", 0, "This is no thread ID" },
		{ "1 -1", 2, "This is no thread ID" },
		{ "1 2 4194304", 4, "A thread ID is less than 4194304" },
	} },
	{ "set_event_notrace_pid", false, {
		{ "1 2x", 2, "This is no thread ID" },
		{ "4194304", 0, "A thread ID is less than 4194304" },
	} },
	{ "set_event_cgroup", false, {
		{ "/no_such_group", 0,
		  "No such group: a path begins with /, the root of all groups" },
	} },
	{ "event-fork", false, {
		{ "2", 0, "Neither 0 nor 1" },
		{ "\n", 0, "Neither 0 nor 1" },
	} },
	{ "trace", true },
	{ "snapshot", false, {
		{ "2", 0, "Neither 0 nor 1" },
		{ " now", 1, "Neither 0 nor 1" },
		{ "\n", 0, "Neither 0 nor 1" },
	} },
	{ "dynamic_events", false, {
		{ "p5:bad do_sys_openat2", 1, "Maxactive is only for function exit" },
		{ "p:bad do_sys_openat2 a=%nope", 23, "Invalid register name" },
		{ "x:bad do_sys_openat2", 0, "This is no definition of a probe" },
	} },
	{ "kprobe_events", false, {
		{ "p5:bad do_sys_openat2", 1, "Maxactive is only for function exit" },
		{ "p:bad do_sys_openat2 a=%nope", 23, "Invalid register name" },
	} },
	{ "uprobe_events", false, {
		{ "p:bad /proc/version:0z", 20, "Invalid uprobe offset" },
	} },
	{ "flush", true },
	{ "latency", false, {
		{ "nothing", 0, "No trigger names this: the file lists those that are named" },
		{ " a b", 1, "No trigger names this: the file lists those that are named" },
	} },
	{ "error_log", true },
	{ "trace_marker", true },
	{ "trace_marker_raw", true },
};

static const struct row *row_of(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!strcmp(rows[i].file, name))
			return &rows[i];
	}
	return NULL;
}

/* The writable files, found by nftw(). */
static struct {
	char *paths[20000];
	size_t nr;
} found;

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (type == FTW_D && !test_draws(path))
		return FTW_SKIP_SUBTREE;
	if (type == FTW_F && st->st_mode & 0200 && found.nr < ARRAY_LEN(found.paths))
		found.paths[found.nr++] = strdup(path);
	return 0;
}

/* Everything that a file can set, as text. */
static char *settings_of(const char *tree)
{
	static const char * const files[] = {
		"tracing_on", "trace_clock", "buffer_mode", "buffer_size_kb",
		"per_cpu/cpu0/buffer_size_kb", "buffer_subbuf_size_kb", "buffer_percent", "set_event", "events/enable", "events/sched/enable",
	};
	char *all = must_alloc(NULL, 1 << 20), *at = all, *text;

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		text = read_file(tree, files[i]);
		at += sprintf(at, "%s: %.65536s", files[i], text ? text : "?");
		free(text);
	}
	return all;
}

/* The instance's folder that a file is in, and its name from there. */
static const char *split(const char *path, const char **tree)
{
	size_t len = strlen(INSTANCE);

	*tree = strncmp(path, INSTANCE "/", len + 1) ? ETCH : INSTANCE;
	return path + strlen(*tree) + 1;
}

/* What error_log has to say behind the time. */
static void expected_log(char *log, size_t size, const char *file, const struct bad *bad)
{
	snprintf(log, size, "] %s: error: %s\n  Command: %.*s\n%*s^\n", file, bad->why,
		 (int)strcspn(bad->input, "\n"), bad->input,
		 (int)(strlen("  Command: ") + bad->at), "");
}

/* Is it the filter of a system with programs' events alone? Earlier tests leave such systems. */
static bool of_programs(const char *path)
{
	const char *events = strstr(path, "/events/"), *name = strrchr(path, '/');
	char pattern[PATH_MAX];
	glob_t filters = {};
	bool none;

	if (!events || strcmp(name, "/filter") || strchr(events + strlen("/events/"), '/') != name)
		return false;
	snprintf(pattern, sizeof(pattern), "%.*s/*/filter", (int)(name - path), path);
	none = glob(pattern, GLOB_NOSORT, NULL, &filters) == GLOB_NOMATCH;
	globfree(&filters);
	return none;
}

static bool refuses(const char *path, const struct bad *bad)
{
	char expected[1024];
	const char *tree, *file = split(path, &tree);
	char *log, *end;
	bool ok;
	int err;

	overwrite_file(tree, "error_log", "\n");
	err = write_file(tree, file, bad->input);
	log = read_file(tree, "error_log");
	end = strchr(log, ']');
	expected_log(expected, sizeof(expected), file, bad);
	ok = err == EINVAL && log[0] == '[' && end && !strcmp(end, expected);
	if (!ok)
		printf("# '%s' > %s: errno %d (%s); error_log:\n%s# expected behind the time:\n%s",
		       bad->input, path, err, strerror(err), log, expected);
	free(log);
	return ok;
}

/* An address that leads nowhere. */
static int write_nowhere(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), err = 0;
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (write(fd, nowhere, 4) < 0)
		err = errno;
	munmap(nowhere, 4096);
	close(fd);
	return err;
}

FIXTURE(badinput) {
	char *before[2];
};

FIXTURE_SETUP(badinput)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	rmdir(INSTANCE);
	etch_as_new();
	ASSERT_EQ(0, mkdir(INSTANCE, 0700));
	ASSERT_EQ(0, write_file(INSTANCE, "trace_clock", "boot"));
	ASSERT_EQ(0, overwrite_file(INSTANCE, "set_event", "sched:sched_switch timer:*"));
	/* The first record gives the buffer its full size. */
	ASSERT_EQ(0, write_file(ETCH, "trace_marker", "first"));
	found.nr = 0;
	ASSERT_EQ(0, nftw(ETCH, visit, 16, FTW_PHYS | FTW_ACTIONRETVAL));
	self->before[0] = settings_of(ETCH);
	self->before[1] = settings_of(INSTANCE);
}

FIXTURE_TEARDOWN(badinput)
{
	rmdir(INSTANCE);
	etch_as_new();
}

static bool unchanged(const char *tree, const char *before)
{
	char *after = settings_of(tree);
	size_t at = 0, line = 0;

	while (before[at] && before[at] == after[at]) {
		if (before[at++] == '\n')
			line = at;
	}
	if (before[at] != after[at])
		printf("# %s: was '%.*s', is '%.*s'\n", tree,
		       (int)strcspn(before + line, "\n"), before + line,
		       (int)strcspn(after + line, "\n"), after + line);
	at = before[at] != after[at];
	free(after);
	return !at;
}

static void expect_unchanged(struct __test_metadata *_metadata, char **before)
{
	EXPECT_TRUE(unchanged(ETCH, before[0]));
	EXPECT_TRUE(unchanged(INSTANCE, before[1]));
}

TEST_F_TIMEOUT(badinput, is_refused_by_every_file, 600)
{
	size_t inputs = 0, refused = 0;

	EXPECT_LT(100, found.nr);
	for (size_t i = 0; i < found.nr; i++) {
		const struct row *row = row_of(found.paths[i]);
		bool programs = of_programs(found.paths[i]);

		EXPECT_NE(NULL, row)
			TH_LOG("%s can be written, and this test knows nothing of it", found.paths[i]);
		if (!row || row->any_content)
			continue;
		for (const struct bad *bad = row->bad; bad->input; bad++) {
			struct bad only = { bad->input, 0, "Events of programs have no filters" };

			inputs++;
			refused += refuses(found.paths[i], programs ? &only : bad);
		}
		if (!strstr(found.paths[i], "/events/"))
			expect_unchanged(_metadata, self->before);
	}
	EXPECT_EQ(inputs, refused);
	expect_unchanged(_metadata, self->before);
	printf("# %zu writable files, %zu bad inputs, %zu refused\n", found.nr, inputs, refused);
}

TEST_F_TIMEOUT(badinput, addresses_that_lead_nowhere, 120)
{
	for (size_t i = 0; i < found.nr; i++) {
		const struct row *row = row_of(found.paths[i]);

		/* A write that empties the file does not read its input. */
		if (row && row->any_content && strncmp(row->file, "trace_marker", 12))
			continue;
		EXPECT_EQ(EFAULT, write_nowhere(found.paths[i]))
			TH_LOG("%s", found.paths[i]);
	}
	EXPECT_EQ(1, stat_sum(ETCH, "entries"));
	expect_unchanged(_metadata, self->before);
}

TEST_F(badinput, too_long_or_with_a_zero)
{
	char text[4096];
	char *log;

	memset(text, '1', sizeof(text));
	EXPECT_EQ(EINVAL, write_bytes(ETCH, "tracing_on", O_APPEND, text, sizeof(text)));
	log = read_file(ETCH, "error_log");
	EXPECT_NE(NULL, strstr(log, "tracing_on: error: Longer than"));
	free(log);
	memset(text, '*', 257);
	EXPECT_EQ(EINVAL, write_bytes(ETCH, "set_event", O_APPEND, text, 257));
	log = read_file(ETCH, "error_log");
	EXPECT_NE(NULL, strstr(log, "set_event: error: Longer than 256 bytes"));
	free(log);
	EXPECT_EQ(EINVAL, write_bytes(ETCH, "trace_clock", O_APPEND, "mono\0boot", 9));
	log = read_file(ETCH, "error_log");
	EXPECT_NE(NULL, strstr(log, "trace_clock: error: A zero byte\n  Command: mono\n               ^\n"));
	free(log);
	expect_unchanged(_metadata, self->before);
}

/* Ticks that a process has spent in the kernel; -1 if it is not there. */
static long system_ticks(pid_t pid)
{
	char path[32], *text, *rest;
	long ticks = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	text = read_path(path, NULL);
	/* The fields behind the name, which may have anything in it: the third on. */
	rest = text ? strrchr(text, ')') : NULL;
	if (!rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %ld", &ticks) != 1)
		ticks = -1;
	free(text);
	return ticks;
}

/*
 * A child writes half a megabyte of words, each of which the kernel compares with every
 * event. Returns when the child has been in the kernel for a while.
 */
static pid_t write_long_selection(void)
{
	static const char words[] = "*:* !*:* ";
	static char text[58000 * (sizeof(words) - 1)];
	siginfo_t ended = {};
	pid_t pid;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = words[i % (sizeof(words) - 1)];
	pid = fork();
	if (!pid)
		_exit(write_bytes(INSTANCE, "set_event", O_APPEND, text, sizeof(text)));
	while (system_ticks(pid) < 3 && !ended.si_pid) {
		usleep(1000);
		waitid(P_PID, pid, &ended, WEXITED | WNOHANG | WNOWAIT);
	}
	return pid;
}

/* Killing the writer ends its write, and none of its input takes effect. */
TEST_F_TIMEOUT(badinput, a_long_selection_can_be_killed, 120)
{
	pid_t pid = write_long_selection();
	time_t start = time(NULL);
	int status;

	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status)) TH_LOG("it was done already: status %#x", status);
	EXPECT_GT(5, time(NULL) - start);
	expect_unchanged(_metadata, self->before);
}

/* Others come in between: instances are made and removed while the writer is at work. */
TEST_F_TIMEOUT(badinput, a_long_selection_lets_others_work, 120)
{
	static const char other[] = ETCH "/instances/etch-other";
	pid_t pid = write_long_selection();
	siginfo_t ended = {};
	int made, status;

	for (made = 0; made < 5 && !ended.si_pid; made++) {
		ASSERT_EQ(0, mkdir(other, 0755)) TH_LOG("%s", strerror(errno));
		ASSERT_EQ(0, rmdir(other)) TH_LOG("%s", strerror(errno));
		ASSERT_EQ(0, waitid(P_PID, pid, &ended, WEXITED | WNOHANG | WNOWAIT));
	}
	EXPECT_EQ(0, ended.si_pid) TH_LOG("they waited for its end: %d", made);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	expect_unchanged(_metadata, self->before);
}

/* As `echo sched:nope > set_event`: the events that were enabled stay enabled. */
TEST_F(badinput, a_typo_costs_no_selection)
{
	EXPECT_EQ(EINVAL, overwrite_file(INSTANCE, "set_event", "sched:nope\n"));
	expect_unchanged(_metadata, self->before);
}

/* Control characters are shown escaped, so they do no harm to a terminal. */
TEST_F(badinput, is_shown_escaped)
{
	char *log;

	EXPECT_EQ(EINVAL, write_file(ETCH, "trace_clock", "mo\033[2J\tno\377"));
	log = read_file(ETCH, "error_log");
	EXPECT_EQ(NULL, strchr(log, '\033'));
	EXPECT_EQ(NULL, strchr(log, '\377'));
	EXPECT_NE(NULL, strstr(log, "[2J"));
	free(log);
}

/* The last eight are kept, the oldest first. */
TEST_F(badinput, the_last_eight_are_kept)
{
	char *log, *at;

	for (int i = 0; i < 12; i++) {
		EXPECT_EQ(EINVAL, write_fmt(ETCH, "trace_clock", "clock-%d-", i));
	}
	log = read_file(ETCH, "error_log");
	at = log;
	EXPECT_EQ(8 * 3, count_lines(log));
	EXPECT_EQ(NULL, strstr(log, "clock-3-"));
	for (int i = 4; i < 12; i++) {
		char name[32];

		snprintf(name, sizeof(name), "clock-%d-", i);
		at = strstr(at, name);
		ASSERT_NE(NULL, at);
	}
	free(log);
	EXPECT_EQ(0, overwrite_file(ETCH, "error_log", "\n"));
	EXPECT_STREQ("", read_line(ETCH, "error_log"));
}

TEST_HARNESS_MAIN
