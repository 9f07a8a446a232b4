// SPDX-License-Identifier: GPL-2.0
/*
 * Thrift's compact protocol, as it is written.
 */
#include "export/thrift.h"

/* Small numbers of either sign become small ones without. */
static void put_zigzag(struct bytes *b, int64_t value)
{
	bytes_varint(b, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_field(struct thrift *t, int field, int type)
{
	int more = field - t->last[t->depth];

	t->last[t->depth] = field;
	if (more > 0 && more < 16) {
		bytes_u8(t->b, more << 4 | type);
		return;
	}
	bytes_u8(t->b, type);
	put_zigzag(t->b, field);
}

void thrift_number(struct thrift *t, int field, int type, int64_t value)
{
	put_field(t, field, type);
	put_zigzag(t->b, value);
}

void thrift_bool(struct thrift *t, int field, bool value)
{
	put_field(t, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_binary(struct thrift *t, int field, const void *value, size_t len)
{
	put_field(t, field, THRIFT_BINARY);
	bytes_varint(t->b, len);
	bytes_put(t->b, value, len);
}

void thrift_text(struct thrift *t, int field, const char *text)
{
	thrift_binary(t, field, text, strlen(text));
}

void thrift_begin(struct thrift *t, int field)
{
	put_field(t, field, THRIFT_STRUCT);
	thrift_element(t);
}

void thrift_element(struct thrift *t)
{
	t->last[++t->depth] = 0;
}

void thrift_end(struct thrift *t)
{
	bytes_u8(t->b, 0);
	if (t->depth)
		t->depth--;
}

void thrift_list(struct thrift *t, int field, int type, uint32_t count)
{
	put_field(t, field, THRIFT_LIST);
	bytes_u8(t->b, (count < 15 ? count : 15) << 4 | type);
	if (count >= 15)
		bytes_varint(t->b, count);
}

void thrift_element_number(struct thrift *t, int64_t value)
{
	put_zigzag(t->b, value);
}

void thrift_element_text(struct thrift *t, const char *text)
{
	bytes_varint(t->b, strlen(text));
	bytes_put(t->b, text, strlen(text));
}
