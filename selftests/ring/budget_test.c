// SPDX-License-Identifier: GPL-2.0
/*
 * Rings that share a budget: what it lets in, what it charges, and two writers that charge it at
 * the same time.
 *
 * No test depends on how fast the machine is: a block costs an hour, or so little that a budget
 * is not spent however long the test takes.
 */

#include <pthread.h>

#include "small.h"

#define HOUR		(3600ULL * 1000000000)
#define PER_BLOCK	(ROOM / 96)

/* Two writers charge so many blocks each; together they cost less than ETCH_BUDGET_PERIOD. */
#define CROWD		2000
#define CROWD_COST	20000ULL
#define CROWD_AHEAD	10000000ULL

static struct etch_ring_budget budget;

static struct etch_ring *fresh_with_budget(unsigned int nr, bool overwrite)
{
	struct etch_ring_params params = {
		.node = NUMA_NO_NODE, .size = nr * SUBBUF, .subbuf_size = SUBBUF,
		.header_size = HEADER, .overwrite = overwrite, .clock = ETCH_CLOCK_COUNTER,
		.budget = &budget,
	};

	memset(next_seq, 0, sizeof(next_seq));
	return etch_ring_create(&params);
}

/* How many of @nr records are stored. */
static unsigned int put_many(struct etch_ring *r, unsigned int nr)
{
	unsigned int stored = 0;

	while (nr--)
		stored += put(r, 96);
	return stored;
}

static void check_account(struct etch_ring *r, unsigned int tried, unsigned int stored)
{
	struct etch_ring_stats s;

	CHECK(stats_balance(r, &s));
	CHECK_EQ(s.written, stored);
	CHECK_EQ(s.lost_throttled, tried - stored);
	CHECK_EQ(s.lost_full + s.lost_nested + s.lost_too_big + s.lost_off, 0);
}

/* A ring stores a block, which spends the budget. No other begins, in this ring or another. */
static void test_spent(bool overwrite)
{
	struct etch_ring *r, *other;
	struct tally t = {};

	memset(&budget, 0, sizeof(budget));
	etch_ring_rate_set(&budget.bytes, HOUR, SUBBUF);
	r = fresh_with_budget(8, overwrite);
	other = fresh_with_budget(8, overwrite);
	CHECK_EQ(put_many(r, 5 * PER_BLOCK), PER_BLOCK);
	check_account(r, 5 * PER_BLOCK, PER_BLOCK);
	CHECK_EQ(put_many(other, 10), 0);
	check_account(other, 10, 0);
	/* The next block tells the loss, as it tells any other. */
	etch_ring_flush(r);
	CHECK_EQ(tally_drain(&t, r), PER_BLOCK);
	CHECK_EQ(t.last_lost, 4 * PER_BLOCK);
	CHECK_EQ(t.bad, 0);
	etch_ring_free(other);
	etch_ring_free(r);
	tap(true, "%s: a budget that is spent lets no block begin", overwrite ? "overwrite" : "discard");
}

/* The test expects such a debt for each rate. The clock stands. */
static void check_owed(u64 bytes, u64 records)
{
	CHECK_EQ(budget.bytes.paid - shim_stopped, bytes);
	CHECK_EQ(budget.records.paid - shim_stopped, records);
}

static void test_charge(void)
{
	struct etch_ring *r;

	memset(&budget, 0, sizeof(budget));
	shim_stopped = 1000 * HOUR;
	etch_ring_rate_set(&budget.records, HOUR, 1);
	etch_ring_rate_set(&budget.bytes, HOUR, 1);
	r = fresh_with_budget(8, false);
	/* The first block has none before it that would be charged. */
	CHECK_EQ(put_many(r, 3), 3);
	check_owed(0, 0);
	/* A writer whose record does not fit pays for the block. */
	CHECK(!put(r, ROOM));
	check_owed((HEADER + 3 * 96) * HOUR, 3 * HOUR);
	/* Shorter ones fit. They are charged when the next one does not, and once. */
	CHECK_EQ(put_many(r, 2), 2);
	CHECK(!put(r, ROOM));
	CHECK(!put(r, ROOM));
	check_owed((HEADER + 5 * 96) * HOUR, 5 * HOUR);
	/* Leaving it costs what is not paid; so does an empty one, which tells the losses. */
	CHECK_EQ(put_many(r, 1), 1);
	etch_ring_flush(r);
	check_owed((2 * HEADER + 6 * 96) * HOUR, 6 * HOUR);
	/* That block is there: a budget stops no flush. No other begins before all is paid. */
	CHECK_EQ(put_many(r, 2 * PER_BLOCK), PER_BLOCK);
	check_owed((3 * HEADER + (6 + PER_BLOCK) * 96) * HOUR, (6 + PER_BLOCK) * HOUR);
	shim_stopped = budget.records.paid;
	CHECK_EQ(put_many(r, 1), 0);
	/* What nobody used is not saved up. */
	shim_stopped = budget.bytes.paid + 100 * HOUR;
	CHECK_EQ(put_many(r, 2 * PER_BLOCK), PER_BLOCK);
	check_owed((HEADER + PER_BLOCK * 96) * HOUR, PER_BLOCK * HOUR);
	shim_stopped = 0;
	etch_ring_free(r);
	tap(true, "a block is charged once it is full, or left, by what it has");
}

static pthread_barrier_t crowd_begins;

/* Records that fill a block each. One more begins the first block. */
static void *crowd_writer(void *ring)
{
	u64 time;
	int i;

	pthread_barrier_wait(&crowd_begins);
	for (i = 0; i <= CROWD; i++) {
		CHECK(etch_ring_reserve(ring, ROOM, &time));
		etch_ring_commit(ring);
	}
	return NULL;
}

static void test_crowd(void)
{
	struct etch_ring *r[2];
	pthread_t threads[2];
	u64 begin;
	int i;

	memset(&budget, 0, sizeof(budget));
	etch_ring_rate_set(&budget.records, CROWD_COST, 1);
	/* So far ahead of the clock that each charge adds to those before. */
	budget.records.paid += CROWD_AHEAD;
	begin = budget.records.paid;
	pthread_barrier_init(&crowd_begins, NULL, 2);
	for (i = 0; i < 2; i++)
		r[i] = fresh_with_budget(8, true);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, crowd_writer, r[i]);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	/* A charge that got lost would be missing. */
	CHECK(budget.records.paid >= begin + 2 * CROWD * CROWD_COST);
	for (i = 0; i < 2; i++) {
		check_account(r[i], CROWD + 1, CROWD + 1);
		etch_ring_free(r[i]);
	}
	tap(true, "two writers charge at the same time");
}

int main(void)
{
	test_spent(true);
	test_spent(false);
	test_charge();
	test_crowd();
	tap(!shim_live, "all memory is given back");
	return tap_end();
}
