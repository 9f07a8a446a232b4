// SPDX-License-Identifier: GPL-2.0
/*
 * Whose events an instance records: see whose.h.
 */
#include <linux/cgroup.h>
#include <linux/etch.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "event/rules.h"
#include "event/whose.h"

struct etch_whose __rcu *etch_whose[ETCH_BITS] __read_mostly;
u64 etch_whose_bits __read_mostly;

/* ---- The writers' side ---- */

static bool etch_whose_has_pid(const struct etch_whose *whose, pid_t pid)
{
	if (whose->only && !test_bit(pid, whose->only))
		return false;
	return !whose->not || !test_bit(pid, whose->not);
}

/* As an RCU reader, which a writer is: preemption is disabled. */
static bool etch_whose_has_group(const struct etch_whose *whose, struct task_struct *task)
{
#ifdef CONFIG_CGROUPS
	return !whose->cgroup ||
	       cgroup_is_descendant(rcu_dereference_raw(task->cgroups)->dfl_cgrp, whose->cgroup);
#else
	return true;
#endif
}

/**
 * etch_whose_current() - does the instance record the current task's events?
 * @whose: the tasks whose events it records
 *
 * Context: any, NMI included, preemption disabled.
 * Return: true if it does.
 */
bool etch_whose_current(const struct etch_whose *whose)
{
	return etch_whose_has_pid(whose, current->pid) && etch_whose_has_group(whose, current);
}

/**
 * etch_whose_pid() - does the instance record the events of a task?
 * @whose: the tasks whose events it records
 * @pid: the task's thread ID
 *
 * Context: any, NMI included, preemption disabled.
 * Return: true if it does.
 */
bool etch_whose_pid(const struct etch_whose *whose, pid_t pid)
{
	struct task_struct *task;

	if (pid < 0 || pid >= PID_MAX_LIMIT || !etch_whose_has_pid(whose, pid))
		return false;
	if (!whose->cgroup)
		return true;
	task = pid ? find_task_by_pid_ns(pid, &init_pid_ns) : &init_task;
	return task && etch_whose_has_group(whose, task);
}

/* ---- Control ---- */

static void etch_whose_put(struct etch_recorder *rec, struct etch_whose *whose)
{
	u64 bit = 1ULL << rec->bit;

	rcu_assign_pointer(etch_whose[rec->bit], whose);
	WRITE_ONCE(etch_whose_bits, etch_whose_restricts(whose) ? etch_whose_bits | bit :
								  etch_whose_bits & ~bit);
}

/**
 * etch_whose_set() - choose the tasks whose events an instance records
 * @rec: the instance's recorder
 * @whose: the tasks; goes to the instance. NULL: all
 *
 * Writers that are under way may go by the choice before, which etch_whose_get() has returned
 * and the caller frees after a grace period.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: 0; or a negative errno, and nothing has changed. If @whose leaves no task out, 0.
 */
int etch_whose_set(struct etch_recorder *rec, struct etch_whose *whose)
{
	struct etch_whose *before = etch_whose_get(rec);
	bool restricts = etch_whose_restricts(whose);
	int ret;

	lockdep_assert_held(&etch_mutex);
	ret = restricts ? etch_scratch_make() : 0;
	if (ret)
		return ret;
	etch_whose_put(rec, whose);
	if (restricts == etch_whose_restricts(before))
		return 0;
	ret = etch_gates_follow(rec);
	/* A gate that still leads to rules where there are none costs time, and is right. */
	if (!ret || !restricts)
		return 0;
	etch_whose_put(rec, before);
	etch_gates_follow(rec);
	return ret;
}
