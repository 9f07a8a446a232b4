/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_RAW_H
#define _KERNEL_ETCH_RAW_H

/*
 * The file trace_pipe_raw: raw.c has packets taken, read and spliced, raw_map.c maps them.
 */

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "loan.h"
#include "packet.h"

/**
 * struct etch_raw - an open trace_pipe_raw
 * @inst: whose
 * @cpu: whose
 * @lock: of what is below; outside the instance's read_mutex
 * @lender: gives memory in exchange for packets
 * @loan: the packet that is being given, or NULL
 * @bytes: of it
 * @next: the packet that is given behind it, or NULL
 * @next_bytes: of that
 * @begun: the file has given a packet
 * @at: how many of these were given
 * @slots: how many packets the pipe can hold that was spliced to last
 * @window: the packets that are mapped (raw_map.c), @nr_window of them
 * @nr_window: how many
 * @reached: what is waited for was there, and not all of it is taken; under the
 *	     read_mutex
 */
struct etch_raw {
	struct etch_instance *inst;
	int cpu;
	struct mutex lock;	/* of what is below */
	struct etch_lender *lender;
	struct etch_loan *loan;
	unsigned int bytes;
	struct etch_loan *next;
	unsigned int next_bytes;
	bool begun;
	unsigned int at;
	unsigned int slots;
	struct etch_loan **window;
	unsigned int nr_window;
	bool reached;
};

/* Under p->lock, both. */
int etch_raw_next(struct etch_raw *p, bool nonblock);
struct etch_loan *etch_raw_hand_over(struct etch_raw *p);

/* raw_map.c */
int etch_raw_mmap(struct file *file, struct vm_area_struct *vma);
long etch_raw_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
void etch_raw_unmap(struct etch_raw *p);

#endif /* _KERNEL_ETCH_RAW_H */
