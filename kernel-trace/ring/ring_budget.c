// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's ring buffer: a budget that rings share, and what it has paid for.
 *
 * A budget has two rates: of bytes, and of records. Each keeps one word, the time up to which
 * all that was stored is paid for. Leaving a block moves it on by what the block cost: its
 * bytes, or its records, each so many nanoseconds. A writer that wants another block looks how
 * far that time is ahead of the clock. Up to ETCH_BUDGET_PERIOD, the block is begun. Beyond,
 * the record is lost. If nothing is stored, the word falls behind the clock, and saves nothing
 * up.
 *
 * So what is stored in a time T, all rings together, is at most what the rate allows for
 * T + ETCH_BUDGET_PERIOD, and two blocks for each ring: one that was begun when the period was
 * not quite spent, and one that was full before T and left in it.
 *
 * The fast path knows nothing of it. There is no lock: the word is moved on by
 * compare-and-exchange, and a writer that goes round again does so because another one
 * has moved it. The clock is one that can be read in an NMI.
 *
 * Barriers
 * ========
 *
 *	label	where				orders			pairs with
 *	J	etch_ring_rate_set():		a rate, then its @den	j
 *		release @den
 *	j	spent, charge: acquire @den	@den, then the rate	J
 */

#include <linux/atomic.h>
#include <linux/etch_ring.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/timekeeping.h>

#include "ring/ring_internal.h"

/* Is the time that is paid for too far ahead of @now? */
static bool rate_spent(const struct etch_ring_rate *rate, u64 now)
{
	/* (j) pairs with (J). */
	if (!smp_load_acquire(&rate->den))
		return false;
	return (s64)(READ_ONCE(rate->paid) - now) >= (s64)ETCH_BUDGET_PERIOD;
}

static void charge_rate(struct etch_ring_rate *rate, u64 now, u64 amount)
{
	u64 den = smp_load_acquire(&rate->den);	/* (j) pairs with (J). */
	u64 paid = READ_ONCE(rate->paid), old, cost;

	if (!den)
		return;
	cost = amount * rate->num / den;
	do {
		old = paid;
		paid = cmpxchg(&rate->paid, old, ((s64)(old - now) > 0 ? old : now) + cost);
	} while (paid != old);
}

/* Does the budget allow no other block now? Any context. */
bool etch_ring_spent(const struct etch_ring *r)
{
	const struct etch_ring_budget *budget = r->budget;
	u64 now;

	if (!budget || (!READ_ONCE(budget->bytes.den) && !READ_ONCE(budget->records.den)))
		return false;
	now = ktime_get_mono_fast_ns();
	return rate_spent(&budget->bytes, now) || rate_spent(&budget->records, now);
}

/* A block with that content was left. Any context. */
void etch_ring_charge(const struct etch_ring *r, unsigned int bytes, unsigned int records)
{
	struct etch_ring_budget *budget = r->budget;
	u64 now;

	if (!budget || (!READ_ONCE(budget->bytes.den) && !READ_ONCE(budget->records.den)))
		return;
	now = ktime_get_mono_fast_ns();
	charge_rate(&budget->bytes, now, bytes);
	charge_rate(&budget->records, now, records);
}

/**
 * etch_ring_rate_off() - take a rate of a budget away
 * @rate: the rate; of bytes or of records
 *
 * Writers that are half-way may still know of it: wait for them with synchronize_rcu() before
 * etch_ring_rate_set().
 *
 * Context: any.
 */
void etch_ring_rate_off(struct etch_ring_rate *rate)
{
	WRITE_ONCE(rate->den, 0);
}
EXPORT_SYMBOL_GPL(etch_ring_rate_off);

/**
 * etch_ring_rate_set() - give a budget a rate
 * @rate: the rate, off, and no writer knows of it
 * @num: nanoseconds that @den bytes, or records, cost; at most 2^44
 * @den: not 0
 *
 * Nothing is owed yet.
 *
 * Context: any.
 */
void etch_ring_rate_set(struct etch_ring_rate *rate, u64 num, u64 den)
{
	rate->num = num;
	WRITE_ONCE(rate->paid, ktime_get_mono_fast_ns());
	/* (J) pairs with (j). */
	smp_store_release(&rate->den, den);
}
EXPORT_SYMBOL_GPL(etch_ring_rate_set);
