// SPDX-License-Identifier: GPL-2.0
/*
 * trace_pipe_raw: packets, each to one reader, once.
 *
 * A packet is taken out of its ring in exchange for other memory, and is then the open
 * file's. read() copies from it; splice() puts its pages into the pipe, where they stay
 * until the pipe's reader has done with them; and they can be mapped (raw_map.c). A
 * packet may be given in parts, by read() and splice() in turn: the next call goes on
 * where the last one stopped.
 *
 * raw_queue.c has the packets, and says when a reader waits for one.
 *
 * splice() waits for nothing: its pipe is locked, and a task at the other end would
 * sleep on that lock, O_NONBLOCK or not, and could not be killed. It says EAGAIN where
 * read() would wait, and poll() tells when it need not.
 */

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "ctf/raw.h"

/* ---- read() ---- */

static ssize_t etch_raw_read(struct file *file, char __user *buf, size_t count, loff_t *ppos)
{
	bool nonblock = file->f_flags & O_NONBLOCK;
	struct etch_raw *p = file->private_data;
	struct etch_loan *loan;
	size_t done = 0;
	int ret = 0;

	if (mutex_lock_interruptible(&p->lock))
		return -ERESTARTSYS;
	while (done < count) {
		unsigned int left, len;

		ret = etch_raw_next(p, nonblock || done);
		if (ret <= 0)
			break;
		loan = etch_raw_at_hand(p);
		len = min_t(size_t, loan->packet - p->at, count - done);
		left = copy_to_user(buf + done, loan->memory + p->at, len);
		if (left == len) {
			ret = -EFAULT;
			break;
		}
		etch_raw_gave(p, len - left);
		done += len - left;
		if (signal_pending(current))
			break;
	}
	etch_raw_unlock(p);
	return done ?: ret;
}

/* ---- splice() ---- */

static bool etch_raw_buf_get(struct pipe_inode_info *pipe, struct pipe_buffer *buf)
{
	struct etch_loan *loan = (struct etch_loan *)buf->private;

	/* tee() may be called for ever. */
	if (refcount_read(&loan->users) > INT_MAX / 2)
		return false;
	refcount_inc(&loan->users);
	return true;
}

static void etch_raw_buf_release(struct pipe_inode_info *pipe, struct pipe_buffer *buf)
{
	etch_loan_put((struct etch_loan *)buf->private);
	buf->private = 0;
}

/* Nobody may steal a page: the loan has it. */
static const struct pipe_buf_operations etch_raw_buf_ops = {
	.get = etch_raw_buf_get,
	.release = etch_raw_buf_release,
};

/* Put up to @len bytes of the packet at hand into @pipe. Returns bytes or an errno. */
static ssize_t etch_raw_give(struct etch_raw *p, struct pipe_inode_info *pipe, size_t len)
{
	struct etch_loan *loan = etch_raw_at_hand(p);
	void *from = loan->memory + p->at;
	struct pipe_buffer buf = {
		.page = virt_to_page(from),
		.offset = offset_in_page(from),
		.len = min_t(size_t, loan->packet - p->at, len),
		.ops = &etch_raw_buf_ops,
		.private = (unsigned long)loan,
	};
	ssize_t ret;

	refcount_inc(&loan->users);
	/* Puts the loan if there is no room, or nobody to read. */
	ret = add_to_pipe(pipe, &buf);
	if (ret > 0)
		etch_raw_gave(p, ret);
	return ret;
}

/* The caller has locked @pipe, so this waits for nothing: see above. */
static ssize_t etch_raw_splice(struct file *file, loff_t *ppos, struct pipe_inode_info *pipe,
			       size_t len, unsigned int flags)
{
	struct etch_raw *p = file->private_data;
	size_t done = 0;
	ssize_t ret = 0;

	/* The lock's holder may be copying to user memory that never becomes available. */
	if (!mutex_trylock(&p->lock))
		return -EAGAIN;
	/* Another thread may have spliced to a larger one. */
	WRITE_ONCE(p->slots, max(p->slots, pipe->max_usage));
	while (done < len) {
		ret = etch_raw_next(p, true);
		if (ret <= 0)
			break;
		ret = etch_raw_give(p, pipe, len - done);
		if (ret <= 0)
			break;
		done += ret;
	}
	etch_raw_unlock(p);
	return done ?: ret;
}

/* ---- The rest ---- */

static __poll_t etch_raw_poll(struct file *file, poll_table *table)
{
	struct etch_raw *p = file->private_data;
	enum etch_raw_state state;

	poll_wait(file, &p->inst->wait, table);
	poll_wait(file, &p->lender->wait, table);

	/* Not under the lock: its holder may be copying. At the end, a read() does not wait. */
	state = etch_raw_ask(p);
	if (!list_empty(&p->queue) || state == ETCH_RAW_PACKET || state == ETCH_RAW_OFF)
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

static int etch_raw_open(struct inode *inode, struct file *file)
{
	const struct etch_view_of *of = inode->i_private;
	struct etch_raw *p;
	int ret;

	ret = etch_view_open(of);
	if (ret)
		return ret;

	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (p)
		p->lender = etch_lender_create();
	if (!p || !p->lender) {
		kfree(p);
		etch_instance_put(of->inst);
		return -ENOMEM;
	}
	p->inst = of->inst;
	p->cpu = of->cpu;
	mutex_init(&p->lock);
	INIT_LIST_HEAD(&p->queue);
	etch_raw_map_init(p, inode, file);
	file->private_data = p;
	return stream_open(inode, file);
}

/* The rest of a packet that was read in part is lost with the file. */
static int etch_raw_release(struct inode *inode, struct file *file)
{
	struct etch_raw *p = file->private_data;

	etch_raw_unmap(p);
	while (!list_empty(&p->queue))
		etch_loan_put(etch_raw_hand_over(p));
	etch_lender_put(p->lender);
	etch_instance_put(p->inst);
	kfree(p);
	return 0;
}

const struct file_operations etch_raw_fops = {
	.owner = THIS_MODULE,
	.open = etch_raw_open,
	.read = etch_raw_read,
	.splice_read = etch_raw_splice,
	.poll = etch_raw_poll,
	.mmap = etch_raw_mmap,
	.unlocked_ioctl = etch_raw_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = etch_raw_release,
};
