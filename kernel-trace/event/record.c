// SPDX-License-Identifier: GPL-2.0
/*
 * What a record is: whose it is, and where it ends.
 */
#include <linux/etch.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/rwsem.h>
#include <linux/stdarg.h>
#include <linux/trace_seq.h>

#include "event/event.h"

/**
 * etch_text_printf() - what printers write with
 * @text: where to
 * @fmt: a format of printk's
 *
 * Text that does not fit is left out, and the sequence is marked as overflown.
 */
void etch_text_printf(struct etch_text *text, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	trace_seq_vprintf(&text->seq, fmt, ap);
	va_end(ap);
}
EXPORT_SYMBOL_GPL(etch_text_printf);

/**
 * etch_text_fit() - how much of an array a printer may read
 * @text: the printer's
 * @at: where the array begins
 * @nr: how many elements the printer wants
 * @size: bytes of an element; at least 1
 *
 * Context: in a printer.
 * Return: @nr, or as many as there are from @at to the record's end if these are fewer. 0 if
 * @nr is negative or @at does not lie in the record.
 */
long etch_text_fit(const struct etch_text *text, const void *at, long nr, size_t size)
{
	if (at < text->record || at > text->end)
		return 0;
	return clamp(nr, 0L, (long)((text->end - at) / size));
}
EXPORT_SYMBOL_GPL(etch_text_fit);

/* Where the content of a dynamic field is; returns its bytes. */
unsigned int etch_dynamic_content(const struct etch_field *field, const void *record,
				  unsigned int *start)
{
	u32 loc = *(const u32 *)(record + field->offset);

	*start = loc & 0xffff;
	if (field->kind == ETCH_FIELD_REL_LOC)
		*start += field->offset + sizeof(loc);
	return loc >> 16;
}

/*
 * The end of the content that lies last; of one without any, the payload's. 0 if
 * some of it is not behind the payload, or not within @left.
 */
unsigned int etch_class_len(const struct etch_class *class, const void *record,
			    unsigned int left)
{
	const struct etch_field *field = class->fields;
	const struct etch_field *last = field + class->nr_fields;
	unsigned int end = class->size, start, len;

	if (end > left)
		return 0;
	for (; field < last; field++) {
		if (!etch_is_dynamic(field))
			continue;
		len = etch_dynamic_content(field, record, &start);
		if (!len)
			continue;
		if (start < class->size || start + len > left)
			return 0;
		end = max(end, start + len);
	}
	return end;
}

/* The same for a record whose contexts have @more bytes: they do not count with the class. */
static unsigned int etch_event_len(const struct etch_event *event, const void *record,
				   unsigned int left, unsigned int more)
{
	unsigned int len = event ? etch_class_len(event->class, record + more, left - more) : 0;

	return len ? len + more : 0;
}

/**
 * etch_record_len() - where a record ends
 * @record: the record, aligned to 4 bytes
 * @left: bytes from there to the end of the block's content
 * @more: bytes of contexts that it has
 *
 * After this has succeeded all that the record's fields refer to is inside it.
 *
 * Context: process; takes etch_event_sem for reading.
 * Return: bytes, head included. 0 if this cannot be a record: it does not end within
 * @left, or its content does not lie where it should, or nobody knows its id.
 */
unsigned int etch_record_len(const void *record, unsigned int left, unsigned int more)
{
	unsigned int len;

	if (left < sizeof(struct etch_head) + more)
		return 0;

	down_read(&etch_event_sem);
	len = etch_event_len(etch_event_by_id(etch_head_id(record)), record, left, more);
	up_read(&etch_event_sem);
	return len;
}

/**
 * etch_record_len_nowait() - etch_record_len() that waits for nobody
 * @record: as there
 * @left: as there
 * @more: as there
 *
 * Context: any, NMI included; an RCU reader.
 * Return: as there.
 */
unsigned int etch_record_len_nowait(const void *record, unsigned int left, unsigned int more)
{
	if (left < sizeof(struct etch_head) + more)
		return 0;
	return etch_event_len(etch_event_by_id_nowait(etch_head_id(record)), record, left, more);
}

/**
 * etch_record_known() - is there an event with the record's id?
 * @record: aligned to 4 bytes
 * @left: bytes from there to the end of the block's content
 *
 * If so, and etch_record_len() is 0, something is broken. If not, it may be that
 * there was no memory to remember the events of a module that has gone.
 *
 * Context: process; takes etch_event_sem for reading.
 * Return: true if there is one, or if @record is too short to have an id.
 */
bool etch_record_known(const void *record, unsigned int left)
{
	bool known;

	if (left < sizeof(struct etch_head))
		return true;
	down_read(&etch_event_sem);
	known = etch_event_by_id(etch_head_id(record));
	up_read(&etch_event_sem);
	return known;
}
