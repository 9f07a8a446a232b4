// SPDX-License-Identifier: GPL-2.0
/*
 * Parsing the expressions of print formats: see expr.h.
 *
 * A format may come from anybody: an expression that makes no sense becomes EXPR_UNKNOWN, and
 * nesting has an end (EXPR_DEPTH).
 */
#include "verbs/expr_parse.h"

#include <ctype.h>
#include <stdlib.h>

#define EXPR_DEPTH	200	/* of parentheses; gfp flags have some 20 */
#define EXPR_HEIGHT	500	/* of the tree, in all */
#define EXPR_NAMES	512	/* of a table */

/**
 * struct parser - an expression that is being parsed
 * @source: has the memory
 * @event: has the fields
 * @at: the next character
 * @end: where it ends
 * @depth: how deep we are
 * @bad: it is not understood
 */
struct parser {
	struct etch_source *source;
	const struct etch_event *event;
	const char *at, *end;
	int depth;
	bool bad;
};

static struct expr out_of_memory = { .op = EXPR_UNKNOWN };

static struct expr *choice(struct parser *p);

static struct expr *make(struct parser *p, enum expr_op op)
{
	struct expr *e = etch_source_alloc(p->source, sizeof(*e));

	if (!e)
		return &out_of_memory;
	e->op = op;
	return e;
}

static struct expr *bad(struct parser *p)
{
	p->bad = true;
	return make(p, EXPR_UNKNOWN);
}

/* ---- Characters ---- */

static void blank(struct parser *p)
{
	while (p->at < p->end && isspace((unsigned char)*p->at))
		p->at++;
}

/* Is that next? Then go on. */
static bool take(struct parser *p, const char *text)
{
	size_t len = strlen(text);

	blank(p);
	if ((size_t)(p->end - p->at) < len || memcmp(p->at, text, len))
		return false;
	p->at += len;
	return true;
}

static void need(struct parser *p, const char *text)
{
	if (!take(p, text))
		p->bad = true;
}

static size_t word_len(struct parser *p)
{
	const char *at;

	blank(p);
	at = p->at;
	while (at < p->end && (isalnum((unsigned char)*at) || *at == '_'))
		at++;
	return at - p->at;
}

const char *expr_skip_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\' && at + 1 < end;
	return at < end ? at + 1 : end;
}

/* A number of an escape sequence: up to @most digits. */
static int escape_number(const char **at, const char *end, int base, int most)
{
	char digits[4] = "";
	int nr = 0;

	while (*at < end && nr < most &&
	       (base == 16 ? isxdigit((unsigned char)**at) : **at >= '0' && **at <= '7'))
		digits[nr++] = *(*at)++;
	return strtol(digits, NULL, base);
}

char *expr_unescape(struct etch_source *source, const char *text, size_t len, size_t *out_len)
{
	static const char from[] = "ntrabfv", to[] = "\n\t\r\a\b\f\v";
	char *out = etch_source_alloc(source, len + 1), *put = out;
	const char *at = text, *end = text + len, *known;

	while (out && at < end) {
		if (*at != '\\' || at + 1 == end) {
			*put++ = *at++;
			continue;
		}
		at++;
		known = strchr(from, *at);
		if (known && *known) {
			*put++ = to[known - from];
			at++;
		} else if (*at == 'x') {
			at++;
			*put++ = escape_number(&at, end, 16, 2);
		} else if (*at >= '0' && *at <= '7') {
			*put++ = escape_number(&at, end, 8, 3);
		} else {
			*put++ = *at++;
		}
	}
	if (out)
		*out_len = put - out;
	return out;
}

/* Bytes of the literals that are next, quotes included. */
static size_t strings_len(struct parser *p)
{
	struct parser ahead = *p;

	for (blank(&ahead); ahead.at < ahead.end && *ahead.at == '"'; blank(&ahead))
		ahead.at = expr_skip_string(ahead.at, ahead.end);
	blank(p);
	return ahead.at - p->at + 1;
}

/* "one" "after the other" */
static const char *strings(struct parser *p, size_t *len)
{
	size_t n = strings_len(p);
	char *all = etch_source_alloc(p->source, n), *one;

	*len = 0;
	while (all && p->at < p->end && *p->at == '"') {
		const char *after = expr_skip_string(p->at, p->end);

		one = expr_unescape(p->source, p->at + 1, after - p->at - 2, &n);
		if (!one)
			break;
		memcpy(all + *len, one, n);
		*len += n;
		p->at = after;
		blank(p);
	}
	return all ? all : "";
}

/* Goes behind the closing partner of the parenthesis before @at. */
static void skip_parentheses(struct parser *p)
{
	int depth = 1;

	for (; p->at < p->end && depth; p->at++) {
		if (*p->at == '"')
			p->at = expr_skip_string(p->at, p->end) - 1;
		depth += (*p->at == '(') - (*p->at == ')');
	}
}

/* ---- Operands ---- */

static struct expr *number(struct parser *p)
{
	struct expr *e = make(p, EXPR_NUMBER);
	bool plain = *p->at != '0', no_sign = false, wide = false;
	char digits[40] = "", *end;
	size_t len = word_len(p);

	memcpy(digits, p->at, len < sizeof(digits) ? len : sizeof(digits) - 1);
	p->at += len;
	e->value.number = strtoull(digits, &end, 0);
	for (; *end; end++) {
		no_sign |= *end == 'u' || *end == 'U';
		wide |= *end == 'l' || *end == 'L';
	}
	wide |= e->value.number > (plain && !no_sign ? INT32_MAX : UINT32_MAX);
	e->value.kind = VALUE_NUMBER;
	e->value.wide = wide;
	e->value.no_sign = no_sign || e->value.number > (wide ? INT64_MAX : INT32_MAX);
	return e;
}

static struct expr *character(struct parser *p)
{
	const char *end = memchr(p->at + 1, '\'', p->end - p->at - 1);
	struct expr *e = make(p, EXPR_NUMBER);
	size_t len = 0;
	char *text;

	if (end && end[-1] == '\\' && end + 1 < p->end && end[1] == '\'')
		end++;
	text = end ? expr_unescape(p->source, p->at + 1, end - p->at - 1, &len) : NULL;
	if (len != 1)
		return bad(p);
	p->at = end + 1;
	e->value = (struct value){ .kind = VALUE_NUMBER, .number = (unsigned char)*text };
	return e;
}

static struct expr *text(struct parser *p)
{
	struct expr *e = make(p, EXPR_TEXT);

	e->value.kind = VALUE_TEXT;
	e->value.elem = 1;
	e->value.text = strings(p, &e->value.len);
	return e;
}

/* A field's name is next. */
static struct expr *field(struct parser *p, enum expr_op op)
{
	struct expr *e = make(p, op);
	size_t len = word_len(p);
	char name[128];

	if (len >= sizeof(name))
		return bad(p);
	memcpy(name, p->at, len);
	name[len] = 0;
	p->at += len;
	e->field = etch_field(p->event, name);
	if (!e->field)
		return bad(p);
	return e;
}

/* "{ VALUE, "NAME" }, ..." up to the parenthesis that closes; values are constants. */
static void names(struct parser *p, struct expr *e)
{
	struct expr_name list[EXPR_NAMES];
	unsigned int nr = 0;
	size_t len;

	while (!p->bad && take(p, "{")) {
		struct expr *constant = choice(p);

		need(p, ",");
		if (nr == EXPR_NAMES) {
			p->bad = true;
			return;
		}
		list[nr].value = constant->value.number;
		list[nr].name = strings(p, &len);
		/* Without its value a name is of no use; the number shows. */
		nr += constant->op == EXPR_NUMBER;
		need(p, "}");
		if (!take(p, ","))
			break;
	}
	need(p, ")");
	e->names = etch_source_alloc(p->source, nr * sizeof(*list));
	if (e->names)
		memcpy(e->names, list, nr * sizeof(*list));
	e->nr_names = e->names ? nr : 0;
}

static struct expr *with_names(struct parser *p, enum expr_op op)
{
	struct expr *e = make(p, op);
	size_t len;

	e->a = choice(p);
	need(p, ",");
	if (op == EXPR_FLAGS) {
		e->text = strings(p, &len);
		need(p, ",");
	}
	names(p, e);
	return e;
}

static struct expr *with_lengths(struct parser *p, enum expr_op op)
{
	struct expr *e = make(p, op);

	e->a = choice(p);
	need(p, ",");
	e->b = choice(p);
	if (op == EXPR_ARRAY) {
		need(p, ",");
		e->c = choice(p);
	}
	need(p, ")");
	return e;
}

static struct expr *of_field(struct parser *p, enum expr_op op)
{
	struct expr *e = field(p, op);

	need(p, ")");
	return e;
}

static struct expr *mask(struct parser *p)
{
	struct expr *e = make(p, EXPR_MASK);

	e->a = of_field(p, EXPR_BYTES_OF);
	return e;
}

/* sizeof(TYPE) */
static struct expr *size_of(struct parser *p)
{
	struct expr *e = make(p, EXPR_NUMBER);
	const char *begin = p->at, *end;

	skip_parentheses(p);
	/* The text may end before the parenthesis does. */
	end = p->at - (p->at > begin);
	e->value = (struct value){ .kind = VALUE_NUMBER, .wide = true, .no_sign = true };
	e->value.number = etch_type_size(begin, end - begin, NULL);
	return e->value.number ? e : make(p, EXPR_UNKNOWN);
}

/* __builtin_expect(VALUE, WHAT) is the value. */
static struct expr *first_of(struct parser *p)
{
	struct expr *e = choice(p);

	skip_parentheses(p);
	return e;
}

static struct expr *call(struct parser *p, const char *name, size_t len)
{
	static const struct {
		const char *name;
		struct expr *(*parse)(struct parser *p, enum expr_op op);
		enum expr_op op;
	} calls[] = {
		{ "__print_flags", with_names, EXPR_FLAGS },
		{ "__print_flags_u64", with_names, EXPR_FLAGS },
		{ "__print_symbolic", with_names, EXPR_SYMBOLIC },
		{ "__print_symbolic_u64", with_names, EXPR_SYMBOLIC },
		{ "__print_hex", with_lengths, EXPR_HEX },
		{ "__print_hex_str", with_lengths, EXPR_HEX_STR },
		{ "__print_array", with_lengths, EXPR_ARRAY },
		{ "__get_str", of_field, EXPR_TEXT_OF },
		{ "__get_rel_str", of_field, EXPR_TEXT_OF },
		{ "__get_dynamic_array", of_field, EXPR_BYTES_OF },
		{ "__get_rel_dynamic_array", of_field, EXPR_BYTES_OF },
		{ "__get_sockaddr", of_field, EXPR_BYTES_OF },
		{ "__get_rel_sockaddr", of_field, EXPR_BYTES_OF },
		{ "__get_dynamic_array_len", of_field, EXPR_LENGTH_OF },
		{ "__get_rel_dynamic_array_len", of_field, EXPR_LENGTH_OF },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strlen(calls[i].name) == len && !memcmp(calls[i].name, name, len))
			return calls[i].parse(p, calls[i].op);
	if ((len == 13 && !memcmp(name, "__get_bitmask", 13)) ||
	    (len == 13 && !memcmp(name, "__get_cpumask", 13)))
		return mask(p);
	if (len == 6 && !memcmp(name, "sizeof", 6))
		return size_of(p);
	if (len == 16 && !memcmp(name, "__builtin_expect", 16))
		return first_of(p);
	skip_parentheses(p);
	return make(p, EXPR_UNKNOWN);
}

static struct expr *named(struct parser *p)
{
	size_t len = word_len(p);
	const char *name = p->at;

	p->at += len;
	if (len == 3 && !memcmp(name, "REC", 3)) {
		need(p, "->");
		return p->bad ? bad(p) : field(p, EXPR_FIELD);
	}
	if (take(p, "("))
		return call(p, name, len);
	/* An enumerator that the kernel has not told the value of, say. */
	return len ? make(p, EXPR_UNKNOWN) : bad(p);
}

/* ---- Types ---- */

/* Does a type follow, up to a closing parenthesis? Returns its bytes, or 0. */
static size_t type_len(struct parser *p)
{
	static const char * const words[] = {
		"unsigned", "signed", "const", "struct", "union", "enum", "int", "long", "short",
		"char", "void", "bool", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64",
		"__u8", "__u16", "__u32", "__u64", "__s8", "__s16", "__s32", "__s64",
	};
	size_t len = word_len(p);
	const char *end;
	bool is = len > 2 && !memcmp(p->at + len - 2, "_t", 2);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words) && !is; i++)
		is = strlen(words[i]) == len && !memcmp(words[i], p->at, len);
	end = is ? memchr(p->at, ')', p->end - p->at) : NULL;
	return end ? end - p->at : 0;
}

static struct expr *unary(struct parser *p);

/* Behind "(": "TYPE) operand" */
static struct expr *cast(struct parser *p, size_t len)
{
	struct expr *e = p->depth++ > EXPR_DEPTH ? bad(p) : make(p, EXPR_CAST);
	const char *star = memchr(p->at, '*', len), *type = p->at;

	e->pointer = star;
	e->size = etch_type_size(type, star ? (size_t)(star - type) : len, &e->is_signed);
	if (!e->size && !e->pointer)
		e->size = 4;	/* an enum */
	p->at += len + 1;
	if (!p->bad)
		e->a = unary(p);
	p->depth--;
	return e;
}

static struct expr *parenthesis(struct parser *p)
{
	struct expr *e;
	size_t len;

	blank(p);
	if (p->at < p->end && *p->at == '{') {
		skip_parentheses(p);
		return make(p, EXPR_UNKNOWN);
	}
	len = type_len(p);
	if (len)
		return cast(p, len);
	e = choice(p);
	need(p, ")");
	return e;
}

/* ---- Operators ---- */

/* The tree is walked by recursion, so it has a limit. */
static struct expr *measured(struct parser *p, struct expr *e)
{
	const struct expr *below[] = { e->a, e->b, e->c };

	for (int i = 0; i < 3; i++)
		if (below[i] && below[i]->height >= e->height)
			e->height = below[i]->height + 1;
	return e->height > EXPR_HEIGHT ? bad(p) : e;
}

static struct expr *operand(struct parser *p)
{
	struct expr *e, *index;

	blank(p);
	if (p->at == p->end)
		return bad(p);
	if (*p->at == '"')
		e = text(p);
	else if (*p->at == '\'')
		e = character(p);
	else if (isdigit((unsigned char)*p->at))
		e = number(p);
	else if (take(p, "("))
		e = parenthesis(p);
	else
		e = named(p);
	while (!p->bad && take(p, "[")) {
		index = make(p, EXPR_INDEX);
		index->a = e;
		index->b = choice(p);
		need(p, "]");
		e = measured(p, index);
	}
	return measured(p, e);
}

/* Constants are worked out once. */
static struct expr *fold(struct parser *p, struct expr *e)
{
	struct eval *eval;

	if (!e->a || e->a->op != EXPR_NUMBER || (e->b && e->b->op != EXPR_NUMBER))
		return e;
	eval = etch_source_alloc(p->source, offsetof(struct eval, scratch));
	if (!eval)
		return e;
	e->value = expr_value(e, eval);
	if (e->value.kind == VALUE_NUMBER)
		e->op = EXPR_NUMBER;
	return e;
}

static struct expr *unary(struct parser *p)
{
	struct expr *e;
	char sign;

	blank(p);
	sign = p->at < p->end ? *p->at : 0;
	if (p->depth > EXPR_DEPTH || !sign || !strchr("-!~+*", sign)) {
		e = operand(p);
		return e->op == EXPR_CAST ? fold(p, e) : e;
	}
	p->at++;
	p->depth++;
	if (sign == '*') {
		e = make(p, EXPR_INDEX);
		e->a = unary(p);
		e->b = make(p, EXPR_NUMBER);
		e->b->value = (struct value){ .kind = VALUE_NUMBER };
	} else {
		e = make(p, EXPR_UNARY);
		e->sign = sign;
		e->a = fold(p, unary(p));
		e = fold(p, e);
	}
	p->depth--;
	return e;
}

/* The operator that is next, and how much it binds; SIGN_NONE: none. */
static enum expr_sign binary_sign(struct parser *p, int *level, size_t *len)
{
	static const struct {
		const char *text;
		int sign;
		int level;
	} signs[] = {
		{ "||", SIGN_OR, 1 }, { "&&", SIGN_AND, 2 }, { "==", SIGN_EQ, 6 },
		{ "!=", SIGN_NE, 6 }, { "<=", SIGN_LE, 7 }, { ">=", SIGN_GE, 7 },
		{ "<<", SIGN_LEFT, 8 }, { ">>", SIGN_RIGHT, 8 }, { "|", '|', 3 },
		{ "^", '^', 4 }, { "&", '&', 5 }, { "<", '<', 7 }, { ">", '>', 7 },
		{ "+", '+', 9 }, { "-", '-', 9 }, { "*", '*', 10 }, { "/", '/', 10 },
		{ "%", '%', 10 },
	};

	blank(p);
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		*len = strlen(signs[i].text);
		*level = signs[i].level;
		if ((size_t)(p->end - p->at) >= *len && !memcmp(p->at, signs[i].text, *len))
			return signs[i].sign;
	}
	return SIGN_NONE;
}

static struct expr *binary(struct parser *p, int least)
{
	struct expr *left = unary(p), *e;
	int sign;
	size_t len;
	int level;

	while (!p->bad && (sign = binary_sign(p, &level, &len)) && level >= least) {
		p->at += len;
		e = make(p, EXPR_BINARY);
		e->sign = sign;
		e->a = left;
		e->b = binary(p, level + 1);
		left = fold(p, measured(p, e));
	}
	return left;
}

static struct expr *choice(struct parser *p)
{
	struct expr *e, *condition;

	if (p->bad || p->depth++ > EXPR_DEPTH)
		return bad(p);
	condition = binary(p, 1);
	if (!p->bad && take(p, "?")) {
		e = make(p, EXPR_CHOICE);
		e->a = condition;
		if (!take(p, ":")) {
			e->b = choice(p);
			need(p, ":");
		}
		e->c = choice(p);
		condition = measured(p, e);
	}
	p->depth--;
	return condition;
}

struct expr *expr_parse(struct etch_source *source, const struct etch_event *event,
			const char *text, size_t len)
{
	struct parser p = {
		.source = source, .event = event, .at = text, .end = text + len,
	};
	struct expr *e = choice(&p);

	blank(&p);
	return p.bad || p.at != p.end ? bad(&p) : e;
}
