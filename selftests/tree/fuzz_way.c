// SPDX-License-Identifier: GPL-2.0
/*
 * How to open a file and write a random input to it, in one of many ways.
 */

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_way.h"

int fuzz_open_flags(bool readable, enum fuzz_way way)
{
	int flags = readable && way != FUZZ_WRITE_ONLY ? O_RDWR : O_WRONLY;

	if (way == FUZZ_APPEND)
		flags |= O_APPEND;
	if (way == FUZZ_TRUNCATE)
		flags |= O_TRUNC;
	return flags | O_CLOEXEC;
}

/* The first address behind a mapping of 4 * FUZZ_INPUT_MAX bytes; nothing is mapped there. */
static char *edge(void)
{
	static char *pages;

	if (!pages) {
		pages = mmap(NULL, 8 * FUZZ_INPUT_MAX, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mprotect(pages + 4 * FUZZ_INPUT_MAX, 4 * FUZZ_INPUT_MAX, PROT_NONE);
	}
	return pages + 4 * FUZZ_INPUT_MAX;
}

/* An address that this process cannot read. */
const void *fuzz_nowhere(void)
{
	static const unsigned long addresses[] = {
		0, 1, 4095, -1UL, -4096UL, 1UL << 63, 0x60000000, 0xffff888000000000,
		0xffffffff81000000,
	};

	return fuzz_once_in(3) ? edge() : (void *)fuzz_of(addresses);
}

/* Write @in to @fd, and note in it how many of its bytes were mapped. */
ssize_t fuzz_write(int fd, struct fuzz_input *in, enum fuzz_way way)
{
	in->mapped = in->len;
	switch (way) {
	case FUZZ_AT_OFFSET:
		lseek(fd, fuzz_any() >> (2 + fuzz_below(60)), SEEK_SET);
		return write(fd, in->bytes, in->len);
	case FUZZ_NO_OFFSET:
		return pwrite(fd, in->bytes, in->len, fuzz_once_in(2) ? fuzz_any() : fuzz_below(9));
	case FUZZ_NOWHERE:
		in->mapped = 0;
		return write(fd, fuzz_nowhere(), in->len);
	case FUZZ_HALFWAY:
		in->mapped = fuzz_below(in->len);
		memcpy(edge() - in->mapped, in->bytes, in->mapped);
		return write(fd, edge() - in->mapped, in->len);
	case FUZZ_NOTHING:
		return write(fd, in->bytes, 0);
	default:
		return write(fd, in->bytes, in->len);
	}
}
