// SPDX-License-Identifier: GPL-2.0
/*
 * Ring buffers of a module's own, without any event.
 *
 * On each CPU a ring takes records from a thread and from a timer's interrupt, which may
 * hit the thread in the middle of a record. User space reads the records through three
 * files in debugfs, in the folder etch-ring-sample:
 *
 *	records		struct sample_record, one after the other, CPU by CPU; reading
 *			consumes them
 *	subbufs		of how many sub-buffers a ring consists; write another power of two
 *	stats		what became of the records, a line for each CPU
 *
 * Documentation/trace/etch/ring.rst goes through this file.
 */

#define pr_fmt(fmt) "etch-ring-sample: " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#define SAMPLE_RING_BYTES	(64 * 1024)

static unsigned int period = 1000;
module_param(period, uint, 0444);
MODULE_PARM_DESC(period, "microseconds between records of a writer; 100 to a million (default 1000)");

static unsigned int count;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "records that a writer makes before it stops; 0: it goes on (default)");

enum sample_source {
	SAMPLE_THREAD,
	SAMPLE_TIMER,
};

/* What user space reads. Records start on multiples of 4 bytes, hence the attributes. */
struct sample_record {
	u64 time;		/* of etch_clock_default() */
	u32 number;		/* each source counts its own from 0 */
	u16 cpu;
	u16 source;		/* enum sample_source */
} __packed __aligned(4);

static DEFINE_PER_CPU(struct etch_ring *, sample_ring);
static DEFINE_PER_CPU(struct etch_resize *, sample_resize);

/* Serialises what wants it: readers, the figures, resizing. */
static DEFINE_MUTEX(sample_mutex);

static struct task_struct *sample_thread;
static struct hrtimer sample_timer;
static struct dentry *sample_dir;

/* ---- Writing: from any context ---- */

static void sample_log(enum sample_source source, u32 number)
{
	struct sample_record *record;
	struct etch_ring *ring;
	u64 time;

	preempt_disable_notrace();
	ring = __this_cpu_read(sample_ring);
	record = etch_ring_reserve(ring, sizeof(*record), &time);
	if (record) {
		record->time = time;
		record->number = number;
		record->cpu = smp_processor_id();
		record->source = source;
		etch_ring_commit(ring);
	}
	/* Else it is lost, and the ring has counted it. */
	preempt_enable_notrace();
}

static int sample_thread_run(void *unused)
{
	u32 number = 0;

	while (!kthread_should_stop()) {
		if (!count || number < count)
			sample_log(SAMPLE_THREAD, number++);
		usleep_range(period, 2 * period);
	}
	return 0;
}

static ktime_t sample_period(void)
{
	return ns_to_ktime((u64)period * NSEC_PER_USEC);
}

static enum hrtimer_restart sample_timer_hit(struct hrtimer *timer)
{
	static u32 number;

	if (count && number == count)
		return HRTIMER_NORESTART;
	sample_log(SAMPLE_TIMER, number++);
	hrtimer_forward_now(timer, sample_period());
	return HRTIMER_RESTART;
}

/* ---- Reading: whole records, straight from the ring's memory ---- */

/* Under the mutex. Returns bytes, or -EFAULT, and then nothing is gone. */
static ssize_t sample_read_ring(struct etch_ring *ring, char __user *buf, size_t room)
{
	unsigned int records, bytes;
	struct etch_view view;
	ssize_t done = 0;

	while (room - done >= sizeof(struct sample_record) && etch_ring_take(ring, &view)) {
		/* All have one size, a multiple of 4: there is nothing between them. */
		records = min_t(size_t, view.records,
				(room - done) / sizeof(struct sample_record));
		bytes = records * sizeof(struct sample_record);
		if (copy_to_user(buf + done, view.data, bytes))
			return done ?: -EFAULT;
		etch_ring_advance(ring, bytes, records);
		done += bytes;
	}
	return done;
}

static ssize_t sample_records_read(struct file *file, char __user *buf, size_t room, loff_t *pos)
{
	ssize_t done = 0, ret = 0;
	int cpu;

	mutex_lock(&sample_mutex);
	for_each_possible_cpu(cpu) {
		ret = sample_read_ring(per_cpu(sample_ring, cpu), buf + done, room - done);
		if (ret < 0)
			break;
		done += ret;
	}
	mutex_unlock(&sample_mutex);
	return done ?: ret;
}

static const struct file_operations sample_records_fops = {
	.owner = THIS_MODULE,
	.open = nonseekable_open,
	.read = sample_records_read,
};

static int sample_stats_show(struct seq_file *m, void *unused)
{
	struct etch_ring_stats stats;
	int cpu;

	mutex_lock(&sample_mutex);
	for_each_possible_cpu(cpu) {
		etch_ring_stats(per_cpu(sample_ring, cpu), &stats);
		seq_printf(m, "cpu %d written %llu read %llu overwritten %llu entries %llu lost %llu\n",
			   cpu, stats.written, stats.read, stats.overwritten, stats.entries,
			   stats.lost_full + stats.lost_nested + stats.lost_too_big +
			   stats.lost_throttled + stats.lost_off);
	}
	mutex_unlock(&sample_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sample_stats);

/* ---- Resizing: all rings or none ---- */

static int sample_subbufs_get(void *unused, u64 *nr)
{
	mutex_lock(&sample_mutex);
	*nr = etch_ring_nr_subbufs(per_cpu(sample_ring, 0));
	mutex_unlock(&sample_mutex);
	return 0;
}

/* The steps that may fail come first, and touch no ring. */
static int sample_resize_prepare(unsigned int nr)
{
	struct etch_resize *resize;
	int cpu;

	for_each_possible_cpu(cpu) {
		resize = etch_ring_resize_prepare(per_cpu(sample_ring, cpu), nr);
		if (IS_ERR(resize))
			return PTR_ERR(resize);
		per_cpu(sample_resize, cpu) = resize;
	}
	return 0;
}

static int sample_subbufs_set(void *unused, u64 nr)
{
	int cpu, ret;

	if (nr > U32_MAX)
		return -EINVAL;
	mutex_lock(&sample_mutex);
	ret = sample_resize_prepare(nr);
	if (!ret) {
		for_each_possible_cpu(cpu)
			etch_ring_off(per_cpu(sample_ring, cpu));
		/* For the writers that are half-way. New records are lost meanwhile. */
		synchronize_rcu();
	}
	for_each_possible_cpu(cpu) {
		if (ret)
			etch_ring_resize_abort(per_cpu(sample_resize, cpu));
		else
			etch_ring_resize_commit(per_cpu(sample_resize, cpu));
		per_cpu(sample_resize, cpu) = NULL;
		if (!ret)
			etch_ring_on(per_cpu(sample_ring, cpu));
	}
	mutex_unlock(&sample_mutex);
	return ret;
}
DEFINE_DEBUGFS_ATTRIBUTE(sample_subbufs_fops, sample_subbufs_get, sample_subbufs_set, "%llu\n");

/* ---- Coming and going ---- */

static void sample_rings_free(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		etch_ring_free(per_cpu(sample_ring, cpu));
		per_cpu(sample_ring, cpu) = NULL;
	}
}

/* For all CPUs that there can be, so that none can come and find no ring. */
static int sample_rings_create(void)
{
	struct etch_ring_params params = {
		.size = SAMPLE_RING_BYTES,
		.overwrite = true,
		.clock = etch_clock_default(),
	};
	struct etch_ring *ring;
	int cpu;

	for_each_possible_cpu(cpu) {
		params.node = cpu_to_node(cpu);
		ring = etch_ring_create(&params);
		if (IS_ERR(ring)) {
			sample_rings_free();
			return PTR_ERR(ring);
		}
		per_cpu(sample_ring, cpu) = ring;
	}
	return 0;
}

static int __init etch_ring_sample_init(void)
{
	int ret;

	if (period < 100 || period > USEC_PER_SEC)
		return -EINVAL;
	ret = sample_rings_create();
	if (ret)
		return ret;

	sample_thread = kthread_run(sample_thread_run, NULL, "etch-ring-sample");
	if (IS_ERR(sample_thread)) {
		sample_rings_free();
		return PTR_ERR(sample_thread);
	}
	hrtimer_setup(&sample_timer, sample_timer_hit, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hrtimer_start(&sample_timer, sample_period(), HRTIMER_MODE_REL_HARD);

	sample_dir = debugfs_create_dir("etch-ring-sample", NULL);
	debugfs_create_file("records", 0400, sample_dir, NULL, &sample_records_fops);
	debugfs_create_file("stats", 0400, sample_dir, NULL, &sample_stats_fops);
	debugfs_create_file_unsafe("subbufs", 0600, sample_dir, NULL, &sample_subbufs_fops);
	return 0;
}

/* Readers first, then writers, then the rings. */
static void __exit etch_ring_sample_exit(void)
{
	debugfs_remove(sample_dir);
	hrtimer_cancel(&sample_timer);
	kthread_stop(sample_thread);
	/* Both writers have been waited for. If they had not, synchronize_rcu() would do. */
	sample_rings_free();
}

module_init(etch_ring_sample_init);
module_exit(etch_ring_sample_exit);

MODULE_DESCRIPTION("Sample of Etch's ring buffers without events");
MODULE_LICENSE("GPL");
