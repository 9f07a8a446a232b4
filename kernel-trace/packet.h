/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_PACKET_H
#define _KERNEL_ETCH_PACKET_H

/*
 * Sub-buffers as packets of Common Trace Format. What a packet looks like says
 * <uapi/linux/etch_packet.h>.
 *
 * A CPU's packets are one stream as long as its instance has its uuid, which is until
 * the clock is changed. The rings that they come from may be emptied, or go and come
 * with the CPU, and then count from zero again; the stream does not.
 */

#include <linux/etch_ring.h>
#include <linux/types.h>

#include "etch.h"

/**
 * struct etch_stream_base - what a CPU's rings had counted before the one of now
 * @seq: sub-buffers
 * @overwritten: records
 * @lost: records, by cause
 * @floor: not a count: the latest time in a ring that has gone
 * @told: as of the packet that was given out last: its number, and all lost before it
 * @flushed: full sub-buffers are wanted at once, however few there are, up to this
 *	     number: those that were there when a flush was asked for
 *
 * All under the instance's read_mutex.
 */
struct etch_stream_base {
	u64 seq;
	u64 overwritten;
	u64 lost[ETCH_LOST_OFF];
	u64 floor;
	struct etch_told {
		u64 seq;
		u64 discarded;
	} told;
	u64 flushed;
};

/* Under read_mutex, all of these. */
unsigned int etch_packet_take(struct etch_instance *inst, int cpu, void **memory,
			      struct etch_told *before);
unsigned int etch_packet_make(struct etch_instance *inst, int cpu, void *memory,
			      struct etch_view *view, u64 overwritten);
unsigned int etch_packet_lead(void *lead, const void *packet, const struct etch_told *before);
bool etch_packet_wanted(const struct etch_instance *inst, int cpu);
void etch_stream_rebase(struct etch_instance *inst, int cpu, struct etch_ring *ring);

#endif /* _KERNEL_ETCH_PACKET_H */
