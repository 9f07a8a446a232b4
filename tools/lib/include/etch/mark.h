/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_MARK_H
#define _ETCH_MARK_H

/*
 * Markers: an event of a program in one line of code.
 *
 *	#include <etch/mark.h>
 *
 *	etch_mark("request", id, conn->peer, path);
 *
 * in a program serverd is an event, serverd:request, with the fields id, conn_peer and path. There
 * is no header to write, and nothing to define. It is off until it is enabled, and then costs two
 * loads and a branch; the expressions are evaluated only while it is on, so they must not have
 * side effects.
 *
 * A field can be
 *
 *	an integer, enum, bool	in its own size and sign, up to 64 bits; a bit-field as the int, or
 *				the larger type, that the compiler makes of it
 *	a char *, char array	a string: up to ETCH_STRING bytes, and up to the array's end. NULL
 *				is "(null)". In C++, an object with c_str() as well
 *	another pointer		the address
 *
 * Anything else does not compile. There may be 12 expressions, or none. Fields are named by the
 * expressions as they stand in the source: p->name[2] is p_name_2.
 *
 * The name is a literal, of letters, digits and underscores. Several markers may have one name:
 * if their fields have the same names and types, they are one event. Otherwise the kernel gives
 * one of them a name of its own, with a number behind it. A program or library has 1024 markers
 * at most.
 *
 * The provider is the program's name, with '_' for all but letters and digits; if a part of the
 * kernel is called so, "user_" stands before it. A library may have a name of its own: it
 * defines ETCH_MARK_PROVIDER, a literal, before it includes this.
 *
 * etch_mark_error() says why markers cannot be recorded.
 *
 * In C each marker leaves a struct etch_mark_site in the section etch_marks, which is registered
 * before main(), or when the library is loaded. In C++, where a section cannot have what is in
 * a template, an object registers it.
 */

#include <etch/user.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ETCH_MARK_PROVIDER
#define ETCH_MARK_PROVIDER	NULL
#endif

#define ETCH_MARK_FIELDS	12

/* The kinds of fields. */
enum etch_mark_kind {
	ETCH_MARK_UNSIGNED,
	ETCH_MARK_SIGNED,
	ETCH_MARK_BOOL,
	ETCH_MARK_CHAR,
	ETCH_MARK_POINTER,
	ETCH_MARK_TEXT,
};

/* In etch_mark_site.fields: the kind above the size in bytes; of a string, its most bytes. */
#define ETCH_MARK_SHIFT		12
#define ETCH_MARK_SIZE		((1U << ETCH_MARK_SHIFT) - 1)

/**
 * struct etch_mark_site - a marker
 * @gate: not 0 while any instance records it
 * @provider: the provider's name; NULL: the program's
 * @name: the event's name
 * @exprs: the name and the expressions, as they stand in the source; NULL: fields are arg1, arg2
 * @nr: how many expressions
 * @index: of its gate
 * @fields: of each: enum etch_mark_kind << ETCH_MARK_SHIFT | size; and 0 behind the last
 * @texts: how many of them are strings; known when it is registered
 */
struct etch_mark_site {
	const uint32_t *volatile gate;
	const char *provider;
	const char *name;
	const char *exprs;
	uint32_t nr;
	uint32_t index;
	uint16_t fields[ETCH_MARK_FIELDS + 1];
	uint16_t texts;
};

/* ---- One for each program or library: the linker takes the first of them ---- */

#define ETCH__SHARED	__attribute__((weak, visibility("hidden")))

/* The gate of a marker that is not registered. */
ETCH__SHARED uint32_t etch__mark_off;
/* Always read by etch_mark_site.gate, of which a compiler knows nothing. */
ETCH__SHARED uint32_t etch__mark_gates[ETCH_PAGE / 4] __attribute__((aligned(ETCH_PAGE))) = { 0 };
ETCH__SHARED uint16_t etch__mark_ids[ETCH_USER_GATES] = { 0 };
ETCH__SHARED __thread int32_t etch__mark_tid __attribute__((tls_model("initial-exec"))) = 0;
ETCH__SHARED int etch__marks_begun = 0;
ETCH__SHARED struct etch_provider etch__marks = {
	NULL, NULL, etch__mark_gates, etch__mark_ids, 0, -1, ETCH__UNTRIED, 0, NULL,
};

extern struct etch_mark_site __start_etch_marks[] ETCH__SHARED;
extern struct etch_mark_site __stop_etch_marks[] ETCH__SHARED;

/* The C library's: the program's name, without its path. */
extern char *__progname __attribute__((weak));

/**
 * etch_mark_error() - why are there no markers?
 *
 * Return: 0, or an errno: one of etch_provider_error()'s, or of the first marker that the kernel
 * refused; E2BIG: there are more than 1024.
 */
static inline int etch_mark_error(void)
{
	return etch__marks.error == ETCH__UNTRIED ? 0 : etch__marks.error;
}

/* ---- Names ---- */

#define ETCH__MARK_NAME		48	/* bytes of a field's name; a longer one is cut */
#define ETCH__MARK_PROGRAM	24	/* of a program's */

static inline int etch__is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Bytes of the first expression of a list: up to a comma that is in no bracket and no quote. */
static inline size_t etch__expr_len(const char *list)
{
	int depth = 0;
	char quote = 0;
	size_t i;

	for (i = 0; list[i]; i++) {
		if (quote) {
			if (list[i] == '\\' && list[i + 1])
				i++;
			else if (list[i] == quote)
				quote = 0;
		} else if (list[i] == '"' || list[i] == '\'') {
			quote = list[i];
		} else if (strchr("([{", list[i])) {
			depth++;
		} else if (strchr(")]}", list[i])) {
			depth--;
		} else if (list[i] == ',' && !depth) {
			break;
		}
	}
	return i;
}

/* Writes the name that an expression gives its field, and returns its bytes. */
static inline size_t etch__ident(char *name, size_t room, const char *expr, size_t len)
{
	int gap = 0;
	size_t nr = 0;

	for (; len && nr + 2 < room; expr++, len--) {
		if (!etch__is_alnum(*expr) && *expr != '_') {
			gap = nr > 0;
			continue;
		}
		if (gap || (!nr && *expr <= '9'))
			name[nr++] = '_';
		gap = 0;
		name[nr++] = *expr;
	}
	if (!nr)
		name[nr++] = '_';
	name[nr] = '\0';
	return nr;
}

/* Appends a number below 100. */
static inline void etch__append_number(char *text, unsigned int nr)
{
	size_t len = strlen(text);

	if (nr > 9)
		text[len++] = '0' + nr / 10;
	text[len++] = '0' + nr % 10;
	text[len] = '\0';
}

/* The names of a site's fields. Two alike get their numbers. */
static inline void etch__mark_names(const struct etch_mark_site *site,
				    char names[][ETCH__MARK_NAME + 8])
{
	const char *exprs = site->exprs;
	unsigned int i, j, tries;

	for (i = 0; i < site->nr; i++) {
		if (exprs) {
			exprs += etch__expr_len(exprs);
			exprs += *exprs == ',';
			etch__ident(names[i], ETCH__MARK_NAME, exprs, etch__expr_len(exprs));
		} else {
			strcpy(names[i], "arg");
			etch__append_number(names[i], i + 1);
		}
		for (tries = 0; tries < 2; tries++) {
			for (j = 0; j < i && strcmp(names[i], names[j]); j++)
				;
			if (j == i)
				break;
			strcat(names[i], "_");
			etch__append_number(names[i], i + 1);
		}
	}
}

/* ---- Registering ---- */

static inline unsigned int etch__mark_size(uint16_t field)
{
	return field & ETCH_MARK_SIZE;
}

static inline enum etch_mark_kind etch__mark_kind(uint16_t field)
{
	return (enum etch_mark_kind)(field >> ETCH_MARK_SHIFT);
}

static inline const char *etch__mark_type(uint16_t field)
{
	static const char *const types[2][4] = {
		{ "u8 ", "u16 ", "u32 ", "u64 " }, { "s8 ", "s16 ", "s32 ", "s64 " },
	};

	switch (etch__mark_kind(field)) {
	case ETCH_MARK_TEXT:
		return "__data_loc char[] ";
	case ETCH_MARK_BOOL:
		return "bool ";
	case ETCH_MARK_CHAR:
		return "char ";
	case ETCH_MARK_POINTER:
		return "u64 ";
	default:
		return types[etch__mark_kind(field)][__builtin_ctz(etch__mark_size(field))];
	}
}

static inline int etch__mark_register(const struct etch_mark_site *site, const char *fields)
{
	char program[ETCH__MARK_PROGRAM + 8] = "user_", *own = program + 5;
	const char *name = &__progname && __progname ? __progname : "program";
	int error;
	size_t i;

	if (site->provider)
		return etch__register(&etch__marks, etch__marks.nr, site->provider, site->name,
				      fields);
	for (i = 0; name[i] && i < ETCH__MARK_PROGRAM; i++)
		own[i] = etch__is_alnum(name[i]) ? name[i] : '_';
	own[i] = '\0';
	error = *own > '9' ? etch__register(&etch__marks, etch__marks.nr, own, site->name, fields) :
			     EEXIST;
	/* A part of the kernel is called so. */
	if (error == EEXIST)
		error = etch__register(&etch__marks, etch__marks.nr, program, site->name, fields);
	return error;
}

/* Not in parallel: the C library runs one constructor at a time. */
static __attribute__((noinline, unused)) void etch__mark_add(struct etch_mark_site *site)
{
	char names[ETCH_MARK_FIELDS][ETCH__MARK_NAME + 8], fields[ETCH_USER_FIELDS] = "";
	struct etch_provider *p = &etch__marks;
	int first = p->error == ETCH__UNTRIED, error;
	unsigned int i;

	etch__open_device(p);
	if (p->fd < 0 || site->gate != &etch__mark_off)
		return;
	if (first)
		p->error = etch__map_gates(p);
	etch__mark_names(site, names);
	for (i = 0; i < site->nr; i++) {
		site->texts += etch__mark_kind(site->fields[i]) == ETCH_MARK_TEXT;
		strcat(fields, etch__mark_type(site->fields[i]));
		strcat(fields, names[i]);
		strcat(fields, ";");
	}
	error = p->nr < ETCH_USER_GATES ? etch__mark_register(site, fields) : E2BIG;
	if (error) {
		p->error = p->error ? p->error : error;
		return;
	}
	site->index = p->nr++;
	site->gate = &etch__mark_gates[site->index];
}

/* Each source has these, for those of all. */
static __attribute__((constructor)) void etch__marks_begin(void)
{
	struct etch_mark_site *site = __start_etch_marks, *stop = __stop_etch_marks;

	if (etch__marks_begun)
		return;
	etch__marks_begun = 1;
	for (; site < stop; site++)
		etch__mark_add(site);
}

static __attribute__((destructor)) void etch__marks_end(void)
{
	if (etch__marks_begun)
		etch__withdraw(&etch__marks);
	etch__marks_begun = 0;
}

/* ---- Recording ---- */

/* Does any instance record a marker? A compiler for x86-64 takes one instruction more for it. */
static inline __attribute__((always_inline)) int etch__mark_on(const uint32_t *gate)
{
#ifdef __x86_64__
	int on;

	__asm__ volatile("cmpl $0, %1" : "=@ccne" (on) : "m" (*gate));
	return on;
#else
	return *(const volatile uint32_t *)gate != 0;
#endif
}

static inline void etch__mark_put(char *at, unsigned int size, uint64_t value)
{
	switch (size) {
	case 1:
		*(uint8_t *)at = value;
		break;
	case 2:
		*(uint16_t *)(void *)at = value;
		break;
	case 4:
		*(uint32_t *)(void *)at = value;
		break;
	default:
		memcpy(at, &value, sizeof(value));
	}
}

static inline const char *etch__mark_text(uint64_t value)
{
	return value ? (const char *)(uintptr_t)value : "(null)";
}

/* Bytes of a string, with the zero behind it. */
static inline size_t etch__mark_length(uint16_t field, uint64_t value)
{
	return strnlen(etch__mark_text(value), etch__mark_size(field)) + 1;
}

/* Another thread may have made the string shorter since it was measured, or longer: it is cut. */
static inline void etch__mark_put_text(char *to, const char *text, size_t size)
{
	memcpy(to, text, size - 1);
	to[size - 1] = '\0';
}

/* Where the next field is, behind @end. */
static inline size_t etch__mark_align(size_t end, size_t size)
{
	size_t align = size < 4 ? size : 4;

	return (end + align - 1) & ~(align - 1);
}

/* Numbers alone, at most ETCH_MARK_FIELDS of them. Returns the bytes that they take in @buf. */
static inline size_t etch__mark_numbers(const struct etch_mark_site *site, const uint64_t *values,
					char *buf)
{
	size_t at = 0, size;
	unsigned int i;

	memset(buf, 0, ETCH_MARK_FIELDS * sizeof(*values));
	for (i = 0; i < site->nr; i++) {
		size = etch__mark_size(site->fields[i]);
		at = etch__mark_align(at, size);
		etch__mark_put(buf + at, size, values[i]);
		at += size;
	}
	return at;
}

/* How long each field is. Returns the bytes of all but the strings' content, which is @texts. */
static inline size_t etch__mark_measure(const struct etch_mark_site *site, const uint64_t *values,
					uint16_t *sizes, size_t *texts)
{
	size_t fixed = 0;
	unsigned int i;

	for (i = 0; i < site->nr; i++) {
		uint16_t field = site->fields[i];

		if (etch__mark_kind(field) == ETCH_MARK_TEXT) {
			sizes[i] = etch__mark_length(field, values[i]);
			*texts += sizes[i];
			fixed = etch__mark_align(fixed, 4) + 4;
		} else {
			sizes[i] = etch__mark_size(field);
			fixed = etch__mark_align(fixed, sizes[i]) + sizes[i];
		}
	}
	return fixed;
}

/* Numbers and strings, whose content begins at @texts. */
static inline void etch__mark_fill(const struct etch_mark_site *site, const uint64_t *values,
				   const uint16_t *sizes, char *buf, size_t texts)
{
	unsigned int i;
	size_t at = 0;

	for (i = 0; i < site->nr; i++) {
		if (etch__mark_kind(site->fields[i]) == ETCH_MARK_TEXT) {
			at = etch__mark_align(at, 4);
			etch__mark_put(buf + at, 4, (ETCH_HEAD + texts) | (uint32_t)sizes[i] << 16);
			etch__mark_put_text(buf + texts, etch__mark_text(values[i]), sizes[i]);
			texts += sizes[i];
			at += 4;
		} else {
			at = etch__mark_align(at, sizes[i]);
			etch__mark_put(buf + at, sizes[i], values[i]);
			at += sizes[i];
		}
	}
}

/* Stores the record of a marker that is on. A section copies eight bytes at a time. */
static __attribute__((noinline, unused)) void
etch__mark_store(const struct etch_mark_site *site, const uint64_t *values)
{
	char numbers[(ETCH_MARK_FIELDS + 2) * sizeof(uint64_t)], *buf = numbers;
	uint16_t sizes[ETCH_MARK_FIELDS];
	size_t fixed, texts = 0;

	if (site->texts) {
		fixed = etch__mark_measure(site, values, sizes, &texts);
		buf = (char *)__builtin_alloca(fixed + texts + 2 * sizeof(uint64_t));
		memset(buf, 0, fixed);
		memset(buf + ((fixed + texts) & ~(size_t)3), 0, 4);
		etch__mark_fill(site, values, sizes, buf, fixed);
	} else {
		fixed = etch__mark_numbers(site, values, buf);
	}
	etch__record(&etch__marks, &etch__mark_tid, site->index, buf,
		     (fixed + texts + 3) & ~(size_t)3);
}

/*
 * The compiler moves the call of a cold function out of the marker's way, but compiles a cold
 * function for size. So this one does nothing but call the one that stores.
 */
static __attribute__((noinline, unused, cold)) void
etch__mark_hit(const struct etch_mark_site *site, const uint64_t *values)
{
	etch__mark_store(site, values);
}

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
#include <etch/mark_cxx.h>
#else
#include <etch/mark_c.h>
#endif

/**
 * etch_mark() - record the values of some expressions
 * @...: the event's name, a literal; and the expressions, which are evaluated while the event is on
 */
#define etch_mark(...) ETCH__MARK(ETCH_MARK_PROVIDER, #__VA_ARGS__, __VA_ARGS__)

#endif /* _ETCH_MARK_H */
