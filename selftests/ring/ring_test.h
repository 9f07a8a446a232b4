/* SPDX-License-Identifier: GPL-2.0 */
/* What the ring's tests share: TAP lines, and a record that shows damage. */
#ifndef RING_TEST_H
#define RING_TEST_H

#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include "shim.h"

extern int tap_nr, tap_failed;

/*
 * One test: a line "ok N - name" or "not ok N - name". Returns the result, or ends the
 * program if it is bad and the environment has TAP_STOP.
 */
__printf(2, 3) bool tap(bool ok, const char *fmt, ...);
/* A line of comment. */
__printf(1, 2) void tap_note(const char *fmt, ...);
/* The plan, and the exit code. */
int tap_end(void);

/*
 * A test's check inside a larger one: notes the first few failures with their place,
 * and counts all.
 */
extern long check_failures;
#define CHECK(c) do {								\
	if (!(c) && check_failures++ < 8)					\
		tap_note("%s:%d: failed: %s", __FILE__, __LINE__, #c);		\
} while (0)
#define CHECK_EQ(a, b) do {							\
	unsigned long long __a = (a), __b = (b);				\
										\
	if (__a != __b && check_failures++ < 8)					\
		tap_note("%s:%d: %s is %llu, %s is %llu", __FILE__, __LINE__,	\
			 #a, __a, #b, __b);					\
} while (0)
/* Did all checks since the last call hold? */
bool checks_passed(void);

/*
 * A record: who wrote it, the how manieth of its kind it is, and a body whose
 * bytes follow from both, to its last odd byte.
 */
struct rec {
	u64	time;
	u32	seq;
	u16	len;
	u16	level : 2;
	u16	sum : 14;	/* of all the others */
	u8	body[];
} __packed __aligned(4);

#define REC_MIN		sizeof(struct rec)
#define LEVELS		3

void rec_fill(struct rec *rec, u64 time, int level, u32 seq, unsigned int len);
bool rec_good(const struct rec *rec, unsigned int room);

/*
 * Ways to reserve, as etch_write_begin() does it: the straight line first, and what it leaves to
 * others then; all in one; as it does it for a copy: with a time that was read before; or by a
 * clock that is not the counter.
 */
enum rec_way { REC_STRAIGHT, REC_PLAIN, REC_SINCE, REC_CLOCK, REC_WAYS };

static __always_inline enum etch_quick rec_reserve_since(struct etch_ring *r, unsigned long len,
							 struct etch_ticks *counter, void **rec)
{
	u64 then = etch_ring_position(r);

	*counter = etch_ticks_read();
	return etch_ring_reserve_since(r, len, then, rec);
}

static __always_inline enum etch_quick rec_reserve_clock(struct etch_ring *r, unsigned long *len,
							 u64 *time, void **rec)
{
	return READ_ONCE(r->nest) ? ETCH_QUICK_NESTED : etch_ring_reserve_clock(r, len, time, rec);
}

static __always_inline struct rec *rec_reserve(struct etch_ring *r, unsigned long len, u64 *time,
					       enum rec_way way)
{
	struct etch_ticks counter;
	enum etch_quick how;
	void *rec;

	if (way == REC_PLAIN)
		return etch_ring_reserve(r, len, time);
	how = way == REC_CLOCK ? rec_reserve_clock(r, &len, time, &rec) :
	      way == REC_SINCE ? rec_reserve_since(r, len, &counter, &rec) :
				 etch_ring_reserve_quick(r, &len, &counter, &rec);
	if (how == ETCH_QUICK_DONE) {
		if (way != REC_CLOCK)
			*time = etch_ticks_whole(counter);
		return rec;
	}
	return how == ETCH_QUICK_LOST ? NULL : etch_ring_reserve_other(r, len, time, how);
}

/* Reserve, fill and commit one, in all ways by turns. False: lost. */
bool rec_write(struct etch_ring *r, int level, u32 seq, unsigned int len);

/* What a reader of records knows of what it has read. */
struct tally {
	u64	records;
	u64	missed;		/* told in views */
	u64	gaps;		/* numbers that never came, by level, summed */
	u64	bad;		/* damaged, out of order, or seen twice */
	u64	last_time;
	u64	last_lost;
	u64	last_end;	/* of the sub-buffer taken whole last */
	u64	next_block;	/* the least number that the next block can have */
	u64	blocks_gone;	/* that never came, or came in views */
	u32	next[LEVELS];
};

/* Check all records of a view. Returns the bytes and records of the first @max. */
unsigned int tally_view(struct tally *t, const struct etch_view *view, unsigned int max,
			unsigned int *records);
/* The same of a sub-buffer that was taken whole. */
void tally_subbuf(struct tally *t, const struct etch_ring *r, const struct etch_view *view);
/* Take and check all there is. Returns the number of records. */
u64 tally_drain(struct tally *t, struct etch_ring *r);

#define NOBODY		(~0U)

/* The conservation law and, if @want is not NULL, the figures. */
bool stats_balance(struct etch_ring *r, struct etch_ring_stats *s);

/* Set all positions of an unused ring, to test their wrap. */
void ring_rebase(struct etch_ring *r, u64 pos);

struct etch_ring *ring_make(size_t size, unsigned int subbuf, unsigned int header, bool overwrite);

#endif /* RING_TEST_H */
