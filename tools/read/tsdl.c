// SPDX-License-Identifier: GPL-2.0
/*
 * Metadata, in the language of Common Trace Format 1.8 as Etch writes it
 * (Documentation/trace/etch/ctf.rst). Not all of the language: a block that Etch does not
 * write is skipped, and an event with a field that Etch does not write counts as not described.
 *
 *	clock { name = mono; freq = 1000000000; offset_s = 1795620985; ... };
 *	stream { ... event.context := struct { ... integer { ... } prio; }; };
 *	event { id = 7; name = "sample:lookup"; stream_id = 0; fields := struct { ... }; };
 *
 * Fields follow each other, each at the next multiple of its alignment. A dynamic field is
 * described twice: first its word, as __NAME_offset and __NAME_length, then, behind the
 * payload, its content, as _NAME[__NAME_length].
 */
#include "read/read.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* A word, a number, a string without its quotes, or a sign. */
struct token {
	const char *at;
	size_t len;
	char kind;	/* 'w', '"', the sign itself; 0: the end */
};

/**
 * struct parser - metadata that is being read
 * @source: gets what is found
 * @at: the text behind @token
 * @token: the one that is looked at
 * @more: events that are described already stay as they are
 */
struct parser {
	struct etch_source *source;
	const char *at;
	struct token token;
	bool more;
};

/* A type, as far as it matters. */
struct type {
	unsigned int bits, align;
	bool is_signed, hex, text, loc;
};

/* ---- Tokens ---- */

static const char *skip_blank(const char *at)
{
	for (;;) {
		while (isspace((unsigned char)*at))
			at++;
		if (at[0] != '/' || at[1] != '*')
			return at;
		at = strstr(at + 2, "*/");
		if (!at)
			return "";
		at += 2;
	}
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

/* Go on to the next token. */
static void next(struct parser *p)
{
	const char *at = skip_blank(p->at), *end = at;

	if (*at == '"') {
		for (end = ++at; *end && *end != '"'; end++)
			end += end[0] == '\\' && end[1];
		p->token = (struct token){ at, end - at, '"' };
		p->at = end + (*end == '"');
		return;
	}
	while (in_word(*end))
		end++;
	p->token = (struct token){ at, end - at, 'w' };
	if (end == at) {
		p->token.kind = *at;
		p->token.len = *at != 0;
		end = at + p->token.len;
	}
	p->at = end;
}

static bool is(const struct parser *p, const char *word)
{
	return p->token.len == strlen(word) && !memcmp(p->token.at, word, p->token.len);
}

/* Is it @word? Then go on. */
static bool take(struct parser *p, const char *word)
{
	if (p->token.kind == '"' || !is(p, word))
		return false;
	next(p);
	return true;
}

/* Goes on behind the ';' that ends this; those in braces do not. */
static void skip_statement(struct parser *p)
{
	int depth = 0;

	while (p->token.kind && !(depth <= 0 && p->token.kind == ';')) {
		if (p->token.kind == '}' && depth == 0)
			return;
		depth += (p->token.kind == '{') - (p->token.kind == '}');
		next(p);
	}
	take(p, ";");
}

/* "= VALUE ;": the value, which is the token. */
static bool value(struct parser *p, long long *number)
{
	if (!take(p, "="))
		return false;
	*number = strtoll(p->token.at, NULL, 0);
	return true;
}

/* ---- Types ---- */

/* "{ size = 8; align = 8; signed = false; base = 16; }" */
static bool integer(struct parser *p, struct type *type)
{
	long long number;

	type->align = 1;
	if (!take(p, "{"))
		return false;
	while (p->token.kind && !is(p, "}")) {
		struct token key = p->token;

		next(p);
		if (!value(p, &number))
			return false;
		if (key.len == 4 && !memcmp(key.at, "size", 4))
			type->bits = number;
		else if (key.len == 5 && !memcmp(key.at, "align", 5))
			type->align = number;
		else if (key.len == 6 && !memcmp(key.at, "signed", 6))
			type->is_signed = is(p, "true");
		else if (key.len == 4 && !memcmp(key.at, "base", 4))
			type->hex = number == 16;
		skip_statement(p);
	}
	return take(p, "}") && type->bits && type->bits <= 64 && type->align && type->align <= 64;
}

/* One of the aliases that metadata begins with. */
static bool alias(struct parser *p, struct type *type)
{
	const char *at = p->token.at;

	type->text = !strncmp(at, "char", 4);
	type->loc = !strncmp(at, "loc", 3);
	type->hex = *at == 'x';
	type->is_signed = *at == 'i';
	at += strcspn(at, "0123456789");
	type->bits = strtoul(at, NULL, 10);
	type->align = type->loc || type->bits > 32 ? 32 : type->bits;
	if (p->token.kind != 'w' || at > p->token.at + 4 ||
	    (type->bits != 8 && type->bits != 16 && type->bits != 32 && type->bits != 64))
		return false;
	next(p);
	return true;
}

/* A type of a number, or the "enum : number { ... }" of one. */
static bool number_type(struct parser *p, struct type *type)
{
	bool names = take(p, "enum") && take(p, ":");

	memset(type, 0, sizeof(*type));
	if (take(p, "integer") ? !integer(p, type) : !alias(p, type))
		return false;
	if (!names)
		return true;
	while (p->token.kind && !is(p, "}"))
		next(p);
	return take(p, "}");
}

/* ---- Fields ---- */

/**
 * struct described - a field as it stands in metadata
 * @type: of it, or of an element
 * @name: its name
 * @array: it has a number of elements
 * @count: the number
 * @length: or the name of the field that has it
 */
struct described {
	struct type type;
	struct token name;
	bool array;
	unsigned long count;
	struct token length;
};

/* "TYPE NAME;" "TYPE NAME[COUNT];" "struct { TYPE bytes[LENGTH]; } align(N) NAME;" */
static bool describe(struct parser *p, struct described *d)
{
	bool wrapped = take(p, "struct") && take(p, "{");

	d->array = false;
	if (!number_type(p, &d->type))
		return false;
	d->name = p->token;
	next(p);
	if (take(p, "[")) {
		d->array = true;
		d->length = p->token;
		d->count = strtoul(p->token.at, NULL, 10);
		next(p);
		if (!take(p, "]"))
			return false;
	}
	if (wrapped) {
		if (!take(p, ";") || !take(p, "}") || !take(p, "align"))
			return false;
		next(p);
		next(p);
		take(p, ")");
		d->name = p->token;
		next(p);
	}
	return d->name.kind == 'w' && take(p, ";");
}

/* The field whose word has "__NAME_length" in it, which is @length. */
static struct etch_field *field_of_length(struct etch_event *event, const struct token *length)
{
	size_t len = length->len;

	if (len < 10 || memcmp(length->at, "__", 2) || memcmp(length->at + len - 7, "_length", 7))
		return NULL;
	for (unsigned int i = 0; i < event->nr_fields; i++)
		if (strlen(event->fields[i].name) == len - 9 &&
		    !memcmp(event->fields[i].name, length->at + 2, len - 9))
			return &event->fields[i];
	return NULL;
}

static void field_kind(struct etch_field *field, const struct type *type, bool array)
{
	field->hex = type->hex;
	field->is_signed = type->is_signed;
	field->elem = type->bits / 8;
	field->kind = ETCH_NUMBER;
	if (array)
		field->kind = type->text ? ETCH_TEXT :
			      type->hex && type->bits == 8 ? ETCH_BYTES : ETCH_ARRAY;
}

/* Adds a field at bit @pos, and moves that on. */
static bool add_field(struct parser *p, struct etch_event *event, const struct described *d,
		      unsigned long *pos)
{
	struct etch_field field = { .type = "" };
	size_t len = d->name.len - 1;

	*pos = (*pos + d->type.align - 1) / d->type.align * d->type.align;
	field.offset = *pos / 8;
	if (d->array && d->count > 1 << 20)
		return false;
	field.size = d->type.bits / 8 * (d->array ? d->count : 1);
	*pos += (unsigned long)d->type.bits * (d->array ? d->count : 1);
	if (!strncmp(d->name.at, "__pad_", 6) || d->type.bits % 8)
		return true;
	field_kind(&field, &d->type, d->array);
	if (d->type.loc) {
		/* "__NAME_offset": the rest of the word follows, and is no field of its own. */
		if (len < 8)
			return false;
		len -= 8;
		field.where = ETCH_LOC;
		field.guessed = true;
		field.size = 4;
		field.kind = ETCH_BYTES;
		field.name = etch_source_text(p->source, d->name.at + 2, len);
	} else {
		field.name = etch_source_text(p->source, d->name.at + 1, len);
	}
	return field.name && etch_field_add(p->source, event, &field);
}

/* "struct { ... }", the braces included. False if something in it is not understood. */
static bool event_fields(struct parser *p, struct etch_event *event)
{
	unsigned long pos = 8 * ETCH_HEAD;
	bool word = false;
	struct described d;
	struct etch_field *of;

	if (!take(p, "struct") || !take(p, "{"))
		return false;
	while (p->token.kind && !is(p, "}")) {
		if (!describe(p, &d) || d.name.len < 2)
			return false;
		if (d.array && d.length.len && !isdigit((unsigned char)*d.length.at)) {
			of = field_of_length(event, &d.length);
			if (!of)
				return false;
			field_kind(of, &d.type, true);
			continue;
		}
		if (!word && !add_field(p, event, &d, &pos))
			return false;
		/* Behind an offset of 16 bits come as many in one or two fields. */
		if (word)
			pos += d.type.bits;
		word = d.type.loc || (word && pos % 32);
	}
	return take(p, "}");
}

static void event_block(struct parser *p)
{
	struct etch_event *event = NULL;
	long long id = -1, number;
	char name[256];

	while (p->token.kind && !is(p, "}")) {
		if (take(p, "id") && value(p, &number)) {
			id = number;
		} else if (take(p, "name") && value(p, &number)) {
			snprintf(name, sizeof(name), "%.*s", (int)p->token.len, p->token.at);
			if (id >= 0 && id < ETCH_IDS && !(p->more && p->source->by_id[id]))
				event = etch_event_add(p->source, id, name);
		} else if (take(p, "fields") && take(p, ":") && take(p, "=") && event &&
			   !event_fields(p, event)) {
			event->size = 0;	/* a format file may still describe it */
		}
		skip_statement(p);
	}
}

/* ---- The other blocks ---- */

static void clock_block(struct parser *p)
{
	struct etch_clock *clock = &p->source->clock;
	long long number;

	while (p->token.kind && !is(p, "}")) {
		if (take(p, "name") && take(p, "="))
			snprintf(clock->name, sizeof(clock->name), "%.*s", (int)p->token.len,
				 p->token.at);
		else if (take(p, "freq") && value(p, &number))
			clock->freq = number > 0 ? number : 1000000000;
		else if (take(p, "offset_s") && value(p, &number))
			clock->offset_ns += (uint64_t)number * 1000000000;
		else if (take(p, "offset") && value(p, &number))
			clock->offset_ns += etch_clock_ns(clock, number);
		else if (take(p, "absolute") && take(p, "="))
			clock->absolute = is(p, "true");
		skip_statement(p);
	}
}

/* The context and pid, which each record has, and then those that the instance adds. */
static void contexts(struct parser *p)
{
	struct etch_field field;
	struct described d;

	if (!take(p, "struct") || !take(p, "{"))
		return;
	while (p->token.kind && !is(p, "}")) {
		if (!describe(p, &d))
			return;
		if (d.type.bits < 8 || (d.name.len == 3 && !memcmp(d.name.at, "pid", 3)))
			continue;
		field = (struct etch_field){
			.name = etch_source_text(p->source, d.name.at, d.name.len),
			.type = "",
			.offset = ETCH_HEAD + p->source->more,
		};
		field_kind(&field, &d.type, d.array);
		field.size = d.array && d.count > 1024 ? 0 :
			     d.type.bits / 8 * (d.array ? d.count : 1);
		if (!field.name || !etch_context_add(p->source, &field))
			return;
	}
	take(p, "}");
}

static void stream_block(struct parser *p)
{
	while (p->token.kind && !is(p, "}")) {
		if (take(p, "event.context") && take(p, ":") && take(p, "="))
			contexts(p);
		skip_statement(p);
	}
}

int etch_tsdl_read(struct etch_source *source)
{
	struct parser p = { .source = source, .at = source->metadata };
	bool stream = false;

	source->clock.freq = 1000000000;
	for (next(&p); p.token.kind; skip_statement(&p)) {
		if (take(&p, "clock") && take(&p, "{")) {
			clock_block(&p);
		} else if (take(&p, "stream") && take(&p, "{")) {
			stream_block(&p);
			stream = true;
		} else if (take(&p, "event") && take(&p, "{")) {
			event_block(&p);
		}
		take(&p, "}");
	}
	if (stream)
		return 0;
	etch_complaint("%s/metadata describes no stream: it is not Etch's, or was cut off",
		       source->path);
	return -1;
}

void etch_tsdl_more(struct etch_source *source, const char *text)
{
	struct parser p = { .source = source, .at = text, .more = true };

	for (next(&p); p.token.kind; skip_statement(&p)) {
		if (take(&p, "event") && take(&p, "{"))
			event_block(&p);
		take(&p, "}");
	}
}

bool etch_env(const struct etch_source *source, const char *name, char *text, size_t room)
{
	struct parser p = { .at = strstr(source->metadata, "\nenv {") };
	size_t len = 0;
	bool found = false;

	*text = 0;
	if (!p.at)
		return false;
	next(&p);
	next(&p);
	for (next(&p); p.token.kind && !is(&p, "}") && !found; skip_statement(&p)) {
		found = take(&p, name) && take(&p, "=");
		len = p.token.len < room ? p.token.len : room - 1;
		if (found)
			memcpy(text, p.token.at, len);
	}
	text[found ? len : 0] = 0;
	return found;
}
