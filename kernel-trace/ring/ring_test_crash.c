// SPDX-License-Identifier: GPL-2.0
/*
 * Crashes, for tests of what outlives them: write one of these words to
 * /sys/kernel/debug/etch_ring_test/crash.
 *
 *	panic	the kernel panics
 *	record	a fault in the middle of a record of task:task_rename, which has to be
 *		enabled: the task that writes dies
 */

#include <linux/debugfs.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/panic.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <trace/events/task.h>

#include "ring/ring_test.h"

/* No task: nothing is ever mapped there. */
#define RING_TEST_NO_TASK	((struct task_struct *)PAGE_SIZE)

static ssize_t ring_test_crash_write(struct file *file, const char __user *ubuf, size_t len,
				     loff_t *pos)
{
	char word[16] = "";

	if (len >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, ubuf, len))
		return -EFAULT;
	strim(word);
	if (!strcmp(word, "panic"))
		panic("etch_ring_test: as it was asked to");
	if (strcmp(word, "record"))
		return -EINVAL;
	if (!trace_task_rename_enabled())
		return -ENOENT;
	trace_task_rename(RING_TEST_NO_TASK, "nobody");
	return len;
}

static const struct file_operations ring_test_crash_fops = {
	.open = simple_open,
	.write = ring_test_crash_write,
	.llseek = noop_llseek,
};

/* The file, in the folder of the others. */
void ring_test_crash_init(struct dentry *dir)
{
	debugfs_create_file("crash", 0200, dir, NULL, &ring_test_crash_fops);
}
