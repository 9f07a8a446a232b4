// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of pairs: see pairs.h.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/etch_clock.h>
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/vmalloc.h>

#include "latency/pairs.h"

/* ---- Memory ---- */

/**
 * etch_pairs_create() - make a table
 *
 * Context: process, may sleep.
 * Return: the table, for etch_pairs_free(); or NULL: there is not enough memory.
 */
struct etch_pairs *etch_pairs_create(void)
{
	struct etch_pairs *pairs = vzalloc(sizeof(*pairs));

	if (!pairs)
		return NULL;
	pairs->counts = alloc_percpu(struct etch_pair_counts);
	if (!pairs->counts) {
		vfree(pairs);
		return NULL;
	}
	pairs->clock = etch_clock_default();
	pairs->mult = BIT_ULL(32);
	if (pairs->clock == ETCH_CLOCK_COUNTER)
		pairs->mult = mul_u64_u64_div_u64(BIT_ULL(32), NSEC_PER_SEC, etch_clock_hz());
	return pairs;
}

/**
 * etch_pairs_free() - free a table
 * @pairs: the table, in which no hit is any more; or NULL
 *
 * Context: process, may sleep.
 */
void etch_pairs_free(struct etch_pairs *pairs)
{
	if (!pairs)
		return;
	free_percpu(pairs->counts);
	vfree(pairs);
}

/**
 * etch_pairs_clear() - forget all starts and counts
 * @pairs: the table
 *
 * Hits until this returns are forgotten as well.
 *
 * Context: process, may sleep; callers hold a lock against others that read or clear it.
 */
void etch_pairs_clear(struct etch_pairs *pairs)
{
	int cpu;

	WRITE_ONCE(pairs->paused, true);
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(pairs->counts, cpu), 0, sizeof(*pairs->counts));
	memset(pairs->sets, 0, sizeof(pairs->sets));
	atomic64_set(&pairs->max, 0);
	/* A writer that sees the next store sees the sets as they are here. */
	synchronize_rcu();
	WRITE_ONCE(pairs->paused, false);
}

/* ---- Sets ---- */

/**
 * etch_pairs_set() - the set that a key belongs to
 * @pairs: the table
 * @key: the key
 *
 * Context: any.
 * Return: the set.
 */
struct etch_pair_set *etch_pairs_set(struct etch_pairs *pairs, u64 key)
{
	return &pairs->sets[hash_64(key, ETCH_PAIR_BITS)];
}

/* True: the set is this hit's, for etch_set_release(). */
static __always_inline bool etch_set_claim(struct etch_pair_set *set)
{
	/* (p) owning the set, then its places: pairs with etch_set_release() */
	return !READ_ONCE(set->busy) && !cmpxchg_acquire(&set->busy, 0, 1);
}

static __always_inline void etch_set_release(struct etch_pair_set *set)
{
	/* (P) the places, then letting go of them: pairs with etch_set_claim() */
	smp_store_release(&set->busy, 0);
}

/* The place that has a key; ETCH_PAIR_WAYS: none has it. */
static __always_inline unsigned int etch_set_find(const struct etch_pair_set *set, u64 key)
{
	unsigned int way;

	for (way = 0; way < ETCH_PAIR_WAYS; way++)
		if (set->key[way] == key && set->time[way])
			break;
	return way;
}

/* A place that is free, or that of the oldest start. */
static unsigned int etch_set_oldest(const struct etch_pair_set *set)
{
	unsigned int oldest = 0, way;

	for (way = 1; way < ETCH_PAIR_WAYS; way++)
		if (set->time[way] < set->time[oldest])
			oldest = way;
	return oldest;
}

/* The place for a start whose key the first place has not got. */
static noinline unsigned int etch_set_place(struct etch_pair_set *set, u64 key,
					    struct etch_pair_counts *counts)
{
	unsigned int way = etch_set_find(set, key);

	if (way < ETCH_PAIR_WAYS) {
		local64_inc(&counts->replaced);
		return way;
	}
	way = etch_set_oldest(set);
	if (set->time[way])
		local64_inc(&counts->displaced);
	set->key[way] = key;
	return way;
}

/* ---- Hits ---- */

static __always_inline u64 etch_pairs_now(const struct etch_pairs *pairs)
{
	return etch_clock_read(pairs->clock) ?: 1;
}

/**
 * etch_pairs_start() - a pair starts
 * @pairs: the table
 * @key: of the pair
 *
 * Context: any, NMI included; preemption disabled.
 */
void etch_pairs_start(struct etch_pairs *pairs, u64 key)
{
	struct etch_pair_counts *counts = this_cpu_ptr(pairs->counts);
	struct etch_pair_set *set = etch_pairs_set(pairs, key);
	u64 now = etch_pairs_now(pairs);
	unsigned int way = 0;

	if (unlikely(READ_ONCE(pairs->paused)))
		return;
	local64_inc(&counts->starts);
	if (unlikely(!etch_set_claim(set))) {
		local64_inc(&counts->busy_starts);
		return;
	}
	/* A key that the first place had last is in no other place: it would have taken this. */
	if (unlikely(set->key[0] != key))
		way = etch_set_place(set, key, counts);
	else if (set->time[0])
		local64_inc(&counts->replaced);
	WRITE_ONCE(set->time[way], now);
	etch_set_release(set);
}

/* True: no latency before was as long. */
static bool etch_pairs_longest(struct etch_pairs *pairs, u64 ns)
{
	s64 max = atomic64_read(&pairs->max);

	/* Each failure means that another hit has raised it. */
	while (ns > (u64)max)
		if (atomic64_try_cmpxchg(&pairs->max, &max, ns))
			return true;
	return false;
}

/**
 * etch_pairs_end() - a pair ends
 * @pairs: the table
 * @key: of the pair
 * @ns: gets how long it took, in nanoseconds
 * @longest: gets whether that is longer than all before
 *
 * Context: as etch_pairs_start().
 * Return: true; false: its start is not there, or the set is busy.
 */
bool etch_pairs_end(struct etch_pairs *pairs, u64 key, u64 *ns, bool *longest)
{
	struct etch_pair_counts *counts = this_cpu_ptr(pairs->counts);
	struct etch_pair_set *set = etch_pairs_set(pairs, key);
	u64 now = etch_pairs_now(pairs), began;
	unsigned int way;

	if (unlikely(READ_ONCE(pairs->paused)))
		return false;
	local64_inc(&counts->ends);
	if (unlikely(!etch_set_claim(set))) {
		local64_inc(&counts->busy_ends);
		return false;
	}
	way = etch_set_find(set, key);
	if (way == ETCH_PAIR_WAYS) {
		etch_set_release(set);
		local64_inc(&counts->missed);
		return false;
	}
	began = set->time[way];
	WRITE_ONCE(set->time[way], 0);
	etch_set_release(set);
	local64_inc(&counts->pairs);
	*ns = now > began ? mul_u64_u64_shr(now - began, pairs->mult, 32) : 0;
	*longest = etch_pairs_longest(pairs, *ns);
	return true;
}

/* ---- Reading ---- */

/**
 * etch_pairs_read() - read all counts
 * @pairs: the table, which hits may be in: then the counts are not of one moment
 * @view: gets them
 *
 * Context: process; callers hold a lock against others that clear it.
 */
void etch_pairs_read(const struct etch_pairs *pairs, struct etch_pairs_view *view)
{
	const u64 *times;
	unsigned int set, way;
	int cpu;

	*view = (struct etch_pairs_view) { .max = atomic64_read(&pairs->max) };
	for_each_possible_cpu(cpu) {
		const struct etch_pair_counts *counts = per_cpu_ptr(pairs->counts, cpu);

		view->starts += local64_read(&counts->starts);
		view->ends += local64_read(&counts->ends);
		view->pairs += local64_read(&counts->pairs);
		view->displaced += local64_read(&counts->displaced);
		view->replaced += local64_read(&counts->replaced);
		view->missed += local64_read(&counts->missed);
		view->busy_starts += local64_read(&counts->busy_starts);
		view->busy_ends += local64_read(&counts->busy_ends);
	}
	for (set = 0; set < ETCH_PAIR_SETS; set++) {
		times = pairs->sets[set].time;
		for (way = 0; way < ETCH_PAIR_WAYS; way++)
			view->now += !!READ_ONCE(times[way]);
	}
}
