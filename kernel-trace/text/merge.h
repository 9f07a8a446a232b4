/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_MERGE_H
#define _KERNEL_ETCH_MERGE_H

/*
 * The records of an instance's CPUs, one after the other, in the order of time.
 *
 * There are two ways to go through them. A taking merge consumes:
 *
 *	m = etch_merge_create(inst, cpu, ETCH_MERGE_TAKE);
 *	mutex_lock(&inst->read_mutex);
 *	etch_merge_begin(m);
 *	while ((item = etch_merge_item(m)) && ... there is room ...) {
 *		... print it ...
 *		etch_merge_next(m);
 *	}
 *	etch_merge_end(m);
 *	mutex_unlock(&inst->read_mutex);
 *
 * A record is the ring's until etch_merge_next() says that it was dealt with;
 * a record that was only looked at comes again, for the next reader. A peeking
 * merge looks at what there was at its etch_merge_begin(), leaves everything
 * where it is, and lets one drop the mutex between any two calls. A look, for
 * which there is no etch_merge_begin() but etch_merge_look(), needs no mutex and gets
 * its memory beforehand: see ring_look.h for what that costs.
 */

#include <linux/etch_ring.h>
#include <linux/types.h>

#include "text/text.h"

struct etch_contexts;
struct etch_merge;

/**
 * enum etch_merge_way - what becomes of the records
 * @ETCH_MERGE_TAKE: they are consumed; each goes to one reader
 * @ETCH_MERGE_PEEK: they stay; every reader sees them
 * @ETCH_MERGE_LOOK: the same, in the rings themselves and without the mutex
 */
enum etch_merge_way {
	ETCH_MERGE_TAKE,
	ETCH_MERGE_PEEK,
	ETCH_MERGE_LOOK,
};

/**
 * struct etch_item - the record whose turn it is
 * @record: struct etch_head and its payload, aligned to 4 bytes. NULL: no record, only
 *	    @lost to report; only when peeking, as the last item of a CPU
 * @len: bytes of it; 0: it makes no sense, and @skip bytes go unread with it
 * @skip: bytes, if @len is 0
 * @cpu: where it was written
 * @clock: whose time it has; the instance may have another one by now
 * @contexts: of the record, between its head and its payload; or NULL
 * @time: in full
 * @lost: records lost on that CPU since the item before it from there
 */
struct etch_item {
	const void *record;
	unsigned int len;
	unsigned int skip;
	int cpu;
	enum etch_clock clock;
	const struct etch_contexts *contexts;
	u64 time;
	u64 lost;
};

struct etch_merge *etch_merge_create(struct etch_instance *inst, int cpu,
				     enum etch_merge_way way);
struct etch_merge *etch_merge_create_range(struct etch_instance *inst, int first,
					   unsigned int nr, enum etch_merge_way way);
void etch_merge_free(struct etch_merge *m);

int etch_merge_begin(struct etch_merge *m);
const struct etch_item *etch_merge_item(struct etch_merge *m);
void etch_merge_next(struct etch_merge *m);
void etch_merge_end(struct etch_merge *m);
void etch_merge_look(struct etch_merge *m, struct etch_instance *inst, int cpu, u64 max);

bool etch_merge_empty(const struct etch_merge *m);
bool etch_merge_reached(const struct etch_merge *m);
void etch_merge_settle(struct etch_merge *m, bool hurry);

#endif /* _KERNEL_ETCH_MERGE_H */
