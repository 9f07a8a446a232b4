// SPDX-License-Identifier: GPL-2.0

#include <ctype.h>

#include "tsdl.h"

static __noreturn void tsdl_wrong(const char *at, const char *what)
{
	errno = EINVAL;
	give_up("metadata: %s at '%.80s'", what, at);
}

static const char *tsdl_space(const char *at)
{
	return at + strspn(at, " \t\n");
}

/* The next token must be @what. */
static const char *tsdl_want(const char *at, const char *what)
{
	at = tsdl_space(at);
	if (strncmp(at, what, strlen(what)))
		tsdl_wrong(at, what);
	return tsdl_space(at + strlen(what));
}

static bool tsdl_is(const char *at, const char *what)
{
	return !strncmp(at, what, strlen(what));
}

static const char *tsdl_word(const char *at, char *word, size_t size)
{
	size_t len = 0;

	while (isalnum(at[len]) || at[len] == '_')
		len++;
	if (!len || len >= size)
		tsdl_wrong(at, "no word, or a long one");
	snprintf(word, size, "%.*s", (int)len, at);
	return tsdl_space(at + len);
}

static const char *tsdl_number(const char *at, unsigned int *number)
{
	char *end;

	*number = strtoul(at, &end, 10);
	if (end == at)
		tsdl_wrong(at, "no number");
	return tsdl_space(end);
}

/* "{ size = N; ... }" of an integer. */
static const char *tsdl_integer(const char *at, struct tsdl_type *type)
{
	char name[32], value[32];

	memset(type, 0, sizeof(*type));
	at = tsdl_want(at, "{");
	while (*at != '}') {
		at = tsdl_word(at, name, sizeof(name));
		at = tsdl_want(at, "=");
		at = tsdl_word(at, value, sizeof(value));
		if (*at == '.')		/* map = clock.NAME.value */
			at += strcspn(at, ";");
		at = tsdl_want(at, ";");
		if (!strcmp(name, "size"))
			type->size = atoi(value);
		else if (!strcmp(name, "align"))
			type->align = atoi(value);
		else if (!strcmp(name, "base"))
			type->base = atoi(value);
		else if (!strcmp(name, "signed"))
			type->is_signed = !strcmp(value, "true");
		else if (!strcmp(name, "encoding"))
			type->is_text = true;
	}
	if (!type->size || !type->align)
		tsdl_wrong(at, "an integer without size");
	return tsdl_space(at + 1);
}

/* The type that a name was given: "typealias integer {...} := NAME;" */
static void tsdl_alias(const char *text, const char *name, struct tsdl_type *type)
{
	char other[64];
	const char *at;

	for (at = text; (at = strstr(at, "typealias integer ")); ) {
		at = tsdl_integer(at + strlen("typealias integer "), type);
		at = tsdl_want(at, ":=");
		tsdl_word(at, other, sizeof(other));
		if (!strcmp(name, other))
			return;
	}
	tsdl_wrong(name, "an unknown type");
}

static const char *tsdl_type(const char *text, const char *at, struct tsdl_type *type)
{
	char name[64];

	if (tsdl_is(at, "integer "))
		return tsdl_integer(at + strlen("integer "), type);
	at = tsdl_word(at, name, sizeof(name));
	tsdl_alias(text, name, type);
	return at;
}

/* The names of an enumeration: each has one value, which must fit the type. */
static const char *tsdl_values(const char *at, struct tsdl_field *f)
{
	const char *sign;
	char *end;

	at = tsdl_want(at, "{");
	while (*at == '"') {
		for (at++; *at && *at != '"'; at++)
			at += *at == '\\';
		at = tsdl_want(at + 1, "=");
		sign = at;
		errno = 0;
		if (f->type.is_signed) {
			long long v = strtoll(at, &end, 10);

			if (f->type.size < 64 && v >> (f->type.size - 1) != v >> 63)
				errno = ERANGE;
		} else {
			unsigned long long v = strtoull(at, &end, 10);

			if (*sign == '-' || (f->type.size < 64 && v >> f->type.size))
				errno = ERANGE;
		}
		if (errno || end == at)
			tsdl_wrong(at, "a value that is none of the type");
		f->values++;
		at = tsdl_space(end);
		if (*at == ',')
			at = tsdl_space(at + 1);
	}
	return tsdl_want(at, "}");
}

/* "NAME", "NAME[7]" or "NAME[LENGTH]"; the number of elements goes into f->bits. */
static const char *tsdl_declarator(const char *at, struct tsdl_field *f)
{
	if (*at != '_')
		tsdl_wrong(at, "a name without underscore");
	at = tsdl_word(at + 1, f->name, sizeof(f->name));
	f->bits = 1;
	if (*at != '[')
		return at;
	if (isdigit(at[1]))
		at = tsdl_number(at + 1, &f->bits);
	else
		at = tsdl_word(at + 2, f->length, sizeof(f->length));
	return tsdl_want(at, "]");
}

/* "struct { TYPE bytes[LENGTH]; } align(N) NAME": bytes that have an alignment */
static const char *tsdl_wrapped(const char *text, const char *at, struct tsdl_field *f)
{
	char length[128], word[32];

	at = tsdl_type(text, tsdl_want(at, "struct {"), &f->type);
	at = tsdl_word(at, word, sizeof(word));
	at = tsdl_want(at, "[");
	at = tsdl_word(at + 1, length, sizeof(length));
	at = tsdl_want(tsdl_want(tsdl_want(at, "]"), ";"), "}");
	at = tsdl_number(tsdl_want(at, "align("), &f->type.align);
	at = tsdl_declarator(tsdl_want(at, ")"), f);
	snprintf(f->length, sizeof(f->length), "%s", length);
	return at;
}

/* A comment, if there is one. */
static const char *tsdl_remark(const char *at, struct tsdl_field *f)
{
	const char *end;

	if (!tsdl_is(at, "/*"))
		return at;
	end = strstr(at + 2, "*/");
	if (!end)
		tsdl_wrong(at, "a comment without an end");
	f->remark = end + 2 - at;
	return tsdl_space(end + 2);
}

static const char *tsdl_field(const char *text, const char *at, struct tsdl_event *e)
{
	struct tsdl_field *f = &e->fields[e->nr++];

	if (e->nr == TSDL_FIELDS)
		tsdl_wrong(at, "too many fields");
	memset(f, 0, sizeof(*f));
	at = tsdl_remark(at, f);
	if (tsdl_is(at, "struct ")) {
		at = tsdl_wrapped(text, at, f);
	} else if (tsdl_is(at, "enum : ")) {
		at = tsdl_type(text, at + strlen("enum : "), &f->type);
		at = tsdl_values(at, f);
		at = tsdl_declarator(at, f);
	} else {
		at = tsdl_type(text, at, &f->type);
		at = tsdl_declarator(at, f);
	}
	f->bits = *f->length ? 0 : f->bits * f->type.size;
	e->end = (e->end + f->type.align - 1) / f->type.align * f->type.align;
	f->at = e->end;
	e->end += f->bits;
	return tsdl_want(at, ";");
}

/* The event that comes next. Returns what follows it, or NULL when there is none. */
const char *tsdl_event(const char *text, const char *at, struct tsdl_event *e)
{
	unsigned int stream;

	at = strstr(at, "\nevent {\n");
	if (!at)
		return NULL;
	at = tsdl_want(at, "event {");
	at = tsdl_number(tsdl_want(tsdl_want(at, "id"), "="), &e->id);
	at = tsdl_want(tsdl_want(tsdl_want(tsdl_want(at, ";"), "name"), "="), "\"");
	snprintf(e->name, sizeof(e->name), "%.*s", (int)strcspn(at, "\""), at);
	at = tsdl_want(tsdl_want(at + strlen(e->name), "\""), ";");
	/* Stream 1 has the events of programs, which earlier tests may have left. */
	at = tsdl_want(tsdl_number(tsdl_want(tsdl_want(at, "stream_id"), "="), &stream), ";");
	if (stream > 1)
		tsdl_wrong(at, "another stream");
	at = tsdl_want(at, "fields := struct {");
	e->nr = 0;
	e->end = TSDL_HEAD_BITS;
	while (*at != '}')
		at = tsdl_field(text, at, e);
	return tsdl_want(tsdl_want(tsdl_want(at, "}"), ";"), "}") - 1;
}

const struct tsdl_field *tsdl_find(const struct tsdl_event *e, const char *name)
{
	for (unsigned int i = 0; i < e->nr; i++)
		if (!strcmp(e->fields[i].name, name))
			return &e->fields[i];
	return NULL;
}

/* The text between "\tNAME = " and the semicolon, in one of a few buffers that take turns. */
const char *tsdl_value(const char *text, const char *name)
{
	static char values[8][256];
	static unsigned int turn;
	char *value = values[turn++ % ARRAY_LEN(values)];
	char line[64];
	const char *at;

	snprintf(line, sizeof(line), "\n\t%s = ", name);
	at = text ? strstr(text, line) : NULL;
	if (!at)
		return "(none)";
	at += strlen(line);
	snprintf(value, sizeof(values[0]), "%.*s", (int)strcspn(at, ";"), at);
	return value;
}
