// SPDX-License-Identifier: GPL-2.0
/*
 * A filter is exchanged again and again while tasks, interrupts and NMIs hit its event on all CPUs.
 *
 * Each of four filters lets another eighth of the hits through. So half of the hits pass none of
 * them: their records would be wrong at any time. When an exchange and a grace period are over,
 * records are those of the new filter alone. And each hit is written, filtered or lost.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "event/rules.h"
#include "instance/instance_internal.h"
#include "test_nmi.h"

#define ETCH_EXCHANGES		10000
#define ETCH_EXCHANGE_LOOKS	100
#define ETCH_EXCHANGE_FILTERS	4
#define ETCH_EXCHANGE_CLASSES	8	/* of hits; those of the upper half pass no filter */

struct etch_exchange_record {
	struct etch_head head;
	u32 number;
};

/**
 * struct etch_exchange_test - the test
 * @event: that is hit
 * @open: the instances for which its gate is open
 * @inst: the instance
 * @filters: of it, one after the other
 * @now: the filter that it has
 * @since: records from after that time have passed it
 * @records: records that were looked at
 * @wrong: those that should not be there
 */
struct etch_exchange_test {
	struct etch_event event;
	u64 open;
	struct etch_instance *inst;
	struct etch_program *filters[ETCH_EXCHANGE_FILTERS];
	unsigned int now;
	u64 since;
	unsigned long records;
	unsigned long wrong;
};

static struct etch_exchange_test *etch_exchange_tested;

static struct etch_field etch_exchange_fields[] = {
	{
		.type = "u32", .name = "number", .kind = ETCH_FIELD_FIXED,
		.size = 4, .elem_size = 4, .align = 4,
	},
};

static struct etch_class etch_exchange_class = {
	.system = "etch_exchange_test",
	.fields = etch_exchange_fields,
	.nr_fields = ARRAY_SIZE(etch_exchange_fields),
	.size = sizeof(struct etch_exchange_record),
	.print_fmt = "",
};

static int etch_exchange_gate(struct etch_event *event, u64 mask)
{
	struct etch_exchange_test *t = container_of(event, struct etch_exchange_test, event);

	WRITE_ONCE(t->open, mask);
	return 0;
}

/* ---- The event, its instance and its filters ---- */

/* number % 8 == @class */
static struct etch_program *etch_exchange_filter(unsigned int class)
{
	struct etch_program *program = kzalloc(struct_size(program, tests, 1), GFP_KERNEL);

	if (!program)
		return NULL;
	program->nr = 1;
	program->plain = true;
	program->tests[0] = (struct etch_test_of) {
		.plain = true, .of = ETCH_OF_FIELD, .how = ETCH_IN_RANGE, .size = sizeof(u32),
		.offset = offsetof(struct etch_exchange_record, number),
		.yes = ETCH_PASS, .no = ETCH_FAIL,
		.and = ETCH_EXCHANGE_CLASSES - 1, .low = class, .field = U32_MAX, .span = 0,
	};
	return program;
}

static int etch_exchange_set_up(struct etch_exchange_test *t)
{
	struct etch_instance *inst;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(t->filters); i++) {
		t->filters[i] = etch_exchange_filter(i);
		if (!t->filters[i])
			return -ENOMEM;
	}
	t->event.name = "etch_exchange_event";
	t->event.class = &etch_exchange_class;
	t->event.gate = etch_exchange_gate;
	t->event.hidden = true;
	ret = etch_event_register(&t->event);
	if (ret)
		return ret;
	inst = etch_instance_create("kunit_exchange", SZ_16K, SZ_4K);
	if (IS_ERR(inst))
		return PTR_ERR(inst);
	t->inst = inst;
	ret = etch_rules_prepare(&inst->rec, &t->event, false) ?: etch_rules_flush();
	if (ret)
		return ret;
	etch_filter_set(&inst->rec, &t->event, t->filters[0]);
	return etch_event_enable(&inst->rec, &t->event, true);
}

static int etch_exchange_init(struct kunit *test)
{
	struct etch_exchange_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int ret;

	if (!t)
		return -ENOMEM;
	test->priv = t;
	mutex_lock(&etch_mutex);
	ret = etch_exchange_set_up(t);
	mutex_unlock(&etch_mutex);
	return ret;
}

static void etch_exchange_exit(struct kunit *test)
{
	struct etch_exchange_test *t = test->priv;
	int i;

	if (!t)
		return;
	mutex_lock(&etch_mutex);
	if (t->inst)
		etch_filter_set(&t->inst->rec, &t->event, NULL);
	if (t->event.id)
		etch_event_unregister(&t->event);
	if (t->inst)
		WARN_ON(etch_instance_destroy(t->inst));
	mutex_unlock(&etch_mutex);
	synchronize_rcu();
	for (i = 0; i < ARRAY_SIZE(t->filters); i++)
		kfree(t->filters[i]);
}

/* ---- Hits ---- */

/* By CPU: the last hit's number. */
static DEFINE_PER_CPU(u32, etch_exchange_hits);

static void etch_exchange_hit(void)
{
	struct etch_exchange_test *t = etch_exchange_tested;
	struct etch_exchange_record *r;
	struct etch_write w;

	preempt_disable_notrace();
	w = etch_write_begin_mask(sizeof(*r), &t->event, READ_ONCE(t->open));
	r = w.record;
	/* A rejected hit counts, too; its number does not matter. */
	if (r) {
		r->number = this_cpu_inc_return(etch_exchange_hits);
		etch_write_end(w.ring);
	} else {
		this_cpu_inc(etch_exchange_hits);
	}
	preempt_enable_notrace();
}

static void etch_exchange_interrupt(struct irq_work *work)
{
	etch_exchange_hit();
}

static int etch_exchange_keep_hitting(void *unused)
{
	struct irq_work work;
	unsigned int i;

	init_irq_work(&work, etch_exchange_interrupt);
	for (i = 0; !kthread_should_stop(); i++) {
		etch_exchange_hit();
		if (i % 16 == 0)
			irq_work_queue(&work);
		if (i % 256 == 0)
			cond_resched();
	}
	irq_work_sync(&work);
	return 0;
}

static unsigned long etch_exchange_all_hits(void)
{
	unsigned long hits = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		hits += per_cpu(etch_exchange_hits, cpu);
	return hits;
}

/* ---- Records ---- */

static void etch_exchange_look_at(struct etch_exchange_test *t, const struct etch_view *view)
{
	const struct etch_exchange_record *r = view->data;
	unsigned int i, class;

	for (i = 0; i < view->len / sizeof(*r); i++) {
		class = r[i].number % ETCH_EXCHANGE_CLASSES;
		t->records++;
		if ((r[i].head.word & ETCH_TIME_MASK) > t->since ? class != t->now :
							class >= ETCH_EXCHANGE_FILTERS)
			t->wrong++;
	}
}

/* Hits come faster than they are read: some sub-buffers of each CPU are enough. */
static void etch_exchange_look(struct etch_exchange_test *t)
{
	struct etch_view view;
	unsigned int i;
	int cpu;

	mutex_lock(&t->inst->read_mutex);
	for_each_online_cpu(cpu) {
		struct etch_ring *ring = t->inst->rings[cpu];

		for (i = 0; i < 16 && etch_ring_take(ring, &view) > 0; i++) {
			etch_exchange_look_at(t, &view);
			etch_ring_advance(ring, view.len, view.records);
		}
	}
	mutex_unlock(&t->inst->read_mutex);
}

static u64 etch_exchange_time(struct etch_exchange_test *t)
{
	u64 time;

	preempt_disable();
	time = etch_ring_time(t->inst->rings[smp_processor_id()]);
	preempt_enable();
	return time & ETCH_TIME_MASK;
}

static void etch_exchange(struct etch_exchange_test *t)
{
	t->now = (t->now + 1) % ETCH_EXCHANGE_FILTERS;
	t->since = ETCH_TIME_MASK;
	mutex_lock(&etch_mutex);
	etch_filter_set(&t->inst->rec, &t->event, t->filters[t->now]);
	mutex_unlock(&etch_mutex);
}

static void etch_exchange_expect_account(struct kunit *test)
{
	struct etch_exchange_test *t = test->priv;
	u64 written = 0, filtered = 0, lost = 0;
	struct etch_ring_stats stats;
	int cpu;

	mutex_lock(&t->inst->read_mutex);
	for_each_online_cpu(cpu) {
		etch_ring_stats(t->inst->rings[cpu], &stats);
		written += stats.written;
		lost += stats.lost_nested + stats.lost_full + stats.lost_too_big +
			stats.lost_throttled + stats.lost_off;
		filtered += etch_instance_filtered(t->inst, cpu);
	}
	mutex_unlock(&t->inst->read_mutex);
	KUNIT_EXPECT_EQ(test, etch_exchange_all_hits(), written + filtered + lost);
	KUNIT_EXPECT_LT(test, 0, t->records);
	KUNIT_EXPECT_LT(test, 0, filtered);
	KUNIT_EXPECT_EQ(test, 0, t->wrong);
	kunit_info(test, "%lu hits: %llu written, %llu filtered, %llu lost; %lu looked at\n",
		   etch_exchange_all_hits(), written, filtered, lost, t->records);
}

/* ---- The test ---- */

static void etch_exchange_stop(struct task_struct **tasks)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (!IS_ERR_OR_NULL(tasks[cpu]))
			kthread_stop(tasks[cpu]);
}

static int etch_exchange_start(struct task_struct **tasks)
{
	int cpu;

	for_each_online_cpu(cpu) {
		tasks[cpu] = kthread_run_on_cpu(etch_exchange_keep_hitting, NULL, cpu,
						"etch_exchange/%u");
		if (IS_ERR(tasks[cpu]))
			return PTR_ERR(tasks[cpu]);
	}
	return 0;
}

static void etch_exchange_under_fire(struct kunit *test)
{
	struct etch_exchange_test *t = test->priv;
	struct task_struct **tasks;
	unsigned int i;
	int cpu, ret;

	tasks = kunit_kcalloc(test, nr_cpu_ids, sizeof(*tasks), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tasks);
	etch_exchange_tested = t;
	t->since = ETCH_TIME_MASK;
	for_each_possible_cpu(cpu)
		per_cpu(etch_exchange_hits, cpu) = 0;
	KUNIT_ASSERT_EQ(test, 0, etch_test_nmis_start(etch_exchange_hit));
	ret = etch_exchange_start(tasks);
	for (i = 0; i < ETCH_EXCHANGES && !ret; i++) {
		etch_exchange(t);
		if (i % (ETCH_EXCHANGES / ETCH_EXCHANGE_LOOKS))
			continue;
		synchronize_rcu();
		t->since = etch_exchange_time(t);
		usleep_range(500, 1000);
		etch_exchange_look(t);
	}
	etch_exchange_stop(tasks);
	etch_test_nmis_stop();
	KUNIT_ASSERT_EQ(test, 0, ret);
	etch_exchange_expect_account(test);
}

static struct kunit_case etch_exchange_cases[] = {
	KUNIT_CASE_SLOW(etch_exchange_under_fire),
	{}
};

static struct kunit_suite etch_exchange_suite = {
	.name = "etch_exchange",
	.init = etch_exchange_init,
	.exit = etch_exchange_exit,
	.test_cases = etch_exchange_cases,
};

kunit_test_suite(etch_exchange_suite);
