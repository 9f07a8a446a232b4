/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_ETCH_TEXT_H
#define _KERNEL_ETCH_TEXT_H

/*
 * Records as text: trace, trace_pipe, and the console of a kernel that dies.
 */

#include "tree/tree.h"

struct etch_contexts;
struct etch_item;

struct etch_line {
	struct etch_text text;
	void *record;		/* aligned copy, so that printers may read it as a struct */
	unsigned int size;	/* of @record's memory */
	bool nowait;		/* in a dump: no lock is waited for, no memory asked for */
};

int etch_line_init(struct etch_line *line);
void etch_line_free(struct etch_line *line);
bool etch_line_fit(struct etch_line *line, unsigned int len);

/*
 * Appends the record to line->text.seq, shaped as ftrace shapes it. Takes etch_event_sem,
 * unless line->nowait.
 */
void etch_line_print(struct etch_line *line, enum etch_clock clock,
		     const struct etch_contexts *contexts, int cpu, u64 time,
		     const void *record, unsigned int len);

/* Appends an item to line->text.seq. Without enough room it marks an overflow, appends nothing. */
void etch_item_print(struct etch_line *line, const struct etch_item *item);

extern const struct file_operations etch_trace_fops, etch_pipe_fops;

/* ---- dump.c: the console of a kernel that dies ---- */

void etch_dump_show(struct seq_file *m, const struct etch_view_of *of);
int etch_dump_store(const struct etch_input *in);

#endif /* _KERNEL_ETCH_TEXT_H */
