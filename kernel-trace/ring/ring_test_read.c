// SPDX-License-Identifier: GPL-2.0
/*
 * The torture of the ring buffer: the readers, and the accounts.
 *
 * One task takes and one peeks, each in all rings by turns. Both look at every
 * record: its sum, its place in the order of time and in that of its writer.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/etch_ring.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "ring/ring_test.h"

/* Views that are taken of one ring before it is another one's turn. */
#define RING_TEST_VIEWS		16

/* Records that the peeking reader has looked at. */
static u64 ring_test_nr_peeked;

/* Is there a whole record in @left bytes? */
static bool ring_test_rec_ok(const struct ring_test_cpu *c, const struct ring_test_rec *rec,
			     unsigned int left)
{
	if (left < sizeof(*rec) || rec->len < sizeof(*rec) || rec->len > left)
		ring_test_bad(c, "a record of %u bytes where there are %u",
			      left < sizeof(*rec) ? 0 : rec->len, left);
	else if (rec->sum != ring_test_sum(rec))
		ring_test_bad(c, "sum of a record of writer %u", rec->who);
	else if (rec->who >= RING_TEST_NR || rec->cpu != c->cpu)
		ring_test_bad(c, "a record of writer %u of CPU %u", rec->who, rec->cpu);
	else
		return true;
	return false;
}

static void ring_test_check_order(const struct ring_test_cpu *c, struct ring_test_order *order,
				  const struct ring_test_rec *rec)
{
	u32 next = order->next[rec->who];

	if (rec->seq < next)
		ring_test_bad(c, "writer %u: record %u after %u", rec->who, rec->seq, next - 1);
	if (rec->time < order->time)
		ring_test_bad(c, "writer %u: time goes back by %llu", rec->who,
			      order->time - rec->time);
	order->gaps += rec->seq - next;
	order->next[rec->who] = rec->seq + 1;
	order->time = rec->time;
}

/*
 * Check the first @records of a view, or all if it has less; leave in @records how many
 * that was. Returns bytes up to where the next record starts, or the view's end.
 */
static unsigned int ring_test_check(const struct ring_test_cpu *c, const struct etch_view *view,
				    struct ring_test_order *order, unsigned int *records)
{
	unsigned int at = 0, n = 0;

	while (at < view->len && n < *records) {
		const struct ring_test_rec *rec = view->data + at;

		if (!ring_test_rec_ok(c, rec, view->len - at))
			break;
		if (rec->time < view->begin)
			ring_test_bad(c, "a record before its block's time");
		ring_test_check_order(c, order, rec);
		n++;
		at += rec->len;
		if (at < view->len)
			at = ALIGN(at, 4);
	}
	if (n != min(*records, view->records))
		ring_test_bad(c, "%u records in a view of %u", n, view->records);
	*records = n;
	return at;
}

/* Returns false if there is nothing. @records: at most so many; U32_MAX: all. */
static bool ring_test_take_view(struct ring_test_cpu *c, unsigned int records)
{
	struct etch_view view;
	unsigned int bytes;

	if (etch_ring_take(c->ring, &view) <= 0)
		return false;
	c->missed += view.missed;
	/* The sum hides one that is less than nothing, and made good by the next. */
	if ((s64)view.missed < 0)
		ring_test_bad(c, "%lld records missed", (s64)view.missed);
	bytes = ring_test_check(c, &view, &c->taken, &records);
	/* ring_test_check() has reported a broken record: skip it, do not stay here for ever. */
	if (!records) {
		bytes = view.len;
		records = view.records;
	}
	etch_ring_advance(c->ring, bytes, records);
	c->read += records;
	return true;
}

/**
 * ring_test_take() - the task that takes
 * @random: state
 *
 * Context: kthread.
 * Return: 0.
 */
int ring_test_take(void *random)
{
	while (!kthread_should_stop()) {
		int cpu, n;

		for_each_online_cpu(cpu) {
			struct ring_test_cpu *c = per_cpu_ptr(&ring_test_cpus, cpu);

			for (n = 0; n < RING_TEST_VIEWS; n++) {
				u32 x = ring_test_random(random);
				bool more;

				/* All of a view, or only a part. */
				mutex_lock(&c->lock);
				more = ring_test_take_view(c, x % 4 ? U32_MAX : 1 + x / 4 % 8);
				mutex_unlock(&c->lock);
				if (!more)
					break;
			}
		}
		/* So that rings fill up, now and then to the brim. */
		if (ring_test_random(random) % 16)
			usleep_range(50, 500);
		else
			msleep(20);
	}
	return 0;
}

/* Look at all of a ring once, and count it. The lock is released between blocks. */
static void ring_test_peek_ring(struct ring_test_cpu *c, void *buf)
{
	struct ring_test_order order = {};
	struct etch_cursor cur;
	struct etch_view view;
	u64 seen = 0, left;
	unsigned int era;
	bool more = true;

	mutex_lock(&c->lock);
	etch_ring_peek_begin(c->ring, &cur);
	left = cur.left;
	era = c->era;
	while (more && era == c->era) {
		more = etch_ring_peek_next(c->ring, &cur, buf, &view) > 0;
		seen += view.missed;
		if (more) {
			unsigned int records = U32_MAX;

			ring_test_check(c, &view, &order, &records);
			seen += view.records;
			ring_test_nr_peeked += view.records;
		}
		mutex_unlock(&c->lock);
		cond_resched();
		mutex_lock(&c->lock);
	}
	if (era == c->era && seen != left)
		ring_test_bad(c, "peeked at %llu of %llu records", seen, left);
	mutex_unlock(&c->lock);
}

/**
 * ring_test_peek() - the task that peeks
 * @buf: as large as a sub-buffer
 *
 * Context: kthread.
 * Return: 0.
 */
int ring_test_peek(void *buf)
{
	ring_test_nr_peeked = 0;
	while (!kthread_should_stop()) {
		int cpu;

		for_each_online_cpu(cpu)
			ring_test_peek_ring(per_cpu_ptr(&ring_test_cpus, cpu), buf);
		usleep_range(500, 2000);
	}
	return 0;
}

/**
 * ring_test_peeked() - how much was peeked at
 *
 * Context: when ring_test_peek() has returned.
 * Return: records.
 */
u64 ring_test_peeked(void)
{
	return ring_test_nr_peeked;
}

/* ---- Accounts ---- */

static void ring_test_same(const struct ring_test_cpu *c, const char *what, u64 a, u64 b)
{
	if (a != b)
		ring_test_bad(c, "%s: %llu, not %llu", what, a, b);
}

/* By cause, in one row. */
static void ring_test_lost(const struct etch_ring_stats *s, u64 *lost)
{
	lost[ETCH_LOST_FULL] = s->lost_full;
	lost[ETCH_LOST_NESTED] = s->lost_nested;
	lost[ETCH_LOST_TOO_BIG] = s->lost_too_big;
	lost[ETCH_LOST_THROTTLED] = s->lost_throttled;
	lost[ETCH_LOST_OFF] = s->lost_off;
}

/* The conservation laws. Returns what is in the ring, by the ring. */
static u64 ring_test_balance(const struct ring_test_cpu *c, u64 stored, u64 failed)
{
	u64 lost[ETCH_LOST_NR], sum = 0;
	struct etch_ring_stats s;
	int i;

	etch_ring_stats(c->ring, &s);
	ring_test_lost(&s, lost);
	for (i = 0; i < ETCH_LOST_NR; i++)
		sum += lost[i];
	ring_test_same(c, "written", s.written, stored);
	ring_test_same(c, "lost", sum, failed);
	ring_test_same(c, "read", s.read, c->read);
	ring_test_same(c, "read + overwritten + entries", s.read + s.overwritten + s.entries,
		       s.written);
	if (s.lost_full && !c->discards)
		ring_test_bad(c, "%llu lost for want of room in overwrite mode", s.lost_full);
	if (s.overwritten && !c->overwrites)
		ring_test_bad(c, "%llu overwritten in discard mode", s.overwritten);
	return s.entries;
}

/* Add a ring's account, which is right and has no entries, to the sums. */
static void ring_test_add(const struct ring_test_cpu *c, struct ring_test_sums *sums)
{
	u64 lost[ETCH_LOST_NR];
	struct etch_ring_stats s;
	int i;

	etch_ring_stats(c->ring, &s);
	ring_test_lost(&s, lost);
	for (i = 0; i < ETCH_LOST_NR; i++)
		sums->lost[i] += lost[i];
	sums->read += s.read;
	sums->overwritten += s.overwritten;
	for (i = 0; i < RING_TEST_NR; i++) {
		sums->tried[i] += c->writers[i].tried;
		sums->half_way[i] += c->writers[i].half_way;
		sums->stored[i] += c->writers[i].seq;
	}
}

/**
 * ring_test_close() - close the account of a ring, to the record
 * @c: whose; its ring is quiescent, nobody even tries to write
 * @sums: gets what was in it
 *
 * The ring is empty then.
 *
 * Context: task, may sleep, under @c's lock.
 */
void ring_test_close(struct ring_test_cpu *c, struct ring_test_sums *sums)
{
	u64 stored = 0, failed = 0, entries, before = c->read, gaps;
	int i;

	for (i = 0; i < RING_TEST_NR; i++) {
		const struct ring_test_writer *w = &c->writers[i];

		ring_test_same(c, "tried", w->tried, w->seq + w->lost);
		stored += w->seq;
		failed += w->lost;
	}
	if (etch_ring_busy(c->ring))
		ring_test_bad(c, "busy when nobody writes");

	entries = ring_test_balance(c, stored, failed);
	while (ring_test_take_view(c, U32_MAX))
		cond_resched();
	ring_test_same(c, "entries", entries, c->read - before);
	ring_test_same(c, "entries of an empty ring", ring_test_balance(c, stored, failed), 0);
	if (!etch_ring_empty(c->ring))
		ring_test_bad(c, "not empty when all was read");

	/* Each record that was not read has left a gap, and was counted in view.missed. */
	gaps = c->taken.gaps;
	for (i = 0; i < RING_TEST_NR; i++)
		gaps += c->writers[i].seq - c->taken.next[i];
	ring_test_same(c, "gaps", gaps, stored - c->read);
	ring_test_same(c, "told as missed", c->missed, gaps);
	ring_test_add(c, sums);
}

/**
 * ring_test_forget() - begin a new account
 * @c: as for ring_test_close(), and its ring was reset
 *
 * Context: task, under @c's lock.
 */
void ring_test_forget(struct ring_test_cpu *c)
{
	int i;

	for (i = 0; i < RING_TEST_NR; i++)
		c->writers[i] = (struct ring_test_writer){ .random = c->writers[i].random };
	c->taken = (struct ring_test_order){};
	c->read = 0;
	c->missed = 0;
	c->era++;
}
