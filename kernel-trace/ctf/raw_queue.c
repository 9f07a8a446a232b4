// SPDX-License-Identifier: GPL-2.0
/*
 * The packets of an open trace_pipe_raw: those taken out of the ring and not given whole.
 *
 * A reader waits until its ring is as full as buffer_percent says, or somebody asks for
 * the records that are there (flush); then it gets all packets without waiting until there
 * is none. When tracing is off it gets the rest, the part-filled packet too, and then the end
 * of the file. Several threads may read from one open file, and some of them wait: the
 * file's lock is not held meanwhile.
 *
 * While a pipe holds packets, tracing goes on with other memory. But a file has no more
 * packets outside than its ring has sub-buffers, and the pipe room for: a reader that
 * wants one more waits until a pipe gives one back, and records lost meanwhile are counted
 * in the ring. What one pipe can hold comes on top, so that a thread which fills its own
 * pipe and then reads does not wait for itself.
 */

#include <linux/err.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "ctf/raw.h"

static unsigned int etch_raw_max(const struct etch_raw *p, const struct etch_ring *ring)
{
	return READ_ONCE(p->slots) + READ_ONCE(p->nr_window) + etch_ring_nr_subbufs(ring);
}

/* Under read_mutex. @any: a single one is enough, whatever readers wait for. */
static enum etch_raw_state etch_raw_state(struct etch_raw *p, bool any)
{
	struct etch_ring *ring = p->inst->rings[p->cpu];

	if (!ring || !etch_ring_filled(ring)) {
		p->reached = false;
		return READ_ONCE(p->inst->on) ? ETCH_RAW_WAIT : ETCH_RAW_OFF;
	}
	p->reached = p->reached || etch_packet_wanted(p->inst, p->cpu) ||
		     etch_ring_reached(p->inst, ring);
	if (!p->reached && !any && READ_ONCE(p->inst->on))
		return ETCH_RAW_WAIT;
	if (!etch_lender_has_room(p->lender, etch_raw_max(p, ring)))
		return ETCH_RAW_LENT;
	return ETCH_RAW_PACKET;
}

/* Have @loan given, and if it is the first, perhaps @lead before it. */
static void etch_raw_queue(struct etch_raw *p, struct etch_loan *loan, struct etch_loan *lead,
			   const struct etch_reported *before)
{
	p->begun = true;
	if (lead)
		lead->packet = etch_packet_lead(lead->memory, loan->memory, before);
	if (lead && lead->packet)
		list_add_tail(&lead->node, &p->queue);
	else if (lead)
		etch_loan_put(lead);
	list_add_tail(&loan->node, &p->queue);
}

/* Under read_mutex. Returns 1, 0 if there is no whole packet after all, or an errno. */
static int etch_raw_take(struct etch_raw *p)
{
	struct etch_ring *ring = p->inst->rings[p->cpu];
	struct etch_loan *loan, *lead = NULL;
	struct etch_reported before;

	etch_lender_renew(p->lender, p->inst->epochs[p->cpu]);
	loan = etch_loan_get(p->lender, ring, etch_raw_max(p, ring));
	if (IS_ERR(loan))
		return PTR_ERR(loan);
	if (!p->begun)
		lead = etch_loan_get(p->lender, ring, UINT_MAX);
	if (IS_ERR(lead)) {
		etch_loan_put(loan);
		return PTR_ERR(lead);
	}
	loan->packet = etch_packet_take(p->inst, p->cpu, &loan->memory, &before);
	if (loan->packet) {
		etch_raw_queue(p, loan, lead, &before);
		return 1;
	}
	etch_loan_put(loan);
	if (lead)
		etch_loan_put(lead);
	return 0;
}

/* Try to have a packet. Returns 1, 0 and why there is none, or an errno. */
static int etch_raw_try(struct etch_raw *p, bool any, enum etch_raw_state *state)
{
	int ret = 0;

	mutex_lock(&p->inst->read_mutex);
	do {
		*state = etch_raw_state(p, any);
		if (*state != ETCH_RAW_PACKET)
			break;
		/* All of it was read as text: then it does not count as full any more. */
		ret = etch_raw_take(p);
	} while (!ret);
	mutex_unlock(&p->inst->read_mutex);
	return ret;
}

static enum etch_raw_state etch_raw_state_now(struct etch_raw *p)
{
	enum etch_raw_state state;

	mutex_lock(&p->inst->read_mutex);
	state = etch_raw_state(p, false);
	mutex_unlock(&p->inst->read_mutex);
	return state;
}

/**
 * etch_raw_ask() - whether a reader would get a packet now
 * @p: the file
 *
 * If the reader has to wait for records, the alarm is set. One with too many packets outside
 * has no use for it.
 *
 * Context: process, may sleep.
 * Return: the state; another thread may take the packet first.
 */
enum etch_raw_state etch_raw_ask(struct etch_raw *p)
{
	enum etch_raw_state state = etch_raw_state_now(p);

	if (state != ETCH_RAW_WAIT)
		return state;
	etch_instance_set_alarm(p->inst, p->cpu, true);
	return etch_raw_state_now(p);
}

/* A loan has come back: wakes the task as a wake-up of inst->wait does, for wait_woken(). */
static int etch_raw_wake_back(struct wait_queue_entry *back, unsigned int mode, int sync,
			      void *key)
{
	return woken_wake_function(back->private, mode, sync, key);
}

/*
 * Waits for another state than @state, or for the rest of a packet that another thread took.
 * A reader with too many packets outside waits here, too, since the ring may be emptied or
 * made larger. Drops p->lock meanwhile. Returns 0 or -ERESTARTSYS.
 */
static int etch_raw_wait(struct etch_raw *p, enum etch_raw_state state)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct wait_queue_entry back;

	init_waitqueue_func_entry(&back, etch_raw_wake_back);
	back.private = &wait;
	mutex_unlock(&p->lock);
	/* Asking for the state may sleep, so the usual loop will not do. */
	add_wait_queue(&p->inst->wait, &wait);
	add_wait_queue(&p->lender->wait, &back);
	while (etch_raw_ask(p) == state && list_empty(&p->queue) && !signal_pending(current))
		wait_woken(&wait, TASK_INTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
	remove_wait_queue(&p->lender->wait, &back);
	remove_wait_queue(&p->inst->wait, &wait);
	mutex_lock(&p->lock);
	return signal_pending(current) ? -ERESTARTSYS : 0;
}

/**
 * etch_raw_next() - have a packet that is not given whole yet
 * @p: the file
 * @nonblock: do not wait for one
 *
 * Context: process, may sleep; holds p->lock, and lets go of it while it waits.
 * Return: 1; 0 at the end; -EAGAIN if there would be something to wait for; -ERESTARTSYS
 * or -ENOMEM.
 */
int etch_raw_next(struct etch_raw *p, bool nonblock)
{
	enum etch_raw_state state;
	bool flushed = false;
	int ret;

	while (list_empty(&p->queue)) {
		ret = etch_raw_try(p, nonblock, &state);
		if (ret)
			return ret;
		if (state == ETCH_RAW_OFF) {
			if (flushed)
				return 0;
			etch_instance_flush(p->inst, p->cpu);
			flushed = true;
			continue;
		}
		if (nonblock)
			return -EAGAIN;
		ret = etch_raw_wait(p, state);
		if (ret)
			return ret;
	}
	return 1;
}

/**
 * etch_raw_hand_over() - give the packet at hand away
 * @p: the file; etch_raw_next() was 1
 *
 * Context: process; holds p->lock.
 * Return: the packet, now the caller's.
 */
struct etch_loan *etch_raw_hand_over(struct etch_raw *p)
{
	struct etch_loan *loan = etch_raw_at_hand(p);

	list_del(&loan->node);
	p->at = 0;
	return loan;
}

/**
 * etch_raw_gave() - note that a part of the packet at hand was given
 * @p: the file
 * @bytes: the length of the part
 *
 * Context: process; holds p->lock.
 */
void etch_raw_gave(struct etch_raw *p, unsigned int bytes)
{
	p->at += bytes;
	if (p->at == etch_raw_at_hand(p)->packet)
		etch_loan_put(etch_raw_hand_over(p));
}

/**
 * etch_raw_unlock() - let go of p->lock
 * @p: the file
 *
 * Wakes the threads that wait without the lock if a part of a packet is unread.
 *
 * Context: process.
 */
void etch_raw_unlock(struct etch_raw *p)
{
	bool left = !list_empty(&p->queue);

	mutex_unlock(&p->lock);
	if (left)
		wake_up_interruptible(&p->lender->wait);
}
