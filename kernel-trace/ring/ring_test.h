/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_RING_TEST_H
#define _KERNEL_ETCH_RING_TEST_H

/*
 * The torture of the ring buffer: what ring_test.c, which runs it,
 * ring_test_write.c and ring_test_read.c share.
 */

#include <linux/etch_ring.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/types.h>

/* The size of a block's header, which these tests leave alone; an odd size rounds up. */
#define RING_TEST_HEADER	60

/* The contexts that write. They interrupt each other in this order. */
enum ring_test_who {
	RING_TEST_TASK,
	RING_TEST_SOFT,		/* a timer in a softirq */
	RING_TEST_TIMER,	/* a timer in a hardirq */
	RING_TEST_WORK,		/* irq_work, in a hardirq too */
	RING_TEST_NMI,
	RING_TEST_NR
};

/**
 * struct ring_test_rec - a record
 * @time: the ring's
 * @sum: of all that comes behind it
 * @seq: counts the records that this writer stored
 * @len: bytes
 * @who: enum ring_test_who
 * @cpu: whose ring
 * @body: anything
 */
struct ring_test_rec {
	u64	time;
	u32	sum;
	u32	seq;
	u16	len;
	u8	who;
	u8	cpu;
	u8	body[];
} __packed __aligned(4);

/**
 * struct ring_test_writer - one context of one CPU, and changed by it alone
 * @tried: reservations
 * @half_way: of those, while another writer of that ring was between reserve and commit
 * @lost: of those, without success
 * @seq: the others
 * @random: state
 */
struct ring_test_writer {
	u64	tried;
	u64	half_way;
	u64	lost;
	u32	seq;
	u32	random;
};

/**
 * struct ring_test_order - what a reader expects of the next record
 * @next: sequence number, of each writer
 * @gaps: numbers that did not come
 * @time: of the last record
 */
struct ring_test_order {
	u32	next[RING_TEST_NR];
	u64	gaps;
	u64	time;
};

/**
 * struct ring_test_cpu - a CPU's ring and all who use it
 * @ring: NULL outside a run
 * @cpu: which
 * @paused: nobody shall write
 * @writers: by enum ring_test_who
 * @deepest: the most writers that a writer has found in flight
 * @soft: timer of RING_TEST_SOFT
 * @timer: of RING_TEST_TIMER
 * @work: of RING_TEST_WORK
 * @lock: protects the fields below, and serialises readers and control of the ring
 * @taken: what the taking reader has seen
 * @read: records it advanced over
 * @missed: the sum of view.missed
 * @era: changes when cursors become void
 * @overwrites: records may have been dropped
 * @discards: records may have been lost for want of room
 */
struct ring_test_cpu {
	struct etch_ring	*ring;
	unsigned int		cpu;
	bool			paused;
	struct ring_test_writer	writers[RING_TEST_NR];
	unsigned int		deepest;
	struct hrtimer		soft;
	struct hrtimer		timer;
	struct irq_work		work;

	struct mutex		lock;	/* readers and control */
	struct ring_test_order	taken;
	u64			read;
	u64			missed;
	unsigned int		era;
	bool			overwrites;
	bool			discards;
};

DECLARE_PER_CPU(struct ring_test_cpu, ring_test_cpus);

/**
 * struct ring_test_sums - the accounts of all rings that have been closed
 * @tried: by writer
 * @half_way: by writer
 * @stored: by writer
 * @lost: by enum etch_lost
 * @read: by the taking reader
 * @overwritten: before it came
 */
struct ring_test_sums {
	u64	tried[RING_TEST_NR];
	u64	half_way[RING_TEST_NR];
	u64	stored[RING_TEST_NR];
	u64	lost[ETCH_LOST_NR];
	u64	read;
	u64	overwritten;
};

/* ring_test.c */
__printf(2, 3) void ring_test_bad(const struct ring_test_cpu *c, const char *fmt, ...);

/* ring_test_write.c */
u32 ring_test_sum(const struct ring_test_rec *rec);
u32 ring_test_random(u32 *state);
int ring_test_task(void *cpu);
void ring_test_init_writers(struct ring_test_cpu *c);
void ring_test_start_timers(void *unused);
void ring_test_stop_timers(void);
void ring_test_sync_work(void);
void ring_test_hit_by_nmi(void);

/* ring_test_read.c */
int ring_test_take(void *random);
int ring_test_peek(void *buf);
void ring_test_close(struct ring_test_cpu *c, struct ring_test_sums *sums);
void ring_test_forget(struct ring_test_cpu *c);
u64 ring_test_peeked(void);

/* ring_test_crash.c */
struct dentry;

void ring_test_crash_init(struct dentry *dir);

#endif /* _KERNEL_ETCH_RING_TEST_H */
