/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two sides of the stress share: stress_writer.c writes, on a CPU of its own and
 * interrupting itself, and stress_test.c reads, controls and checks.
 */
#ifndef STRESS_H
#define STRESS_H

#include "ring_test.h"

/*
 * The writers, by level: a task, which an interrupt interrupts, and an NMI, which
 * interrupts both. What they count is for others to read when the ring is quiescent
 * (stored), at any time by atomic loads (interrupts, flushes), or when the writers are
 * parked or have ended (all).
 */
struct writers {
	u64	seed[LEVELS];
	u32	stored[LEVELS];		/* how many of its records are in: the next one's number */
	u64	lost[LEVELS];		/* how many are not */
	u64	interrupts[LEVELS];	/* of another writer, between reserve and commit */
	u64	flushes[LEVELS];	/* instead of records, half-way or not */
};

extern struct writers writers;

/* Start the thread, with all counts at zero. Do interrupts @flush now and then? */
void writers_start(struct etch_ring *r, u64 seed, bool flush);
/* End it. */
void writers_stop(void);
/* What synchronize_rcu() is to the kernel: every writer of now is gone. */
void writers_wait(void);
/* Let none of them try anything, until writers_go(). */
void writers_park(void);
void writers_go(void);
/* Let none of them flush, beside control: when writers_wait() has returned, none does. */
void writers_let_flush(bool may);
/* Interrupt the thread by the writer of this level. */
void writers_kick(int level);

/* Stay on the CPU that is the @want-th of those we may use. */
void pin_to(int want);
/* How many there are. */
int cpus_usable(void);

/* The next number of a sequence that looks like chance. */
static inline u32 any(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 16;
}

#endif /* STRESS_H */
