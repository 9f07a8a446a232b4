// SPDX-License-Identifier: GPL-2.0
/*
 * user_snapshot: the records of programs up to the moment of the instance's snapshot, as packets,
 * while tracing goes on.
 *
 * It is the oldest record that there is when the file is opened, and all behind it up to the
 * moment. Reading it consumes nothing. Records that were consumed or overwritten between the
 * moment and the reading are missing. The file numbers its packets for itself.
 */

#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ctf/user_packet.h"

/**
 * struct etch_user_shot - an open user_snapshot
 * @inst: whose
 * @cpu: whose
 * @lock: protects the members below; outside the instance's read_mutex
 * @time: up to when
 * @tail: counts of the packets so far
 * @packets: those being given
 */
struct etch_user_shot {
	struct etch_instance *inst;
	int cpu;
	struct mutex lock;	/* the members below */
	u64 time;
	struct etch_user_tail tail;
	struct etch_user_packets packets;
};

static bool etch_user_shot_more(struct etch_user_shot *f)
{
	bool more;

	if (f->packets.at < f->packets.end)
		return true;
	mutex_lock(&f->inst->read_mutex);
	more = etch_user_packet_next(&f->packets, f->inst, f->cpu, &f->tail, f->time);
	mutex_unlock(&f->inst->read_mutex);
	return more;
}

static ssize_t etch_user_shot_read(struct file *file, char __user *buf, size_t count,
				   loff_t *ppos)
{
	struct etch_user_shot *f = file->private_data;
	struct etch_user_packets *p = &f->packets;
	size_t done = 0;
	int ret = 0;

	if (mutex_lock_interruptible(&f->lock))
		return -ERESTARTSYS;
	while (done < count && etch_user_shot_more(f)) {
		unsigned int len = min_t(size_t, p->end - p->at, count - done);
		unsigned int left = copy_to_user(buf + done, p->memory + p->at, len);

		p->at += len - left;
		done += len - left;
		ret = left ? -EFAULT : 0;
		if (left || fatal_signal_pending(current))
			break;
	}
	mutex_unlock(&f->lock);
	return done ?: ret;
}

/* The reader begins here, and not at each read(): then it would begin from the oldest record. */
static int etch_user_shot_begin(struct etch_user_shot *f)
{
	int ret;

	mutex_lock(&f->inst->read_mutex);
	ret = etch_snapshot_moment(f->inst, &f->time);
	if (!ret)
		ret = etch_user_begin(f->packets.reader);
	mutex_unlock(&f->inst->read_mutex);
	return ret;
}

static int etch_user_shot_open(struct inode *inode, struct file *file)
{
	const struct etch_view_of *of = inode->i_private;
	struct etch_user_shot *f;
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
		ret = etch_user_packets_init(&f->packets, f->inst, f->cpu, false) ?:
		      etch_user_shot_begin(f);
	}
	if (ret) {
		if (f)
			etch_user_packets_free(&f->packets);
		kfree(f);
		etch_instance_put(of->inst);
		return ret;
	}
	file->private_data = f;
	return stream_open(inode, file);
}

static int etch_user_shot_release(struct inode *inode, struct file *file)
{
	struct etch_user_shot *f = file->private_data;

	etch_user_packets_free(&f->packets);
	etch_instance_put(f->inst);
	kfree(f);
	return 0;
}

const struct file_operations etch_user_snapshot_fops = {
	.owner = THIS_MODULE,
	.open = etch_user_shot_open,
	.read = etch_user_shot_read,
	.release = etch_user_shot_release,
};
