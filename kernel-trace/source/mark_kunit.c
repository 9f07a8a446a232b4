// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of markers: what fields expressions become, and markers that have one name.
 *
 * An instance of our own records them. Markers in code are found at boot as any are; those that
 * come and go lie in arrays, as a module's would, and are hit by hand.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_mark.h>
#include <linux/etch_ring.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sizes.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "instance/instance.h"
#include "source/mark.h"
#include "test_nmi.h"

#define ETCH_MARK_TEST_RECORD	4096

/* So many hits by non-maskable interrupts are enough, and so many seconds too many. */
#define ETCH_MARK_TEST_NMIS	300
#define ETCH_MARK_TEST_SECONDS	30

struct etch_mark_test {
	struct etch_instance *inst;
	unsigned int evaluated;
	u8 record[ETCH_MARK_TEST_RECORD] __aligned(8);
};

static int etch_mark_init(struct kunit *test)
{
	struct etch_mark_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct etch_instance *inst;

	if (!t)
		return -ENOMEM;
	mutex_lock(&etch_mutex);
	inst = etch_instance_create("kunit_mark", SZ_64K, SZ_16K);
	mutex_unlock(&etch_mutex);
	if (IS_ERR(inst))
		return PTR_ERR(inst);
	t->inst = inst;
	test->priv = t;
	return 0;
}

static void etch_mark_exit(struct kunit *test)
{
	struct etch_mark_test *t = test->priv;

	if (!t)
		return;
	mutex_lock(&etch_mutex);
	etch_events_disable_all(&t->inst->rec);
	WARN_ON(etch_instance_destroy(t->inst));
	mutex_unlock(&etch_mutex);
}

/* ---- Events and records ---- */

static void etch_mark_enable(struct kunit *test, const char *name, bool on)
{
	struct etch_mark_test *t = test->priv;
	int found;

	mutex_lock(&etch_mutex);
	found = etch_events_set(&t->inst->rec, name, on);
	mutex_unlock(&etch_mutex);
	KUNIT_ASSERT_EQ_MSG(test, 1, found, "%s", name);
}

/* The instance's next record, on any CPU, in t->record. Returns its event, or NULL. */
static const struct etch_event *etch_mark_next(struct etch_mark_test *t)
{
	const struct etch_event *event = NULL;
	struct etch_view view;
	unsigned int len;
	int cpu;

	mutex_lock(&t->inst->read_mutex);
	for_each_online_cpu(cpu) {
		if (event || etch_ring_take(t->inst->rings[cpu], &view) <= 0)
			continue;
		len = etch_record_len(view.data, view.len, 0);
		if (len && len <= sizeof(t->record)) {
			memcpy(t->record, view.data, len);
			down_read(&etch_event_sem);
			event = etch_event_by_id(etch_head_id(view.data));
			up_read(&etch_event_sem);
		}
		etch_ring_advance(t->inst->rings[cpu], round_up(len, 4), 1);
	}
	mutex_unlock(&t->inst->read_mutex);
	return event;
}

/**
 * struct etch_mark_want - what a field should be
 * @name: its name
 * @type: its type
 * @number: its value, as long as it is; of a string, its characters
 * @text: of a string
 */
struct etch_mark_want {
	const char *name;
	const char *type;
	u64 number;
	const char *text;
};

static void etch_mark_expect_field(struct kunit *test, const struct etch_field *f,
				   const struct etch_mark_want *want)
{
	struct etch_mark_test *t = test->priv;
	unsigned int start, len;
	u64 number = 0;

	KUNIT_EXPECT_STREQ(test, want->name, f->name);
	KUNIT_EXPECT_STREQ_MSG(test, want->type, f->type, "%s", want->name);
	if (want->text) {
		len = etch_dynamic_content(f, t->record, &start);
		KUNIT_ASSERT_EQ_MSG(test, want->number + 1, len, "%s", want->name);
		KUNIT_EXPECT_EQ(test, 0, t->record[start + len - 1]);
		KUNIT_EXPECT_EQ_MSG(test, 0, memcmp(t->record + start, want->text, want->number),
				    "%s", want->name);
		return;
	}
	memcpy(&number, t->record + f->offset, f->size);
	KUNIT_EXPECT_EQ_MSG(test, want->number & GENMASK_ULL(f->size * 8 - 1, 0), number, "%s",
			    want->name);
}

static void etch_mark_expect_event(struct kunit *test, const struct etch_event *event,
				   const char *name, const struct etch_mark_want *want,
				   unsigned int nr)
{
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_STREQ(test, "markers", event->class->system);
	KUNIT_EXPECT_STREQ(test, name, event->name);
	KUNIT_ASSERT_EQ(test, nr, event->class->nr_fields);
	for (i = 0; i < nr; i++)
		etch_mark_expect_field(test, &event->class->fields[i], &want[i]);
}

static void etch_mark_expect(struct kunit *test, const char *name,
			     const struct etch_mark_want *want, unsigned int nr)
{
	etch_mark_expect_event(test, etch_mark_next(test->priv), name, want, nr);
}

static void etch_mark_expect_none(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, etch_mark_next(test->priv));
}

/* ---- Fields ---- */

enum etch_mark_colour { ETCH_MARK_RED, ETCH_MARK_GREEN = 7 };

struct etch_mark_thing {
	unsigned int three : 3;
	int five : 5;
	u64 forty : 40;
	s64 minus : 40;
	bool bit : 1;
	bool truth;
	char letter;
	s8 tiny;
	u16 port;
	short shift;
	long distance;
	enum etch_mark_colour colour;
	char name[8];
	const char cut[4];
	const char *label;
	char *nothing;
	char large[ETCH_MARK_STRING + 500];
	u8 address[6];
};

static const struct etch_mark_thing etch_mark_thing = {
	.three = 5, .five = -3, .forty = 1ULL << 39, .minus = -1LL << 38, .bit = true,
	.truth = true, .letter = 'x', .tiny = -8, .port = 60000, .shift = -300,
	.distance = -1L << 60, .colour = ETCH_MARK_GREEN, .name = "petra",
	.cut = { 'f', 'o', 'u', 'r' }, .label = "a label", .large = "large",
	.address = { 1 },
};

static noinline void etch_mark_hit_numbers(const struct etch_mark_thing *p)
{
	etch_mark("kunit_numbers", p->truth, p->letter, p->tiny, p->port, p->shift, p->distance,
		  p->colour, (u32)p->port * 2, &p->address, p->address[0], jiffies * 0 + 3,
		  ETCH_MARK_GREEN);
}

static void etch_mark_numbers(struct kunit *test)
{
	const struct etch_mark_thing *p = &etch_mark_thing;
	/* Enumerators are int, variables of the enum are unsigned. */
	const struct etch_mark_want want[] = {
		{ "p_truth", "bool", 1 }, { "p_letter", "char", 'x' }, { "p_tiny", "s8", -8 },
		{ "p_port", "u16", 60000 }, { "p_shift", "s16", -300 },
		{ "p_distance", "s64", -1L << 60 }, { "p_colour", "u32", 7 },
		{ "u32_p_port_2", "u32", 120000 },
		{ "p_address", "void *", (unsigned long)&p->address },
		{ "p_address_0", "u8", 1 }, { "jiffies_0_3", "u64", 3 },
		{ "ETCH_MARK_GREEN", "s32", 7 },
	};

	etch_mark_hit_numbers(p);
	etch_mark_expect_none(test);
	etch_mark_enable(test, "kunit_numbers", true);
	etch_mark_hit_numbers(p);
	etch_mark_expect(test, "kunit_numbers", want, ARRAY_SIZE(want));
	etch_mark_enable(test, "kunit_numbers", false);
	etch_mark_hit_numbers(p);
	etch_mark_expect_none(test);
}

static noinline void etch_mark_hit_bits(const struct etch_mark_thing *p)
{
	etch_mark("kunit_bits", p->three, p->five, p->forty, p->bit, p->minus);
}

/* The types of bit-fields are the compiler's; their values are not. */
static void etch_mark_bits(struct kunit *test)
{
	static const char * const names[] = { "p_three", "p_five", "p_forty", "p_bit", "p_minus" };
	const s64 want[] = { 5, -3, 1LL << 39, 1, -1LL << 38 };
	struct etch_mark_test *t = test->priv;
	const struct etch_event *event;
	unsigned int i;

	etch_mark_enable(test, "kunit_bits", true);
	etch_mark_hit_bits(&etch_mark_thing);
	event = etch_mark_next(t);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(want), event->class->nr_fields);
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		const struct etch_field *f = &event->class->fields[i];
		u64 number = 0;

		memcpy(&number, t->record + f->offset, f->size);
		if (f->is_signed)
			number = sign_extend64(number, f->size * 8 - 1);
		KUNIT_EXPECT_STREQ(test, names[i], f->name);
		KUNIT_EXPECT_EQ_MSG(test, want[i], (s64)number, "%s is %s", f->name, f->type);
	}
}

static noinline void etch_mark_hit_texts(const struct etch_mark_thing *p, const char *empty)
{
	etch_mark("kunit_texts", p->name, p->port, p->cut, p->label, p->nothing, p->large, empty,
		  "a,b(");
}

static void etch_mark_texts(struct kunit *test)
{
	static const char type[] = "__data_loc char[]";
	struct etch_mark_thing *thing = kunit_kmalloc(test, sizeof(*thing), GFP_KERNEL);
	struct etch_mark_want want[] = {
		{ "p_name", type, 5, "petra" }, { "p_port", "u16", 60000 },
		{ "p_cut", type, 4, "four" }, { "p_label", type, 7, "a label" },
		{ "p_nothing", type, 6, "(null)" },
		{ "p_large", type, ETCH_MARK_STRING, NULL }, { "empty", type, 0, "" },
		{ "a_b", type, 4, "a,b(" },
	};

	KUNIT_ASSERT_NOT_NULL(test, thing);
	memcpy(thing, &etch_mark_thing, sizeof(*thing));
	memset(thing->large, 'l', sizeof(thing->large));
	want[5].text = thing->large;
	etch_mark_enable(test, "kunit_texts", true);
	etch_mark_hit_texts(thing, "");
	etch_mark_expect(test, "kunit_texts", want, ARRAY_SIZE(want));
	etch_mark_hit_texts(thing, "");
	etch_mark_expect(test, "kunit_texts", want, ARRAY_SIZE(want));
}

static noinline void etch_mark_hit_nothing(void)
{
	etch_mark("kunit_nothing");
}

static void etch_mark_nothing(struct kunit *test)
{
	etch_mark_enable(test, "kunit_nothing", true);
	etch_mark_hit_nothing();
	etch_mark_expect(test, "kunit_nothing", NULL, 0);
}

static u32 etch_mark_evaluate(struct etch_mark_test *t)
{
	return ++t->evaluated;
}

/* The test of the rule that expressions have no side effects has one. */
static noinline void etch_mark_hit_evaluated(struct etch_mark_test *t)
{
	etch_mark("kunit_evaluated", etch_mark_evaluate(t));
}

static void etch_mark_evaluates_while_on(struct kunit *test)
{
	const struct etch_mark_want want = { "etch_mark_evaluate_t", "u32", 1 };
	struct etch_mark_test *t = test->priv;

	etch_mark_hit_evaluated(t);
	KUNIT_EXPECT_EQ(test, 0, t->evaluated);
	etch_mark_enable(test, "kunit_evaluated", true);
	etch_mark_hit_evaluated(t);
	KUNIT_EXPECT_EQ(test, 1, t->evaluated);
	etch_mark_expect(test, "kunit_evaluated", &want, 1);
}

/* ---- Non-maskable interrupts ---- */

static atomic_t etch_mark_hits;

static noinline void etch_mark_hit_anywhere(void)
{
	atomic_inc(&etch_mark_hits);
	etch_mark("kunit_anywhere", etch_mark_thing.port, etch_mark_thing.label);
}

/* The instance's records, by what their CPU was doing. Each has all its fields. */
static void etch_mark_count(struct kunit *test, unsigned int hits[ETCH_NMI + 1])
{
	const struct etch_mark_want want[] = {
		{ "etch_mark_thing_port", "u16", 60000 },
		{ "etch_mark_thing_label", "__data_loc char[]", 7, "a label" },
	};
	struct etch_mark_test *t = test->priv;
	const struct etch_event *event;

	while ((event = etch_mark_next(t))) {
		const struct etch_head *head = (const void *)t->record;

		etch_mark_expect_event(test, event, "kunit_anywhere", want, ARRAY_SIZE(want));
		hits[head->word >> ETCH_CONTEXT_SHIFT]++;
	}
}

/* Each hit is a record, or lost and counted. */
static void etch_mark_expect_account(struct kunit *test, unsigned int records)
{
	struct etch_mark_test *t = test->priv;
	struct etch_ring_stats stats;
	u64 written = 0, lost = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		etch_ring_stats(t->inst->rings[cpu], &stats);
		written += stats.written;
		lost += stats.lost_full + stats.lost_nested;
	}
	KUNIT_EXPECT_EQ(test, records, written);
	KUNIT_EXPECT_EQ(test, atomic_read(&etch_mark_hits), written + lost);
}

/* They hit a marker that a task hits, too, and interrupt it while a record is written. */
static void etch_mark_in_nmis(struct kunit *test)
{
	unsigned long end = jiffies + ETCH_MARK_TEST_SECONDS * HZ;
	unsigned int hits[ETCH_NMI + 1] = {}, i;

	if (!IS_ENABLED(CONFIG_ETCH_TEST_NMI))
		kunit_skip(test, "nothing here sends non-maskable interrupts");
	atomic_set(&etch_mark_hits, 0);
	etch_mark_enable(test, "kunit_anywhere", true);
	KUNIT_ASSERT_EQ(test, 0, etch_test_nmis_start(etch_mark_hit_anywhere));
	while (hits[ETCH_NMI] < ETCH_MARK_TEST_NMIS && time_before(jiffies, end)) {
		for (i = 0; i < 100; i++)
			etch_mark_hit_anywhere();
		etch_mark_count(test, hits);
		cond_resched();
	}
	etch_test_nmis_stop();
	etch_mark_count(test, hits);
	KUNIT_EXPECT_LE(test, ETCH_MARK_TEST_NMIS, hits[ETCH_NMI]);
	KUNIT_EXPECT_LT(test, 0, hits[ETCH_TASK]);
	KUNIT_EXPECT_EQ(test, 0, hits[ETCH_SOFTIRQ] + hits[ETCH_HARDIRQ]);
	etch_mark_expect_account(test, hits[ETCH_TASK] + hits[ETCH_NMI]);
}

/* ---- Names ---- */

static int a, b;
static struct etch_mark_thing p_thing;
static const struct etch_mark_thing *p = &p_thing;

static struct etch_mark_site etch_mark_names_sites[] = {
	__ETCH_MARK_SITE("kunit_names",
			 "p->port, p_thing.port, p_port, (a), a, -1, MIN(a, 2), a + b, "
			 "sizeof((a)), \"x,\"",
			 p->port, p_thing.port, p_thing.port, (a), a, -1, MIN(a, 2), a + b,
			 sizeof((a)), "x,"),
};

static void etch_mark_names(struct kunit *test)
{
	static const char * const want[] = {
		"p_port", "p_thing_port", "p_port_3", "a", "a_5", "_1", "MIN_a_2", "a_b",
		"sizeof_a", "x",
	};
	const struct etch_event *event;
	unsigned int i;

	mutex_lock(&etch_mutex);
	etch_marks_add(etch_mark_names_sites, 1);
	event = etch_mark_event(etch_mark_names_sites);
	KUNIT_EXPECT_NOT_NULL(test, event);
	for (i = 0; event && i < ARRAY_SIZE(want); i++)
		KUNIT_EXPECT_STREQ(test, want[i], event->class->fields[i].name);
	etch_marks_remove(etch_mark_names_sites, 1);
	mutex_unlock(&etch_mutex);
}

/* ---- One name twice ---- */

static struct etch_mark_site etch_mark_first_sites[] = {
	__ETCH_MARK_SITE("kunit_twice", "a, p->name", a, p->name),
	__ETCH_MARK_SITE("kunit_twice", "a, p->name", a, p->name),
};

static struct etch_mark_site etch_mark_second_sites[] = {
	__ETCH_MARK_SITE("kunit_twice", "a, p->name", a, p->name),
	__ETCH_MARK_SITE("kunit_twice", "b, p->name", b, p->name),	/* another name */
	__ETCH_MARK_SITE("kunit_twice", "a, p->name", (u8)a, p->name),	/* another type */
	__ETCH_MARK_SITE("kunit_twice", "a", a),
	__ETCH_MARK_SITE("no/name", "a", a),
	__ETCH_MARK_SITE("", "a", a),
};

static void etch_mark_change(struct etch_mark_site *sites, unsigned int nr, bool come)
{
	mutex_lock(&etch_mutex);
	if (come)
		etch_marks_add(sites, nr);
	else
		etch_marks_remove(sites, nr);
	mutex_unlock(&etch_mutex);
}

static bool etch_mark_is_open(const struct etch_mark_site *site)
{
	return atomic_read(&site->gate.enabled) > 0;
}

static void etch_mark_expect_twice(struct kunit *test, const struct etch_mark_site *site)
{
	const u64 values[] = { 1234, (unsigned long)"petra" };
	const struct etch_mark_want want[] = {
		{ "a", "s32", 1234 }, { "p_name", "__data_loc char[]", 5, "petra" },
	};

	KUNIT_ASSERT_TRUE(test, etch_mark_is_open(site));
	etch_mark_hit(site, values);
	etch_mark_expect(test, "kunit_twice", want, ARRAY_SIZE(want));
}

/* Of one layout: one event, whose gates open and close together, while sites come and go. */
static void etch_mark_twice(struct kunit *test)
{
	struct etch_mark_site *first = etch_mark_first_sites, *second = etch_mark_second_sites;
	struct etch_mark_test *t = test->priv;
	unsigned int id;

	etch_mark_change(first, 2, true);
	id = etch_mark_event(first)->id;
	etch_mark_enable(test, "kunit_twice", true);
	etch_mark_change(second, 1, true);
	KUNIT_EXPECT_PTR_EQ(test, etch_mark_event(first), etch_mark_event(second));
	etch_mark_expect_twice(test, &first[0]);
	etch_mark_expect_twice(test, &first[1]);
	etch_mark_expect_twice(test, &second[0]);
	KUNIT_EXPECT_NOT_NULL(test, strstr(etch_mark_event(first)->class->print_fmt, "mark_kunit"));

	/* The first ones go, and the event stays. */
	etch_mark_change(first, 2, false);
	KUNIT_EXPECT_FALSE(test, etch_mark_is_open(&first[0]));
	etch_mark_expect_twice(test, &second[0]);
	etch_mark_enable(test, "kunit_twice", false);
	KUNIT_EXPECT_FALSE(test, etch_mark_is_open(&second[0]));

	/* The last one goes while it is enabled. The next one of that name has its id. */
	etch_mark_enable(test, "kunit_twice", true);
	etch_mark_change(second, 1, false);
	KUNIT_EXPECT_FALSE(test, etch_mark_is_open(&second[0]));
	mutex_lock(&etch_mutex);
	KUNIT_EXPECT_EQ(test, -ENOENT, etch_events_set(&t->inst->rec, "kunit_twice", true));
	mutex_unlock(&etch_mutex);
	etch_mark_change(first, 1, true);
	KUNIT_EXPECT_EQ(test, id, etch_mark_event(first)->id);
	KUNIT_EXPECT_FALSE(test, etch_mark_is_open(&first[0]));
	etch_mark_change(first, 1, false);
}

/* Of another layout, or without a name: refused. */
static void etch_mark_refused(struct kunit *test)
{
	struct etch_mark_site *second = etch_mark_second_sites;
	unsigned int i;

	etch_mark_change(second, ARRAY_SIZE(etch_mark_second_sites), true);
	etch_mark_enable(test, "kunit_twice", true);
	etch_mark_expect_twice(test, &second[0]);
	for (i = 1; i < ARRAY_SIZE(etch_mark_second_sites); i++) {
		KUNIT_EXPECT_NULL_MSG(test, etch_mark_event(&second[i]), "%u", i);
		KUNIT_EXPECT_FALSE(test, etch_mark_is_open(&second[i]));
	}
	etch_mark_change(second, ARRAY_SIZE(etch_mark_second_sites), false);
}

static struct kunit_case etch_mark_cases[] = {
	KUNIT_CASE(etch_mark_numbers),
	KUNIT_CASE(etch_mark_bits),
	KUNIT_CASE(etch_mark_texts),
	KUNIT_CASE(etch_mark_nothing),
	KUNIT_CASE(etch_mark_evaluates_while_on),
	KUNIT_CASE(etch_mark_in_nmis),
	KUNIT_CASE(etch_mark_names),
	KUNIT_CASE(etch_mark_twice),
	KUNIT_CASE(etch_mark_refused),
	{}
};

static struct kunit_suite etch_mark_suite = {
	.name = "etch_mark",
	.init = etch_mark_init,
	.exit = etch_mark_exit,
	.test_cases = etch_mark_cases,
};

kunit_test_suite(etch_mark_suite);
