/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_PROGRAMS_H
#define _BENCH_PROGRAMS_H

/* The events of BENCH=user: a record of 28 bytes, and sixteen that are off. */

#include <etch/user.h>

#define BENCH_EVENTS(event)					\
	event(ubench, step, (u64, nr), (u64, value))		\
	event(ubench, off0, (u64, nr))				\
	event(ubench, off1, (u64, nr))				\
	event(ubench, off2, (u64, nr))				\
	event(ubench, off3, (u64, nr))
ETCH_PROVIDER(ubench, BENCH_EVENTS);

#endif /* _BENCH_PROGRAMS_H */
