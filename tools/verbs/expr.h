/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The expressions of print formats, which are C with some functions of the kernel:
 *
 *	REC->bytes_req, (REC->flags) ? __print_flags(REC->flags, "|", { 1, "A" }) : "none"
 *
 * An expression is parsed once for an event and evaluated for each record. A call
 * of another function, and a read of the kernel's memory, have no value: EXPR_UNKNOWN.
 */
#ifndef _ETCH_EXPR_H
#define _ETCH_EXPR_H

#include "read/read.h"

enum value_kind {
	VALUE_UNKNOWN,
	VALUE_NUMBER,
	VALUE_TEXT,	/* characters, up to @len or a zero */
	VALUE_BYTES,	/* the content of an array, or of a struct */
};

/**
 * struct value - of an expression
 * @kind: what it is
 * @wide: a number of 64 bits, not 32
 * @no_sign: a number without a sign
 * @is_signed: the elements of VALUE_BYTES have a sign
 * @elem: bytes of an element of VALUE_BYTES
 * @number: a number, its sign extended
 * @text: bytes of the others
 * @len: how many
 */
struct value {
	enum value_kind kind;
	bool wide, no_sign, is_signed;
	unsigned int elem;
	uint64_t number;
	const char *text;
	size_t len;
};

#define SCRATCH	8192

/**
 * struct eval - an evaluation
 * @rec: the record
 * @used: bytes of @scratch
 * @scratch: texts that were made meanwhile
 */
struct eval {
	const struct etch_record *rec;
	size_t used;
	char scratch[SCRATCH];
};

struct expr;

/* Parses the @len bytes at @text. Never NULL: EXPR_UNKNOWN has no value. */
struct expr *expr_parse(struct etch_source *source, const struct etch_event *event,
			const char *text, size_t len);
struct value expr_value(const struct expr *expr, struct eval *eval);

/* The end of the string literal that begins with the quote at @at, behind its quote. */
const char *expr_skip_string(const char *at, const char *end);
/* What the string literal from the quote at @at to @after means; NULL: no memory. */
char *expr_literal(struct etch_source *source, const char *at, const char *after, size_t *len);

#endif /* _ETCH_EXPR_H */
