// SPDX-License-Identifier: GPL-2.0
/*
 * Format files, one behind the other, as the recorder keeps them:
 *
 *	name: sched_switch
 *	ID: 86
 *	format:
 *		field:unsigned short common_type;	offset:6;	size:2;	signed:0;
 *
 *		field:char prev_comm[16];	offset:12;	size:16;	signed:0;
 *
 *	print fmt: "prev_comm=%s ...", REC->prev_comm, ...
 *
 * A format says more of an event than metadata does: the fields' types in C, and how the
 * event is printed. An event's name and system are in metadata only.
 */
#include "read/read.h"

#include <ctype.h>
#include <stdlib.h>

/* A piece of the text. */
struct piece {
	const char *at;
	size_t len;
};

static struct piece trimmed(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	while (at < end && isspace((unsigned char)end[-1]))
		end--;
	return (struct piece){ at, end - at };
}

static bool begins(struct piece text, const char *word)
{
	size_t len = strlen(word);

	return text.len >= len && !memcmp(text.at, word, len);
}

static bool has(struct piece text, const char *word)
{
	return memmem(text.at, text.len, word, strlen(word));
}

/* Takes @word and the blanks behind it off the front of @text. */
static bool drop(struct piece *text, const char *word)
{
	if (!begins(*text, word))
		return false;
	*text = trimmed(text->at + strlen(word), text->at + text->len);
	return true;
}

/* The number behind @word in @line; -1: there is none. */
static long number_behind(struct piece line, const char *word)
{
	const char *at = memmem(line.at, line.len, word, strlen(word));

	return at ? strtol(at + strlen(word), NULL, 10) : -1;
}

unsigned int etch_type_size(const char *type_text, size_t type_len, bool *is_signed)
{
	struct piece type = trimmed(type_text, type_text + type_len);
	static const struct {
		const char *name;
		unsigned int size;
	} types[] = {
		{ "char", 1 }, { "u8", 1 }, { "s8", 1 }, { "bool", 1 }, { "int8_t", 1 },
		{ "short", 2 }, { "u16", 2 }, { "s16", 2 }, { "be16", 2 }, { "le16", 2 },
		{ "int16_t", 2 }, { "int", 4 }, { "unsigned", 4 }, { "u32", 4 }, { "s32", 4 },
		{ "be32", 4 }, { "le32", 4 }, { "int32_t", 4 }, { "dev_t", 4 }, { "pid_t", 4 },
		{ "gfp_t", 4 }, { "uid_t", 4 }, { "gid_t", 4 }, { "long", 8 }, { "u64", 8 },
		{ "s64", 8 }, { "be64", 8 }, { "le64", 8 }, { "int64_t", 8 }, { "size_t", 8 },
		{ "loff_t", 8 }, { "sector_t", 8 }, { "ptr_t", 8 }, { "time64_t", 8 }, { "cpumask_t", 8 },
		{ "*", 8 },
	};

	if (is_signed)
		*is_signed = false;
	if ((begins(type, "struct ") || begins(type, "union ")) && !has(type, "*"))
		return 0;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		size_t len = strlen(types[i].name);

		if (type.len < len || memcmp(type.at + type.len - len, types[i].name, len))
			continue;
		if (is_signed)
			*is_signed = !has(type, "unsigned") && !has(type, "u8") &&
				     !has(type, "u16") && !has(type, "u32") && !has(type, "u64") &&
				     !has(type, "uint") && !has(type, "size_t") &&
				     !has(type, "*") && !has(type, "bool") && !has(type, "be") &&
				     !has(type, "dev_t") && !has(type, "gfp_t") &&
				     !has(type, "sector_t") && !has(type, "uid_t") &&
				     !has(type, "gid_t") && !has(type, "ptr_t");
		return types[i].size;
	}
	return 0;
}

static void array_kind(struct etch_field *field, struct piece type)
{
	field->elem = etch_type_size(type.at, type.len, NULL);
	if (has(type, "char") && field->elem == 1 && !has(type, "unsigned"))
		field->kind = ETCH_TEXT;
	else if (!field->elem || (field->where == ETCH_FIXED && field->size % field->elem))
		field->kind = ETCH_BYTES;
	else
		field->kind = ETCH_ARRAY;
}

/* "__data_loc char[] name", "const void * ptr", "char comm[16]": type, name, whether an array. */
static bool declaration(struct etch_source *source, struct piece text, struct etch_field *field)
{
	const char *end = text.at + text.len, *name;
	bool array = false;
	struct piece type;

	if (text.len && end[-1] == ']') {
		array = true;
		while (end > text.at && *end != '[')
			end--;
	}
	for (name = end; name > text.at && (isalnum((unsigned char)name[-1]) || name[-1] == '_');)
		name--;
	type = trimmed(text.at, name);
	field->name = etch_source_text(source, name, end - name);
	field->type = etch_source_text(source, type.at, type.len);
	if (name == end || !field->name || !field->type)
		return false;
	if (drop(&type, "__data_loc "))
		field->where = ETCH_LOC;
	else if (drop(&type, "__rel_loc "))
		field->where = ETCH_REL_LOC;
	if (field->where != ETCH_FIXED && type.len > 2 && type.at[type.len - 1] == ']')
		type = trimmed(type.at, type.at + type.len - 2);
	drop(&type, "const ");
	field->hex = has(type, "*") || has(type, "cpumask_t");
	if (array || field->where != ETCH_FIXED) {
		array_kind(field, type);
		return true;
	}
	field->elem = field->size;
	field->kind = (begins(type, "struct ") || begins(type, "union ")) && !has(type, "*") ?
		      ETCH_BYTES : ETCH_NUMBER;
	if (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8)
		field->kind = ETCH_BYTES;
	return true;
}

/* A line "field:...". False if it makes no sense. */
static bool format_field(struct etch_source *source, struct etch_event *event, struct piece line)
{
	const char *end = memchr(line.at, ';', line.len);
	struct etch_field field = {};
	long offset, size;

	if (!end)
		return false;
	offset = number_behind(line, "\toffset:");
	size = number_behind(line, "\tsize:");
	if (offset < 0 || size < 0)
		return false;
	/* The head, which records have in place of common fields. */
	if (offset < ETCH_HEAD)
		return true;
	field.size = size;
	field.is_signed = number_behind(line, "\tsigned:") == 1;
	if (!declaration(source, trimmed(line.at + strlen("field:"), end), &field))
		return false;
	/* Metadata describes contexts; here, they only move the fields behind them. */
	if (!strncmp(field.name, "common_", 7)) {
		event->format_more = offset + size - ETCH_HEAD;
		return event->format_more < ETCH_CONTEXTS;
	}
	field.offset = offset - event->format_more;
	return offset >= (long)(ETCH_HEAD + event->format_more) &&
	       etch_field_add(source, event, &field);
}

/* The format file in @text; all its fields, or none. */
static void format_read(struct etch_source *source, struct etch_event *event, struct piece text)
{
	struct etch_event new = *event;
	const char *at = text.at, *last = text.at + text.len, *end;

	new.fields = NULL;
	new.nr_fields = 0;
	new.size = ETCH_HEAD;
	new.dynamic = false;
	new.format_more = 0;
	for (; at < last; at = end + 1) {
		struct piece line;

		end = memchr(at, '\n', last - at);
		if (!end)
			end = last;
		line = trimmed(at, end);
		if (begins(line, "field:") && !format_field(source, &new, line)) {
			etch_complaint("%s/.etch/formats: the fields of %s make no sense",
				       source->path, event->full);
			return;
		}
		if (drop(&line, "print fmt:"))
			new.print = etch_source_text(source, line.at, line.len);
	}
	new.format = text.at;
	new.format_len = text.len;
	*event = new;
}

void etch_formats_read(struct etch_source *source, const char *text, size_t len)
{
	const char *at = text, *end;
	struct piece one;
	long id;

	for (; at && *at; at = end) {
		end = strstr(at + 1, "\nname: ");
		end = end ? end + 1 : text + len;
		one = trimmed(at, end);
		id = number_behind(one, "\nID: ");
		if (begins(one, "name: ") && id >= 0 && id < ETCH_IDS && source->by_id[id])
			format_read(source, source->by_id[id], one);
		if (end == text + len)
			break;
	}
}
