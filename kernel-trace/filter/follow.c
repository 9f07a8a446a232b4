// SPDX-License-Identifier: GPL-2.0
/*
 * Following forks: see follow.h.
 */
#include <linux/bitops.h>
#include <linux/etch.h>
#include <linux/sched.h>

#include <trace/events/sched.h>

#include "event/whose.h"
#include "filter/follow.h"

/* Instances that follow. The probes are there as long as it is not 0. Under etch_mutex. */
static unsigned int etch_followers;

static void etch_follow_fork(unsigned long *set, pid_t parent, pid_t child)
{
	if (set && test_bit(parent, set))
		set_bit(child, set);
}

static void etch_follow_end(unsigned long *set, pid_t pid)
{
	if (set && test_bit(pid, set))
		clear_bit(pid, set);
}

/* A probe, which runs with preemption disabled: sets are freed after a grace period. */
static void etch_probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	int bit;

	for (bit = ETCH_MAIN; bit < ETCH_BITS; bit++) {
		const struct etch_whose *whose = rcu_dereference_sched(etch_whose[bit]);

		if (!whose || !whose->follow)
			continue;
		etch_follow_fork(whose->only, parent->pid, child->pid);
		etch_follow_fork(whose->not, parent->pid, child->pid);
	}
}

/* The same. The task has run for the last time, and its number is not free yet. */
static void etch_probe_free(void *data, struct task_struct *task)
{
	int bit;

	for (bit = ETCH_MAIN; bit < ETCH_BITS; bit++) {
		const struct etch_whose *whose = rcu_dereference_sched(etch_whose[bit]);

		if (!whose || !whose->follow)
			continue;
		etch_follow_end(whose->only, task->pid);
		etch_follow_end(whose->not, task->pid);
	}
}

static int etch_follow_probe(void)
{
	int ret = register_trace_sched_process_fork(etch_probe_fork, NULL);

	if (ret)
		return ret;
	ret = register_trace_sched_process_free(etch_probe_free, NULL);
	if (ret)
		unregister_trace_sched_process_fork(etch_probe_fork, NULL);
	return ret;
}

static void etch_follow_unprobe(void)
{
	unregister_trace_sched_process_fork(etch_probe_fork, NULL);
	unregister_trace_sched_process_free(etch_probe_free, NULL);
}

/**
 * etch_follow_start() - get ready for an instance that is about to follow forks
 *
 * Context: process, may sleep; holds etch_mutex. etch_follow_count() must come next.
 * Return: 0 or a negative errno.
 */
int etch_follow_start(void)
{
	lockdep_assert_held(&etch_mutex);
	return etch_followers ? 0 : etch_follow_probe();
}

/**
 * etch_follow_count() - note whether an instance follows forks
 * @before: it did
 * @after: it does; etch_follow_start() has been called if it did not before
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_follow_count(bool before, bool after)
{
	lockdep_assert_held(&etch_mutex);
	etch_followers += after - before;
	if (!etch_followers && (before || after))
		etch_follow_unprobe();
}
