// SPDX-License-Identifier: GPL-2.0
/*
 * The torture of the ring buffer, in the kernel that it is for.
 *
 * /sys/kernel/debug/etch_ring_test/run: write "overwrite MS", "discard MS" or
 * "both MS", and for so many milliseconds each CPU has a ring into which tasks
 * and interrupts of all kinds write, while one task takes, one peeks, and one
 * resets, resizes, turns off and on, and with "both" changes the mode. Returns
 * when that is over; a signal ends it early. A read gives the accounts, and in its
 * last line how many checks failed, and the first one of these.
 *
 * What an account holds is checked to the record whenever a ring is reset, and at
 * the end:
 *
 *	tried = written + lost, by cause
 *	written = read + overwritten + entries
 *	overwritten = missing sequence numbers = sum of view.missed
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "ring/ring_test.h"
#include "test_nmi.h"

enum ring_test_mode { RING_TEST_DISCARD, RING_TEST_OVERWRITE, RING_TEST_BOTH };

static const char * const ring_test_modes[] = { "discard", "overwrite", "both" };

static const char * const ring_test_whos[RING_TEST_NR] = {
	[RING_TEST_TASK]	= "task",
	[RING_TEST_SOFT]	= "softirq",
	[RING_TEST_TIMER]	= "timer",
	[RING_TEST_WORK]	= "irq_work",
	[RING_TEST_NMI]		= "nmi",
};

/* One run at a time. */
static DEFINE_MUTEX(ring_test_mutex);

/* The last run. */
static struct {
	enum ring_test_mode	mode;
	struct ring_test_sums	sums;
	unsigned int		deepest;
	unsigned long		resets;
	unsigned long		resizes;
	unsigned long		modes;
	unsigned long		toggles;
	atomic_long_t		bad;
	char			first[160];
} run;

/**
 * ring_test_bad() - something is not as it should be
 * @c: with which ring
 * @fmt: what, as printf() has it
 *
 * Context: task.
 */
void ring_test_bad(const struct ring_test_cpu *c, const char *fmt, ...)
{
	va_list args;
	int n;

	if (atomic_long_inc_return(&run.bad) != 1)
		return;
	n = scnprintf(run.first, sizeof(run.first), "cpu%u: ", c->cpu);
	va_start(args, fmt);
	vscnprintf(run.first + n, sizeof(run.first) - n, fmt, args);
	va_end(args);
}

/* ---- Control ---- */

/* Nobody even tries to write. */
static void ring_test_pause(struct ring_test_cpu *c)
{
	WRITE_ONCE(c->paused, true);
	etch_ring_off(c->ring);
	synchronize_rcu();
}

/* In the account that begins, such a mode can lose, or drop. */
static void ring_test_may(struct ring_test_cpu *c, bool overwrite)
{
	c->overwrites |= overwrite;
	c->discards |= !overwrite;
}

static void ring_test_reset(struct ring_test_cpu *c)
{
	ring_test_pause(c);
	ring_test_close(c, &run.sums);
	/* Those who try, and are refused, are none of its business... */
	WRITE_ONCE(c->paused, false);
	usleep_range(100, 200);
	etch_ring_reset(c->ring);
	usleep_range(100, 200);
	/* ... but a new account begins with nobody. */
	ring_test_pause(c);
	etch_ring_reset(c->ring);
	ring_test_forget(c);
	c->overwrites = false;
	c->discards = false;
	ring_test_may(c, c->ring->overwrite);
	etch_ring_on(c->ring);
	WRITE_ONCE(c->paused, false);
	run.resets++;
}

static void ring_test_resize(struct ring_test_cpu *c, struct etch_resize *ctx)
{
	etch_ring_off(c->ring);
	synchronize_rcu();
	etch_ring_resize_commit(ctx);
	c->era++;
	/* Records that there is no room for any more are overwritten in any mode. */
	c->overwrites = true;
	etch_ring_on(c->ring);
	run.resizes++;
}

static void ring_test_change_mode(struct ring_test_cpu *c)
{
	bool overwrite = !c->ring->overwrite;

	etch_ring_off(c->ring);
	synchronize_rcu();
	etch_ring_set_mode(c->ring, overwrite);
	ring_test_may(c, overwrite);
	etch_ring_on(c->ring);
	run.modes++;
}

static void ring_test_toggle(struct ring_test_cpu *c)
{
	struct etch_ring_stats stats;

	etch_ring_off(c->ring);
	etch_ring_stats(c->ring, &stats);
	if (stats.read != c->read)
		ring_test_bad(c, "stats: %llu read, not %llu", stats.read, c->read);
	etch_ring_on(c->ring);
	run.toggles++;
}

/* Something of all that, to one ring. */
static void ring_test_do(struct ring_test_cpu *c, u32 x)
{
	struct etch_resize *ctx = NULL;

	/* Allocates, so before the lock and the quiet time. */
	if (x % 8 < 2)
		ctx = etch_ring_resize_prepare(c->ring, 2 << (x / 8 % 4));
	if (IS_ERR(ctx))
		return;

	mutex_lock(&c->lock);
	if (ctx)
		ring_test_resize(c, ctx);
	else if (x % 8 == 2)
		ring_test_reset(c);
	else if (x % 8 < 5 && run.mode == RING_TEST_BOTH)
		ring_test_change_mode(c);
	else
		ring_test_toggle(c);
	mutex_unlock(&c->lock);
}

static int ring_test_control(void *random)
{
	while (!kthread_should_stop()) {
		int cpu;

		for_each_online_cpu(cpu)
			ring_test_do(per_cpu_ptr(&ring_test_cpus, cpu), ring_test_random(random));
		usleep_range(500, 10000);
	}
	return 0;
}

/* ---- A run ---- */

static struct etch_ring *ring_test_create(int cpu)
{
	struct etch_ring_params params = {
		.node = cpu_to_node(cpu),
		.size = 4 * PAGE_SIZE,
		.subbuf_size = PAGE_SIZE,
		.header_size = RING_TEST_HEADER,
		.overwrite = run.mode != RING_TEST_DISCARD,
		.clock = etch_clock_default(),
	};

	return etch_ring_create(&params);
}

static int ring_test_init_cpu(int cpu)
{
	struct ring_test_cpu *c = per_cpu_ptr(&ring_test_cpus, cpu);
	struct etch_ring *ring = ring_test_create(cpu);

	if (IS_ERR(ring))
		return PTR_ERR(ring);
	c->cpu = cpu;
	mutex_init(&c->lock);
	ring_test_init_writers(c);
	ring_test_forget(c);
	c->overwrites = false;
	c->discards = false;
	ring_test_may(c, ring->overwrite);
	c->ring = ring;
	return 0;
}

static int ring_test_init_cpus(void)
{
	int cpu, ret = 0;

	for_each_online_cpu(cpu)
		ret = ret ?: ring_test_init_cpu(cpu);
	return ret;
}

/* Nobody writes or reads any more. */
static void ring_test_end_cpus(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct ring_test_cpu *c = per_cpu_ptr(&ring_test_cpus, cpu);

		if (!c->ring)
			continue;
		mutex_lock(&c->lock);
		ring_test_pause(c);
		ring_test_close(c, &run.sums);
		mutex_unlock(&c->lock);
		run.deepest = max(run.deepest, c->deepest);
		etch_ring_free(c->ring);
		c->ring = NULL;
		c->paused = false;
	}
}

/* The readers, the task that controls, and a writing task for each CPU. */
struct ring_test_tasks {
	u32			random[2];
	void			*buf;
	unsigned int		nr;
	struct task_struct	*tasks[];
};

/* Stops what there is of these: the last one may not have been started. */
static void ring_test_stop_tasks(struct ring_test_tasks *t)
{
	while (t->nr--)
		if (!IS_ERR(t->tasks[t->nr]))
			kthread_stop(t->tasks[t->nr]);
}

/* Returns 0, or an errno. @cpu: -1 for any. */
static int ring_test_start_task(struct ring_test_tasks *t, int (*fn)(void *data), void *data,
				int cpu)
{
	struct task_struct *task;

	if (cpu < 0)
		task = kthread_create(fn, data, "etch_ring_test");
	else
		task = kthread_create_on_cpu(fn, data, cpu, "etch_ring_test/%u");
	t->tasks[t->nr++] = task;
	if (IS_ERR(task))
		return PTR_ERR(task);
	wake_up_process(task);
	return 0;
}

static int ring_test_start_tasks(struct ring_test_tasks *t)
{
	int cpu, ret;

	ret = ring_test_start_task(t, ring_test_take, &t->random[0], -1);
	ret = ret ?: ring_test_start_task(t, ring_test_peek, t->buf, -1);
	ret = ret ?: ring_test_start_task(t, ring_test_control, &t->random[1], -1);
	for_each_online_cpu(cpu)
		ret = ret ?: ring_test_start_task(t, ring_test_task,
						  per_cpu_ptr(&ring_test_cpus, cpu), cpu);
	return ret;
}

static int ring_test_among_interrupts(unsigned int ms)
{
	int ret = etch_test_nmis_start(ring_test_hit_by_nmi);

	if (ret)
		return ret;
	on_each_cpu(ring_test_start_timers, NULL, 1);
	ret = msleep_interruptible(ms) ? -EINTR : 0;
	ring_test_stop_timers();
	etch_test_nmis_stop();
	return ret;
}

static int ring_test_run(enum ring_test_mode mode, unsigned int ms)
{
	struct ring_test_tasks *t = kzalloc(struct_size(t, tasks, 3 + nr_cpu_ids), GFP_KERNEL);
	void *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);
	int ret = -ENOMEM;

	if (!t || !buf)
		goto out;
	t->buf = buf;

	mutex_lock(&ring_test_mutex);
	cpu_hotplug_disable();
	memset(&run, 0, sizeof(run));
	run.mode = mode;
	ret = ring_test_init_cpus();
	ret = ret ?: ring_test_start_tasks(t);
	ret = ret ?: ring_test_among_interrupts(ms);
	ring_test_stop_tasks(t);
	ring_test_sync_work();
	ring_test_end_cpus();
	cpu_hotplug_enable();
	mutex_unlock(&ring_test_mutex);
out:
	kfree(buf);
	kfree(t);
	return ret;
}

/* ---- The file ---- */

static ssize_t ring_test_write(struct file *file, const char __user *ubuf, size_t len,
			       loff_t *pos)
{
	char buf[32], mode[16];
	unsigned int ms;
	int ret;

	if (len >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, len))
		return -EFAULT;
	buf[len] = 0;
	if (sscanf(buf, "%15s %u", mode, &ms) != 2)
		return -EINVAL;
	ret = match_string(ring_test_modes, ARRAY_SIZE(ring_test_modes), mode);
	if (ret < 0)
		return ret;
	ret = ring_test_run(ret, ms);
	return ret ?: len;
}

static int ring_test_show(struct seq_file *m, void *unused)
{
	const struct ring_test_sums *s = &run.sums;
	int i;

	mutex_lock(&ring_test_mutex);
	for (i = 0; i < RING_TEST_NR; i++)
		seq_printf(m, "%s: %llu tried %llu stored %llu half-way\n", ring_test_whos[i],
			   s->tried[i], s->stored[i], s->half_way[i]);
	seq_printf(m, "lost: %llu full %llu nested %llu big %llu off\n",
		   s->lost[ETCH_LOST_FULL], s->lost[ETCH_LOST_NESTED],
		   s->lost[ETCH_LOST_TOO_BIG], s->lost[ETCH_LOST_OFF]);
	seq_printf(m, "readers: %llu taken %llu overwritten %llu peeked\n", s->read,
		   s->overwritten, ring_test_peeked());
	seq_printf(m, "control: %lu resets %lu resizes %lu modes %lu toggles\n", run.resets,
		   run.resizes, run.modes, run.toggles);
	seq_printf(m, "deepest: %u interrupted\n", run.deepest);
	seq_printf(m, "checks: %ld bad\n", atomic_long_read(&run.bad));
	if (run.first[0])
		seq_printf(m, "first: %s\n", run.first);
	mutex_unlock(&ring_test_mutex);
	return 0;
}

static int ring_test_open(struct inode *inode, struct file *file)
{
	return single_open(file, ring_test_show, NULL);
}

static const struct file_operations ring_test_fops = {
	.open = ring_test_open,
	.read = seq_read,
	.write = ring_test_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init ring_test_init(void)
{
	struct dentry *dir = debugfs_create_dir("etch_ring_test", NULL);

	debugfs_create_file("run", 0600, dir, NULL, &ring_test_fops);
	ring_test_crash_init(dir);
	return 0;
}
device_initcall(ring_test_init);
