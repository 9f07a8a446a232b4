// SPDX-License-Identifier: GPL-2.0
/*
 * The torture of the ring buffer: the writers.
 *
 * On each CPU five contexts write into that CPU's ring: a task, a timer in a
 * softirq, a timer in a hardirq, irq_work, and non-maskable interrupts. A writer
 * that interrupts another one half-way writes several records there, and now and then
 * so many that they go round the ring.
 */
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/jhash.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/preempt.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "ring/ring_test.h"

/* From one interrupt to the next, about. */
#define RING_TEST_SOFT_PERIOD	ns_to_ktime(500 * NSEC_PER_USEC)
#define RING_TEST_TIMER_PERIOD	ns_to_ktime(200 * NSEC_PER_USEC)

/* How long a record is half-way, at times, in microseconds. */
#define RING_TEST_LINGER_US	50

/* One interrupt in so many goes round the ring, if that takes no more records than this. */
#define RING_TEST_FLOOD		128
#define RING_TEST_FLOOD_MAX	64

DEFINE_PER_CPU(struct ring_test_cpu, ring_test_cpus);

/**
 * ring_test_random() - the next random number
 * @state: is changed
 *
 * Context: any that has @state to itself.
 * Return: 16 bits, better than the generator's low ones.
 */
u32 ring_test_random(u32 *state)
{
	*state = next_pseudo_random32(*state);
	return *state >> 16;
}

/**
 * ring_test_sum() - what belongs in a record's @sum
 * @rec: the record, @len of it to be trusted
 *
 * Context: any.
 * Return: the sum of its time and all that is behind @sum.
 */
u32 ring_test_sum(const struct ring_test_rec *rec)
{
	unsigned int from = offsetofend(struct ring_test_rec, sum);

	return jhash((const u8 *)rec + from, rec->len - from, (u32)rec->time);
}

static unsigned int ring_test_room(const struct ring_test_cpu *c)
{
	return etch_ring_subbuf_size(c->ring) - ALIGN(RING_TEST_HEADER, 8);
}

/* Small ones mostly; some of any size, some that fill a block, some too big for one. */
static unsigned int ring_test_len(struct ring_test_cpu *c, u32 *random)
{
	unsigned int min = sizeof(struct ring_test_rec), room = ring_test_room(c);
	u32 kind = ring_test_random(random) % 64;
	u32 x = ring_test_random(random);

	switch (kind) {
	case 0:
		return room + x % 2;
	case 1 ... 4:
		return min + x % (room - min);
	default:
		return min + x % 128;
	}
}

/* Be half-way on purpose now and then, where interrupts may be long in coming by chance. */
static void ring_test_linger(struct ring_test_cpu *c, enum ring_test_who who, u32 seq)
{
	if (seq % 16 || who == RING_TEST_NMI)
		return;
	if (seq % 32)
		udelay(RING_TEST_LINGER_US);
	else if (who == RING_TEST_TASK)
		irq_work_queue(&c->work);
}

/* One record, or one loss. Returns whether it was stored. */
static bool ring_test_put(struct ring_test_cpu *c, enum ring_test_who who, unsigned int len)
{
	struct ring_test_writer *w = &c->writers[who];
	unsigned int nest = READ_ONCE(c->ring->nest);
	struct ring_test_rec *rec;
	u64 time;

	w->tried++;
	w->half_way += nest != 0;
	if (nest > READ_ONCE(c->deepest))
		WRITE_ONCE(c->deepest, nest);

	rec = etch_ring_reserve(c->ring, len, &time);
	if (!rec) {
		w->lost++;
		return false;
	}
	rec->time = time;
	rec->seq = w->seq++;
	rec->len = len;
	rec->who = who;
	rec->cpu = c->cpu;
	ring_test_linger(c, who, rec->seq);
	memset(rec->body, (u8)rec->seq, len - sizeof(*rec));
	rec->sum = ring_test_sum(rec);
	etch_ring_commit(c->ring);
	return true;
}

/* What one interrupt writes. */
static void ring_test_burst(struct ring_test_cpu *c, enum ring_test_who who)
{
	u32 *random = &c->writers[who].random;
	unsigned int n;

	/* Before anything of the account is touched: it may be a new one. */
	if (READ_ONCE(c->paused))
		return;
	n = 1 + ring_test_random(random) % 4;
	if (ring_test_random(random) % RING_TEST_FLOOD) {
		while (n--)
			ring_test_put(c, who, ring_test_len(c, random));
	} else {
		n = RING_TEST_FLOOD_MAX;
		while (n-- && ring_test_put(c, who, ring_test_room(c) / 2))
			;
	}
}

/* Interrupts another CPU at whatever it is at. */
static void ring_test_disturb(unsigned int cpu)
{
	unsigned int other = cpumask_next(cpu, cpu_online_mask);

	if (other >= nr_cpu_ids)
		other = cpumask_first(cpu_online_mask);
	if (other != cpu)
		irq_work_queue_on(&per_cpu(ring_test_cpus, other).work, other);
}

/**
 * ring_test_task() - the task that writes
 * @cpu: its struct ring_test_cpu
 *
 * Context: kthread, bound to that CPU.
 * Return: 0.
 */
int ring_test_task(void *cpu)
{
	struct ring_test_cpu *c = cpu;
	u32 *random = &c->writers[RING_TEST_TASK].random;

	set_user_nice(current, MAX_NICE);
	while (!kthread_should_stop()) {
		unsigned int n = 64, lost = 0;

		while (n--) {
			guard(preempt)();
			if (READ_ONCE(c->paused) ||
			    !ring_test_put(c, RING_TEST_TASK, ring_test_len(c, random)))
				lost++;
		}
		ring_test_disturb(c->cpu);
		/* Full, or off: leave the CPU to those who can change that. */
		if (lost > 32)
			usleep_range(20, 100);
		cond_resched();
	}
	return 0;
}

static enum hrtimer_restart ring_test_on_soft(struct hrtimer *timer)
{
	struct ring_test_cpu *c = container_of(timer, struct ring_test_cpu, soft);

	/* With PREEMPT_RT softirqs can be preempted. */
	guard(preempt)();
	ring_test_burst(c, RING_TEST_SOFT);
	hrtimer_forward_now(timer, RING_TEST_SOFT_PERIOD);
	return HRTIMER_RESTART;
}

static enum hrtimer_restart ring_test_on_timer(struct hrtimer *timer)
{
	struct ring_test_cpu *c = container_of(timer, struct ring_test_cpu, timer);

	ring_test_burst(c, RING_TEST_TIMER);
	irq_work_queue(&c->work);
	hrtimer_forward_now(timer, RING_TEST_TIMER_PERIOD);
	return HRTIMER_RESTART;
}

static void ring_test_on_work(struct irq_work *work)
{
	ring_test_burst(container_of(work, struct ring_test_cpu, work), RING_TEST_WORK);
}

/**
 * ring_test_hit_by_nmi() - what a non-maskable interrupt does
 *
 * Context: NMI.
 */
void ring_test_hit_by_nmi(void)
{
	struct ring_test_cpu *c = this_cpu_ptr(&ring_test_cpus);

	ring_test_burst(c, RING_TEST_NMI);
	/* It comes where the NMI came, when that is over. */
	irq_work_queue(&c->work);
}

/**
 * ring_test_init_writers() - initialise the timers and the irq_work that write
 * @c: their CPU
 *
 * Context: task.
 */
void ring_test_init_writers(struct ring_test_cpu *c)
{
	int i;

	c->work = IRQ_WORK_INIT_HARD(ring_test_on_work);
	c->deepest = 0;
	for (i = 0; i < RING_TEST_NR; i++)
		c->writers[i] = (struct ring_test_writer){ .random = 1 + c->cpu * 100 + i };
}

/**
 * ring_test_start_timers() - start the timers of this CPU
 * @unused: nothing
 *
 * Context: on each CPU that has a ring, interrupts disabled.
 */
void ring_test_start_timers(void *unused)
{
	struct ring_test_cpu *c = this_cpu_ptr(&ring_test_cpus);

	hrtimer_setup(&c->soft, ring_test_on_soft, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	hrtimer_start(&c->soft, RING_TEST_SOFT_PERIOD, HRTIMER_MODE_REL_PINNED_SOFT);
	hrtimer_setup(&c->timer, ring_test_on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&c->timer, RING_TEST_TIMER_PERIOD, HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * ring_test_stop_timers() - stop the timers of all CPUs
 *
 * Context: task, may sleep.
 */
void ring_test_stop_timers(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		hrtimer_cancel(&per_cpu(ring_test_cpus, cpu).timer);
		hrtimer_cancel(&per_cpu(ring_test_cpus, cpu).soft);
	}
}

/**
 * ring_test_sync_work() - wait for the last irq_work, whose queuers are all gone
 *
 * Context: task, may sleep.
 */
void ring_test_sync_work(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		irq_work_sync(&per_cpu(ring_test_cpus, cpu).work);
}
