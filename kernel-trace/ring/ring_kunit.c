// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of Etch's ring buffer and clocks, in the kernel that they run in.
 *
 * The protocol itself is tried much harder by tools/testing/selftests/etch/ring,
 * which interrupts a writer at each access to memory. Here it is the kernel's atomics,
 * allocator, interrupts and clocks that the same source is tried with.
 */

#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/etch_ring.h>
#include <linux/etch_ring_write.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "ring/ring_internal.h"
#include "ring/ring_look.h"

#define TEST_HEADER	64U
#define TIMER_PERIOD	ns_to_ktime(50 * NSEC_PER_USEC)

/* How many interrupts must hit a record half-way, and how long that may take. */
#define WANT_HALF_WAY	5U
#define HALF_WAY_MS	60000

/* The contexts that write. */
enum { TASK, TIMER, WORK, LEVELS };

/* A record: its number, which its last bytes repeat. */
struct test_rec {
	u64	time;
	u32	seq;
	u16	len;
	u16	level;
	u8	body[];
} __packed __aligned(4);

/* A test's ring, and its figures of the records written and read, by writer. */
struct fixture {
	struct etch_ring	*ring;
	unsigned int		room;
	u32			stored[LEVELS];
	u32			failed;
	u32			next[LEVELS];
	u64			gaps;
	u64			missed;
	u64			read;
	u64			last_time;
	struct hrtimer		timer;
	struct irq_work		work;
	u32			half_way[LEVELS];
};

/* What all of them stored. */
static u64 stored(const struct fixture *f)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < LEVELS; i++)
		sum += f->stored[i];
	return sum;
}

static void put(struct fixture *f, unsigned int level, unsigned int len)
{
	struct test_rec *rec;
	u64 time;

	guard(preempt)();
	rec = etch_ring_reserve(f->ring, len, &time);
	if (!rec) {
		f->failed++;
		return;
	}
	rec->time = time;
	rec->seq = f->stored[level]++;
	rec->len = len;
	rec->level = level;
	memset(rec->body, (u8)rec->seq, len - sizeof(*rec));
	etch_ring_commit(f->ring);
}

static void check_rec(struct kunit *test, struct fixture *f, const struct test_rec *rec,
		      const struct etch_view *view)
{
	unsigned int body = rec->len - sizeof(*rec);

	KUNIT_ASSERT_LT(test, rec->level, LEVELS);
	KUNIT_ASSERT_GE(test, rec->len, sizeof(*rec));
	KUNIT_EXPECT_GE(test, rec->time, view->begin);
	KUNIT_EXPECT_GE(test, rec->time, f->last_time);
	KUNIT_EXPECT_GE(test, rec->seq, f->next[rec->level]);
	KUNIT_EXPECT_TRUE(test, !body || !memchr_inv(rec->body, (u8)rec->seq, body));
	f->last_time = rec->time;
	f->gaps += rec->seq - f->next[rec->level];
	f->next[rec->level] = rec->seq + 1;
}

/* Check all records of a view. */
static void check_view(struct kunit *test, struct fixture *f, const struct etch_view *view)
{
	unsigned int at = 0, n = 0;

	KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)view->data, 4));
	f->missed += view->missed;
	while (at < view->len) {
		const struct test_rec *rec = view->data + at;

		KUNIT_ASSERT_LE(test, at + rec->len, view->len);
		check_rec(test, f, rec, view);
		n++;
		at += rec->len;
		if (at < view->len)
			at = ALIGN(at, 4);
	}
	KUNIT_EXPECT_EQ(test, n, view->records);
}

static void drain(struct kunit *test, struct fixture *f)
{
	struct etch_view view;

	while (etch_ring_take(f->ring, &view) > 0) {
		check_view(test, f, &view);
		etch_ring_advance(f->ring, view.len, view.records);
		f->read += view.records;
	}
}

/* The account, when nobody writes. Returns what is in the ring. */
static u64 balance(struct kunit *test, struct fixture *f)
{
	struct etch_ring_stats s;

	etch_ring_stats(f->ring, &s);
	KUNIT_EXPECT_EQ(test, s.written, stored(f));
	KUNIT_EXPECT_EQ(test, s.written, s.read + s.overwritten + s.entries);
	KUNIT_EXPECT_EQ(test, s.read, f->read);
	KUNIT_EXPECT_EQ(test, s.lost_full + s.lost_nested + s.lost_too_big + s.lost_off,
			f->failed);
	return s.entries;
}

/* And when all has been read. */
static void drain_and_close(struct kunit *test, struct fixture *f)
{
	struct etch_ring_stats s;
	int i;

	balance(test, f);
	drain(test, f);
	KUNIT_EXPECT_EQ(test, balance(test, f), 0);
	etch_ring_stats(f->ring, &s);
	for (i = 0; i < LEVELS; i++)
		f->gaps += f->stored[i] - f->next[i];
	KUNIT_EXPECT_EQ(test, s.overwritten, f->gaps);
	KUNIT_EXPECT_EQ(test, s.overwritten, f->missed);
	KUNIT_EXPECT_TRUE(test, etch_ring_empty(f->ring));
	KUNIT_EXPECT_FALSE(test, etch_ring_busy(f->ring));
}

static struct fixture *fixture(struct kunit *test, unsigned int nr, bool overwrite)
{
	struct etch_ring_params params = {
		.node = NUMA_NO_NODE,
		.size = nr * PAGE_SIZE,
		.subbuf_size = PAGE_SIZE,
		.header_size = TEST_HEADER,
		.overwrite = overwrite,
		.clock = etch_clock_default(),
	};
	struct fixture *f = test->priv;

	etch_ring_free(f->ring);
	memset(f, 0, sizeof(*f));
	f->ring = etch_ring_create(&params);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->ring);
	f->room = PAGE_SIZE - TEST_HEADER;
	return f;
}

static int test_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct fixture), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static void test_exit(struct kunit *test)
{
	struct fixture *f = test->priv;

	if (f && !IS_ERR(f->ring))
		etch_ring_free(f->ring);
}

static void fill_and_drain(struct kunit *test)
{
	static const unsigned int lens[] = { 16, 17, 24, 31, 100, 1008, 2000 };
	unsigned int mode, i, n;

	for (mode = 0; mode < 2; mode++) {
		for (i = 0; i < ARRAY_SIZE(lens); i++) {
			struct fixture *f = fixture(test, 4, mode);

			/* Once round the ring in small steps, then far more than fits. */
			for (n = 0; n < 5 * PAGE_SIZE / lens[i]; n++) {
				put(f, TASK, lens[i]);
				if (n % 7 == 0)
					drain(test, f);
			}
			KUNIT_EXPECT_EQ(test, f->failed, 0);
			for (n = 0; n < 100 * PAGE_SIZE / lens[i]; n++)
				put(f, TASK, lens[i]);
			KUNIT_EXPECT_EQ(test, !f->failed, mode);
			drain_and_close(test, f);
		}
	}
}

static void exact_fill(struct kunit *test)
{
	struct fixture *f = fixture(test, 2, false);
	unsigned int i;

	put(f, TASK, f->room);
	put(f, TASK, f->room);
	put(f, TASK, 16);
	KUNIT_EXPECT_EQ(test, f->failed, 1);
	drain(test, f);
	for (i = 0; i < 10; i++) {
		put(f, TASK, f->room - 3);
		drain(test, f);
	}
	KUNIT_EXPECT_EQ(test, f->failed, 1);
	drain_and_close(test, f);
}

static void lost_by_cause(struct kunit *test)
{
	struct fixture *f = fixture(test, 2, false);
	struct etch_ring_stats s;
	unsigned int i;

	put(f, TASK, f->room + 1);
	put(f, TASK, UINT_MAX);
	etch_ring_off(f->ring);
	put(f, TASK, 16);
	etch_ring_on(f->ring);
	for (i = 0; i < 5; i++)
		put(f, TASK, f->room);
	etch_ring_stats(f->ring, &s);
	KUNIT_EXPECT_EQ(test, s.lost_too_big, 2);
	KUNIT_EXPECT_EQ(test, s.lost_off, 1);
	KUNIT_EXPECT_EQ(test, s.lost_full, 3);
	KUNIT_EXPECT_EQ(test, s.lost_nested, 0);
	drain_and_close(test, f);
}

/* One writer half-way, and another that goes round the ring. */
static void nested_flood(struct kunit *test)
{
	unsigned int mode, i;

	for (mode = 0; mode < 2; mode++) {
		struct fixture *f = fixture(test, 4, mode);
		unsigned int flood = 5 * (f->room / 200) + 110;
		struct test_rec *rec;
		u64 time;

		for (i = 0; i < 3 * f->room / 204; i++)
			put(f, TASK, 200);
		drain(test, f);

		preempt_disable();
		rec = etch_ring_reserve(f->ring, 16, &time);
		if (rec) {
			*rec = (struct test_rec){
				.time = time, .seq = f->stored[TASK]++, .len = 16
			};
			for (i = 0; i < flood; i++)
				put(f, TIMER, 200);
			etch_ring_commit(f->ring);
		}
		preempt_enable();
		KUNIT_EXPECT_NOT_NULL(test, rec);
		KUNIT_EXPECT_GT(test, f->failed, 100);
		KUNIT_EXPECT_GE(test, f->stored[TIMER], 3 * (f->room / 204));
		drain_and_close(test, f);
		KUNIT_EXPECT_EQ(test, f->gaps, 0);
	}
}

static void nested_too_deep(struct kunit *test)
{
	struct fixture *f = fixture(test, 2, true);
	struct etch_ring_stats s;
	u64 time;
	int i;

	preempt_disable();
	for (i = 0; i < ETCH_RING_MAX_NEST; i++) {
		struct test_rec *rec = etch_ring_reserve(f->ring, 16, &time);

		if (!rec)
			break;
		*rec = (struct test_rec){ .time = time, .seq = f->stored[TASK]++, .len = 16 };
	}
	put(f, TIMER, 16);
	while (i--)
		etch_ring_commit(f->ring);
	preempt_enable();

	etch_ring_stats(f->ring, &s);
	KUNIT_EXPECT_EQ(test, f->stored[TASK], ETCH_RING_MAX_NEST);
	KUNIT_EXPECT_EQ(test, s.lost_nested, 1);
	drain_and_close(test, f);
}

/* An interrupt's records. */
static void put_some(struct fixture *f, unsigned int level)
{
	unsigned int i;

	f->half_way[level] += f->ring->nest != 0;
	for (i = 0; i < 20; i++)
		put(f, level, 16 + f->stored[level] % 50);
}

static void on_work(struct irq_work *work)
{
	put_some(container_of(work, struct fixture, work), WORK);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct fixture *f = container_of(timer, struct fixture, timer);

	put_some(f, TIMER);
	/* Comes when this is over, where this came if the machine lets it. */
	irq_work_queue(&f->work);
	hrtimer_forward_now(timer, TIMER_PERIOD);
	return HRTIMER_RESTART;
}

/* A timer's interrupts and irq_work write in the middle of a task's records. */
static void interrupted(struct kunit *test)
{
	unsigned int mode, i;

	for (mode = 0; mode < 2; mode++) {
		struct fixture *f = fixture(test, 4, mode);
		unsigned long end = jiffies + msecs_to_jiffies(HALF_WAY_MS);

		f->work = IRQ_WORK_INIT_HARD(on_work);
		hrtimer_setup(&f->timer, on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);

		/* The ring is this CPU's: stay here. */
		migrate_disable();
		hrtimer_start(&f->timer, TIMER_PERIOD, HRTIMER_MODE_REL_PINNED_HARD);
		/* How often the timer comes is up to the machine, and to what else it does. */
		for (i = 0; i < 200000 || READ_ONCE(f->half_way[TIMER]) < WANT_HALF_WAY; i++) {
			if (time_after(jiffies, end))
				break;
			put(f, TASK, 16 + i % 90);
			if (i % 100 == 0)
				drain(test, f);
		}
		hrtimer_cancel(&f->timer);
		irq_work_sync(&f->work);
		migrate_enable();

		kunit_info(test, "timer: %u records, %u times half-way; irq_work: %u, %u",
			   f->stored[TIMER], f->half_way[TIMER],
			   f->stored[WORK], f->half_way[WORK]);
		KUNIT_EXPECT_GE(test, f->half_way[TIMER], WANT_HALF_WAY);
		KUNIT_EXPECT_GT(test, f->stored[TIMER], 0);
		KUNIT_EXPECT_GT(test, f->stored[WORK], 0);
		drain_and_close(test, f);
	}
}

/* Each record is half-way until irq_work has written in the middle of it. */
static void interrupted_each_time(struct kunit *test)
{
	unsigned int mode, i;

	for (mode = 0; mode < 2; mode++) {
		struct fixture *f = fixture(test, 4, mode);

		f->work = IRQ_WORK_INIT_HARD(on_work);
		for (i = 0; i < WANT_HALF_WAY; i++) {
			unsigned long end = jiffies + msecs_to_jiffies(HALF_WAY_MS);
			struct test_rec *rec;
			u64 time;

			guard(preempt)();
			rec = etch_ring_reserve(f->ring, 16, &time);
			if (!rec) {
				f->failed++;
				continue;
			}
			*rec = (struct test_rec){
				.time = time, .seq = f->stored[TASK]++, .len = 16
			};
			irq_work_queue(&f->work);
			while (irq_work_is_busy(&f->work) && !time_after(jiffies, end))
				cpu_relax();
			etch_ring_commit(f->ring);
		}
		irq_work_sync(&f->work);
		KUNIT_EXPECT_EQ(test, f->half_way[WORK], f->stored[TASK]);
		KUNIT_EXPECT_GT(test, f->stored[TASK], 0);
		drain_and_close(test, f);
	}
}

static void peek(struct kunit *test)
{
	struct fixture *f = fixture(test, 4, true);
	void *buf = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned int per_block = f->room / 100;
	struct etch_ring_stats before, after;
	struct etch_cursor cur;
	struct etch_view view;
	u64 seen = 0, gone = 0;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < 25 * per_block; i++)
		put(f, TASK, 100);
	etch_ring_stats(f->ring, &before);
	etch_ring_peek_begin(f->ring, &cur);
	while (etch_ring_peek_next(f->ring, &cur, buf, &view) > 0)
		seen += view.records;
	etch_ring_stats(f->ring, &after);
	KUNIT_EXPECT_EQ(test, seen, before.entries);
	KUNIT_EXPECT_MEMEQ(test, &before, &after, sizeof(before));

	/* Overwritten while it looks. */
	seen = 0;
	etch_ring_peek_begin(f->ring, &cur);
	for (i = 0; etch_ring_peek_next(f->ring, &cur, buf, &view) > 0; i++) {
		seen += view.records;
		gone += view.missed;
		if (i == 0)
			while (f->stored[TASK] < 28 * per_block)
				put(f, TASK, 100);
	}
	gone += view.missed;
	KUNIT_EXPECT_GT(test, gone, 0);
	KUNIT_EXPECT_EQ(test, seen + gone, before.entries);
	drain_and_close(test, f);
}

/* The taking reader has a block in hand that the cursor is still to come to. */
static void peek_beside_a_taker(struct kunit *test)
{
	struct fixture *f = fixture(test, 4, false);
	void *buf = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned int per_block = f->room / 100;
	struct etch_cursor cur;
	struct etch_view view;
	u64 seen = 0;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < 3 * per_block; i++)
		put(f, TASK, 100);
	etch_ring_peek_begin(f->ring, &cur);

	/* One block whole; the next one is in hand. */
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, etch_ring_take(f->ring, &view), 1);
		if (i) {
			view.len = 0;
			view.records = 0;
		}
		check_view(test, f, &view);
		etch_ring_advance(f->ring, view.len, view.records);
		f->read += view.records;
	}

	while (etch_ring_peek_next(f->ring, &cur, buf, &view) > 0)
		seen += view.records + view.missed;
	seen += view.missed;
	KUNIT_EXPECT_EQ(test, seen, 3 * per_block);
	drain_and_close(test, f);
}

static void copied_then_overwritten(struct kunit *test)
{
	struct fixture *f = fixture(test, 2, true);
	struct etch_view view;
	unsigned int i;

	for (i = 0; i < 10; i++)
		put(f, TASK, 100);
	KUNIT_ASSERT_EQ(test, etch_ring_take(f->ring, &view), 1);
	KUNIT_EXPECT_TRUE(test, view.open);
	check_view(test, f, &view);
	etch_ring_advance(f->ring, view.len, view.records);
	f->read += view.records;
	for (i = 0; i < 500; i++)
		put(f, TASK, 100);
	drain_and_close(test, f);
}

static void resize(struct kunit *test)
{
	unsigned int mode, i, n;

	for (mode = 0; mode < 2; mode++) {
		struct fixture *f = fixture(test, 4, mode);

		for (i = 0; i < 20; i++) {
			unsigned int nr = 2 << (i * 7 % 5);

			for (n = 0; n < 300; n++)
				put(f, TASK, 100 + n % 30);
			if (i % 3 == 0)
				drain(test, f);
			KUNIT_EXPECT_EQ(test, etch_ring_resize(f->ring, nr), 0);
			KUNIT_EXPECT_EQ(test, etch_ring_nr_subbufs(f->ring), nr);
			balance(test, f);
		}
		KUNIT_EXPECT_EQ(test, etch_ring_resize(f->ring, 3), -EINVAL);
		KUNIT_EXPECT_EQ(test, etch_ring_resize(f->ring, 0), -EINVAL);
		drain_and_close(test, f);
	}
}

static void bad_params(struct kunit *test)
{
	struct etch_ring_params good = {
		.node = NUMA_NO_NODE, .size = 2 * PAGE_SIZE, .subbuf_size = PAGE_SIZE,
	};
	struct etch_ring_params p;

#define EXPECT_BAD(field, value) do {						\
	p = good;								\
	p.field = value;							\
	KUNIT_EXPECT_EQ(test, PTR_ERR(etch_ring_create(&p)), -EINVAL);		\
} while (0)

	EXPECT_BAD(subbuf_size, PAGE_SIZE + 1);
	EXPECT_BAD(subbuf_size, PAGE_SIZE / 2);
	EXPECT_BAD(subbuf_size, 2 * ETCH_RING_MAX_SUBBUF);
	EXPECT_BAD(header_size, PAGE_SIZE);
	EXPECT_BAD(size, SIZE_MAX);
	EXPECT_BAD(clock, ETCH_CLOCK_NR);
#undef EXPECT_BAD
}

/* What a look sees: these records and no others, wherever a reader is. */
static void expect_look(struct kunit *test, const struct etch_ring *r, u32 from, u32 to)
{
	struct etch_look look;
	struct etch_view view;
	unsigned int at;

	etch_ring_look_begin(r, &look, U64_MAX);
	while (etch_ring_look_next(r, &look, &view)) {
		for (at = 0; at < view.len; from++) {
			const struct test_rec *rec = view.data + at;

			KUNIT_ASSERT_EQ(test, rec->seq, from);
			at += ALIGN(rec->len, 4);
		}
	}
	KUNIT_EXPECT_EQ(test, from, to);
}

static void look(struct kunit *test)
{
	unsigned int len = 100, each = (PAGE_SIZE - TEST_HEADER) / len, n;
	struct fixture *f = fixture(test, 4, true);
	struct etch_look look;
	struct etch_view view;

	expect_look(test, f->ring, 0, 0);
	for (n = 0; n < 2 * each + 3; n++)
		put(f, TASK, len);
	expect_look(test, f->ring, 0, n);

	/* Read in part, and in hand. */
	KUNIT_EXPECT_EQ(test, etch_ring_take(f->ring, &view), 1);
	etch_ring_advance(f->ring, 2 * len, 2);
	expect_look(test, f->ring, 2, n);
	etch_ring_advance(f->ring, view.len - 2 * len, view.records - 2);
	expect_look(test, f->ring, each, n);

	/* As many as are asked for, and those in front of them in their sub-buffer. */
	etch_ring_look_begin(f->ring, &look, 3);
	KUNIT_EXPECT_TRUE(test, etch_ring_look_next(f->ring, &look, &view));
	KUNIT_EXPECT_EQ(test, ((struct test_rec *)view.data)->seq, 2 * each);
	KUNIT_EXPECT_EQ(test, view.records, 3);
	KUNIT_EXPECT_FALSE(test, etch_ring_look_next(f->ring, &look, &view));

	/* Overwritten behind the reader. */
	for (; n < 8 * each + 5; n++)
		put(f, TASK, len);
	expect_look(test, f->ring, 5 * each, n);
}

/*
 * A reader was stopped after it took a sub-buffer and before it noted which one. A look skips
 * that sub-buffer. It must not take the spare, which the reader gave in exchange, for it: the
 * reader has read the spare's records before.
 */
static void look_half_taken(struct kunit *test)
{
	unsigned int len = 100, each = (PAGE_SIZE - TEST_HEADER) / len, n, spare;
	struct fixture *f = fixture(test, 4, true);
	struct etch_ring *r = f->ring;
	struct etch_view view;

	for (n = 0; n < 2 * each + 3; n++)
		put(f, TASK, len);
	KUNIT_EXPECT_EQ(test, etch_ring_take(r, &view), 1);
	etch_ring_advance(r, view.len, view.records);
	KUNIT_EXPECT_EQ(test, etch_ring_take(r, &view), 1);
	expect_look(test, r, each, n);

	spare = r->spare;
	r->spare = etch_slot_block(*etch_ring_slot(r, r->rd_block));
	KUNIT_EXPECT_NE(test, spare, r->spare);
	expect_look(test, r, 2 * each, n);
	r->held = false;
	expect_look(test, r, 2 * each, n);
	r->spare = spare;
	expect_look(test, r, 2 * each, n);
	r->held = true;
	expect_look(test, r, each, n);
}

/* A writer that never comes back, and the records that others write after it. */
static void abandoned(struct kunit *test)
{
	struct fixture *f = fixture(test, 4, true);
	struct test_rec *rec;
	u64 time;
	int n;

	put(f, TASK, 64);
	preempt_disable();
	rec = etch_ring_reserve(f->ring, 64, &time);
	if (rec) {
		*rec = (struct test_rec) { .time = time, .seq = f->stored[TASK]++, .len = 64 };
		memset(rec->body, (u8)rec->seq, 64 - sizeof(*rec));
	}
	preempt_enable();
	KUNIT_ASSERT_NOT_NULL(test, rec);
	put(f, TASK, 64);
	expect_look(test, f->ring, 0, 1);

	preempt_disable();
	KUNIT_EXPECT_EQ(test, etch_ring_abandon(f->ring), 1);
	KUNIT_EXPECT_EQ(test, etch_ring_abandon(f->ring), 0);
	preempt_enable();
	expect_look(test, f->ring, 0, 3);
	for (n = 0; n < 1000; n++)
		put(f, TASK, 64);
	drain_and_close(test, f);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(fill_and_drain),
	KUNIT_CASE(exact_fill),
	KUNIT_CASE(lost_by_cause),
	KUNIT_CASE(nested_flood),
	KUNIT_CASE(nested_too_deep),
	KUNIT_CASE(interrupted),
	KUNIT_CASE(interrupted_each_time),
	KUNIT_CASE(peek),
	KUNIT_CASE(peek_beside_a_taker),
	KUNIT_CASE(copied_then_overwritten),
	KUNIT_CASE(look),
	KUNIT_CASE(look_half_taken),
	KUNIT_CASE(abandoned),
	KUNIT_CASE(resize),
	KUNIT_CASE(bad_params),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "etch_ring",
	.init = test_init,
	.exit = test_exit,
	.test_cases = ring_cases,
};

static void clocks_go_forward(struct kunit *test)
{
	enum etch_clock clock;

	for (clock = 0; clock < ETCH_CLOCK_NR; clock++) {
		u64 first, last;

		KUNIT_EXPECT_NOT_NULL(test, etch_clock_names[clock]);
		preempt_disable();
		first = etch_clock_read(clock);
		last = etch_clock_read(clock);
		preempt_enable();
		KUNIT_EXPECT_GE_MSG(test, last, first, "%s", etch_clock_names[clock]);
		msleep(30);
		last = etch_clock_read(clock);
		KUNIT_EXPECT_GT_MSG(test, last, first, "%s", etch_clock_names[clock]);
	}
}

/* The counter, converted, against CLOCK_MONOTONIC over 100 ms. */
static void counter_in_ns(struct kunit *test)
{
	u64 mono[2], counter[2], slack[2];
	s64 off[2];
	int i;

	for (i = 0; i < 2; i++) {
		if (i)
			msleep(100);
		mono[i] = ktime_get_mono_fast_ns();
		counter[i] = etch_clock_read(ETCH_CLOCK_COUNTER);
		slack[i] = ktime_get_mono_fast_ns() - mono[i];
	}
	for (i = 0; i < 2; i++)
		off[i] = etch_clock_to_ns(ETCH_CLOCK_COUNTER, counter[i]) - mono[i];
	kunit_info(test, "%llu Hz, off by %lld ns and %lld ns", etch_clock_hz(), off[0], off[1]);
	/* 20 ms, of 100, is much too far; but for the time that a host stopped us in between. */
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_GT(test, off[i], -20 * (s64)NSEC_PER_MSEC);
		KUNIT_EXPECT_LT(test, off[i], (s64)slack[i] + 20 * (s64)NSEC_PER_MSEC);
	}

	KUNIT_EXPECT_EQ(test, etch_clock_to_ns(ETCH_CLOCK_MONO, 12345), 12345);
	KUNIT_EXPECT_TRUE(test, etch_clock_in_ns(ETCH_CLOCK_COUNTER));
	KUNIT_EXPECT_FALSE(test, etch_clock_in_ns(ETCH_CLOCK_SEQ));
}

static struct kunit_case clock_cases[] = {
	KUNIT_CASE(clocks_go_forward),
	KUNIT_CASE(counter_in_ns),
	{}
};

static struct kunit_suite clock_suite = {
	.name = "etch_clock",
	.test_cases = clock_cases,
};

kunit_test_suites(&ring_suite, &clock_suite);
