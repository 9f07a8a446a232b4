// SPDX-License-Identifier: GPL-2.0
/*
 * Values as text, for formats that are text.
 */
#include "export/value.h"

#include <stdio.h>

/* Bytes of the character of UTF-8 at @at; 0: it is none. */
static size_t utf8(const unsigned char *at, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
	uint32_t code = *at & (0x7f >> (len - (len == 1)));

	if (len == 1)
		return 1;
	if (*at < 0xc2 || *at > 0xf4 || left < len)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	code &= len == 2 ? 0x7ff : len == 3 ? 0xffff : 0x1fffff;
	return code < least[len] || code > 0x10ffff || (code & 0x1ff800) == 0xd800 ? 0 : len;
}

void value_utf8(struct bytes *b, const void *text, size_t len)
{
	const unsigned char *at = text;
	size_t one;

	for (size_t i = 0; i < len; i += one ? one : 1) {
		one = utf8(at + i, len - i);
		bytes_put(b, one ? at + i : (const unsigned char *)"\xef\xbf\xbd", one ? one : 3);
	}
}

/* Bytes that are no character become the character U+FFFD. */
void value_json_text(struct bytes *b, const void *text, size_t len)
{
	const unsigned char *at = text;
	size_t one;

	bytes_u8(b, '"');
	for (size_t i = 0; i < len; i += one ? one : 1) {
		one = utf8(at + i, len - i);
		if (!one)
			bytes_text(b, "\xef\xbf\xbd");
		else if (at[i] == '"' || at[i] == '\\')
			bytes_print(b, "\\%c", at[i]);
		else if (at[i] < ' ' || at[i] == 127)
			bytes_print(b, "\\u%04x", at[i]);
		else
			bytes_put(b, at + i, one);
	}
	bytes_u8(b, '"');
}

void value_decimal(struct bytes *b, uint64_t value, bool is_signed)
{
	char digits[21], *at = digits + sizeof(digits);
	bool minus = is_signed && (int64_t)value < 0;

	if (minus)
		value = -value;
	do {
		*--at = '0' + value % 10;
		value /= 10;
	} while (value);
	if (minus)
		*--at = '-';
	bytes_put(b, at, digits + sizeof(digits) - at);
}

void value_array(struct bytes *b, const struct etch_field *field, const unsigned char *at,
		 size_t len)
{
	unsigned int elem = field->kind == ETCH_ARRAY ? field->elem : 1;

	bytes_u8(b, '[');
	for (size_t n = 0; n + elem <= len; n += elem) {
		if (n)
			bytes_u8(b, ',');
		value_decimal(b, etch_load(at + n, elem, field->is_signed), field->is_signed);
	}
	bytes_u8(b, ']');
}

void value_seconds(struct bytes *b, uint64_t ns)
{
	char digits[9];
	uint64_t rest = ns % 1000000000;

	value_decimal(b, ns / 1000000000, false);
	bytes_u8(b, '.');
	for (int i = 9; i--; rest /= 10)
		digits[i] = '0' + rest % 10;
	bytes_put(b, digits, sizeof(digits));
}

const char *value_context(enum etch_context context)
{
	static const char * const names[] = {
		[ETCH_TASK] = "task", [ETCH_SOFTIRQ] = "softirq",
		[ETCH_HARDIRQ] = "hardirq", [ETCH_NMI] = "nmi",
	};

	return names[context];
}

unsigned int value_causes(const struct etch_loss *loss, struct value_cause causes[VALUE_CAUSES])
{
	const struct value_cause all[VALUE_CAUSES] = {
		{ "overwritten", loss->overwritten }, { "full", loss->full },
		{ "throttled", loss->throttled }, { "nested", loss->nested },
		{ "too_big", loss->too_big }, { "unknown", loss->unknown },
	};
	unsigned int nr = 0;

	for (size_t i = 0; i < VALUE_CAUSES; i++)
		if (all[i].count)
			causes[nr++] = all[i];
	return nr;
}
