/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_MARK_C_H
#define _ETCH_MARK_C_H

/* <etch/mark.h> for C: the types of expressions by _Generic. */

/* ---- What an expression is. None of these evaluates it. ---- */

/* As a value: an array is a pointer, a bit-field is promoted. */
#define ETCH__VALUE(x)	(1 ? (x) : (x))

/* The compilers number the classes of types: 1 to 4 are integers of all kinds, 5 is a pointer. */
#define ETCH__CLASS(x)	__builtin_classify_type(ETCH__VALUE(x))
#define ETCH__IS_INT(x)	(ETCH__CLASS(x) >= 1 && ETCH__CLASS(x) <= 4)
#define ETCH__IS_PTR(x)	(ETCH__CLASS(x) == 5)
#define ETCH__IS_TEXT(x) _Generic(ETCH__VALUE(x), char *: 1, const char *: 1, default: 0)

/* The expression itself if it is of a class, so that no sizeof is of a bit-field. */
#define ETCH__INT(x)	__builtin_choose_expr(ETCH__IS_INT(x), ETCH__VALUE(x), 0)
#define ETCH__PTR(x)	__builtin_choose_expr(ETCH__IS_PTR(x), (x), (void *)0)
#define ETCH__TEXT_OF(x) _Generic(ETCH__VALUE(x), char *: (x), const char *: (x), default: "")

#define ETCH__SAME(a, b) __builtin_types_compatible_p(__typeof__(a), __typeof__(b))

/* Of arrays, those of char alone; no integer of more than 64 bits. */
#define ETCH__FITS(x)							\
	((ETCH__IS_INT(x) && sizeof(ETCH__INT(x)) <= 8) || ETCH__IS_TEXT(x) || \
	 (ETCH__IS_PTR(x) && ETCH__SAME(ETCH__PTR(x), ETCH__VALUE(ETCH__PTR(x)))))

/* A small integer is not promoted, and is what it is. */
#define ETCH__KIND(x) _Generic((x),					\
	_Bool: ETCH_MARK_BOOL, char: ETCH_MARK_CHAR,			\
	signed char: ETCH_MARK_SIGNED, unsigned char: ETCH_MARK_UNSIGNED, \
	short: ETCH_MARK_SIGNED, unsigned short: ETCH_MARK_UNSIGNED,	\
	default: ETCH__IS_TEXT(x) ? ETCH_MARK_TEXT :			\
		 ETCH__IS_PTR(x) ? ETCH_MARK_POINTER :			\
		 (__typeof__(ETCH__INT(x)))-1 < (__typeof__(ETCH__INT(x)))1 ? \
		 ETCH_MARK_SIGNED : ETCH_MARK_UNSIGNED)

#define ETCH__MOST(size) ((size) < ETCH_STRING ? (size) : ETCH_STRING)
#define ETCH__CHARS(text)						\
	(ETCH__SAME(text, char *) || ETCH__SAME(text, const char *) ?	\
	 ETCH_STRING : ETCH__MOST(sizeof(text)))

#define ETCH__BYTES(x) _Generic((x),					\
	_Bool: 1, char: 1, signed char: 1, unsigned char: 1,		\
	short: 2, unsigned short: 2,					\
	default: ETCH__IS_TEXT(x) ? ETCH__CHARS(ETCH__TEXT_OF(x)) :	\
		 ETCH__IS_PTR(x) ? sizeof(void *) : sizeof(ETCH__INT(x)))

/* ---- For each expression ---- */

#define ETCH__EACH_0(m, name)
#define ETCH__EACH_1(m, name, x)	m(x)
#define ETCH__EACH_2(m, name, x, ...)	m(x) ETCH__EACH_1(m, name, __VA_ARGS__)
#define ETCH__EACH_3(m, name, x, ...)	m(x) ETCH__EACH_2(m, name, __VA_ARGS__)
#define ETCH__EACH_4(m, name, x, ...)	m(x) ETCH__EACH_3(m, name, __VA_ARGS__)
#define ETCH__EACH_5(m, name, x, ...)	m(x) ETCH__EACH_4(m, name, __VA_ARGS__)
#define ETCH__EACH_6(m, name, x, ...)	m(x) ETCH__EACH_5(m, name, __VA_ARGS__)
#define ETCH__EACH_7(m, name, x, ...)	m(x) ETCH__EACH_6(m, name, __VA_ARGS__)
#define ETCH__EACH_8(m, name, x, ...)	m(x) ETCH__EACH_7(m, name, __VA_ARGS__)
#define ETCH__EACH_9(m, name, x, ...)	m(x) ETCH__EACH_8(m, name, __VA_ARGS__)
#define ETCH__EACH_10(m, name, x, ...)	m(x) ETCH__EACH_9(m, name, __VA_ARGS__)
#define ETCH__EACH_11(m, name, x, ...)	m(x) ETCH__EACH_10(m, name, __VA_ARGS__)
#define ETCH__EACH_12(m, name, x, ...)	m(x) ETCH__EACH_11(m, name, __VA_ARGS__)
/* Too many: an assertion says so, and nothing else has to. */
#define ETCH__EACH_13(m, ...)
#define ETCH__EACH_14(m, ...)
#define ETCH__EACH_15(m, ...)

/* How many expressions stand behind the name. */
#define ETCH__EXPRS(...)						\
	ETCH__EXPRS_(__VA_ARGS__, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define ETCH__EXPRS_(name, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, nr, ...) nr

#define ETCH__EACH(m, ...) ETCH__CAT(ETCH__EACH_, ETCH__EXPRS(__VA_ARGS__))(m, __VA_ARGS__)
#define ETCH__FIRST(...) ETCH__FIRST_(__VA_ARGS__, 0)
#define ETCH__FIRST_(name, ...) name

#define ETCH__MARK_CHECK(x)						\
	_Static_assert(ETCH__FITS(x),					\
		       "etch_mark(): neither a number of 64 bits at most, nor a pointer, nor a string");
#define ETCH__MARK_FIELD(x)						\
	ETCH__KIND(x) << ETCH_MARK_SHIFT | (uint16_t)ETCH__BYTES(x),
#define ETCH__MARK_WORD(x)						\
	(uint64_t)__builtin_choose_expr(ETCH__FITS(x), ETCH__VALUE(x), 0),

/* @provider: a literal, or NULL. @text: all that follows, as it stands in the source; or NULL. */
#define ETCH__MARK(prov, text, ...)					\
do {									\
	static struct etch_mark_site etch__site				\
	__attribute__((section("etch_marks"), used, aligned(8))) = {	\
		&etch__mark_off, prov, "" ETCH__FIRST(__VA_ARGS__), text, \
		ETCH__EXPRS(__VA_ARGS__), 0,				\
		{ ETCH__EACH(ETCH__MARK_FIELD, __VA_ARGS__) 0 }, 0,	\
	};								\
	_Static_assert(ETCH__EXPRS(__VA_ARGS__) <= ETCH_MARK_FIELDS,	\
		       "etch_mark(): more than 12 expressions");	\
	ETCH__EACH(ETCH__MARK_CHECK, __VA_ARGS__)			\
									\
	if (__builtin_expect(etch__mark_on(etch__site.gate), 0)) {	\
		const uint64_t etch__values[] = {			\
			ETCH__EACH(ETCH__MARK_WORD, __VA_ARGS__) 0	\
		};							\
									\
		etch__mark_hit(&etch__site, etch__values);		\
	}								\
} while (0)

#endif /* _ETCH_MARK_C_H */
