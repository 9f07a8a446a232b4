// SPDX-License-Identifier: GPL-2.0
/*
 * A module with events of its own comes, is traced and goes, with tracing on,
 * over and over. Its records are still read after it has gone.
 *
 * The module is samples/etch/; see sample.h for where it is looked for.
 */

#include "etch_test.h"
#include "lists.h"
#include "sample.h"
#include "text.h"

#define SYSTEM		SAMPLE
#define TIMES		100
#define ROUNDS		3

static const char * const names[] = {
	"etch_sample_begin", "etch_sample_counted", "etch_sample_end", "etch_sample_greet",
	"etch_sample_list", "etch_sample_masks", "etch_sample_message", "etch_sample_odd",
	"etch_sample_pause", "etch_sample_peer", "etch_sample_state", "etch_sample_values",
};

/* The texts of round 1 that do not depend on the machine. */
static const struct {
	const char *event, *text;
} round_1[] = {
	{ "etch_sample_begin",	"round=1 result=0" },
	{ "etch_sample_greet",	"round=1 name=Ada digest=01 01 01 01" },
	{ "etch_sample_state",	"state=busy flags=urgent" },
	{ "etch_sample_list",	"nr=1 values={0x1}" },
	{ "etch_sample_message", "sample: message 1 of many" },
	{ "etch_sample_peer",	"address=127.0.0.1:1" },
	{ "etch_sample_values",	"number=1 text=Ada" },
	{ "etch_sample_odd",	"round=1" },
	{ "etch_sample_counted", "round=1 users=1" },
	{ "etch_sample_pause",	"after round 1 (-1)" },
	{ "etch_sample_end",	"round=1 result=1" },
};

static int fire(int rounds)
{
	return write_fmt(SAMPLE_PARAMETERS, "fire", "%d", rounds);
}

static int parameter(const char *name)
{
	return atoi(read_line(SAMPLE_PARAMETERS, name));
}

static int id_of(const char *event)
{
	char file[200];

	snprintf(file, sizeof(file), "events/" SYSTEM "/%s/id", event);
	return atoi(read_line(ETCH, file));
}

/* How many of the lines "system:event" are the module's. */
static size_t count_available(void)
{
	struct list l = list_of(read_file(ETCH, "available_events"));
	size_t n = 0;

	for (size_t i = 0; i < l.nr; i++)
		n += !strncmp(l.lines[i], SYSTEM ":", strlen(SYSTEM) + 1);
	list_free(&l);
	return n;
}

FIXTURE(module) {
};

FIXTURE_SETUP(module)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	if (!have_text())
		SKIP(return, NO_TEXT);
	if (!sample_path())
		SKIP(return, "%s", no_sample());
	sample_unload();
	etch_as_new();
	ASSERT_EQ(0, write_file(ETCH, "buffer_size_kb", "2048"));
}

FIXTURE_TEARDOWN(module)
{
	sample_unload();
	etch_as_new();
	write_file(ETCH, "buffer_size_kb", "1024");
}

TEST_F(module, brings_its_events)
{
	EXPECT_EQ(0, count_available());
	EXPECT_EQ(-1, access(ETCH "/events/" SYSTEM, F_OK));
	ASSERT_EQ(0, sample_load());
	EXPECT_EQ(ARRAY_LEN(names), count_available());
	EXPECT_STREQ("0", read_line(ETCH, "events/" SYSTEM "/enable"));
	ASSERT_EQ(0, sample_unload());
	EXPECT_EQ(0, count_available());
	EXPECT_EQ(-1, access(ETCH "/events/" SYSTEM, F_OK));
	EXPECT_EQ(EINVAL, write_file(ETCH, "set_event", SYSTEM ":*"));
}

TEST_F(module, prints_every_kind_of_field)
{
	struct trace trace;
	size_t found = 0;

	ASSERT_EQ(0, sample_load());
	ASSERT_EQ(0, overwrite_file(ETCH, "set_event", SYSTEM ":*"));
	ASSERT_EQ(0, fire(2));
	trace = text_read(ETCH, "trace");
	/* etch_sample_odd is not hit in round 0. */
	EXPECT_EQ(2 * ARRAY_LEN(names) - 1, trace.nr);
	for (size_t i = 0; i < ARRAY_LEN(round_1); i++) {
		for (size_t r = 0; r < trace.nr; r++)
			found += !strcmp(trace.records[r].event, round_1[i].event) &&
				 !strcmp(trace.records[r].text, round_1[i].text);
		EXPECT_EQ(i + 1, found)
			TH_LOG("no record '%s: %s'", round_1[i].event, round_1[i].text);
		found = i + 1;
	}
	text_free(&trace);
}

/* Masks depend on the machine; ftrace must print the same. */
TEST_F(module, reads_as_in_ftrace)
{
	struct trace etch, ftrace;

	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	run_on(0);
	ASSERT_EQ(0, sample_load());
	write_file(FTRACE, "tracing_on", "1");
	overwrite_file(FTRACE, "trace", "");
	ASSERT_EQ(0, write_file(FTRACE, "events/" SYSTEM "/enable", "1"));
	ASSERT_EQ(0, write_file(ETCH, "events/" SYSTEM "/enable", "1"));
	ASSERT_EQ(0, fire(40));
	ASSERT_EQ(0, write_file(FTRACE, "events/" SYSTEM "/enable", "0"));
	etch = text_read(ETCH, "trace");
	ftrace = text_read(FTRACE, "trace");
	EXPECT_LT(40 * 10, etch.nr);
	ASSERT_EQ(ftrace.nr, etch.nr);
	for (size_t i = 0; i < etch.nr; i++) {
		EXPECT_STREQ(ftrace.records[i].event, etch.records[i].event);
		EXPECT_STREQ(ftrace.records[i].text, etch.records[i].text);
	}
	overwrite_file(FTRACE, "trace", "");
	text_free(&etch);
	text_free(&ftrace);
}

/* An event is turned on and off once, no matter how many instances enable it. */
TEST_F(module, is_told_of_its_first_and_last_user)
{
	static const char enable[] = "events/" SYSTEM "/etch_sample_counted/enable";
	static const char other[] = ETCH "/instances/etch-module";

	rmdir(other);
	ASSERT_EQ(0, mkdir(other, 0700));
	ASSERT_EQ(0, sample_load());
	EXPECT_EQ(0, write_file(ETCH, enable, "1"));
	EXPECT_EQ(1, parameter("regs"));
	EXPECT_EQ(0, write_file(other, enable, "1"));
	EXPECT_EQ(0, write_file(ETCH, enable, "1"));
	EXPECT_EQ(0, write_file(ETCH, enable, "0"));
	EXPECT_EQ(1, parameter("regs"));
	EXPECT_EQ(0, parameter("unregs"));
	if (have_ftrace()) {
		EXPECT_EQ(0, write_file(FTRACE, enable, "1"));
		EXPECT_EQ(1, parameter("regs"));
		EXPECT_EQ(0, write_file(FTRACE, enable, "0"));
		EXPECT_EQ(0, parameter("unregs"));
	}
	EXPECT_EQ(0, write_file(other, enable, "0"));
	EXPECT_EQ(1, parameter("regs"));
	EXPECT_EQ(1, parameter("unregs"));
	EXPECT_EQ(0, rmdir(other));
}

/* Without the module's code the fields alone can be shown: their values must be right. */
static void expect_old_records(struct __test_metadata *_metadata)
{
	struct trace trace = text_read(ETCH, "trace");

	EXPECT_EQ(TIMES * ROUNDS, text_count(&trace, "etch_sample_greet"));
	EXPECT_EQ(TIMES * ROUNDS, text_count(&trace, "etch_sample_masks"));
	for (size_t i = 0, n = 0; i < trace.nr; i++) {
		const struct record *r = &trace.records[i];
		char value[32];

		if (strcmp(r->event, "etch_sample_greet"))
			continue;
		snprintf(value, sizeof(value), "round=%zu ", n % ROUNDS);
		ASSERT_NE(NULL, strstr(r->text, value))
			TH_LOG("%s: %s", r->event, r->text);
		if (n % ROUNDS == 1) {
			ASSERT_NE(NULL, strstr(r->text, "name=Ada"));
		}
		n++;
	}
	EXPECT_EQ(TIMES * (ARRAY_LEN(names) * ROUNDS - 2), trace.nr);
	for (size_t i = 0; i < ARRAY_LEN(names) && i < trace.nr; i++)
		printf("# %s: %s\n", trace.records[i].event, trace.records[i].text);
	text_free(&trace);
}

TEST_F_TIMEOUT(module, comes_and_goes_100_times_with_tracing_on, 600)
{
	int ids[ARRAY_LEN(names)] = {};

	for (int i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, sample_load());
		for (size_t n = 0; n < ARRAY_LEN(names); n++) {
			if (!i)
				ids[n] = id_of(names[n]);
			ASSERT_LT(0, ids[n]);
			ASSERT_EQ(ids[n], id_of(names[n]))
				TH_LOG("%s got another id in round %d", names[n], i);
		}
		ASSERT_EQ(0, write_file(ETCH, "set_event", SYSTEM ":*"));
		ASSERT_EQ(0, fire(ROUNDS));
		ASSERT_EQ(0, sample_unload());
		ASSERT_EQ(0, count_available());
		ASSERT_EQ(-1, access(ETCH "/events/" SYSTEM, F_OK));
		ASSERT_STREQ("", read_line(ETCH, "set_event"));
	}
	EXPECT_EQ(0, lost_sum(ETCH) + stat_sum(ETCH, "overwritten"));
	expect_old_records(_metadata);
	/* Back again, and they read in full once more. */
	ASSERT_EQ(0, sample_load());
	EXPECT_EQ(ids[0], id_of(names[0]));
}

/* A file of an event that is open does not keep its module. */
TEST_F(module, goes_while_its_files_are_open)
{
	char buf[64];
	int fd;

	ASSERT_EQ(0, sample_load());
	fd = open(ETCH "/events/" SYSTEM "/etch_sample_greet/enable", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, sample_unload());
	EXPECT_EQ(-1, read(fd, buf, sizeof(buf)));
	EXPECT_EQ(-1, write(fd, "1", 1));
	close(fd);
	ASSERT_EQ(0, sample_load());
	EXPECT_STREQ("0", read_line(ETCH, "events/" SYSTEM "/enable"));
}

TEST_HARNESS_MAIN
