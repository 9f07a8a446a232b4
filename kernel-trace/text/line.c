// SPDX-License-Identifier: GPL-2.0
/*
 * One record as one line of text, in the shape that ftrace gives its lines.
 *
 *	            bash-1234    [001] ..s..   12.345678: event: what it says
 *
 * The part in front is made here, the text behind the event's name by the
 * event's own printer, which TP_printk() expands into. The printer gets a copy
 * of the record, for three reasons: it reads it as a struct, which must be
 * aligned as the compiler thinks it is; whatever it reads past the end of the
 * record must be there, and zero, so that a string that lacks its end has one;
 * and pointers in it may need to be changed.
 *
 * Printers trust the lengths that they find in a record. A writer that an oops killed leaves
 * fields of an older record behind, and a dump may copy a record while another CPU
 * overwrites it. So no length leads a printer out of the copy:
 *
 *	words of dynamic fields	checked by etch_class_len(); without content they may say
 *				any place, so etch_guard_words() moves that to the end
 *	__print_array(),	the verbs in printer.h ask etch_text_fit() for how many
 *	__print_hex() and kin	elements are there
 *	%*ph			prints ETCH_LINE_TAIL bytes at most
 *	%s, %.*s, %pIS		end in the zeroes
 *
 * A pointer to a string is as old as the record. The string may be gone, and a
 * printer that follows it reads whatever is there now, or nothing. So before a
 * printer runs, each such pointer that does not lead into memory which is
 * there for as long as we print is made to point to a text that says so.
 *
 * An event whose module has gone leaves its descriptors but no printer. Then the
 * fields are printed by what the descriptors say of them.
 */

#include <linux/export.h>
#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rwsem.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/trace_seq.h>

#include <asm/sections.h>

#include "event/contexts.h"
#include "text/contexts.h"
#include "text/merge.h"
#include "text/text.h"

/* The copy of a record: what most need, and the zeroes behind it: as many as %*ph prints. */
#define ETCH_LINE_RECORD	512
#define ETCH_LINE_TAIL		64

static const char etch_unsafe_string[] = "(unsafe string)";

/**
 * etch_line_init() - get memory to print records with
 * @line: to be initialised
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM. etch_line_free() frees.
 */
int etch_line_init(struct etch_line *line)
{
	trace_seq_init(&line->text.seq);
	trace_seq_init(&line->text.tmp);
	line->nowait = false;
	line->size = ETCH_LINE_RECORD;
	line->record = kvmalloc(line->size, GFP_KERNEL);
	return line->record ? 0 : -ENOMEM;
}

/**
 * etch_line_free() - free what etch_line_init() got
 * @line: initialised, even if without success
 */
void etch_line_free(struct etch_line *line)
{
	kvfree(line->record);
	line->record = NULL;
}

/* ---- How long a record is ---- */

static enum etch_context etch_head_context(const struct etch_head *head)
{
	return head->word >> ETCH_CONTEXT_SHIFT;
}

/* ---- The printer's copy ---- */

/**
 * etch_line_fit() - have room for a record
 * @line: initialised
 * @len: bytes of it
 *
 * Context: process, may sleep; any, if line->nowait.
 * Return: true; false if there is no memory.
 */
bool etch_line_fit(struct etch_line *line, unsigned int len)
{
	unsigned int size = roundup_pow_of_two(len + ETCH_LINE_TAIL);
	void *more;

	if (len + ETCH_LINE_TAIL <= line->size)
		return true;
	more = line->nowait ? NULL : kvmalloc(size, GFP_KERNEL);
	if (!more)
		return false;
	kvfree(line->record);
	line->record = more;
	line->size = size;
	return true;
}

static bool etch_line_copy(struct etch_line *line, const void *record, unsigned int len)
{
	if (!etch_line_fit(line, len))
		return false;
	memcpy(line->record, record, len);
	memset(line->record + len, 0, ETCH_LINE_TAIL);
	line->text.record = line->record;
	line->text.end = line->record + len;
	return true;
}

/* A dynamic field without content may say any place: make it the end of the copy. */
static void etch_guard_words(void *record, unsigned int len, const struct etch_class *class)
{
	const struct etch_field *field = class->fields;
	const struct etch_field *last = field + class->nr_fields;

	for (; field < last; field++) {
		unsigned int start;
		u32 *word;

		if (!etch_is_dynamic(field) || etch_dynamic_content(field, record, &start) ||
		    start <= len)
			continue;
		word = record + field->offset;
		*word = len;
		if (field->kind == ETCH_FIELD_REL_LOC)
			*word -= field->offset + sizeof(*word);
	}
}

/*
 * Is a string that was at @addr when the record was written still there? Yes in
 * the kernel's own data, and in the module that the event is of: that one stays
 * for as long as we hold etch_event_sem, because its events leave first.
 */
static bool etch_string_stays(unsigned long addr, const struct etch_event *event)
{
	return is_kernel_rodata(addr) || is_kernel_core_data(addr) ||
	       (event->mod && within_module_core(addr, event->mod));
}

/* Printers know what to do with NULL, and some look for it. */
static void etch_guard_strings(void *record, const struct etch_event *event)
{
	const struct etch_class *class = event->class;
	const struct etch_field *field = class->fields;
	const struct etch_field *last = field + class->nr_fields;

	for (; field < last; field++) {
		const char *string;

		if (!field->is_pointer || !field->is_string ||
		    field->kind != ETCH_FIELD_FIXED || field->size != sizeof(string))
			continue;
		memcpy(&string, record + field->offset, sizeof(string));
		if (!string || etch_string_stays((unsigned long)string, event))
			continue;
		string = etch_unsafe_string;
		memcpy(record + field->offset, &string, sizeof(string));
	}
}

/* ---- Printing by descriptors ---- */

static void etch_print_number(struct trace_seq *seq, const void *at, unsigned int size,
			      bool is_signed)
{
	u64 u = 0;

	/* The base is little endian: the low bytes come first. */
	memcpy(&u, at, size);
	if (is_signed)
		trace_seq_printf(seq, "%lld", sign_extend64(u, size * BITS_PER_BYTE - 1));
	else
		trace_seq_printf(seq, "%llu", u);
}

/* Prints an element that is no number byte by byte. */
static void etch_print_element(struct trace_seq *seq, const struct etch_field *field,
			       const void *at, unsigned int size)
{
	switch (size) {
	case 1:
	case 2:
	case 4:
	case 8:
		etch_print_number(seq, at, size, field->is_signed);
		break;
	default:
		trace_seq_printf(seq, "%*phN", (int)size, at);
	}
}

static void etch_print_array(struct trace_seq *seq, const struct etch_field *field,
			     const void *at, unsigned int bytes)
{
	unsigned int size = field->elem_size ?: 1;
	unsigned int i;

	if (field->is_string && size == 1) {
		trace_seq_printf(seq, "%.*s", (int)bytes, (const char *)at);
		return;
	}
	trace_seq_putc(seq, '{');
	for (i = 0; i + size <= bytes; i += size) {
		if (i)
			trace_seq_putc(seq, ',');
		etch_print_element(seq, field, at + i, size);
	}
	trace_seq_putc(seq, '}');
}

static void etch_print_pointer(struct trace_seq *seq, const struct etch_field *field,
			       const void *at)
{
	const void *pointer;

	memcpy(&pointer, at, sizeof(pointer));
	if (field->is_string)
		trace_seq_printf(seq, "%s", (const char *)pointer);
	else
		trace_seq_printf(seq, "%p", pointer);
}

static void etch_print_field(struct trace_seq *seq, const struct etch_field *field,
			     const void *record)
{
	unsigned int start = field->offset;
	unsigned int bytes = field->size;

	trace_seq_printf(seq, " %s=", field->name);
	if (etch_is_dynamic(field)) {
		bytes = etch_dynamic_content(field, record, &start);
		etch_print_array(seq, field, record + start, bytes);
	} else if (field->kind == ETCH_FIELD_ARRAY) {
		etch_print_array(seq, field, record + start, bytes);
	} else if (bytes == sizeof(void *) && (field->is_pointer || strchr(field->type, '*'))) {
		etch_print_pointer(seq, field, record + start);
	} else {
		etch_print_element(seq, field, record + start, bytes);
	}
}

static void etch_print_fields(struct trace_seq *seq, const struct etch_event *event,
			      const void *record)
{
	int i;

	trace_seq_printf(seq, "%s:", event->name);
	for (i = 0; i < event->class->nr_fields; i++)
		etch_print_field(seq, &event->class->fields[i], record);
	trace_seq_putc(seq, '\n');
}

/* ---- The line ---- */

/* Microseconds since boot, or whatever the clock counts. */
static void etch_print_time(struct trace_seq *seq, enum etch_clock clock, u64 time)
{
	u32 usecs;
	u64 secs;

	if (!etch_clock_in_ns(clock)) {
		trace_seq_printf(seq, " %12llu: ", time);
		return;
	}
	time = div_u64(etch_clock_to_ns(clock, time), NSEC_PER_USEC);
	secs = div_u64_rem(time, USEC_PER_SEC, &usecs);
	trace_seq_printf(seq, " %5llu.%06u: ", secs, usecs);
}

/*
 * ftrace has five columns of flags: interrupts off, need resched, context, and two
 * counts. A record of ours knows the context; it knows the others if its instance adds
 * them, and else they show as ftrace shows nothing.
 */
static void etch_print_front(struct etch_line *line, enum etch_clock clock,
			     const struct etch_contexts *contexts, int cpu, u64 time,
			     const struct etch_head *head)
{
	static const char levels[] = {
		[ETCH_TASK]	= '.',
		[ETCH_SOFTIRQ]	= 's',
		[ETCH_HARDIRQ]	= 'h',
		[ETCH_NMI]	= 'z',
	};
	struct trace_seq *seq = &line->text.seq;
	char comm[TASK_COMM_LEN], columns[ETCH_COLUMNS] = ".....";

	if (!etch_contexts_columns(contexts, head, columns))
		columns[2] = levels[etch_head_context(head)];
	etch_comm_find(head->pid, comm);
	trace_seq_printf(seq, "%16s-%-7d [%03d] %s", comm, head->pid, cpu, columns);
	etch_print_time(seq, clock, time);
}

/*
 * The event's name and text. Under etch_event_sem, or as etch_event_by_id_nowait() wants
 * it. The copy is what is looked at: in a dump the record may change.
 */
static void etch_print_event(struct etch_line *line, const struct etch_event *event,
			     unsigned int id, const void *record, unsigned int len)
{
	struct trace_seq *seq = &line->text.seq;

	if (!event) {
		trace_seq_printf(seq, "id %u: unknown event, %u bytes\n", id, len);
		return;
	}
	if (!etch_line_copy(line, record, len)) {
		trace_seq_printf(seq, "%s: [etch: no memory to print %u bytes]\n",
				 event->name, len);
		return;
	}
	if (etch_class_len(event->class, line->record, len) == 0) {
		trace_seq_printf(seq, "%s: [etch: the record does not fit the event]\n",
				 event->name);
		return;
	}
	etch_guard_words(line->record, len, event->class);
	etch_guard_strings(line->record, event);
	if (!event->class->print) {
		etch_print_fields(seq, event, line->record);
		return;
	}
	if (!event->class->nameless)
		trace_seq_printf(seq, "%s: ", event->name);
	trace_seq_init(&line->text.tmp);
	event->class->print(&line->text, line->record);
}

/* A line longer than an empty sequence takes will never fit: keep its front. */
static void etch_line_cut(struct trace_seq *seq, size_t front)
{
	seq->seq.len = front;
	seq->full = 0;
	trace_seq_puts(seq, "[LINE TOO BIG]\n");
}

/**
 * etch_line_print() - append a record's line to line->text.seq
 * @line: with text in it, or without
 * @clock: tells what @time means
 * @contexts: of the record, between its head and its payload; or NULL
 * @cpu: the CPU that it was written on
 * @time: its time in full
 * @record: the record, aligned to 4 bytes
 * @len: its bytes, from etch_record_len()
 *
 * If there is not enough room, nothing is appended and the sequence is marked as
 * overflown (trace_seq_has_overflowed()), unless it was empty: then what does not
 * fit is replaced by a note.
 *
 * Context: process, may sleep; takes etch_event_sem for reading. If line->nowait: any, NMI
 * included; an RCU reader; etch_clock_learn_now() was called.
 */
void etch_line_print(struct etch_line *line, enum etch_clock clock,
		     const struct etch_contexts *contexts, int cpu, u64 time,
		     const void *record, unsigned int len)
{
	unsigned int id = etch_head_id(record), more = etch_contexts_size(contexts);
	struct trace_seq *seq = &line->text.seq;
	size_t before = seq->seq.len, front;

	etch_print_front(line, clock, contexts, cpu, time, record);
	front = seq->seq.len;

	if (line->nowait) {
		etch_print_event(line, etch_event_by_id_nowait(id), id, record + more, len - more);
	} else {
		down_read(&etch_event_sem);
		etch_print_event(line, etch_event_by_id(id), id, record + more, len - more);
		up_read(&etch_event_sem);
	}
	etch_contexts_print(seq, contexts, record);

	if (likely(!trace_seq_has_overflowed(seq)))
		return;
	if (before)
		seq->seq.len = before;
	else
		etch_line_cut(seq, front);
}

/**
 * etch_item_print() - append an item to line->text.seq
 * @line: with text in it, or without
 * @item: the item
 *
 * As etch_line_print(). Also says how many records are missing, or that a record is damaged.
 *
 * Context: as etch_line_print().
 */
void etch_item_print(struct etch_line *line, const struct etch_item *item)
{
	struct trace_seq *seq = &line->text.seq;
	size_t before = seq->seq.len, noted;

	if (item->lost)
		trace_seq_printf(seq, "CPU:%d [LOST %llu EVENTS]\n", item->cpu, item->lost);
	noted = seq->seq.len;
	if (!item->record)
		return;
	if (item->len)
		etch_line_print(line, item->clock, item->contexts, item->cpu, item->time,
				item->record, item->len);
	else
		trace_seq_printf(seq, "CPU:%d [etch: %s, %u bytes skipped]\n", item->cpu,
				 line->nowait ? "record that makes no sense" :
				 etch_record_known(item->record, item->skip) ?
				 "damaged record" : "record of an unknown event",
				 item->skip);
	if (likely(!trace_seq_has_overflowed(seq)))
		return;
	seq->seq.len = before;
	/* A line that fits in an empty sequence, but not behind the note. */
	if (!before && noted) {
		seq->seq.len = noted;
		seq->full = 0;
		trace_seq_puts(seq, "[LINE TOO BIG]\n");
	}
}
