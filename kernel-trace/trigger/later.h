/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_LATER_H
#define _KERNEL_ETCH_LATER_H

/*
 * What a hit begins, and cannot finish where it is: a function that runs for the instance soon
 * after the hit, in a task, under etch_mutex. If several hits ask for it before it runs, it runs
 * once.
 */

#include <linux/irq_work.h>
#include <linux/workqueue.h>

#include "event/event.h"

struct etch_instance;

/**
 * struct etch_later - a function to run for an instance
 * @irq: a hit queues this, which queues
 * @work: a hit may be where no work can be queued
 * @run: the function
 * @bit: of the instance. If it has gone, nothing is left to do
 */
struct etch_later {
	struct irq_work irq;
	struct work_struct work;
	void (*run)(struct etch_instance *inst);
	int bit;
};

void etch_later_init(struct etch_later later[ETCH_BITS],
		     void (*run)(struct etch_instance *inst));

/* Context: any, NMI included. */
static inline void etch_later_run(struct etch_later *later)
{
	irq_work_queue(&later->irq);
}

#endif /* _KERNEL_ETCH_LATER_H */
