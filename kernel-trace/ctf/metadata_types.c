// SPDX-License-Identifier: GPL-2.0
/*
 * Events in the language of Common Trace Format 1.8, TSDL.
 *
 *	event {
 *		id = 7;
 *		name = "sample:lookup";
 *		stream_id = 0;
 *		fields := struct {
 *			uint64_t _key;
 *			loc16_t __name_offset;
 *			uint16_t __name_length;
 *			char8_t _name[__name_length];
 *		};
 *	};
 *
 * TSDL has no offsets: a field lies where the one before it ends, rounded up to its
 * alignment. So the fields follow each other as in the record, and the offset computed for
 * each is compared with its offset in the record.
 *
 * A dynamic field is described twice: the word in the payload, as two numbers, and
 * the content behind the payload, where the contents follow each other in the fields'
 * order (etch_dynamic()). Its number of elements is part of the word, which has
 * bytes: for elements of 2^n bytes the low n bits of the length are a number of their
 * own, always zero, and the rest is the number of elements.
 *
 * A field's name gets an underscore, which readers take away again: so none is one of
 * TSDL's words. What we add, as __name_length, has one in its name for readers, too.
 */
#include <linux/align.h>
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/log2.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/string_choices.h>

#include <uapi/linux/etch_packet.h>

#include "ctf/ctf.h"
#include "ctf/metadata.h"
#include "event/contexts.h"

#define ETCH_TSDL_NAME	256

/**
 * struct etch_tsdl - an event that is being described
 * @m: where to
 * @event: the event
 * @labels: room for the names of a field's values
 * @pos: bytes from the record's start to the end of the last field described
 */
struct etch_tsdl {
	struct seq_file *m;
	const struct etch_event *event;
	struct etch_labels *labels;
	unsigned int pos;
};

/* ---- Names ---- */

/* Is that the name of a field, of the first @nr? */
static bool etch_tsdl_taken(const struct etch_class *class, unsigned int nr, const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(class->fields[i].name, name))
			return true;
	return false;
}

/*
 * The name of field @i, or of a part of its word. In a struct no name is there twice,
 * but some other way to make an event may not care.
 */
static void etch_tsdl_name(const struct etch_class *class, unsigned int i, const char *part,
			   char name[ETCH_TSDL_NAME])
{
	const char *field = class->fields[i].name;
	bool twice = etch_tsdl_taken(class, i, field);
	int len;

	len = scnprintf(name, ETCH_TSDL_NAME - 1, part ? "_%s" : "%s", field);
	if (twice)
		len += scnprintf(name + len, ETCH_TSDL_NAME - 1 - len, "_%u", i);
	if (part)
		len += scnprintf(name + len, ETCH_TSDL_NAME - 1 - len, "_%s", part);
	while ((twice || part) && len < ETCH_TSDL_NAME - 1 &&
	       etch_tsdl_taken(class, class->nr_fields, name)) {
		name[len++] = '_';
		name[len] = '\0';
	}
}

static void etch_tsdl_put_name(struct etch_tsdl *t, unsigned int i, const char *part)
{
	char name[ETCH_TSDL_NAME];

	etch_tsdl_name(t->event->class, i, part, name);
	seq_printf(t->m, "_%s", name);
}

/* ---- What a field is made of ---- */

/* The type of an element, more or less: of "__data_loc const int[]" it is "int[]". */
static const char *etch_element_type(const struct etch_field *field)
{
	static const char * const before[] = { "__data_loc ", "__rel_loc ", "const " };
	const char *type = field->type;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(before); i++)
		if (!strncmp(type, before[i], strlen(before[i])))
			type += strlen(before[i]);
	return type;
}

static bool etch_is_address(const struct etch_field *field)
{
	return field->is_pointer || strchr(field->type, '*');
}

/* Does the print format have @before, then the field's name, and no more of a name? */
static bool etch_is_printed(const struct etch_event *event, const struct etch_field *field,
			    const char *before)
{
	const char *at = event->class->print_fmt;
	size_t len = strlen(field->name);

	while (at && (at = strstr(at, before))) {
		at += strlen(before);
		if (!strncmp(at, field->name, len) && !isalnum(at[len]) && at[len] != '_')
			return true;
	}
	return false;
}

/* Structs and what else is no number have no type here: they are bytes. */
static bool etch_is_number(const struct etch_field *field)
{
	const char *type = etch_element_type(field);

	if (!is_power_of_2(field->elem_size) || field->elem_size > sizeof(u64))
		return false;
	if (etch_is_address(field))
		return true;
	return strncmp(type, "struct ", 7) && strncmp(type, "union ", 6);
}

static bool etch_is_text(const struct etch_field *field)
{
	return field->is_string && field->elem_size == sizeof(char) &&
	       field->kind != ETCH_FIELD_FIXED;
}

/*
 * What people read in base 16: addresses, also those that are kept as numbers, and masks.
 * A mask is an array of longs by its type.
 */
static unsigned int etch_base(const struct etch_event *event, const struct etch_field *field)
{
	bool sixteen = etch_is_address(field);

	if (etch_is_dynamic(field))
		sixteen = sixteen || !strcmp(etch_element_type(field), "cpumask_t") ||
			  etch_is_printed(event, field, "mask(");
	else if (field->elem_size == sizeof(void *))
		/* The compiler warns about casts of other sizes. */
		sixteen = sixteen || etch_is_printed(event, field, "(void *)REC->");
	return sixteen ? 16 : 10;
}

/* ---- Types ---- */

/* Sizes of numbers have an alias for the alignment that is usual in records. */
static void etch_tsdl_number(struct seq_file *m, const struct etch_field *field,
			     unsigned int base)
{
	unsigned int size = field->elem_size;
	bool usual = field->align == min(size, 4U);

	if (usual && base == 10)
		seq_printf(m, "%sint%u_t", field->is_signed ? "" : "u", size * BITS_PER_BYTE);
	else if (usual && !field->is_signed)
		seq_printf(m, "xint%u_t", size * BITS_PER_BYTE);
	else
		seq_printf(m, "integer { size = %u; align = %u; signed = %s; base = %u; }",
			   size * BITS_PER_BYTE, field->align * BITS_PER_BYTE,
			   str_true_false(field->is_signed), base);
}

/* C literals as one of TSDL, which takes the same escapes. */
static void etch_tsdl_label(struct seq_file *m, const struct etch_label *label)
{
	const char *at = label->name, *end = at + label->len;
	size_t len;

	seq_putc(m, '"');
	for (; at < end; at = skip_spaces(at + len)) {
		len = etch_piece_len(at);
		seq_write(m, at + 1, len - 2);
	}
	seq_putc(m, '"');
}

/* A value of @field, without the bits that extend its sign. */
static u64 etch_tsdl_bits(const struct etch_field *field, u64 value)
{
	unsigned int shift = BITS_PER_LONG_LONG - field->size * BITS_PER_BYTE;

	return value << shift >> shift;
}

/*
 * Flags are a number in base 16. An enumeration of CTF 1.8 names one value, not the bits that a
 * value combines: babeltrace2 2.0 shows such a value as <unknown>. What the bits mean stands
 * beside the field, in a comment, for people. A name that could end the comment is left out.
 */
static void etch_tsdl_flags(struct etch_tsdl *t, const struct etch_field *field)
{
	const struct etch_labels *labels = t->labels;
	unsigned int i;

	if (labels->nr)
		seq_puts(t->m, "/*");
	for (i = 0; i < labels->nr; i++) {
		const struct etch_label *label = &labels->label[i];

		if (memchr(label->name, '*', label->len))
			continue;
		seq_putc(t->m, ' ');
		etch_tsdl_label(t->m, label);
		seq_printf(t->m, " = 0x%llx;", etch_tsdl_bits(field, label->value));
	}
	if (labels->nr)
		seq_puts(t->m, " */\n\t\t");
	etch_tsdl_number(t->m, field, 16);
}

static void etch_tsdl_enum(struct etch_tsdl *t, const struct etch_field *field)
{
	const struct etch_labels *labels = t->labels;
	unsigned int i;

	seq_puts(t->m, "enum : ");
	etch_tsdl_number(t->m, field, 10);
	seq_puts(t->m, " {");
	for (i = 0; i < labels->nr; i++) {
		seq_puts(t->m, i ? ",\n\t\t\t" : "\n\t\t\t");
		etch_tsdl_label(t->m, &labels->label[i]);
		seq_printf(t->m, field->is_signed ? " = %lld" : " = %llu",
			   labels->label[i].value);
	}
	seq_puts(t->m, "\n\t\t}");
}

static void etch_tsdl_element(struct etch_tsdl *t, const struct etch_field *field)
{
	if (etch_is_text(field))
		seq_puts(t->m, "char8_t");
	else if (etch_is_number(field))
		etch_tsdl_number(t->m, field, etch_base(t->event, field));
	else
		seq_puts(t->m, "xint8_t");
}

/* ---- Fields ---- */

/* Goes on at @offset, which is not before where we are. */
static bool etch_tsdl_move(struct etch_tsdl *t, unsigned int offset, unsigned int align)
{
	unsigned int pos = ALIGN(t->pos, align);

	if (pos > offset)
		return false;
	/* Needed only for fields that are described as bytes, though they have an alignment. */
	if (pos < offset)
		seq_printf(t->m, "\t\tuint8_t __pad_%u[%u];\n", pos, offset - pos);
	t->pos = offset;
	return true;
}

static void etch_tsdl_word(struct etch_tsdl *t, unsigned int i)
{
	const struct etch_field *field = &t->event->class->fields[i];
	unsigned int rest = etch_is_number(field) ? ilog2(field->elem_size) : 0;

	seq_puts(t->m, "\t\tloc16_t ");
	etch_tsdl_put_name(t, i, "offset");
	if (rest) {
		seq_printf(t->m, ";\n\t\tinteger { size = %u; align = 1; } ", rest);
		etch_tsdl_put_name(t, i, "rest");
		seq_printf(t->m, ";\n\t\tinteger { size = %u; align = 1; } ", 16 - rest);
	} else {
		seq_puts(t->m, ";\n\t\tuint16_t ");
	}
	etch_tsdl_put_name(t, i, "length");
	seq_puts(t->m, ";\n");
}

static void etch_tsdl_static(struct etch_tsdl *t, unsigned int i)
{
	const struct etch_field *field = &t->event->class->fields[i];
	bool number = etch_is_number(field);

	t->labels->nr = 0;
	t->labels->flags = false;
	if (number && field->kind == ETCH_FIELD_FIXED && !etch_is_address(field))
		etch_labels_find(t->labels, t->event, field);

	seq_puts(t->m, "\t\t");
	if (t->labels->flags)
		etch_tsdl_flags(t, field);
	else if (t->labels->nr)
		etch_tsdl_enum(t, field);
	else
		etch_tsdl_element(t, field);
	seq_putc(t->m, ' ');
	etch_tsdl_put_name(t, i, NULL);
	if (!number || field->kind == ETCH_FIELD_ARRAY)
		seq_printf(t->m, "[%u]", field->size / (number ? field->elem_size : 1));
	seq_puts(t->m, ";\n");
}

/* A field of the payload. */
static bool etch_tsdl_field(struct etch_tsdl *t, unsigned int i)
{
	const struct etch_field *field = &t->event->class->fields[i];
	unsigned int align = etch_is_number(field) ? field->align : 1;

	if (etch_is_dynamic(field)) {
		if (!etch_tsdl_move(t, field->offset, sizeof(u32)) ||
		    field->size != sizeof(u32))
			return false;
		etch_tsdl_word(t, i);
	} else {
		if (!etch_tsdl_move(t, field->offset, align) ||
		    (etch_is_number(field) && field->size % field->elem_size))
			return false;
		etch_tsdl_static(t, i);
	}
	t->pos += field->size;
	return true;
}

/* The content of a dynamic field. Bytes get their alignment from a struct around them. */
static void etch_tsdl_content(struct etch_tsdl *t, unsigned int i)
{
	const struct etch_field *field = &t->event->class->fields[i];
	bool wrap = !etch_is_number(field) && field->align > 1;

	seq_puts(t->m, wrap ? "\t\tstruct { " : "\t\t");
	etch_tsdl_element(t, field);
	seq_putc(t->m, ' ');
	if (wrap)
		seq_puts(t->m, "bytes");
	else
		etch_tsdl_put_name(t, i, NULL);
	seq_putc(t->m, '[');
	etch_tsdl_put_name(t, i, "length");
	seq_putc(t->m, ']');
	if (wrap) {
		seq_printf(t->m, "; } align(%u) ", field->align * BITS_PER_BYTE);
		etch_tsdl_put_name(t, i, NULL);
	}
	seq_puts(t->m, ";\n");
}

static void etch_tsdl_alias(struct seq_file *m, unsigned int bits, unsigned int align,
			    const char *more, const char *name)
{
	seq_printf(m, "typealias integer { size = %u; align = %u; %s } := %s%u_t;\n",
		   bits, align, more, name, bits);
}

/**
 * etch_metadata_types() - declare the types that events are made of
 * @m: where to
 */
void etch_metadata_types(struct seq_file *m)
{
	unsigned int bits;

	for (bits = 8; bits <= 64; bits *= 2) {
		unsigned int align = min(bits, 32U);

		etch_tsdl_alias(m, bits, align, "signed = false;", "uint");
		etch_tsdl_alias(m, bits, align, "signed = true;", "int");
		etch_tsdl_alias(m, bits, align, "signed = false; base = 16;", "xint");
	}
	etch_tsdl_alias(m, 8, 8, is_signed_type(char) ? "signed = true; encoding = UTF8;" :
						       "signed = false; encoding = UTF8;", "char");
	/* The word of a dynamic field begins on 4 bytes. */
	etch_tsdl_alias(m, 16, 32, "signed = false;", "loc");
}

/**
 * etch_metadata_contexts() - describe the contexts of all records
 * @m: where to
 * @c: the contexts; may be NULL
 *
 * Their fields follow each other without a gap, as etch_contexts_add() has placed them. The struct
 * that they are in begins in the middle of a byte, so none may have an alignment.
 */
void etch_metadata_contexts(struct seq_file *m, const struct etch_contexts *c)
{
	unsigned int i;

	for (i = 0; c && i < c->nr_fields; i++) {
		const struct etch_field *field = &c->fields[i];
		bool hex = field->is_pointer || !strcmp(field->name, "common_flags");

		seq_printf(m, "\t\tinteger { size = %u; align = 1; signed = %s; base = %u; } %s",
			   field->elem_size * BITS_PER_BYTE, str_true_false(field->is_signed),
			   hex ? 16 : 10, field->name + strlen("common_"));
		if (field->kind == ETCH_FIELD_ARRAY)
			seq_printf(m, "[%u]", field->size / field->elem_size);
		seq_puts(m, ";\n");
	}
}

/**
 * etch_metadata_event() - describe an event
 * @m: where to
 * @event: the event
 * @labels: room to work in
 *
 * Context: process; the event stays while this runs.
 * Return: 0, or -EINVAL if its fields do not lie as they would by the description.
 */
int etch_metadata_event(struct seq_file *m, const struct etch_event *event,
			struct etch_labels *labels)
{
	const struct etch_class *class = event->class;
	struct etch_tsdl t = {
		.m = m, .event = event, .labels = labels, .pos = sizeof(struct etch_head),
	};
	bool ok = true;
	int i;

	seq_printf(m, "\nevent {\n\tid = %u;\n\tname = \"%s:%s\";\n\tstream_id = %u;\n"
		   "\tfields := struct {\n", event->id, class->system, event->name,
		   event->user ? ETCH_STREAM_USER : ETCH_STREAM_KERNEL);
	for (i = 0; ok && i < class->nr_fields; i++)
		ok = etch_tsdl_field(&t, i);
	if (!ok || t.pos != class->size)
		return -EINVAL;
	for (i = 0; i < class->nr_fields; i++)
		if (etch_is_dynamic(&class->fields[i]))
			etch_tsdl_content(&t, i);
	seq_puts(m, "\t};\n};\n");
	return 0;
}
