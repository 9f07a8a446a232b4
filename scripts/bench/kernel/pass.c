// SPDX-License-Identifier: GPL-2.0
/*
 * Two tasks that wait for each other in the kernel: what the scheduler's events
 * are hit by, without a system call in between. Writing a number to the parameter
 * passes has the writer and a thread take turns so often; the write ends when they
 * are through.
 */

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>

struct bench_pass {
	struct completion	there;
	struct completion	back;
	unsigned long		passes;
};

static int bench_pass_thread(void *data)
{
	struct bench_pass *pass = data;
	unsigned long passes = pass->passes;

	/* Not to be touched after the last time: it is on the writer's stack. */
	while (passes--) {
		wait_for_completion(&pass->there);
		complete(&pass->back);
	}
	return 0;
}

static int bench_pass_set(const char *value, const struct kernel_param *kp)
{
	struct bench_pass pass;
	struct task_struct *thread;
	unsigned long i;
	int ret;

	ret = kstrtoul(value, 0, &pass.passes);
	if (ret)
		return ret;
	if (!pass.passes)	/* the thread would find the stack gone */
		return -EINVAL;
	init_completion(&pass.there);
	init_completion(&pass.back);
	thread = kthread_run(bench_pass_thread, &pass, "bench-pass");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	for (i = 0; i < pass.passes; i++) {
		complete(&pass.there);
		wait_for_completion(&pass.back);
	}
	return 0;
}

static const struct kernel_param_ops bench_pass_ops = {
	.set = bench_pass_set,
};

module_param_cb(passes, &bench_pass_ops, NULL, 0200);
MODULE_PARM_DESC(passes, "how often two tasks take turns");
MODULE_DESCRIPTION("Tasks that wait for each other");
MODULE_LICENSE("GPL");
