// SPDX-License-Identifier: GPL-2.0
/*
 * A file that a format is written to.
 */
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

struct file *file_open(const char *path)
{
	struct file *file = calloc(1, sizeof(*file));
	struct stat st;

	if (file)
		file->path = strdup(path);
	if (!file || !file->path) {
		free(file);
		etch_complaint("There is no memory to write %s", path);
		return NULL;
	}
	if (!strcmp(path, "-"))
		file->fd = dup(STDOUT_FILENO);
	else
		file->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (file->fd < 0) {
		etch_complaint("%s cannot be made: %m", path);
		free(file->path);
		free(file);
		return NULL;
	}
	file->regular = strcmp(path, "-") && !fstat(file->fd, &st) && S_ISREG(st.st_mode);
	return file;
}

#ifdef HAVE_ZLIB
void file_gzip(struct file *file)
{
	int fd = dup(file->fd);

	file->gzip = fd < 0 ? NULL : gzdopen(fd, "wb6");
	if (!file->gzip)
		file->error = ENOMEM;
}

static void gzip_all(struct file *file, const unsigned char *from, size_t len)
{
	if (len && !file->error && gzwrite(file->gzip, from, len) != (int)len)
		file->error = errno ? errno : EIO;
}

static void gzip_end(struct file *file)
{
	if (file->gzip && gzclose(file->gzip) != Z_OK && !file->error)
		file->error = errno ? errno : EIO;
}
#else
void file_gzip(struct file *file)
{
	(void)file;
}

static void gzip_all(struct file *file, const unsigned char *from, size_t len)
{
	(void)file;
	(void)from;
	(void)len;
}

static void gzip_end(struct file *file)
{
	(void)file;
}
#endif

static void file_all(struct file *file, const unsigned char *from, size_t len)
{
	ssize_t n;

	if (file->gzip) {
		gzip_all(file, from, len);
		return;
	}
	while (len && !file->error) {
		n = write(file->fd, from, len);
		if (n < 0 && errno != EINTR)
			file->error = errno;
		if (n > 0) {
			from += n;
			len -= n;
		}
	}
}

static void file_flush(struct file *file)
{
	file_all(file, file->buf, file->used);
	file->used = 0;
}

void file_put(struct file *file, const void *from, size_t len)
{
	file->at += len;
	if (len > sizeof(file->buf) - file->used)
		file_flush(file);
	if (len > sizeof(file->buf)) {
		file_all(file, from, len);
		return;
	}
	memcpy(file->buf + file->used, from, len);
	file->used += len;
}

void file_over(struct file *file, uint64_t at, const void *from, size_t len)
{
	file_flush(file);
	if (!file->error && pwrite(file->fd, from, len, at) != (ssize_t)len)
		file->error = errno ? errno : EIO;
}

void file_copy(struct file *file, int fd, uint64_t len)
{
	uint64_t at = 0;

	file_flush(file);
	while (at < len && !file->error) {
		size_t want = len - at < sizeof(file->buf) ? len - at : sizeof(file->buf);
		ssize_t n = pread(fd, file->buf, want, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			file->error = n ? errno : EIO;
			return;
		}
		file_all(file, file->buf, n);
		at += n;
	}
	file->at += len;
}

bool file_close(struct file *file, bool whole)
{
	file_flush(file);
	gzip_end(file);
	if (close(file->fd) && !file->error)
		file->error = errno;
	if (file->error)
		etch_complaint("%s cannot be written: %s", file->path, strerror(file->error));
	whole &= !file->error;
	if (!whole && file->regular)
		unlink(file->path);
	free(file->path);
	free(file);
	return whole;
}
