// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of sub-buffers that is lent to readers: see loan.h.
 *
 * New pages are zeroed; those that come back have records in them that this file's
 * readers were given. They are lent again as they are: etch_packet_make() zeroes what lies
 * behind a packet's records, so no more than the bytes that records leave out is seen
 * again. When the ring is emptied, its records must not be seen any more, and no page that
 * may hold one is lent again.
 */

#include <linux/err.h>
#include <linux/etch_ring.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "ctf/loan.h"

/**
 * etch_lender_create() - begin to lend
 *
 * Context: process, may sleep.
 * Return: a lender, for etch_lender_put(); NULL if there is no memory.
 */
struct etch_lender *etch_lender_create(void)
{
	struct etch_lender *lender = kzalloc(sizeof(*lender), GFP_KERNEL);

	if (!lender)
		return NULL;
	refcount_set(&lender->users, 1);
	spin_lock_init(&lender->lock);
	init_waitqueue_head(&lender->wait);
	return lender;
}

static void etch_memory_put(struct rcu_head *head)
{
	put_page(container_of(head, struct page, rcu_head));
}

/*
 * Have @memory freed, not at once: a dump, which is an RCU reader, may have begun to look
 * at it when it still was a ring's. Our hand on it is not the last one, if a socket has
 * one, but is kept as long.
 */
static void etch_memory_free(void *memory)
{
	call_rcu(&virt_to_page(memory)->rcu_head, etch_memory_put);
}

/* Frees what is kept: it does not fit any more, or nobody wants it. */
static void etch_lender_drop(struct etch_lender *lender)
{
	while (lender->nr_kept)
		etch_memory_free(lender->kept[--lender->nr_kept]);
}

/**
 * etch_lender_put() - the reader lends no more
 * @lender: is freed when the last loan has come back
 *
 * Context: any but interrupts.
 */
void etch_lender_put(struct etch_lender *lender)
{
	if (!refcount_dec_and_test(&lender->users))
		return;
	etch_lender_drop(lender);
	kfree(lender);
}

/**
 * etch_lender_renew() - lend no memory again that was lent in another epoch
 * @lender: the lender
 * @epoch: of the ring: another one if it was emptied
 *
 * Context: any but interrupts.
 */
void etch_lender_renew(struct etch_lender *lender, unsigned int epoch)
{
	spin_lock(&lender->lock);
	if (lender->epoch != epoch)
		etch_lender_drop(lender);
	lender->epoch = epoch;
	spin_unlock(&lender->lock);
}

/**
 * etch_lender_has_room() - is less outside than allowed?
 * @lender: the lender
 * @max: how many loans are allowed
 *
 * Context: any but interrupts. lender->wait is woken when one comes back.
 * Return: true if it is.
 */
bool etch_lender_has_room(struct etch_lender *lender, unsigned int max)
{
	bool may;

	spin_lock(&lender->lock);
	may = lender->outside < max;
	spin_unlock(&lender->lock);
	return may;
}

/* Count a loan, and take kept memory for it if it fits. -EAGAIN: too many. */
static int etch_lender_take(struct etch_lender *lender, struct etch_loan *loan,
			    unsigned int max)
{
	int ret = -EAGAIN;

	spin_lock(&lender->lock);
	if (lender->outside < max) {
		ret = 0;
		lender->outside++;
		if (lender->bytes != loan->bytes)
			etch_lender_drop(lender);
		lender->bytes = loan->bytes;
		loan->epoch = lender->epoch;
		if (lender->nr_kept)
			loan->memory = lender->kept[--lender->nr_kept];
	}
	spin_unlock(&lender->lock);
	return ret;
}

/**
 * etch_loan_get() - get memory for a sub-buffer
 * @lender: the lender
 * @ring: that it shall fit
 * @max: how many loans may be outside, this one included
 *
 * Context: process, may sleep; the ring stays.
 * Return: the loan; or an ERR_PTR() of -EAGAIN, if there are too many, or -ENOMEM.
 */
struct etch_loan *etch_loan_get(struct etch_lender *lender, const struct etch_ring *ring,
				unsigned int max)
{
	struct etch_loan *loan = kzalloc(sizeof(*loan), GFP_KERNEL);
	int ret;

	if (!loan)
		return ERR_PTR(-ENOMEM);
	refcount_set(&loan->users, 1);
	loan->bytes = etch_ring_subbuf_size(ring);
	ret = etch_lender_take(lender, loan, max);
	if (ret) {
		kfree(loan);
		return ERR_PTR(ret);
	}
	loan->lender = lender;
	refcount_inc(&lender->users);
	if (!loan->memory)
		loan->memory = etch_ring_alloc_subbuf(ring);
	if (!loan->memory) {
		etch_loan_put(loan);
		return ERR_PTR(-ENOMEM);
	}
	return loan;
}

/* Keep the memory of a loan that has come back, if it can be lent again. */
static bool etch_lender_keep(struct etch_lender *lender, const struct etch_loan *loan)
{
	/* Someone who got the page from a pipe may still send it. */
	if (!loan->memory || page_count(virt_to_page(loan->memory)) != 1)
		return false;
	if (lender->bytes != loan->bytes || lender->nr_kept == ETCH_LOANS_KEPT)
		return false;
	if (lender->epoch != loan->epoch)
		return false;
	lender->kept[lender->nr_kept++] = loan->memory;
	return true;
}

/**
 * etch_loan_put() - done with a loan
 * @loan: is back when the last one of its users has put it
 *
 * Context: any but interrupts.
 */
void etch_loan_put(struct etch_loan *loan)
{
	struct etch_lender *lender = loan->lender;
	bool kept;

	if (!refcount_dec_and_test(&loan->users))
		return;
	spin_lock(&lender->lock);
	lender->outside--;
	kept = etch_lender_keep(lender, loan);
	spin_unlock(&lender->lock);
	if (!kept && loan->memory)
		etch_memory_free(loan->memory);
	wake_up_interruptible(&lender->wait);
	etch_lender_put(lender);
	kfree(loan);
}
