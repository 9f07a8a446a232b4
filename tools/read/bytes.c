// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes in memory: see bytes.h.
 */
#include "read/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void *bytes_more(struct bytes *b, size_t len)
{
	size_t room = b->room ? b->room : 256;
	unsigned char *more;

	while (room - b->len < len)
		room *= 2;
	if (room != b->room) {
		more = realloc(b->at, room);
		if (!more) {
			b->failed = true;
			return NULL;
		}
		b->at = more;
		b->room = room;
	}
	b->len += len;
	return b->at + b->len - len;
}

void bytes_put(struct bytes *b, const void *from, size_t len)
{
	void *to = bytes_more(b, len);

	if (to && len)
		memcpy(to, from, len);
}

size_t bytes_as_varint(unsigned char to[BYTES_VARINT], uint64_t value)
{
	size_t len = 0;

	for (; value > 127; value >>= 7)
		to[len++] = value | 128;
	to[len++] = value;
	return len;
}

void bytes_varint(struct bytes *b, uint64_t value)
{
	unsigned char to[BYTES_VARINT];

	bytes_put(b, to, bytes_as_varint(to, value));
}

void bytes_u8(struct bytes *b, uint8_t value)
{
	bytes_put(b, &value, sizeof(value));
}

void bytes_u16(struct bytes *b, uint16_t value)
{
	bytes_put(b, &value, sizeof(value));
}

void bytes_u32(struct bytes *b, uint32_t value)
{
	bytes_put(b, &value, sizeof(value));
}

void bytes_u64(struct bytes *b, uint64_t value)
{
	bytes_put(b, &value, sizeof(value));
}

void bytes_text(struct bytes *b, const char *text)
{
	bytes_put(b, text, strlen(text));
}

void bytes_textz(struct bytes *b, const char *text)
{
	bytes_put(b, text, strlen(text) + 1);
}

void bytes_print(struct bytes *b, const char *fmt, ...)
{
	va_list args, again;
	char *to;
	int len;

	va_start(args, fmt);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	to = len < 0 ? NULL : bytes_more(b, len + 1);
	if (to) {
		vsnprintf(to, len + 1, fmt, again);
		b->len--;
	}
	va_end(again);
	va_end(args);
}

void bytes_align(struct bytes *b, size_t align)
{
	size_t len = -b->len & (align - 1);
	void *to = bytes_more(b, len);

	if (to && len)
		memset(to, 0, len);
}

void bytes_free(struct bytes *b)
{
	free(b->at);
	*b = (struct bytes){};
}
