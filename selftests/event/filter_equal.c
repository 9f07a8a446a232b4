// SPDX-License-Identifier: GPL-2.0
/*
 * The same filter means the same in Etch and in ftrace.
 *
 * Expressions are made by chance, from a seed: valid ones and others. Both tracers must
 * accept one, or both refuse it; if they accept it, both must record the same of the hits that
 * follow. Where the tracers are known to differ, a list says how, and why; a difference that is
 * in the list and does not show any more is an error, too.
 *
 * ETCH_FILTERS and ETCH_FILTER_SEED in the environment, or etch_test.filters=N and
 * etch_test.filter_seed=N on the kernel's command line, say how many expressions, and which.
 */
#include <regex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "etch_test.h"
#include "expression.h"
#include "sample.h"
#include "text.h"

#define EXPRESSIONS	25000
/* Emulated CPUs are slow, and if there are two, each filter waits for two grace periods. */
#define FEWER		500
#define ONE		ETCH "/instances/filter_equal"
#define OTHER		FTRACE "/instances/filter_equal"

/* ---- Where the tracers differ ---- */

enum how {
	ETCH_REFUSES,	/* what ftrace accepts */
	ETCH_ACCEPTS,	/* what ftrace refuses */
	RECORDS,	/* which hits are recorded */
};

/* Blanks, and a relation of numbers between them. */
#define N	"[ \t]*"
#define OP	N "[=!<>&]+" N

static struct difference {
	enum how how;
	const char *pattern;	/* a regular expression: the expression has this in it */
	const char *why;
	bool seldom;		/* some expressions do not show it */
	regex_t regex;
	unsigned int seen;
} differences[] = {
	{ ETCH_REFUSES, "(stacktrace|STACKTRACE|common_(type|flags|preempt_count))",
	  "Etch's records do not have ftrace's common fields" },
	{ ETCH_REFUSES, "\\.ustring",
	  "ftrace ignores .ustring behind what is no pointer to text" },
	{ ETCH_REFUSES, "parts(\\.function)?" OP,
	  "ftrace compares an array as if it were one number" },
	{ ETCH_REFUSES, "cpus" OP "-?[0-9]",
	  "ftrace compares a mask's place in the record as if that were a number" },
	{ ETCH_ACCEPTS, "common_context", "ftrace's records do not have common_context" },
	{ ETCH_ACCEPTS, "\\[[0-9]+\\]", "Etch alone has elements of arrays" },
	{ RECORDS, "~" N "[\"']!?[0-9]",
	  "ftrace takes a glob that begins with a digit for plain text" },
	{ RECORDS, "(comm|COMM|fixed)" N "~" N "[\"']!?\\*[^*?[\\\\]*[\"']",
	  "ftrace compares the end of a text with the end of its field" },
	{ RECORDS, "(comm|fixed)" N "~" N "[\"']!?\\*[^*?[\\\\]*\\*[\"']",
	  "ftrace looks for *text* behind the zero, too, where older text may be", true },
	{ RECORDS, "(unsigned_64|signed_64|address)" N "(!=|&)" N "CPUS",
	  "ftrace cuts 64 bits to 32 before it looks for them in CPUS{}", true },
};

static bool is_known(const char *text, enum how how)
{
	for (size_t i = 0; i < ARRAY_LEN(differences); i++) {
		struct difference *d = &differences[i];

		if (d->how != how || regexec(&d->regex, text, 0, NULL, 0))
			continue;
		d->seen++;
		return true;
	}
	return false;
}

/* ---- Hits ---- */

/* An address in schedule(), which filters ask for by name; 0: this kernel has no symbols. */
static unsigned long long schedule_at(void)
{
	char *symbols = read_path("/proc/kallsyms", NULL);
	char *at = symbols ? strstr(symbols, " T schedule\n") : NULL;
	unsigned long long address = 0;

	while (at && at > symbols && at[-1] != '\n')
		at--;
	if (at)
		address = strtoull(at, NULL, 16) + 1;
	free(symbols);
	return address;
}

static unsigned long long schedule;

static void hit_values(void)
{
	write_fmt(SAMPLE_PARAMETERS, "values", "0x%llx schedule", schedule);
	for (size_t i = 0; i < ARRAY_LEN(expression_numbers); i++)
		write_fmt(SAMPLE_PARAMETERS, "values", "0x%llx %s",
			  (unsigned long long)expression_numbers[i], expression_texts[i]);
}

static void hit_renames(void)
{
	for (size_t i = 0; i < ARRAY_LEN(expression_texts); i++)
		prctl(PR_SET_NAME, expression_texts[i]);
}

/* This process ignores the signal. */
static void hit_signals(void)
{
	for (size_t i = 0; i < ARRAY_LEN(expression_numbers); i++) {
		siginfo_t info = {
			.si_code = expression_numbers[i],
			.si_errno = expression_numbers[i] >> 8,
		};

		syscall(SYS_rt_sigqueueinfo, getpid(), SIGURG, &info);
	}
}

/* An event; without @hit, the test compares no records of it. */
static struct target {
	const char *system, *name;
	void (*hit)(void);
	unsigned int share;	/* of all expressions, in percent */
	struct fields fields;
	int etch, ftrace;	/* its filter, open */
} targets[] = {
	{ SAMPLE, "etch_sample_values", hit_values, 66 },
	{ "task", "task_rename", hit_renames, 12 },
	{ "signal", "signal_generate", hit_signals, 12 },
	{ "sched", "sched_switch", NULL, 4 },
	{ "sched", "sched_waking", NULL, 3 },
	{ "sched", "sched_process_exec", NULL, 3 },
};

static struct target *any_target(void)
{
	unsigned int at = expression_below(100);
	struct target *target = targets;

	while (at >= target->share)
		at -= target++->share;
	return target;
}

/* ---- Comparing ---- */

static struct side {
	const char *tree;
	int pipe;
	char text[1 << 16];
	struct trace trace;
} etch = { ONE }, ftrace = { OTHER };

/* Expressions: refused by both, accepted by both, and of these, those that were hit. Hits. */
static unsigned int refused, accepted, tried, passed, hits;

/* The records of @target that this process made. */
static void take(struct side *side, const struct target *target)
{
	size_t len = 0, nr = 0;
	ssize_t n;

	while ((n = read(side->pipe, side->text + len, sizeof(side->text) - len - 1)) > 0)
		len += n;
	side->text[len] = 0;
	free(side->trace.records);
	side->trace = text_parse(side->text);
	for (size_t i = 0; i < side->trace.nr; i++)
		if (side->trace.records[i].pid == getpid() &&
		    !strcmp(side->trace.records[i].event, target->name))
			side->trace.records[nr++] = side->trace.records[i];
	side->trace.nr = nr;
}

static bool same_records(void)
{
	if (etch.trace.nr != ftrace.trace.nr)
		return false;
	for (size_t i = 0; i < etch.trace.nr; i++)
		if (strcmp(etch.trace.records[i].text, ftrace.trace.records[i].text))
			return false;
	return true;
}

static void show(const struct side *side)
{
	printf("# %s:\n", side->tree);
	for (size_t i = 0; i < side->trace.nr; i++)
		printf("#   %s\n", side->trace.records[i].text);
}

static bool compare_hits(const struct target *target, const char *text)
{
	static const char * const names[] = { "filter_equal", "equal-a", "Ada", "1", "*a" };

	if (!target->hit)
		return true;
	prctl(PR_SET_NAME, names[expression_below(ARRAY_LEN(names))]);
	target->hit();
	take(&etch, target);
	take(&ftrace, target);
	tried++;
	hits += ARRAY_LEN(expression_numbers) + (target->hit == hit_values);
	passed += etch.trace.nr;
	if (same_records() || is_known(text, RECORDS))
		return true;
	printf("# Other hits pass in %s: %s\n", target->name, text);
	show(&etch);
	show(&ftrace);
	return false;
}

static int set(int fd, const char *text)
{
	ssize_t len = strlen(text);

	return write(fd, text, len) == len ? 0 : errno;
}

static bool compare(struct target *target, const char *text)
{
	int one = set(target->etch, text), other = set(target->ftrace, text);

	if (one && other) {
		refused++;
		return true;
	}
	if (!one && !other) {
		accepted++;
		return compare_hits(target, text);
	}
	if (is_known(text, one ? ETCH_REFUSES : ETCH_ACCEPTS))
		return true;
	printf("# %s: Etch: %s; ftrace: %s: %s\n", target->name, strerror(one), strerror(other),
	       text);
	return false;
}

/* ---- The test ---- */

static int open_filter(const char *tree, const struct target *target)
{
	char file[200];
	int fd;

	snprintf(file, sizeof(file), "events/%s/%s/enable", target->system, target->name);
	if (target->hit && write_file(tree, file, "1"))
		give_up("%s/%s", tree, file);
	snprintf(file, sizeof(file), "events/%s/%s/filter", target->system, target->name);
	fd = open(path_of(tree, file), O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		give_up("%s/%s", tree, file);
	return fd;
}

FIXTURE(equal) { };

FIXTURE_SETUP(equal)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	if (!sample_path())
		SKIP(return, "%s", no_sample());
	rmdir(ONE);
	rmdir(OTHER);
	sample_unload();
	ASSERT_EQ(0, sample_load());
	ASSERT_EQ(0, mkdir(ONE, 0700));
	ASSERT_EQ(0, mkdir(OTHER, 0700));
	run_on(0);
	signal(SIGURG, SIG_IGN);
	etch.pipe = open(ONE "/trace_pipe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ftrace.pipe = open(OTHER "/trace_pipe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ASSERT_LE(0, etch.pipe);
	ASSERT_LE(0, ftrace.pipe);
	for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
		char event[200];

		snprintf(event, sizeof(event), "%s/%s", targets[i].system, targets[i].name);
		ASSERT_TRUE(fields_read(&targets[i].fields, FTRACE, event));
		targets[i].etch = open_filter(ONE, &targets[i]);
		targets[i].ftrace = open_filter(OTHER, &targets[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(differences); i++)
		ASSERT_EQ(0, regcomp(&differences[i].regex, differences[i].pattern,
				     REG_EXTENDED | REG_NOSUB));
}

FIXTURE_TEARDOWN(equal)
{
	for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
		close(targets[i].etch);
		close(targets[i].ftrace);
	}
	close(etch.pipe);
	close(ftrace.pipe);
	rmdir(ONE);
	rmdir(OTHER);
	sample_unload();
}

static void show_differences(struct __test_metadata *_metadata, bool all)
{
	for (size_t i = 0; i < ARRAY_LEN(differences); i++) {
		const struct difference *d = &differences[i];

		printf("# differs %3u times: %s\n", d->seen, d->why);
		EXPECT_TRUE(d->seen || d->seldom || !all) TH_LOG("no more: %s", d->why);
	}
}

TEST_F_TIMEOUT(equal, accepts_and_records_what_ftrace_does, 3600)
{
	unsigned long usual = is_um() ? EXPRESSIONS : FEWER, bad = 0;
	unsigned long nr = test_number("ETCH_FILTERS", "filters", usual);
	long long begin = now_ms();
	char text[EXPRESSION_MAX];

	schedule = schedule_at();
	expression_seed = test_number("ETCH_FILTER_SEED", "filter_seed", 1);
	if (nr < EXPRESSIONS)
		printf("# NOT done: all %u expressions: etch_test.filters=%u\n", EXPRESSIONS,
		       EXPRESSIONS);
	for (unsigned long i = 0; i < nr && bad < 20; i++) {
		struct target *target = any_target();

		expression_make(text, &target->fields);
		bad += !compare(target, text);
	}
	EXPECT_EQ(0, bad);
	printf("# %lu expressions in %lld ms: both refused %u and accepted %u\n", nr,
	       now_ms() - begin, refused, accepted);
	printf("# %u of them were hit: %u of %u hits passed\n", tried, passed, hits);
	EXPECT_LT(nr / 10, refused);
	EXPECT_LT(nr / 4, tried);
	EXPECT_LT(hits / 10, passed);
	EXPECT_LT(passed, hits);
	show_differences(_metadata, nr >= EXPRESSIONS);
}

TEST_HARNESS_MAIN
