// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the names of tasks: they outlive their tasks, and none is a mix of two.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "event/event.h"

/* Ids that no task has, and whose names have one place. */
#define ETCH_KUNIT_PID		(PID_MAX_LIMIT + 5)
#define ETCH_KUNIT_OTHER	(ETCH_KUNIT_PID + 4096)

static bool etch_is_there(pid_t pid)
{
	guard(rcu)();
	return find_task_by_pid_ns(pid, &init_pid_ns);
}

static int etch_until_stopped(void *unused)
{
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return 0;
}

static void etch_comm_outlives_its_task(struct kunit *test)
{
	unsigned long end = jiffies + 10 * HZ;
	char comm[TASK_COMM_LEN];
	struct task_struct *task;
	pid_t pid;

	scoped_guard(mutex, &etch_mutex)
		etch_comm_get();
	task = kthread_run(etch_until_stopped, NULL, "etch_gone");
	if (!IS_ERR(task)) {
		pid = task->pid;
		kthread_stop(task);
		while (etch_is_there(pid) && time_before(jiffies, end))
			usleep_range(1000, 2000);
	}
	scoped_guard(mutex, &etch_mutex)
		etch_comm_put();
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_FALSE(test, etch_is_there(pid));
	etch_comm_find(pid, comm);
	KUNIT_EXPECT_STREQ(test, comm, "etch_gone");
}

static void etch_comm_unknown(struct kunit *test)
{
	char comm[TASK_COMM_LEN];

	etch_comm_find(ETCH_KUNIT_OTHER + 1, comm);
	KUNIT_EXPECT_STREQ(test, comm, "<...>");
	etch_comm_find(0, comm);
	KUNIT_EXPECT_STREQ(test, comm, "<idle>");
}

/* The last one that was stored in a place is remembered. */
static void etch_comm_one_to_a_place(struct kunit *test)
{
	char comm[TASK_COMM_LEN];

	scoped_guard(mutex, &etch_mutex)
		KUNIT_ASSERT_TRUE(test, etch_comm_make());
	scoped_guard(preempt) {
		etch_comm_store(ETCH_KUNIT_PID, "first");
		etch_comm_store(ETCH_KUNIT_OTHER, "second, and too long");
	}
	KUNIT_EXPECT_FALSE(test, etch_comm_recall(ETCH_KUNIT_PID, comm));
	KUNIT_ASSERT_TRUE(test, etch_comm_recall(ETCH_KUNIT_OTHER, comm));
	KUNIT_EXPECT_STREQ(test, comm, "second, and too");
}

#define ETCH_KUNIT_COMM		"aaaaaaaaaaaaaaa"
#define ETCH_KUNIT_OTHERS	"bbbbbbbbbbbbbbb"
#define ETCH_KUNIT_PERIOD	(20 * NSEC_PER_USEC)

/* A timer that interrupts a task between, and within, its changes and looks. */
struct etch_comm_timer {
	struct hrtimer timer;
	unsigned int interrupts;
	unsigned int wrong;
};

/* How many of the two names are known, and are not those of their tasks. */
static unsigned int etch_comms_wrong(void)
{
	char comm[TASK_COMM_LEN];
	unsigned int wrong = 0;

	if (etch_comm_recall(ETCH_KUNIT_PID, comm))
		wrong += strcmp(comm, ETCH_KUNIT_COMM) != 0;
	if (etch_comm_recall(ETCH_KUNIT_OTHER, comm))
		wrong += strcmp(comm, ETCH_KUNIT_OTHERS) != 0;
	return wrong;
}

static enum hrtimer_restart etch_comm_interrupt(struct hrtimer *timer)
{
	struct etch_comm_timer *t = container_of(timer, struct etch_comm_timer, timer);

	t->wrong += etch_comms_wrong();
	etch_comm_store(ETCH_KUNIT_OTHER, ETCH_KUNIT_OTHERS);
	t->wrong += etch_comms_wrong();
	t->interrupts++;
	hrtimer_forward_now(timer, ETCH_KUNIT_PERIOD);
	return HRTIMER_RESTART;
}

/*
 * Two names go into one place, one in the middle of the other: each look finds one, or none.
 * That a reader on another CPU sees no change half-way is the sequence count's to prove.
 */
static void etch_comm_is_no_mix(struct kunit *test)
{
	unsigned long end = jiffies + HZ / 2;
	struct etch_comm_timer t = {};
	unsigned int wrong = 0, i;

	scoped_guard(mutex, &etch_mutex)
		KUNIT_ASSERT_TRUE(test, etch_comm_make());
	/* Another test may have used the place. */
	scoped_guard(preempt)
		etch_comm_store(ETCH_KUNIT_PID, ETCH_KUNIT_COMM);
	hrtimer_setup_on_stack(&t.timer, etch_comm_interrupt, CLOCK_MONOTONIC,
			       HRTIMER_MODE_REL_PINNED_HARD);
	scoped_guard(migrate) {
		hrtimer_start(&t.timer, ETCH_KUNIT_PERIOD, HRTIMER_MODE_REL_PINNED_HARD);
		while (time_before(jiffies, end)) {
			scoped_guard(preempt) {
				etch_comm_store(ETCH_KUNIT_OTHER, ETCH_KUNIT_OTHERS);
				etch_comm_store(ETCH_KUNIT_PID, ETCH_KUNIT_COMM);
			}
			for (i = 0; i < 16; i++)
				wrong += etch_comms_wrong();
			cond_resched();
		}
		hrtimer_cancel(&t.timer);
	}
	destroy_hrtimer_on_stack(&t.timer);
	kunit_info(test, "%u interrupts", t.interrupts);
	KUNIT_EXPECT_GT(test, t.interrupts, 0);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, t.wrong, 0);
}

static struct kunit_case etch_comm_cases[] = {
	KUNIT_CASE(etch_comm_outlives_its_task),
	KUNIT_CASE(etch_comm_unknown),
	KUNIT_CASE(etch_comm_one_to_a_place),
	KUNIT_CASE(etch_comm_is_no_mix),
	{}
};

static struct kunit_suite etch_comm_suite = {
	.name = "etch_comm",
	.test_cases = etch_comm_cases,
};
kunit_test_suite(etch_comm_suite);

MODULE_DESCRIPTION("KUnit tests of the names of tasks");
MODULE_LICENSE("GPL");
