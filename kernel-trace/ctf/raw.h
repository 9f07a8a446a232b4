/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_RAW_H
#define _KERNEL_ETCH_RAW_H

/*
 * The file trace_pipe_raw: raw_queue.c takes packets out of the ring, raw.c has them read and
 * spliced, raw_map.c maps them.
 */

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "ctf/loan.h"
#include "ctf/packet.h"

/**
 * struct etch_raw - an open trace_pipe_raw
 * @inst: whose
 * @cpu: whose
 * @lock: protects the members below; outside the instance's read_mutex
 * @lender: gives memory in exchange for packets
 * @queue: packets that are taken and not given whole, in order
 * @at: how many bytes of the first one were given
 * @begun: the file has given a packet
 * @slots: how many packets the largest pipe can hold that was spliced to
 * @window: the packets that are mapped (raw_map.c), @nr_window of them
 * @nr_window: how many
 * @mapping: where the file is mapped: the window is in at most one of these places
 * @reached: the watermark was reached, and some packets are not taken; under the
 *	     read_mutex
 */
struct etch_raw {
	struct etch_instance *inst;
	int cpu;
	struct mutex lock;	/* the members below */
	struct etch_lender *lender;
	struct list_head queue;
	unsigned int at;
	bool begun;
	unsigned int slots;
	struct etch_loan **window;
	unsigned int nr_window;
	struct address_space mapping;
	bool reached;
};

/* Whether there is a packet for a reader, and why not. */
enum etch_raw_state {
	ETCH_RAW_PACKET,	/* there is one */
	ETCH_RAW_WAIT,		/* there is none, or too few; more may come */
	ETCH_RAW_LENT,		/* too many are outside */
	ETCH_RAW_OFF,		/* there is none, and tracing is off */
};

/* ---- raw_queue.c ---- */

enum etch_raw_state etch_raw_ask(struct etch_raw *p);

/* Under p->lock, all of these. The packet at hand is there once etch_raw_next() was 1. */
int etch_raw_next(struct etch_raw *p, bool nonblock);
void etch_raw_gave(struct etch_raw *p, unsigned int bytes);
void etch_raw_unlock(struct etch_raw *p);
struct etch_loan *etch_raw_hand_over(struct etch_raw *p);

static inline struct etch_loan *etch_raw_at_hand(const struct etch_raw *p)
{
	return list_first_entry(&p->queue, struct etch_loan, node);
}

/* ---- raw_map.c ---- */
void etch_raw_map_init(struct etch_raw *p, struct inode *inode, struct file *file);
int etch_raw_mmap(struct file *file, struct vm_area_struct *vma);
long etch_raw_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
void etch_raw_unmap(struct etch_raw *p);

#endif /* _KERNEL_ETCH_RAW_H */
