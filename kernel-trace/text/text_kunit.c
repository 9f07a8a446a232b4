// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of how records become text: their length, and their line. merge_kunit.c has those of
 * their order. Events of our own are registered, hidden, so that no file shows them.
 */

#include <kunit/test.h>
#include <linux/etch.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_seq.h>

#include "text/merge.h"
#include "text/text.h"
#include "text/text_kunit.h"

/* ---- Two events ---- */

struct etch_test_all {
	struct etch_head head;
	u32 number;
	s16 small;
	u8 array[3];
	u8 pad[3];
	u32 string;
	u32 shorts;
	const char *pointer;
	char content[8];
	u16 more[2];
} __packed __aligned(4);

#define ETCH_TEST_ALL_SIZE	offsetof(struct etch_test_all, content)

static struct etch_field etch_test_all_fields[] = {
	ETCH_TEST_FIELD("u32", "num", ETCH_FIELD_FIXED, 4, 4, 4),
	ETCH_TEST_FIELD("s16", "small", ETCH_FIELD_FIXED, 2, 2, 2, .is_signed = 1),
	ETCH_TEST_FIELD("u8[3]", "arr", ETCH_FIELD_ARRAY, 3, 1, 1),
	ETCH_TEST_FIELD("__data_loc char[]", "str", ETCH_FIELD_DATA_LOC, 4, 1, 1,
			.is_string = 1),
	ETCH_TEST_FIELD("__rel_loc u16[]", "shorts", ETCH_FIELD_REL_LOC, 4, 2, 2),
	ETCH_TEST_FIELD("const char *", "ptr", ETCH_FIELD_FIXED, 8, 8, 4,
			.is_string = 1, .is_pointer = 1),
};

static void etch_test_all_print(struct etch_text *text, const void *record)
{
	const struct etch_test_all *all = record;

	etch_text_printf(text, "number=%u pointer=%s\n", all->number, all->pointer);
}

static struct etch_class etch_test_all_class = {
	.system = "etch_test",
	.fields = etch_test_all_fields,
	.nr_fields = ARRAY_SIZE(etch_test_all_fields),
	.size = ETCH_TEST_ALL_SIZE,
	.print_fmt = "",
	.print = etch_test_all_print,
};

static struct etch_event etch_test_all_event = {
	.name = "etch_all",
	.class = &etch_test_all_class,
	.hidden = true,
};

static struct etch_field etch_test_number_fields[] = {
	ETCH_TEST_FIELD("u32", "number", ETCH_FIELD_FIXED, 4, 4, 4),
};

/* As many characters as the number says. */
static void etch_test_number_print(struct etch_text *text, const void *record)
{
	const struct etch_test_number *number = record;

	etch_text_printf(text, "%*s\n", (int)number->number, "x");
}

static struct etch_class etch_test_number_class = {
	.system = "etch_test",
	.fields = etch_test_number_fields,
	.nr_fields = ARRAY_SIZE(etch_test_number_fields),
	.size = sizeof(struct etch_test_number),
	.print_fmt = "",
	.nameless = true,
	.print = etch_test_number_print,
};

static struct etch_event etch_test_number_event = {
	.name = "etch_test_number",
	.class = &etch_test_number_class,
	.hidden = true,
};

static void etch_test_fill(struct etch_test_all *all)
{
	memset(all, 0, sizeof(*all));
	all->head.word = etch_test_word(&etch_test_all_event, 1234, ETCH_HARDIRQ);
	all->number = 7;
	all->small = -2;
	all->array[0] = 1;
	all->array[1] = 2;
	all->array[2] = 3;
	all->string = offsetof(struct etch_test_all, content) | 6 << 16;
	all->shorts = (offsetof(struct etch_test_all, more) -
		       offsetofend(struct etch_test_all, shorts)) | 4 << 16;
	strscpy(all->content, "hello", sizeof(all->content));
	all->more[0] = 10;
	all->more[1] = 20;
}

/* ---- An instance ---- */

struct etch_test {
	struct etch_instance inst;
	struct etch_line line;
};

static struct etch_test *etch_test_of(struct kunit *test)
{
	return test->priv;
}

static int etch_text_init(struct kunit *test)
{
	struct etch_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	t->inst.clock = ETCH_CLOCK_SEQ;
	return etch_line_init(&t->line);
}

static void etch_text_exit(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);

	if (t)
		etch_line_free(&t->line);
}

static int etch_text_suite_init(struct kunit_suite *suite)
{
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_event_register(&etch_test_all_event);
	ret = ret ?: etch_event_register(&etch_test_number_event);
	mutex_unlock(&etch_mutex);
	return ret;
}

static void etch_text_suite_exit(struct kunit_suite *suite)
{
	mutex_lock(&etch_mutex);
	etch_event_unregister(&etch_test_number_event);
	etch_event_unregister(&etch_test_all_event);
	mutex_unlock(&etch_mutex);
}

/* ---- Length ---- */

static void etch_text_len(struct kunit *test)
{
	struct etch_test_all all;

	etch_test_fill(&all);
	KUNIT_EXPECT_EQ(test, sizeof(all), etch_record_len(&all, sizeof(all), 0));
	KUNIT_EXPECT_EQ(test, sizeof(all), etch_record_len(&all, 4096, 0));

	/* The last content ends before the place of the one before it. */
	all.shorts = 0;
	KUNIT_EXPECT_EQ(test, offsetof(struct etch_test_all, content) + 6,
			etch_record_len(&all, sizeof(all), 0));
	/* Without content, where it would be does not count. */
	all.string = 0xffff;
	KUNIT_EXPECT_EQ(test, ETCH_TEST_ALL_SIZE, etch_record_len(&all, sizeof(all), 0));
}

static void etch_text_len_damaged(struct kunit *test)
{
	struct etch_test_all all;

	etch_test_fill(&all);
	KUNIT_EXPECT_EQ(test, 0, etch_record_len(&all, sizeof(struct etch_head) - 1, 0));
	KUNIT_EXPECT_EQ(test, 0, etch_record_len(&all, ETCH_TEST_ALL_SIZE - 1, 0));
	KUNIT_EXPECT_EQ(test, 0, etch_record_len(&all, sizeof(all) - 1, 0));

	/* Content inside the payload. */
	all.string = (ETCH_TEST_ALL_SIZE - 1) | 2 << 16;
	KUNIT_EXPECT_EQ(test, 0, etch_record_len(&all, sizeof(all), 0));
	all.string = ETCH_TEST_ALL_SIZE | 0xffffU << 16;
	KUNIT_EXPECT_EQ(test, 0, etch_record_len(&all, sizeof(all), 0));

	/* No event has the id 0. */
	etch_test_fill(&all);
	all.head.word = 0;
	KUNIT_EXPECT_EQ(test, 0, etch_record_len(&all, sizeof(all), 0));
}

/* ---- Lines ---- */

/* The line is what every line begins with, the flags, the time, and @text. */
static void etch_test_line(struct kunit *test, const struct etch_test_all *all,
			   const char *flags, const char *text)
{
	struct etch_test *t = etch_test_of(test);
	struct trace_seq *seq = &t->line.text.seq;
	char want[256];

	trace_seq_init(seq);
	etch_line_print(&t->line, t->inst.clock, NULL, 5, 1234, all, sizeof(*all));
	trace_seq_putc(seq, '\0');
	snprintf(want, sizeof(want), "          <idle>-0       [005] %s         1234: %s",
		 flags, text);
	KUNIT_EXPECT_STREQ(test, seq->buffer, want);
}

static void etch_text_line(struct kunit *test)
{
	struct etch_test_all all;

	etch_test_fill(&all);
	all.pointer = "text";
	etch_test_line(test, &all, "..h..", "etch_all: number=7 pointer=text\n");
	all.head.word = etch_test_word(&etch_test_all_event, 1234, ETCH_SOFTIRQ);
	etch_test_line(test, &all, "..s..", "etch_all: number=7 pointer=text\n");
}

static void etch_text_pointers(struct kunit *test)
{
	char *gone = kunit_kzalloc(test, 8, GFP_KERNEL);
	struct etch_test_all all;

	KUNIT_ASSERT_NOT_NULL(test, gone);
	etch_test_fill(&all);
	etch_test_line(test, &all, "..h..", "etch_all: number=7 pointer=(null)\n");
	all.pointer = gone;
	etch_test_line(test, &all, "..h..", "etch_all: number=7 pointer=(unsafe string)\n");
}

static void etch_text_descriptors(struct kunit *test)
{
	struct etch_test_all all;

	etch_test_fill(&all);
	all.pointer = "text";

	/* As a module does that goes. */
	mutex_lock(&etch_mutex);
	etch_event_unregister(&etch_test_all_event);
	mutex_unlock(&etch_mutex);

	etch_test_line(test, &all, "..h..",
		       "etch_all: num=7 small=-2 arr={1,2,3} str=hello shorts={10,20} ptr=text\n");

	mutex_lock(&etch_mutex);
	KUNIT_EXPECT_EQ(test, 0, etch_event_register(&etch_test_all_event));
	mutex_unlock(&etch_mutex);
	etch_test_line(test, &all, "..h..", "etch_all: number=7 pointer=text\n");
}

static void etch_text_unknown(struct kunit *test)
{
	struct etch_test_all all = {};

	etch_test_line(test, &all, ".....", "id 0: unknown event, 52 bytes\n");
}

static void etch_text_long_lines(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	struct trace_seq *seq = &t->line.text.seq;
	struct etch_test_number number = {
		.head.word = etch_test_word(&etch_test_number_event, 1, ETCH_TASK),
		.number = 5000,
	};

	/* The second does not fit, and leaves no trace. */
	trace_seq_init(seq);
	etch_line_print(&t->line, t->inst.clock, NULL, 0, 1, &number, sizeof(number));
	KUNIT_EXPECT_FALSE(test, trace_seq_has_overflowed(seq));
	KUNIT_EXPECT_EQ(test, 5052, trace_seq_used(seq));
	etch_line_print(&t->line, t->inst.clock, NULL, 0, 1, &number, sizeof(number));
	KUNIT_EXPECT_TRUE(test, trace_seq_has_overflowed(seq));
	KUNIT_EXPECT_EQ(test, 5052, trace_seq_used(seq));

	/* This one fits nowhere. */
	number.number = 9000;
	trace_seq_init(seq);
	etch_line_print(&t->line, t->inst.clock, NULL, 0, 1, &number, sizeof(number));
	KUNIT_EXPECT_FALSE(test, trace_seq_has_overflowed(seq));
	trace_seq_putc(seq, '\0');
	KUNIT_EXPECT_NOT_NULL(test, strstr(seq->buffer, " .....            1: [LINE TOO BIG]\n"));
}

static void etch_text_lost_line(struct kunit *test)
{
	struct etch_test *t = etch_test_of(test);
	struct etch_test_number number = {
		.head.word = etch_test_word(&etch_test_number_event, 1, ETCH_TASK),
		.number = 1,
	};
	struct etch_item item = {
		.record = &number, .len = sizeof(number), .cpu = 2, .time = 1, .lost = 3,
		.clock = t->inst.clock,
	};
	struct trace_seq *seq = &t->line.text.seq;

	trace_seq_init(seq);
	etch_item_print(&t->line, &item);
	trace_seq_putc(seq, '\0');
	KUNIT_EXPECT_STREQ(test, seq->buffer, "CPU:2 [LOST 3 EVENTS]\n"
			   "          <idle>-0       [002] .....            1: x\n");

	item.record = NULL;
	trace_seq_init(seq);
	etch_item_print(&t->line, &item);
	trace_seq_putc(seq, '\0');
	KUNIT_EXPECT_STREQ(test, seq->buffer, "CPU:2 [LOST 3 EVENTS]\n");

	item.record = &number;
	item.lost = 0;
	item.len = 0;
	item.skip = 100;
	trace_seq_init(seq);
	etch_item_print(&t->line, &item);
	trace_seq_putc(seq, '\0');
	KUNIT_EXPECT_STREQ(test, seq->buffer,
			   "CPU:2 [etch: damaged record, 100 bytes skipped]\n");

	number.head.word = 0;
	trace_seq_init(seq);
	etch_item_print(&t->line, &item);
	trace_seq_putc(seq, '\0');
	KUNIT_EXPECT_STREQ(test, seq->buffer,
			   "CPU:2 [etch: record of an unknown event, 100 bytes skipped]\n");
}

static struct kunit_case etch_text_cases[] = {
	KUNIT_CASE(etch_text_len),
	KUNIT_CASE(etch_text_len_damaged),
	KUNIT_CASE(etch_text_line),
	KUNIT_CASE(etch_text_pointers),
	KUNIT_CASE(etch_text_descriptors),
	KUNIT_CASE(etch_text_unknown),
	KUNIT_CASE(etch_text_long_lines),
	KUNIT_CASE(etch_text_lost_line),
	{}
};

static struct kunit_suite etch_text_suite = {
	.name = "etch_text",
	.suite_init = etch_text_suite_init,
	.suite_exit = etch_text_suite_exit,
	.init = etch_text_init,
	.exit = etch_text_exit,
	.test_cases = etch_text_cases,
};

kunit_test_suite(etch_text_suite);
