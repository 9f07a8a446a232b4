/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_PAIRS_H
#define _KERNEL_ETCH_PAIRS_H

/*
 * Tables of pairs: a hit starts one with a key, a later hit with the same key ends it.
 *
 * All CPUs share a table, for a pair may end on another CPU than the one on which it started.
 * Its memory is fixed: ETCH_PAIR_SETS sets with ETCH_PAIR_WAYS places each. A key belongs to the
 * set that its hash names. A start whose set has no free place displaces the oldest start there.
 *
 * The word @busy of a set belongs to the hit that has exchanged it from 0 to 1. A hit that finds
 * it taken does not wait, because the owner may be what the hit interrupted: it counts as busy,
 * and changes nothing. So no hit ever waits, NMIs included.
 *
 * Every hit has one outcome, so when no hit is under way,
 *
 *	starts = pairs + displaced + replaced + still there + busy starts
 *	ends   = pairs + missed + busy ends
 *
 * The clock is etch_clock_default(), chosen when the table is made: on most machines the
 * processor's counter, the cheapest that all CPUs share, which an NMI may read. It is not the
 * clock of the instance. That may be changed while a pair is under way, "seq" is no time, and
 * "local" is another one on each CPU. If the ending CPU's clock is behind the starting one's all
 * the same, the latency is 0.
 */

#include <linux/atomic.h>
#include <linux/etch_clock.h>
#include <linux/log2.h>
#include <linux/types.h>

#include <asm/local64.h>

#define ETCH_PAIR_SETS		1024U	/* a power of two */
#define ETCH_PAIR_BITS		ilog2(ETCH_PAIR_SETS)
#define ETCH_PAIR_WAYS		4
#define ETCH_PAIR_ALIGN		128	/* two cache lines: the first three places are in one */

/**
 * struct etch_pair_set - a set of places
 * @busy: 1: a hit owns the set
 * @key: of each place
 * @time: when the pair in that place started; 0: the place is free
 */
struct etch_pair_set {
	u32 busy;
	u64 key[ETCH_PAIR_WAYS];
	u64 time[ETCH_PAIR_WAYS];
} __aligned(ETCH_PAIR_ALIGN);

/**
 * struct etch_pair_counts - what became of the hits of a CPU, or of all
 * @starts: hits that start a pair
 * @ends: hits that end one
 * @pairs: ends that found their start
 * @displaced: starts that made room for a start with another key
 * @replaced: starts that made room for one with the same key
 * @missed: ends that found no start
 * @busy_starts: starts that found their set owned by another hit
 * @busy_ends: ends that did
 */
struct etch_pair_counts {
	local64_t starts;
	local64_t ends;
	local64_t pairs;
	local64_t displaced;
	local64_t replaced;
	local64_t missed;
	local64_t busy_starts;
	local64_t busy_ends;
};

/**
 * struct etch_pairs - a table of pairs
 * @counts: each CPU's writers count in their own
 * @clock: of all times here
 * @paused: hits do nothing and are not counted
 * @mult: nanoseconds of 2^32 units of the clock
 * @max: the longest latency
 * @sets: see above
 */
struct etch_pairs {
	struct etch_pair_counts __percpu *counts;
	enum etch_clock clock;
	bool paused;
	u64 mult;
	atomic64_t max;
	struct etch_pair_set sets[ETCH_PAIR_SETS];
};

/**
 * struct etch_pairs_view - the counts of a table, of all CPUs
 * @starts: see struct etch_pair_counts, also for the next seven
 * @ends: see there
 * @pairs: see there
 * @displaced: see there
 * @replaced: see there
 * @missed: see there
 * @busy_starts: see there
 * @busy_ends: see there
 * @now: starts that are there
 * @max: the longest latency, in nanoseconds
 */
struct etch_pairs_view {
	u64 starts;
	u64 ends;
	u64 pairs;
	u64 displaced;
	u64 replaced;
	u64 missed;
	u64 busy_starts;
	u64 busy_ends;
	u64 now;
	u64 max;
};

struct etch_pairs *etch_pairs_create(void);
void etch_pairs_free(struct etch_pairs *pairs);
void etch_pairs_clear(struct etch_pairs *pairs);
void etch_pairs_read(const struct etch_pairs *pairs, struct etch_pairs_view *view);

void etch_pairs_start(struct etch_pairs *pairs, u64 key);
bool etch_pairs_end(struct etch_pairs *pairs, u64 key, u64 *ns, bool *longest);

/* The set that a key belongs to: for tests, too. */
struct etch_pair_set *etch_pairs_set(struct etch_pairs *pairs, u64 key);

#endif /* _KERNEL_ETCH_PAIRS_H */
