/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_USER_PACKET_H
#define _KERNEL_ETCH_USER_PACKET_H

/*
 * Records of programs as packets, with headers that the kernel makes: see user_packet.c.
 */

#include <linux/align.h>
#include <linux/mm.h>
#include <uapi/linux/etch_packet.h>
#include <uapi/linux/etch_user.h>

#include "ctf/packet.h"
#include "user/reader.h"

/* Bytes of a packet at most, and of the memory for an empty one in front of another. */
#define ETCH_USER_PACKET	PAGE_ALIGN(sizeof(struct etch_packet_header) + ETCH_USER_SUBBUF)
#define ETCH_USER_PACKETS	(PAGE_SIZE + ETCH_USER_PACKET)

/**
 * struct etch_user_packets - packets that are being given to a reader
 * @reader: the records of one CPU
 * @memory: of ETCH_USER_PACKETS bytes; a packet at PAGE_SIZE, and perhaps an empty one before it
 * @at: how much was given
 * @end: where the packet ends
 * @begun: a packet was made
 */
struct etch_user_packets {
	struct etch_user_reader *reader;
	void *memory;
	unsigned int at;
	unsigned int end;
	bool begun;
};

int etch_user_packets_init(struct etch_user_packets *p, struct etch_instance *inst, int cpu,
			   bool take);
void etch_user_packets_free(struct etch_user_packets *p);

/* Under the instance's read_mutex, with the reader begun. */
bool etch_user_packet_next(struct etch_user_packets *p, struct etch_instance *inst, int cpu,
			   struct etch_user_tail *tail, u64 until);
bool etch_user_packet_last(struct etch_user_packets *p, struct etch_instance *inst, int cpu,
			   struct etch_user_tail *tail, u64 time);

#endif /* _KERNEL_ETCH_USER_PACKET_H */
