// SPDX-License-Identifier: GPL-2.0
/*
 * The records that the kernel stores for a program without restartable sequences.
 *
 * They go to rings like those that programs write, which no program can map: so a reader takes
 * both for the same, and here nothing in a ring needs to be doubted. The record does: it is a copy
 * in memory of the kernel's, and must be one of an event of programs.
 *
 * To store a record, interrupts are off on the ring's CPU. Nothing else on this CPU writes the
 * ring meanwhile, and etch_user_settle(), which interrupts the CPU, waits for it: as it has a
 * program's section begin again.
 */
#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "event/event.h"
#include "user/user.h"

/* What became of a record. */
enum etch_user_stored {
	ETCH_USER_STORED,	/* or counted as lost */
	ETCH_USER_ELSEWHERE,	/* nothing: the thread is on another CPU by now */
	ETCH_USER_DROPPED,	/* nothing: the instance has forgotten the ring */
};

static struct etch_user_block *etch_user_block_at(struct etch_user_ring *words, u64 nr)
{
	return (void *)words + ETCH_USER_DATA + nr % ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF;
}

/* Begins block @nr. False: the ring is full. */
static bool etch_user_begin_block(struct etch_user_ring *words, u64 nr)
{
	struct etch_user_block *next = etch_user_block_at(words, nr), *last;
	u64 start = nr << ETCH_USER_SUBBUF_SHIFT, pos = words->pos;

	/* (w) Pairs with the reader's release: it has copied the block. */
	if (!READ_ONCE(words->overwrite) && start - smp_load_acquire(&words->consumed) >=
					    ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF)
		return false;
	WRITE_ONCE(next->gen, 0);
	/* (v) Pairs with the reader's second look at the old block: it changes after this. */
	smp_wmb();
	if (nr) {
		last = etch_user_block_at(words, nr - 1);
		WRITE_ONCE(next->total, last->total + pos % BIT(ETCH_USER_COUNT_BITS));
		WRITE_ONCE(last->left, pos);
	} else {
		WRITE_ONCE(next->total, 0);
	}
	WRITE_ONCE(next->lost, words->lost);
	/* (v) Pairs with the reader's first look: the block is valid after this. */
	smp_store_release(&next->gen, nr + 1);
	/* (u) As below. */
	smp_store_release(&words->pos, (start + sizeof(*next)) << ETCH_USER_COUNT_BITS);
	return true;
}

/* Makes room for @len bytes at words->pos. False: there is none. */
static bool etch_user_make_way(struct etch_user_ring *words, unsigned int len)
{
	u64 bytes = words->pos >> ETCH_USER_COUNT_BITS, nr;

	if (!bytes)
		return etch_user_begin_block(words, 0);
	nr = (bytes - 1) >> ETCH_USER_SUBBUF_SHIFT;
	return (bytes + len - 1) >> ETCH_USER_SUBBUF_SHIFT == nr ||
	       etch_user_begin_block(words, nr + 1);
}

/* With interrupts off, on the ring's CPU. */
static enum etch_user_stored etch_user_store(struct etch_user_ring_of *ring,
					     struct etch_head *record, unsigned int id,
					     unsigned int len)
{
	struct etch_user_ring *words = ring->words;
	u64 stopped = READ_ONCE(words->stopped), pos;

	if (stopped == ETCH_USER_GONE)
		return ETCH_USER_DROPPED;
	if (stopped || !etch_user_make_way(words, len)) {
		WRITE_ONCE(words->lost, words->lost + 1);
		return ETCH_USER_STORED;
	}
	pos = words->pos;
	record->word = (etch_clock_read(ETCH_CLOCK_COUNTER) & ETCH_TIME_MASK) |
		       (u64)id << ETCH_TIME_BITS;
	memcpy((void *)words + ETCH_USER_DATA + (pos >> ETCH_USER_COUNT_BITS) %
	       (ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF), record, len);
	/* (u) Pairs with the reader's acquire: the record is there. */
	smp_store_release(&words->pos, pos + ((u64)len << ETCH_USER_COUNT_BITS) + 1);
	return ETCH_USER_STORED;
}

static enum etch_user_stored etch_user_try_store(struct etch_user_ring_of *ring,
						 struct etch_head *record, unsigned int id,
						 unsigned int len)
{
	enum etch_user_stored ret = ETCH_USER_ELSEWHERE;
	unsigned long flags;

	local_irq_save(flags);
	if (smp_processor_id() == ring->cpu)
		ret = etch_user_store(ring, record, id, len);
	local_irq_restore(flags);
	return ret;
}

/* The ring that there is, held; or NULL. */
static struct etch_user_ring_of *etch_user_known(unsigned int bit, int cpu)
{
	struct etch_user_process *p = etch_user_process_find();
	struct etch_user_ring_of *ring;

	if (!p)
		return NULL;
	/* A ring leaves the array before its instance lets go of it. */
	xa_lock(&p->written);
	ring = xa_load(&p->written, etch_user_key(bit, cpu));
	if (ring)
		kref_get(&ring->ref);
	xa_unlock(&p->written);
	etch_user_process_put(p);
	return ring;
}

static struct etch_user_ring_of *etch_user_ask_ring(unsigned int bit, int cpu)
{
	struct etch_instance *inst;

	guard(mutex)(&etch_mutex);
	inst = etch_instances[bit];
	if (!inst || !etch_instance_shown(inst))
		return NULL;
	return etch_user_attach(inst, cpu, true);
}

/* Stores a record for one instance. */
static int etch_user_write_to(unsigned int bit, struct etch_head *record, unsigned int id,
			      unsigned int len)
{
	enum etch_user_stored ret;

	do {
		int cpu = raw_smp_processor_id();
		struct etch_user_ring_of *ring = etch_user_known(bit, cpu) ?:
						 etch_user_ask_ring(bit, cpu);

		if (IS_ERR_OR_NULL(ring))
			return PTR_ERR_OR_ZERO(ring);
		ret = etch_user_try_store(ring, record, id, len);
		etch_user_ring_put(ring);
	} while (ret != ETCH_USER_STORED);
	return 0;
}

/* Which instances want the record? 0: none. @len: its bytes; becomes those that make sense. */
static int etch_user_wanted(struct etch_head *record, unsigned int id, unsigned int *len,
			    u32 *mask)
{
	const struct etch_event *event;
	int ret = -EINVAL;

	if (id > ETCH_ID_MAX)
		return -EINVAL;
	record->word = (u64)id << ETCH_TIME_BITS;
	down_read(&etch_event_sem);
	event = etch_event_by_id(id);
	if (event && event->user) {
		*len = etch_class_len(event->class, record, *len);
		*mask = etch_user_event_mask(event);
		ret = *len ? 0 : -EINVAL;
	}
	up_read(&etch_event_sem);
	return ret;
}

/**
 * etch_user_write() - store a record for the current process
 * @record: with room for its head, and zeroes up to 4 bytes behind it; no program can change it
 * @id: of its event, as the program says
 * @len: its bytes, with the head
 *
 * Context: process, may sleep.
 * Return: 0: it is stored in all instances that want it, or counted as lost; -EINVAL: it makes no
 * sense; -ENOMEM.
 */
int etch_user_write(struct etch_head *record, unsigned int id, unsigned int len)
{
	u32 mask;
	int ret = etch_user_wanted(record, id, &len, &mask);

	if (ret)
		return ret;
	record->pid = current->pid;
	for (; mask; mask &= mask - 1) {
		int err = etch_user_write_to(ETCH_MAIN + __ffs(mask), record, id, ALIGN(len, 4));

		ret = ret ?: err;
	}
	return ret;
}
