// SPDX-License-Identifier: GPL-2.0
/*
 * trace_pipe: records as text, each to one reader, once.
 *
 * A read() waits until a ring is as full as buffer_percent says, which may mean a single
 * record; then reads give what there is without waiting until there is nothing. A
 * reader that may not wait, or is interrupted while it does, gets what there is. It ends
 * when tracing is off and nothing is left, so that "cat trace_pipe" ends. What
 * several readers get of one instance are different records, in order for each of them.
 *
 * read() prints lines into the open file's own sequence under the read_mutex, and copies
 * them to user space after it has released the mutex. So a reader with memory that is
 * swapped out or not mapped delays no other reader, and loses
 * nothing. A line is not cut in two, unless the reader's buffer cannot hold it;
 * then the next read() goes on with its rest.
 */

#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/trace_seq.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "text/merge.h"

/**
 * struct etch_pipe - an open trace_pipe
 * @inst: whose
 * @cpu: whose records, or ETCH_ALL_CPUS
 * @lock: of @line; outside the instance's read_mutex
 * @merge: the records; begun and ended under one hold of the read_mutex
 * @reached: the watermark was reached, and some records are unread; under the
 *	     read_mutex
 * @left: there is some in @line; for those without the lock, whose holder may have to
 *	  wait for user memory
 * @line: text that was taken out of the rings and not yet read
 */
struct etch_pipe {
	struct etch_instance *inst;
	int cpu;
	struct mutex lock;	/* of line */
	struct etch_merge *merge;
	bool reached;
	bool left;
	struct etch_line line;
};

/* What a reader has to expect. */
enum etch_pipe_state {
	ETCH_PIPE_RECORDS,	/* there is something to read */
	ETCH_PIPE_WAIT,		/* there is not, or not enough; more may come */
	ETCH_PIPE_ENDED,	/* nothing comes */
};

/* @any: a single record is enough, whatever the instance's readers wait for. */
static enum etch_pipe_state etch_pipe_state(struct etch_pipe *p, bool any)
{
	enum etch_pipe_state state = ETCH_PIPE_RECORDS;

	/* Turning tracing off releases read_mutex only after the last writer has finished. */
	mutex_lock(&p->inst->read_mutex);
	p->reached = !etch_merge_empty(p->merge) &&
		     (p->reached || etch_merge_reached(p->merge));
	if (etch_merge_empty(p->merge))
		state = READ_ONCE(p->inst->on) ? ETCH_PIPE_WAIT : ETCH_PIPE_ENDED;
	else if (!p->reached && !any && READ_ONCE(p->inst->on))
		state = ETCH_PIPE_WAIT;
	mutex_unlock(&p->inst->read_mutex);
	return state;
}

static bool etch_pipe_has_text(struct etch_pipe *p)
{
	struct trace_seq *seq = &p->line.text.seq;

	return seq->readpos < trace_seq_used(seq);
}

/*
 * Print the next lines, at most @room bytes of them. But a first line is printed
 * whatever its length, if @must. Returns false if there is nothing. A reader who got
 * all there is waits anew.
 */
static bool etch_pipe_fill(struct etch_pipe *p, size_t room, bool must)
{
	struct trace_seq *seq = &p->line.text.seq;
	const struct etch_item *item = NULL;

	trace_seq_init(seq);
	mutex_lock(&p->inst->read_mutex);
	etch_merge_begin(p->merge);
	while (trace_seq_used(seq) < room && (item = etch_merge_item(p->merge))) {
		int before = trace_seq_used(seq);

		etch_item_print(&p->line, item);
		if (trace_seq_has_overflowed(seq))
			break;
		if (trace_seq_used(seq) > room && (before || !must)) {
			seq->seq.len = before;
			break;
		}
		etch_merge_next(p->merge);
		cond_resched();
	}
	etch_merge_end(p->merge);
	/* Records may be left that are too new to be given. They are the next lot. */
	if (!item && (trace_seq_used(seq) || !must))
		p->reached = false;
	mutex_unlock(&p->inst->read_mutex);
	seq->full = 0;
	return trace_seq_used(seq);
}

/* Wakes the waiting readers if a part of a line is unread. */
static void etch_pipe_unlock(struct etch_pipe *p)
{
	bool left = etch_pipe_has_text(p);

	WRITE_ONCE(p->left, left);
	mutex_unlock(&p->lock);
	if (left)
		wake_up_interruptible(&p->inst->wait);
}

/*
 * Copies the lines already printed to @buf and, if @more, prints and copies more lines until
 * @buf is full. A pending signal does not prevent the first copy. Returns bytes, or -EFAULT or
 * -ERESTARTSYS.
 */
static ssize_t etch_pipe_give(struct etch_pipe *p, char __user *buf, size_t count, bool more)
{
	size_t done = 0;
	int ret = 0;

	if (mutex_lock_interruptible(&p->lock))
		return -ERESTARTSYS;
	do {
		int room = min_t(size_t, count - done, INT_MAX);

		if (!etch_pipe_has_text(p) && !(more && etch_pipe_fill(p, room, !done)))
			break;
		ret = trace_seq_to_user(&p->line.text.seq, buf + done, room);
		if (ret < 0)
			break;
		done += ret;
	} while (done < count && !signal_pending(current));
	etch_pipe_unlock(p);
	return done ?: ret;
}

/* Would read() not wait? At the end it does not, either. */
static bool etch_pipe_ready(struct etch_pipe *p)
{
	return READ_ONCE(p->left) || etch_pipe_state(p, false) != ETCH_PIPE_WAIT;
}

/* The alarm is set before the answer is no. */
static bool etch_pipe_must_wait(struct etch_pipe *p)
{
	if (etch_pipe_ready(p))
		return false;
	etch_instance_set_alarm(p->inst, p->cpu, false);
	return !etch_pipe_ready(p);
}

/* Wait for another state, or for what another thread left. False: a signal came. */
static bool etch_pipe_wait(struct etch_pipe *p)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	bool waiting;

	/* Asking for the state may sleep, so the usual loop will not do. */
	add_wait_queue(&p->inst->wait, &wait);
	while ((waiting = etch_pipe_must_wait(p)) && !signal_pending(current))
		wait_woken(&wait, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	remove_wait_queue(&p->inst->wait, &wait);
	return !waiting;
}

static ssize_t etch_pipe_read(struct file *file, char __user *buf, size_t count, loff_t *ppos)
{
	bool nonblock = file->f_flags & O_NONBLOCK, any = nonblock;
	struct etch_pipe *p = file->private_data;
	enum etch_pipe_state state;
	ssize_t ret;

	while (count) {
		state = etch_pipe_state(p, any);
		ret = etch_pipe_give(p, buf, count, state == ETCH_PIPE_RECORDS);
		if (ret || state == ETCH_PIPE_ENDED)
			return ret;
		if (state == ETCH_PIPE_WAIT && any)
			return nonblock ? -EAGAIN : -ERESTARTSYS;
		/* Too new to be given: one of another CPU may be older. */
		if (state == ETCH_PIPE_RECORDS)
			etch_merge_settle(p->merge, any);
		else
			any = !etch_pipe_wait(p);
		/* After a signal read() returns the lines there are; a killed task gets none. */
		if (fatal_signal_pending(current))
			return -ERESTARTSYS;
	}
	return 0;
}

static __poll_t etch_pipe_poll(struct file *file, poll_table *table)
{
	struct etch_pipe *p = file->private_data;

	poll_wait(file, &p->inst->wait, table);
	return etch_pipe_must_wait(p) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static void etch_pipe_free(struct etch_pipe *p)
{
	etch_line_free(&p->line);
	etch_merge_free(p->merge);
	kvfree(p);
}

static struct etch_pipe *etch_pipe_alloc(const struct etch_view_of *of)
{
	struct etch_pipe *p = kvzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	p->inst = of->inst;
	p->cpu = of->cpu;
	mutex_init(&p->lock);
	p->merge = etch_merge_create(of->inst, of->cpu, ETCH_MERGE_TAKE);
	if (!p->merge || etch_line_init(&p->line)) {
		etch_pipe_free(p);
		return NULL;
	}
	return p;
}

static int etch_pipe_open(struct inode *inode, struct file *file)
{
	const struct etch_view_of *of = inode->i_private;
	int ret;

	ret = etch_view_open(of);
	if (ret)
		return ret;

	file->private_data = etch_pipe_alloc(of);
	if (!file->private_data) {
		etch_instance_put(of->inst);
		return -ENOMEM;
	}
	return stream_open(inode, file);
}

static int etch_pipe_release(struct inode *inode, struct file *file)
{
	struct etch_pipe *p = file->private_data;
	struct etch_instance *inst = p->inst;

	etch_pipe_free(p);
	etch_instance_put(inst);
	return 0;
}

const struct file_operations etch_pipe_fops = {
	.owner	 = THIS_MODULE,
	.open	 = etch_pipe_open,
	.read	 = etch_pipe_read,
	.poll	 = etch_pipe_poll,
	.release = etch_pipe_release,
};
