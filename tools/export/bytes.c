// SPDX-License-Identifier: GPL-2.0
/*
 * Bytes in memory, and a file that they go to. Numbers have the machine's byte order, as the
 * records have.
 */
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

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

/* ---- Files ---- */

struct out *out_open(const char *path)
{
	struct out *out = calloc(1, sizeof(*out));
	struct stat st;

	if (!out || !(out->path = strdup(path))) {
		free(out);
		etch_complaint("There is no memory to write %s", path);
		return NULL;
	}
	if (!strcmp(path, "-"))
		out->fd = dup(STDOUT_FILENO);
	else
		out->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (out->fd < 0) {
		etch_complaint("%s cannot be made: %m", path);
		free(out->path);
		free(out);
		return NULL;
	}
	out->regular = strcmp(path, "-") && !fstat(out->fd, &st) && S_ISREG(st.st_mode);
	return out;
}

#ifdef HAVE_ZLIB
void out_gzip(struct out *out)
{
	int fd = dup(out->fd);

	out->gzip = fd < 0 ? NULL : gzdopen(fd, "wb6");
	if (!out->gzip)
		out->error = ENOMEM;
}

static void gzip_all(struct out *out, const unsigned char *from, size_t len)
{
	if (len && !out->error && gzwrite(out->gzip, from, len) != (int)len)
		out->error = errno ? errno : EIO;
}

static void gzip_end(struct out *out)
{
	if (out->gzip && gzclose(out->gzip) != Z_OK && !out->error)
		out->error = errno ? errno : EIO;
}
#else
void out_gzip(struct out *out)
{
	(void)out;
}

static void gzip_all(struct out *out, const unsigned char *from, size_t len)
{
	(void)out;
	(void)from;
	(void)len;
}

static void gzip_end(struct out *out)
{
	(void)out;
}
#endif

static void out_all(struct out *out, const unsigned char *from, size_t len)
{
	ssize_t n;

	if (out->gzip) {
		gzip_all(out, from, len);
		return;
	}
	while (len && !out->error) {
		n = write(out->fd, from, len);
		if (n < 0 && errno != EINTR)
			out->error = errno;
		if (n > 0) {
			from += n;
			len -= n;
		}
	}
}

static void out_flush(struct out *out)
{
	out_all(out, out->buf, out->used);
	out->used = 0;
}

void out_put(struct out *out, const void *from, size_t len)
{
	out->at += len;
	if (len > sizeof(out->buf) - out->used)
		out_flush(out);
	if (len > sizeof(out->buf)) {
		out_all(out, from, len);
		return;
	}
	memcpy(out->buf + out->used, from, len);
	out->used += len;
}

void out_over(struct out *out, uint64_t at, const void *from, size_t len)
{
	out_flush(out);
	if (!out->error && pwrite(out->fd, from, len, at) != (ssize_t)len)
		out->error = errno ? errno : EIO;
}

void out_file(struct out *out, int fd, uint64_t len)
{
	uint64_t at = 0;

	out_flush(out);
	while (at < len && !out->error) {
		size_t want = len - at < sizeof(out->buf) ? len - at : sizeof(out->buf);
		ssize_t n = pread(fd, out->buf, want, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			out->error = n ? errno : EIO;
			return;
		}
		out_all(out, out->buf, n);
		at += n;
	}
	out->at += len;
}

bool out_close(struct out *out, bool whole)
{
	out_flush(out);
	gzip_end(out);
	if (close(out->fd) && !out->error)
		out->error = errno;
	if (out->error)
		etch_complaint("%s cannot be written: %s", out->path, strerror(out->error));
	whole &= !out->error;
	if (!whole && out->regular)
		unlink(out->path);
	free(out->path);
	free(out);
	return whole;
}
