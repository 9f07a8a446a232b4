// SPDX-License-Identifier: GPL-2.0
/*
 * LTTng's names of events and fields that Etch has, too: so the tables need to know only one.
 */
#ifdef HAVE_BABELTRACE2
#include "read/babel.h"

#include <stdio.h>

/* An event's name begins so: then it is of a system, and in place of that stands another. */
static const struct {
	const char *lttng, *etch;
} starts[] = {
	{ "syscall_entry_", "syscalls:sys_enter_" },
	{ "syscall_exit_", "syscalls:sys_exit_" },
	{ "irq_softirq_", "irq:softirq_" },
	{ "irq_tasklet_", "irq:tasklet_" },
	{ "irq_handler_", "irq:irq_handler_" },
	{ "x86_irq_vectors_", "irq_vectors:" },
	{ "lttng_statedump_process_state", "statedump:statedump_task" },
	{ "sched_", "sched:sched_" },
	{ "task_", "task:task_" },
	{ "block_", "block:block_" },
	{ "kmem_", "kmem:" },
	{ "timer_hrtimer_", "timer:hrtimer_" },
	{ "timer_itimer_", "timer:itimer_" },
	{ "timer_", "timer:timer_" },
	{ "workqueue_", "workqueue:workqueue_" },
	{ "writeback_", "writeback:writeback_" },
	{ "signal_", "signal:signal_" },
	{ "net_", "net:net_" },
	{ "napi_", "napi:napi_" },
	{ "skb_", "skb:" },
	{ "power_cpu_", "power:cpu_" },
	{ "jbd2_", "jbd2:jbd2_" },
	{ "ext4_", "ext4:ext4_" },
};

/* Where Etch has a thread, LTTng may have a thread and a process: tid and pid. */
static const struct {
	const char *lttng, *etch;
} threads[] = {
	{ "tid", "pid" }, { "pid", "tgid" },
	{ "prev_tid", "prev_pid" }, { "prev_pid", "prev_tgid" },
	{ "next_tid", "next_pid" }, { "next_pid", "next_tgid" },
	{ "parent_tid", "parent_pid" }, { "parent_pid", "parent_tgid" },
	{ "child_tid", "child_pid" }, { "child_pid", "child_tgid" },
	{ "old_tid", "old_pid" }, { "old_pid", "old_tgid" },
};

void babel_event_name(enum babel_tracer tracer, const char *name, char full[256])
{
	for (size_t i = 0; tracer == BABEL_LTTNG && i < sizeof(starts) / sizeof(*starts); i++) {
		size_t len = strlen(starts[i].lttng);

		if (strncmp(name, starts[i].lttng, len))
			continue;
		snprintf(full, 256, "%s%s", starts[i].etch, name + len);
		return;
	}
	snprintf(full, 256, "%s", name);
}

const char *babel_field_name(enum babel_tracer tracer, const char *full, const char *name)
{
	if (tracer != BABEL_LTTNG)
		return name;
	if (!strcmp(full, "statedump:statedump_task"))
		return !strcmp(name, "name") ? "comm" : name;
	for (size_t i = 0; !strncmp(full, "sched:", 6) && i < sizeof(threads) / sizeof(*threads); i++)
		if (!strcmp(name, threads[i].lttng))
			return threads[i].etch;
	return name;
}
#endif /* HAVE_BABELTRACE2 */
