// SPDX-License-Identifier: GPL-2.0
/*
 * Non-maskable interrupts for tests: a task sends one to each CPU, itself
 * included, some thousand times in a second. A CPU gets the next one only after
 * it has taken the last.
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/nmi.h>
#include <linux/smp.h>

#include <asm/apic.h>

#include "test_nmi.h"

/* One test at a time. */
static unsigned long test_nmi_busy;
static void (*test_nmi_hit)(void);
static struct task_struct *test_nmi_sender;
static cpumask_t test_nmi_sent;

static int test_nmi_handler(unsigned int type, struct pt_regs *regs)
{
	if (!cpumask_test_and_clear_cpu(smp_processor_id(), &test_nmi_sent))
		return NMI_DONE;
	test_nmi_hit();
	return NMI_HANDLED;
}

static void test_nmi_send(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (!cpumask_test_and_set_cpu(cpu, &test_nmi_sent))
			__apic_send_IPI(cpu, NMI_VECTOR);
}

static int test_nmi_send_them(void *unused)
{
	while (!kthread_should_stop()) {
		test_nmi_send();
		usleep_range(100, 200);
	}
	return 0;
}

/**
 * etch_test_nmis_start() - let all CPUs be hit by non-maskable interrupts
 * @hit: called in each of them, on the CPU that is hit
 *
 * Context: task, may sleep; CPUs neither come nor go until etch_test_nmis_stop().
 * Return: 0, -EBUSY if another test has them, or the errno of what could not be
 * started.
 */
int etch_test_nmis_start(void (*hit)(void))
{
	int ret;

	if (test_and_set_bit_lock(0, &test_nmi_busy))
		return -EBUSY;

	test_nmi_hit = hit;
	ret = register_nmi_handler(NMI_LOCAL, test_nmi_handler, 0, "etch_test");
	if (ret)
		goto out;
	test_nmi_sender = kthread_run(test_nmi_send_them, NULL, "etch_test/nmi");
	ret = PTR_ERR_OR_ZERO(test_nmi_sender);
	if (!ret)
		return 0;
	unregister_nmi_handler(NMI_LOCAL, "etch_test");
out:
	clear_bit_unlock(0, &test_nmi_busy);
	return ret;
}

/**
 * etch_test_nmis_stop() - no more of them
 *
 * The last one is over when this returns.
 *
 * Context: task, may sleep; after an etch_test_nmis_start() that succeeded.
 */
void etch_test_nmis_stop(void)
{
	kthread_stop(test_nmi_sender);
	while (!cpumask_empty(&test_nmi_sent))
		usleep_range(100, 200);
	unregister_nmi_handler(NMI_LOCAL, "etch_test");
	clear_bit_unlock(0, &test_nmi_busy);
}
