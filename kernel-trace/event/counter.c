// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of perf's: see counter.h.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>

#include "event/counter.h"

static struct perf_event *etch_counter_make(const struct etch_counter *counter, int cpu)
{
	struct perf_event_attr attr = {
		.type = counter->spec.type,
		.config = counter->spec.config,
		.size = sizeof(attr),
		/* It counts all the time, or fails: no shares of a time that nobody knows. */
		.pinned = 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/* perf has dropped it, with its CPU. */
static bool etch_counter_is_dead(struct perf_event *event)
{
	return READ_ONCE(event->state) == PERF_EVENT_STATE_OFF;
}

static int etch_counter_renew_on(struct etch_counter *counter, int cpu)
{
	struct perf_event **at = per_cpu_ptr(counter->events, cpu), *old = *at, *event;

	if (old && !etch_counter_is_dead(old))
		return 0;
	event = etch_counter_make(counter, cpu);
	if (IS_ERR(event))
		/* Without the CPU, there are no writers, either. */
		return cpu_online(cpu) ? PTR_ERR(event) : 0;
	WRITE_ONCE(*at, event);
	if (old) {
		synchronize_rcu();
		perf_event_release_kernel(old);
	}
	return 0;
}

/**
 * etch_counter_begin() - begin to count, on all CPUs
 * @counter: the counter, which has its @spec
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0, for etch_counter_end(); -ENOMEM; or perf's errno, where this machine does not count
 * that: -ENOENT, -EOPNOTSUPP, -EINVAL.
 */
int etch_counter_begin(struct etch_counter *counter)
{
	int cpu, ret = 0;

	counter->events = alloc_percpu(struct perf_event *);
	if (!counter->events)
		return -ENOMEM;
	for_each_online_cpu(cpu) {
		ret = etch_counter_renew_on(counter, cpu);
		if (ret)
			break;
	}
	if (ret)
		etch_counter_end(counter);
	return ret;
}

/**
 * etch_counter_renew() - count on CPUs that have come, too
 * @counter: the counter, begun
 *
 * Where perf has no counter left for such a CPU, the CPU's records have the last value it had.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_counter_renew(struct etch_counter *counter)
{
	int cpu;

	for_each_online_cpu(cpu)
		etch_counter_renew_on(counter, cpu);
}

/**
 * etch_counter_end() - count no more
 * @counter: the counter, begun or not; no writer looks at it
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_counter_end(struct etch_counter *counter)
{
	int cpu;

	if (!counter->events)
		return;
	for_each_possible_cpu(cpu) {
		struct perf_event *event = *per_cpu_ptr(counter->events, cpu);

		if (event)
			perf_event_release_kernel(event);
	}
	free_percpu(counter->events);
	counter->events = NULL;
}

/**
 * etch_counter_read() - what this CPU has counted
 * @counter: the counter, begun
 *
 * Context: any, NMI included, preemption disabled.
 * Return: the count since it was begun; 0 while perf cannot count, because others use the
 * processor's counters.
 */
u64 etch_counter_read(const struct etch_counter *counter)
{
	struct perf_event *event = READ_ONCE(*this_cpu_ptr(counter->events));
	unsigned long flags;
	u64 value = 0;

	if (!event)
		return 0;
	/* perf disables interrupts, which is an event unless they are disabled already. */
	raw_local_irq_save(flags);
	if (perf_event_read_local(event, &value, NULL, NULL))
		value = 0;
	raw_local_irq_restore(flags);
	return value;
}
