/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _RING_SMALL_H
#define _RING_SMALL_H

/* Small rings, for one thread that knows what is in them. */

#include "ring_test.h"

#define SUBBUF	4096U
#define HEADER	64U
#define ROOM	(SUBBUF - HEADER)

static u32 next_seq[LEVELS];

/* Write one record of level 0, numbered if it is stored. */
static inline bool put(struct etch_ring *r, unsigned int len)
{
	bool ok = rec_write(r, 0, next_seq[0], len);

	next_seq[0] += ok;
	return ok;
}

static inline struct etch_ring *fresh(unsigned int nr, bool overwrite)
{
	memset(next_seq, 0, sizeof(next_seq));
	return ring_make(nr * SUBBUF, SUBBUF, HEADER, overwrite);
}

#endif /* _RING_SMALL_H */
