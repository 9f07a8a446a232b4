/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_TEXT_CONTEXTS_H
#define _KERNEL_ETCH_TEXT_CONTEXTS_H

/* The contexts of a record, in its line. */

#include <linux/types.h>

struct etch_contexts;
struct trace_seq;

#define ETCH_COLUMNS	6	/* five flags, and a zero */

bool etch_contexts_columns(const struct etch_contexts *c, const void *record,
			   char columns[ETCH_COLUMNS]);
void etch_contexts_print(struct trace_seq *seq, const struct etch_contexts *c,
			 const void *record);

#endif /* _KERNEL_ETCH_TEXT_CONTEXTS_H */
