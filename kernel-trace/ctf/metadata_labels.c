// SPDX-License-Identifier: GPL-2.0
/*
 * The names of a field's values, from __print_symbolic() and __print_flags() in the
 * print format:
 *
 *	__print_symbolic(REC->state, { 0, "idle" }, { 1, "busy" })
 *	__print_flags(REC->flags & 0xff, "|", { (1UL << 3), "urgent" })
 *
 * The first argument is often no field but an expression with one in it. This code
 * evaluates the expression with each of the table's numbers as the field's value. It keeps
 * the number's name if the result is that number or, for flags, has at least its bits. So
 * every name kept is right for any expression; other names are left out.
 *
 * A field that is printed by two different tables has no names: which is right depends
 * on something else in the record. A table that is not understood in whole is not used.
 * Either way, one call of __print_flags() is enough to say that the field holds flags.
 */
#include <linux/bitops.h>
#include <linux/etch.h>
#include <linux/string.h>

#include "ctf/ctf.h"
#include "ctf/metadata.h"

static const char etch_record[] = "REC->";

/* What prints names, and whether several may apply at once. */
static const struct {
	const char *name;
	bool flags;
} etch_tables[] = {
	{ "__print_symbolic", false },
	{ "__print_symbolic_u64", false },
	{ "__print_flags", true },
	{ "__print_flags_u64", true },
};

/**
 * struct etch_table - one call of __print_symbolic() and the like
 * @arg: the expression that is printed
 * @entries: the table; its end is that of the call
 * @flags: several of its numbers may be in one value
 */
struct etch_table {
	const char *arg;
	const char *entries;
	bool flags;
};

/* The next @c that is in no parentheses or braces which open behind @at; or NULL. */
static const char *etch_find_outside(const char *at, char c)
{
	int depth = 0;

	for (; *at; at += etch_piece_len(at)) {
		if (*at == c && !depth)
			return at;
		if (*at == '(' || *at == '{')
			depth++;
		else if ((*at == ')' || *at == '}') && !depth--)
			return NULL;
	}
	return NULL;
}

/* Literals that follow each other are one. Returns their end, or @at if there is none. */
static const char *etch_literals_end(const char *at)
{
	const char *end = at;

	while (*at == '"') {
		end = at + etch_piece_len(at);
		at = skip_spaces(end);
	}
	return end;
}

/* Parses the call at @at. False: it is no call of a helper with a table. */
static bool etch_table_at(const char *at, struct etch_table *table)
{
	size_t len = etch_piece_len(at);
	const char *open = skip_spaces(at + len);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(etch_tables); i++)
		if (strlen(etch_tables[i].name) == len &&
		    !strncmp(at, etch_tables[i].name, len))
			break;
	if (i == ARRAY_SIZE(etch_tables) || *open != '(')
		return false;

	table->flags = etch_tables[i].flags;
	table->arg = skip_spaces(open + 1);
	table->entries = etch_find_outside(table->arg, ',');
	/* Between the flags that it prints there is a text. */
	if (table->entries && table->flags)
		table->entries = etch_find_outside(table->entries + 1, ',');
	return table->entries;
}

/* The next one from *@at on; *@at is moved behind its name. */
static bool etch_table_next(const char **at, struct etch_table *table)
{
	bool found = false;

	while (!found && **at) {
		found = **at == '_' && etch_table_at(*at, table);
		*at += etch_piece_len(*at);
	}
	return found;
}

/* Does the field occur in what is printed? */
static bool etch_table_has(const struct etch_table *table, const struct etch_field *field)
{
	const char *end = etch_find_outside(table->arg, ','), *at = table->arg;
	size_t len = strlen(field->name);

	while ((at = strnstr(at, etch_record, end - at))) {
		at += strlen(etch_record);
		if (etch_piece_len(at) == len && !strncmp(at, field->name, len))
			return true;
	}
	return false;
}

static bool etch_same_table(const struct etch_table *a, const struct etch_table *b)
{
	const char *end = etch_find_outside(a->entries, ')');

	return end && a->flags == b->flags && !strncmp(a->arg, b->arg, end + 1 - a->arg);
}

/*
 * The table that the field is printed by, if there is one, and no other. @flags: gets whether
 * one of them, if there are several, is a table of flags.
 */
static bool etch_table_find(const struct etch_event *event, const struct etch_field *field,
			    struct etch_table *table, bool *flags)
{
	const char *at = event->class->print_fmt;
	bool found = false, differ = false;
	struct etch_table other;

	*flags = false;
	while (at && etch_table_next(&at, &other)) {
		if (!etch_table_has(&other, field))
			continue;
		*flags |= other.flags;
		differ |= found && !etch_same_table(table, &other);
		*table = other;
		found = true;
	}
	return found && !differ;
}

static u64 etch_field_value(const struct etch_field *field, u64 value)
{
	unsigned int shift = BITS_PER_LONG_LONG - field->size * BITS_PER_BYTE;

	return field->is_signed ? (u64)((s64)(value << shift) >> shift) :
				  value << shift >> shift;
}

static bool etch_labels_have(const struct etch_labels *labels, u64 value)
{
	unsigned int i;

	for (i = 0; i < labels->nr; i++)
		if (labels->label[i].value == value)
			return true;
	return false;
}

/* Adds the name of a number, if a value of the field is printed with it. */
static bool etch_labels_add(struct etch_labels *labels, const struct etch_table *table,
			    const struct etch_enums *enums, const struct etch_field *field,
			    const struct etch_label *label)
{
	u64 value = etch_field_value(field, label->value), printed;
	const char *end = etch_expr_eval(table->arg, enums, field, value, &printed);

	if (!end || *end != ',')
		return false;
	if (table->flags)
		printed &= label->value;
	if (printed != label->value || etch_labels_have(labels, value))
		return true;
	if (labels->nr == ETCH_LABELS_MAX)
		return false;
	labels->label[labels->nr] = *label;
	labels->label[labels->nr++].value = value;
	return true;
}

/* "{ -1, NULL }", with which some tables end. */
static bool etch_is_last_entry(const char *at)
{
	static const char null[] = "((void *)0)";

	at = etch_find_outside(at + 1, ',');
	if (!at)
		return false;
	at = skip_spaces(at + 1);
	return !strncmp(at, null, strlen(null)) && *skip_spaces(at + strlen(null)) == '}';
}

/* "{ NUMBER, NAME }" at @at. Returns what follows, or NULL. */
static const char *etch_entry(const char *at, const struct etch_enums *enums,
			      struct etch_label *label)
{
	if (*at != '{')
		return NULL;
	at = etch_expr_eval(at + 1, enums, NULL, 0, &label->value);
	if (!at || *at != ',')
		return NULL;
	label->name = skip_spaces(at + 1);
	at = etch_literals_end(label->name);
	label->len = at - label->name;
	at = skip_spaces(at);
	return label->len && *at == '}' ? skip_spaces(at + 1) : NULL;
}

/* All of the table, or false. */
static bool etch_labels_read(struct etch_labels *labels, const struct etch_table *table,
			     const struct etch_enums *enums, const struct etch_field *field)
{
	const char *at = table->entries;
	struct etch_label label;

	while (*at == ',') {
		at = skip_spaces(at + 1);
		if (*at == '{' && etch_is_last_entry(at))
			return true;
		if (*at == ')')
			break;
		at = etch_entry(at, enums, &label);
		if (!at || !etch_labels_add(labels, table, enums, field, &label))
			return false;
	}
	return *at == ')';
}

/**
 * etch_labels_find() - the names of a field's values
 * @labels: gets them; none if there are none that are certain. @labels->flags is right
 *	    without names, too
 * @event: whose field it is
 * @field: the field: an integer
 *
 * Context: process; the event stays while @labels is used.
 */
void etch_labels_find(struct etch_labels *labels, const struct etch_event *event,
		      const struct etch_field *field)
{
	struct etch_enums enums;
	struct etch_table table;

	labels->nr = 0;
	if (!etch_table_find(event, field, &table, &labels->flags))
		return;
	enums = etch_enums_of(event);
	if (!etch_labels_read(labels, &table, &enums, field))
		labels->nr = 0;
}
