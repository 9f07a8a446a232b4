// SPDX-License-Identifier: GPL-2.0

#include <pthread.h>

#include "call.h"

static void *call_run(void *data)
{
	struct call *c = data;

	c->ret = c->how(c);
	c->err = errno;
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Starts the call, and gives it time to begin waiting. */
void begin_call(struct call *c)
{
	if (pthread_create(&c->thread, NULL, call_run, c))
		give_up("a thread");
	usleep(100000);
}

/* Whether the call ends soon: within five seconds, for slow machines. */
bool call_ends(struct call *c)
{
	for (int ms = 0; ms < 5000 && !__atomic_load_n(&c->done, __ATOMIC_ACQUIRE); ms++)
		usleep(1000);
	return __atomic_load_n(&c->done, __ATOMIC_ACQUIRE);
}

static void *do_later(void *what)
{
	usleep(300000);
	((void (*)(void))what)();
	return NULL;
}

/* Calls @what in 300 ms, in a thread that the caller joins. */
void call_later(pthread_t *thread, void (*what)(void))
{
	if (pthread_create(thread, NULL, do_later, what))
		give_up("a thread");
}
