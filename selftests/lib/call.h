/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_CALL_H
#define _ETCH_CALL_H

/* A system call that may wait, in a thread of its own. */

#include <pthread.h>

#include "etch.h"

struct call {
	pthread_t thread;
	ssize_t (*how)(const struct call *c);
	int fd;
	void *data;		/* a further argument of @how */
	ssize_t ret;
	int err;
	bool done;
};

void begin_call(struct call *c);
bool call_ends(struct call *c);
void call_later(pthread_t *thread, void (*what)(void));

#endif /* _ETCH_CALL_H */
