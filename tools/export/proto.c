// SPDX-License-Identifier: GPL-2.0
/*
 * Protocol buffers, as they are written.
 */
#include "export/proto.h"

enum { PROTO_VARINT = 0, PROTO_BYTES = 2 };

/* Seven bits a byte, the lowest first; the eighth says that more follow. */
static size_t varint(unsigned char *to, uint64_t value)
{
	size_t len = 0;

	while (value > 127) {
		to[len++] = value | 128;
		value >>= 7;
	}
	to[len++] = value;
	return len;
}

static void put_varint(struct bytes *b, uint64_t value)
{
	unsigned char to[10];

	bytes_put(b, to, varint(to, value));
}

void proto_number(struct bytes *b, unsigned int field, uint64_t value)
{
	put_varint(b, field << 3 | PROTO_VARINT);
	put_varint(b, value);
}

void proto_bytes(struct bytes *b, unsigned int field, const void *value, size_t len)
{
	put_varint(b, field << 3 | PROTO_BYTES);
	put_varint(b, len);
	bytes_put(b, value, len);
}

void proto_text(struct bytes *b, unsigned int field, const char *text)
{
	proto_bytes(b, field, text, strlen(text));
}

size_t proto_begin(struct bytes *b, unsigned int field)
{
	put_varint(b, field << 3 | PROTO_BYTES);
	/* Most messages are shorter than 128 bytes. */
	bytes_u8(b, 0);
	return b->len;
}

void proto_end(struct bytes *b, size_t begun)
{
	size_t len = b->len - begun, more;
	unsigned char to[10];

	more = varint(to, len) - 1;
	if (b->failed || (more && !bytes_more(b, more)))
		return;
	memmove(b->at + begun + more, b->at + begun, len);
	memcpy(b->at + begun - 1, to, more + 1);
}
