// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of histograms: tables, the language, keys, and what users read.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/etch.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hist/parse.h"
#include "hist/print.h"

/* ---- Tables ---- */

static struct etch_table *etch_test_table(struct kunit *test, unsigned int keys,
					  unsigned int sums)
{
	const struct etch_table_shape shape = {
		.keys = keys, .sums = sums, .bits = ETCH_TABLE_BITS_MIN,
	};
	struct etch_table *table = etch_table_create(&shape);

	KUNIT_ASSERT_NOT_NULL(test, table);
	return table;
}

static struct etch_table_part *etch_test_part(const struct etch_table *table)
{
	return table->parts[cpumask_first(cpu_possible_mask)];
}

static struct etch_bin *etch_test_bin(const struct etch_table *table, u64 key)
{
	return etch_table_bin(table, etch_test_part(table),
			      etch_table_hash(&key, 1) >> table->shift);
}

/* A hit that adds the key to the first sum, if there is one. */
static struct etch_bin *etch_test_hit(const struct etch_table *table, u64 key)
{
	struct etch_table_part *part = etch_test_part(table);
	u64 hash = etch_table_hash(&key, 1);
	struct etch_bin *bin = etch_table_guess(table, part, hash);

	if (!etch_bin_has(bin, &key, 1, hash))
		bin = etch_table_find(table, part, &key, hash);
	if (!bin)
		return NULL;
	local64_inc(&bin->hits);
	if (table->sums)
		local64_add(key, etch_bin_sum(table, bin, 0));
	return bin;
}

static void etch_hist_a_key_keeps_its_bin(struct kunit *test)
{
	struct etch_table *table = etch_test_table(test, 1, 1);
	struct etch_bin *zero, *one;
	struct etch_table_view view;

	zero = etch_test_hit(table, 0);
	one = etch_test_hit(table, U64_MAX);
	KUNIT_ASSERT_NOT_NULL(test, zero);
	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_EXPECT_PTR_NE(test, zero, one);
	KUNIT_EXPECT_PTR_EQ(test, zero, etch_test_hit(table, 0));
	KUNIT_EXPECT_PTR_EQ(test, one, etch_test_hit(table, U64_MAX));
	KUNIT_ASSERT_EQ(test, 0, etch_table_read(table, &view));
	KUNIT_EXPECT_EQ(test, 2, view.nr);
	KUNIT_EXPECT_EQ(test, 4, view.hits);
	KUNIT_EXPECT_EQ(test, 0, view.drops);
	KUNIT_EXPECT_EQ(test, (u64)-2, view.entries[0].sums[0] + view.entries[1].sums[0]);
	etch_table_view_free(&view);
	etch_table_put(table);
}

/* A writer is interrupted when it has claimed a bin; the one that comes in has the same key. */
static void etch_hist_a_claimed_bin_is_passed_by(struct kunit *test)
{
	struct etch_table *table = etch_test_table(test, 1, 0);
	struct etch_bin *bin = etch_test_bin(table, 7), *other;
	struct etch_table_view view;

	bin->tag = ETCH_BIN_CLAIMED;
	other = etch_test_hit(table, 7);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_PTR_NE(test, bin, other);
	KUNIT_ASSERT_EQ(test, 0, etch_table_read(table, &view));
	KUNIT_EXPECT_EQ(test, 1, view.nr);
	etch_table_view_free(&view);

	/* It goes on. */
	bin->words[0] = 7;
	bin->tag = other->tag;
	local64_inc(&bin->hits);
	KUNIT_EXPECT_PTR_EQ(test, bin, etch_test_hit(table, 7));
	KUNIT_ASSERT_EQ(test, 0, etch_table_read(table, &view));
	KUNIT_EXPECT_EQ(test, 1, view.nr);
	KUNIT_EXPECT_EQ(test, 3, view.hits);
	KUNIT_EXPECT_EQ(test, 3, view.entries[0].hits);
	etch_table_view_free(&view);
	etch_table_put(table);
}

static void etch_hist_what_finds_no_bin_is_dropped(struct kunit *test)
{
	struct etch_table *table = etch_test_table(test, 1, 0);
	struct etch_table_view view;
	u64 key, found = 0;

	for (key = 0; key < 1000; key++)
		found += !!etch_test_hit(table, key * 77);
	KUNIT_ASSERT_EQ(test, 0, etch_table_read(table, &view));
	KUNIT_EXPECT_EQ(test, found, view.hits);
	KUNIT_EXPECT_EQ(test, found, view.nr);
	KUNIT_EXPECT_LE(test, view.nr, BIT(ETCH_TABLE_BITS_MIN));
	KUNIT_EXPECT_EQ(test, 1000, view.hits + view.drops);
	etch_table_view_free(&view);

	etch_table_clear(table);
	KUNIT_EXPECT_FALSE(test, table->paused);
	KUNIT_ASSERT_EQ(test, 0, etch_table_read(table, &view));
	KUNIT_EXPECT_EQ(test, 0, view.nr + view.hits + view.drops);
	etch_table_view_free(&view);
	etch_table_put(table);
}

/* Keys of several words differ in any of them. The parts of all CPUs are added up. */
static void etch_hist_parts_are_added_up(struct kunit *test)
{
	struct etch_table *table = etch_test_table(test, 3, 2);
	u64 keys[][3] = { { 1, 2, 3 }, { 1, 2, 4 }, { 0, 2, 3 }, { 1, 2, 3 } };
	struct etch_table_view view;
	unsigned int i, cpus = 0;
	struct etch_bin *bin;
	int cpu;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < ARRAY_SIZE(keys); i++) {
			bin = etch_table_find(table, table->parts[cpu], keys[i],
					      etch_table_hash(keys[i], 3));
			KUNIT_ASSERT_NOT_NULL(test, bin);
			local64_inc(&bin->hits);
			local64_add(-5, etch_bin_sum(table, bin, 1));
		}
		cpus++;
	}
	KUNIT_ASSERT_EQ(test, 0, etch_table_read(table, &view));
	KUNIT_ASSERT_EQ(test, 3, view.nr);
	KUNIT_EXPECT_EQ(test, 4 * cpus, view.hits);
	for (i = 0; i < 3; i++) {
		bool twice = !memcmp(view.entries[i].key, keys[0], sizeof(keys[0]));

		KUNIT_EXPECT_EQ(test, (twice ? 2 : 1) * cpus, view.entries[i].hits);
		KUNIT_EXPECT_EQ(test, (twice ? -10 : -5) * (s64)cpus,
				(s64)view.entries[i].sums[1]);
		KUNIT_EXPECT_EQ(test, 0, view.entries[i].sums[0]);
	}
	etch_table_view_free(&view);
	etch_table_put(table);
}

/* ---- The language ---- */

struct etch_test_record {
	struct etch_head head;
	u8 tiny;
	u8 pad[3];
	s32 number;
	u64 wide;
	u32 rows[3];
	char name[12];
	u32 loc_text;
	u32 loc_list;
	u32 loc_cpus;
	unsigned long call;
	char text[80];
	u16 list[2];
	u64 behind;
} __packed __aligned(4);

#define ETCH_TEST_FIELD(member, kind_of, elem, ...)			\
	{ .name = #member, .offset = offsetof(struct etch_test_record, member),	\
	  .size = sizeof_field(struct etch_test_record, member),	\
	  .elem_size = elem, .kind = kind_of, ##__VA_ARGS__ }

static const struct etch_field etch_test_fields[] = {
	ETCH_TEST_FIELD(tiny, ETCH_FIELD_FIXED, 1, .type = "u8"),
	ETCH_TEST_FIELD(number, ETCH_FIELD_FIXED, 4, .type = "int", .is_signed = 1),
	ETCH_TEST_FIELD(wide, ETCH_FIELD_FIXED, 8, .type = "u64"),
	ETCH_TEST_FIELD(rows, ETCH_FIELD_ARRAY, 4, .type = "u32[3]"),
	ETCH_TEST_FIELD(name, ETCH_FIELD_ARRAY, 1, .type = "char[12]", .is_string = 1),
	ETCH_TEST_FIELD(loc_text, ETCH_FIELD_DATA_LOC, 1, .type = "__data_loc char[]",
			.is_string = 1),
	ETCH_TEST_FIELD(loc_list, ETCH_FIELD_DATA_LOC, 2, .type = "__data_loc u16[]"),
	ETCH_TEST_FIELD(loc_cpus, ETCH_FIELD_DATA_LOC, 8, .type = "__data_loc cpumask_t"),
	ETCH_TEST_FIELD(call, ETCH_FIELD_FIXED, 8, .type = "unsigned long"),
};

static const struct etch_class etch_test_class = {
	.system = "test",
	.fields = etch_test_fields,
	.nr_fields = ARRAY_SIZE(etch_test_fields),
	.size = sizeof(struct etch_test_record),
};

static const struct etch_event etch_test_event = { .name = "all", .class = &etch_test_class };

#define ETCH_TEST_LOC(member, bytes)						\
	((u32)(bytes) << 16 | (u32)offsetof(struct etch_test_record, member))

static void etch_test_fill(struct etch_test_record *r)
{
	*r = (struct etch_test_record) {
		.tiny = 200, .number = -7, .wide = 1ULL << 40, .rows = { 10, 20, 30 },
		.name = "twelve bytes", .loc_text = ETCH_TEST_LOC(text, 80),
		.loc_list = ETCH_TEST_LOC(list, 4), .call = 0x1234, .list = { 5, 65535 },
	};
	memset(r->text, 'x', sizeof(r->text));
}

static int etch_test_parse(const char *text, struct etch_hist_spec *spec)
{
	return etch_hist_parse(NULL, text, strlen(text), &etch_test_event, 0, spec);
}

/* A seq_file without a file. */
static void etch_test_seq(struct kunit *test, struct seq_file *m)
{
	*m = (struct seq_file) { .size = PAGE_SIZE };
	m->buf = kunit_kzalloc(test, m->size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->buf);
}

static void etch_hist_texts_are_understood(struct kunit *test)
{
	static const char * const pairs[][2] = {
		{ "keys=number", "keys=number:vals=hitcount:sort=hitcount:size=2048" },
		{ "key=tiny.hex,wide:val=wide.hex,hitcount:size=100:sort=wide.descending,tiny",
		  "keys=tiny.hex,wide:vals=hitcount,wide.hex:sort=wide.descending,tiny:size=128" },
		{ "pause:vals=rows[1],tiny.graph:NOHC:keys=name,comm:name=mine",
		  "name=mine:keys=name,comm:vals=rows[1],tiny.graph:sort=hitcount:size=2048"
		  ":nohitcount" },
		{ "keys=number.buckets=100,call.sym-offset,common_pid.execname:size=131072",
		  "keys=number.buckets=100,call.sym-offset,common_pid.execname:vals=hitcount"
		  ":sort=hitcount:size=131072" },
		{ "keys=wide.log2:vals=hitcount.percent,loc_list[1]:sort=hitcount.ascending",
		  "keys=wide.log2:vals=hitcount,hitcount.percent,loc_list[1]:sort=hitcount"
		  ":size=2048" },
	};
	struct etch_hist_spec spec;
	struct seq_file m;
	int i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		etch_test_seq(test, &m);
		KUNIT_ASSERT_EQ_MSG(test, 0, etch_test_parse(pairs[i][0], &spec), "%s",
				    pairs[i][0]);
		etch_hist_print_spec(&m, &spec);
		KUNIT_EXPECT_STREQ(test, pairs[i][1], m.buf + strlen("hist:"));
		etch_hist_spec_drop(&spec);
	}
}

static void etch_hist_bad_texts_are_refused(struct kunit *test)
{
	static const char * const bad[] = {
		"", "vals=number", "keys=", "keys=nothing", "keys=number,", "keys=,number",
		"keys=number,wide,tiny,rows[0]", "keys=rows", "keys=rows[3]", "keys=loc_cpus",
		"keys=number.what", "keys=number.buckets", "keys=number.buckets=0",
		"keys=number.log2=3", "keys=name.hex", "keys=number.execname", "keys=hitcount",
		"keys=number.percent", "keys=number:vals=name", "keys=number:vals=wide.log2",
		"keys=number:vals=number,wide,tiny,rows[0]", "keys=number:nohitcount",
		"keys=number:sort=wide", "keys=number:sort=number.up", "keys=number:sort=",
		"keys=number,wide,tiny:sort=number,wide,tiny", "keys=number:size=64",
		"keys=number:size=131073", "keys=number:size=x", "keys=number:keys=wide",
		"keys=number:ts0=wide", "keys=$ts0", "keys=number:onmax(wide).save(tiny)",
		"keys=number:name=a-b", "keys=number:name=", "keys=number::pause",
		"keys=number:pause=1", "keys=number.buckets=99999999999999999999",
	};
	struct etch_hist_spec spec;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, etch_test_parse(bad[i], &spec), "%s", bad[i]);
}

static void etch_hist_the_same_is_recognised(struct kunit *test)
{
	static const struct {
		const char *a, *b;
		bool counts, shows;
	} pairs[] = {
		{ "keys=number", "key=number:vals=hitcount:size=512:pause", true, true },
		{ "keys=number", "keys=number:sort=number", true, false },
		{ "keys=number", "keys=number:name=a", true, false },
		{ "keys=number:name=a", "keys=number:name=a", true, true },
		{ "keys=number", "keys=number.log2", false, false },
		{ "keys=number", "keys=number,wide", false, false },
		{ "keys=number.buckets=2", "keys=number.buckets=3", false, false },
		{ "keys=number:vals=wide", "keys=number:vals=tiny", false, false },
	};
	struct etch_hist_spec a, b;
	int i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		KUNIT_ASSERT_EQ(test, 0, etch_test_parse(pairs[i].a, &a));
		KUNIT_ASSERT_EQ(test, 0, etch_test_parse(pairs[i].b, &b));
		KUNIT_EXPECT_EQ_MSG(test, pairs[i].counts, etch_hist_counts_same(&a, &b), "%s",
				    pairs[i].b);
		KUNIT_EXPECT_EQ_MSG(test, pairs[i].shows, etch_hist_shows_same(&a, &b), "%s",
				    pairs[i].b);
		etch_hist_spec_drop(&a);
		etch_hist_spec_drop(&b);
	}
}

/* ---- Keys ---- */

/* Returns words for a key: with KASAN, a frame that has the key is larger than 1 KiB. */
static u64 *etch_test_words(struct kunit *test)
{
	u64 *words = kunit_kzalloc(test, ETCH_TABLE_WORDS * sizeof(*words), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, words);
	return words;
}

static void etch_hist_numbers_become_words(struct kunit *test)
{
	static const struct {
		const char *keys;
		u64 word;
	} numbers[] = {
		{ "keys=tiny", 200 }, { "keys=number", (u64)-7 }, { "keys=wide", 1ULL << 40 },
		{ "keys=rows[1]", 20 }, { "keys=loc_list[1]", 65535 }, { "keys=loc_list[2]", 0 },
		{ "keys=tiny.log2", 8 }, { "keys=wide.log2", 40 }, { "keys=rows[0].log2", 4 },
		{ "keys=tiny.buckets=30", 180 }, { "keys=number.buckets=5", (u64)-10 },
		{ "keys=number.buckets=7", (u64)-7 },
	};
	struct etch_test_record r;
	struct etch_hist_spec spec;
	u64 *key = etch_test_words(test);
	int i;

	etch_test_fill(&r);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		KUNIT_ASSERT_EQ(test, 0, etch_test_parse(numbers[i].keys, &spec));
		etch_hist_key(spec.keys, spec.nr_keys, &r, key);
		KUNIT_EXPECT_EQ_MSG(test, numbers[i].word, key[0], "%s", numbers[i].keys);
		KUNIT_EXPECT_EQ(test, 1, spec.shape.keys);
		etch_hist_spec_drop(&spec);
	}
}

static void etch_hist_fields_are_packed(struct kunit *test)
{
	char *at, cut[ETCH_HIST_TEXT];
	struct etch_hist_spec spec;
	u64 *key = etch_test_words(test);
	struct etch_test_record r;

	etch_test_fill(&r);
	KUNIT_ASSERT_EQ(test, 0, etch_test_parse("keys=name,number,loc_text", &spec));
	KUNIT_EXPECT_EQ(test, 2 + 1 + ETCH_HIST_TEXT / 8, spec.shape.keys);
	memset(key, 0xff, ETCH_TABLE_WORDS * sizeof(*key));
	etch_hist_key(spec.keys, spec.nr_keys, &r, key);
	at = (char *)key;
	KUNIT_EXPECT_MEMEQ(test, at, "twelve bytes\0\0\0", 16);
	KUNIT_EXPECT_EQ(test, (u64)-7, key[2]);
	memset(cut, 'x', sizeof(cut));
	KUNIT_EXPECT_MEMEQ(test, (char *)&key[3], cut, sizeof(cut));
	etch_hist_spec_drop(&spec);

	KUNIT_ASSERT_EQ(test, 0, etch_test_parse("keys=comm,common_pid", &spec));
	etch_hist_key(spec.keys, spec.nr_keys, &r, key);
	KUNIT_EXPECT_STREQ(test, current->comm, at);
	KUNIT_EXPECT_EQ(test, current->pid, key[2]);
	etch_hist_spec_drop(&spec);
}

/* ---- What users read ---- */

static struct etch_table *etch_test_filled(struct kunit *test, struct etch_hist_spec *spec)
{
	struct etch_table *table = etch_test_table(test, spec->shape.keys, spec->shape.sums);
	struct etch_test_record r;
	u64 *key = etch_test_words(test);
	struct etch_bin *bin;
	int i;

	etch_test_fill(&r);
	for (i = 0; i < 6; i++) {
		r.number = i % 3 - 1;
		r.tiny = i;
		etch_hist_key(spec->keys, spec->nr_keys, &r, key);
		bin = etch_table_find(table, etch_test_part(table), key,
				      etch_table_hash(key, table->keys));
		KUNIT_ASSERT_NOT_NULL(test, bin);
		local64_inc(&bin->hits);
		if (spec->shape.sums)
			local64_add(etch_hist_value(&spec->values[spec->nr_values - 1], &r),
				    etch_bin_sum(table, bin, 0));
	}
	return table;
}

static void etch_hist_lines_are_in_order(struct kunit *test)
{
	static const char * const pairs[][2] = {
		{ "keys=number:vals=tiny:sort=number.descending",
		  "{ number:          1 } hitcount:          2  tiny:          7\n"
		  "{ number:          0 } hitcount:          2  tiny:          5\n"
		  "{ number:         -1 } hitcount:          2  tiny:          3\n"
		  "\nTotals:\n    Hits: 6\n    Entries: 3\n    Dropped: 0\n" },
		{ "keys=number.hex:vals=tiny.percent:sort=tiny",
		  "{ number: ffffffff } hitcount:          2  tiny (%):  20.00\n"
		  "{ number: 0 } hitcount:          2  tiny (%):  33.33\n"
		  "{ number: 1 } hitcount:          2  tiny (%):  46.66\n"
		  "\nTotals:\n    Hits: 6\n    Entries: 3\n    Dropped: 0\n" },
		{ "keys=tiny.log2:vals=hitcount.graph,tiny:nohitcount",
		  "{ tiny: ~ 2^1  }  hitcount: ##########            tiny:          2\n"
		  "{ tiny: ~ 2^3  }  hitcount: ##########            tiny:          5\n"
		  "{ tiny: ~ 2^0  }  hitcount: ####################  tiny:          1\n"
		  "{ tiny: ~ 2^2  }  hitcount: ####################  tiny:          7\n"
		  "\nTotals:\n    Hits: 6\n    Entries: 4\n    Dropped: 0\n" },
		{ "keys=name,number.buckets=2",
		  "{ name: twelve bytes                                      , number: ~ -2--1 } hitcount:          2\n"
		  "{ name: twelve bytes                                      , number: ~ 0-1 } hitcount:          4\n"
		  "\nTotals:\n    Hits: 6\n    Entries: 2\n    Dropped: 0\n" },
	};
	struct etch_table_view view;
	struct etch_hist_spec spec;
	struct etch_table *table;
	struct seq_file *m;
	int i;

	m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m);
	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		etch_test_seq(test, m);
		KUNIT_ASSERT_EQ(test, 0, etch_test_parse(pairs[i][0], &spec));
		table = etch_test_filled(test, &spec);
		KUNIT_ASSERT_EQ(test, 0, etch_table_read(table, &view));
		etch_hist_sort(&spec, &view);
		etch_hist_print_view(m, &spec, &view);
		KUNIT_EXPECT_STREQ(test, pairs[i][1], m->buf);
		etch_table_view_free(&view);
		etch_table_put(table);
		etch_hist_spec_drop(&spec);
	}
}

static struct kunit_case etch_hist_cases[] = {
	KUNIT_CASE(etch_hist_a_key_keeps_its_bin),
	KUNIT_CASE(etch_hist_a_claimed_bin_is_passed_by),
	KUNIT_CASE(etch_hist_what_finds_no_bin_is_dropped),
	KUNIT_CASE(etch_hist_parts_are_added_up),
	KUNIT_CASE(etch_hist_texts_are_understood),
	KUNIT_CASE(etch_hist_bad_texts_are_refused),
	KUNIT_CASE(etch_hist_the_same_is_recognised),
	KUNIT_CASE(etch_hist_numbers_become_words),
	KUNIT_CASE(etch_hist_fields_are_packed),
	KUNIT_CASE(etch_hist_lines_are_in_order),
	{}
};

static struct kunit_suite etch_hist_suite = {
	.name = "etch_hist",
	.test_cases = etch_hist_cases,
};
kunit_test_suite(etch_hist_suite);
