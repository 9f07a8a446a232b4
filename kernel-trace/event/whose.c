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

#include "event/whose.h"

struct etch_whose __rcu *etch_whose[ETCH_BITS] __read_mostly;
u64 etch_whose_bits __read_mostly;

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
