// SPDX-License-Identifier: GPL-2.0
/*
 * The contexts of a record (event/contexts.h) in its line.
 *
 *	bash-1234    [001] d..2.   12.345678: event: what it says {prio=120 cgroup=57}
 *	<kernel stack>
 *	 => schedule
 *
 * The flags have the five columns that ftrace gives them. Other numbers follow the event's text,
 * and stacks follow the line.
 */
#include <linux/etch.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>
#include <linux/unaligned.h>

#include "event/contexts.h"
#include "event/stack.h"
#include "text/contexts.h"

/* ---- Flags ---- */

static char etch_flag_irqs(u8 flags)
{
	if (flags & TRACE_FLAG_IRQS_OFF)
		return flags & TRACE_FLAG_BH_OFF ? 'D' : 'd';
	return flags & TRACE_FLAG_BH_OFF ? 'b' : '.';
}

static char etch_flag_resched(u8 flags)
{
	if (flags & TRACE_FLAG_NEED_RESCHED)
		return flags & TRACE_FLAG_PREEMPT_RESCHED ? 'N' : 'n';
	return flags & TRACE_FLAG_PREEMPT_RESCHED ? 'p' : '.';
}

static char etch_flag_level(u8 flags)
{
	if (flags & TRACE_FLAG_NMI)
		return flags & TRACE_FLAG_HARDIRQ ? 'Z' : 'z';
	if (flags & TRACE_FLAG_HARDIRQ)
		return flags & TRACE_FLAG_SOFTIRQ ? 'H' : 'h';
	return flags & TRACE_FLAG_SOFTIRQ ? 's' : '.';
}

/* One digit: f also stands for more. */
static char etch_flag_count(unsigned int count)
{
	return count ? "0123456789abcdef"[min(count, 15U)] : '.';
}

/**
 * etch_contexts_columns() - the columns of flags
 * @c: the contexts; may be NULL
 * @record: the record
 * @columns: room for them and a zero
 *
 * Context: any.
 * Return: true, and @columns; false if the contexts have no flags.
 */
bool etch_contexts_columns(const struct etch_contexts *c, const void *record,
			   char columns[ETCH_COLUMNS])
{
	const u8 *at = NULL;
	unsigned int i;

	for (i = 0; c && i < c->nr; i++)
		if (c->of[i].kind == ETCH_CONTEXT_FLAGS)
			at = record + c->of[i].offset;
	if (!at)
		return false;
	columns[0] = etch_flag_irqs(at[0]);
	columns[1] = etch_flag_resched(at[0]);
	columns[2] = etch_flag_level(at[0]);
	columns[3] = etch_flag_count(at[1]);
	columns[4] = etch_flag_count(get_unaligned((const u16 *)(at + 2)));
	columns[5] = '\0';
	return true;
}

/* ---- Numbers and stacks ---- */

static void etch_context_numbers(struct trace_seq *seq, const struct etch_contexts *c,
				 const void *record)
{
	const char *before = " {";
	unsigned int i;

	for (i = 0; i < c->nr; i++) {
		const void *at = record + c->of[i].offset;

		if (c->of[i].kind == ETCH_CONTEXT_PRIO)
			trace_seq_printf(seq, "%sprio=%d", before, get_unaligned((const s32 *)at));
		else if (c->of[i].kind == ETCH_CONTEXT_CGROUP)
			trace_seq_printf(seq, "%scgroup=%llu", before,
					 get_unaligned((const u64 *)at));
		else if (c->of[i].kind == ETCH_CONTEXT_LATENCY)
			trace_seq_printf(seq, "%slatency=%llu", before,
					 get_unaligned((const u64 *)at));
		else if (c->of[i].kind == ETCH_CONTEXT_PERF)
			trace_seq_printf(seq, "%s%s=%llu", before,
					 etch_context_counter(c, &c->of[i])->spec.name,
					 get_unaligned((const u64 *)at));
		else
			continue;
		before = " ";
	}
	if (before[1] != '{')
		trace_seq_putc(seq, '}');
}

static void etch_context_stack(struct trace_seq *seq, const struct etch_context_of *of,
			       const void *at)
{
	bool user = of->kind == ETCH_CONTEXT_USTACK;
	const unsigned long *callers = at;
	long i, nr = 0;

	while (nr < of->depth && get_unaligned(callers + nr))
		nr++;
	if (nr)
		trace_seq_printf(seq, "<%s stack>\n", user ? "user" : "kernel");
	for (i = user ? 0 : etch_stack_skip(at, nr); i < nr; i++) {
		unsigned long caller = get_unaligned(callers + i);

		if (user)
			trace_seq_printf(seq, " => <%016lx>\n", caller);
		else
			trace_seq_printf(seq, " => %ps\n", (void *)caller);
	}
}

/**
 * etch_contexts_print() - append what stands behind the event's text
 * @seq: has the record's line, with the newline at its end
 * @c: the contexts; may be NULL
 * @record: the record
 *
 * Context: any.
 */
void etch_contexts_print(struct trace_seq *seq, const struct etch_contexts *c,
			 const void *record)
{
	unsigned int i;

	if (!c || trace_seq_has_overflowed(seq))
		return;
	if (seq->seq.len && seq->buffer[seq->seq.len - 1] == '\n')
		seq->seq.len--;
	etch_context_numbers(seq, c, record);
	trace_seq_putc(seq, '\n');
	for (i = 0; i < c->nr; i++)
		if (etch_context_is_stack(c->of[i].kind))
			etch_context_stack(seq, &c->of[i], record + c->of[i].offset);
}
