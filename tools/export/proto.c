// SPDX-License-Identifier: GPL-2.0
/*
 * Protocol buffers, as they are written.
 */
#include "export/proto.h"

enum { PROTO_VARINT = 0, PROTO_BYTES = 2 };

void proto_number(struct bytes *b, unsigned int field, uint64_t value)
{
	bytes_varint(b, field << 3 | PROTO_VARINT);
	bytes_varint(b, value);
}

void proto_bytes(struct bytes *b, unsigned int field, const void *value, size_t len)
{
	bytes_varint(b, field << 3 | PROTO_BYTES);
	bytes_varint(b, len);
	bytes_put(b, value, len);
}

void proto_text(struct bytes *b, unsigned int field, const char *text)
{
	proto_bytes(b, field, text, strlen(text));
}

size_t proto_begin(struct bytes *b, unsigned int field)
{
	bytes_varint(b, field << 3 | PROTO_BYTES);
	/* Most messages are shorter than 128 bytes. */
	bytes_u8(b, 0);
	return b->len;
}

void proto_end(struct bytes *b, size_t begun)
{
	size_t len = b->len - begun, more;
	unsigned char to[BYTES_VARINT];

	more = bytes_as_varint(to, len) - 1;
	if (b->failed || (more && !bytes_more(b, more)))
		return;
	memmove(b->at + begun + more, b->at + begun, len);
	memcpy(b->at + begun - 1, to, more + 1);
}
