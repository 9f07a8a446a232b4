// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of records that go by way of scratch memory: writers that nest, records that are large,
 * and writers that die. Each hit is written, filtered or lost, once.
 *
 * Two instances want an event of our own; the first has a filter, which odd numbers pass.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/container_of.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "event/ended.h"
#include "event/rules.h"
#include "instance/instance_internal.h"

/* Larger than scratch memory, and smaller than a sub-buffer of these instances. */
#define ETCH_SCRATCH_TOO_BIG	40000
#define ETCH_SCRATCH_SUBBUF	SZ_64K

struct etch_scratch_record {
	struct etch_head head;
	u32 number;
	u8 rest[];
} __packed __aligned(4);

struct etch_scratch_test {
	struct etch_event event;
	u64 open;
	struct etch_instance *inst[2];
	struct etch_ring_stats before[2];
	u64 filtered[2];
	struct etch_write writes[ETCH_RING_MAX_NEST];
};

static struct etch_field etch_scratch_fields[] = {
	{
		.type = "u32", .name = "number", .kind = ETCH_FIELD_FIXED,
		.size = 4, .elem_size = 4, .align = 4,
	},
};

static struct etch_class etch_scratch_class = {
	.system = "etch_scratch_test",
	.fields = etch_scratch_fields,
	.nr_fields = ARRAY_SIZE(etch_scratch_fields),
	.size = sizeof(struct etch_scratch_record),
	.print_fmt = "",
};

static int etch_scratch_gate(struct etch_event *event, u64 mask)
{
	container_of(event, struct etch_scratch_test, event)->open = mask;
	return 0;
}

/* ---- The event and the instances ---- */

/* number & 1 */
static struct etch_program *etch_scratch_filter(void)
{
	struct etch_program *program = kzalloc(struct_size(program, tests, 1), GFP_KERNEL);

	if (!program)
		return NULL;
	program->nr = 1;
	program->plain = true;
	program->tests[0] = (struct etch_test_of) {
		.plain = true, .of = ETCH_OF_FIELD, .how = ETCH_IN_RANGE, .size = sizeof(u32),
		.offset = offsetof(struct etch_scratch_record, number),
		.yes = ETCH_PASS, .no = ETCH_FAIL,
		.and = 1, .low = 1, .field = U32_MAX, .span = 0,
	};
	return program;
}

static int etch_scratch_set_up(struct etch_scratch_test *t)
{
	static const char * const names[] = { "kunit_scratch_0", "kunit_scratch_1" };
	struct etch_program *program;
	int i, ret;

	t->event.name = "etch_scratch_event";
	t->event.class = &etch_scratch_class;
	t->event.gate = etch_scratch_gate;
	t->event.hidden = true;
	ret = etch_event_register(&t->event);
	for (i = 0; i < ARRAY_SIZE(t->inst) && !ret; i++) {
		struct etch_instance *inst = etch_instance_create(names[i], 4 * ETCH_SCRATCH_SUBBUF,
								  ETCH_SCRATCH_SUBBUF);

		if (IS_ERR(inst))
			return PTR_ERR(inst);
		t->inst[i] = inst;
		ret = etch_event_enable(&inst->rec, &t->event, true);
	}
	ret = ret ?: etch_rules_prepare(&t->inst[0]->rec, &t->event, false);
	ret = ret ?: etch_rules_flush();
	if (ret)
		return ret;
	program = etch_scratch_filter();
	if (!program)
		return -ENOMEM;
	etch_filter_set(&t->inst[0]->rec, &t->event, program);
	return 0;
}

static int etch_scratch_init(struct kunit *test)
{
	struct etch_scratch_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int ret;

	if (!t)
		return -ENOMEM;
	test->priv = t;
	mutex_lock(&etch_mutex);
	ret = etch_scratch_set_up(t);
	mutex_unlock(&etch_mutex);
	return ret;
}

static void etch_scratch_exit(struct kunit *test)
{
	struct etch_scratch_test *t = test->priv;
	int i;

	if (!t)
		return;
	mutex_lock(&etch_mutex);
	if (t->event.id)
		etch_event_unregister(&t->event);
	for (i = 0; i < ARRAY_SIZE(t->inst); i++)
		if (t->inst[i])
			WARN_ON(etch_instance_destroy(t->inst[i]));
	mutex_unlock(&etch_mutex);
}

/* ---- Accounts ---- */

static struct etch_ring *etch_scratch_ring(struct etch_scratch_test *t, int i)
{
	return t->inst[i]->rings[smp_processor_id()];
}

/* What the instance's files show counts from when it was emptied: that takes a mutex. */
static u64 etch_scratch_filtered(struct etch_scratch_test *t, int i)
{
	return local_read(&this_cpu_ptr(&etch_filtered)->by_bit[t->inst[i]->rec.bit]);
}

/* From here to the check, preemption is disabled: all happens on one CPU. */
static void etch_scratch_account(struct etch_scratch_test *t)
{
	int i;

	preempt_disable();
	for (i = 0; i < ARRAY_SIZE(t->inst); i++) {
		etch_ring_stats(etch_scratch_ring(t, i), &t->before[i]);
		t->filtered[i] = etch_scratch_filtered(t, i);
	}
}

/* What an instance should count. */
struct etch_scratch_counts {
	u64 written, filtered, nested, too_big;
};

static void etch_scratch_check(struct kunit *test, const struct etch_scratch_counts counts[2])
{
	struct etch_scratch_test *t = test->priv;
	struct etch_ring_stats now[2];
	u64 filtered[2];
	int i;

	for (i = 0; i < ARRAY_SIZE(t->inst); i++) {
		etch_ring_stats(etch_scratch_ring(t, i), &now[i]);
		filtered[i] = etch_scratch_filtered(t, i);
	}
	preempt_enable();
	for (i = 0; i < ARRAY_SIZE(t->inst); i++) {
		KUNIT_EXPECT_EQ(test, counts[i].written, now[i].written - t->before[i].written);
		KUNIT_EXPECT_EQ(test, counts[i].filtered, filtered[i] - t->filtered[i]);
		KUNIT_EXPECT_EQ(test, counts[i].nested,
				now[i].lost_nested - t->before[i].lost_nested);
		KUNIT_EXPECT_EQ(test, counts[i].too_big,
				now[i].lost_too_big - t->before[i].lost_too_big);
	}
}

/* ---- Writers ---- */

/* Begins a record of @len bytes with @number in all of them. False: there is none. */
static bool etch_scratch_start(struct etch_scratch_test *t, struct etch_write *w, size_t len,
			       u8 number)
{
	struct etch_scratch_record *r;

	*w = etch_write_begin_mask(len, &t->event, t->open);
	r = w->record;
	if (!r)
		return false;
	r->number = number;
	memset(r->rest, number, len - sizeof(*r));
	return true;
}

/* Ends it. False: somebody has written to it meanwhile. */
static bool etch_scratch_finish(const struct etch_write *w, size_t len, u8 number)
{
	const struct etch_scratch_record *r = w->record;
	bool good = r->number == number && !memchr_inv(r->rest, number, len - sizeof(*r));

	etch_write_end(w->ring);
	return good;
}

static bool etch_scratch_write_one(struct etch_scratch_test *t, size_t len, u8 number)
{
	struct etch_write w;

	return etch_scratch_start(t, &w, len, number) && etch_scratch_finish(&w, len, number);
}

/* ---- Tests ---- */

/* As deep as writers nest, and one deeper. */
static void etch_scratch_nests(struct kunit *test)
{
	static const struct etch_scratch_counts counts[2] = {
		{ .written = ETCH_RING_MAX_NEST / 2 + 1, .filtered = ETCH_RING_MAX_NEST / 2,
		  .nested = 1 },
		{ .written = ETCH_RING_MAX_NEST + 1, .nested = 1 },
	};
	struct etch_scratch_test *t = test->priv;
	bool good = true, ninth;
	struct etch_write w;
	int i;

	etch_scratch_account(t);
	for (i = 0; i < ETCH_RING_MAX_NEST; i++)
		good &= etch_scratch_start(t, &t->writes[i], 100 + i, i);
	ninth = good && etch_scratch_start(t, &w, 100, 9);
	for (i = ETCH_RING_MAX_NEST; good && i--;)
		good &= etch_scratch_finish(&t->writes[i], 100 + i, i);
	good &= etch_scratch_write_one(t, 100, 11);
	etch_scratch_check(test, counts);
	KUNIT_EXPECT_TRUE(test, good);
	KUNIT_EXPECT_FALSE(test, ninth);
}

/* Nested ones for which there is no memory left, though each would have room alone. */
static void etch_scratch_is_full(struct kunit *test)
{
	static const struct etch_scratch_counts counts[2] = {
		{ .written = 2, .filtered = 1, .nested = 1 },
		{ .written = 3, .nested = 1 },
	};
	struct etch_scratch_test *t = test->priv;
	bool good = true, third = true;
	struct etch_write w;

	etch_scratch_account(t);
	good &= etch_scratch_start(t, &t->writes[0], 15000, 1);
	good &= etch_scratch_start(t, &t->writes[1], 15000, 2);
	third = etch_scratch_start(t, &w, 15000, 3);
	good &= etch_scratch_finish(&t->writes[1], 15000, 2);
	good &= etch_scratch_finish(&t->writes[0], 15000, 1);
	good &= etch_scratch_write_one(t, 15000, 5);
	etch_scratch_check(test, counts);
	KUNIT_EXPECT_TRUE(test, good);
	KUNIT_EXPECT_FALSE(test, third);
}

/* As much as scratch memory holds, and of sub-buffers the usual size. */
static void etch_scratch_holds_large(struct kunit *test)
{
	static const struct etch_scratch_counts counts[2] = {
		{ .written = 2, .filtered = 1 },
		{ .written = 3 },
	};
	struct etch_scratch_test *t = test->priv;
	bool good = true;

	etch_scratch_account(t);
	good &= etch_scratch_write_one(t, ETCH_RING_SUBBUF - ETCH_PACKET_HEADER, 1);
	good &= etch_scratch_write_one(t, ETCH_RING_SUBBUF - ETCH_PACKET_HEADER, 2);
	good &= etch_scratch_write_one(t, SZ_32K, 3);
	etch_scratch_check(test, counts);
	KUNIT_EXPECT_TRUE(test, good);
}

static void etch_scratch_refuses_larger(struct kunit *test)
{
	static const struct etch_scratch_counts counts[2] = {
		{ .written = 1, .too_big = 2 },
		{ .written = 1, .too_big = 2 },
	};
	struct etch_scratch_test *t = test->priv;
	bool good, big;

	etch_scratch_account(t);
	big = etch_scratch_write_one(t, ETCH_SCRATCH_TOO_BIG, 1);
	big |= etch_scratch_write_one(t, SZ_32K + 4, 2);
	good = etch_scratch_write_one(t, 100, 3);
	etch_scratch_check(test, counts);
	KUNIT_EXPECT_TRUE(test, good);
	KUNIT_EXPECT_FALSE(test, big);
}

/* The task is dead, with three records begun: of an odd number, an even one, and an odd one. */
static void etch_scratch_is_abandoned(struct kunit *test)
{
	static const struct etch_scratch_counts counts[2] = {
		{ .written = 1, .filtered = 1, .nested = 3 },
		{ .written = 2, .nested = 3 },
	};
	struct etch_scratch_test *t = test->priv;
	unsigned int begun;
	bool good = true;
	int i;

	etch_scratch_account(t);
	local_irq_disable();
	for (i = 0; i < 3; i++)
		good &= etch_scratch_start(t, &t->writes[i], 100, i + 1);
	begun = etch_write_abandon();
	local_irq_enable();
	good &= etch_scratch_write_one(t, 100, 5);
	good &= etch_scratch_write_one(t, 100, 6);
	etch_scratch_check(test, counts);
	KUNIT_EXPECT_TRUE(test, good);
	/* In rings: none of these had come there. */
	KUNIT_EXPECT_EQ(test, 0, begun);
}

/* The usual case, which has a way of its own: one instance, and no writer is interrupted. */
static void etch_scratch_is_for_one(struct kunit *test)
{
	static const struct etch_scratch_counts counts[2] = {
		{ .written = 4, .filtered = 3, .nested = 1, .too_big = 1 },
	};
	struct etch_scratch_test *t = test->priv;
	bool good = true, big;
	int i;

	mutex_lock(&etch_mutex);
	KUNIT_EXPECT_EQ(test, 0, etch_event_enable(&t->inst[1]->rec, &t->event, false));
	mutex_unlock(&etch_mutex);
	etch_scratch_account(t);
	for (i = 0; i < 5; i++)
		good &= etch_scratch_write_one(t, 100, i);
	good &= etch_scratch_start(t, &t->writes[0], SZ_16K, 5);
	good &= etch_scratch_write_one(t, SZ_16K, 7);
	good &= etch_scratch_finish(&t->writes[0], SZ_16K, 5);
	big = etch_scratch_write_one(t, ETCH_SCRATCH_TOO_BIG, 1);
	local_irq_disable();
	good &= etch_scratch_start(t, &t->writes[0], 100, 1);
	etch_write_abandon();
	local_irq_enable();
	etch_scratch_check(test, counts);
	KUNIT_EXPECT_TRUE(test, good);
	KUNIT_EXPECT_FALSE(test, big);
}

/* ---- What hits have ended ---- */

/**
 * struct etch_scratch_look - triggers of the first instance, and what they saw
 * @end: odd numbers end a latency, of ten times the number
 * @look: looks at it; the number 5 is interrupted by 2, by 3, and looks again
 * @t: the test
 * @seen: the latencies; 0: there was none
 * @nr: how many
 */
struct etch_scratch_look {
	struct etch_trigger end;
	struct etch_trigger look;
	struct etch_scratch_test *t;
	u64 seen[8];
	unsigned int nr;
};

static u32 etch_scratch_number(const struct etch_hit *hit)
{
	return ((const struct etch_scratch_record *)hit->record)->number;
}

static void etch_scratch_end_hit(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	if (etch_scratch_number(hit) & 1)
		etch_ended_set(trigger->bit, 10 * etch_scratch_number(hit), false);
}

static void etch_scratch_see(struct etch_scratch_look *look)
{
	u64 ns = 0;

	if (look->nr == ARRAY_SIZE(look->seen))
		return;
	/* That of the other instance is not there. */
	if (etch_ended_latency(look->t->inst[1]->rec.bit, &ns) ||
	    !etch_ended_latency(look->look.bit, &ns))
		ns = 0;
	look->seen[look->nr++] = ns;
}

static void etch_scratch_look_hit(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	struct etch_scratch_look *look = container_of(trigger, struct etch_scratch_look, look);

	etch_scratch_see(look);
	if (etch_scratch_number(hit) != 5)
		return;
	etch_scratch_write_one(look->t, 100, 2);
	etch_scratch_write_one(look->t, 100, 3);
	etch_scratch_see(look);
}

static int etch_scratch_look_on(struct etch_scratch_look *look)
{
	struct etch_recorder *rec = &look->t->inst[0]->rec;
	int ret;

	look->look.hit = etch_scratch_look_hit;
	look->look.bit = rec->bit;
	look->end.hit = etch_scratch_end_hit;
	look->end.bit = rec->bit;
	look->end.early = true;
	look->end.ends = true;
	mutex_lock(&etch_mutex);
	ret = etch_rules_prepare(rec, &look->t->event, true) ?: etch_rules_flush();
	/* The one that looks is written first. */
	if (!ret) {
		etch_trigger_add(&look->t->event, &look->look);
		etch_trigger_add(&look->t->event, &look->end);
	}
	mutex_unlock(&etch_mutex);
	return ret;
}

static void etch_scratch_look_off(struct etch_scratch_look *look)
{
	mutex_lock(&etch_mutex);
	etch_trigger_remove(&look->look);
	etch_trigger_remove(&look->end);
	etch_rules_forget(&look->t->inst[0]->rec, &look->t->event);
	etch_rules_flush();
	mutex_unlock(&etch_mutex);
	synchronize_rcu();
}

/* Each hit has its own latency, also while others interrupt it. */
static void etch_scratch_latencies_nest(struct kunit *test)
{
	static const u64 seen[] = { 10, 50, 0, 30, 50, 0 };
	static struct etch_scratch_look look;
	unsigned int i;

	look = (struct etch_scratch_look) { .t = test->priv };
	KUNIT_ASSERT_EQ(test, 0, etch_scratch_look_on(&look));
	preempt_disable();
	etch_scratch_write_one(look.t, 100, 1);
	etch_scratch_write_one(look.t, 100, 5);
	etch_scratch_write_one(look.t, 100, 4);
	preempt_enable();
	etch_scratch_look_off(&look);
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(seen), look.nr);
	for (i = 0; i < look.nr; i++)
		KUNIT_EXPECT_EQ(test, seen[i], look.seen[i]);
}

/* ---- The order of triggers ---- */

struct etch_scratch_turn {
	struct etch_trigger trigger;
	char *seen;
	char name;
};

static void etch_scratch_turn_hit(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	struct etch_scratch_turn *turn = container_of(trigger, struct etch_scratch_turn, trigger);

	turn->seen[strlen(turn->seen)] = turn->name;
}

/* Those that find latencies come first, then the early ones; else the first that was added. */
static void etch_scratch_triggers_take_turns(struct kunit *test)
{
	static char seen[16];
	static struct etch_scratch_turn turns[] = {
		{ .name = 'a' },
		{ .name = 'b', .trigger.early = true },
		{ .name = 'c' },
		{ .name = 'd', .trigger.early = true, .trigger.ends = true },
		{ .name = 'e', .trigger.early = true },
	};
	struct etch_scratch_test *t = test->priv;
	struct etch_recorder *rec = &t->inst[0]->rec;
	unsigned int i;

	memset(seen, 0, sizeof(seen));
	mutex_lock(&etch_mutex);
	KUNIT_EXPECT_EQ(test, 0, etch_rules_prepare(rec, &t->event, true) ?: etch_rules_flush());
	for (i = 0; i < ARRAY_SIZE(turns); i++) {
		turns[i].trigger.hit = etch_scratch_turn_hit;
		turns[i].trigger.bit = rec->bit;
		turns[i].seen = seen;
		etch_trigger_add(&t->event, &turns[i].trigger);
	}
	mutex_unlock(&etch_mutex);
	preempt_disable();
	etch_scratch_write_one(t, 100, 1);
	preempt_enable();
	mutex_lock(&etch_mutex);
	for (i = 0; i < ARRAY_SIZE(turns); i++)
		etch_trigger_remove(&turns[i].trigger);
	etch_rules_forget(rec, &t->event);
	etch_rules_flush();
	mutex_unlock(&etch_mutex);
	synchronize_rcu();
	KUNIT_EXPECT_STREQ(test, "dbeac", seen);
}

/* ---- Hits that do not reach a trigger ---- */

struct etch_scratch_counter {
	struct etch_trigger trigger;
	unsigned int calls;
};

static void etch_scratch_count_hit(struct etch_trigger *trigger, const struct etch_hit *hit)
{
	container_of(trigger, struct etch_scratch_counter, trigger)->calls++;
}

static void etch_scratch_expect_calls(struct kunit *test, const struct etch_scratch_counter *c,
				      unsigned int calls, long missed)
{
	KUNIT_EXPECT_EQ(test, calls, c->calls);
	KUNIT_EXPECT_EQ(test, missed, atomic_long_read(&c->trigger.missed));
}

static void etch_scratch_add_trigger(struct kunit *test, struct etch_scratch_counter *c, int i)
{
	struct etch_scratch_test *t = test->priv;
	struct etch_recorder *rec = &t->inst[i]->rec;

	memset(c, 0, sizeof(*c));
	c->trigger.hit = etch_scratch_count_hit;
	c->trigger.bit = rec->bit;
	mutex_lock(&etch_mutex);
	KUNIT_EXPECT_EQ(test, 0, etch_rules_prepare(rec, &t->event, true) ?: etch_rules_flush());
	etch_trigger_add(&t->event, &c->trigger);
	mutex_unlock(&etch_mutex);
}

static void etch_scratch_remove_trigger(struct kunit *test, struct etch_scratch_counter *c, int i)
{
	struct etch_scratch_test *t = test->priv;

	mutex_lock(&etch_mutex);
	etch_trigger_remove(&c->trigger);
	etch_rules_forget(&t->inst[i]->rec, &t->event);
	etch_rules_flush();
	mutex_unlock(&etch_mutex);
	synchronize_rcu();
}

/* All levels, and two more hits within the innermost. */
static bool etch_scratch_nest_too_deep(struct etch_scratch_test *t)
{
	bool good = true;
	int i;

	for (i = 0; i < ETCH_RING_MAX_NEST; i++)
		good &= etch_scratch_start(t, &t->writes[i], 100, i);
	good &= !etch_scratch_write_one(t, 100, 9);
	good &= !etch_scratch_write_one(t, 100, 10);
	for (i = ETCH_RING_MAX_NEST; i--;)
		good &= etch_scratch_finish(&t->writes[i], 100, i);
	return good;
}

static void etch_scratch_triggers_miss_hits(struct kunit *test)
{
	static struct etch_scratch_counter counters[2];
	struct etch_scratch_test *t = test->priv;
	bool good;
	int i;

	for (i = 0; i < 2; i++)
		etch_scratch_add_trigger(test, &counters[i], i);
	preempt_disable();
	good = etch_scratch_nest_too_deep(t);
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, good);
	for (i = 0; i < 2; i++)
		etch_scratch_expect_calls(test, &counters[i], ETCH_RING_MAX_NEST, 2);

	/* One that is too long, and two of a task that dies. */
	preempt_disable();
	local_irq_disable();
	good = !etch_scratch_start(t, &t->writes[0], ETCH_SCRATCH_TOO_BIG, 1) &&
	       etch_scratch_start(t, &t->writes[0], 100, 1) &&
	       etch_scratch_start(t, &t->writes[1], 100, 2);
	etch_write_abandon();
	local_irq_enable();
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, good);
	for (i = 0; i < 2; i++)
		etch_scratch_expect_calls(test, &counters[i], ETCH_RING_MAX_NEST, 5);
	for (i = 0; i < 2; i++)
		etch_scratch_remove_trigger(test, &counters[i], i);
}

/* The same with a trigger that is alone: its hits take a way of their own. */
static void etch_scratch_lone_trigger_misses_hits(struct kunit *test)
{
	static struct etch_scratch_counter counter;
	struct etch_scratch_test *t = test->priv;
	bool good;
	int i;

	etch_scratch_add_trigger(test, &counter, 0);
	mutex_lock(&etch_mutex);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, 0, etch_event_enable(&t->inst[i]->rec, &t->event, false));
	mutex_unlock(&etch_mutex);
	preempt_disable();
	good = etch_scratch_nest_too_deep(t);
	local_irq_disable();
	good &= etch_scratch_start(t, &t->writes[0], 100, 1);
	etch_write_abandon();
	local_irq_enable();
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, good);
	etch_scratch_expect_calls(test, &counter, ETCH_RING_MAX_NEST, 3);
	etch_scratch_remove_trigger(test, &counter, 0);
}

static struct kunit_case etch_scratch_cases[] = {
	KUNIT_CASE(etch_scratch_nests),
	KUNIT_CASE(etch_scratch_is_full),
	KUNIT_CASE(etch_scratch_holds_large),
	KUNIT_CASE(etch_scratch_refuses_larger),
	KUNIT_CASE(etch_scratch_is_abandoned),
	KUNIT_CASE(etch_scratch_is_for_one),
	KUNIT_CASE(etch_scratch_latencies_nest),
	KUNIT_CASE(etch_scratch_triggers_take_turns),
	KUNIT_CASE(etch_scratch_triggers_miss_hits),
	KUNIT_CASE(etch_scratch_lone_trigger_misses_hits),
	{}
};

static struct kunit_suite etch_scratch_suite = {
	.name = "etch_scratch",
	.init = etch_scratch_init,
	.exit = etch_scratch_exit,
	.test_cases = etch_scratch_cases,
};

kunit_test_suite(etch_scratch_suite);
