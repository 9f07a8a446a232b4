// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a file of a trace that is to be repaired (tools/tracing/etch/record/repair.c): the
 * repaired file has whole packets, as many as were there; a second repair finds nothing to do.
 */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

/* A file is never made longer than by the padding of one packet: the largest sub-buffer. */
#define MOST_PADDING	(512 << 10)

static unsigned int said;

void say(const char *fmt, ...)
{
	said++;
}

int fail(const char *fmt, ...)
{
	abort();
}

static char folder[64];
static int dir = -1;

static void forget_folder(void)
{
	unlinkat(dir, "cpu0", 0);
	unlinkat(dir, "metadata", 0);
	rmdir(folder);
}

static void need_folder(void)
{
	if (dir >= 0)
		return;
	strcpy(folder, "/tmp/etch-fuzz-repair-XXXXXX");
	if (!mkdtemp(folder))
		abort();
	dir = open(folder, O_DIRECTORY | O_CLOEXEC);
	close(openat(dir, "metadata", O_CREAT | O_WRONLY, 0600));
	atexit(forget_folder);
}

/* Headers where the one before says that the next is, to the very end. */
static void check_packets(int fd, off_t size)
{
	struct etch_packet_header header;
	off_t at = 0;

	while (at < size) {
		if (pread(fd, &header, sizeof(header), at) != sizeof(header) ||
		    header.magic != ETCH_PACKET_MAGIC || !header.packet_size)
			abort();
		at += header.packet_size / 8;
	}
	if (at != size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stat once, twice;
	int fd;

	need_folder();
	fd = openat(dir, "cpu0", O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (repair(folder) || fstat(fd, &once))
		abort();
	if (once.st_size > (off_t)(size + MOST_PADDING))
		abort();
	check_packets(fd, once.st_size);
	said = 0;
	if (repair(folder) || fstat(fd, &twice) || twice.st_size != once.st_size || said)
		abort();
	close(fd);
	return 0;
}
