/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_KEYS_H
#define _KERNEL_ETCH_KEYS_H

/*
 * What histograms take from records: the fields of their keys, and the numbers that they add up.
 */

#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "event/context.h"
#include "event/program.h"
#include "hist/table.h"

#define ETCH_HIST_KEYS		3
#define ETCH_HIST_TEXT		64	/* bytes of a text that a key keeps */
#define ETCH_HIST_STACK		24	/* addresses of a stack trace that it keeps */

/**
 * enum etch_hist_from - where a field's value comes from, if it is not enum etch_operand
 * @ETCH_FROM_STACK: the functions that called the event
 * @ETCH_FROM_HITS: the hits, as a value
 */
enum etch_hist_from {
	ETCH_FROM_STACK = ETCH_OF_CGROUP + 1,
	ETCH_FROM_HITS,
};

/**
 * enum etch_hist_as - how a field is counted and shown
 * @ETCH_AS_IS: by its value
 * @ETCH_AS_HEX: shown as a hexadecimal number
 * @ETCH_AS_SYM: as a symbol
 * @ETCH_AS_SYM_OFFSET: as a symbol and an offset
 * @ETCH_AS_EXECNAME: with the name of the task
 * @ETCH_AS_SYSCALL: as the name of a system call
 * @ETCH_AS_LOG2: counted by the power of two that is not less
 * @ETCH_AS_BUCKETS: counted by ranges
 * @ETCH_AS_PERCENT: shown as a part of the whole
 * @ETCH_AS_GRAPH: as a bar
 */
enum etch_hist_as {
	ETCH_AS_IS,
	ETCH_AS_HEX,
	ETCH_AS_SYM,
	ETCH_AS_SYM_OFFSET,
	ETCH_AS_EXECNAME,
	ETCH_AS_SYSCALL,
	ETCH_AS_LOG2,
	ETCH_AS_BUCKETS,
	ETCH_AS_PERCENT,
	ETCH_AS_GRAPH,
};

/**
 * struct etch_hist_field - a field of a key, or a value
 * @of: enum etch_operand or enum etch_hist_from
 * @as: enum etch_hist_as
 * @is_signed: it is a signed number
 * @is_text: it is characters
 * @relative: the place of a dynamic field counts from the end of the word that has it
 * @at: its first word in the key
 * @words: how many; 1 for a number
 * @offset: in the record
 * @most: bytes of a text in the record, the index of an element, or the bit of an instance, as
 *	  struct etch_test_of has it
 * @mask: the bits of a number
 * @sign: of these, that of its sign; or 0
 * @buckets: ETCH_AS_BUCKETS: numbers in a range
 * @name: as the user wrote it
 */
struct etch_hist_field {
	u8 of;
	u8 as;
	bool is_signed;
	bool is_text;
	bool relative;
	u8 at;
	u8 words;
	u16 offset;
	u16 most;
	u64 mask;
	u64 sign;
	unsigned long buckets;
	char *name;
};

u64 etch_hist_far_number(const struct etch_hist_field *f, const void *record);
void etch_hist_key(const struct etch_hist_field *fields, unsigned int nr, const void *record,
		   u64 *key);

static __always_inline u64 etch_hist_cut(const struct etch_hist_field *f, u64 bytes)
{
	return ((bytes & f->mask) ^ f->sign) - f->sign;
}

/* The number of a field that is at a fixed place of the record. */
static __always_inline u64 etch_hist_plain(const struct etch_hist_field *f, const void *record)
{
	return etch_hist_cut(f, get_unaligned((const u64 *)(record + f->offset)));
}

/**
 * etch_hist_value() - the number that a field has
 * @f: a field of numbers
 * @record: complete, but for its time; with eight bytes of memory behind it
 *
 * Context: any, NMI included, in the task and on the CPU that made the record, preemption
 * disabled.
 * Return: the number; 0 if it is that of an element which the record's array has not got, or of
 * a latency where the hit has ended none.
 */
static __always_inline u64 etch_hist_value(const struct etch_hist_field *f, const void *record)
{
	if (likely(f->of == ETCH_OF_FIELD))
		return etch_hist_plain(f, record);
	return etch_hist_far_number(f, record);
}

/* The word that a number has in the key. */
static __always_inline u64 etch_hist_word(const struct etch_hist_field *f, u64 number)
{
	if (likely(f->as < ETCH_AS_LOG2))
		return number;
	if (f->as == ETCH_AS_LOG2)
		return number > 1 ? fls64(number - 1) : 0;
	if (f->is_signed && (s64)number < 0)
		return number - (u64)((s64)number % (s64)f->buckets + (s64)f->buckets) %
				f->buckets;
	return number - number % f->buckets;
}

#endif /* _KERNEL_ETCH_KEYS_H */
