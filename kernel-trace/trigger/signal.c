// SPDX-License-Identifier: GPL-2.0
/*
 * signal:NAME: a hit sends a signal to the process that hit the event.
 *
 * A hit may be where no signal can be sent. So the task does that itself on its way back to user
 * space: what it was doing in the kernel, a system call say, it does to its end. Of what is on
 * its way there are ETCH_SIGNALS at most, in all the kernel. A task that hits the event again
 * before it is back in user space gets the signal once.
 *
 * Kernel threads, the first process, and tasks that are exiting get none.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/hardirq.h>
#include <linux/init.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/task_work.h>

#include "trigger/trigger.h"

#define ETCH_SIGNALS	BITS_PER_LONG

static const struct etch_signal_name {
	const char *name;
	int number;
} etch_signal_names[] = {
	{ "HUP", SIGHUP }, { "INT", SIGINT }, { "QUIT", SIGQUIT }, { "ILL", SIGILL },
	{ "TRAP", SIGTRAP }, { "ABRT", SIGABRT }, { "BUS", SIGBUS }, { "FPE", SIGFPE },
	{ "KILL", SIGKILL }, { "USR1", SIGUSR1 }, { "SEGV", SIGSEGV }, { "USR2", SIGUSR2 },
	{ "PIPE", SIGPIPE }, { "ALRM", SIGALRM }, { "TERM", SIGTERM }, { "CHLD", SIGCHLD },
	{ "CONT", SIGCONT }, { "STOP", SIGSTOP }, { "TSTP", SIGTSTP }, { "TTIN", SIGTTIN },
	{ "TTOU", SIGTTOU }, { "URG", SIGURG }, { "XCPU", SIGXCPU }, { "XFSZ", SIGXFSZ },
	{ "VTALRM", SIGVTALRM }, { "PROF", SIGPROF }, { "WINCH", SIGWINCH }, { "IO", SIGIO },
	{ "PWR", SIGPWR }, { "SYS", SIGSYS },
};

/**
 * struct etch_signal - what an order sends
 * @name: of the signal
 * @refused: hits of tasks that get none
 * @full: hits for which there was no room among ETCH_SIGNALS
 */
struct etch_signal {
	const struct etch_signal_name *name;
	atomic_long_t refused;
	atomic_long_t full;
};

/**
 * struct etch_signal_work - a signal on its way
 * @head: runs in the task, before it is back in user space
 * @task: the task; NULL: none
 * @number: of the signal
 */
struct etch_signal_work {
	struct callback_head head;
	struct task_struct *task;
	int number;
};

/* Bit i is set while entry i is in use. */
static unsigned long etch_signals_used;
static struct etch_signal_work etch_signals[ETCH_SIGNALS];

/* ---- On its way ---- */

static void etch_signal_put(struct etch_signal_work *work)
{
	WRITE_ONCE(work->task, NULL);
	/* (Y) looks at the entry before its bit: pairs with etch_signal_get() */
	smp_mb__before_atomic();
	clear_bit(work - etch_signals, &etch_signals_used);
}

/* In the task. */
static void etch_signal_send(struct callback_head *head)
{
	struct etch_signal_work *work = container_of(head, struct etch_signal_work, head);
	int number = work->number;

	etch_signal_put(work);
	do_send_sig_info(number, SEND_SIG_PRIV, current, PIDTYPE_TGID);
}

/* An entry of nobody's, or NULL. */
static struct etch_signal_work *etch_signal_get(void)
{
	unsigned long free;

	while ((free = ~READ_ONCE(etch_signals_used))) {
		unsigned int i = __ffs(free);

		/* (y) a full barrier, for this hit overwrites the entry */
		if (!test_and_set_bit(i, &etch_signals_used))
			return &etch_signals[i];
	}
	return NULL;
}

/* Only the current task sets entries to itself, and clears them. */
static bool etch_signal_pending(int number)
{
	unsigned long used;

	for (used = READ_ONCE(etch_signals_used); used; used &= used - 1) {
		const struct etch_signal_work *work = &etch_signals[__ffs(used)];

		if (READ_ONCE(work->task) == current && READ_ONCE(work->number) == number)
			return true;
	}
	return false;
}

static bool etch_signal_reaches(struct task_struct *task)
{
	return !(task->flags & (PF_KTHREAD | PF_USER_WORKER | PF_EXITING)) &&
	       !is_global_init(task);
}

/* task_work_add() must not allocate. Where it may, the kernel's own patch says how not. */
#ifndef ETCH_SIGNAL_RESUME
#define ETCH_SIGNAL_RESUME	TWA_RESUME
#endif

static bool etch_signal_add(struct etch_signal_work *work, int number)
{
	work->head.func = etch_signal_send;
	WRITE_ONCE(work->number, number);
	WRITE_ONCE(work->task, current);
	if (!task_work_add(current, &work->head,
			   in_nmi() ? TWA_NMI_CURRENT : ETCH_SIGNAL_RESUME))
		return true;
	etch_signal_put(work);
	return false;
}

/* Hits that send nothing do not count. */
static void etch_signal_hit(struct etch_order *order, const struct etch_hit *hit)
{
	struct etch_signal *signal = order->private;
	struct etch_signal_work *work;

	if (!etch_signal_reaches(current)) {
		atomic_long_inc(&signal->refused);
	} else if (!etch_signal_pending(signal->name->number)) {
		work = etch_signal_get();
		if (work && etch_signal_add(work, signal->name->number))
			return;
		atomic_long_inc(work ? &signal->refused : &signal->full);
	}
	etch_order_give_back(order);
}

/* ---- The lines ---- */

static const struct etch_signal_name *etch_signal_find(const char *name, size_t len)
{
	const struct etch_signal_name *known;

	for (known = etch_signal_names;
	     known < etch_signal_names + ARRAY_SIZE(etch_signal_names); known++)
		if (strlen(known->name) == len && !strncasecmp(known->name, name, len))
			return known;
	return NULL;
}

static int etch_signal_make(struct etch_order *order, const struct etch_input *in,
			    const char *args, size_t len)
{
	const struct etch_signal_name *name;
	struct etch_signal *signal;
	size_t skip;

	if (!args)
		return etch_bad(in, in->text + strlen(in->text), -EINVAL,
				"The name of a signal is missing: signal:STOP");
	skip = len > 3 && !strncasecmp(args, "SIG", 3) ? 3 : 0;
	name = etch_signal_find(args + skip, len - skip);
	if (!name)
		return etch_bad(in, args, -EINVAL, "There is no such signal");
	signal = kzalloc(sizeof(*signal), GFP_KERNEL);
	if (!signal)
		return etch_bad(in, args, -ENOMEM, "Not enough memory");
	signal->name = name;
	order->private = signal;
	return 0;
}

static bool etch_signal_same(const struct etch_order *a, const struct etch_order *b)
{
	const struct etch_signal *one = a->private, *other = b->private;

	return one->name == other->name;
}

static void etch_signal_show(struct seq_file *m, const struct etch_order *order)
{
	const struct etch_signal *signal = order->private;

	seq_printf(m, "signal:%s", signal->name->name);
}

static void etch_signal_note(struct seq_file *m, const struct etch_order *order)
{
	const struct etch_signal *signal = order->private;

	seq_printf(m, "# not sent: %ld to tasks that get none, %ld with %d on their way\n",
		   atomic_long_read(&signal->refused), atomic_long_read(&signal->full),
		   ETCH_SIGNALS);
}

static void etch_signal_free(struct etch_order *order)
{
	kfree(order->private);
}

static struct etch_trigger_kind etch_signal_kind = {
	.name = "signal",
	.make = etch_signal_make,
	.same = etch_signal_same,
	.hit = etch_signal_hit,
	.show = etch_signal_show,
	.note = etch_signal_note,
	.free = etch_signal_free,
};

static int __init etch_signal_offer(void)
{
	etch_trigger_offer(&etch_signal_kind);
	return 0;
}
core_initcall(etch_signal_offer);
