/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_USER_READER_H
#define _KERNEL_ETCH_USER_READER_H

/*
 * The records of programs, for the readers of an instance. In a kernel without them there is
 * never one.
 */

#include "instance/instance.h"

/**
 * struct etch_user_item - the record whose turn it is
 * @record: struct etch_head and its payload, in memory of the kernel's
 * @len: bytes of it
 * @cpu: where it was written
 * @time: in full
 * @lost: records missing in its ring since the item before it from there
 * @overwritten: of these, how many had been stored
 */
struct etch_user_item {
	const void *record;
	unsigned int len;
	int cpu;
	u64 time;
	u64 lost;
	u64 overwritten;
};

/**
 * struct etch_user_tail - the counts of a CPU's packets
 * @seq: packets
 * @overwritten: records, as of now
 * @lost: the same
 * @told: all losses that a packet told of
 * @told_overwritten: the overwritten ones among them
 */
struct etch_user_tail {
	u64 seq;
	u64 overwritten;
	u64 lost;
	u64 told;
	u64 told_overwritten;
};

/* How much there is for a packet. */
enum etch_user_fill {
	ETCH_USER_FEW,		/* nothing, or not enough */
	ETCH_USER_PACKET_FULL,	/* as much as there is room for */
	ETCH_USER_WANTED,	/* it is wanted, however much it is */
};

struct etch_user_reader;

#ifdef CONFIG_ETCH_USER
int etch_user_reader_make(struct etch_user_reader **reader, struct etch_instance *inst, int first,
			  unsigned int nr, bool take);
void etch_user_reader_free(struct etch_user_reader *r);
int etch_user_begin(struct etch_user_reader *r);
const struct etch_user_item *etch_user_first(struct etch_user_reader *r);
unsigned int etch_user_run(struct etch_user_reader *r, u64 until, unsigned int *bytes);
void etch_user_next(struct etch_user_reader *r);
void etch_user_end(struct etch_user_reader *r);
bool etch_user_present(const struct etch_user_reader *r);
u64 etch_user_safe(const struct etch_user_reader *r);
bool etch_user_empty(const struct etch_instance *inst, int first, unsigned int nr);
bool etch_user_reached(const struct etch_instance *inst, int first, unsigned int nr);
enum etch_user_fill etch_user_fills(const struct etch_instance *inst, int cpu);
void etch_user_flush(struct etch_instance *inst, int cpu);
struct etch_user_tail *etch_user_tail(struct etch_instance *inst, int cpu);
u64 etch_user_close(struct etch_user_reader *r);
#else
static inline int etch_user_reader_make(struct etch_user_reader **reader,
					struct etch_instance *inst, int first, unsigned int nr,
					bool take)
{
	*reader = NULL;
	return 0;
}

static inline void etch_user_reader_free(struct etch_user_reader *r) {}

static inline int etch_user_begin(struct etch_user_reader *r)
{
	return 0;
}

static inline const struct etch_user_item *etch_user_first(struct etch_user_reader *r)
{
	return NULL;
}

static inline void etch_user_next(struct etch_user_reader *r) {}
static inline void etch_user_end(struct etch_user_reader *r) {}

static inline bool etch_user_present(const struct etch_user_reader *r)
{
	return false;
}

static inline u64 etch_user_safe(const struct etch_user_reader *r)
{
	return 0;
}

static inline bool etch_user_empty(const struct etch_instance *inst, int first, unsigned int nr)
{
	return true;
}

static inline bool etch_user_reached(const struct etch_instance *inst, int first,
				     unsigned int nr)
{
	return false;
}

static inline void etch_user_flush(struct etch_instance *inst, int cpu) {}
#endif

#endif /* _KERNEL_ETCH_USER_READER_H */
