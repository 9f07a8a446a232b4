// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes, compressed if there is zlib, and in base64.
 */
#include "view/view.h"

#include <errno.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#define PACK_ROOM	(3 << 14)	/* a multiple of three */

/* Bytes that have not been written. */
struct pack {
	FILE *to;
	size_t len;
	unsigned char bytes[PACK_ROOM];
};

/* Writes whole groups of three; at the end the rest, filled up. */
static void pack_write(struct pack *p)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char line[PACK_ROOM / 3 * 4 + 1];
	size_t len = 0;

	for (size_t i = 0; i < p->len; i += 3) {
		unsigned int two = i + 1 < p->len ? p->bytes[i + 1] : 0;
		unsigned int three = i + 2 < p->len ? p->bytes[i + 2] : 0;
		unsigned int word = p->bytes[i] << 16 | two << 8 | three;

		line[len++] = digits[word >> 18];
		line[len++] = digits[word >> 12 & 63];
		line[len++] = i + 1 < p->len ? digits[word >> 6 & 63] : '=';
		line[len++] = i + 2 < p->len ? digits[word & 63] : '=';
	}
	line[len++] = '\n';
	fwrite(line, 1, len, p->to);
	p->len = 0;
}

#ifdef HAVE_ZLIB
static bool pack_deflate(struct pack *p, z_stream *z, int flush)
{
	int ret;

	do {
		z->next_out = p->bytes + p->len;
		z->avail_out = PACK_ROOM - p->len;
		ret = deflate(z, flush);
		p->len = PACK_ROOM - z->avail_out;
		if (p->len == PACK_ROOM)
			pack_write(p);
	} while (ret == Z_OK && (z->avail_in || (flush == Z_FINISH)));
	return ret == Z_OK || ret == Z_STREAM_END || ret == Z_BUF_ERROR;
}

static bool pack_pieces(struct pack *p, const struct bytes * const *pieces)
{
	z_stream z = {};
	bool ok = deflateInit(&z, 6) == Z_OK;

	for (; ok && *pieces; pieces++) {
		z.next_in = (*pieces)->at;
		z.avail_in = (*pieces)->len;
		ok = pack_deflate(p, &z, Z_NO_FLUSH);
	}
	ok = ok && pack_deflate(p, &z, Z_FINISH);
	deflateEnd(&z);
	return ok;
}
#else
static bool pack_pieces(struct pack *p, const struct bytes * const *pieces)
{
	for (; *pieces; pieces++)
		for (size_t done = 0, len; done < (*pieces)->len; done += len) {
			len = (*pieces)->len - done;
			if (len > PACK_ROOM - p->len)
				len = PACK_ROOM - p->len;
			memcpy(p->bytes + p->len, (*pieces)->at + done, len);
			p->len += len;
			if (p->len == PACK_ROOM)
				pack_write(p);
		}
	return true;
}
#endif

bool view_pack(FILE *to, const struct bytes * const *pieces)
{
	static struct pack pack;

	pack.to = to;
	pack.len = 0;
	if (!pack_pieces(&pack, pieces)) {
		errno = ENOMEM;
		return false;
	}
	pack_write(&pack);
	return !ferror(to);
}
