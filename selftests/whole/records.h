/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_RECORDS_H
#define _ETCH_RECORDS_H

/*
 * Decodes packets of any events: the end and the time of each record, and whether both
 * agree with the packet's header.
 *
 * record_kinds_init() reads the events' format files once. Records of an event that was
 * added later cannot be decoded, nor can their packet.
 */

#include "packets.h"

/* The sums over a decoded stream of packets. */
struct records {
	struct packets seen;		/* by their headers; since the uuid is the same */
	unsigned long long packets, records, discarded;
	unsigned long long wrong;	/* packets */
	char why[160];			/* the first one of these */
};

void record_kind_mark(unsigned int id);
unsigned int record_kinds_init(void);
unsigned int record_id(const void *record);
__printf(2, 3) void records_wrong(struct records *r, const char *fmt, ...);
size_t records_add(struct records *r, const void *data, size_t len);

#endif /* _ETCH_RECORDS_H */
