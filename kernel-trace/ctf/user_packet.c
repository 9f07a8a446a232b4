// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of programs' records.
 *
 * All processes that write on a CPU have their records in one stream: packets of one stream may
 * not overlap in time, so the rings of several processes cannot be handed out one behind the
 * other. The records were copied out of the rings and checked (user/block.c), and come in the
 * order of time (user/reader.c). All that a packet's header says is the kernel's own account.
 *
 * A packet's counters tell of losses before the packet's begin. So a record that has
 * losses in front of it begins a packet. A ring tells of losses once for each of its blocks, so
 * packets do not get smaller for that than the blocks are.
 */

#include <linux/etch.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ctf/user_packet.h"

/* Readers know the lowest 48 bits of a record's time, and go on from the record before it. */
#define ETCH_USER_GAP	BIT_ULL(47)

/**
 * struct etch_user_page - a packet that is being made
 * @head: the packet
 * @len: bytes up to the last record's end
 * @records: in it
 */
struct etch_user_page {
	struct etch_packet_header *head;
	unsigned int len;
	unsigned int records;
};

static bool etch_user_page_takes(const struct etch_user_page *page,
				 const struct etch_user_item *item)
{
	if (!page->records)
		return true;
	return !item->lost && ALIGN(page->len, 4) + item->len <= ETCH_USER_PACKET &&
	       item->time - page->head->timestamp_end < ETCH_USER_GAP;
}

/* Adds the item, and records that follow it in its ring. */
static void etch_user_page_add(struct etch_user_page *page, struct etch_user_reader *reader,
			       const struct etch_user_item *item, u64 until)
{
	const struct etch_head *record = item->record;
	struct etch_packet_header *head = page->head;
	unsigned int at = ALIGN(page->len, 4), bytes = ETCH_USER_PACKET - at;

	if (!page->records) {
		head->timestamp_begin = item->time;
		head->pid = record->pid;
	}
	until = min(until, item->time + ETCH_USER_GAP - 1);
	page->records += etch_user_run(reader, until, &bytes);
	memset((void *)head + page->len, 0, at - page->len);
	memcpy((void *)head + at, record, bytes);
	page->len = at + bytes;
	head->timestamp_end = item->time;
}

/* @before gets what the packets before this one have told. */
static void etch_user_page_end(struct etch_user_page *page, struct etch_instance *inst, int cpu,
			       struct etch_user_tail *tail, struct etch_reported *before)
{
	struct etch_packet_header *head = page->head;

	etch_packet_frame(inst, cpu, head, ETCH_STREAM_USER, page->len, PAGE_ALIGN(page->len));
	*before = (struct etch_reported) {
		.seq = tail->seq,
		.discarded = tail->told,
		.overwritten = tail->told_overwritten,
		.full = tail->told - tail->told_overwritten,
	};
	tail->told = tail->overwritten + tail->lost;
	tail->told_overwritten = tail->overwritten;
	head->packet_seq_num = ++tail->seq;
	head->overwritten = tail->overwritten;
	head->lost_full = tail->lost;
	head->lost_throttled = 0;
	head->lost_nested = 0;
	head->lost_too_big = 0;
	head->events_discarded = tail->told;
	head->records = page->records;
}

/* A packet is there, for a reader that perhaps has no other before it. */
static void etch_user_packet_ready(struct etch_user_packets *p, const struct etch_user_page *page,
				   const struct etch_reported *before)
{
	p->at = PAGE_SIZE;
	p->end = PAGE_SIZE + PAGE_ALIGN(page->len);
	if (!p->begun && etch_packet_lead(p->memory, page->head, before))
		p->at = 0;
	p->begun = true;
}

/**
 * etch_user_packet_next() - make a packet of the next records
 * @p: gets it
 * @inst: the instance
 * @cpu: the CPU
 * @tail: counts of the packets before; is moved on
 * @until: of records that are not younger
 *
 * Context: process; holds the instance's read_mutex, with the reader begun.
 * Return: false: there is no such record.
 */
bool etch_user_packet_next(struct etch_user_packets *p, struct etch_instance *inst, int cpu,
			   struct etch_user_tail *tail, u64 until)
{
	struct etch_user_page page = {
		.head = p->memory + PAGE_SIZE, .len = sizeof(struct etch_packet_header),
	};
	const struct etch_user_item *item;
	struct etch_reported before;

	lockdep_assert_held(&inst->read_mutex);
	until = min(until, etch_user_safe(p->reader));
	while ((item = etch_user_first(p->reader)) && item->time <= until &&
	       etch_user_page_takes(&page, item)) {
		tail->overwritten += item->overwritten;
		tail->lost += item->lost - item->overwritten;
		etch_user_page_add(&page, p->reader, item, until);
		etch_user_next(p->reader);
	}
	if (!page.records)
		return false;
	etch_user_page_end(&page, inst, cpu, tail, &before);
	etch_user_packet_ready(p, &page, &before);
	return true;
}

/**
 * etch_user_packet_last() - make a packet that tells of losses, and has no records
 * @p: gets it
 * @inst: the instance
 * @cpu: the CPU
 * @tail: counts of the packets before; is moved on
 * @time: of the packet: not before those of all packets before it
 *
 * Context: process; holds the instance's read_mutex.
 * Return: false: there is nothing to tell.
 */
bool etch_user_packet_last(struct etch_user_packets *p, struct etch_instance *inst, int cpu,
			   struct etch_user_tail *tail, u64 time)
{
	struct etch_user_page page = {
		.head = p->memory + PAGE_SIZE, .len = sizeof(struct etch_packet_header),
	};
	struct etch_reported before;

	if (tail->told == tail->overwritten + tail->lost)
		return false;
	page.head->timestamp_begin = time;
	page.head->timestamp_end = time;
	page.head->pid = 0;
	etch_user_page_end(&page, inst, cpu, tail, &before);
	etch_user_packet_ready(p, &page, &before);
	return true;
}

/**
 * etch_user_packets_init() - get ready to make packets
 * @p: for what; zeroed
 * @inst: of whose records
 * @cpu: of which CPU
 * @take: consume them
 *
 * Context: process, may sleep.
 * Return: 0, or -ENOMEM; then, too, etch_user_packets_free() is to be called.
 */
int etch_user_packets_init(struct etch_user_packets *p, struct etch_instance *inst, int cpu,
			   bool take)
{
	/* Zeroed: the bytes behind a packet's records go to user space, too. */
	p->memory = kvzalloc(ETCH_USER_PACKETS, GFP_KERNEL);
	if (!p->memory)
		return -ENOMEM;
	return etch_user_reader_make(&p->reader, inst, cpu, 1, take);
}

/**
 * etch_user_packets_free() - free what etch_user_packets_init() made
 * @p: for which
 *
 * Context: process, may sleep.
 */
void etch_user_packets_free(struct etch_user_packets *p)
{
	etch_user_reader_free(p->reader);
	kvfree(p->memory);
}
