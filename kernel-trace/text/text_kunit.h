/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_TEXT_KUNIT_H
#define _KERNEL_ETCH_TEXT_KUNIT_H

/*
 * What the tests of lines (text_kunit.c) and those of the merge (merge_kunit.c) share: how a
 * field is described, and a record that is a number.
 */

#include <linux/etch.h>
#include <linux/types.h>

#define ETCH_TEST_FIELD(_type, _name, _kind, _size, _elem, _align, ...)	\
	{								\
		.type = _type, .name = _name, .kind = _kind,		\
		.size = _size, .elem_size = _elem, .align = _align,	\
		__VA_ARGS__						\
	}

struct etch_test_number {
	struct etch_head head;
	u32 number;
} __packed __aligned(4);

static inline u64 etch_test_word(const struct etch_event *event, u64 time,
				 enum etch_context context)
{
	return (time & ETCH_TIME_MASK) | (u64)event->id << ETCH_TIME_BITS |
	       (u64)context << ETCH_CONTEXT_SHIFT;
}

#endif /* _KERNEL_ETCH_TEXT_KUNIT_H */
