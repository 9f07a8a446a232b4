// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a program's ring.
 *
 * The program may write anything anywhere in its ring at any time, by mistake or in order to
 * harm. So each word is read once; it is bounded before it is used; records are copied, and only
 * the copy is looked at; and what the kernel wrote there is never read back.
 *
 * A program that keeps the rules stores a record before the position behind it, makes a block
 * invalid before it begins it again, and stores what it says of the block before it makes it
 * valid. So a block that has the right number before it was copied and after has not changed
 * meanwhile.
 */
#include <linux/align.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/rwsem.h>
#include <linux/string.h>

#include "event/event.h"
#include "user/user.h"

/* How often a block may be overwritten while it is copied, until the program is not believed. */
#define ETCH_USER_TRIES		16

/* No program loses so many, or writes so many before they are read. */
#define ETCH_USER_MANY		BIT_ULL(48)

/* Ticks that clocks of two CPUs may be apart. */
#define ETCH_USER_APART		BIT_ULL(20)

/* What became of an attempt to copy a block. */
enum etch_user_try {
	ETCH_USER_COPIED,
	ETCH_USER_NOTHING,	/* all was read */
	ETCH_USER_AGAIN,	/* it was overwritten meanwhile */
	ETCH_USER_BAD,		/* the program broke the rules */
};

/**
 * etch_user_pos() - where a program writes next
 * @ring: its ring
 *
 * Context: process.
 * Return: the position and the number of records, as the program says.
 */
u64 etch_user_pos(const struct etch_user_ring_of *ring)
{
	/* (u) Pairs with the store that ends the program's section: the record is there. */
	return smp_load_acquire(&ring->words->pos);
}

static u64 etch_user_bytes(u64 pos)
{
	return pos >> ETCH_USER_COUNT_BITS;
}

/**
 * etch_user_limit() - up to which position is there something to read?
 * @ring: the ring
 *
 * When it was stopped, a program that keeps the rules writes nothing more. One that writes all
 * the same is not read, so that readers come to an end.
 *
 * Context: process; holds the instance's read_mutex.
 * Return: the position.
 */
u64 etch_user_limit(const struct etch_user_ring_of *ring)
{
	return min(etch_user_bytes(etch_user_pos(ring)), ring->stop);
}

/**
 * etch_user_ring_empty() - was all read?
 * @ring: the ring
 *
 * Context: process; holds the instance's read_mutex.
 * Return: true if so.
 */
bool etch_user_ring_empty(const struct etch_user_ring_of *ring)
{
	return ring->at.next >= etch_user_limit(ring);
}

/**
 * etch_user_counts() - what became of the records of a ring
 * @ring: the ring
 * @counts: gets the answer
 *
 * Context: process; holds the instance's read_mutex.
 */
void etch_user_counts(const struct etch_user_ring_of *ring, struct etch_user_counts *counts)
{
	u64 lost = READ_ONCE(ring->words->lost) - ring->forgotten;

	*counts = ring->counts;
	counts->lost = lost < ETCH_USER_MANY ? lost : 0;
}

static struct etch_user_block *etch_user_block(const struct etch_user_ring_of *ring, u64 nr)
{
	return (void *)ring->words + ETCH_USER_DATA +
	       nr % ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF;
}

static bool etch_user_stands(const struct etch_user_block *block, u64 nr)
{
	bool stands = READ_ONCE(block->gen) == nr + 1;

	/* (v) Pairs with the program's stores: the reads between two looks are of this block. */
	smp_rmb();
	return stands;
}

/* @head gets what the program says of a block. False: another one stands there. */
static bool etch_user_head(const struct etch_user_ring_of *ring, u64 nr,
			   struct etch_user_block *head)
{
	const struct etch_user_block *block = etch_user_block(ring, nr);

	if (!etch_user_stands(block, nr))
		return false;
	head->total = READ_ONCE(block->total);
	head->lost = READ_ONCE(block->lost);
	head->left = READ_ONCE(block->left);
	/* (v) As below: the second look comes after these. */
	smp_rmb();
	return etch_user_stands(block, nr);
}

/* The first look at a block: how many records are missing before it? */
static void etch_user_account(struct etch_user_view *view, const struct etch_user_block *head)
{
	struct etch_user_place *place = &view->place;
	u64 missing = head->total - place->seen, lost = head->lost - place->lost;

	if (place->unsure || missing >= ETCH_USER_MANY) {
		view->counts.malformed += !place->unsure;
		place->due += !place->unsure;
	} else {
		view->counts.overwritten += missing;
		place->given_way += missing;
		place->due += missing;
	}
	if (lost < ETCH_USER_MANY)
		place->due += lost;
	place->seen = head->total;
	place->lost = head->lost;
	place->unsure = false;
}

static enum etch_user_try etch_user_copy(const struct etch_user_ring_of *ring,
					 struct etch_user_view *view, u64 pos)
{
	u64 open = (etch_user_bytes(pos) - 1) >> ETCH_USER_SUBBUF_SHIFT;
	u64 oldest = open - min(open, ETCH_USER_SUBBUFS - 1ULL);
	u64 next = view->place.next, nr = next >> ETCH_USER_SUBBUF_SHIFT, start, from, to;
	struct etch_user_block head;

	if (next >= min(etch_user_bytes(pos), view->limit))
		return ETCH_USER_NOTHING;
	nr = max(nr, oldest);
	if (!etch_user_head(ring, nr, &head)) {
		/*
		 * The program may be about to begin the next block, in the oldest one's place. If
		 * it was killed there, or has no CPU, it does not get further soon. The block
		 * behind the oldest one is whole.
		 */
		if (nr != oldest || nr == open || !etch_user_head(ring, ++nr, &head))
			return ETCH_USER_AGAIN;
	}
	start = nr << ETCH_USER_SUBBUF_SHIFT;
	from = max(next, start + sizeof(head));
	to = etch_user_bytes(nr == open ? pos : head.left);
	if (to < from || to > start + ETCH_USER_SUBBUF || to % 4)
		return ETCH_USER_BAD;
	/* The writer may be at it: the second look tells. */
	data_race(memcpy(view->data + (from - start),
			 (void *)etch_user_block(ring, nr) + (from - start), to - from));
	/* (v) Pairs with the program's stores: if the block is overwritten, this look shows it. */
	smp_rmb();
	if (!etch_user_stands(etch_user_block(ring, nr), nr))
		return ETCH_USER_AGAIN;
	if (next <= start)
		etch_user_account(view, &head);
	view->place.next = from;
	view->at = from - start;
	view->end = to - start;
	view->behind = nr == open ? to : start + ETCH_USER_SUBBUF;
	view->now = etch_clock_read(ETCH_CLOCK_COUNTER) + ETCH_USER_APART;
	return ETCH_USER_COPIED;
}

/* Copies the next records. False: there are none. */
static bool etch_user_fill(const struct etch_user_ring_of *ring, struct etch_user_view *view)
{
	enum etch_user_try ret = ETCH_USER_AGAIN;
	unsigned int tries;
	u64 pos = 0;

	for (tries = 0; ret == ETCH_USER_AGAIN && tries < ETCH_USER_TRIES; tries++) {
		pos = etch_user_pos(ring);
		ret = etch_user_copy(ring, view, pos);
	}
	if (ret == ETCH_USER_COPIED || ret == ETCH_USER_NOTHING)
		return ret == ETCH_USER_COPIED;
	/* Nothing in this ring can be found any more. */
	view->counts.malformed++;
	view->place.due++;
	view->place.next = etch_user_bytes(pos);
	view->place.unsure = true;
	return false;
}

/* A thread that has written once is the program's as long as there is the ring. */
static bool etch_user_wrote(const struct etch_user_ring_of *ring, struct etch_user_view *view,
			    pid_t pid)
{
	if (ring->written || (pid && pid == view->pid))
		return true;
	if (!xa_load(&ring->process->tids, pid))
		return false;
	view->pid = pid;
	return true;
}

static bool etch_user_is_fixed(const struct etch_class *class)
{
	unsigned int i;

	for (i = 0; i < class->nr_fields; i++)
		if (etch_is_dynamic(&class->fields[i]))
			return false;
	return true;
}

/*
 * Bytes of a record, if it is of an event of programs; 0: it is none. Most records are of the same
 * event as the record before. If all records of that event have one size, and no event has come or
 * gone since, the reader need not look the event up again. No other event ever gets its id.
 */
static unsigned int etch_user_len(struct etch_user_view *view, const struct etch_head *head,
				  unsigned int left)
{
	unsigned int generation = READ_ONCE(etch_generation), id = etch_head_id(head), len = 0;
	const struct etch_event *event;

	if (view->fixed_len && id == view->fixed && generation == view->generation)
		return view->fixed_len <= left ? view->fixed_len : 0;
	view->fixed_len = 0;
	down_read(&etch_event_sem);
	event = etch_event_by_id(id);
	if (event && event->user) {
		len = etch_class_len(event->class, head, left);
		if (etch_user_is_fixed(event->class))
			view->fixed_len = event->class->size;
	}
	up_read(&etch_event_sem);
	view->fixed = id;
	view->generation = generation;
	return len;
}

/* Is it a record of this program's? The program writes on, but not in the copy. */
static unsigned int etch_user_check(const struct etch_user_ring_of *ring,
				    struct etch_user_view *view, u64 *time)
{
	const struct etch_head *head = view->data + view->at;
	unsigned int left = view->end - view->at;

	if (left < sizeof(*head) || head->word >> ETCH_CONTEXT_SHIFT ||
	    !etch_user_wrote(ring, view, head->pid))
		return 0;
	*time = etch_time_full(view->place.last, head->word);
	if (*time > view->now)
		return 0;
	return etch_user_len(view, head, left);
}

/**
 * etch_user_view_record() - the next record of a ring
 * @ring: the ring
 * @view: on it
 * @len: gets the bytes of the record
 * @time: gets its time in full
 *
 * Context: process, may sleep.
 * Return: the record, in the view's own memory, until etch_user_view_step(); or NULL.
 */
const struct etch_head *etch_user_view_record(const struct etch_user_ring_of *ring,
					      struct etch_user_view *view, unsigned int *len,
					      u64 *time)
{
	for (;;) {
		if (view->at >= view->end && !etch_user_fill(ring, view))
			return NULL;
		if (view->at < view->end) {
			*len = etch_user_check(ring, view, time);
			if (*len)
				return view->data + view->at;
			view->counts.malformed++;
			view->place.due++;
			view->place.unsure = true;
		}
		view->at = view->end;
		view->place.next = view->behind;
	}
}

/**
 * etch_user_view_run() - take the records that follow and are like the first one along
 * @view: from whose etch_user_view_record() the first one is
 * @len: its bytes
 * @time: its time; gets the last one's
 * @until: no other one is younger; it is not in the future
 * @room: no other one ends behind so many bytes from the first one's begin
 *
 * Most records are of the same event and thread as the record before, and have its size. The first
 * record was checked, so the function compares the others with it, and looks at their times. In
 * the copy each record is aligned to 4 bytes, as in a packet.
 *
 * Afterwards the view's next record is the last one, as if the caller had dealt with the others.
 *
 * Context: any.
 * Return: how many records there are, with the first one.
 */
unsigned int etch_user_view_run(struct etch_user_view *view, unsigned int len, u64 *time,
				u64 until, unsigned int room)
{
	const struct etch_head *first = view->data + view->at, *head = first;
	unsigned int left = min(room, view->end - view->at), step = ALIGN(len, 4), nr = 1;
	u64 last = *time, next;

	/* Unless all records of this event have one size. */
	if (view->fixed_len != len)
		return 1;
	for (; nr * step + len <= left; nr++) {
		head = (const void *)head + step;
		if (head->pid != first->pid || etch_head_id(head) != etch_head_id(first) ||
		    head->word >> ETCH_CONTEXT_SHIFT)
			break;
		next = etch_time_full(last, head->word);
		if (next > until)
			break;
		last = next;
	}
	view->at += (nr - 1) * step;
	view->place.next += (nr - 1) * step;
	view->place.seen += nr - 1;
	view->counts.read += nr - 1;
	*time = last;
	return nr;
}

/**
 * etch_user_view_step() - the record was dealt with
 * @view: from whose etch_user_view_record() it is
 * @len: its bytes
 * @time: its time
 *
 * Context: any.
 */
void etch_user_view_step(struct etch_user_view *view, unsigned int len, u64 time)
{
	view->at += ALIGN(len, 4);
	view->place.next += ALIGN(len, 4);
	if (view->at >= view->end)
		view->place.next = view->behind;
	view->place.seen++;
	view->place.due = 0;
	view->place.given_way = 0;
	view->place.last = time;
	view->counts.read++;
}

/**
 * etch_user_unread() - how many records are stored that no reader was given?
 * @ring: the ring
 *
 * Context: process; holds the instance's read_mutex.
 * Return: their number, as the program says; 0 if that makes no sense.
 */
u64 etch_user_unread(const struct etch_user_ring_of *ring)
{
	u64 pos = etch_user_pos(ring), bytes = etch_user_bytes(pos), unread;
	struct etch_user_block head;

	if (!bytes || ring->at.unsure ||
	    !etch_user_head(ring, (bytes - 1) >> ETCH_USER_SUBBUF_SHIFT, &head))
		return 0;
	unread = head.total + pos % BIT(ETCH_USER_COUNT_BITS) - ring->at.seen;
	return unread < ETCH_USER_MANY ? unread : 0;
}

/**
 * etch_user_unread_lost() - how many losses does no block tell of that was read?
 * @ring: the ring
 *
 * Context: process; holds the instance's read_mutex.
 * Return: their number, up to when the ring was stopped; 0 if that makes no sense.
 */
u64 etch_user_unread_lost(const struct etch_user_ring_of *ring)
{
	u64 lost = ring->stop == U64_MAX ? READ_ONCE(ring->words->lost) : ring->stop_lost;

	lost -= ring->at.lost;
	return lost < ETCH_USER_MANY ? lost : 0;
}

/**
 * etch_user_tell() - tell a program how far its ring was read
 * @ring: the ring
 *
 * A block of which some was read is not free yet.
 *
 * Context: process; holds the instance's read_mutex.
 */
void etch_user_tell(struct etch_user_ring_of *ring)
{
	/* (w) Pairs with the program's load: the block was copied. */
	smp_store_release(&ring->words->consumed,
			  round_down(ring->at.next, (u64)ETCH_USER_SUBBUF));
}

/**
 * etch_user_forget() - forget the records in a ring, and what became of others
 * @ring: the ring; its program may write on
 *
 * Context: process; holds the instance's read_mutex.
 */
void etch_user_forget(struct etch_user_ring_of *ring)
{
	u64 pos = etch_user_pos(ring), bytes = etch_user_bytes(pos);
	u64 nr = (bytes - 1) >> ETCH_USER_SUBBUF_SHIFT;
	struct etch_user_block head = {};

	ring->at.unsure = bytes && !etch_user_head(ring, nr, &head);
	ring->at.next = bytes;
	ring->at.seen = head.total + pos % BIT(ETCH_USER_COUNT_BITS);
	ring->at.lost = READ_ONCE(ring->words->lost);
	ring->at.due = 0;
	ring->at.given_way = 0;
	ring->at.last = max(ring->at.last, etch_clock_read(ETCH_CLOCK_COUNTER) - ETCH_USER_APART);
	ring->counts = (struct etch_user_counts) {};
	ring->forgotten = ring->at.lost;
	etch_user_tell(ring);
}
