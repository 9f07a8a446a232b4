// SPDX-License-Identifier: GPL-2.0
/*
 * How long a program ran: in ticks of the processor's counter, because um's own account is in
 * hundredths of a second. A write of a program's name to the file bench-ran in debugfs begins
 * at zero; the file then has the sum over all threads that have this name. It counts from
 * switch to switch, so the program must not be running itself when the file is read or
 * written: with one processor it is not.
 */

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include "measure.h"

static char ran_name[TASK_COMM_LEN];
static u64 ran_ticks;
static DEFINE_PER_CPU(u64, ran_since);
static struct tracepoint *ran_switch;
static struct dentry *ran_file;

/* sched_switch. Preemption is off. */
static void ran_switched(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	u64 now = bench_ticks();

	if (!strncmp(prev->comm, ran_name, sizeof(ran_name)))
		ran_ticks += now - this_cpu_read(ran_since);
	this_cpu_write(ran_since, now);
}

static ssize_t ran_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char name[TASK_COMM_LEN] = "";

	if (count >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, from, count))
		return -EFAULT;
	preempt_disable();
	strscpy(ran_name, strim(name), sizeof(ran_name));
	ran_ticks = 0;
	preempt_enable();
	return count;
}

static ssize_t ran_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	char line[24];
	int len = scnprintf(line, sizeof(line), "%llu\n", ran_ticks);

	return simple_read_from_buffer(to, count, pos, line, len);
}

static const struct file_operations ran_fops = {
	.owner = THIS_MODULE,
	.read = ran_read,
	.write = ran_write,
};

static void ran_find(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_switch"))
		ran_switch = tp;
}

static int __init ran_init(void)
{
	int ret;

	for_each_kernel_tracepoint(ran_find, NULL);
	if (!ran_switch)
		return -ENOENT;
	ret = tracepoint_probe_register(ran_switch, ran_switched, NULL);
	if (ret)
		return ret;
	ran_file = debugfs_create_file("bench-ran", 0600, NULL, NULL, &ran_fops);
	return 0;
}

static void __exit ran_exit(void)
{
	debugfs_remove(ran_file);
	tracepoint_probe_unregister(ran_switch, ran_switched, NULL);
	tracepoint_synchronize_unregister();
}

module_init(ran_init);
module_exit(ran_exit);
MODULE_DESCRIPTION("How long a program ran");
MODULE_LICENSE("GPL");
