/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_CALL_H
#define _ETCH_CALL_H

/* A system call that may wait, in a thread of its own. */

#include <pthread.h>

#include "etch_test.h"

struct call {
	pthread_t thread;
	ssize_t (*how)(const struct call *c);
	int fd;
	void *data;		/* what else it takes */
	ssize_t ret;
	int err;
	bool done;
};

static inline void *call_run(void *data)
{
	struct call *c = data;

	c->ret = c->how(c);
	c->err = errno;
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* And give it the time to begin waiting. */
static inline void begin_call(struct call *c)
{
	if (pthread_create(&c->thread, NULL, call_run, c))
		give_up("a thread");
	usleep(100000);
}

/* Soon, even on a slow machine. */
static inline bool call_ends(struct call *c)
{
	for (int ms = 0; ms < 5000 && !__atomic_load_n(&c->done, __ATOMIC_ACQUIRE); ms++)
		usleep(1000);
	return __atomic_load_n(&c->done, __ATOMIC_ACQUIRE);
}

#endif /* _ETCH_CALL_H */
