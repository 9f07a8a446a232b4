// SPDX-License-Identifier: GPL-2.0
/*
 * Sub-buffers become packets: see packet.h.
 *
 * Common Trace Format 1.8 wants of the packets of one stream that they do not overlap in
 * time, that their number and their count of discarded events never decrease, and that
 * there is nothing but events in a packet up to content_size.
 */

#include <linux/bits.h>
#include <linux/cpu.h>
#include <linux/etch.h>
#include <linux/etch_ring.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uuid.h>
#include <linux/wait.h>
#include <uapi/linux/etch_packet.h>

#include "ctf/packet.h"
#include "user/reader.h"

static_assert(sizeof(struct etch_packet_header) == ETCH_PACKET_HEADER,
	      "a sub-buffer has as much room as a packet's header takes");
static_assert(ETCH_PACKET_COMM == TASK_COMM_LEN);

/* Bytes of a packet: the pages that it takes, be it full, flushed, or left for a large record. */
static unsigned int etch_packet_bytes(unsigned int content, unsigned int subbuf)
{
	return min_t(unsigned int, PAGE_ALIGN(content), subbuf);
}

/**
 * etch_packet_frame() - fill in what all packets have
 * @inst: the instance
 * @cpu: the CPU
 * @memory: of the packet
 * @stream: the id of its class
 * @content: bytes up to the last record's end
 * @bytes: of the packet
 *
 * Readers get whole pages, so the packet is zeroed from its last record to its end: older
 * records may be there, which the reader might never have been allowed to see.
 *
 * Context: process; holds the instance's read_mutex.
 */
void etch_packet_frame(struct etch_instance *inst, int cpu, void *memory, unsigned int stream,
		       unsigned int content, unsigned int bytes)
{
	struct etch_packet_header *head = memory;

	lockdep_assert_held(&inst->read_mutex);
	head->magic = ETCH_PACKET_MAGIC;
	export_uuid(head->uuid, &inst->uuid);
	head->stream_id = stream;
	head->content_size = (u64)content * BITS_PER_BYTE;
	head->packet_size = (u64)bytes * BITS_PER_BYTE;
	head->cpu_id = cpu;
	memset(head->comm, 0, sizeof(head->comm));
	etch_comm_find(head->pid, head->comm);
	/* Events of the records in the packet were described before these were written. */
	head->generation = READ_ONCE(etch_generation);
	memset(memory + content, 0, bytes - content);
}

/**
 * etch_packet_make() - make a packet of records
 * @inst: whose they are
 * @cpu: whose
 * @memory: a sub-buffer's, in which @view is
 * @view: the records; if it is @open, its @end is the caller's
 * @overwritten: how many were overwritten before, in this ring
 *
 * What the sub-buffer has behind the packet stays.
 *
 * Context: process; holds the instance's read_mutex.
 * Return: bytes of the packet.
 */
unsigned int etch_packet_make(struct etch_instance *inst, int cpu, void *memory,
			      struct etch_view *view, u64 overwritten)
{
	const struct etch_stream_base *base = &inst->bases[cpu];
	struct etch_packet_header *head = memory;
	unsigned int content = ETCH_PACKET_HEADER + view->len;
	unsigned int bytes = etch_packet_bytes(content, inst->subbuf_bytes);

	head->pid = view->pid;
	etch_packet_frame(inst, cpu, memory, ETCH_STREAM_KERNEL, content, bytes);
	head->timestamp_begin = view->begin;
	head->timestamp_end = view->end;
	head->packet_seq_num = base->seq + view->seq + 1;
	head->overwritten = base->overwritten + overwritten;
	head->lost_full = base->lost[ETCH_LOST_FULL] + view->lost[ETCH_LOST_FULL];
	head->lost_throttled = base->lost[ETCH_LOST_THROTTLED] + view->lost[ETCH_LOST_THROTTLED];
	head->lost_nested = base->lost[ETCH_LOST_NESTED] + view->lost[ETCH_LOST_NESTED];
	head->lost_too_big = base->lost[ETCH_LOST_TOO_BIG] + view->lost[ETCH_LOST_TOO_BIG];
	head->events_discarded = head->overwritten + etch_view_lost(view) +
				 base->lost[ETCH_LOST_FULL] + base->lost[ETCH_LOST_NESTED] +
				 base->lost[ETCH_LOST_TOO_BIG] + base->lost[ETCH_LOST_THROTTLED];
	head->records = view->records;
	return bytes;
}

/**
 * etch_packet_take() - take the next whole packet of a CPU
 * @inst: the instance
 * @cpu: the CPU
 * @memory: of a sub-buffer of its ring; gets that of the packet instead
 * @before: gets the figures that the packet before this one reported
 *
 * Context: process; holds the instance's read_mutex.
 * Return: bytes of the packet, or 0 if there is none.
 */
unsigned int etch_packet_take(struct etch_instance *inst, int cpu, void **memory,
			      struct etch_reported *before)
{
	struct etch_reported *reported = &inst->bases[cpu].reported;
	struct etch_ring *ring = inst->rings[cpu];
	const struct etch_packet_header *head;
	struct etch_view view;
	unsigned int bytes;

	if (!ring || !etch_ring_take_subbuf(ring, memory, &view))
		return 0;
	bytes = etch_packet_make(inst, cpu, *memory, &view, etch_ring_overwritten(ring));
	head = *memory;
	*before = *reported;
	*reported = (struct etch_reported) {
		.seq = head->packet_seq_num,
		.discarded = head->events_discarded,
		.overwritten = head->overwritten,
		.full = head->lost_full,
		.throttled = head->lost_throttled,
		.nested = head->lost_nested,
		.too_big = head->lost_too_big,
	};
	return bytes;
}

/**
 * etch_packet_lead() - make what has to go in front of a reader's first packet
 * @lead: a page or more: gets a packet without records
 * @packet: the reader's first one
 * @before: the counters last given to a reader before that
 *
 * Context: any.
 * Return: bytes of @lead, or 0 if nothing was lost that @packet is the first to tell of.
 */
unsigned int etch_packet_lead(void *lead, const void *packet, const struct etch_reported *before)
{
	struct etch_packet_header *head = lead;

	memcpy(head, packet, sizeof(*head));
	memset(head + 1, 0, PAGE_SIZE - sizeof(*head));
	if (head->packet_seq_num == before->seq + 1 &&
	    head->events_discarded == before->discarded)
		return 0;
	head->packet_seq_num = before->seq;
	head->events_discarded = before->discarded;
	head->timestamp_end = head->timestamp_begin;
	head->content_size = sizeof(*head) * BITS_PER_BYTE;
	head->packet_size = PAGE_SIZE * BITS_PER_BYTE;
	head->overwritten = before->overwritten;
	head->lost_full = before->full;
	head->lost_throttled = before->throttled;
	head->lost_nested = before->nested;
	head->lost_too_big = before->too_big;
	head->records = 0;
	return PAGE_SIZE;
}

/* On the ring's CPU, as a writer that interrupts all others but NMIs. */
static void etch_flush_here(void *ring)
{
	etch_ring_flush(ring);
}

static void etch_flush_cpu(struct etch_instance *inst, int cpu)
{
	struct etch_stream_base *base = &inst->bases[cpu];
	struct etch_ring *ring;

	mutex_lock(&inst->read_mutex);
	ring = inst->rings[cpu];
	if (ring) {
		/* A CPU that is off line stays so, and nobody else writes there. */
		if (smp_call_function_single(cpu, etch_flush_here, ring, 1))
			etch_ring_flush(ring);
		base->flushed = base->seq + etch_ring_passed(ring) + etch_ring_filled(ring);
	}
	mutex_unlock(&inst->read_mutex);
}

/**
 * etch_packet_wanted() - is the next full sub-buffer one that was flushed?
 * @inst: the instance
 * @cpu: the CPU, which has a ring
 *
 * They stop being wanted when any reader consumes them, as packets or as text, or when the
 * buffers are emptied.
 *
 * Context: process; holds the instance's read_mutex.
 * Return: true if it is, or was: it may have been overwritten, which the reader learns of
 * from the next packet.
 */
bool etch_packet_wanted(const struct etch_instance *inst, int cpu)
{
	const struct etch_stream_base *base = &inst->bases[cpu];

	lockdep_assert_held(&inst->read_mutex);
	return base->seq + etch_ring_passed(inst->rings[cpu]) < base->flushed;
}

/**
 * etch_instance_flush() - have what was recorded up to now in packets
 * @inst: the instance
 * @want: the CPU, or ETCH_ALL_CPUS
 *
 * Readers of packets get them without waiting for the buffers to fill. In discard mode,
 * while a ring is full, the last packet comes only after others were read.
 *
 * Context: process, may sleep.
 */
void etch_instance_flush(struct etch_instance *inst, int want)
{
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (want == ETCH_ALL_CPUS || want == cpu)
			etch_flush_cpu(inst, cpu);
	cpus_read_unlock();
	etch_user_flush(inst, want);
	wake_up_interruptible_all(&inst->wait);
}
