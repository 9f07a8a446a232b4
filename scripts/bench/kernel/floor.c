// SPDX-License-Identifier: GPL-2.0
/*
 * What no tracer of this kind can undercut: the clocks alone, and the floor, a
 * record of 24 bytes with a time stamp that an interrupt may come in between.
 */

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/timekeeping.h>
#include <linux/trace_clock.h>
#include <linux/vmalloc.h>

#include <asm/barrier.h>
#include <asm/cmpxchg.h>

#include "event.h"

/* As large as the tracers' buffers are made. It wraps. */
#define FLOOR_SIZE	(1UL << 20)

static struct {
	u64	pos;		/* bytes reserved since ever */
	u64	committed;	/* all before it is stored */
	u8	*base;
} bench_floor ____cacheline_aligned;

struct floor_record {
	u64	time;
	u64	count;
	u32	first;
	u32	second;
};

int bench_floor_create(void)
{
	bench_floor.base = vzalloc(FLOOR_SIZE + sizeof(struct floor_record));
	return bench_floor.base ? 0 : -ENOMEM;
}

void bench_floor_free(void)
{
	vfree(bench_floor.base);
}

/* Not ordered, as in a tracer. */
static __always_inline u64 floor_clock(void)
{
	u32 low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high));
	return low | (u64)high << 32;
}

static __always_inline void floor_hit(u64 count, u32 first, u32 second)
{
	u64 pos = READ_ONCE(bench_floor.pos), time;
	struct floor_record *record;

	do {
		time = floor_clock();
	} while (!try_cmpxchg_local(&bench_floor.pos, &pos,
				    pos + sizeof(*record)));
	record = (void *)(bench_floor.base + (pos & (FLOOR_SIZE - 1)));
	record->time = time;
	record->count = count;
	record->first = first;
	record->second = second;
	smp_store_release(&bench_floor.committed, pos + sizeof(*record));
}

static __always_inline void floor_use(u64 value)
{
	asm volatile("" : : "r" (value));
}

BENCH_LOOP(empty, (void)0)

BENCH_LOOP(counter, floor_use(floor_clock()))

BENCH_LOOP(mono, floor_use(ktime_get_mono_fast_ns()))

BENCH_LOOP(local, floor_use(trace_clock_local()))

BENCH_LOOP(floor, floor_hit(1, 2, 3))
