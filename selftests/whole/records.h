/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_RECORDS_H
#define _ETCH_RECORDS_H

/*
 * Packets of any events, decoded as far as can be said without knowing the events: where
 * each record ends, when it was, and that all of it is as the packet's header says.
 *
 * What events there are is learnt from their format files, once. An event that has come
 * later is unknown, and a packet with a record of it cannot be decoded.
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
