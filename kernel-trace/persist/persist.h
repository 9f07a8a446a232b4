/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_PERSIST_H
#define _KERNEL_ETCH_PERSIST_H

/*
 * Rings in memory that survives a warm reboot: the layout of the memory, and the functions
 * that the parts share. persist.c has the region and the instance that records into it,
 * persist_check.c looks through what an earlier kernel left, persist_files.c offers that.
 *
 * The region, from its start:
 *
 *	struct etch_persist_head	a page: what this is, and how it is laid out
 *	text				metadata, for the events that were ever enabled
 *	table				what it takes to find where their records end
 *	a slice for each possible CPU	struct etch_ring, slots, blocks, and pages
 *
 * All of a ring but the reader's scratch lies in the slice, and so all that its writer does
 * is there to be found, for no price: there is nothing to be kept up to date. But there is
 * also nobody who could sum up what changes with each record; so a sub-buffer is
 * believed if its records, one behind the other, end where the ring says, at times that
 * do not go back, and are as many as the ring says.
 */

#include <linux/types.h>
#include <uapi/linux/etch_packet.h>

#include "tree/tree.h"

#define ETCH_PERSIST_MAGIC	0x5473697372655045ULL
#define ETCH_PERSIST_VERSION	1

/**
 * struct etch_persist_shape - how a region is laid out: follows from the first three
 * @bytes: of the region
 * @subbuf: bytes of a sub-buffer
 * @cpus: slices
 * @text: where the text is, in bytes from the start of the region
 * @text_bytes: room for it
 * @table: where the table is
 * @table_bytes: room for it
 * @slices: where the first slice is
 * @slice_bytes: of each
 * @nr: sub-buffers of a ring, the spare one not included
 */
struct etch_persist_shape {
	u64 bytes;
	u32 subbuf;
	u32 cpus;
	u64 text;
	u64 text_bytes;
	u64 table;
	u64 table_bytes;
	u64 slices;
	u64 slice_bytes;
	u64 nr;
};

/**
 * struct etch_persist_head - what a region begins with
 * @magic: ETCH_PERSIST_MAGIC
 * @version: ETCH_PERSIST_VERSION
 * @layout: a sum of how this kernel lays out its rings
 * @shape: as etch_persist_shape() gives it
 * @base: the address of the region then, for the pointers in it
 * @uuid: of the trace
 * @generation: as of the packets
 * @release: of the kernel
 * @sum: of all the above; written last
 * @text: bytes of text << 32, and their sum
 * @table: the same of the table
 */
struct etch_persist_head {
	u64 magic;
	u32 version;
	u32 layout;
	struct etch_persist_shape shape;
	u64 base;
	u8 uuid[ETCH_PACKET_UUID];
	u32 generation;
	char release[64];
	u32 sum;
	u64 text;
	u64 table;
};

/**
 * struct etch_persist_packet - one that was found
 * @head: its header
 * @data: its records, in the region
 * @len: bytes of them
 */
struct etch_persist_packet {
	struct etch_packet_header head;
	const void *data;
	unsigned int len;
};

/**
 * struct etch_persist_cpu - the packets found of a CPU
 * @packets: @nr of them, in order
 * @nr: how many
 * @records: in them
 * @torn: sub-buffers that made no sense, and are left out
 * @dropped: the records that these were said to have; 0 if the ring itself makes no sense
 * @overwritten: records, before all packets
 * @lost: records lost, as the packets count them, and those lost since the last packet
 * @damaged: the ring itself makes no sense
 */
struct etch_persist_cpu {
	struct etch_persist_packet *packets;
	unsigned int nr;
	u64 records;
	unsigned int torn;
	u64 dropped;
	u64 overwritten;
	u64 lost;
	bool damaged;
};

/**
 * struct etch_persist_found - the findings in a region
 * @why: why nothing can be made of it, or NULL
 * @any: somebody has written into it: it begins with the magic
 * @head: of the region
 * @text: the metadata, in the region
 * @text_len: bytes of it
 * @nr_cpus: how many CPUs there are
 * @cpus: the findings of each CPU
 */
struct etch_persist_found {
	const char *why;
	bool any;
	const struct etch_persist_head *head;
	const char *text;
	unsigned int text_len;
	unsigned int nr_cpus;
	struct etch_persist_cpu *cpus;
};

/* ---- persist_check.c ---- */

int etch_persist_shape(struct etch_persist_shape *shape, u64 bytes, u32 subbuf, u32 cpus);
u32 etch_persist_layout(void);
u32 etch_persist_head_sum(const struct etch_persist_head *head);
u32 etch_persist_sum(const void *from, size_t len);
int etch_persist_check(void *region, u64 bytes, struct etch_persist_found *found);
void etch_persist_forget(struct etch_persist_found *found);

/* ---- persist.c ---- */

/* The region, or NULL. And what was found in it; under etch_mutex. */
struct etch_persist {
	struct etch_store store;
	const char *name;
	void *memory;
	struct etch_persist_shape shape;
	struct etch_persist_found found;
	struct etch_instance *inst;	/* that records into it; NULL: not yet */
	const char *events;		/* to enable at the start: patterns and commas; or NULL */
	u8 *described;			/* by an event's id */
	bool full;			/* an event could not be described */
};

int etch_persist_start(struct etch_persist *p);

/* ---- persist_files.c ---- */

/**
 * struct etch_persist_place - a place in a CPU's file
 * @packet: which one
 * @start: where in the file it starts
 */
struct etch_persist_place {
	unsigned int packet;
	loff_t start;
};

size_t etch_persist_copy(const struct etch_persist_cpu *c, struct etch_persist_place *place,
			 void *to, size_t count, loff_t pos);
int etch_persist_add_files(struct etch_persist *p);

#endif /* _KERNEL_ETCH_PERSIST_H */
