/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FAULTS_TAKEN_H
#define _ETCH_FAULTS_TAKEN_H

/*
 * Taking records while an allocation fails. Records that the failed call did not give must
 * come from the same file later, or, if it could not be opened, from another one. For
 * faults.c alone.
 */

#include <linux/etch_packet.h>

#include "faults_state.h"

enum take {
	TAKE_NONE,
	TAKE_TEXT,
	TAKE_READ,
	TAKE_SPLICE,
	TAKE_WINDOW,
};

extern struct taken {
	enum take how;
	int fd;			/* -1: not open */
	int pipes[2];
	void *map;
	struct etch_window window;
	char buf[1 << 16];	/* the bytes that were read */
	size_t len;
	struct packets seen;	/* or, as text: @seen.marks, @seen.order and @seen.last */
	unsigned int bad;	/* times that not all marks were there */
} taken;

void taken_reset(void);
void taken_marks(void);
int taken_pipe(const char *file);
int taken_raw(enum take how);
void taken_rest(void);

#endif /* _ETCH_FAULTS_TAKEN_H */
