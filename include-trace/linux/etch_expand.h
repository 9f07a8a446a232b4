/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_ETCH_EXPAND_H
#define _LINUX_ETCH_EXPAND_H

/*
 * What the expansions of an event header (include/trace/etch/) call and cannot
 * say as macros. But for etch_write_end_quick(), which the framework's own writers call, too,
 * nothing here is for anybody else.
 */

#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/etch.h>
#include <linux/etch_ring_write.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/types.h>

#define etch_is_char(type)						\
	(__same_type(type, char) || __same_type(type, const char))

#define etch_is_string_pointer(type)					\
	(__same_type(type, char *) || __same_type(type, const char *))

/* More bytes than a sub-buffer can have. */
#define ETCH_FITS_NOWHERE	SZ_16M

/*
 * Places @len bytes behind @end, aligned to @align, and puts the word for them
 * into @word: the offset from @base, and the length. If one of them does not fit its half
 * of the word, the record is given a length that fits nowhere, and is lost as too big. Then
 * the word is never looked at, which the compiler cannot know.
 */
static __always_inline void etch_dynamic(unsigned int *end, u32 *word,
					 unsigned int align, size_t len,
					 unsigned int base)
{
	unsigned int start = ALIGN(*end, align);

	if (unlikely(len > U16_MAX || start + len > U16_MAX)) {
		*word = 0;
		*end = ETCH_FITS_NOWHERE;
		return;
	}
	*word = (start - base) | (u32)len << 16;
	*end = start + len;
}

/* etch_write_end(), in line for the case that nearly all are. */
static __always_inline void etch_write_end_quick(struct etch_ring *ring)
{
	if (unlikely(!etch_ring_commit_quick(ring)))
		etch_write_end(ring);
}

#endif /* _LINUX_ETCH_EXPAND_H */
