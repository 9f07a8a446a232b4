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

#include "ctf/ctf.h"

/* Under read_mutex, all of these. */
unsigned int etch_packet_take(struct etch_instance *inst, int cpu, void **memory,
			      struct etch_reported *before);
unsigned int etch_packet_make(struct etch_instance *inst, int cpu, void *memory,
			      struct etch_view *view, u64 overwritten);
void etch_packet_frame(struct etch_instance *inst, int cpu, void *memory, unsigned int stream,
		       unsigned int content, unsigned int bytes);
unsigned int etch_packet_lead(void *lead, const void *packet, const struct etch_reported *before);
bool etch_packet_wanted(const struct etch_instance *inst, int cpu);

#endif /* _KERNEL_ETCH_PACKET_H */
