// SPDX-License-Identifier: GPL-2.0
/*
 * Markers: the two of the module etch-sample, sample_step, which stands in two places and has
 * one field, and sample_value, which has one of each kind. Each round hits the first twice.
 */
#include <sys/wait.h>

#include "etch_test.h"
#include "lists.h"
#include "sample.h"
#include "text.h"

#define STEP	"events/markers/sample_step"
#define VALUE	"events/markers/sample_value"
#define TIMES	20

static int fire(int rounds)
{
	return write_fmt(SAMPLE_PARAMETERS, "fire", "%d", rounds);
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

FIXTURE(markers) {
	struct trace trace;
};

FIXTURE_SETUP(markers)
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
	ASSERT_EQ(0, sample_load());
	if (access(ETCH "/" STEP, F_OK))
		SKIP(return, "no " STEP ": CONFIG_ETCH_MARK");
}

FIXTURE_TEARDOWN(markers)
{
	text_free(&self->trace);
	sample_unload();
	etch_as_new();
	write_file(ETCH, "buffer_size_kb", "1024");
}

TEST_F(markers, are_off_until_they_are_enabled)
{
	EXPECT_STREQ("0", read_line(ETCH, STEP "/enable"));
	ASSERT_EQ(0, fire(3));
	ASSERT_EQ(0, write_file(ETCH, STEP "/enable", "1"));
	ASSERT_EQ(0, fire(4));
	ASSERT_EQ(0, write_file(ETCH, STEP "/enable", "0"));
	ASSERT_EQ(0, fire(5));
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(8, text_count(&self->trace, "sample_step"));
	EXPECT_EQ(8, self->trace.nr);
}

TEST_F(markers, print_each_kind_of_field)
{
	static const char * const starts[] = {
		"value_number=0 value_name=round0 value_square=0 value_parity=0 value_big=0 "
		"value_label=(null) value_nowhere=",
		"value_number=-1 value_name=round1 value_square=1 value_parity=1 value_big=0 "
		"value_label=odd value_nowhere=",
	};

	ASSERT_EQ(0, overwrite_file(ETCH, "set_event", "markers:sample_value"));
	ASSERT_EQ(0, fire(11));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(11, self->trace.nr);
	for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
		EXPECT_EQ(0, strncmp(starts[i], self->trace.records[i].text, strlen(starts[i])))
			TH_LOG("'%s'", self->trace.records[i].text);
	}
	EXPECT_NE(NULL, strstr(self->trace.records[10].text,
			       "value_number=-10 value_name=round10 value_square=100 "
			       "value_parity=0 value_big=1"));
}

/* The types of bit-fields are the compiler's. */
TEST_F(markers, say_in_format_what_they_are_and_where)
{
	EXPECT_TRUE(says(VALUE "/format", "name: sample_value\n"));
	EXPECT_TRUE(says(VALUE "/format", "\tfield:s32 value_number;\toffset:12;\tsize:4;\t"
			 "signed:1;\n\tfield:__data_loc char[] value_name;\toffset:16;\tsize:4;\t"
			 "signed:0;\n\tfield:u64 value_square;\toffset:20;\tsize:8;\tsigned:0;\n"));
	EXPECT_TRUE(says(VALUE "/format", "\tfield:bool value_big;"));
	EXPECT_TRUE(says(VALUE "/format", "\tfield:void * value_nowhere;"));
	EXPECT_TRUE(says(VALUE "/format", "__get_str(value_label), REC->value_nowhere,\n"
			 "\t\"samples/etch/etch-sample.c:"));
	EXPECT_TRUE(says(STEP "/format", "print fmt: \"round=%u\", REC->round,\n"
			 "\t\"samples/etch/etch-sample.c:"));
}

TEST_F(markers, of_one_name_are_listed_once_with_all_places)
{
	struct list events = list_of(read_file(ETCH, "available_events"));
	char *format = read_file(ETCH, STEP "/format"), *at = format;
	size_t found = 0, places = 0;

	for (size_t i = 0; i < events.nr; i++)
		found += !strcmp("markers:sample_step", events.lines[i]);
	EXPECT_EQ(1, found);
	ASSERT_NE(NULL, format);
	while ((at = strstr(at, "etch-sample.c:"))) {
		places++;
		at++;
	}
	EXPECT_EQ(2, places)
		TH_LOG("%s", format);
	free(format);
	list_free(&events);
}

TEST_F(markers, pass_filters)
{
	ASSERT_EQ(0, write_file(ETCH, VALUE "/filter",
				"value_number < -3 && value_name ~ \"round[1-5]\" && value_parity == 1"));
	ASSERT_EQ(0, write_file(ETCH, VALUE "/enable", "1"));
	ASSERT_EQ(0, fire(10));
	self->trace = text_read(ETCH, "trace");
	ASSERT_EQ(1, self->trace.nr);
	EXPECT_NE(NULL, strstr(self->trace.records[0].text, "value_number=-5 value_name=round5"));
	EXPECT_EQ(EINVAL, write_file(ETCH, VALUE "/filter", "nothing == 1"));
}

TEST_F(markers, are_counted_by_histograms)
{
	ASSERT_EQ(0, write_file(ETCH, VALUE "/trigger",
				"hist:keys=value_label,value_parity:vals=value_square:"
				"sort=value_parity"));
	ASSERT_EQ(0, fire(4));
	EXPECT_TRUE(says(VALUE "/hist", "Hits: 4\n"));
	EXPECT_TRUE(says(VALUE "/hist", "Entries: 2\n"));
	EXPECT_TRUE(says(VALUE "/hist", "value_square:         10\n"));
}

TEST_F_TIMEOUT(markers, come_and_go_while_they_are_on, 300)
{
	char id[16];

	snprintf(id, sizeof(id), "%s", read_line(ETCH, VALUE "/id"));
	for (int i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, write_file(ETCH, "events/markers/enable", "1"));
		ASSERT_EQ(0, fire(5));
		ASSERT_EQ(0, sample_unload());
		ASSERT_EQ(-1, access(ETCH "/" VALUE, F_OK));
		ASSERT_EQ(0, sample_load());
		ASSERT_STREQ(id, read_line(ETCH, VALUE "/id"));
		ASSERT_STREQ("0", read_line(ETCH, VALUE "/enable"));
	}
	/* Records of the module that has gone read as those of the one that is here. */
	ASSERT_EQ(0, sample_unload());
	self->trace = text_read(ETCH, "trace");
	EXPECT_EQ(TIMES * 5, text_count(&self->trace, "sample_value"));
	EXPECT_EQ(TIMES * 5 * 2, text_count(&self->trace, "sample_step"));
	EXPECT_EQ(0, lost_sum(ETCH) + stat_sum(ETCH, "overwritten"));
	ASSERT_EQ(0, sample_load());
}

/* A child hits the markers, and they are turned on and off. */
TEST_F_TIMEOUT(markers, change_while_they_are_hit, 300)
{
	pid_t child = fork();
	int status;

	ASSERT_LE(0, child);
	if (!child)
		_exit(fire(50000));
	while (!waitpid(child, &status, WNOHANG)) {
		ASSERT_EQ(0, write_file(ETCH, "events/markers/enable", "1"));
		ASSERT_EQ(0, write_file(ETCH, "events/markers/enable", "0"));
	}
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
