// SPDX-License-Identifier: GPL-2.0
/*
 * Evaluating the expressions of print formats: see expr.h. expr_parse.c parses them.
 */
#include "verbs/expr_parse.h"

#include <stdarg.h>
#include <stdio.h>

static const struct value unknown = { .kind = VALUE_UNKNOWN };

/* ---- Texts that are made ---- */

static void __attribute__((format(printf, 2, 3)))
scratch_print(struct eval *eval, const char *fmt, ...)
{
	size_t left = SCRATCH - eval->used;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(eval->scratch + eval->used, left, fmt, args);
	va_end(args);
	if (len > 0)
		eval->used += (size_t)len < left ? (size_t)len : left - 1;
}

static struct value text_since(const struct eval *eval, size_t begin)
{
	return (struct value){
		.kind = VALUE_TEXT,
		.text = eval->scratch + begin,
		.len = eval->used - begin,
	};
}

static struct value flags_text(const struct expr *e, struct eval *eval)
{
	uint64_t flags = expr_value(e->a, eval).number;
	size_t begin = eval->used;

	for (unsigned int i = 0; i < e->nr_names && flags; i++) {
		uint64_t mask = e->names[i].value;

		if ((flags & mask) != mask)
			continue;
		scratch_print(eval, "%s%s", eval->used > begin ? e->text : "", e->names[i].name);
		flags &= ~mask;
	}
	if (flags)
		scratch_print(eval, "%s0x%llx", eval->used > begin ? e->text : "",
			      (unsigned long long)flags);
	return text_since(eval, begin);
}

static struct value symbolic_text(const struct expr *e, struct eval *eval)
{
	struct value value = expr_value(e->a, eval);
	size_t begin = eval->used;

	for (unsigned int i = 0; i < e->nr_names; i++)
		if (value.number == e->names[i].value)
			return (struct value){
				.kind = VALUE_TEXT,
				.text = e->names[i].name,
				.len = strlen(e->names[i].name),
			};
	scratch_print(eval, "0x%llx", (unsigned long long)value.number);
	return text_since(eval, begin);
}

/* __print_hex(), __print_hex_str(), __print_array(): @b is how many, @c of how many bytes. */
static struct value array_text(const struct expr *e, struct eval *eval)
{
	struct value array = expr_value(e->a, eval), count = expr_value(e->b, eval);
	unsigned int elem = e->op == EXPR_ARRAY ? expr_value(e->c, eval).number : 1;
	size_t begin = eval->used, nr;
	const char *between = e->op == EXPR_HEX ? " " : e->op == EXPR_ARRAY ? "," : "";

	if (array.kind != VALUE_BYTES && array.kind != VALUE_TEXT)
		return unknown;
	if (elem != 1 && elem != 2 && elem != 4 && elem != 8)
		return unknown;
	nr = array.len / elem;
	if (count.number < nr)
		nr = count.number;
	if (e->op == EXPR_ARRAY)
		scratch_print(eval, "{");
	for (size_t i = 0; i < nr; i++)
		scratch_print(eval, e->op == EXPR_ARRAY ? "%s0x%llx" : "%s%02llx",
			      i ? between : "",
			      (unsigned long long)etch_load(array.text + i * elem, elem, false));
	if (e->op == EXPR_ARRAY)
		scratch_print(eval, "}");
	return text_since(eval, begin);
}

/* __get_bitmask(): in groups of 32 bits, the highest first. */
static struct value mask_text(const struct expr *e, struct eval *eval)
{
	struct value mask = expr_value(e->a, eval);
	size_t begin = eval->used;

	for (size_t i = mask.len / 4; i--;)
		scratch_print(eval, "%08llx%s",
			      (unsigned long long)etch_load(mask.text + 4 * i, 4, false),
			      i ? "," : "");
	return text_since(eval, begin);
}

/* ---- Fields ---- */

static struct value field_value(const struct etch_field *field, struct eval *eval)
{
	struct value value = { .kind = VALUE_BYTES, .elem = field->elem };

	switch (field->kind) {
	case ETCH_NUMBER:
		value.kind = VALUE_NUMBER;
		value.number = etch_number(eval->rec, field);
		value.wide = field->size == 8;
		value.no_sign = !field->is_signed && field->size >= 4;
		return value;
	case ETCH_TEXT:
		value.kind = VALUE_TEXT;
		value.text = etch_text(eval->rec, field, &value.len);
		value.elem = 1;
		return value;
	default:
		value.text = (const char *)etch_bytes(eval->rec, field, &value.len);
		value.is_signed = field->is_signed;
		return value;
	}
}

static struct value dynamic_value(const struct expr *e, struct eval *eval)
{
	struct value value = { .kind = VALUE_BYTES, .elem = e->field->elem };

	value.text = (const char *)etch_bytes(eval->rec, e->field, &value.len);
	if (e->op == EXPR_TEXT_OF) {
		value.kind = VALUE_TEXT;
		value.len = strnlen(value.text, value.len);
	}
	return value;
}

static struct value index_value(const struct expr *e, struct eval *eval)
{
	struct value array = expr_value(e->a, eval), at = expr_value(e->b, eval);
	unsigned int elem = array.elem;

	if (array.kind == VALUE_TEXT)
		elem = 1;
	else if (array.kind != VALUE_BYTES)
		return unknown;
	if (at.kind != VALUE_NUMBER || (elem != 1 && elem != 2 && elem != 4 && elem != 8))
		return unknown;
	/* Nothing leads out of the record. */
	if (at.number >= array.len / elem)
		return (struct value){ .kind = VALUE_NUMBER };
	return (struct value){
		.kind = VALUE_NUMBER,
		.number = etch_load(array.text + at.number * elem, elem, array.is_signed),
		.wide = elem == 8,
		.no_sign = !array.is_signed && elem >= 4,
	};
}

/* ---- Numbers ---- */

static struct value number_of(uint64_t number, bool wide, bool no_sign)
{
	if (!wide)
		number = no_sign ? (uint32_t)number : (uint64_t)(int64_t)(int32_t)number;
	return (struct value){
		.kind = VALUE_NUMBER, .number = number, .wide = wide, .no_sign = no_sign,
	};
}

static struct value cast_value(const struct expr *e, struct eval *eval)
{
	struct value value = expr_value(e->a, eval);
	uint64_t number = value.number;

	if (value.kind != VALUE_NUMBER) {
		if (e->pointer && e->size) {
			value.elem = e->size;
			value.is_signed = e->is_signed;
		}
		return value;
	}
	if (e->pointer)
		return number_of(number, true, true);
	if (e->size < 8)
		number = etch_load(&number, e->size, e->is_signed);
	return number_of(number, e->size == 8, !e->is_signed && e->size >= 4);
}

static struct value unary_value(const struct expr *e, struct eval *eval)
{
	struct value a = expr_value(e->a, eval);

	if (e->sign == '!')
		return number_of(a.kind == VALUE_NUMBER ? !a.number : !a.text, false, false);
	if (a.kind != VALUE_NUMBER)
		return unknown;
	switch (e->sign) {
	case '-':
		return number_of(-a.number, a.wide, a.no_sign);
	case '~':
		return number_of(~a.number, a.wide, a.no_sign);
	default:
		return a;
	}
}

static bool compared(int sign, uint64_t a, uint64_t b, bool no_sign)
{
	bool less = no_sign ? a < b : (int64_t)a < (int64_t)b;

	switch (sign) {
	case SIGN_EQ:
		return a == b;
	case SIGN_NE:
		return a != b;
	case '<':
		return less;
	case '>':
		return !less && a != b;
	case SIGN_LE:
		return less || a == b;
	default:
		return !less;
	}
}

static struct value divided(int sign, struct value a, struct value b, bool wide,
			    bool no_sign)
{
	int64_t x = a.number, y = b.number;

	if (!y)
		return unknown;
	if (no_sign)
		return number_of(sign == '/' ? a.number / b.number : a.number % b.number, wide,
				 true);
	if (y == -1)
		return number_of(sign == '/' ? -a.number : 0, wide, false);
	return number_of(sign == '/' ? x / y : x % y, wide, false);
}

static struct value shifted(int sign, struct value a, struct value b)
{
	unsigned int bits = b.number & (a.wide ? 63 : 31);

	if (sign == SIGN_LEFT)
		return number_of(a.number << bits, a.wide, a.no_sign);
	return number_of(a.no_sign ? a.number >> bits : (uint64_t)((int64_t)a.number >> bits),
			 a.wide, a.no_sign);
}

/* Both are numbers: what C's usual conversions make of them. */
static struct value arithmetic(int sign, struct value a, struct value b)
{
	bool wide = a.wide || b.wide;
	bool no_sign = (a.no_sign && a.wide >= b.wide) || (b.no_sign && b.wide >= a.wide);

	a = number_of(a.number, wide, no_sign);
	b = number_of(b.number, wide, no_sign);
	switch (sign) {
	case '+':
		return number_of(a.number + b.number, wide, no_sign);
	case '-':
		return number_of(a.number - b.number, wide, no_sign);
	case '*':
		return number_of(a.number * b.number, wide, no_sign);
	case '&':
		return number_of(a.number & b.number, wide, no_sign);
	case '|':
		return number_of(a.number | b.number, wide, no_sign);
	case '^':
		return number_of(a.number ^ b.number, wide, no_sign);
	case '/':
	case '%':
		return divided(sign, a, b, wide, no_sign);
	default:
		return number_of(compared(sign, a.number, b.number, no_sign), false, false);
	}
}

/* Is it true? A text or an array is there. */
static bool truth(struct value value)
{
	return value.kind == VALUE_NUMBER ? value.number != 0 : value.kind != VALUE_UNKNOWN;
}

static struct value binary_value(const struct expr *e, struct eval *eval)
{
	struct value a = expr_value(e->a, eval), b;

	if (a.kind == VALUE_UNKNOWN)
		return unknown;
	if (e->sign == SIGN_AND && !truth(a))
		return number_of(0, false, false);
	if (e->sign == SIGN_OR && truth(a))
		return number_of(1, false, false);
	b = expr_value(e->b, eval);
	if (b.kind == VALUE_UNKNOWN)
		return unknown;
	if (e->sign == SIGN_AND || e->sign == SIGN_OR)
		return number_of(truth(b), false, false);
	/* An address in the record is not NULL, and nothing else is known of it. */
	if (a.kind != VALUE_NUMBER && b.kind == VALUE_NUMBER && !b.number &&
	    (e->sign == SIGN_EQ || e->sign == SIGN_NE))
		return number_of(e->sign == SIGN_NE, false, false);
	if (a.kind != VALUE_NUMBER || b.kind != VALUE_NUMBER)
		return unknown;
	if (e->sign == SIGN_LEFT || e->sign == SIGN_RIGHT)
		return shifted(e->sign, a, b);
	return arithmetic(e->sign, a, b);
}

static struct value choice_value(const struct expr *e, struct eval *eval)
{
	struct value a = expr_value(e->a, eval);

	if (a.kind == VALUE_UNKNOWN)
		return unknown;
	if (!truth(a))
		return expr_value(e->c, eval);
	return e->b ? expr_value(e->b, eval) : a;
}

struct value expr_value(const struct expr *e, struct eval *eval)
{
	switch (e->op) {
	case EXPR_NUMBER:
	case EXPR_TEXT:
		return e->value;
	case EXPR_FIELD:
		return field_value(e->field, eval);
	case EXPR_TEXT_OF:
	case EXPR_BYTES_OF:
		return dynamic_value(e, eval);
	case EXPR_LENGTH_OF:
		return number_of(dynamic_value(e, eval).len, false, false);
	case EXPR_INDEX:
		return index_value(e, eval);
	case EXPR_CAST:
		return cast_value(e, eval);
	case EXPR_UNARY:
		return unary_value(e, eval);
	case EXPR_BINARY:
		return binary_value(e, eval);
	case EXPR_CHOICE:
		return choice_value(e, eval);
	case EXPR_FLAGS:
		return flags_text(e, eval);
	case EXPR_SYMBOLIC:
		return symbolic_text(e, eval);
	case EXPR_HEX:
	case EXPR_HEX_STR:
	case EXPR_ARRAY:
		return array_text(e, eval);
	case EXPR_MASK:
		return mask_text(e, eval);
	default:
		return unknown;
	}
}
