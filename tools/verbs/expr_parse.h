/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an expression is parsed into: between expr_parse.c and expr.c alone.
 */
#ifndef _ETCH_EXPR_PARSE_H
#define _ETCH_EXPR_PARSE_H

#include "verbs/expr.h"

enum expr_op {
	EXPR_UNKNOWN,
	EXPR_NUMBER,		/* @value */
	EXPR_TEXT,		/* @value */
	EXPR_FIELD,		/* REC->@field */
	EXPR_TEXT_OF,		/* __get_str(@field) */
	EXPR_BYTES_OF,		/* __get_dynamic_array(@field) */
	EXPR_LENGTH_OF,		/* __get_dynamic_array_len(@field) */
	EXPR_INDEX,		/* @a[@b] */
	EXPR_CAST,		/* (a type of @size)@a */
	EXPR_UNARY,		/* @sign @a */
	EXPR_BINARY,		/* @a @sign @b */
	EXPR_CHOICE,		/* @a ? @b : @c; @b may be NULL */
	EXPR_FLAGS,		/* __print_flags(@a, @text, @names) */
	EXPR_SYMBOLIC,		/* __print_symbolic(@a, @names) */
	EXPR_HEX,		/* __print_hex(@a, @b) */
	EXPR_HEX_STR,		/* __print_hex_str(@a, @b) */
	EXPR_ARRAY,		/* __print_array(@a, @b, @c) */
	EXPR_MASK,		/* __get_bitmask(@a) */
};

/* Signs of one character are that character. */
enum expr_sign {
	SIGN_NONE,
	SIGN_EQ = 256, SIGN_NE, SIGN_LE, SIGN_GE, SIGN_LEFT, SIGN_RIGHT, SIGN_AND, SIGN_OR,
	SIGN_ARROW,
};

struct expr_name {
	uint64_t value;
	const char *name;
};

struct expr {
	enum expr_op op;
	int sign;
	struct expr *a, *b, *c;
	const struct etch_field *field;
	struct value value;
	const char *text;
	struct expr_name *names;
	unsigned int nr_names, size, height;
	bool is_signed, pointer;
};

#endif /* _ETCH_EXPR_PARSE_H */
