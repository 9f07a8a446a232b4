/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_COUNTER_H
#define _KERNEL_ETCH_COUNTER_H

/*
 * A counter of perf's, one on each CPU, for writers to read.
 *
 * perf drops the counters of a CPU that goes, and a callback of CPU hotplug may make no new
 * ones. So the owner of counters renews them when a CPU has come.
 */

#include <linux/kconfig.h>
#include <linux/percpu.h>
#include <linux/types.h>

struct perf_event;

#define ETCH_COUNTER_NAME	26	/* bytes of a name, with the zero */

/**
 * struct etch_counter_spec - names the thing that a counter counts
 * @type: PERF_TYPE_* of uapi/linux/perf_event.h
 * @config: what, as that type numbers it
 * @name: what users call it
 */
struct etch_counter_spec {
	u32 type;
	u64 config;
	char name[ETCH_COUNTER_NAME];
};

/**
 * struct etch_counter - a counter
 * @spec: what it counts
 * @field: the name of its field in records
 * @events: perf's, by CPU; NULL: not begun
 */
struct etch_counter {
	struct etch_counter_spec spec;
	char field[ETCH_COUNTER_NAME + 12];
	struct perf_event * __percpu *events;
};

#ifdef CONFIG_PERF_EVENTS

int etch_counter_begin(struct etch_counter *counter);
void etch_counter_renew(struct etch_counter *counter);
void etch_counter_end(struct etch_counter *counter);
u64 etch_counter_read(const struct etch_counter *counter);

#else

static inline int etch_counter_begin(struct etch_counter *counter)
{
	return -EOPNOTSUPP;
}

static inline void etch_counter_renew(struct etch_counter *counter)
{
}

static inline void etch_counter_end(struct etch_counter *counter)
{
}

static inline u64 etch_counter_read(const struct etch_counter *counter)
{
	return 0;
}

#endif

#endif /* _KERNEL_ETCH_COUNTER_H */
