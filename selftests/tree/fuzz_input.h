/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FUZZ_INPUT_H
#define _ETCH_FUZZ_INPUT_H

/*
 * Random inputs: words that some file accepts, numbers around limits, and names of events,
 * with separators in between, whole or with a few bytes changed; or any bytes.
 */

#include "fuzz.h"
#include "lists.h"

#define FUZZ_INPUT_MAX	16384

struct fuzz_input {
	size_t len;
	size_t mapped;	/* so many of its bytes the kernel could read */
	char bytes[FUZZ_INPUT_MAX + 1];
};

/* The events of the running kernel. */
extern struct list fuzz_events;

void fuzz_add(struct fuzz_input *in, const void *bytes, size_t len);
void fuzz_change(struct fuzz_input *in);
void fuzz_make(struct fuzz_input *in);

#endif /* _ETCH_FUZZ_INPUT_H */
