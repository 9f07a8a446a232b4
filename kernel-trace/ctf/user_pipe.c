// SPDX-License-Identifier: GPL-2.0
/*
 * user_pipe_raw: packets of programs' records, each to one reader, once.
 *
 * It is read as trace_pipe_raw is. A reader waits until a program's ring is as full as
 * buffer_percent says, and there is as much as a packet holds; or until somebody asks for the
 * records so far (flush). Then it gets packets without waiting until less than one is left. When
 * tracing is off it gets the rest, and then the end of the file. A packet without
 * records tells of losses behind the last record.
 *
 * Packets are copies: a page that a program can write is not for a reader. So splice() moves
 * copies, too. It waits for nothing, for the reasons that raw.c gives.
 */

#include <linux/err.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include "ctf/user_packet.h"
#include "user/user.h"

/**
 * struct etch_user_pipe - an open user_pipe_raw
 * @inst: whose
 * @cpu: whose
 * @lock: protects @packets; outside the instance's read_mutex
 * @packets: those being given
 * @left: some of it is left; for those without the lock
 * @reached: the watermark was reached, and as much as a packet holds is left; under the
 *	     read_mutex
 */
struct etch_user_pipe {
	struct etch_instance *inst;
	int cpu;
	struct mutex lock;	/* packets */
	struct etch_user_packets packets;
	bool left;
	bool reached;
};

/* Whether there is a packet for a reader, and why not. */
enum etch_user_pipe_state {
	ETCH_USER_PIPE_PACKET,	/* there is one */
	ETCH_USER_PIPE_WAIT,	/* there is none, or too little for one; more may come */
	ETCH_USER_PIPE_OFF,	/* there is none, and tracing is off */
};

/* ---- Waiting ---- */

/* Under read_mutex. @any: do not wait for the watermark. */
static enum etch_user_pipe_state etch_user_pipe_state(struct etch_user_pipe *p, bool any)
{
	enum etch_user_fill fill = etch_user_fills(p->inst, p->cpu);

	if (!READ_ONCE(p->inst->on))
		return etch_user_empty(p->inst, p->cpu, 1) ? ETCH_USER_PIPE_OFF :
							      ETCH_USER_PIPE_PACKET;
	if (fill == ETCH_USER_FEW) {
		p->reached = false;
		return ETCH_USER_PIPE_WAIT;
	}
	p->reached = p->reached || fill == ETCH_USER_WANTED ||
		     etch_user_reached(p->inst, p->cpu, 1);
	return p->reached || any ? ETCH_USER_PIPE_PACKET : ETCH_USER_PIPE_WAIT;
}

/* Somebody looks for records while there are readers that wait. */
static enum etch_user_pipe_state etch_user_pipe_ask(struct etch_user_pipe *p)
{
	enum etch_user_pipe_state state;

	mutex_lock(&p->inst->read_mutex);
	state = etch_user_pipe_state(p, false);
	if (state == ETCH_USER_PIPE_WAIT)
		etch_user_wait(p->inst);
	mutex_unlock(&p->inst->read_mutex);
	return state;
}

/* Drops p->lock meanwhile. Returns 0 or -ERESTARTSYS. */
static int etch_user_pipe_wait(struct etch_user_pipe *p)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	mutex_unlock(&p->lock);
	/* Asking for the state may sleep, so the usual loop will not do. */
	add_wait_queue(&p->inst->wait, &wait);
	while (etch_user_pipe_ask(p) == ETCH_USER_PIPE_WAIT && !READ_ONCE(p->left) &&
	       !signal_pending(current))
		wait_woken(&wait, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	remove_wait_queue(&p->inst->wait, &wait);
	mutex_lock(&p->lock);
	return signal_pending(current) ? -ERESTARTSYS : 0;
}

/* ---- Taking ---- */

/* Under read_mutex. @off: a packet tells of the last losses, too. Returns 1, 0, or an errno. */
static int etch_user_pipe_take(struct etch_user_pipe *p, bool off)
{
	struct etch_user_tail *tail = etch_user_tail(p->inst, p->cpu);
	struct etch_user_packets *packets = &p->packets;
	bool got;
	int ret;

	if (!tail)
		return 0;
	ret = etch_user_begin(packets->reader);
	if (ret)
		return ret;
	got = etch_user_packet_next(packets, p->inst, p->cpu, tail, U64_MAX);
	etch_user_end(packets->reader);
	if (!got && off)
		got = etch_user_packet_last(packets, p->inst, p->cpu, tail,
					    etch_user_close(packets->reader));
	return got;
}

/* Try to have a packet. Returns 1, 0 and why there is none, or an errno. */
static int etch_user_pipe_try(struct etch_user_pipe *p, bool any, enum etch_user_pipe_state *state)
{
	int ret = 0;

	mutex_lock(&p->inst->read_mutex);
	*state = etch_user_pipe_state(p, any);
	if (*state != ETCH_USER_PIPE_WAIT)
		ret = etch_user_pipe_take(p, *state == ETCH_USER_PIPE_OFF);
	mutex_unlock(&p->inst->read_mutex);
	return ret;
}

/*
 * Have some of a packet to give. Records that are there may be none that a packet takes: then
 * the state is asked for once more, and is another one soon. Returns 1; 0 at the end; -EAGAIN if
 * there would be something to wait for; -ERESTARTSYS or -ENOMEM.
 */
static int etch_user_pipe_next(struct etch_user_pipe *p, bool nonblock)
{
	enum etch_user_pipe_state state;
	int ret;

	while (p->packets.at == p->packets.end) {
		ret = etch_user_pipe_try(p, nonblock, &state);
		if (ret)
			return min(ret, 1);
		if (state == ETCH_USER_PIPE_OFF)
			return 0;
		if (nonblock)
			return -EAGAIN;
		ret = etch_user_pipe_wait(p);
		if (ret)
			return ret;
		cond_resched();
	}
	return 1;
}

/* ---- The file ---- */

static void etch_user_pipe_unlock(struct etch_user_pipe *p)
{
	bool left = p->packets.at != p->packets.end;

	WRITE_ONCE(p->left, left);
	mutex_unlock(&p->lock);
	if (left)
		wake_up_interruptible(&p->inst->wait);
}

/* Under p->lock. Returns bytes or an errno. */
static ssize_t etch_user_pipe_give(struct etch_user_pipe *p, struct iov_iter *to, bool nonblock)
{
	struct etch_user_packets *packets = &p->packets;
	size_t done = 0, len;
	int ret = 0;

	while (iov_iter_count(to)) {
		ret = etch_user_pipe_next(p, nonblock || done);
		if (ret <= 0)
			break;
		len = copy_to_iter(packets->memory + packets->at, packets->end - packets->at, to);
		packets->at += len;
		done += len;
		ret = -EFAULT;
		if (!len || signal_pending(current))
			break;
	}
	return done ?: ret;
}

static ssize_t etch_user_pipe_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct etch_user_pipe *p = iocb->ki_filp->private_data;
	bool nonblock = iocb->ki_filp->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT;
	ssize_t ret;

	/* The pipe of a splice() is locked, and the holder of p->lock may wait for user memory. */
	if (!user_backed_iter(to)) {
		if (!mutex_trylock(&p->lock))
			return -EAGAIN;
		nonblock = true;
	} else if (mutex_lock_interruptible(&p->lock)) {
		return -ERESTARTSYS;
	}
	ret = etch_user_pipe_give(p, to, nonblock);
	etch_user_pipe_unlock(p);
	return ret;
}

static __poll_t etch_user_pipe_poll(struct file *file, poll_table *table)
{
	struct etch_user_pipe *p = file->private_data;

	poll_wait(file, &p->inst->wait, table);
	if (READ_ONCE(p->left) || etch_user_pipe_ask(p) != ETCH_USER_PIPE_WAIT)
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

static int etch_user_pipe_open(struct inode *inode, struct file *file)
{
	const struct etch_view_of *of = inode->i_private;
	struct etch_user_pipe *p;
	int ret;

	ret = etch_view_open(of);
	if (ret)
		return ret;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	ret = p ? etch_user_packets_init(&p->packets, of->inst, of->cpu, true) : -ENOMEM;
	if (ret) {
		if (p)
			etch_user_packets_free(&p->packets);
		kfree(p);
		etch_instance_put(of->inst);
		return ret;
	}
	p->inst = of->inst;
	p->cpu = of->cpu;
	mutex_init(&p->lock);
	file->private_data = p;
	return stream_open(inode, file);
}

/* The rest of a packet that was read in part is lost with the file. */
static int etch_user_pipe_release(struct inode *inode, struct file *file)
{
	struct etch_user_pipe *p = file->private_data;

	etch_user_packets_free(&p->packets);
	etch_instance_put(p->inst);
	kfree(p);
	return 0;
}

const struct file_operations etch_user_raw_fops = {
	.owner = THIS_MODULE,
	.open = etch_user_pipe_open,
	.read_iter = etch_user_pipe_read,
	.splice_read = copy_splice_read,
	.poll = etch_user_pipe_poll,
	.release = etch_user_pipe_release,
};
