// SPDX-License-Identifier: GPL-2.0
/*
 * The C expressions of print formats, as far as they are made of constants and of one
 * field: ((1UL) << 3), ~0x7f & REC->state, (unsigned long)REC->flags, sizeof(long).
 *
 * The types are C's: a value is an int, an unsigned int, a long or an unsigned long, and
 * (1 << 31) is negative. An unsupported part, such as a function, an array's
 * element or an unknown type, makes the whole expression unknown. Operators wait for those
 * that bind tighter on a stack of our own, since the kernel's is too small for recursion.
 */
#include <linux/blk_types.h>
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/fs.h>
#include <linux/gfp_types.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "ctf/ctf.h"
#include "ctf/metadata.h"

/* Operators and values that wait for others. */
#define ETCH_EXPR_OPS		64
#define ETCH_EXPR_VALUES	32

/**
 * struct etch_ctype - a type of integers
 * @name: as a print format spells it
 * @size: bytes
 * @is_signed: it is
 */
struct etch_ctype {
	const char *name;
	u8 size;
	bool is_signed;
};

/* Types of one word. What they are is the compiler's to say. */
#define ETCH_CTYPE(type)	{ #type, sizeof(type), is_signed_type(type) }
/* Of bits that sparse lets nobody compare; all have less of them than s64. */
#define ETCH_BITWISE(type)	{ #type, sizeof(type), (__force s64)(__force type)-1 < 0 }

static const struct etch_ctype etch_ctypes[] = {
	ETCH_CTYPE(u8), ETCH_CTYPE(u16), ETCH_CTYPE(u32), ETCH_CTYPE(u64),
	ETCH_CTYPE(s8), ETCH_CTYPE(s16), ETCH_CTYPE(s32), ETCH_CTYPE(s64),
	ETCH_CTYPE(__u8), ETCH_CTYPE(__u16), ETCH_CTYPE(__u32), ETCH_CTYPE(__u64),
	ETCH_CTYPE(__s8), ETCH_CTYPE(__s16), ETCH_CTYPE(__s32), ETCH_CTYPE(__s64),
	ETCH_CTYPE(uint8_t), ETCH_CTYPE(uint16_t), ETCH_CTYPE(uint32_t), ETCH_CTYPE(uint64_t),
	ETCH_CTYPE(int8_t), ETCH_CTYPE(int16_t), ETCH_CTYPE(int32_t), ETCH_CTYPE(int64_t),
	ETCH_CTYPE(size_t), ETCH_CTYPE(ssize_t), ETCH_CTYPE(uintptr_t), ETCH_CTYPE(loff_t),
	ETCH_CTYPE(sector_t), ETCH_CTYPE(dev_t), ETCH_CTYPE(pid_t), ETCH_CTYPE(umode_t),
	ETCH_BITWISE(gfp_t), ETCH_BITWISE(fmode_t), ETCH_BITWISE(slab_flags_t),
	ETCH_BITWISE(blk_opf_t), ETCH_BITWISE(blk_status_t), ETCH_BITWISE(__kernel_rwf_t),
};

/**
 * struct etch_value - a value
 * @bits: it, in 64 bits, extended as its type wants it
 * @size: of its type: that of int or long
 * @is_signed: so is its type
 */
struct etch_value {
	u64 bits;
	u8 size;
	bool is_signed;
};

enum etch_op {
	ETCH_OP_OPEN,		/* ( */
	ETCH_OP_IF,		/* ? whose : has not come yet */
	ETCH_OP_ELSE,		/* : */
	ETCH_OP_OR,
	ETCH_OP_AND,
	ETCH_OP_BIT_OR,
	ETCH_OP_BIT_XOR,
	ETCH_OP_BIT_AND,
	ETCH_OP_EQ,
	ETCH_OP_NE,
	ETCH_OP_LE,
	ETCH_OP_GE,
	ETCH_OP_SHL,
	ETCH_OP_SHR,
	ETCH_OP_LT,
	ETCH_OP_GT,
	ETCH_OP_ADD,
	ETCH_OP_SUB,
	ETCH_OP_MUL,
	ETCH_OP_DIV,
	ETCH_OP_MOD,
	ETCH_OP_PLUS,
	ETCH_OP_MINUS,
	ETCH_OP_NOT,
	ETCH_OP_INVERT,
	ETCH_OP_CAST,
	ETCH_OPS,
};

/*
 * How tightly they bind, and those that stand between two values as they are spelled:
 * of two that begin alike, the longer one first.
 */
static const struct {
	const char *text;
	u8 prec;
} etch_ops[ETCH_OPS] = {
	[ETCH_OP_OPEN]		= { NULL, 0 },
	[ETCH_OP_IF]		= { NULL, 1 },
	[ETCH_OP_ELSE]		= { NULL, 2 },
	[ETCH_OP_OR]		= { "||", 3 },
	[ETCH_OP_AND]		= { "&&", 4 },
	[ETCH_OP_BIT_OR]	= { "|", 5 },
	[ETCH_OP_BIT_XOR]	= { "^", 6 },
	[ETCH_OP_BIT_AND]	= { "&", 7 },
	[ETCH_OP_EQ]		= { "==", 8 },
	[ETCH_OP_NE]		= { "!=", 8 },
	[ETCH_OP_LE]		= { "<=", 9 },
	[ETCH_OP_GE]		= { ">=", 9 },
	[ETCH_OP_SHL]		= { "<<", 10 },
	[ETCH_OP_SHR]		= { ">>", 10 },
	[ETCH_OP_LT]		= { "<", 9 },
	[ETCH_OP_GT]		= { ">", 9 },
	[ETCH_OP_ADD]		= { "+", 11 },
	[ETCH_OP_SUB]		= { "-", 11 },
	[ETCH_OP_MUL]		= { "*", 12 },
	[ETCH_OP_DIV]		= { "/", 12 },
	[ETCH_OP_MOD]		= { "%", 12 },
	[ETCH_OP_PLUS]		= { NULL, 13 },
	[ETCH_OP_MINUS]		= { NULL, 13 },
	[ETCH_OP_NOT]		= { NULL, 13 },
	[ETCH_OP_INVERT]	= { NULL, 13 },
	[ETCH_OP_CAST]		= { NULL, 13 },
};

/**
 * struct etch_waiting - an operator that waits
 * @op: enum etch_op
 * @size: of a cast's type
 * @is_signed: so is a cast's type
 */
struct etch_waiting {
	u8 op;
	u8 size;
	bool is_signed;
};

/**
 * struct etch_expr - an expression that is being evaluated
 * @at: the next token
 * @enums: the names that its print format may have
 * @field: the one field that may occur, or NULL
 * @in: its value
 * @ops: operators that wait, the one that binds tightest last
 * @values: what they will be applied to
 * @nr_ops: how many wait
 * @nr_values: how many wait
 * @nr_open: parentheses among @ops
 * @bad: it is not understood
 */
struct etch_expr {
	const char *at;
	const struct etch_enums *enums;
	const struct etch_field *field;
	u64 in;
	struct etch_waiting ops[ETCH_EXPR_OPS];
	struct etch_value values[ETCH_EXPR_VALUES];
	unsigned int nr_ops;
	unsigned int nr_values;
	unsigned int nr_open;
	bool bad;
};

/* ---- Values ---- */

static u64 etch_extend(u64 bits, unsigned int size, bool is_signed)
{
	unsigned int shift = BITS_PER_LONG_LONG - size * BITS_PER_BYTE;

	return is_signed ? (u64)((s64)(bits << shift) >> shift) : bits << shift >> shift;
}

/* Of a type that is narrower than int, it becomes an int. */
static void etch_expr_push(struct etch_expr *x, u64 bits, unsigned int size, bool is_signed)
{
	struct etch_value *v;

	if (x->nr_values == ETCH_EXPR_VALUES) {
		x->bad = true;
		return;
	}
	v = &x->values[x->nr_values++];
	v->bits = etch_extend(bits, size, is_signed);
	v->size = max_t(unsigned int, size, sizeof(int));
	v->is_signed = is_signed || size < sizeof(int);
}

static struct etch_value etch_expr_pop(struct etch_expr *x)
{
	static const struct etch_value none = { .size = sizeof(int), .is_signed = true };

	if (x->nr_values)
		return x->values[--x->nr_values];
	x->bad = true;
	return none;
}

/* Both get the type that C computes in. */
static void etch_expr_balance(struct etch_value *a, struct etch_value *b)
{
	unsigned int size = max(a->size, b->size);
	bool is_signed = (a->is_signed || a->size < size) && (b->is_signed || b->size < size);

	a->bits = etch_extend(a->bits, size, is_signed);
	b->bits = etch_extend(b->bits, size, is_signed);
	a->size = size;
	b->size = size;
	a->is_signed = is_signed;
	b->is_signed = is_signed;
}

/* ---- Operators ---- */

static bool etch_less(const struct etch_value *a, const struct etch_value *b)
{
	return a->is_signed ? (s64)a->bits < (s64)b->bits : a->bits < b->bits;
}

/* What compares is an int. */
static bool etch_expr_compare(struct etch_expr *x, enum etch_op op,
			      const struct etch_value *a, const struct etch_value *b)
{
	bool result;

	switch (op) {
	case ETCH_OP_OR:
		result = a->bits || b->bits;
		break;
	case ETCH_OP_AND:
		result = a->bits && b->bits;
		break;
	case ETCH_OP_EQ:
		result = a->bits == b->bits;
		break;
	case ETCH_OP_NE:
		result = a->bits != b->bits;
		break;
	case ETCH_OP_LT:
		result = etch_less(a, b);
		break;
	case ETCH_OP_GT:
		result = etch_less(b, a);
		break;
	case ETCH_OP_LE:
		result = !etch_less(b, a);
		break;
	case ETCH_OP_GE:
		result = !etch_less(a, b);
		break;
	default:
		return false;
	}
	etch_expr_push(x, result, sizeof(int), true);
	return true;
}

static u64 etch_expr_divide(struct etch_expr *x, enum etch_op op,
			    const struct etch_value *a, const struct etch_value *b)
{
	s64 sa = a->bits, sb = b->bits;

	if (!b->bits || (a->is_signed && sb == -1 && sa == S64_MIN)) {
		x->bad = true;
		return 0;
	}
	if (a->is_signed)
		return op == ETCH_OP_DIV ? sa / sb : sa % sb;
	return op == ETCH_OP_DIV ? a->bits / b->bits : a->bits % b->bits;
}

static u64 etch_expr_compute(struct etch_expr *x, enum etch_op op,
			     const struct etch_value *a, const struct etch_value *b)
{
	switch (op) {
	case ETCH_OP_BIT_OR:
		return a->bits | b->bits;
	case ETCH_OP_BIT_XOR:
		return a->bits ^ b->bits;
	case ETCH_OP_BIT_AND:
		return a->bits & b->bits;
	case ETCH_OP_ADD:
		return a->bits + b->bits;
	case ETCH_OP_SUB:
		return a->bits - b->bits;
	case ETCH_OP_MUL:
		return a->bits * b->bits;
	default:
		return etch_expr_divide(x, op, a, b);
	}
}

/* The type is the left one's. */
static void etch_expr_shift(struct etch_expr *x, enum etch_op op,
			    const struct etch_value *a, const struct etch_value *b)
{
	u64 bits = 0;

	if (b->bits >= a->size * BITS_PER_BYTE)
		x->bad = true;
	else if (op == ETCH_OP_SHL)
		bits = a->bits << b->bits;
	else
		bits = a->is_signed ? (u64)((s64)a->bits >> b->bits) : a->bits >> b->bits;
	etch_expr_push(x, bits, a->size, a->is_signed);
}

static void etch_expr_binary(struct etch_expr *x, enum etch_op op)
{
	struct etch_value b = etch_expr_pop(x), a = etch_expr_pop(x);

	if (op == ETCH_OP_SHL || op == ETCH_OP_SHR) {
		etch_expr_shift(x, op, &a, &b);
		return;
	}
	etch_expr_balance(&a, &b);
	if (!etch_expr_compare(x, op, &a, &b))
		etch_expr_push(x, etch_expr_compute(x, op, &a, &b), a.size, a.is_signed);
}

static void etch_expr_unary(struct etch_expr *x, const struct etch_waiting *w)
{
	struct etch_value a = etch_expr_pop(x);

	switch (w->op) {
	case ETCH_OP_PLUS:
		etch_expr_push(x, a.bits, a.size, a.is_signed);
		break;
	case ETCH_OP_MINUS:
		etch_expr_push(x, -a.bits, a.size, a.is_signed);
		break;
	case ETCH_OP_NOT:
		etch_expr_push(x, !a.bits, sizeof(int), true);
		break;
	case ETCH_OP_INVERT:
		etch_expr_push(x, ~a.bits, a.size, a.is_signed);
		break;
	default:
		etch_expr_push(x, a.bits, w->size, w->is_signed);
	}
}

static void etch_expr_choose(struct etch_expr *x)
{
	struct etch_value no = etch_expr_pop(x), yes = etch_expr_pop(x), a = etch_expr_pop(x);

	etch_expr_balance(&yes, &no);
	etch_expr_push(x, a.bits ? yes.bits : no.bits, yes.size, yes.is_signed);
}

/* Applies the last operator that waits. A ? without : cannot be applied. */
static void etch_expr_reduce(struct etch_expr *x)
{
	const struct etch_waiting *w = &x->ops[--x->nr_ops];

	if (w->op == ETCH_OP_IF)
		x->bad = true;
	else if (w->op == ETCH_OP_ELSE)
		etch_expr_choose(x);
	else if (etch_ops[w->op].text)
		etch_expr_binary(x, w->op);
	else
		etch_expr_unary(x, w);
}

/* Applies those that bind at least as tightly. */
static void etch_expr_reduce_to(struct etch_expr *x, unsigned int prec)
{
	while (!x->bad && x->nr_ops && etch_ops[x->ops[x->nr_ops - 1].op].prec >= prec)
		etch_expr_reduce(x);
}

static bool etch_expr_waits(const struct etch_expr *x, enum etch_op op)
{
	return x->nr_ops && x->ops[x->nr_ops - 1].op == op;
}

static void etch_expr_wait(struct etch_expr *x, struct etch_waiting w)
{
	if (x->nr_ops == ETCH_EXPR_OPS)
		x->bad = true;
	else
		x->ops[x->nr_ops++] = w;
}

/* ---- Text ---- */

static bool etch_is_word(const char *at, size_t len, const char *word)
{
	return strlen(word) == len && !strncmp(at, word, len);
}

static bool etch_ctype_find(const char *at, size_t len, struct etch_waiting *type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(etch_ctypes); i++) {
		if (!etch_is_word(at, len, etch_ctypes[i].name))
			continue;
		type->size = etch_ctypes[i].size;
		type->is_signed = etch_ctypes[i].is_signed;
		return true;
	}
	return false;
}

/* Adds a word to a type of several, such as unsigned long long int. */
static bool etch_ctype_word(const char *at, size_t len, struct etch_waiting *type)
{
	if (etch_is_word(at, len, "unsigned"))
		type->is_signed = false;
	else if (etch_is_word(at, len, "char"))
		type->size = sizeof(char);
	else if (etch_is_word(at, len, "short"))
		type->size = sizeof(short);
	else if (etch_is_word(at, len, "long"))
		type->size = sizeof(long);
	else
		return etch_is_word(at, len, "int") || etch_is_word(at, len, "signed") ||
		       etch_is_word(at, len, "const") || etch_is_word(at, len, "volatile");
	return true;
}

/* The type at @at, and the parenthesis behind it. Returns what follows, or NULL. */
static const char *etch_ctype(const char *at, struct etch_waiting *type)
{
	bool known = false;
	size_t len;

	type->op = ETCH_OP_CAST;
	type->size = sizeof(int);
	type->is_signed = true;
	for (at = skip_spaces(at); isalpha(*at) || *at == '_'; at = skip_spaces(at + len)) {
		len = etch_piece_len(at);
		known = etch_ctype_word(at, len, type) || etch_ctype_find(at, len, type);
		if (!known)
			return NULL;
	}
	return known && *at == ')' ? at + 1 : NULL;
}

/* A constant has the first type that can hold it; one in base 10 only signed ones. */
static void etch_expr_number(struct etch_expr *x)
{
	unsigned int base = 10, digit, size;
	bool is_signed = true;
	u64 bits = 0;

	if (*x->at == '0')
		base = tolower(x->at[1]) == 'x' ? 16 : 8;
	if (base == 16)
		x->at += 2;
	for (; isxdigit(*x->at); x->at++) {
		digit = hex_to_bin(*x->at);
		if (digit >= base || bits > (U64_MAX - digit) / base)
			x->bad = true;
		bits = bits * base + digit;
	}
	size = bits > U32_MAX || (base == 10 && bits > S32_MAX) ? sizeof(long) : sizeof(int);
	for (; isalpha(*x->at); x->at++) {
		if (tolower(*x->at) == 'u')
			is_signed = false;
		else if (tolower(*x->at) == 'l')
			size = sizeof(long);
		else
			x->bad = true;
	}
	if (bits > (size == sizeof(int) ? (u64)S32_MAX : (u64)S64_MAX))
		is_signed = false;
	etch_expr_push(x, bits, size, is_signed);
}

static void etch_expr_enum(struct etch_expr *x, size_t len)
{
	const struct etch_enum *e = etch_enum_find(x->enums, x->at, len);
	struct etch_waiting type;

	if (e)
		etch_expr_push(x, e->value, e->value == (int)e->value ? sizeof(int) : sizeof(long),
			       true);
	else if (!strncmp(x->at, "sizeof(", 7) && etch_ctype(x->at + 7, &type))
		etch_expr_push(x, type.size, sizeof(long), false);
	else
		x->bad = true;
}

/* REC->NAME, if that is the field. */
static void etch_expr_field(struct etch_expr *x)
{
	const char *name = x->at + strlen("REC->");
	size_t len = 0;

	if (!strncmp(x->at, "REC->", strlen("REC->")) && (isalpha(*name) || *name == '_'))
		len = etch_piece_len(name);
	if (!len || !x->field || !etch_is_word(name, len, x->field->name)) {
		x->bad = true;
		return;
	}
	x->at = name + len;
	etch_expr_push(x, x->in, x->field->size, x->field->is_signed);
}

static void etch_expr_word(struct etch_expr *x)
{
	size_t len = etch_piece_len(x->at);

	if (etch_is_word(x->at, len, "REC")) {
		etch_expr_field(x);
		return;
	}
	if (etch_is_word(x->at, len, "true") || etch_is_word(x->at, len, "false"))
		etch_expr_push(x, *x->at == 't', sizeof(int), true);
	else
		etch_expr_enum(x, len);
	x->at += len;
}

/* An operator in front of a value, if one comes next. */
static bool etch_expr_prefix(struct etch_expr *x)
{
	struct etch_waiting w = {};
	const char *end = x->at + 1;

	switch (*x->at) {
	case '+':
		w.op = ETCH_OP_PLUS;
		break;
	case '-':
		w.op = ETCH_OP_MINUS;
		break;
	case '!':
		w.op = ETCH_OP_NOT;
		break;
	case '~':
		w.op = ETCH_OP_INVERT;
		break;
	case '(':
		end = etch_ctype(x->at + 1, &w);
		if (end)
			break;
		end = x->at + 1;
		w = (struct etch_waiting){ .op = ETCH_OP_OPEN };
		x->nr_open++;
		break;
	default:
		return false;
	}
	x->at = end;
	etch_expr_wait(x, w);
	return true;
}

static void etch_expr_operand(struct etch_expr *x)
{
	do {
		x->at = skip_spaces(x->at);
	} while (etch_expr_prefix(x));

	if (isdigit(*x->at))
		etch_expr_number(x);
	else if (isalpha(*x->at) || *x->at == '_')
		etch_expr_word(x);
	else
		x->bad = true;
}

/* Parentheses that close. False: the next one is not ours. */
static void etch_expr_close(struct etch_expr *x)
{
	for (x->at = skip_spaces(x->at); *x->at == ')' && x->nr_open;
	     x->at = skip_spaces(x->at + 1)) {
		etch_expr_reduce_to(x, etch_ops[ETCH_OP_OPEN].prec + 1);
		if (x->bad || !etch_expr_waits(x, ETCH_OP_OPEN)) {
			x->bad = true;
			return;
		}
		x->nr_ops--;
		x->nr_open--;
	}
}

/* Parses the operator between two values. False: the expression ends here. */
static bool etch_expr_operator(struct etch_expr *x)
{
	enum etch_op op;

	etch_expr_close(x);
	if (*x->at == '?') {
		etch_expr_reduce_to(x, etch_ops[ETCH_OP_ELSE].prec + 1);
		etch_expr_wait(x, (struct etch_waiting){ .op = ETCH_OP_IF });
		x->at++;
		return true;
	}
	if (*x->at == ':') {
		etch_expr_reduce_to(x, etch_ops[ETCH_OP_ELSE].prec);
		if (!etch_expr_waits(x, ETCH_OP_IF))
			return false;
		x->ops[x->nr_ops - 1].op = ETCH_OP_ELSE;
		x->at++;
		return true;
	}
	for (op = 0; op < ETCH_OPS; op++) {
		if (!etch_ops[op].text || strncmp(x->at, etch_ops[op].text,
						  strlen(etch_ops[op].text)))
			continue;
		etch_expr_reduce_to(x, etch_ops[op].prec);
		etch_expr_wait(x, (struct etch_waiting){ .op = op });
		x->at += strlen(etch_ops[op].text);
		return true;
	}
	return false;
}

/**
 * etch_expr_eval() - evaluate an expression of a print format
 * @text: where it begins
 * @enums: the names that the print format may have
 * @field: a field that may occur in it, or NULL
 * @in: the field's value, sign-extended if it is signed
 * @out: gets what the helpers of TP_printk() make of the value: an unsigned long
 *
 * Context: process; the event of @enums stays while this runs.
 * Return: the text behind the expression; NULL if it is not understood.
 */
const char *etch_expr_eval(const char *text, const struct etch_enums *enums,
			   const struct etch_field *field, u64 in, u64 *out)
{
	struct etch_expr x;

	x.at = text;
	x.enums = enums;
	x.field = field;
	x.in = in;
	x.nr_ops = 0;
	x.nr_values = 0;
	x.nr_open = 0;
	x.bad = false;

	do {
		etch_expr_operand(&x);
	} while (!x.bad && etch_expr_operator(&x));

	etch_expr_reduce_to(&x, etch_ops[ETCH_OP_OPEN].prec + 1);
	if (x.bad || x.nr_ops || x.nr_values != 1)
		return NULL;
	*out = x.values[0].bits;
	return x.at;
}
