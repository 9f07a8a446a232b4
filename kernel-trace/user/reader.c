// SPDX-License-Identifier: GPL-2.0
/*
 * The records of several rings of programs, in the order of time.
 *
 * A reader begins with a settling: it reads the clock, and has the programs' sections that are
 * under way begin again. So it finds each record that is older than that in its ring, and may
 * give the records up to that time; etch_user_safe() tells it. The next beginning tells a later
 * time. Nothing waits for a program that sleeps, or has been stopped, or killed.
 */
#include <linux/align.h>
#include <linux/cleanup.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/math.h>
#include <linux/min_heap.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "user/reader.h"
#include "user/user.h"

/**
 * struct etch_user_stream - the records of one ring
 * @ring: the ring, held
 * @view: on it
 * @item: the record whose turn it is in this stream
 */
struct etch_user_stream {
	struct etch_user_ring_of *ring;
	struct etch_user_view view;
	struct etch_user_item item;
};

DEFINE_MIN_HEAP(struct etch_user_stream *, etch_user_heap);

/**
 * struct etch_user_reader - the records of some CPUs' rings
 * @inst: whose
 * @first: the first CPU
 * @nr_cpus: how many
 * @take: records are consumed
 * @generation: of the instance's rings, as of @streams
 * @resets: of the instance, as of the beginning
 * @safe: all records up to this time are in sight
 * @nr: how many streams there are
 * @streams: they
 * @heap: those that have an item
 */
struct etch_user_reader {
	struct etch_instance *inst;
	int first;
	unsigned int nr_cpus;
	bool take;
	unsigned int generation;
	unsigned int resets;
	u64 safe;
	unsigned int nr;
	struct etch_user_stream **streams;
	struct etch_user_heap heap;
};

/* ---- The heap ---- */

static bool etch_user_less(const void *lhs, const void *rhs, void *args)
{
	const struct etch_user_stream *a = *(struct etch_user_stream **)lhs;
	const struct etch_user_stream *b = *(struct etch_user_stream **)rhs;

	if (a->item.time != b->item.time)
		return a->item.time < b->item.time;
	return a->ring->id < b->ring->id;
}

static void etch_user_swap(void *lhs, void *rhs, void *args)
{
	swap(*(struct etch_user_stream **)lhs, *(struct etch_user_stream **)rhs);
}

static const struct min_heap_callbacks etch_user_heap_calls = {
	.less = etch_user_less,
	.swp = etch_user_swap,
};

/* ---- Streams ---- */

static void etch_user_stream_free(struct etch_user_stream *s)
{
	if (!s)
		return;
	etch_user_ring_put(s->ring);
	kvfree(s->view.data);
	kfree(s);
}

static struct etch_user_stream *etch_user_stream_make(struct etch_user_ring_of *ring)
{
	struct etch_user_stream *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->view.data = kvmalloc(ETCH_USER_SUBBUF, GFP_KERNEL);
	if (!s->view.data) {
		kfree(s);
		return NULL;
	}
	kref_get(&ring->ref);
	s->ring = ring;
	s->item.cpu = ring->cpu;
	return s;
}

/* The stream that was this ring's before, with what it has copied; or a new one. */
static struct etch_user_stream *etch_user_stream_get(struct etch_user_reader *r,
						     struct etch_user_ring_of *ring)
{
	unsigned int i;

	for (i = 0; i < r->nr; i++) {
		struct etch_user_stream *s = r->streams[i];

		if (s && s->ring == ring) {
			r->streams[i] = NULL;
			return s;
		}
	}
	return etch_user_stream_make(ring);
}

static void etch_user_streams_free(struct etch_user_stream **streams, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		etch_user_stream_free(streams[i]);
	kvfree(streams);
}

static unsigned int etch_user_count(const struct etch_user_reader *r)
{
	struct etch_user_ring_of *ring;
	unsigned int nr = 0;

	list_for_each_entry(ring, &r->inst->user->rings, node)
		nr += etch_user_wants(ring, r->first, r->nr_cpus);
	return nr;
}

/* A stream for each ring that there is now. */
static int etch_user_streams_make(struct etch_user_reader *r)
{
	unsigned int want = etch_user_count(r), nr = 0;
	struct etch_user_stream **streams, **heap;
	struct etch_user_ring_of *ring;

	streams = kvcalloc(max(want, 1U), sizeof(*streams), GFP_KERNEL);
	heap = kvcalloc(max(want, 1U), sizeof(*heap), GFP_KERNEL);
	if (!streams || !heap)
		goto err;
	list_for_each_entry(ring, &r->inst->user->rings, node) {
		if (!etch_user_wants(ring, r->first, r->nr_cpus))
			continue;
		streams[nr] = etch_user_stream_get(r, ring);
		if (!streams[nr])
			goto err;
		nr++;
	}
	etch_user_streams_free(r->streams, r->nr);
	kvfree(r->heap.data);
	r->streams = streams;
	r->nr = nr;
	min_heap_init(&r->heap, heap, max(want, 1U));
	r->generation = r->inst->user->generation;
	return 0;
err:
	if (streams)
		etch_user_streams_free(streams, nr);
	kvfree(heap);
	return -ENOMEM;
}

/* Go on from where the ring was taken up to. */
static void etch_user_stream_begin(struct etch_user_reader *r, struct etch_user_stream *s)
{
	struct etch_user_view *view = &s->view;

	/* The copy is good as long as nobody else has taken some of it. */
	if (!r->take || view->place.next != s->ring->at.next ||
	    r->resets != r->inst->user->resets) {
		view->at = 0;
		view->end = 0;
	}
	view->place = s->ring->at;
	/* Only a program that breaks the rules has a record older than those taken since. */
	view->place.last = max(view->place.last, r->inst->user->bases[s->ring->cpu].last);
	view->counts = (struct etch_user_counts) {};
	view->limit = etch_user_limit(s->ring);
}

static bool etch_user_stream_load(struct etch_user_stream *s)
{
	struct etch_user_item *item = &s->item;

	item->record = etch_user_view_record(s->ring, &s->view, &item->len, &item->time);
	item->lost = s->view.place.due;
	item->overwritten = s->view.place.given_way;
	return item->record;
}

/* Note how far the reader has come. */
static void etch_user_stream_end(struct etch_user_stream *s)
{
	struct etch_user_ring_of *ring = s->ring;
	struct etch_user_counts *counts = &s->view.counts;

	ring->at = s->view.place;
	ring->counts.read += counts->read;
	ring->counts.overwritten += counts->overwritten;
	ring->counts.malformed += counts->malformed;
	*counts = (struct etch_user_counts) {};
	if (ring->at.next >= ring->flushed)
		ring->flushed = 0;
	etch_user_tell(ring);
}

/* ---- Readers ---- */

/**
 * etch_user_reader_make() - prepare to go through the records of programs
 * @reader: gets what the other functions work on
 * @inst: whose; the caller keeps it from going
 * @first: the first CPU
 * @nr: how many
 * @take: consume them
 *
 * Context: process, may sleep.
 * Return: 0, or -ENOMEM.
 */
int etch_user_reader_make(struct etch_user_reader **reader, struct etch_instance *inst, int first,
			  unsigned int nr, bool take)
{
	struct etch_user_reader *r = kzalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return -ENOMEM;
	r->inst = inst;
	r->first = first;
	r->nr_cpus = nr;
	r->take = take;
	*reader = r;
	return 0;
}

/**
 * etch_user_reader_free() - free what etch_user_reader_make() made
 * @r: that; NULL is fine
 *
 * Context: process, may sleep.
 */
void etch_user_reader_free(struct etch_user_reader *r)
{
	if (!r)
		return;
	etch_user_streams_free(r->streams, r->nr);
	kvfree(r->heap.data);
	kfree(r);
}

/**
 * etch_user_begin() - begin, or begin again
 * @r: the reader
 *
 * Taking, this is where the last etch_user_end() stopped. Peeking, it is the oldest record that
 * there is, and the end is about the newest one of now.
 *
 * Context: process, may sleep; holds the instance's read_mutex, and when taking until
 * etch_user_end().
 * Return: 0, or -ENOMEM.
 */
int etch_user_begin(struct etch_user_reader *r)
{
	struct etch_user *user = r->inst->user;
	unsigned int i;
	int ret;

	lockdep_assert_held(&r->inst->read_mutex);
	r->heap.nr = 0;
	if (!user)
		return 0;
	if (!r->streams || r->generation != user->generation) {
		ret = etch_user_streams_make(r);
		if (ret)
			return ret;
	}
	r->safe = etch_clock_read(ETCH_CLOCK_COUNTER);
	etch_user_settle(r->inst);
	for (i = 0; i < r->nr; i++) {
		struct etch_user_stream *s = r->streams[i];

		etch_user_stream_begin(r, s);
		if (etch_user_stream_load(s))
			min_heap_push(&r->heap, &s, &etch_user_heap_calls, NULL);
	}
	r->resets = user->resets;
	return 0;
}

/**
 * etch_user_first() - the record whose turn it is
 * @r: the reader, begun
 *
 * Context: process; holds the instance's read_mutex.
 * Return: the same item until etch_user_next(); NULL: there is none.
 */
const struct etch_user_item *etch_user_first(struct etch_user_reader *r)
{
	/* If the rings were emptied while the caller had dropped the mutex, this is the end. */
	if (!r->heap.nr || r->resets != r->inst->user->resets)
		return NULL;
	return &r->heap.data[0]->item;
}

/**
 * etch_user_run() - take the records that follow in the same ring along
 * @r: the reader, begun
 * @until: none of them is younger; not behind etch_user_safe()
 * @bytes: how many they may have, with etch_user_first()'s; gets how many they have
 *
 * They are of the same event, thread and size as etch_user_first(), stand behind it, and it is
 * their turn. The item has the time of the last one then.
 *
 * Context: as etch_user_first(), which was not NULL.
 * Return: how many records there are, with etch_user_first().
 */
unsigned int etch_user_run(struct etch_user_reader *r, u64 until, unsigned int *bytes)
{
	struct etch_user_stream *s = r->heap.data[0];
	struct etch_user_item *item = &s->item;
	unsigned int nr;
	size_t i;

	/*
	 * The second in time is a child of the root. Whatever a program says, its time is not 0:
	 * it is not before the clock was read for the ring (etch_time_full()).
	 */
	for (i = 1; i < r->heap.nr && i <= 2; i++)
		until = min(until, r->heap.data[i]->item.time - 1);
	nr = etch_user_view_run(&s->view, item->len, &item->time, until, *bytes);
	*bytes = (nr - 1) * ALIGN(item->len, 4) + item->len;
	return nr;
}

/**
 * etch_user_next() - done with etch_user_first(), which was not NULL
 * @r: the reader, begun
 *
 * Context: as etch_user_first().
 */
void etch_user_next(struct etch_user_reader *r)
{
	struct etch_user_stream *s = r->heap.data[0];

	if (r->take)
		r->inst->user->bases[s->ring->cpu].last = s->item.time;
	etch_user_view_step(&s->view, s->item.len, s->item.time);
	if (etch_user_stream_load(s))
		min_heap_sift_down(&r->heap, 0, &etch_user_heap_calls, NULL);
	else
		min_heap_pop(&r->heap, &etch_user_heap_calls, NULL);
}

/**
 * etch_user_end() - tell the rings what was consumed
 * @r: the reader, begun
 *
 * Context: process, may sleep; holds the instance's read_mutex, since etch_user_begin().
 */
void etch_user_end(struct etch_user_reader *r)
{
	unsigned int i;

	r->heap.nr = 0;
	for (i = 0; r->take && i < r->nr; i++) {
		struct etch_user_ring_of *ring = r->streams[i]->ring;

		if (list_empty(&ring->node))
			continue;
		etch_user_stream_end(r->streams[i]);
		if (etch_user_ring_orphan(ring) && etch_user_ring_empty(ring))
			etch_user_ring_drop(r->inst, ring);
	}
}

/**
 * etch_user_present() - are there rings of programs?
 * @r: the reader, begun
 *
 * Context: process; holds the instance's read_mutex.
 * Return: true if there are, or were at the beginning.
 */
bool etch_user_present(const struct etch_user_reader *r)
{
	return r->inst->rec.user && r->inst->user && r->nr;
}

/**
 * etch_user_safe() - up to which time are all records in sight?
 * @r: the reader, begun
 *
 * Context: process; holds the instance's read_mutex.
 * Return: that time.
 */
u64 etch_user_safe(const struct etch_user_reader *r)
{
	return r->safe;
}

/* ---- Packets ---- */

/**
 * etch_user_flush() - have what was recorded up to now in packets
 * @inst: the instance
 * @cpu: the CPU, or ETCH_ALL_CPUS
 *
 * The caller wakes readers.
 *
 * Context: process, may sleep.
 */
void etch_user_flush(struct etch_instance *inst, int cpu)
{
	struct etch_user_ring_of *ring;

	guard(mutex)(&inst->read_mutex);
	if (!inst->user)
		return;
	etch_user_settle(inst);
	list_for_each_entry(ring, &inst->user->rings, node)
		if (cpu == ETCH_ALL_CPUS || cpu == ring->cpu)
			ring->flushed = etch_user_limit(ring);
}

/**
 * etch_user_tail() - the counts that a CPU's packets go on from
 * @inst: the instance
 * @cpu: the CPU
 *
 * Context: process; holds the instance's read_mutex.
 * Return: them; NULL: no program has written there.
 */
struct etch_user_tail *etch_user_tail(struct etch_instance *inst, int cpu)
{
	return inst->user ? &inst->user->bases[cpu].tail : NULL;
}

/**
 * etch_user_close() - no record of before is taken any more
 * @r: the reader of one CPU, which takes; it has ended, and left nothing up to etch_user_safe()
 *
 * Losses that no record can tell of go into the counts of etch_user_tail().
 *
 * Context: process; holds the instance's read_mutex, since etch_user_begin().
 * Return: the time up to which the counts tell all.
 */
u64 etch_user_close(struct etch_user_reader *r)
{
	struct etch_user_base *base = &r->inst->user->bases[r->first];
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		if (!list_empty(&r->streams[i]->ring->node) &&
		    etch_user_ring_empty(r->streams[i]->ring))
			etch_user_untold(r->inst, r->streams[i]->ring);
	base->last = max(base->last, r->safe);
	return base->last;
}
