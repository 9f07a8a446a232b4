// SPDX-License-Identifier: GPL-2.0
/*
 * The records of several CPUs in one order.
 *
 * Each CPU's records are a stream, in order already. The heads of the streams
 * stand in a heap, by their time; the smallest is the next. Clocks that do not
 * agree between CPUs are merged by their numbers all the same.
 *
 * Peeking, the streams end where they ended when the merge began, so there is
 * nothing to it. Taking, they have no end: a CPU whose stream is dry may be about to
 * show a record that is older than all the other heads. It could have been
 * stamped just before we looked, by a writer that has yet to commit, or even have
 * been committed by a CPU whose stores we do not see yet. A printed record is
 * consumed, so no record may be printed before its turn is certain:
 *
 *	etch_merge_settle() reads the clock and then waits for an RCU grace
 *	period. Writers run with preemption disabled from before the stamp until
 *	after the commit, in any context, so for each record that is stamped
 *	before the clock was read the grace period ends after its commit, and
 *	we see it. As long as a stream is dry, only records up to that time
 *	are given out; the others wait for the next settling.
 *
 * A dry stream does not hold the others back for longer than that: an idle CPU is
 * dry all the time. And while no stream is dry, there is nothing to wait for, so
 * a reader under load waits seldom. With a single ring, it never does.
 *
 * Records of programs (user/reader.c) come as one stream, in order already. When a merge begins,
 * that stream has all records up to the time of the beginning. Later ones, from whichever
 * stream, are given after the next beginning, because a program's record may come before them.
 */

#include <linux/bug.h>
#include <linux/cpumask.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/min_heap.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "event/contexts.h"
#include "ring/ring_look.h"
#include "text/merge.h"
#include "user/reader.h"

/**
 * struct etch_stream - the records of one CPU
 * @cpu: which
 * @ring: where they are, since the merge began; NULL: there are none
 * @view: the part of them that is at hand
 * @at: where the stream's item starts, in bytes from @view.data
 * @passed: records of @view that were dealt with
 * @item: the record whose turn it is in this stream
 * @last: its time
 * @lost: not taking: the ring's count, as of the last view
 * @begun: @lost is known
 * @cursor: peeking: how far we are
 * @epoch: of the CPU, when that was made
 * @look: looking: the same
 * @copy: peeking: what @view is of; as large as a sub-buffer
 * @copy_size: bytes of it
 */
struct etch_stream {
	int cpu;
	struct etch_ring *ring;
	struct etch_view view;
	unsigned int at;
	unsigned int passed;
	struct etch_item item;
	u64 last;
	u64 lost;
	bool begun;
	struct etch_cursor cursor;
	unsigned int epoch;
	struct etch_look look;
	void *copy;
	unsigned int copy_size;
};

DEFINE_MIN_HEAP(struct etch_stream *, etch_heap);

/**
 * struct etch_merge - the records of one or of all CPUs, in the order of time
 * @inst: whose
 * @way: taken, peeked at, or looked at
 * @heap: the streams that have an item
 * @rings: how many streams have a ring
 * @dry: how many of these have no item
 * @safe: no record that is not committed yet will have a time up to this
 * @clock: the instance's when the merge began; @safe was read from it
 * @contexts: the instance's at the same time; held, unless records are looked at
 * @user: the records of programs; NULL when looking
 * @user_item: the first of them, when it is its turn
 * @nr: how many are in @streams
 * @streams: by CPU, or the only one
 */
struct etch_merge {
	struct etch_instance *inst;
	enum etch_merge_way way;
	struct etch_heap heap;
	unsigned int rings;
	unsigned int dry;
	u64 safe;
	enum etch_clock clock;
	struct etch_contexts *contexts;
	struct etch_user_reader *user;
	struct etch_item user_item;
	unsigned int nr;
	struct etch_stream streams[] __counted_by(nr);
};

/* ---- The heap ---- */

static bool etch_stream_less(const void *lhs, const void *rhs, void *args)
{
	const struct etch_stream *a = *(struct etch_stream **)lhs;
	const struct etch_stream *b = *(struct etch_stream **)rhs;

	if (a->item.time != b->item.time)
		return a->item.time < b->item.time;
	return a->cpu < b->cpu;
}

static void etch_stream_swap(void *lhs, void *rhs, void *args)
{
	swap(*(struct etch_stream **)lhs, *(struct etch_stream **)rhs);
}

static const struct min_heap_callbacks etch_heap_calls = {
	.less = etch_stream_less,
	.swp = etch_stream_swap,
};

static struct etch_stream *etch_heap_first(struct etch_merge *m)
{
	return m->heap.nr ? m->heap.data[0] : NULL;
}

/* ---- One CPU ---- */

/* Tells the ring how far it was read. @last is the time of the record read last, or of the next. */
static void etch_stream_pass(struct etch_merge *m, struct etch_stream *s)
{
	if (m->way == ETCH_MERGE_TAKE && s->at)
		etch_ring_advance_to(s->ring, min(s->at, s->view.len), s->passed, s->last);
	s->view.len = 0;
	s->at = 0;
	s->passed = 0;
}

static bool etch_stream_more(struct etch_merge *m, struct etch_stream *s)
{
	if (m->way == ETCH_MERGE_TAKE)
		return etch_ring_take(s->ring, &s->view) > 0;
	if (m->way == ETCH_MERGE_LOOK)
		return etch_ring_look_next(s->ring, &s->look, &s->view);
	/* If the ring was emptied while the caller had dropped the mutex, the stream ends. */
	s->view.missed = 0;
	if (s->epoch != m->inst->epochs[s->cpu])
		return false;
	return etch_ring_peek_next(s->ring, &s->cursor, s->copy, &s->view) > 0;
}

/*
 * When records are taken, one reader reports a loss: the reader that consumes the first
 * record behind it. A reader that has only looked at that record may never come back, so the
 * count is kept for all readers.
 */
static void etch_stream_share_lost(struct etch_merge *m, struct etch_stream *s, u64 lost)
{
	struct etch_unreported *lines = &m->inst->bases[s->cpu].lines;

	lines->due += s->view.missed;
	if (lost > lines->lost)
		lines->due += lost - lines->lost;
	lines->lost = lost;
	s->item.lost = lines->due;
}

static void etch_stream_count_lost(struct etch_stream *s, u64 lost)
{
	s->item.lost += s->view.missed;
	if (s->begun && lost > s->lost)
		s->item.lost += lost - s->lost;
	s->lost = lost;
	s->begun = true;
}

/* Get the next view with something in it. False: there is none. */
static bool etch_stream_fill(struct etch_merge *m, struct etch_stream *s)
{
	etch_stream_pass(m, s);
	do {
		if (!etch_stream_more(m, s)) {
			s->view.len = 0;
			return false;
		}
		/* A block that was begun and nothing stored yet. */
		if (!s->view.len && m->way == ETCH_MERGE_TAKE) {
			m->inst->bases[s->cpu].lines.due += s->view.missed;
			etch_ring_advance(s->ring, 0, 0);
		}
	} while (!s->view.len);

	s->last = s->view.begin;
	if (m->way == ETCH_MERGE_TAKE)
		etch_stream_share_lost(m, s, etch_view_lost(&s->view));
	else
		etch_stream_count_lost(s, etch_view_lost(&s->view));
	return true;
}

/* All that was left has been overwritten: an item says so, and is the last. */
static bool etch_stream_lose(const struct etch_merge *m, struct etch_stream *s)
{
	struct etch_item *item = &s->item;

	if (m->way != ETCH_MERGE_PEEK || !s->view.missed)
		return false;
	item->record = NULL;
	item->len = 0;
	item->skip = 0;
	item->lost += s->view.missed;
	item->time = s->last;
	return true;
}

/* Make the record at s->at the stream's item. False: there is none. */
static bool etch_stream_load(struct etch_merge *m, struct etch_stream *s)
{
	struct etch_item *item = &s->item;
	unsigned int left, more = etch_contexts_size(m->contexts);
	const struct etch_head *head;

	if (s->at >= s->view.len && !etch_stream_fill(m, s))
		return etch_stream_lose(m, s);

	left = s->view.len - s->at;
	head = s->view.data + s->at;
	item->record = head;
	item->clock = m->clock;
	item->contexts = m->contexts;
	item->len = m->way == ETCH_MERGE_LOOK ? etch_record_len_nowait(head, left, more) :
						etch_record_len(head, left, more);
	item->skip = item->len ? 0 : left;
	if (likely(item->len))
		s->last = etch_time_full(s->last, head->word);
	else if (m->way != ETCH_MERGE_LOOK)
		WARN_ONCE(etch_record_known(head, left),
			  "etch: CPU %d: damaged record, %u bytes left\n", s->cpu, left);
	item->time = s->last;
	return true;
}

/* The stream's item was dealt with. */
static void etch_stream_step(const struct etch_merge *m, struct etch_stream *s)
{
	if (!s->item.len)
		s->at = s->view.len;
	else
		s->at += ALIGN(s->item.len, 4);
	s->passed++;
	s->item.lost = 0;
	if (m->way == ETCH_MERGE_TAKE)
		m->inst->bases[s->cpu].lines.due = 0;

	/*
	 * Where one ends, the other must: else the account would be wrong. Looking, there is
	 * none.
	 */
	if (s->at >= s->view.len) {
		WARN_ON_ONCE(m->way != ETCH_MERGE_LOOK && s->item.len &&
			     s->passed != s->view.records);
		s->passed = s->view.records;
	}
}

/* ---- Making and freeing ---- */

/**
 * etch_merge_create_range() - prepare to go through the records of some CPUs
 * @inst: whose; the caller keeps it from going
 * @first: the first CPU
 * @nr: how many
 * @way: consume them, or not
 *
 * The CPUs need only be in inst->rings. Tests have more of them than the machine.
 *
 * Context: process, may sleep.
 * Return: what the other functions work on, freed by etch_merge_free(); NULL if there
 * is no memory.
 */
struct etch_merge *etch_merge_create_range(struct etch_instance *inst, int first,
					   unsigned int nr, enum etch_merge_way way)
{
	struct etch_stream **heap;
	struct etch_merge *m;
	unsigned int i;

	m = kvzalloc(struct_size(m, streams, nr), GFP_KERNEL);
	heap = kvcalloc(nr, sizeof(*heap), GFP_KERNEL);
	if (!m || !heap || (way != ETCH_MERGE_LOOK &&
			    etch_user_reader_make(&m->user, inst, first, nr,
						  way == ETCH_MERGE_TAKE))) {
		kvfree(heap);
		kvfree(m);
		return NULL;
	}
	m->inst = inst;
	m->way = way;
	m->nr = nr;
	min_heap_init(&m->heap, heap, nr);
	for (i = 0; i < nr; i++) {
		m->streams[i].cpu = first + i;
		m->streams[i].item.cpu = first + i;
	}
	return m;
}

/**
 * etch_merge_create() - prepare to go through an instance's records
 * @inst: whose; the caller keeps it from going
 * @cpu: one CPU, or ETCH_ALL_CPUS
 * @way: consume them, or not
 *
 * Context: process, may sleep.
 * Return: as etch_merge_create_range().
 */
struct etch_merge *etch_merge_create(struct etch_instance *inst, int cpu,
				     enum etch_merge_way way)
{
	if (cpu == ETCH_ALL_CPUS)
		return etch_merge_create_range(inst, 0, nr_cpu_ids, way);
	return etch_merge_create_range(inst, cpu, 1, way);
}

/**
 * etch_merge_free() - free what etch_merge_create() made
 * @m: that; NULL is fine
 */
void etch_merge_free(struct etch_merge *m)
{
	unsigned int i;

	if (!m)
		return;
	for (i = 0; i < m->nr; i++)
		kvfree(m->streams[i].copy);
	if (m->way != ETCH_MERGE_LOOK)
		etch_contexts_put(m->contexts);
	etch_user_reader_free(m->user);
	kvfree(m->heap.data);
	kvfree(m);
}

/* ---- Going through ---- */

/* Sub-buffers may be larger than when the merge began last. */
static bool etch_stream_fit_copy(struct etch_stream *s)
{
	unsigned int size = etch_ring_subbuf_size(s->ring);

	if (s->copy_size < size) {
		kvfree(s->copy);
		s->copy = kvmalloc(size, GFP_KERNEL);
		s->copy_size = s->copy ? size : 0;
	}
	return s->copy;
}

static int etch_stream_begin(struct etch_merge *m, struct etch_stream *s)
{
	s->ring = m->inst->rings[s->cpu];
	s->view.len = 0;
	s->at = 0;
	s->passed = 0;
	if (!s->ring)
		return 0;
	if (m->way == ETCH_MERGE_TAKE)
		return 1;

	if (!etch_stream_fit_copy(s))
		return -ENOMEM;
	s->begun = false;
	s->last = 0;
	s->item.lost = 0;
	etch_ring_peek_begin(s->ring, &s->cursor);
	s->epoch = m->inst->epochs[s->cpu];
	return 1;
}

/**
 * etch_merge_begin() - begin, or begin again
 * @m: the merge
 *
 * Taking, this is where the last etch_merge_end() stopped. Peeking, it is the oldest
 * record that there is, and the end is the newest one of now.
 *
 * Context: process, may sleep; holds the instance's read_mutex, and when taking until
 * etch_merge_end().
 * Return: 0, or -ENOMEM.
 */
int etch_merge_begin(struct etch_merge *m)
{
	unsigned int i;
	int ret;

	lockdep_assert_held(&m->inst->read_mutex);
	if (m->clock != m->inst->clock) {
		m->clock = m->inst->clock;
		m->safe = 0;
	}
	if (m->contexts != m->inst->contexts) {
		etch_contexts_put(m->contexts);
		m->contexts = etch_contexts_get(m->inst->contexts);
	}
	m->heap.nr = 0;
	m->rings = 0;
	m->dry = 0;
	ret = etch_user_begin(m->user);
	if (ret)
		return ret;
	for (i = 0; i < m->nr; i++) {
		struct etch_stream *s = &m->streams[i];

		ret = etch_stream_begin(m, s);
		if (ret < 0)
			return ret;
		if (ret == 0)
			continue;
		m->rings++;
		if (etch_stream_load(m, s))
			min_heap_push(&m->heap, &s, &etch_heap_calls, NULL);
		else
			m->dry++;
	}
	return 0;
}

/**
 * etch_merge_look() - begin to look at the last records, or begin again
 * @m: made with ETCH_MERGE_LOOK, for all CPUs
 * @inst: whose records; not necessarily that for which @m was made
 * @want: one CPU, or ETCH_ALL_CPUS
 * @max: how many records of a CPU will do: the first ones may be left out
 *
 * Context: any, NMI included, without the mutex; the rings are off, and neither freed nor
 * changed until the last etch_merge_next().
 */
void etch_merge_look(struct etch_merge *m, struct etch_instance *inst, int want, u64 max)
{
	unsigned int i;

	m->inst = inst;
	m->clock = READ_ONCE(inst->clock);
	m->contexts = READ_ONCE(inst->contexts);
	m->heap.nr = 0;
	for (i = 0; i < m->nr; i++) {
		struct etch_stream *s = &m->streams[i];

		s->ring = want == ETCH_ALL_CPUS || want == s->cpu ?
			  READ_ONCE(inst->rings[s->cpu]) : NULL;
		if (!s->ring)
			continue;
		s->view.len = 0;
		s->at = 0;
		s->passed = 0;
		s->begun = false;
		s->item.lost = 0;
		etch_ring_look_begin(s->ring, &s->look, max);
		if (etch_stream_load(m, s))
			min_heap_push(&m->heap, &s, &etch_heap_calls, NULL);
	}
}

/*
 * Could a record come that is older than one of @time? A time that lies ahead of our
 * own clock says that the clocks differ, and then waiting is of no use.
 */
static bool etch_merge_may_be_early(const struct etch_merge *m, u64 time)
{
	bool user;

	/* A dump, which only looks, has no reader of programs' records. */
	if (m->way != ETCH_MERGE_TAKE)
		return false;
	user = etch_user_present(m->user);
	if ((m->rings + user < 2 || !m->dry || time <= m->safe) &&
	    (!user || time <= etch_user_safe(m->user)))
		return false;
	return time <= etch_clock_read(m->clock);
}

/* The first record of a program, if it is older than all others; else NULL. */
static const struct etch_user_item *etch_merge_user(struct etch_merge *m)
{
	const struct etch_user_item *first = m->user ? etch_user_first(m->user) : NULL;
	const struct etch_stream *s = etch_heap_first(m);

	return first && (!s || first->time < s->item.time) ? first : NULL;
}

static const struct etch_item *etch_merge_show_user(struct etch_merge *m,
						    const struct etch_user_item *first)
{
	m->user_item = (struct etch_item) {
		.record = first->record,
		.len = first->len,
		.cpu = first->cpu,
		.clock = m->clock,
		.time = first->time,
		.lost = first->lost,
	};
	return &m->user_item;
}

/**
 * etch_merge_item() - the record whose turn it is
 * @m: the merge, begun
 *
 * Context: process; holds the instance's read_mutex. Looking: as etch_merge_look().
 * Return: the same item until etch_merge_next(). NULL: there is none now, and
 * taking, there may be one after etch_merge_settle().
 */
const struct etch_item *etch_merge_item(struct etch_merge *m)
{
	const struct etch_user_item *user = etch_merge_user(m);
	const struct etch_stream *s = etch_heap_first(m);

	if (user)
		return etch_merge_may_be_early(m, user->time) ? NULL :
								etch_merge_show_user(m, user);
	if (!s || etch_merge_may_be_early(m, s->item.time))
		return NULL;
	return &s->item;
}

/**
 * etch_merge_next() - done with etch_merge_item(), which was not NULL
 * @m: the merge, begun
 *
 * Context: as etch_merge_item().
 */
void etch_merge_next(struct etch_merge *m)
{
	struct etch_stream *s = etch_heap_first(m);

	if (etch_merge_user(m)) {
		etch_user_next(m->user);
		return;
	}
	etch_stream_step(m, s);
	if (etch_stream_load(m, s)) {
		min_heap_sift_down(&m->heap, 0, &etch_heap_calls, NULL);
	} else {
		min_heap_pop(&m->heap, &etch_heap_calls, NULL);
		m->dry++;
	}
}

/**
 * etch_merge_end() - tell the rings what was consumed
 * @m: the merge, begun
 *
 * Context: process; holds the instance's read_mutex, since etch_merge_begin().
 */
void etch_merge_end(struct etch_merge *m)
{
	unsigned int i;

	for (i = 0; i < m->nr; i++)
		if (m->streams[i].ring)
			etch_stream_pass(m, &m->streams[i]);
	m->heap.nr = 0;
	etch_user_end(m->user);
}

/**
 * etch_merge_empty() - is there nothing in the rings?
 * @m: the merge, begun or not
 *
 * Context: process; holds the instance's read_mutex.
 * Return: true if there is nothing.
 */
bool etch_merge_empty(const struct etch_merge *m)
{
	unsigned int i;

	lockdep_assert_held(&m->inst->read_mutex);
	for (i = 0; i < m->nr; i++) {
		const struct etch_ring *ring = m->inst->rings[m->streams[i].cpu];

		if (ring && !etch_ring_empty(ring))
			return false;
	}
	return etch_user_empty(m->inst, m->streams[0].cpu, m->nr);
}

/**
 * etch_merge_reached() - is there as much as readers wait for?
 * @m: the merge, begun or not
 *
 * Context: process; holds the instance's read_mutex.
 * Return: true if one of its rings is as full as etch_ring_reached() wants.
 */
bool etch_merge_reached(const struct etch_merge *m)
{
	unsigned int i;

	for (i = 0; i < m->nr; i++) {
		const struct etch_ring *ring = m->inst->rings[m->streams[i].cpu];

		if (ring && etch_ring_reached(m->inst, ring))
			return true;
	}
	return etch_user_reached(m->inst, m->streams[0].cpu, m->nr);
}

/**
 * etch_merge_settle() - wait until all writers of now are done
 * @m: the merge, not begun
 * @hurry: someone cannot wait: disturb the other CPUs if need be
 *
 * Afterwards, all records that were in the rings at the call can be taken.
 *
 * Context: process, sleeps; holds no lock of Etch's.
 */
void etch_merge_settle(struct etch_merge *m, bool hurry)
{
	enum etch_clock clock = READ_ONCE(m->inst->clock);
	u64 now = etch_clock_read(clock);

	if (hurry)
		synchronize_rcu_expedited();
	else
		synchronize_rcu();
	/* Somebody else may have begun meanwhile, with another clock. */
	mutex_lock(&m->inst->read_mutex);
	if (m->clock == clock)
		m->safe = now;
	mutex_unlock(&m->inst->read_mutex);
}
