// SPDX-License-Identifier: GPL-2.0
/*
 * What hits leave to be done: see later.h.
 */
#include <linux/container_of.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "instance/instance.h"
#include "trigger/later.h"

static void etch_later_work(struct work_struct *work)
{
	struct etch_later *later = container_of(work, struct etch_later, work);
	struct etch_instance *inst;

	mutex_lock(&etch_mutex);
	inst = etch_instances[later->bit];
	if (inst)
		later->run(inst);
	mutex_unlock(&etch_mutex);
}

static void etch_later_irq(struct irq_work *irq)
{
	queue_work(system_unbound_wq, &container_of(irq, struct etch_later, irq)->work);
}

/**
 * etch_later_init() - prepare a function to be run for instances
 * @later: for each instance's bit; not freed, for there may be a hit at any time
 * @run: the function. Context: process, may sleep; holds etch_mutex. It may be called although
 *	 no hit asked for it: one did in another instance that had the bit
 *
 * Context: any.
 */
void __init etch_later_init(struct etch_later later[ETCH_BITS],
			    void (*run)(struct etch_instance *inst))
{
	int bit;

	for (bit = 0; bit < ETCH_BITS; bit++) {
		init_irq_work(&later[bit].irq, etch_later_irq);
		INIT_WORK(&later[bit].work, etch_later_work);
		later[bit].run = run;
		later[bit].bit = bit;
	}
}
