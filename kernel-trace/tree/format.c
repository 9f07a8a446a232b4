// SPDX-License-Identifier: GPL-2.0
/*
 * An event's format file: which bytes of a record are which field, and how
 * TP_printk() puts them. The syntax is that of ftrace's format files, so that what
 * parses those parses these; the offsets are those of Etch's records.
 *
 * The id shares its 16 bits with the context (enum etch_context), which has the upper
 * two of them.
 */
#include <linux/etch.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>

#include "event/contexts.h"
#include "tree/tree.h"

/* TP_printk(), in as much room as it takes: the file's own buffer. */
static void etch_show_print_fmt(struct seq_file *m, const struct etch_event *event)
{
	struct seq_buf s;
	char *buf;
	size_t size = seq_get_buf(m, &buf);

	if (!size) {
		seq_commit(m, -1);	/* once more, with a larger one */
		return;
	}
	seq_buf_init(&s, buf, size);
	etch_print_fmt(&s, event);
	seq_commit(m, seq_buf_has_overflowed(&s) ? -1 : (int)seq_buf_used(&s));
}

/* "char[LEN]" and "comm" are shown as "char comm[16]", but dynamic arrays as they are. */
static void etch_show_field(struct seq_file *m, const struct etch_field *field,
			    unsigned int more)
{
	seq_puts(m, "\tfield:");
	if (field->kind == ETCH_FIELD_ARRAY)
		seq_printf(m, "%.*s %s[%u]", (int)strcspn(field->type, "["), field->type,
			   field->name, field->size / (field->elem_size ?: 1));
	else
		seq_printf(m, "%s %s", field->type, field->name);
	seq_printf(m, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n",
		   field->offset + more, field->size, field->is_signed);
}

static void etch_show_head(struct seq_file *m, const struct etch_contexts *contexts)
{
	unsigned int i;

	BUILD_BUG_ON(sizeof(struct etch_head) != 12);
	BUILD_BUG_ON(offsetof(struct etch_head, pid) != 8);

	seq_puts(m,
		 "\tfield:unsigned char common_timestamp[6];\toffset:0;\tsize:6;\tsigned:0;\n"
		 "\tfield:unsigned short common_type;\toffset:6;\tsize:2;\tsigned:0;\n"
		 "\tfield:int common_pid;\toffset:8;\tsize:4;\tsigned:1;\n");
	for (i = 0; contexts && i < contexts->nr_fields; i++)
		etch_show_field(m, &contexts->fields[i], 0);
}

/**
 * etch_format_show() - write an event's format file
 * @m: where to
 * @event: the event
 * @contexts: what the instance adds to its records, or NULL. The payload stands behind
 *	      it; what a __data_loc field says counts from as many bytes behind the record's start
 *
 * Context: process; the event stays while this runs.
 */
void etch_format_show(struct seq_file *m, const struct etch_event *event,
		      const struct etch_contexts *contexts)
{
	const struct etch_class *class = event->class;
	int i;

	seq_printf(m, "name: %s\nID: %u\nformat:\n", event->name, event->id);
	etch_show_head(m, contexts);
	seq_putc(m, '\n');
	for (i = 0; i < class->nr_fields; i++)
		etch_show_field(m, &class->fields[i], etch_contexts_size(contexts));
	seq_puts(m, "\nprint fmt: ");
	etch_show_print_fmt(m, event);
	seq_putc(m, '\n');
}
