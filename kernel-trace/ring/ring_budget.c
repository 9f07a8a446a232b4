// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's ring buffer: a budget that rings share, and what it has paid for.
 *
 * A budget has two rates: of bytes, and of records. Each keeps one word, the time up to which
 * all that was stored is paid for. A writer whose record does not fit into its block moves it on
 * by what the block costs: its bytes, or its records, each so many nanoseconds. Then it looks
 * how far that time is ahead of the clock. Up to ETCH_BUDGET_PERIOD, it begins another block.
 * Beyond, the record is lost. If nothing is stored, the word falls behind the clock, and saves
 * nothing up.
 *
 * So all rings together store in a time T at most what the rate allows for
 * T + ETCH_BUDGET_PERIOD, and a block for each ring. For when a writer begins a block the last
 * time, the word is at most ETCH_BUDGET_PERIOD ahead, and accounts for all records but those in
 * the block that each ring has open. Writers fill that block on the fast path, which asks nobody.
 *
 * A block is paid for up to a position, @charged of its ring: a shorter record may still fit
 * where a longer one did not. A writer pays first, and then moves @charged. Another one that
 * interrupts it in between pays for the same, and more, before it begins a block; the one that
 * was interrupted then finds @charged moved, and takes back what it has paid.
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

/* Pay for so much. Returns the nanoseconds that it costs. */
static u64 charge_rate(struct etch_ring_rate *rate, u64 now, u64 amount)
{
	u64 den = smp_load_acquire(&rate->den);	/* (j) pairs with (J). */
	u64 paid = READ_ONCE(rate->paid), old, cost;

	if (!den)
		return 0;
	cost = amount * rate->num / den;
	do {
		old = paid;
		paid = cmpxchg(&rate->paid, old, ((s64)(old - now) > 0 ? old : now) + cost);
	} while (paid != old);
	return cost;
}

/* Somebody else has paid for that, too. */
static void give_back(struct etch_ring_rate *rate, u64 cost)
{
	u64 paid = READ_ONCE(rate->paid), old;

	do {
		old = paid;
		paid = cmpxchg(&rate->paid, old, old - cost);
	} while (paid != old);
}

static bool bounded(const struct etch_ring_budget *budget)
{
	return READ_ONCE(budget->bytes.den) || READ_ONCE(budget->records.den);
}

static u64 mono_now(void)
{
	/* The clock reads its own state again when somebody has changed it meanwhile. */
	return data_race(ktime_get_mono_fast_ns());
}

/* Does the budget allow no other block now? Any context. */
bool etch_ring_spent(const struct etch_ring *r)
{
	const struct etch_ring_budget *budget = r->budget;
	u64 now;

	if (!budget || !bounded(budget))
		return false;
	now = mono_now();
	return rate_spent(&budget->bytes, now) || rate_spent(&budget->records, now);
}

/* Pay for all that is stored before @pos. Any context, on the ring's CPU. */
void etch_ring_charge(struct etch_ring *r, u64 pos)
{
	struct etch_ring_budget *budget = r->budget;
	u64 old = READ_ONCE(r->charged);
	u64 from = etch_ring_block_at(r, pos);
	u64 now, bytes = 0, records = 0;

	if (!budget || (s64)(pos - old) <= 0)
		return;
	if (etch_ring_block_at(r, old) == from)
		from = old;
	if (bounded(budget)) {
		now = mono_now();
		bytes = charge_rate(&budget->bytes, now, etch_pos_off(pos, etch_pos_bytes(from)));
		records = charge_rate(&budget->records, now,
				      etch_pos_count(pos) - etch_pos_count(from));
	}
	if (cmpxchg_local(&r->charged, old, pos) == old)
		return;
	give_back(&budget->bytes, bytes);
	give_back(&budget->records, records);
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
	WRITE_ONCE(rate->paid, mono_now());
	/* (J) pairs with (j). */
	smp_store_release(&rate->den, den);
}
EXPORT_SYMBOL_GPL(etch_ring_rate_set);
