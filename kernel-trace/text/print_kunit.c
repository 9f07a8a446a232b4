// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of printers and records with absurd lengths: as a dead writer leaves them, or as a
 * dump copies them while they are overwritten. A printer reads what the record has, and
 * behind it zeroes.
 *
 * The printer is a real one: print_kunit_class.h is expanded as an event's header is.
 */

#include <kunit/test.h>
#include <linux/etch.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/trace_seq.h>
#include <linux/tracepoint.h>

#include "text/text.h"

/* vsnprintf() warns of widths that are much larger. */
#define ETCH_TEST_WIDTH		1000000U

#define TRACE_SYSTEM		etch_test
#define TRACE_HEADER_MULTI_READ
#define TRACE_INCLUDE_FILE	print_kunit_class
#define TRACE_INCLUDE(file)	"../../../kernel/etch/text/print_kunit_class.h"
#include <trace/etch/define.h>

/* Fills the copy's memory behind the record, before the copy's end is set to zero. */
#define ETCH_TEST_OLD		'x'
/* Bytes that %*ph prints at most. */
#define ETCH_TEST_BYTES		64U

static struct etch_event etch_test_lengths_event = {
	.name = "etch_test_lengths",
	.class = &etch_class_etch_test_lengths,
	.hidden = true,
};

struct etch_test_lengths {
	struct etch_raw_etch_test_lengths raw;
	char text[4];
	u32 words[2];
} __packed __aligned(4);

static int etch_lengths_suite_init(struct kunit_suite *suite)
{
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_event_register(&etch_test_lengths_event);
	mutex_unlock(&etch_mutex);
	return ret;
}

static void etch_lengths_suite_exit(struct kunit_suite *suite)
{
	mutex_lock(&etch_mutex);
	etch_event_unregister(&etch_test_lengths_event);
	mutex_unlock(&etch_mutex);
}

static int etch_lengths_init(struct kunit *test)
{
	struct etch_line *line = kunit_kzalloc(test, sizeof(*line), GFP_KERNEL);

	test->priv = line;
	return line ? etch_line_init(line) : -ENOMEM;
}

static void etch_lengths_exit(struct kunit *test)
{
	if (test->priv)
		etch_line_free(test->priv);
}

static void etch_lengths_fill(struct etch_test_lengths *r, u32 nr)
{
	memset(r, 0, sizeof(*r));
	r->raw.ent.word = (u64)etch_test_lengths_event.id << ETCH_TIME_BITS;
	r->raw.nr = nr;
	r->raw.__data_loc_text = offsetof(struct etch_test_lengths, text) | 4 << 16;
	r->raw.__data_loc_words = offsetof(struct etch_test_lengths, words) | 8 << 16;
	/* No content, and in place: behind what there is. */
	r->raw.__rel_loc_more = sizeof(*r) -
				offsetofend(struct etch_test_lengths, raw.__rel_loc_more);
	memcpy(r->text, "text", sizeof(r->text));
	r->words[0] = 0x11111111;
	r->words[1] = 0x22222222;
}

/* The record's text, behind the event's name. */
static const char *etch_lengths_text(struct kunit *test, const struct etch_test_lengths *r)
{
	static const char name[] = "etch_test_lengths: ";
	struct etch_line *line = test->priv;
	struct trace_seq *seq = &line->text.seq;
	char *text;

	memset(line->record, ETCH_TEST_OLD, line->size);
	((char *)line->record)[line->size - 1] = '\0';
	trace_seq_init(seq);
	etch_line_print(line, ETCH_CLOCK_SEQ, NULL, 0, 1, r, sizeof(*r));
	KUNIT_EXPECT_FALSE(test, trace_seq_has_overflowed(seq));
	trace_seq_putc(seq, '\0');
	text = strstr(seq->buffer, name);
	return text ? text + strlen(name) : "";
}

/* The first bytes of @words as %*ph has them, with zeroes behind. */
static void etch_lengths_bytes(struct seq_buf *s, const void *words, unsigned int nr)
{
	const u8 *byte = words;
	unsigned int i;

	for (i = 0; i < nr; i++)
		seq_buf_printf(s, "%s%02x", i ? " " : "", i < 2 * sizeof(u32) ? byte[i] : 0);
	seq_buf_puts(s, "\n");
}

static void etch_lengths_expect(struct kunit *test, u32 nr, const char *front)
{
	struct etch_test_lengths r;
	char want[512];
	struct seq_buf s;

	etch_lengths_fill(&r, nr);
	seq_buf_init(&s, want, sizeof(want));
	seq_buf_puts(&s, front);
	etch_lengths_bytes(&s, r.words, min(nr, ETCH_TEST_BYTES));
	KUNIT_EXPECT_STREQ(test, etch_lengths_text(test, &r), seq_buf_str(&s));
}

#define ETCH_TEST_ALL_WORDS						\
	"text=text\x11\x11\x11\x11\x22\x22\x22\x22 more= "			\
	"array={0x11111111,0x22222222} hex=11 11 11 11 22 22 22 22 "	\
	"str=1111111122222222 dump=\n11111111 22222222\n bytes="

/* Lengths that are right are what is printed. */
static void etch_lengths_right(struct kunit *test)
{
	etch_lengths_expect(test, 2, "text=text\x11\x11\x11\x11\x22\x22\x22\x22 more= "
			    "array={0x11111111,0x22222222} hex=11 11 str=1111 "
			    "dump=\n11 11\n bytes=");
}

static void etch_lengths_absurd(struct kunit *test)
{
	static const u32 absurd[] = { 9, 100, 60000, S32_MAX, (u32)S32_MIN, U32_MAX };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(absurd); i++)
		etch_lengths_expect(test, absurd[i], ETCH_TEST_ALL_WORDS);
}

/* Dynamic fields without content have any place, and nothing is read there. */
static void etch_lengths_nowhere(struct kunit *test)
{
	static const u32 places[] = { sizeof(struct etch_test_lengths) + 1, 300, 0xffff };
	struct etch_test_lengths r;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		etch_lengths_fill(&r, 0);
		r.raw.__data_loc_text = places[i];
		r.raw.__rel_loc_more = places[i];
		KUNIT_EXPECT_EQ(test, etch_record_len(&r, sizeof(r), 0), sizeof(r));
		KUNIT_EXPECT_PTR_EQ(test, strstr(etch_lengths_text(test, &r),
						 "text= more= array={} hex= "),
				    etch_lengths_text(test, &r));
	}
}

/* An array that is not in the record has no elements. */
static void etch_lengths_fit(struct kunit *test)
{
	struct etch_text *text = kunit_kzalloc(test, sizeof(*text), GFP_KERNEL);
	u8 record[16];

	KUNIT_ASSERT_NOT_NULL(test, text);
	text->record = record;
	text->end = record + 12;
	KUNIT_EXPECT_EQ(test, etch_text_fit(text, record, 3, 4), 3);
	KUNIT_EXPECT_EQ(test, etch_text_fit(text, record, 4, 4), 3);
	KUNIT_EXPECT_EQ(test, etch_text_fit(text, record + 1, LONG_MAX, 4), 2);
	KUNIT_EXPECT_EQ(test, etch_text_fit(text, record, -1, 1), 0);
	KUNIT_EXPECT_EQ(test, etch_text_fit(text, record + 12, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, etch_text_fit(text, record + 13, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, etch_text_fit(text, record - 1, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, etch_text_fit(text, NULL, 1, 1), 0);
}

static struct kunit_case etch_lengths_cases[] = {
	KUNIT_CASE(etch_lengths_right),
	KUNIT_CASE(etch_lengths_nowhere),
	KUNIT_CASE(etch_lengths_fit),
	KUNIT_CASE(etch_lengths_absurd),
	{}
};

static struct kunit_suite etch_lengths_suite = {
	.name = "etch_lengths",
	.suite_init = etch_lengths_suite_init,
	.suite_exit = etch_lengths_suite_exit,
	.init = etch_lengths_init,
	.exit = etch_lengths_exit,
	.test_cases = etch_lengths_cases,
};

kunit_test_suite(etch_lengths_suite);
