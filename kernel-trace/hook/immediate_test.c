// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate values that are set while everybody reads them.
 *
 * /sys/kernel/debug/imv_test/
 *
 *   run	write a number: so many times two tasks set all values to one of
 *		the three that they may have, while a task on each CPU, a timer's
 *		interrupts and, on x86, non-maskable interrupts read them. Returns
 *		when that is done; a signal ends it early. A read gives the counts.
 *   sites	the instructions of the kernel's image that are patched
 */
#define pr_fmt(fmt) "imv_test: " fmt

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "hook/immediate_internal.h"
#include "hook/immediate_test.h"
#include "test_nmi.h"

DEFINE_IMV(u8, imv_test_8);
DEFINE_IMV(u16, imv_test_16);
DEFINE_IMV(u32, imv_test_32);
DEFINE_IMV(u64, imv_test_64);
EXPORT_IMV_GPL(imv_test_8);
EXPORT_IMV_GPL(imv_test_16);
EXPORT_IMV_GPL(imv_test_32);
EXPORT_IMV_GPL(imv_test_64);

static const u64 imv_test_values[] = { IMV_TEST_A, IMV_TEST_B, 0 };

/* One run at a time. */
static DEFINE_MUTEX(imv_test_mutex);

/* How often each reader read all values, and how many of what it got were bad. */
struct imv_test_count {
	atomic_long_t reads;
	atomic_long_t bad;
};

static struct {
	struct imv_test_count task;
	struct imv_test_count timer;
	struct imv_test_count nmi;
	atomic_long_t sets;
	atomic_long_t failed;
} counts;

static void imv_test_count(struct imv_test_count *count)
{
	unsigned int bad = imv_test_read();

	atomic_long_inc(&count->reads);
	if (bad)
		atomic_long_add(bad, &count->bad);
}

/* ---- Readers ---- */

static int imv_test_reader(void *unused)
{
	set_user_nice(current, MAX_NICE);
	while (!kthread_should_stop()) {
		int i;

		/* An emulator's other processors run when this one relaxes. */
		for (i = 0; i < 64; i++) {
			imv_test_count(&counts.task);
			cpu_relax();
		}
		cond_resched();
	}
	return 0;
}

static DEFINE_PER_CPU(struct hrtimer, imv_test_timer);

static enum hrtimer_restart imv_test_tick(struct hrtimer *timer)
{
	imv_test_count(&counts.timer);
	hrtimer_forward_now(timer, ns_to_ktime(200 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static void imv_test_start_timer(void *unused)
{
	struct hrtimer *timer = this_cpu_ptr(&imv_test_timer);

	hrtimer_setup(timer, imv_test_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_PINNED_HARD);
}

static void imv_test_nmi(void)
{
	imv_test_count(&counts.nmi);
}

/* ---- Writers: the one who asked, and one more ---- */

static void imv_test_set(unsigned long i)
{
	/* The values together, or each on its own. */
	u64 value = imv_test_values[i % ARRAY_SIZE(imv_test_values)];
	struct imv_change all[] = {
		{ &imv_test_8, (u8)value }, { &imv_test_16, (u16)value },
		{ &imv_test_32, (u32)value }, { &imv_test_64, value },
	};
	int ret;

	if (i % 2)
		ret = imv_set_many(all, ARRAY_SIZE(all));
	else
		ret = __imv_set(all[i / 2 % 4].imv, all[i / 2 % 4].value);
	atomic_long_inc(&counts.sets);
	if (ret)
		atomic_long_inc(&counts.failed);
}

static int imv_test_other_writer(void *unused)
{
	unsigned long i = 0;

	while (!kthread_should_stop()) {
		imv_test_set(i++);
		usleep_range(500, 1000);
	}
	return 0;
}

/* ---- A run ---- */

/* Stops what there is of these: some may not have been started. */
static void imv_test_stop(struct task_struct **tasks, unsigned int nr)
{
	while (nr--)
		if (!IS_ERR_OR_NULL(tasks[nr]))
			kthread_stop(tasks[nr]);
}

static int imv_test_write(unsigned long times)
{
	unsigned long i;
	int ret = 0;

	for (i = 0; i < times && !ret; i++) {
		imv_test_set(i);
		if (signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	return ret;
}

static int imv_test_among_interrupts(unsigned long times)
{
	int cpu, ret = etch_test_nmis_start(imv_test_nmi);

	if (ret)
		return ret;
	on_each_cpu(imv_test_start_timer, NULL, 1);
	ret = imv_test_write(times);
	for_each_online_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&imv_test_timer, cpu));
	etch_test_nmis_stop();
	return ret;
}

/* One on each CPU, and a second writer. */
static int imv_test_start(struct task_struct **tasks)
{
	int cpu, nr = 0;

	tasks[nr++] = kthread_run(imv_test_other_writer, NULL, "imv_test/writer");
	for_each_online_cpu(cpu) {
		struct task_struct *task = kthread_create_on_cpu(imv_test_reader, NULL, cpu,
								 "imv_test/%u");

		if (!IS_ERR(task))
			wake_up_process(task);
		tasks[nr++] = task;
	}
	return nr;
}

/**
 * imv_test_run() - set all values while everybody reads them
 * @times: how often
 *
 * Context: process; takes as long as it takes.
 * Return: 0, -EINTR for a signal, or the errno of what could not be started.
 */
int imv_test_run(unsigned long times)
{
	struct task_struct **tasks;
	int i, nr, ret = 0;

	tasks = kcalloc(nr_cpu_ids + 1, sizeof(*tasks), GFP_KERNEL);
	if (!tasks)
		return -ENOMEM;

	mutex_lock(&imv_test_mutex);
	cpu_hotplug_disable();
	memset(&counts, 0, sizeof(counts));
	nr = imv_test_start(tasks);
	for (i = 0; i < nr; i++)
		ret = ret ?: PTR_ERR_OR_ZERO(tasks[i]);
	ret = ret ?: imv_test_among_interrupts(times);
	imv_test_stop(tasks, nr);
	cpu_hotplug_enable();
	mutex_unlock(&imv_test_mutex);
	kfree(tasks);
	return ret;
}

/**
 * imv_test_bad() - what went wrong in the last run
 *
 * Context: any.
 * Return: how many values were read that were never set, and sets that failed.
 */
long imv_test_bad(void)
{
	return atomic_long_read(&counts.task.bad) + atomic_long_read(&counts.timer.bad) +
	       atomic_long_read(&counts.nmi.bad) + atomic_long_read(&counts.failed);
}

static ssize_t imv_test_run_write(struct file *file, const char __user *buf, size_t len,
				  loff_t *pos)
{
	unsigned long times;
	int ret = kstrtoul_from_user(buf, len, 0, &times);

	ret = ret ?: imv_test_run(times);
	return ret ?: len;
}

static void imv_test_show(struct seq_file *m, const char *who, struct imv_test_count *count)
{
	seq_printf(m, "%s: %ld reads %ld bad\n", who, atomic_long_read(&count->reads),
		   atomic_long_read(&count->bad));
}

static int imv_test_run_show(struct seq_file *m, void *unused)
{
	imv_test_show(m, "task", &counts.task);
	imv_test_show(m, "timer", &counts.timer);
	if (IS_ENABLED(CONFIG_ETCH_TEST_NMI))
		imv_test_show(m, "nmi", &counts.nmi);
	seq_printf(m, "writer: %ld sets %ld failed\n", atomic_long_read(&counts.sets),
		   atomic_long_read(&counts.failed));
	return 0;
}

static int imv_test_run_open(struct inode *inode, struct file *file)
{
	return single_open(file, imv_test_run_show, NULL);
}

static const struct file_operations imv_test_run_fops = {
	.open = imv_test_run_open,
	.read = seq_read,
	.write = imv_test_run_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* ---- Sites ---- */

static int imv_test_sites_show(struct seq_file *m, void *unused)
{
#ifdef CONFIG_IMV_PATCHED
	const struct imv_site *site;

	for (site = __start___imv_table; site < __stop___imv_table; site++)
		seq_printf(m, "%pS\n", (void *)&site->code + site->code);
#endif
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(imv_test_sites);

/* ---- Init code, which is gone when somebody runs this ---- */

static int __init imv_test_init(void)
{
	struct dentry *dir = debugfs_create_dir("imv_test", NULL);

	if (imv_test_read())
		return -EILSEQ;
	debugfs_create_file("run", 0600, dir, NULL, &imv_test_run_fops);
	debugfs_create_file("sites", 0400, dir, NULL, &imv_test_sites_fops);
	return 0;
}
device_initcall(imv_test_init);
