// SPDX-License-Identifier: GPL-2.0

#include <limits.h>

#include "expression.h"

uint64_t expression_seed = 1;

const uint64_t expression_numbers[12] = {
	0, 1, ~0ULL, 0x7f, 0x80, 0x7fff800080008000ULL, 1ULL << 63, 0x00000001ffffffffULL,
	0x80000000, 0x0102030405060708ULL, 3, 0xfffffffe00000002ULL,
};

const char * const expression_texts[12] = {
	"", "a", "Ada", "Ada Lovelace", "ab*c", "[x]", "12 monkeys", "exactly_12_c", "aaaa",
	"a text that is longer than others", "!not", "Ad",
};

static const char * const patterns[] = {
	"*", "**", "", "!", "a*", "*a", "*a*", "A?a", "?", "[A-Z]*", "[!A-Z]*", "*[0-9]*",
	"ab\\*c", "\\[x\\]", "[[]x]", "1*", "12*", "!a*", "!*a", "!!a", "A*L*e", "*12_c", "a[a",
	"*_12_?", "[", "[!", "[]]", "[a-", "\\", "exactly_12_c*", "exactly*c", "*text*longer*",
	"filter*", "eq?al*", "*ual", "*longer than*", "Ad[a-z]", "? *", "*a*a*a",
};

/* xorshift64* */
uint32_t expression_below(uint32_t limit)
{
	expression_seed ^= expression_seed >> 12;
	expression_seed ^= expression_seed << 25;
	expression_seed ^= expression_seed >> 27;
	return (uint32_t)((expression_seed * 0x2545f4914f6cdd1dULL) >> 32) % limit;
}

#define ONE_OF(a)	((a)[expression_below(ARRAY_LEN(a))])

static bool once_in(uint32_t times)
{
	return !expression_below(times);
}

static __printf(2, 3) void add(char *text, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + len, EXPRESSION_MAX - len, fmt, args);
	va_end(args);
}

static void blank(char *text)
{
	static const char * const blanks[] = { "", " ", " ", " ", " ", "  ", "\t" };

	add(text, "%s", ONE_OF(blanks));
}

/* ---- Fields ---- */

/* Fields that all events have, in one of the tracers or in both; and one that no event has. */
static const struct field common_fields[] = {
	{ "common_pid", FIELD_NUMBER, 4, true }, { "comm", FIELD_TEXT }, { "COMM", FIELD_TEXT },
	{ "cpu", FIELD_CPU, 4, true }, { "CPU", FIELD_CPU, 4, true },
	{ "common_cpu", FIELD_CPU, 4, true },
};

static const struct field odd_fields[] = {
	{ "common_type", FIELD_NUMBER, 2 }, { "common_flags", FIELD_NUMBER, 1 },
	{ "common_preempt_count", FIELD_NUMBER, 1 }, { "stacktrace", FIELD_NUMBER, 8 },
	{ "common_context", FIELD_NUMBER, 1 }, { "nothing", FIELD_NUMBER, 4 }, { "0" },
};

static enum field_kind kind_of(const char *type, bool is_array)
{
	if (!strcmp(type, "const char *") || !strcmp(type, "char *"))
		return FIELD_POINTER;
	if (strstr(type, "cpumask_t"))
		return FIELD_MASK;
	if (is_array)
		return strstr(type, "char") ? FIELD_TEXT : FIELD_OTHER;
	return FIELD_NUMBER;
}

/* "	field:TYPE NAME;	offset:N;	size:N;	signed:N;", where NAME may end with [N] */
static bool field_read(struct field *field, const char *line)
{
	unsigned int size, is_signed;
	char type[100], *name;

	if (sscanf(line, " field:%99[^;]; offset:%*u; size:%u; signed:%u", type, &size,
		   &is_signed) != 3)
		return false;
	name = strrchr(type, ' ');
	if (!name || !strncmp(name + 1, "common_", 7))
		return false;
	*name++ = 0;
	snprintf(field->name, sizeof(field->name), "%.*s", (int)strcspn(name, "["), name);
	field->kind = kind_of(type, strchr(type, '[') || strchr(name, '['));
	field->size = size;
	field->is_signed = is_signed;
	return true;
}

bool fields_read(struct fields *fields, const char *tree, const char *event)
{
	char file[200], *format, *line;

	snprintf(file, sizeof(file), "events/%s/format", event);
	format = read_file(tree, file);
	fields->nr = 0;
	for (line = format; line && *line; line = strchr(line, '\n') + 1) {
		if (fields->nr < ARRAY_LEN(fields->each))
			fields->nr += field_read(&fields->each[fields->nr], line);
		if (!strchr(line, '\n'))
			break;
	}
	free(format);
	return fields->nr;
}

/* ---- Tests ---- */

static void number(char *text)
{
	static const uint64_t limits[] = {
		0, 1, 2, 3, 7, 127, 128, 255, 256, 32767, 32768, 65535, 65536, INT_MAX,
		1ULL << 31, UINT_MAX, 1ULL << 32, LLONG_MAX, 1ULL << 63, ULLONG_MAX,
	};
	static const char * const formats[] = {
		"%lld", "%lld", "%lld", "%llu", "%llu", "%#llx", "%#llx", "0%llo", "-%llu",
	};
	static const char * const odd[] = {
		"", "-", "0x", "08", "1k", "0b1", "--1", "+1", "1.5", "18446744073709551616", "one",
		"0x123456789abcdef01234567", "1_0", "- 1", "-0", "-0x1", "0X1F",
	};
	uint64_t value = once_in(2) ? ONE_OF(limits) : ONE_OF(expression_numbers);

	if (once_in(40)) {
		add(text, "%s", ONE_OF(odd));
		return;
	}
	if (once_in(5))
		value = getpid();
	if (once_in(3))
		value += expression_below(3) - 1;
	value >>= once_in(3) ? 8 * expression_below(8) : 0;
	add(text, ONE_OF(formats), (unsigned long long)value);
}

static void cpus(char *text)
{
	static const char * const lists[] = {
		"0", "1", "0-1", "0,1", "0-3", "all", "0-2:1/2", "1-3", " ", "", "0-", "x", "3-1",
		"0", "0,2", "0-0",
	};

	add(text, once_in(40) ? "CPUS{%s" : "CPUS{%s}", ONE_OF(lists));
}

static void quoted(char *text)
{
	const char *words = once_in(2) ? ONE_OF(patterns) : ONE_OF(expression_texts);
	char quote = once_in(2) ? '"' : '\'';

	if (once_in(8))
		words = "filter_equal";
	add(text, "%c%s%s", quote, words, once_in(8) ? "*" : "");
	if (!once_in(60))
		add(text, "%c", quote);
}

/* A blank ends the name in ftrace, and nothing else does. */
static void function(char *text)
{
	static const char * const functions[] = {
		"schedule", "schedule", "do_exit", "no_such_function", "0x123", "5",
	};

	add(text, "%s ", ONE_OF(functions));
}

static void value(char *text, const struct field *field, bool of_function)
{
	if (of_function && !once_in(10))
		function(text);
	else if (once_in(60))
		once_in(2) ? number(text) : quoted(text);
	else if (field->kind == FIELD_TEXT || field->kind == FIELD_POINTER)
		quoted(text);
	else if (field->kind == FIELD_MASK || once_in(field->kind == FIELD_CPU ? 2 : 20))
		cpus(text);
	else
		number(text);
}

static const char *relation(const struct field *field)
{
	static const char * const of_numbers[] = { "==", "!=", "<", "<=", ">", ">=", "&" };
	static const char * const of_texts[] = { "==", "!=", "~", "~" };
	static const char * const of_masks[] = { "==", "!=", "&" };
	static const char * const any[] = {
		"==", "!=", "<", "<=", ">", ">=", "&", "~", "=", "=~", "!~", "<>", "=<", "&&",
	};

	if (once_in(50))
		return ONE_OF(any);
	if (field->kind == FIELD_TEXT || field->kind == FIELD_POINTER)
		return ONE_OF(of_texts);
	return field->kind == FIELD_MASK ? ONE_OF(of_masks) : ONE_OF(of_numbers);
}

/* True: a function is asked for. */
static bool suffix(char *text, const struct field *field)
{
	static const char * const suffixes[] = { ".ustring", ".function", "[0]", "[1]", ".no" };

	const char *suffix = "";

	if (field->kind == FIELD_OTHER ? !once_in(3) : once_in(150))
		suffix = ONE_OF(suffixes);
	else if (field->kind == FIELD_NUMBER && field->size == sizeof(long) && once_in(20))
		suffix = ".function";
	add(text, "%s", suffix);
	return !strcmp(suffix, ".function");
}

static void test(char *text, const struct fields *fields)
{
	const struct field *field;
	bool of_function;

	if (once_in(80))
		field = &ONE_OF(odd_fields);
	else if (once_in(4))
		field = &ONE_OF(common_fields);
	else
		field = &fields->each[expression_below(fields->nr)];
	if (field->kind == FIELD_OTHER && !once_in(3))
		field = &fields->each[0];
	add(text, "%s", field->name);
	of_function = suffix(text, field);
	blank(text);
	add(text, "%s", of_function && !once_in(10) ? "==" : relation(field));
	blank(text);
	value(text, field, of_function);
}

/* ---- Expressions ---- */

static void expression(char *text, const struct fields *fields, unsigned int depth)
{
	unsigned int terms = depth ? 1 + expression_below(3) : 1;

	while (terms--) {
		while (once_in(5)) {
			add(text, "!");
			blank(text);
		}
		if (depth && once_in(3)) {
			add(text, "(");
			blank(text);
			expression(text, fields, depth - 1);
			add(text, ")");
		} else {
			test(text, fields);
		}
		blank(text);
		if (terms)
			add(text, "%s", once_in(2) ? "&&" : "||");
		blank(text);
	}
}

/* Writing mistakes. */
static void spoil(char *text)
{
	static const char signs[] = "()!&|=<>~\"' {}.,-0a";
	size_t len = strlen(text), at = expression_below(len);

	switch (expression_below(4)) {
	case 0:
		memmove(text + at, text + at + 1, len - at);
		break;
	case 1:
		text[at] = signs[expression_below(sizeof(signs) - 1)];
		break;
	case 2:
		memmove(text + at + 1, text + at, len - at + 1);
		text[at] = signs[expression_below(sizeof(signs) - 1)];
		break;
	default:
		text[at] = 0;
	}
}

void expression_make(char text[EXPRESSION_MAX], const struct fields *fields)
{
	static const unsigned int depths[] = { 0, 0, 0, 1, 1, 1, 2, 2, 3, 4 };

	do {
		*text = 0;
		expression(text, fields, ONE_OF(depths));
	} while (strlen(text) > EXPRESSION_MAX - 50);
	if (once_in(12))
		spoil(text);
}
