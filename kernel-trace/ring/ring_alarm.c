// SPDX-License-Identifier: GPL-2.0
/*
 * Etch's ring buffer: an alarm that writers raise for a reader that waits.
 *
 * A reader sets it, and a writer raises it, from the slow path. The fast path has no
 * instruction for it:
 *
 *   - Sub-buffers fill up in the slow path in any case. The writer that begins the block
 *     at @alarm_at raises the alarm there.
 *   - For the next record, whichever it is, the reader stores ETCH_LIMIT_ALARM in @quick and
 *     @limit. No record is so short that it fits, so the next writer takes the slow path. It
 *     puts the two words right, raises the alarm, and stores its record.
 *
 * The function that a writer calls may let the reader wait for a while longer. So an early alarm
 * leaves another one in the ring: the writer that begins the block behind the first half of
 * the ring raises that, and says that it is pressing. An alarm is raised twice at most.
 *
 * Both words change by compare-and-exchange: control may turn the ring off at the same
 * moment, and that must last. A quick writer looks at @quick alone, and a writer that it leaves
 * the record to at @limit. So while the reader has set the one and not the other, a writer may
 * pass by, or put right what the reader has set. In that case it raises the alarm, too, and
 * the reader sets both words again.
 *
 * A writer that was in flight when the alarm was set does not know of it. So a reader that
 * has set the alarm asks the ring at once, and again after a grace period, and then relies on
 * the alarm. The model of this is alarm.pml, in the repository that the series comes from.
 */
#include <linux/atomic.h>
#include <linux/etch_ring.h>
#include <linux/export.h>

#include "ring/ring_internal.h"

static unsigned int usual_limit(const struct etch_ring *r)
{
	return (r->size >> ETCH_POS_SHIFT) - r->header;
}

/* From the block that the reader is in: where the ring is half full of what it has not read. */
static u64 press_at(const struct etch_ring *r)
{
	return etch_ring_block_from(r, READ_ONCE(r->rd)) + r->nr / 2 * r->size;
}

/**
 * etch_ring_set_alarm() - have a writer tell when there is something to read
 * @r:      a ring that was made with an alarm; on or off
 * @blocks: when so many sub-buffers are full and unread; 0: with the next record
 *
 * The alarm is raised once, and once more, as a pressing one, when half of the sub-buffers are
 * full and unread; only then if @blocks is no less than that. It may come when nobody waits for
 * it any more, and it is no promise that there is a record: the record may still be in the
 * making, or be lost. Turning the ring off, which includes all control of it, takes the alarm
 * for the next record back.
 *
 * Context: any, under the caller's mutex.
 */
void etch_ring_set_alarm(struct etch_ring *r, unsigned int blocks)
{
	unsigned int limit = usual_limit(r);
	u64 at = press_at(r);

	if (blocks)
		at = etch_ring_block_from(r, READ_ONCE(r->rd)) + blocks * r->size;
	/* Before the caller asks the ring. */
	xchg(&r->alarm_at, at);
	if (blocks)
		return;
	/* A @quick of zero stays: the clock is not the counter. */
	cmpxchg(&r->quick, limit, ETCH_LIMIT_ALARM);
	cmpxchg(&r->limit, limit, ETCH_LIMIT_ALARM);
}
EXPORT_SYMBOL_GPL(etch_ring_set_alarm);

/* A record is about to be stored, and one of the two words says that a reader waits for it. */
void etch_ring_raise_record(struct etch_ring *r)
{
	unsigned int limit = usual_limit(r);
	bool raise;

	raise = cmpxchg(&r->quick, ETCH_LIMIT_ALARM, limit) == ETCH_LIMIT_ALARM;
	raise |= cmpxchg(&r->limit, ETCH_LIMIT_ALARM, limit) == ETCH_LIMIT_ALARM;
	if (raise)
		r->alarm(r->alarm_data, false);
}

/*
 * The block at @next was begun, and @at, which was in @alarm_at, is not behind it. The reader may
 * be moving @rd: then it is not asleep, and sets the alarm anew before it is.
 */
void etch_ring_raise_block(struct etch_ring *r, u64 at, u64 next)
{
	u64 press = press_at(r);
	bool pressing = !etch_pos_after(press, next);

	if (cmpxchg(&r->alarm_at, at, pressing ? ETCH_NO_ALARM : press) == at)
		r->alarm(r->alarm_data, pressing);
}
