// SPDX-License-Identifier: GPL-2.0
/*
 * What histograms take from records: see keys.h.
 *
 * The record is complete, as a serializer leaves it, and offsets and lengths are those of its own
 * class, so nothing is checked.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "hist/keys.h"

/* What a dynamic field has, and how many bytes of it there are. */
static const void *etch_hist_content(const struct etch_hist_field *f, const void *record,
				     unsigned int *bytes)
{
	u32 loc = get_unaligned((const u32 *)(record + f->offset));

	*bytes = loc >> 16;
	return record + (loc & 0xffff) + (f->relative ? f->offset + sizeof(loc) : 0);
}

static u64 etch_hist_element(const struct etch_hist_field *f, const void *record)
{
	unsigned int size = hweight64(f->mask) / BITS_PER_BYTE, at = f->most * size, bytes;
	const void *elements = etch_hist_content(f, record, &bytes);

	if (at + size > bytes)
		return 0;
	return etch_hist_cut(f, get_unaligned((const u64 *)(elements + at)));
}

/**
 * etch_hist_far_number() - the number of a field that is at no fixed place of the record
 * @f: the field
 * @record: as for etch_hist_value()
 *
 * Context: as there.
 * Return: as there.
 */
u64 etch_hist_far_number(const struct etch_hist_field *f, const void *record)
{
	u64 number = 0;

	if (f->of == ETCH_OF_ELEMENT)
		return etch_hist_element(f, record);
	if (!etch_is_latency(f->of))
		return etch_number_now(f->of);
	etch_latency_now(f->of, f->most, &number);
	return number;
}

/* The characters of a text, as many as the key keeps, and zeroes behind them. */
static void etch_hist_text(const struct etch_hist_field *f, const void *record, char *to)
{
	unsigned int room = f->words * sizeof(u64), bytes = f->most;
	const char *text = record + f->offset;

	if (f->of == ETCH_OF_COMM) {
		text = current->comm;
		bytes = TASK_COMM_LEN;
	} else if (f->of == ETCH_OF_DYNAMIC) {
		text = etch_hist_content(f, record, &bytes);
	}
	memset(to, 0, room);
	memcpy(to, text, strnlen(text, min(room, bytes)));
}

/* The same of a text to which the record points. Nothing, if it cannot be read. */
static void etch_hist_far_text(const struct etch_hist_field *f, const void *record, char *to)
{
	const void *at = record + f->offset;
	unsigned int room = f->words * sizeof(u64);
	long len;

	if (f->of == ETCH_OF_POINTER)
		len = strncpy_from_kernel_nofault(to, get_unaligned((const void **)at), room);
	else
		len = strncpy_from_user_nofault(to, get_unaligned((const void __user **)at), room);
	len = clamp(len, 0L, (long)room);
	memset(to + len, 0, room - len);
}

static void etch_hist_stack(u64 *to)
{
	unsigned int nr = 0;

#ifdef CONFIG_STACKTRACE
	/* Etch's own functions are the first ones. */
	nr = stack_trace_save((unsigned long *)to, ETCH_HIST_STACK, 0);
#endif
	memset(to + nr, 0, (ETCH_HIST_STACK - nr) * sizeof(*to));
}

static void etch_hist_key_field(const struct etch_hist_field *f, const void *record, u64 *to)
{
	if (f->of == ETCH_FROM_STACK)
		etch_hist_stack(to);
	else if (!f->is_text)
		*to = etch_hist_word(f, etch_hist_value(f, record));
	else if (f->of == ETCH_OF_POINTER || f->of == ETCH_OF_USER)
		etch_hist_far_text(f, record, (char *)to);
	else
		etch_hist_text(f, record, (char *)to);
}

/**
 * etch_hist_key() - put the key of a record together
 * @fields: the fields of the key
 * @nr: how many
 * @record: as for etch_hist_value()
 * @key: room for all their words
 *
 * Context: as there.
 */
void etch_hist_key(const struct etch_hist_field *fields, unsigned int nr, const void *record,
		   u64 *key)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		etch_hist_key_field(&fields[i], record, key + fields[i].at);
}
