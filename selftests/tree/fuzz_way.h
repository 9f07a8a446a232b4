/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FUZZ_WAY_H
#define _ETCH_FUZZ_WAY_H

/*
 * Ways to write to a file: with the flags of open() that may go with writing, at offsets, and
 * from addresses where nothing is mapped.
 */

#include "fuzz_input.h"

enum fuzz_way {
	FUZZ_PLAIN,
	FUZZ_APPEND,
	FUZZ_TRUNCATE,
	FUZZ_WRITE_ONLY,
	FUZZ_AT_OFFSET,		/* which means nothing to these files */
	FUZZ_NO_OFFSET,		/* pwrite(), which most of them do not know */
	FUZZ_NOWHERE,		/* an address where nothing is mapped */
	FUZZ_HALFWAY,		/* the mapping ends before the input does */
	FUZZ_NOTHING,		/* no bytes at all */
	FUZZ_WAYS,
};

int fuzz_open_flags(bool readable, enum fuzz_way way);
ssize_t fuzz_write(int fd, struct fuzz_input *in, enum fuzz_way way);
const void *fuzz_nowhere(void);

#endif /* _ETCH_FUZZ_WAY_H */
