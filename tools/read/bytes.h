/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes in memory, of all that is written: pages and other formats. Numbers have the machine's
 * byte order, as the records have.
 */
#ifndef _ETCH_READ_BYTES_H
#define _ETCH_READ_BYTES_H

#include "read/read.h"

#define BYTES_VARINT	10	/* that many at most */

/**
 * struct bytes - bytes that are added one behind the other; starts as all zeroes
 * @at: the first
 * @len: how many there are
 * @room: how many fit
 * @failed: some found no memory
 */
struct bytes {
	unsigned char *at;
	size_t len, room;
	bool failed;
};

/* Room for @len more bytes, which count as added; NULL: no memory. */
void *bytes_more(struct bytes *b, size_t len);
void bytes_put(struct bytes *b, const void *from, size_t len);
/* Seven bits a byte, the lowest first; the eighth says that more follow. */
void bytes_varint(struct bytes *b, uint64_t value);
/* The same, not added; returns how many bytes. */
size_t bytes_as_varint(unsigned char to[BYTES_VARINT], uint64_t value);
void bytes_u8(struct bytes *b, uint8_t value);
void bytes_u16(struct bytes *b, uint16_t value);
void bytes_u32(struct bytes *b, uint32_t value);
void bytes_u64(struct bytes *b, uint64_t value);
/* Characters without and with the zero at the end. */
void bytes_text(struct bytes *b, const char *text);
void bytes_textz(struct bytes *b, const char *text);
void __attribute__((format(printf, 2, 3)))
bytes_print(struct bytes *b, const char *fmt, ...);
/* Zeroes up to a multiple of @align, which is a power of two. */
void bytes_align(struct bytes *b, size_t align);
void bytes_free(struct bytes *b);

#endif /* _ETCH_READ_BYTES_H */
