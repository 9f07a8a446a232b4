/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_LOAN_H
#define _KERNEL_ETCH_LOAN_H

/*
 * Memory of sub-buffers, on its way from a ring through a reader into pipes and back.
 *
 *	lender = etch_lender_create();
 *	loan = etch_loan_get(lender, ring, max);
 *	... exchange loan->memory for a full sub-buffer ...
 *	refcount_inc(&loan->users);		for each pipe that gets part of it
 *	etch_loan_put(loan);			by each pipe, and by its getter
 *	etch_lender_put(lender);
 *
 * Memory that comes back is lent again, if nobody else has a hand on its pages: a
 * socket may have, long after the pipe. So no more of it is outside than was allowed,
 * and what sockets are sending. Nobody else can hold a page: pipes count as users of a
 * loan, and a page of a mapped window cannot be pinned (raw_map.c).
 *
 * Memory goes into the ring with what it held before, and some of that may be seen between
 * later records. So memory that held records of before the ring was emptied is not lent
 * again: see etch_lender_renew().
 */

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct etch_ring;

/* How much memory is kept, in sub-buffers. */
#define ETCH_LOANS_KEPT	8

/**
 * struct etch_lender - the memory that one reader has lent out, and that it keeps
 * @users: the reader, and the loans
 * @lock: protects the members below
 * @epoch: counts how often the ring was emptied: memory lent in an earlier one is not kept
 * @bytes: of each sub-buffer that is kept
 * @nr_kept: how many are
 * @kept: their memory
 * @outside: loans that were got and not put
 * @wait: for @outside to decrease
 */
struct etch_lender {
	refcount_t users;
	spinlock_t lock;
	unsigned int epoch;
	unsigned int bytes;
	unsigned int nr_kept;
	void *kept[ETCH_LOANS_KEPT];
	unsigned int outside;
	wait_queue_head_t wait;
};

/**
 * struct etch_loan - memory for one sub-buffer
 * @users: number of users
 * @lender: where it comes from
 * @epoch: the lender's when it was got
 * @bytes: its size
 * @memory: its pages
 * @packet: bytes of the packet that is in there
 * @node: in the reader's queue
 */
struct etch_loan {
	refcount_t users;
	struct etch_lender *lender;
	unsigned int epoch;
	unsigned int bytes;
	void *memory;
	unsigned int packet;
	struct list_head node;
};

struct etch_lender *etch_lender_create(void);
void etch_lender_put(struct etch_lender *lender);
void etch_lender_renew(struct etch_lender *lender, unsigned int epoch);
struct etch_loan *etch_loan_get(struct etch_lender *lender, const struct etch_ring *ring,
				unsigned int max);
void etch_loan_put(struct etch_loan *loan);
bool etch_lender_has_room(struct etch_lender *lender, unsigned int max);

#endif /* _KERNEL_ETCH_LOAN_H */
