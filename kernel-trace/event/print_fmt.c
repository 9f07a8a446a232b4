// SPDX-License-Identifier: GPL-2.0
/*
 * Print formats of events that have none of their own: "NAME=VALUE" for each field.
 */
#include <linux/etch.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/event.h"

static const char *etch_field_format(const struct etch_field *f)
{
	if (f->kind != ETCH_FIELD_FIXED)
		return "%s";
	if (f->size == sizeof(u64))
		return f->is_signed ? "%lld" : "%llu";
	return f->is_signed ? "%d" : "%u";
}

/* What of a field a format gives to its %: that of an array is its content as numbers. */
static int etch_field_value(char *to, size_t room, const struct etch_field *f)
{
	const char *rel = f->kind == ETCH_FIELD_REL_LOC ? "rel_" : "";

	if (f->kind == ETCH_FIELD_FIXED || (f->kind == ETCH_FIELD_ARRAY && f->is_string))
		return scnprintf(to, room, ", REC->%s", f->name);
	if (f->is_string)
		return scnprintf(to, room, ", __get_%sstr(%s)", rel, f->name);
	if (f->kind == ETCH_FIELD_ARRAY)
		return scnprintf(to, room, ", __print_array(REC->%s, %u, %u)", f->name,
				 f->size / f->elem_size, f->elem_size);
	return scnprintf(to, room, ", __print_hex(__get_%sdynamic_array(%s), "
			 "__get_%sdynamic_array_len(%s))", rel, f->name, rel, f->name);
}

/**
 * etch_print_fmt_make() - make a print format for a class from its fields
 * @class: the class
 *
 * Context: process, may sleep; the memory is charged to the caller.
 * Return: the text, to be freed by kfree(); or NULL.
 */
char *etch_print_fmt_make(const struct etch_class *class)
{
	size_t room = sizeof("\"\""), len = 0;
	unsigned int i;
	char *text;

	for (i = 0; i < class->nr_fields; i++)
		room += 3 * strlen(class->fields[i].name) + 96;
	text = kmalloc(room, GFP_KERNEL_ACCOUNT);
	if (!text)
		return NULL;
	len += scnprintf(text, room, "\"");
	for (i = 0; i < class->nr_fields; i++)
		len += scnprintf(text + len, room - len, "%s%s=%s", i ? " " : "",
				 class->fields[i].name, etch_field_format(&class->fields[i]));
	len += scnprintf(text + len, room - len, "\"");
	for (i = 0; i < class->nr_fields; i++)
		len += etch_field_value(text + len, room - len, &class->fields[i]);
	return text;
}
