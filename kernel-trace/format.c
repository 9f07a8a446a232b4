// SPDX-License-Identifier: GPL-2.0
/*
 * An event's format file: which bytes of a record are which field, and how
 * TP_printk() puts them. The syntax is that of ftrace's format files, so that what
 * parses those parses these; the offsets are those of Etch's records.
 *
 * The id shares its 16 bits with the context (enum etch_context), which has the upper
 * two of them.
 */
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "etch.h"

static const struct etch_enum *
etch_enum_search(const struct etch_enum * const *enums, unsigned int nr,
		 const char *system, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strncmp(enums[i]->name, name, len) && !enums[i]->name[len] &&
		    !strcmp(enums[i]->system, system))
			return enums[i];
	return NULL;
}

/* The enum of the event's system that is spelled by @len characters at @name. */
static const struct etch_enum *
etch_enum_find(const struct etch_event *event, const char *name, size_t len)
{
	const struct etch_enum *found = NULL;

#ifdef CONFIG_MODULES
	if (event->mod)
		found = etch_enum_search(event->mod->etch_enums, event->mod->num_etch_enums,
					 event->class->system, name, len);
#endif
	if (!found)
		found = etch_enum_search(__start_etch_enums,
					 __stop_etch_enums - __start_etch_enums,
					 event->class->system, name, len);
	return found;
}

/* Length of the identifier, or of "sizeof(type)", at @text; 0 if there is none. */
static size_t etch_word_len(const char *text)
{
	size_t len = 0;

	if (!isalpha(*text) && *text != '_')
		return 0;
	while (isalnum(text[len]) || text[len] == '_')
		len++;
	if (len == 6 && !strncmp(text, "sizeof", 6) && text[6] == '(') {
		const char *end = strchr(text, ')');

		if (end)
			len = end + 1 - text;
	}
	return len;
}

/* Length of the string literal at @text, quotes included. */
static size_t etch_literal_len(const char *text)
{
	size_t len = 1;

	while (text[len] && text[len] != '"') {
		if (text[len] == '\\' && text[len + 1])
			len++;
		len++;
	}
	return text[len] ? len + 1 : len;
}

/*
 * Shows C text with numbers for the names that user space has no way to know. What
 * is inside a string literal, a longer word, or the name of a member stays.
 */
static void etch_show_resolved(struct seq_file *m, const struct etch_event *event,
			       const char *text)
{
	const struct etch_enum *e;
	bool member = false;
	size_t len;

	while (*text) {
		if (*text == '"') {
			len = etch_literal_len(text);
			seq_write(m, text, len);
		} else if (isdigit(*text)) {
			/* 0x1f, 10UL: its letters start no word */
			for (len = 1; isalnum(text[len]) || text[len] == '_'; len++)
				;
			seq_write(m, text, len);
		} else {
			len = etch_word_len(text) ?: 1;
			e = member ? NULL : etch_enum_find(event, text, len);
			if (e)
				seq_printf(m, "%ld", e->value);
			else
				seq_write(m, text, len);
		}
		member = *text == '.' || (*text == '>' && text[-1] == '-');
		text += len;
	}
}

/* "char[LEN]" and "comm" are shown as "char comm[16]", but dynamic arrays as they are. */
static void etch_show_field(struct seq_file *m, const struct etch_field *field)
{
	seq_puts(m, "\tfield:");
	if (field->kind == ETCH_FIELD_ARRAY)
		seq_printf(m, "%.*s %s[%u]", (int)strcspn(field->type, "["), field->type,
			   field->name, field->size / (field->elem_size ?: 1));
	else
		seq_printf(m, "%s %s", field->type, field->name);
	seq_printf(m, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n",
		   field->offset, field->size, field->is_signed);
}

static void etch_show_head(struct seq_file *m)
{
	BUILD_BUG_ON(sizeof(struct etch_head) != 12);
	BUILD_BUG_ON(offsetof(struct etch_head, pid) != 8);

	seq_puts(m,
		 "\tfield:unsigned char common_timestamp[6];\toffset:0;\tsize:6;\tsigned:0;\n"
		 "\tfield:unsigned short common_type;\toffset:6;\tsize:2;\tsigned:0;\n"
		 "\tfield:int common_pid;\toffset:8;\tsize:4;\tsigned:1;\n");
}

/**
 * etch_format_show() - write an event's format file
 * @m: where to
 * @event: the event
 *
 * Context: process; the event stays while this runs.
 */
void etch_format_show(struct seq_file *m, const struct etch_event *event)
{
	const struct etch_class *class = event->class;
	int i;

	seq_printf(m, "name: %s\nID: %u\nformat:\n", event->name, event->id);
	etch_show_head(m);
	seq_putc(m, '\n');
	for (i = 0; i < class->nr_fields; i++)
		etch_show_field(m, &class->fields[i]);
	seq_puts(m, "\nprint fmt: ");
	etch_show_resolved(m, event, class->print_fmt);
	seq_putc(m, '\n');
}
