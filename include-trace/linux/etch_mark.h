/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_ETCH_MARK_H
#define _LINUX_ETCH_MARK_H

/*
 * Markers: an event in one line of code.
 *
 * OVERVIEW
 *
 *	etch_mark("swap_out", page_nr, dev->name, ret);
 *
 * is an event, markers:swap_out, with the fields page_nr, dev_name and ret. It is in
 * events/markers/ like any other, with a format, filters, triggers and histograms, and it is off
 * until it is enabled. There is no header to write. Works in the kernel, in modules, and in
 * inline functions of headers.
 *
 * WHAT A FIELD CAN BE
 *
 *	integers, enums, bool	each in its own size and sign; a bit-field as the int, or the
 *				larger type, that the compiler makes of it
 *	char, char arrays	an array is copied as a string, up to its first zero or its end
 *	char *			the string is copied, up to ETCH_MARK_STRING characters; NULL is
 *				"(null)". It must be memory of the kernel: cast a pointer to user
 *				space to void *
 *	other pointers		the address, which text shows hashed
 *
 * A struct, a union, an array of anything but char, or a floating point number does not compile:
 * name its members. At most ETCH_MARK_FIELDS expressions; none is fine, too.
 *
 * Fields are named by the expressions as they stand in the source: p->name[2] is p_name_2.
 *
 * RULES
 *
 * The expressions are evaluated only while the event is on, so they must not have side effects.
 *
 * A marker may stand wherever a TRACE_EVENT() may: in any context, NMI included; not in noinstr
 * code, nor where RCU is not watching. Each field costs 8 bytes of stack, so at most 96.
 *
 * The name is a literal, of letters, digits and underscores. Several markers may have one name:
 * if their fields have the same names and types, they are one event. A marker whose fields
 * differ from those of the first one with its name is refused: the log names both places, and
 * it never fires.
 *
 * COST
 *
 * Off: a NOP. Beside it, off the straight line, the expressions and one call; 80 bytes of data;
 * and an entry in the table of jump labels. The macro makes no functions.
 *
 * IMPLEMENTATION
 *
 * Each marker leaves a struct etch_mark_site in the section _etch_marks.
 * kernel/etch/source/mark.c makes the events of them, at boot and when a module comes.
 */

#include <linux/args.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/types.h>

struct etch_mark;

#define ETCH_MARK_FIELDS	12
#define ETCH_MARK_STRING	1023

/**
 * enum etch_mark_kind - what a field is
 * @ETCH_MARK_UNSIGNED: an unsigned integer
 * @ETCH_MARK_SIGNED: a signed integer
 * @ETCH_MARK_BOOL: a bool
 * @ETCH_MARK_CHAR: a char
 * @ETCH_MARK_POINTER: an address
 * @ETCH_MARK_TEXT: a string
 */
enum etch_mark_kind {
	ETCH_MARK_UNSIGNED,
	ETCH_MARK_SIGNED,
	ETCH_MARK_BOOL,
	ETCH_MARK_CHAR,
	ETCH_MARK_POINTER,
	ETCH_MARK_TEXT,
};

/* In etch_mark_site::fields: the kind above the size in bytes; of a string, its most characters. */
#define ETCH_MARK_SHIFT		12
#define ETCH_MARK_SIZE		((1U << ETCH_MARK_SHIFT) - 1)

/**
 * struct etch_mark_site - a marker
 * @gate: open while any instance wants the event
 * @mark: the event; NULL if the marker is refused
 * @name: the event's name
 * @exprs: the expressions, as they stand in the source
 * @file: where it is
 * @line: where it is
 * @nr: how many expressions
 * @fields: of each: enum etch_mark_kind << ETCH_MARK_SHIFT | size
 */
struct etch_mark_site {
	struct static_key gate;
	const struct etch_mark *mark;
	const char *name;
	const char *exprs;
	const char *file;
	u32 line;
	u16 nr;
	u16 fields[ETCH_MARK_FIELDS];
};

void etch_mark_hit(const struct etch_mark_site *site, const u64 *values);

/* ---- What an expression is. None of these evaluates it. ---- */

/* As a value: an array is a pointer, a bit-field is promoted. */
#define __etch_mark_value(x)	(1 ? (x) : (x))

/* The compilers number the classes of types: 1 to 4 are integers of all kinds. */
#ifndef __CHECKER__
#define __etch_mark_class(x)	__builtin_classify_type(__etch_mark_value(x))
#else
/* sparse does not know that; to it, all fields are integers. */
#define __etch_mark_class(x)	1
#endif
#define __etch_mark_is_int(x)	(__etch_mark_class(x) >= 1 && __etch_mark_class(x) <= 4)
#define __etch_mark_is_ptr(x)	(__etch_mark_class(x) == 5)
#define __etch_mark_is_text(x)	_Generic(__etch_mark_value(x),		\
	char *: 1, const char *: 1, default: 0)

/* The expression itself if it is of a class, so that there is no sizeof of a bit-field. */
#define __etch_mark_int(x)						\
	__builtin_choose_expr(__etch_mark_is_int(x), __etch_mark_value(x), 0)
#define __etch_mark_ptr(x)						\
	__builtin_choose_expr(__etch_mark_is_ptr(x), (x), (void *)0)
#define __etch_mark_text(x)	_Generic(__etch_mark_value(x),		\
	char *: (x), const char *: (x), default: "")

/* Of arrays, only those of char. */
#define __etch_mark_fits(x)						\
	(__etch_mark_is_int(x) || __etch_mark_is_text(x) ||		\
	 (__etch_mark_is_ptr(x) &&					\
	  __same_type(__etch_mark_ptr(x), __etch_mark_value(__etch_mark_ptr(x)))))

/* A small integer is not promoted, and is what it is. */
#define __etch_mark_kind(x) _Generic((x),				\
	bool: ETCH_MARK_BOOL, char: ETCH_MARK_CHAR,			\
	signed char: ETCH_MARK_SIGNED, unsigned char: ETCH_MARK_UNSIGNED, \
	short: ETCH_MARK_SIGNED, unsigned short: ETCH_MARK_UNSIGNED,	\
	default: __etch_mark_is_text(x) ? ETCH_MARK_TEXT :		\
		 __etch_mark_is_ptr(x) ? ETCH_MARK_POINTER :		\
		 is_signed_type(typeof(__etch_mark_int(x))) ?		\
		 ETCH_MARK_SIGNED : ETCH_MARK_UNSIGNED)

#define __etch_mark_most(size)						\
	((size) < ETCH_MARK_STRING ? (size) : ETCH_MARK_STRING)
#define __etch_mark_chars(text)						\
	(__same_type(text, char *) || __same_type(text, const char *) ?	\
	 ETCH_MARK_STRING : __etch_mark_most(sizeof(text)))

#define __etch_mark_size(x) _Generic((x),				\
	bool: 1, char: 1, signed char: 1, unsigned char: 1,		\
	short: 2, unsigned short: 2,					\
	default: __etch_mark_is_text(x) ? __etch_mark_chars(__etch_mark_text(x)) : \
		 __etch_mark_is_ptr(x) ? sizeof(void *) : sizeof(__etch_mark_int(x)))

/* ---- For each expression ---- */

#define __etch_mark_0(m)
#define __etch_mark_1(m, x)		m(x)
#define __etch_mark_2(m, x, more...)	m(x) __etch_mark_1(m, more)
#define __etch_mark_3(m, x, more...)	m(x) __etch_mark_2(m, more)
#define __etch_mark_4(m, x, more...)	m(x) __etch_mark_3(m, more)
#define __etch_mark_5(m, x, more...)	m(x) __etch_mark_4(m, more)
#define __etch_mark_6(m, x, more...)	m(x) __etch_mark_5(m, more)
#define __etch_mark_7(m, x, more...)	m(x) __etch_mark_6(m, more)
#define __etch_mark_8(m, x, more...)	m(x) __etch_mark_7(m, more)
#define __etch_mark_9(m, x, more...)	m(x) __etch_mark_8(m, more)
#define __etch_mark_10(m, x, more...)	m(x) __etch_mark_9(m, more)
#define __etch_mark_11(m, x, more...)	m(x) __etch_mark_10(m, more)
#define __etch_mark_12(m, x, more...)	m(x) __etch_mark_11(m, more)
/* Too many: an assertion says so, and nothing else has to. */
#define __etch_mark_13(m, more...)
#define __etch_mark_14(m, more...)
#define __etch_mark_15(m, more...)
#define __etch_mark_each(m, _exprs...)					\
	CONCATENATE(__etch_mark_, COUNT_ARGS(_exprs))(m, ##_exprs)

#define __etch_mark_check(x)						\
	static_assert(__etch_mark_fits(x),				\
		      "etch_mark(): neither a number, nor a pointer, nor a string");
#define __etch_mark_field(x)						\
	__etch_mark_kind(x) << ETCH_MARK_SHIFT | (u16)__etch_mark_size(x),
#define __etch_mark_word(x)						\
	(__force u64)__builtin_choose_expr(__etch_mark_fits(x), __etch_mark_value(x), 0),
#define __etch_mark_unused(x)						\
	(void)__etch_mark_value(x);

#define __etch_mark_checks(_exprs...)					\
	static_assert(COUNT_ARGS(_exprs) <= ETCH_MARK_FIELDS,		\
		      "etch_mark(): too many expressions");		\
	__etch_mark_each(__etch_mark_check, ##_exprs)

/* What a site is at first. @_text: @_exprs as they stand in the source. */
#define __ETCH_MARK_SITE(_name, _text, _exprs...) {			\
	.name = "" _name,						\
	.exprs = _text,							\
	.file = __FILE__,						\
	.line = __LINE__,						\
	.nr = COUNT_ARGS(_exprs),					\
	.fields = { __etch_mark_each(__etch_mark_field, ##_exprs) },	\
}

/**
 * etch_mark() - record the values of some expressions
 * @_name: the event's name, a literal
 * @_exprs: the expressions, which are evaluated while the event is on
 *
 * Context: any, NMI included, if RCU is watching.
 */
#ifdef CONFIG_ETCH_MARK
#define etch_mark(_name, _exprs...)					\
do {									\
	static struct etch_mark_site __etch_site			\
	__used __aligned(8) __section("_etch_marks") =			\
		__ETCH_MARK_SITE(_name, #_exprs, ##_exprs);		\
	__etch_mark_checks(_exprs)					\
									\
	if (static_key_false(&__etch_site.gate)) {			\
		const u64 __etch_values[] = {				\
			__etch_mark_each(__etch_mark_word, ##_exprs)	\
		};							\
									\
		etch_mark_hit(&__etch_site, __etch_values);		\
	}								\
} while (0)
#else
#define etch_mark(_name, _exprs...)					\
do {									\
	static_assert(sizeof("" _name));				\
	__etch_mark_checks(_exprs)					\
									\
	if (0) {							\
		__etch_mark_each(__etch_mark_unused, ##_exprs)		\
	}								\
} while (0)
#endif

#endif /* _LINUX_ETCH_MARK_H */
