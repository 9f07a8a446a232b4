// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of gates and of writing: gates that open, close and refuse to, the copies of a
 * record for further instances that enabled the event, and the context that a record is
 * said to be from.
 *
 * Events of our own are registered, hidden, so that no file shows them, with gates that
 * remember what they were asked for. Instances of our own want them, which have rings
 * but no files.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "instance/instance_internal.h"

/*
 * A tracepoint as a tracer outside of the kernel's tree may define it: with the verbs of
 * event headers gone, which it has used for other things. Declaring one still needs them.
 */
DECLARE_TRACE_EVENT(etch_gate_outside, TP_PROTO(int a, int b), TP_ARGS(a, b));
#undef TP_PROTO
#undef TP_ARGS
#undef TP_CONDITION
DEFINE_TRACE(etch_gate_outside, PARAMS(int a, int b), PARAMS(a, b));

#define ETCH_GATE_EVENTS	3
#define ETCH_GATE_INSTANCES	3
#define ETCH_GATE_CALLS		8

/* ---- Events ---- */

/**
 * struct etch_gate_event - an event, and the state of its gate
 * @event: its gate is etch_gate_set()
 * @refuse: what the gate returns instead of obeying; 0: it obeys
 * @open: whom it is open for
 * @asked: whom it was to be opened for, call by call
 * @calls: how many there were
 */
struct etch_gate_event {
	struct etch_event event;
	int refuse;
	u64 open;
	u64 asked[ETCH_GATE_CALLS];
	unsigned int calls;
};

struct etch_gate_record {
	struct etch_head head;
	u32 number;
} __packed __aligned(4);

static struct etch_field etch_gate_fields[] = {
	{
		.type = "u32", .name = "number", .kind = ETCH_FIELD_FIXED,
		.size = 4, .elem_size = 4, .align = 4,
	},
};

static void etch_gate_print(struct etch_text *text, const void *record)
{
	const struct etch_gate_record *r = record;

	etch_text_printf(text, "number=%u\n", r->number);
}

static struct etch_class etch_gate_class = {
	.system = "etch_gate_test",
	.fields = etch_gate_fields,
	.nr_fields = ARRAY_SIZE(etch_gate_fields),
	.size = sizeof(struct etch_gate_record),
	.print_fmt = "",
	.print = etch_gate_print,
};

static const char * const etch_gate_names[ETCH_GATE_EVENTS] = {
	"etch_gate_0", "etch_gate_1", "etch_gate_2",
};

static int etch_gate_set(struct etch_event *event, u64 mask)
{
	struct etch_gate_event *e = container_of(event, struct etch_gate_event, event);

	if (e->calls < ETCH_GATE_CALLS)
		e->asked[e->calls] = mask;
	e->calls++;
	if (e->refuse)
		return e->refuse;
	e->open = mask;
	return 0;
}

/* ---- Instances ---- */

struct etch_gate_test {
	struct etch_gate_event events[ETCH_GATE_EVENTS];
	struct etch_instance *inst[ETCH_GATE_INSTANCES];
	u64 bits[ETCH_GATE_INSTANCES];
	bool names;		/* were wanted before the test, by others */
};

/* Under etch_mutex. In the order of their bits. */
static int etch_gate_make(struct etch_gate_test *t)
{
	static const char * const names[ETCH_GATE_INSTANCES] = {
		"kunit_gate_0", "kunit_gate_1", "kunit_gate_2",
	};
	int i, ret;

	for (i = 0; i < ETCH_GATE_INSTANCES; i++) {
		struct etch_instance *inst;

		inst = etch_instance_create(names[i], 2 * PAGE_SIZE, PAGE_SIZE);
		if (IS_ERR(inst))
			return PTR_ERR(inst);
		t->inst[i] = inst;
		t->bits[i] = 1ULL << inst->rec.bit;
	}
	for (i = 0; i < ETCH_GATE_EVENTS; i++) {
		struct etch_event *event = &t->events[i].event;

		event->name = etch_gate_names[i];
		event->class = &etch_gate_class;
		event->gate = etch_gate_set;
		event->hidden = true;
		ret = etch_event_register(event);
		if (ret)
			return ret;
	}
	return 0;
}

static int etch_gate_init(struct kunit *test)
{
	struct etch_gate_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int ret;

	if (!t)
		return -ENOMEM;
	test->priv = t;
	t->names = trace_sched_process_exit_enabled();
	mutex_lock(&etch_mutex);
	ret = etch_gate_make(t);
	mutex_unlock(&etch_mutex);
	return ret;
}

static void etch_gate_exit(struct kunit *test)
{
	struct etch_gate_test *t = test->priv;
	int i;

	if (!t)
		return;
	mutex_lock(&etch_mutex);
	for (i = 0; i < ETCH_GATE_EVENTS; i++) {
		t->events[i].refuse = 0;
		if (t->events[i].event.id)
			etch_event_unregister(&t->events[i].event);
	}
	for (i = 0; i < ETCH_GATE_INSTANCES; i++)
		if (t->inst[i])
			WARN_ON(etch_instance_destroy(t->inst[i]));
	mutex_unlock(&etch_mutex);
}

static int etch_gate_enable(struct etch_gate_test *t, int inst, int event, bool on)
{
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_event_enable(&t->inst[inst]->rec, &t->events[event].event, on);
	mutex_unlock(&etch_mutex);
	return ret;
}

/* As etch_instance_set_on() does it, but with the rings left alone. */
static int etch_gate_set_on(struct etch_gate_test *t, int inst, bool on)
{
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_gates_set_on(&t->inst[inst]->rec, on);
	mutex_unlock(&etch_mutex);
	return ret;
}

static int etch_gate_turn(struct etch_gate_test *t, int inst, bool on)
{
	int ret;

	mutex_lock(&etch_mutex);
	ret = etch_instance_set_on(t->inst[inst], on);
	mutex_unlock(&etch_mutex);
	return ret;
}

/* The gate was asked @calls times in all, and for @mask in the end. */
static void etch_gate_expect_asked(struct kunit *test, const struct etch_gate_event *e,
				   unsigned int calls, u64 mask)
{
	KUNIT_ASSERT_EQ(test, calls, e->calls);
	KUNIT_ASSERT_LE(test, calls, ETCH_GATE_CALLS);
	if (calls)
		KUNIT_EXPECT_EQ(test, mask, e->asked[calls - 1]);
}

/* Enabled for @mask, and open for @open of them. */
static void etch_gate_expect(struct kunit *test, const struct etch_gate_event *e,
			     u64 mask, u64 open)
{
	struct etch_gate_test *t = test->priv;
	int i;

	KUNIT_EXPECT_EQ(test, mask, e->event.mask);
	KUNIT_EXPECT_EQ(test, open, e->open);
	for (i = 0; i < ETCH_GATE_INSTANCES; i++)
		KUNIT_EXPECT_EQ(test, !!(mask & t->bits[i]),
				etch_event_enabled(&t->inst[i]->rec, &e->event));
}

/* Are the names of tasks wanted, because of @wanted or because others did before? */
static void etch_gate_expect_names(struct kunit *test, bool wanted)
{
	struct etch_gate_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, wanted || t->names, trace_sched_process_exit_enabled());
}

/* ---- Gates ---- */

static void etch_gate_opens(struct kunit *test)
{
	struct etch_gate_test *t = test->priv;
	struct etch_gate_event *e = &t->events[0];
	u64 a = t->bits[0], b = t->bits[1];

	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, true));
	etch_gate_expect_asked(test, e, 1, a);
	etch_gate_expect(test, e, a, a);
	etch_gate_expect_names(test, true);
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 1, 0, true));
	etch_gate_expect_asked(test, e, 2, a | b);
	etch_gate_expect(test, e, a | b, a | b);

	/* A change that changes nothing does not call the gate. */
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 1, 0, true));
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 2, 0, false));
	etch_gate_expect_asked(test, e, 2, a | b);

	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, false));
	etch_gate_expect_asked(test, e, 3, b);
	etch_gate_expect(test, e, b, b);
	etch_gate_expect_names(test, true);
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 1, 0, false));
	etch_gate_expect_asked(test, e, 4, 0);
	etch_gate_expect(test, e, 0, 0);
	etch_gate_expect_names(test, false);
	etch_gate_expect_asked(test, &t->events[1], 0, 0);
}

static void etch_gate_refuses_to_open(struct kunit *test)
{
	struct etch_gate_test *t = test->priv;
	struct etch_gate_event *e = &t->events[0];
	u64 a = t->bits[0], b = t->bits[1];

	/* For the first one who wants it. */
	e->refuse = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, etch_gate_enable(t, 0, 0, true));
	etch_gate_expect_asked(test, e, 1, a);
	etch_gate_expect(test, e, 0, 0);
	etch_gate_expect_names(test, false);

	e->refuse = 0;
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, true));
	etch_gate_expect(test, e, a, a);

	/* For another one: the first keeps it. */
	e->refuse = -ENOMEM;
	KUNIT_EXPECT_EQ(test, -ENOMEM, etch_gate_enable(t, 1, 0, true));
	etch_gate_expect_asked(test, e, 3, a | b);
	etch_gate_expect(test, e, a, a);
	etch_gate_expect_names(test, true);

	e->refuse = 0;
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, false));
	etch_gate_expect(test, e, 0, 0);
	etch_gate_expect_names(test, false);
}

static void etch_gate_refuses_to_close(struct kunit *test)
{
	struct etch_gate_test *t = test->priv;
	struct etch_gate_event *e = &t->events[0];
	u64 a = t->bits[0];

	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, true));
	e->refuse = -EINTR;
	KUNIT_EXPECT_EQ(test, -EINTR, etch_gate_enable(t, 0, 0, false));
	etch_gate_expect_asked(test, e, 2, 0);
	etch_gate_expect(test, e, a, a);
	etch_gate_expect_names(test, true);

	e->refuse = 0;
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, false));
	etch_gate_expect(test, e, 0, 0);
	etch_gate_expect_names(test, false);
}

static void etch_gate_while_off(struct kunit *test)
{
	struct etch_gate_test *t = test->priv;
	struct etch_gate_event *e = &t->events[0];
	u64 a = t->bits[0], b = t->bits[1];

	KUNIT_ASSERT_EQ(test, 0, etch_gate_turn(t, 0, false));

	/* Nobody who is on wants it: the gate is not asked, so it cannot refuse. */
	e->refuse = -EBUSY;
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, true));
	etch_gate_expect(test, e, a, 0);
	etch_gate_expect_names(test, true);
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, false));
	etch_gate_expect(test, e, 0, 0);
	etch_gate_expect_names(test, false);
	etch_gate_expect_asked(test, e, 0, 0);
	e->refuse = 0;

	/* Instance 1 is on and enables it: the gate opens for that instance alone. */
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, true));
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 1, 0, true));
	etch_gate_expect_asked(test, e, 1, b);
	etch_gate_expect(test, e, a | b, b);

	KUNIT_EXPECT_EQ(test, 0, etch_gate_turn(t, 0, true));
	etch_gate_expect_asked(test, e, 2, a | b);
	etch_gate_expect(test, e, a | b, a | b);
	KUNIT_EXPECT_EQ(test, 0, etch_gate_turn(t, 0, false));
	etch_gate_expect_asked(test, e, 3, b);
	etch_gate_expect(test, e, a | b, b);

	/* Off already: nothing is asked. */
	KUNIT_EXPECT_EQ(test, 0, etch_gate_set_on(t, 0, false));
	etch_gate_expect_asked(test, e, 3, b);
}

/* Its rings would be gone, and writers come for them. */
static void etch_gate_keeps_its_instance(struct kunit *test)
{
	struct etch_gate_test *t = test->priv;
	struct etch_instance *inst = t->inst[1];
	int ret;

	etch_instance_ready(inst);
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 1, 0, true));
	t->events[0].refuse = -EINTR;
	mutex_lock(&etch_mutex);
	/* Destroying an instance does not disable hidden events, so this one is shown. */
	t->events[0].event.hidden = false;
	ret = etch_instance_destroy(inst);
	t->events[0].event.hidden = true;
	mutex_unlock(&etch_mutex);
	if (!ret)
		t->inst[1] = NULL;
	KUNIT_ASSERT_EQ(test, -EINTR, ret);
	KUNIT_EXPECT_EQ(test, 0, etch_instance_get(inst));
	etch_instance_put(inst);
}

/* Three events, of which the second one refuses while instance 0 is turned on. */
static void etch_gate_refuses_to_turn_on(struct kunit *test)
{
	struct etch_gate_test *t = test->priv;
	u64 a = t->bits[0], b = t->bits[1];
	int i;

	KUNIT_ASSERT_EQ(test, 0, etch_gate_turn(t, 0, false));
	for (i = 0; i < ETCH_GATE_EVENTS; i++)
		KUNIT_ASSERT_EQ(test, 0, etch_gate_enable(t, 0, i, true));
	KUNIT_ASSERT_EQ(test, 0, etch_gate_enable(t, 1, 2, true));

	t->events[1].refuse = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, etch_gate_turn(t, 0, true));
	KUNIT_EXPECT_FALSE(test, t->inst[0]->on);

	/* The gate that had been opened is closed again. */
	etch_gate_expect_asked(test, &t->events[0], 2, 0);
	KUNIT_EXPECT_EQ(test, a, t->events[0].asked[0]);
	etch_gate_expect(test, &t->events[0], a, 0);
	etch_gate_expect_asked(test, &t->events[1], 2, 0);
	KUNIT_EXPECT_EQ(test, a, t->events[1].asked[0]);
	etch_gate_expect(test, &t->events[1], a, 0);
	etch_gate_expect_asked(test, &t->events[2], 3, b);
	KUNIT_EXPECT_EQ(test, a | b, t->events[2].asked[1]);
	etch_gate_expect(test, &t->events[2], a | b, b);

	/* It is still off for those that come now. */
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, false));
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 0, true));
	etch_gate_expect_asked(test, &t->events[0], 2, 0);

	t->events[1].refuse = 0;
	KUNIT_EXPECT_EQ(test, 0, etch_gate_turn(t, 0, true));
	KUNIT_EXPECT_TRUE(test, t->inst[0]->on);
	etch_gate_expect(test, &t->events[0], a, a);
	etch_gate_expect(test, &t->events[1], a, a);
	etch_gate_expect(test, &t->events[2], a | b, a | b);
}

static void etch_gate_refuses_to_turn_off(struct kunit *test)
{
	struct etch_gate_test *t = test->priv;
	u64 a = t->bits[0];

	KUNIT_ASSERT_EQ(test, 0, etch_gate_enable(t, 0, 0, true));
	KUNIT_ASSERT_EQ(test, 0, etch_gate_enable(t, 0, 1, true));

	t->events[1].refuse = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, etch_gate_set_on(t, 0, false));
	etch_gate_expect_asked(test, &t->events[0], 3, a);
	KUNIT_EXPECT_EQ(test, 0, t->events[0].asked[1]);
	etch_gate_expect(test, &t->events[0], a, a);
	etch_gate_expect_asked(test, &t->events[1], 3, a);
	etch_gate_expect(test, &t->events[1], a, a);

	/* It is still on for those that come now. */
	KUNIT_EXPECT_EQ(test, 0, etch_gate_enable(t, 0, 2, true));
	etch_gate_expect(test, &t->events[2], a, a);

	/* Recording ends all the same. */
	KUNIT_EXPECT_EQ(test, 0, etch_gate_turn(t, 0, false));
	KUNIT_EXPECT_FALSE(test, t->inst[0]->on);
	etch_gate_expect(test, &t->events[1], a, a);

	t->events[1].refuse = 0;
	KUNIT_EXPECT_EQ(test, 0, etch_gate_set_on(t, 0, false));
	etch_gate_expect(test, &t->events[0], a, 0);
	etch_gate_expect(test, &t->events[1], a, 0);
	etch_gate_expect(test, &t->events[2], a, 0);
}

/* ---- Copies ---- */

/* Begins a record for those in @mask. With preemption disabled, on one CPU. */
static struct etch_write etch_gate_begin(struct etch_gate_test *t, u32 number, u64 mask)
{
	struct etch_write w = etch_write_begin_mask(sizeof(struct etch_gate_record),
					       &t->events[0].event, mask);

	if (w.record)
		((struct etch_gate_record *)w.record)->number = number;
	return w;
}

static void etch_gate_end(struct etch_write w)
{
	if (w.record)
		etch_write_end(w.ring);
}

static void etch_gate_write(struct etch_gate_test *t, u32 number, u64 mask)
{
	etch_gate_end(etch_gate_begin(t, number, mask));
}

/* Under read_mutex. How many records of the view come next in @want, and are whole. */
static unsigned int etch_gate_compare(struct etch_gate_test *t, const struct etch_view *view,
				      const u32 *want, unsigned int left)
{
	const struct etch_gate_record *r = view->data;
	u64 time = view->begin & ETCH_TIME_MASK;
	unsigned int i;

	for (i = 0; i < view->records && i < left; i++) {
		if (r[i].number != want[i] || r[i].head.pid != current->pid ||
		    r[i].head.word >> ETCH_TIME_BITS != t->events[0].event.id ||
		    (r[i].head.word & ETCH_TIME_MASK) < time)
			break;
		time = r[i].head.word & ETCH_TIME_MASK;
	}
	return i;
}

/* The ring has the @nr records @want, in this order, and has lost @lost as nested. */
static void etch_gate_expect_ring(struct kunit *test, int inst, int cpu, const u32 *want,
				  unsigned int nr, u64 lost)
{
	struct etch_gate_test *t = test->priv;
	struct etch_ring *ring = t->inst[inst]->rings[cpu];
	unsigned int found = 0, records = 0;
	struct etch_ring_stats stats;
	struct etch_view view;

	mutex_lock(&t->inst[inst]->read_mutex);
	while (etch_ring_take(ring, &view) > 0) {
		found += etch_gate_compare(t, &view, want + found, nr - found);
		records += view.records;
		etch_ring_advance(ring, view.len, view.records);
	}
	etch_ring_stats(ring, &stats);
	mutex_unlock(&t->inst[inst]->read_mutex);

	KUNIT_EXPECT_EQ_MSG(test, nr, records, "instance %d", inst);
	KUNIT_EXPECT_EQ_MSG(test, nr, found, "instance %d", inst);
	KUNIT_EXPECT_EQ_MSG(test, lost, stats.lost_nested, "instance %d", inst);
	KUNIT_EXPECT_EQ(test, 0, stats.lost_full + stats.lost_too_big + stats.lost_off);
	KUNIT_EXPECT_EQ(test, 0, stats.overwritten);
}

static void etch_gate_copies(struct kunit *test)
{
	static const u32 in_a[] = { 1, 3 }, in_b[] = { 2, 4, 3, 1 }, in_c[] = { 2, 3 };
	struct etch_gate_test *t = test->priv;
	u64 a = t->bits[0], b = t->bits[1], c = t->bits[2];
	struct etch_write one, three;
	int cpu;

	/* A copy is as late as the end of its record. */
	preempt_disable();
	cpu = smp_processor_id();
	one = etch_gate_begin(t, 1, a | b);
	etch_gate_write(t, 2, b | c);
	three = etch_gate_begin(t, 3, a | b | c);
	etch_gate_write(t, 4, b);
	etch_gate_end(three);
	etch_gate_end(one);
	preempt_enable();

	etch_gate_expect_ring(test, 0, cpu, in_a, ARRAY_SIZE(in_a), 0);
	etch_gate_expect_ring(test, 1, cpu, in_b, ARRAY_SIZE(in_b), 0);
	etch_gate_expect_ring(test, 2, cpu, in_c, ARRAY_SIZE(in_c), 0);
}

/* The first words of the @nr records that the ring has, and that there are no more. */
static void etch_gate_words(struct kunit *test, int inst, int cpu, u64 *words, unsigned int nr)
{
	struct etch_gate_test *t = test->priv;
	struct etch_ring *ring = t->inst[inst]->rings[cpu];
	const struct etch_gate_record *r;
	struct etch_view view;
	unsigned int i;

	mutex_lock(&t->inst[inst]->read_mutex);
	if (etch_ring_take(ring, &view) <= 0)
		view = (struct etch_view) {};
	for (i = 0, r = view.data; i < min(nr, view.records); i++)
		words[i] = r[i].head.word;
	if (view.records)
		etch_ring_advance(ring, view.len, view.records);
	mutex_unlock(&t->inst[inst]->read_mutex);
	KUNIT_ASSERT_EQ(test, nr, view.records);
}

/* A copy has the time of its record, if that is not before that of another record in the ring. */
static void etch_gate_copies_at_once(struct kunit *test)
{
	struct etch_gate_test *t = test->priv;
	u64 a = t->bits[0], b = t->bits[1], c = t->bits[2];
	u64 in_a[3], in_b[4], in_c[2];
	struct etch_write two;
	u64 begun;
	int cpu;

	if (etch_clock_default() != ETCH_CLOCK_COUNTER)
		kunit_skip(test, "the clock is not the counter");
	preempt_disable();
	cpu = smp_processor_id();
	/* The first one in a ring begins a sub-buffer, which reads the clock. */
	etch_gate_write(t, 0, a | b | c);
	etch_gate_write(t, 1, a | b | c);
	two = etch_gate_begin(t, 2, a | b);
	/* Some counters are slow: the next record is to have a later time. */
	for (begun = etch_clock_counter(); etch_clock_counter() == begun;)
		cpu_relax();
	etch_gate_write(t, 3, b);
	etch_gate_end(two);
	preempt_enable();

	etch_gate_words(test, 0, cpu, in_a, ARRAY_SIZE(in_a));
	etch_gate_words(test, 1, cpu, in_b, ARRAY_SIZE(in_b));
	etch_gate_words(test, 2, cpu, in_c, ARRAY_SIZE(in_c));
	KUNIT_EXPECT_EQ(test, in_a[1], in_b[1]);
	KUNIT_EXPECT_EQ(test, in_a[1], in_c[1]);
	KUNIT_EXPECT_LT(test, in_a[2] & ETCH_TIME_MASK, in_b[2] & ETCH_TIME_MASK);
	KUNIT_EXPECT_LE(test, in_b[2] & ETCH_TIME_MASK, in_b[3] & ETCH_TIME_MASK);
}

/*
 * As many writers in flight as a ring allows, each with a copy to hand out: then there is
 * no room for another copy. Not for want of a ring, since two have nobody in flight.
 */
static void etch_gate_copies_overflow(struct kunit *test)
{
	static const u32 in_a[] = { 0, 1, 2, 3, 4, 5, 6, 7, 22 };
	static const u32 in_b[] = { 20, 21, 7, 6, 5, 4, 3, 2, 1, 0, 22 };
	static const u32 in_c[] = { 22 };
	struct etch_gate_test *t = test->priv;
	u64 a = t->bits[0], b = t->bits[1], c = t->bits[2];
	struct etch_write w[ETCH_RING_MAX_NEST];
	int cpu, i;

	static_assert(ARRAY_SIZE(w) + 1 == ARRAY_SIZE(in_a));
	preempt_disable();
	cpu = smp_processor_id();
	for (i = 0; i < ETCH_RING_MAX_NEST; i++)
		w[i] = etch_gate_begin(t, i, a | b);
	/* Its record is in the second ring, its copy for the third one is lost. */
	etch_gate_write(t, 20, b | c);
	/* And so is that of one more, which the first ring has lost already. */
	etch_gate_write(t, 21, a | b | c);
	while (i--)
		etch_gate_end(w[i]);
	/* All have handed out theirs: there is room again. */
	etch_gate_write(t, 22, a | b | c);
	preempt_enable();

	for (i = 0; i < ETCH_RING_MAX_NEST; i++)
		KUNIT_EXPECT_NOT_NULL(test, w[i].record);
	etch_gate_expect_ring(test, 0, cpu, in_a, ARRAY_SIZE(in_a), 1);
	etch_gate_expect_ring(test, 1, cpu, in_b, ARRAY_SIZE(in_b), 0);
	etch_gate_expect_ring(test, 2, cpu, in_c, ARRAY_SIZE(in_c), 2);
}

/* ---- A CPU whose buffer there is no memory for ---- */

static u64 etch_gate_absent(struct etch_instance *inst, int cpu)
{
	guard(mutex)(&inst->read_mutex);
	return etch_instance_absent(inst, cpu);
}

/* As if it went, and came when there was no memory for its ring. */
static void etch_gate_lose_ring(struct kunit *test, struct etch_instance *inst, int cpu)
{
	unsigned long bytes = inst->cpu_bytes;

	KUNIT_EXPECT_EQ(test, 0, etch_cpu_dead(cpu, &inst->hotplug));
	inst->cpu_bytes = totalram_pages() << PAGE_SHIFT;
	KUNIT_EXPECT_EQ(test, 0, etch_cpu_prepare(cpu, &inst->hotplug));
	inst->cpu_bytes = bytes;
	KUNIT_EXPECT_NULL(test, inst->rings[cpu]);
}

static void etch_gate_without_memory(struct kunit *test)
{
	static const u32 in_a[] = { 4 }, in_b[] = { 1, 3 };
	struct etch_gate_test *t = test->priv;
	struct etch_instance *inst = t->inst[0];
	u64 a = t->bits[0], b = t->bits[1];
	int cpu;

	migrate_disable();
	cpu = smp_processor_id();
	etch_gate_lose_ring(test, inst, cpu);

	/* What others get does not depend on it. */
	scoped_guard(preempt) {
		etch_gate_write(t, 1, a | b);
		etch_gate_write(t, 2, a);
	}
	KUNIT_EXPECT_EQ(test, 2, etch_gate_absent(inst, cpu));

	/* There is memory again. */
	mutex_lock(&etch_mutex);
	KUNIT_EXPECT_EQ(test, 0, etch_instance_grow(inst));
	mutex_unlock(&etch_mutex);
	if (inst->rings[cpu]) {
		scoped_guard(preempt) {
			etch_gate_write(t, 3, b);
			etch_gate_write(t, 4, a);
		}
		etch_gate_expect_ring(test, 0, cpu, in_a, ARRAY_SIZE(in_a), 0);
		etch_gate_expect_ring(test, 1, cpu, in_b, ARRAY_SIZE(in_b), 0);
	} else {
		KUNIT_FAIL(test, "the ring was not made");
	}
	KUNIT_EXPECT_EQ(test, 2, etch_gate_absent(inst, cpu));
	etch_instance_reset(inst, ETCH_ALL_CPUS);
	KUNIT_EXPECT_EQ(test, 0, etch_gate_absent(inst, cpu));
	migrate_enable();
}

/* ---- Contexts ---- */

/* A timer that writes one record, whose number is the context that it comes in. */
struct etch_gate_timer {
	struct etch_gate_test *t;
	struct hrtimer timer;
	struct completion done;
	u32 context;
};

static enum hrtimer_restart etch_gate_on_timer(struct hrtimer *timer)
{
	struct etch_gate_timer *c = container_of(timer, struct etch_gate_timer, timer);

	/* With PREEMPT_RT softirqs can be preempted. */
	guard(preempt)();
	etch_gate_write(c->t, c->context, c->t->bits[0]);
	complete(&c->done);
	return HRTIMER_NORESTART;
}

static void etch_gate_write_in(struct kunit *test, u32 context, enum hrtimer_mode mode)
{
	struct etch_gate_timer *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->t = test->priv;
	c->context = context;
	init_completion(&c->done);
	hrtimer_setup(&c->timer, etch_gate_on_timer, CLOCK_MONOTONIC, mode);
	hrtimer_start(&c->timer, ns_to_ktime(NSEC_PER_MSEC), mode);
	wait_for_completion(&c->done);
	hrtimer_cancel(&c->timer);
}

/* Counts the records that say the context that their number is. */
static void etch_gate_count_contexts(struct etch_gate_test *t, int cpu, unsigned int *right)
{
	struct etch_ring *ring = t->inst[0]->rings[cpu];
	struct etch_view view;
	unsigned int i;

	mutex_lock(&t->inst[0]->read_mutex);
	while (etch_ring_take(ring, &view) > 0) {
		const struct etch_gate_record *r = view.data;

		for (i = 0; i < view.records; i++)
			if (r[i].number == r[i].head.word >> ETCH_CONTEXT_SHIFT)
				right[r[i].number]++;
		etch_ring_advance(ring, view.len, view.records);
	}
	mutex_unlock(&t->inst[0]->read_mutex);
}

static void etch_gate_contexts(struct kunit *test)
{
	unsigned int right[ETCH_NMI + 1] = {};
	struct etch_gate_test *t = test->priv;
	int cpu;

	scoped_guard(preempt)
		etch_gate_write(t, ETCH_TASK, t->bits[0]);
	etch_gate_write_in(test, ETCH_SOFTIRQ, HRTIMER_MODE_REL_SOFT);
	etch_gate_write_in(test, ETCH_HARDIRQ, HRTIMER_MODE_REL_HARD);

	for_each_online_cpu(cpu)
		etch_gate_count_contexts(t, cpu, right);
	KUNIT_EXPECT_EQ(test, 1, right[ETCH_TASK]);
	KUNIT_EXPECT_EQ(test, 1, right[ETCH_SOFTIRQ]);
	KUNIT_EXPECT_EQ(test, 1, right[ETCH_HARDIRQ]);
}

static void etch_gate_outside_probe(void *data, int a, int b)
{
	int *sum = data;

	*sum += 10 * a + b;
}

static void etch_gate_outside(struct kunit *test)
{
	int sum = 0;

	KUNIT_ASSERT_EQ(test, 0, register_trace_etch_gate_outside(etch_gate_outside_probe, &sum));
	trace_etch_gate_outside(4, 2);
	unregister_trace_etch_gate_outside(etch_gate_outside_probe, &sum);
	tracepoint_synchronize_unregister();
	trace_etch_gate_outside(4, 2);
	KUNIT_EXPECT_EQ(test, 42, sum);
}

static struct kunit_case etch_gate_cases[] = {
	KUNIT_CASE(etch_gate_opens),
	KUNIT_CASE(etch_gate_refuses_to_open),
	KUNIT_CASE(etch_gate_refuses_to_close),
	KUNIT_CASE(etch_gate_while_off),
	KUNIT_CASE(etch_gate_keeps_its_instance),
	KUNIT_CASE(etch_gate_refuses_to_turn_on),
	KUNIT_CASE(etch_gate_refuses_to_turn_off),
	KUNIT_CASE(etch_gate_copies),
	KUNIT_CASE(etch_gate_copies_at_once),
	KUNIT_CASE(etch_gate_copies_overflow),
	KUNIT_CASE(etch_gate_without_memory),
	KUNIT_CASE(etch_gate_contexts),
	KUNIT_CASE(etch_gate_outside),
	{}
};

static struct kunit_suite etch_gate_suite = {
	.name = "etch_gate",
	.init = etch_gate_init,
	.exit = etch_gate_exit,
	.test_cases = etch_gate_cases,
};

kunit_test_suite(etch_gate_suite);
