// SPDX-License-Identifier: GPL-2.0
/*
 * Hits at a steady rate, for readers that run beside them. A write of
 *
 *	HITS TICKS NAME
 *
 * to the file bench/pace in debugfs starts them: TICKS times, a millisecond from one to
 * the next, an interrupt of a timer on this processor does HITS hits of NAME; the writer
 * sleeps meanwhile. A late interrupt is not made up for by more hits: that would be a
 * burst. bench/paced holds how long the whole run took, in nanoseconds, and bench/long
 * how many interrupts took longer than a millisecond.
 */

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "event.h"
#include "timer.h"

static const struct {
	const char	*name;
	void		(*loop)(unsigned long iterations);
} bench_paced[] = {
	{ "etch_small", bench_loop_etch_small },
	{ "ftrace_small", bench_loop_ftrace_small },
};

/**
 * struct bench_pace - a run of hits
 * @timer: fires each millisecond
 * @loop: hits
 * @hits: each time
 * @left: times that are to come
 * @begin: when the run began
 * @ns: how long the run took, set at its end
 * @late: times that took longer than a millisecond
 * @done: completed at the end of the run
 */
static struct bench_pace {
	struct hrtimer		timer;
	void			(*loop)(unsigned long iterations);
	unsigned long		hits;
	unsigned long		left;
	ktime_t			begin;
	u64			ns;
	u64			late;
	struct completion	done;
} pace;

static DEFINE_MUTEX(bench_pace_lock);		/* one at a time */

static enum hrtimer_restart bench_pace_tick(struct hrtimer *timer)
{
	ktime_t begin = ktime_get();
	ktime_t end;

	pace.loop(pace.hits);
	end = ktime_get();
	pace.late += ktime_after(end, ktime_add_ms(begin, 1));
	if (--pace.left) {
		hrtimer_forward(timer, end, ms_to_ktime(1));
		return HRTIMER_RESTART;
	}
	pace.ns = ktime_to_ns(ktime_sub(end, pace.begin));
	complete(&pace.done);
	return HRTIMER_NORESTART;
}

static void bench_pace_run(void)
{
	hrtimer_setup(&pace.timer, bench_pace_tick, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	init_completion(&pace.done);
	pace.late = 0;
	pace.begin = ktime_get();
	hrtimer_start(&pace.timer, ms_to_ktime(1), HRTIMER_MODE_REL_PINNED_HARD);
	wait_for_completion(&pace.done);
	hrtimer_cancel(&pace.timer);
}

static int bench_pace_line(const char *line)
{
	char name[32];
	int i;

	if (sscanf(line, "%lu %lu %31s", &pace.hits, &pace.left, name) != 3 ||
	    !pace.hits || !pace.left)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(bench_paced); i++) {
		if (strcmp(bench_paced[i].name, name))
			continue;
		pace.loop = bench_paced[i].loop;
		bench_pace_run();
		return 0;
	}
	return -ENOENT;
}

static ssize_t bench_pace_write(struct file *file, const char __user *from,
				size_t count, loff_t *pos)
{
	char line[80];
	int ret;

	if (count >= sizeof(line))
		return -E2BIG;
	if (copy_from_user(line, from, count))
		return -EFAULT;
	line[count] = '\0';
	mutex_lock(&bench_pace_lock);
	ret = bench_pace_line(line);
	mutex_unlock(&bench_pace_lock);
	return ret ?: count;
}

static const struct file_operations bench_pace_fops = {
	.owner = THIS_MODULE,
	.write = bench_pace_write,
};

/* The files, in the module's folder. */
void bench_pace_create(struct dentry *dir)
{
	debugfs_create_file("pace", 0200, dir, NULL, &bench_pace_fops);
	debugfs_create_u64("paced", 0400, dir, &pace.ns);
	debugfs_create_u64("long", 0400, dir, &pace.late);
}
