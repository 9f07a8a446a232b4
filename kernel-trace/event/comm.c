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
 *
 * Nobody waits here. A task that exits while another one stores its name in the same place
 * is forgotten: one of the two would be, anyway. And a reader that finds a place in change
 * does not know the name: either another name is taking its place; or the task is just
 * exiting, and can still be asked.
 */
#define pr_fmt(fmt) "etch: " fmt

#include <kunit/visibility.h>
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/etch.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <trace/events/sched.h>

#include "event/event.h"

#define ETCH_COMMS		4096	/* a power of two */

/**
 * struct etch_comm - a place in the table
 * @busy: bit 0: a CPU is changing the place
 * @seq: tells readers of a change
 * @pid: the task's id, or 0
 * @comm: its name
 */
struct etch_comm {
	unsigned long busy;
	seqcount_t seq;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/* Made when first wanted, and kept. */
static struct etch_comm *etch_comms;

/* How many events are enabled, and whether the probe is registered. Under etch_mutex. */
static unsigned int etch_comm_users;
static bool etch_comm_probed;

/* With preemption disabled, and the table there. */
VISIBLE_IF_KUNIT void etch_comm_store(pid_t pid, const char *comm)
{
	struct etch_comm *c = &etch_comms[pid & (ETCH_COMMS - 1)];

	if (test_and_set_bit_lock(0, &c->busy))
		return;
	raw_write_seqcount_begin(&c->seq);
	c->pid = pid;
	strscpy_pad(c->comm, comm, sizeof(c->comm));
	raw_write_seqcount_end(&c->seq);
	clear_bit_unlock(0, &c->busy);
}

/* The probe of sched_process_exit. */
static void etch_comm_exit(void *data, struct task_struct *p, bool group_dead)
{
	etch_comm_store(p->pid, p->comm);
}

static struct etch_comm *etch_comm_table(void)
{
	struct etch_comm *comms = kvcalloc(ETCH_COMMS, sizeof(*comms), GFP_KERNEL);
	unsigned int i;

	for (i = 0; comms && i < ETCH_COMMS; i++)
		seqcount_init(&comms[i].seq);
	return comms;
}

/**
 * etch_comm_make() - make the table of names
 *
 * If there is no memory, the names of tasks that are gone will not be known.
 *
 * Context: process, may sleep; holds etch_mutex.
 * Return: whether the table is there.
 */
bool etch_comm_make(void)
{
	struct etch_comm *comms;

	BUILD_BUG_ON_NOT_POWER_OF_2(ETCH_COMMS);
	lockdep_assert_held(&etch_mutex);
	if (etch_comms)
		return true;
	comms = etch_comm_table();
	if (!comms)
		pr_warn("no memory for the names of tasks\n");
	/* Pairs with those in etch_comm_recall() and etch_comm_note(). */
	smp_store_release(&etch_comms, comms);
	return comms;
}

/**
 * etch_comm_get() - an event was enabled: remember the names of tasks that exit
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_comm_get(void)
{
	lockdep_assert_held(&etch_mutex);
	if (etch_comm_users++)
		return;
	etch_comm_probed = etch_comm_make() &&
			   !register_trace_sched_process_exit(etch_comm_exit, NULL);
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

/* Of a task whose name was put away. */
VISIBLE_IF_KUNIT bool etch_comm_recall(pid_t pid, char comm[TASK_COMM_LEN])
{
	/* The table as it was made, at least. Pairs with that in etch_comm_make(). */
	const struct etch_comm *c = smp_load_acquire(&etch_comms);
	unsigned int seq;

	if (!c)
		return false;
	c += pid & (ETCH_COMMS - 1);
	seq = raw_read_seqcount(&c->seq);
	if (seq & 1 || c->pid != pid)
		return false;
	memcpy(comm, c->comm, TASK_COMM_LEN);
	return !read_seqcount_retry(&c->seq, seq);
}

/**
 * etch_comm_note() - remember this task's name, as if it exited now
 *
 * For a record that is written while no event is enabled, and no probe waits for exits. Does
 * nothing without a table: see etch_comm_make().
 *
 * Context: process.
 */
void etch_comm_note(void)
{
	guard(preempt)();
	/* Pairs with that in etch_comm_make(). */
	if (smp_load_acquire(&etch_comms))
		etch_comm_store(current->pid, current->comm);
}

/**
 * etch_comm_find() - the name of a task
 * @pid: its id in the initial namespace; 0 is the idle task of any CPU
 * @comm: gets the name, or "<...>" if it is not known any more
 *
 * Context: any, NMI included.
 */
void etch_comm_find(pid_t pid, char comm[TASK_COMM_LEN])
{
	if (!pid)
		strscpy(comm, "<idle>", TASK_COMM_LEN);
	else if (!etch_comm_ask(pid, comm) && !etch_comm_recall(pid, comm))
		strscpy(comm, "<...>", TASK_COMM_LEN);
}
