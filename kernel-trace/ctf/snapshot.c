// SPDX-License-Identifier: GPL-2.0
/*
 * snapshot: what the rings hold at one moment, as packets, while tracing goes on.
 *
 * Writing 1 to an instance's snapshot chooses the moment. It costs no memory but a
 * cursor for each CPU: per_cpu/cpuN/snapshot reads from there, by copy, one packet at
 * a time, as often as it is opened, and consumes nothing. All CPUs end at the
 * moment: a packet that was not full then, or has later records by the time that it is
 * read, is cut behind the last record that is not younger. (Where the clocks of CPUs differ,
 * this would cut at random; there, each ends where it was.)
 *
 * The price is at the other end: records that are overwritten before they are read are
 * missing there, oldest first, as they are missing for everybody. To avoid that, turn tracing
 * off. When the buffers are emptied or resized, the snapshot is void.
 */

#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <uapi/linux/etch_packet.h>

#include "ctf/packet.h"
#include "event/contexts.h"

/**
 * struct etch_snapshot - one moment of an instance
 * @time: when it was; of the instance's clock
 * @cpus: where each CPU's packets begin and end, how many records there were, how many
 *	  had been overwritten in front of them, and the epoch for which that is good
 */
struct etch_snapshot {
	u64 time;
	struct etch_snapshot_cpu {
		struct etch_cursor cursor;
		u64 entries;
		u64 overwritten;
		unsigned int epoch;
	} cpus[];
};

/**
 * struct etch_snapshot_file - an open per_cpu/cpuN/snapshot
 * @inst: whose
 * @cpu: whose
 * @lock: protects the members below; outside the instance's read_mutex
 * @time: up to when
 * @from: the next packet to read
 * @left: where the packet before it ends in time
 * @ended: there is no more
 * @packet: the one that is being given
 * @bytes: of it
 * @at: how many of these were given
 */
struct etch_snapshot_file {
	struct etch_instance *inst;
	int cpu;
	struct mutex lock;	/* the members below */
	u64 time;
	struct etch_snapshot_cpu from;
	u64 left;
	bool ended;
	void *packet;
	unsigned int bytes;
	unsigned int at;
};

/* ---- The moment ---- */

/* Not before the newest record: the clock may have gone back. */
static u64 etch_snapshot_time(struct etch_instance *inst)
{
	u64 time = etch_clock_read(inst->clock);
	int cpu;

	mutex_lock(&inst->read_mutex);
	for_each_possible_cpu(cpu)
		if (inst->rings[cpu])
			time = max(time, etch_ring_latest(inst->rings[cpu]));
	mutex_unlock(&inst->read_mutex);
	return time;
}

static void etch_snapshot_fill(struct etch_instance *inst, struct etch_snapshot *shot)
{
	struct etch_ring_stats stats;
	int cpu;

	for_each_possible_cpu(cpu) {
		shot->cpus[cpu].epoch = inst->epochs[cpu];
		if (!inst->rings[cpu])
			continue;
		etch_ring_stats(inst->rings[cpu], &stats);
		etch_ring_peek_begin(inst->rings[cpu], &shot->cpus[cpu].cursor);
		shot->cpus[cpu].entries = stats.entries;
		shot->cpus[cpu].overwritten = stats.overwritten;
	}
}

/**
 * etch_snapshot_take_of() - remember a moment instead of the one before
 * @inst: the instance
 * @time: the moment, which is not long ago, in time of the instance's clock. Records that
 *	  have been overwritten since then are missing
 *
 * Context: process, sleeps; holds etch_mutex.
 * Return: 0 or -ENOMEM, and nothing changed.
 */
int etch_snapshot_take_of(struct etch_instance *inst, u64 time)
{
	struct etch_snapshot *shot;

	shot = kvzalloc(struct_size(shot, cpus, nr_cpu_ids), GFP_KERNEL);
	if (!shot)
		return -ENOMEM;
	shot->time = time;
	/* Afterwards, all records stamped before that, on any CPU, are committed. */
	synchronize_rcu();
	mutex_lock(&inst->read_mutex);
	etch_snapshot_fill(inst, shot);
	swap(inst->snapshot, shot);
	mutex_unlock(&inst->read_mutex);
	kvfree(shot);
	return 0;
}

/**
 * etch_snapshot_take() - remember this moment: see etch_snapshot_take_of()
 * @inst: the instance
 *
 * Context: as there.
 * Return: as there.
 */
int etch_snapshot_take(struct etch_instance *inst)
{
	return etch_snapshot_take_of(inst, etch_snapshot_time(inst));
}

/**
 * etch_snapshot_drop() - forget it
 * @inst: the instance
 *
 * Context: process, may sleep.
 */
void etch_snapshot_drop(struct etch_instance *inst)
{
	struct etch_snapshot *shot = NULL;

	mutex_lock(&inst->read_mutex);
	swap(inst->snapshot, shot);
	mutex_unlock(&inst->read_mutex);
	kvfree(shot);
}

/**
 * etch_snapshot_moment() - which moment was chosen
 * @inst: the instance
 * @time: gets it
 *
 * Context: process; holds the instance's read_mutex.
 * Return: 0; -ENODATA: none was.
 */
int etch_snapshot_moment(const struct etch_instance *inst, u64 *time)
{
	if (!inst->snapshot)
		return -ENODATA;
	*time = inst->snapshot->time;
	return 0;
}

/* ---- Reading it ---- */

/*
 * Cut what is younger than @time off a packet's records, and note when the last one
 * was. Whose clock differs from CPU to CPU is not cut. Each record has @more bytes of contexts.
 */
static void etch_snapshot_cut(struct etch_view *view, u64 time, bool cut, unsigned int more)
{
	u64 last = view->begin, end = view->begin;
	unsigned int at = 0, done = 0, nr = 0, len;

	while (at < view->len) {
		const struct etch_head *head = view->data + at;

		len = etch_record_len(head, view->len - at, more);
		last = etch_time_full(last, head->word);
		if (!len || (cut && last > time))
			break;
		end = last;
		nr++;
		done = at + len;
		at = ALIGN(done, 4);
	}
	view->end = end;
	view->records = nr;
	view->len = done;
}

/* Under read_mutex. Copy the next packet. Returns 1, 0 at the end, or an errno. */
static int etch_snapshot_next(struct etch_snapshot_file *f)
{
	struct etch_ring *ring = f->inst->rings[f->cpu];
	bool cut = f->inst->clock != ETCH_CLOCK_LOCAL;
	struct etch_view view;

	/* Of a CPU that went off line, and had nothing, there is nothing to be missed. */
	if (f->from.epoch != f->inst->epochs[f->cpu])
		return f->from.entries ? -ESTALE : 0;
	if (!ring || f->ended)
		return 0;
	/* No packet comes that could tell of those that were overwritten at the end. */
	if (!etch_ring_peek_next(ring, &f->from.cursor, f->packet, &view))
		return view.missed ? -ESTALE : 0;

	f->from.overwritten += view.missed;
	view.begin = max(view.begin, f->left);
	if (view.open || view.end > f->time) {
		etch_snapshot_cut(&view, f->time, cut, etch_contexts_size(f->inst->contexts));
		f->ended = cut;
		if (!view.records)
			return 0;
	}
	memmove(f->packet + ETCH_PACKET_HEADER, view.data, view.len);
	f->bytes = etch_packet_make(f->inst, f->cpu, f->packet, &view, f->from.overwritten);
	f->left = view.end;
	f->at = 0;
	return 1;
}

static int etch_snapshot_more(struct etch_snapshot_file *f)
{
	int ret;

	if (f->at < f->bytes)
		return 1;
	mutex_lock(&f->inst->read_mutex);
	ret = etch_snapshot_next(f);
	mutex_unlock(&f->inst->read_mutex);
	return ret;
}

static ssize_t etch_snapshot_read(struct file *file, char __user *buf, size_t count,
				  loff_t *ppos)
{
	struct etch_snapshot_file *f = file->private_data;
	size_t done = 0;
	int ret = 0;

	if (mutex_lock_interruptible(&f->lock))
		return -ERESTARTSYS;
	while (done < count) {
		unsigned int left, len;

		ret = etch_snapshot_more(f);
		if (ret <= 0)
			break;
		len = min_t(size_t, f->bytes - f->at, count - done);
		left = copy_to_user(buf + done, f->packet + f->at, len);
		f->at += len - left;
		done += len - left;
		if (left) {
			ret = -EFAULT;
			break;
		}
		if (fatal_signal_pending(current))
			break;
	}
	mutex_unlock(&f->lock);
	return done ?: ret;
}

/* Under read_mutex. */
static int etch_snapshot_begin(struct etch_snapshot_file *f)
{
	const struct etch_snapshot *shot = f->inst->snapshot;

	if (!shot)
		return -ENODATA;
	f->time = shot->time;
	f->from = shot->cpus[f->cpu];
	/* Zeroed: the bytes between records go to user space, too. */
	f->packet = kvzalloc(f->inst->subbuf_bytes, GFP_KERNEL);
	return f->packet ? 0 : -ENOMEM;
}

static int etch_snapshot_open(struct inode *inode, struct file *file)
{
	const struct etch_view_of *of = inode->i_private;
	struct etch_snapshot_file *f;
	int ret;

	ret = etch_view_open(of);
	if (ret)
		return ret;

	ret = -ENOMEM;
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (f) {
		f->inst = of->inst;
		f->cpu = of->cpu;
		mutex_init(&f->lock);
		mutex_lock(&f->inst->read_mutex);
		ret = etch_snapshot_begin(f);
		mutex_unlock(&f->inst->read_mutex);
	}
	if (ret) {
		kfree(f);
		etch_instance_put(of->inst);
		return ret;
	}
	file->private_data = f;
	return stream_open(inode, file);
}

static int etch_snapshot_release(struct inode *inode, struct file *file)
{
	struct etch_snapshot_file *f = file->private_data;

	etch_instance_put(f->inst);
	kvfree(f->packet);
	kfree(f);
	return 0;
}

const struct file_operations etch_snapshot_fops = {
	.owner = THIS_MODULE,
	.open = etch_snapshot_open,
	.read = etch_snapshot_read,
	.release = etch_snapshot_release,
};
