// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a dump of the machine's state.
 *
 * They are events as any other: they have a header, tracepoints, and files in events/. But
 * no code of the kernel hits them. A dump calls their serializers with the bit of the instance
 * that asked for it, whether that has them enabled or not, and so it knows of each record
 * whether it was stored. Other instances and tracers get a record if they have the event
 * enabled, as from a stub.
 */
#include <linux/etch.h>
#include <linux/preempt.h>
#include <linux/tracepoint.h>

#include "event/own.h"
#include "instance/instance.h"
#include "source/statedump.h"

#define CREATE_TRACE_POINTS
#include <trace/events/etch_statedump.h>

static u64 etch_state_bit(const struct etch_state *state)
{
	return 1ULL << state->inst->rec.bit;
}

/*
 * The consumers that have the event enabled, besides the instance that asked for the dump; and
 * ETCH_RULES, if any instance has rules for it.
 */
static u64 etch_state_others(const struct etch_state *state, const struct tracepoint *tp)
{
	/* It changes with the event's gate, at any time. */
	return READ_ONCE(tp->wanted) & ~(TRACEPOINT_ID | etch_state_bit(state));
}

/*
 * How many records the instance stored: 0 or 1. As in a stub, preemption is disabled from
 * before the look at its consumers until the record has ended.
 */
#define etch_state_hit(_state, _event, ...)				\
({									\
	unsigned int __stored = 0, __ignored;				\
	u64 __others;							\
									\
	preempt_disable_notrace();					\
	etch_write_##_event(etch_write_given(etch_own_mask((_state)->inst->rec.bit)), \
			    &__stored,					\
			    __VA_ARGS__, &etch_event_##_event);		\
	__others = etch_state_others(_state, &__tracepoint_##_event);	\
	if (__others & TRACEPOINT_FUNCS)				\
		__traceiter_##_event(NULL, &__ignored, __VA_ARGS__);	\
	__others &= ~TRACEPOINT_FUNCS;					\
	if (__others & ~ETCH_RULES)					\
		etch_write_##_event(etch_write_given(__others), &__ignored, \
				    __VA_ARGS__, &etch_event_##_event);	\
	preempt_enable_notrace();					\
	__stored;							\
})

static void etch_state_count(struct etch_state *state, enum etch_state_kind kind,
			     unsigned int stored)
{
	state->stored[kind] += stored;
	state->lost += !stored;
}

/* ---- Which there are ---- */

static struct etch_event * const etch_state_events[] = {
	&etch_event_statedump_begin,
	&etch_event_statedump_end,
	&etch_event_statedump_task,
	&etch_event_statedump_exe,
	&etch_event_statedump_file,
	&etch_event_statedump_mount,
	&etch_event_statedump_irq,
#ifdef CONFIG_BLOCK
	&etch_event_statedump_block,
#endif
#ifdef CONFIG_NET
	&etch_event_statedump_netif,
#endif
#if defined(CONFIG_MODULES) && defined(CONFIG_SYSFS)
	&etch_event_statedump_module,
#endif
};

/**
 * etch_state_event() - one of the events that a dump may write
 * @nr: which, from 0
 *
 * Context: any.
 * Return: the event, or NULL: there are not so many.
 */
struct etch_event *etch_state_event(unsigned int nr)
{
	return nr < ARRAY_SIZE(etch_state_events) ? etch_state_events[nr] : NULL;
}

/* ---- The records ---- */

bool etch_state_write_begin(struct etch_state *state)
{
	return etch_state_hit(state, statedump_begin, state->number);
}

bool etch_state_write_end(struct etch_state *state)
{
	return etch_state_hit(state, statedump_end, state->number, state->stored, state->lost);
}

void etch_state_write_task(struct etch_state *state, struct task_struct *task, u64 cgroup)
{
	etch_state_count(state, ETCH_STATE_TASK,
			 etch_state_hit(state, statedump_task, task, cgroup));
}

void etch_state_write_exe(struct etch_state *state, pid_t tgid, const char *path,
			  const struct file *file)
{
	etch_state_count(state, ETCH_STATE_EXE,
			 etch_state_hit(state, statedump_exe, tgid, path, file));
}

void etch_state_write_file(struct etch_state *state, pid_t tid, unsigned int fd,
			   const char *path, const struct file *file)
{
	etch_state_count(state, ETCH_STATE_FILE,
			 etch_state_hit(state, statedump_file, tid, fd, path, file));
}

void etch_state_write_mount(struct etch_state *state, const char *path,
			    const struct super_block *sb)
{
	etch_state_count(state, ETCH_STATE_MOUNT,
			 etch_state_hit(state, statedump_mount, path, sb));
}

void etch_state_write_irq(struct etch_state *state, unsigned int irq, const char *actions,
			  const char *chip)
{
	etch_state_count(state, ETCH_STATE_IRQ,
			 etch_state_hit(state, statedump_irq, irq, actions, chip));
}

#ifdef CONFIG_BLOCK
void etch_state_write_block(struct etch_state *state, struct block_device *bdev,
			    const char *name)
{
	etch_state_count(state, ETCH_STATE_BLOCK,
			 etch_state_hit(state, statedump_block, bdev, name));
}
#endif

#ifdef CONFIG_NET
void etch_state_write_netif(struct etch_state *state, unsigned int ifindex, unsigned int type,
			    unsigned int netns, const char *name)
{
	etch_state_count(state, ETCH_STATE_NETIF,
			 etch_state_hit(state, statedump_netif, ifindex, type, netns, name));
}
#endif

#if defined(CONFIG_MODULES) && defined(CONFIG_SYSFS)
void etch_state_write_module(struct etch_state *state, const char *name, const void *base,
			     unsigned int size)
{
	etch_state_count(state, ETCH_STATE_MODULE,
			 etch_state_hit(state, statedump_module, name, base, size));
}
#endif
