// SPDX-License-Identifier: GPL-2.0
/*
 * The names of tasks, for lines of text.
 *
 * A record has a task's id and not its name; a reader asks the task. Only when a
 * task exits is its name put away, in a table with one place for all ids that are
 * equal in their last bits: the last to exit there is remembered. A name that has
 * been pushed out is shown as "<...>".
 *
 * A task which has been renamed, by execve() say, shows its last name in all its
 * records, so renaming needs no probe.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/build_bug.h>
#include <linux/etch.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <trace/events/sched.h>

#include "event/event.h"

#define ETCH_COMMS		4096	/* a power of two */

struct etch_comm {
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/* Made when first wanted, and kept. The places in it are under etch_comm_lock. */
static struct etch_comm *etch_comms;

/* A task that exits may be traced by an interrupt, and a reader may be one's victim. */
static DEFINE_RAW_SPINLOCK(etch_comm_lock);

/* How many events are enabled, and whether the probe is registered. Under etch_mutex. */
static unsigned int etch_comm_users;
static bool etch_comm_probed;

/* The probe of sched_process_exit. */
static void etch_comm_exit(void *data, struct task_struct *p)
{
	struct etch_comm *c = &etch_comms[p->pid & (ETCH_COMMS - 1)];
	unsigned long flags;

	raw_spin_lock_irqsave(&etch_comm_lock, flags);
	c->pid = p->pid;
	strscpy_pad(c->comm, p->comm);
	raw_spin_unlock_irqrestore(&etch_comm_lock, flags);
}

/**
 * etch_comm_get() - an event was enabled: remember the names of tasks that exit
 *
 * If there is no memory, their names will not be known.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_comm_get(void)
{
	struct etch_comm *comms;

	BUILD_BUG_ON_NOT_POWER_OF_2(ETCH_COMMS);
	lockdep_assert_held(&etch_mutex);
	if (etch_comm_users++)
		return;
	if (!etch_comms) {
		comms = kvcalloc(ETCH_COMMS, sizeof(*comms), GFP_KERNEL);
		/* Pairs with that in etch_comm_recall(). */
		smp_store_release(&etch_comms, comms);
	}
	etch_comm_probed = etch_comms &&
			   !register_trace_sched_process_exit(etch_comm_exit, NULL);
	if (!etch_comm_probed)
		pr_warn("no memory for the names of tasks\n");
}

/**
 * etch_comm_put() - an event was disabled
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_comm_put(void)
{
	lockdep_assert_held(&etch_mutex);
	if (!--etch_comm_users && etch_comm_probed)
		unregister_trace_sched_process_exit(etch_comm_exit, NULL);
}

/* Of a task that has not been released yet. */
static bool etch_comm_ask(pid_t pid, char comm[TASK_COMM_LEN])
{
	struct task_struct *task;

	rcu_read_lock();
	task = find_task_by_pid_ns(pid, &init_pid_ns);
	/* It may be about to change: either name will do, and a zero ends both. */
	if (task)
		strscpy_pad(comm, task->comm, TASK_COMM_LEN);
	rcu_read_unlock();
	return task;
}

/* Under etch_comm_lock. */
static bool etch_comm_copy(pid_t pid, const struct etch_comm *comms, char comm[TASK_COMM_LEN])
{
	const struct etch_comm *c = &comms[pid & (ETCH_COMMS - 1)];

	if (c->pid != pid)
		return false;
	memcpy(comm, c->comm, TASK_COMM_LEN);
	return true;
}

/* @wait: wait for etch_comm_lock; otherwise skip the table while the lock is held. */
static bool etch_comm_recall(pid_t pid, char comm[TASK_COMM_LEN], bool wait)
{
	struct etch_comm *comms;
	unsigned long flags;
	bool found = false;

	/* The table as it was made, at least. Pairs with that in etch_comm_get(). */
	comms = smp_load_acquire(&etch_comms);
	if (!comms)
		return false;
	if (wait) {
		raw_spin_lock_irqsave(&etch_comm_lock, flags);
		found = etch_comm_copy(pid, comms, comm);
		raw_spin_unlock_irqrestore(&etch_comm_lock, flags);
	} else if (raw_spin_trylock_irqsave(&etch_comm_lock, flags)) {
		found = etch_comm_copy(pid, comms, comm);
		raw_spin_unlock_irqrestore(&etch_comm_lock, flags);
	}
	return found;
}

static void etch_comm_look(pid_t pid, char comm[TASK_COMM_LEN], bool wait)
{
	if (!pid)
		strscpy(comm, "<idle>", TASK_COMM_LEN);
	else if (!etch_comm_ask(pid, comm) && !etch_comm_recall(pid, comm, wait))
		strscpy(comm, "<...>", TASK_COMM_LEN);
}

/**
 * etch_comm_find() - the name of a task
 * @pid: its id in the initial namespace; 0 is the idle task of any CPU
 * @comm: gets the name, or "<...>" if it is not known any more
 *
 * Context: process or softirq.
 */
void etch_comm_find(pid_t pid, char comm[TASK_COMM_LEN])
{
	etch_comm_look(pid, comm, true);
}

/**
 * etch_comm_find_nowait() - etch_comm_find() that waits for nobody
 * @pid: as there
 * @comm: as there
 *
 * Context: any, NMI included.
 */
void etch_comm_find_nowait(pid_t pid, char comm[TASK_COMM_LEN])
{
	etch_comm_look(pid, comm, false);
}
