// SPDX-License-Identifier: GPL-2.0
/*
 * Fires the events of etch-sample.h.
 *
 * A write of N to the parameter "fire" fires N rounds before it returns, always
 * of the same content: what a round records depends on its number alone. A write
 * to "values" hits one event, with values of the writer's choice. With
 * the parameter "period" a thread fires one round in so many milliseconds.
 */

#define pr_fmt(fmt) "etch-sample: " fmt

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/etch_mark.h>
#include <linux/in.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stringify.h>

#define CREATE_TRACE_POINTS
#include "etch-sample.h"

/* Rounds that one write may ask for: they are fired with a parameter lock held. */
#define ETCH_SAMPLE_MAX_ROUNDS	100000

/* Characters of a text that is written to "values". */
#define ETCH_SAMPLE_MAX_TEXT	63

static atomic_t users;
static int regs;
static int unregs;

module_param(regs, int, 0444);
MODULE_PARM_DESC(regs, "how often the event etch_sample_counted got its first user");
module_param(unregs, int, 0444);
MODULE_PARM_DESC(unregs, "how often etch_sample_counted lost its last user");

static unsigned int period;
module_param(period, uint, 0444);
MODULE_PARM_DESC(period, "milliseconds between rounds of a thread; 0: no thread (default)");

static struct task_struct *thread;

/* Called by the tracepoint code, which has a lock of its own around it. */
int etch_sample_reg(void)
{
	regs++;
	atomic_inc(&users);
	return 0;
}

void etch_sample_unreg(void)
{
	atomic_dec(&users);
	unregs++;
}

static __printf(2, 3) void say(const char *topic, const char *fmt, ...)
{
	struct va_format message = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	message.va = &args;
	trace_etch_sample_message(topic, &message);
	va_end(args);
}

static void fire_state(unsigned int round)
{
	static const enum etch_sample_state states[] = {
		ETCH_SAMPLE_IDLE, ETCH_SAMPLE_BUSY, ETCH_SAMPLE_TIRED,
	};

	/* Two flags have a name; the other bits are printed as a number. */
	trace_etch_sample_state(states[round % ARRAY_SIZE(states)], round & 0xf);
}

static void fire_list(unsigned int round)
{
	static const int values[] = { 1, -1, 2, -2, 3 };

	trace_etch_sample_list(values, round % (ARRAY_SIZE(values) + 1));
}

static void fire_masks(unsigned int round)
{
	unsigned long bits[2] = { BIT(round % BITS_PER_LONG), round };

	trace_etch_sample_masks(bits, 100, cpumask_of(0));
}

static void fire_peer(unsigned int round)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(round & 0xffff),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	trace_etch_sample_peer((struct sockaddr *)&address, sizeof(address));
}

static void fire_values(u64 number, const char *text)
{
	static const char * const labels[] = { "none", "Ada's", "", "a label behind a pointer" };

	trace_etch_sample_values(number, text, labels[number % ARRAY_SIZE(labels)],
				 cpumask_of(number % nr_cpu_ids));
}

/*
 * LESSON: markers.
 *
 * A marker is an event in one line, without a header: markers:sample_value with the fields
 * value_number, value_name and so on. It takes what it records from where it stands, and is
 * read as it stands: with this line changed, it is another event. What others rely on belongs
 * in a header.
 */
static void fire_value(unsigned int round)
{
	struct {
		unsigned int parity : 1;
		int number;
		u64 square;
		bool big;
		char name[8];
		const char *label;
		void *nowhere;
	} value = {
		.parity = round & 1,
		.number = -(int)round,
		.square = (u64)round * round,
		.big = round > 9,
		.label = round & 1 ? "odd" : NULL,
	};

	snprintf(value.name, sizeof(value.name), "round%u", round);
	etch_mark("sample_value", value.number, value.name, value.square, value.parity, value.big,
		  value.label, value.nowhere);
}

/* Two markers of one name, with the same fields, are one event. */
static void fire_round(unsigned int round)
{
	static const char * const names[] = { "", "Ada", "Konrad", "Grace Brewster" };

	etch_mark("sample_step", round);
	trace_etch_sample_begin(round, 0);
	trace_etch_sample_greet(round, names[round % ARRAY_SIZE(names)]);
	fire_state(round);
	fire_list(round);
	fire_masks(round);
	say("sample", "message %u of %s", round, "many");
	fire_peer(round);
	fire_values(round, names[round % ARRAY_SIZE(names)]);
	trace_etch_sample_odd(round);
	trace_etch_sample_counted(round, atomic_read(&users));
	trace_etch_sample_pause(round, -(int)round);
	trace_etch_sample_end(round, round % 3);
	fire_value(round);
	etch_mark("sample_step", round);
}

static int fire_set(const char *value, const struct kernel_param *kp)
{
	unsigned int rounds, round;
	int err;

	err = kstrtouint(value, 0, &rounds);
	if (err)
		return err;
	if (rounds > ETCH_SAMPLE_MAX_ROUNDS)
		return -ERANGE;

	for (round = 0; round < rounds; round++) {
		fire_round(round);
		cond_resched();
	}
	return 0;
}

static const struct kernel_param_ops fire_ops = {
	.set = fire_set,
};
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "write N to fire N rounds, numbered from 0");

static int values_set(const char *value, const struct kernel_param *kp)
{
	char text[ETCH_SAMPLE_MAX_TEXT + 1] = "";
	u64 number;

	if (sscanf(value, "%lli %" __stringify(ETCH_SAMPLE_MAX_TEXT) "[^\n]", &number, text) < 1)
		return -EINVAL;
	fire_values(number, text);
	return 0;
}

static const struct kernel_param_ops values_ops = {
	.set = values_set,
};
module_param_cb(values, &values_ops, NULL, 0200);
MODULE_PARM_DESC(values, "write a number and a text to hit etch_sample_values with them");

static int fire_thread(void *unused)
{
	unsigned int round = 0;

	while (!kthread_should_stop()) {
		fire_round(round++);
		msleep_interruptible(period);
	}
	return 0;
}

static int __init etch_sample_init(void)
{
	if (!period)
		return 0;
	thread = kthread_run(fire_thread, NULL, "etch-sample");
	return PTR_ERR_OR_ZERO(thread);
}

static void __exit etch_sample_exit(void)
{
	if (thread)
		kthread_stop(thread);
}

module_init(etch_sample_init);
module_exit(etch_sample_exit);

MODULE_DESCRIPTION("Sample events for Etch");
MODULE_LICENSE("GPL");
