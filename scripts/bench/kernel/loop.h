/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_LOOP_H
#define _BENCH_LOOP_H

#include <linux/compiler.h>

#define BENCH_LINE		64

/*
 * A function that repeats @body, once at least. It starts on a cache line of its
 * own, for the cold rounds. The empty asm keeps the compiler from doing the same
 * thing but once; scripts/bench/loops.py looks at what became of it.
 */
#define BENCH_LOOP(name, body)						\
void bench_loop_##name(unsigned long left);				\
									\
noinline __aligned(BENCH_LINE)						\
void bench_loop_##name(unsigned long left)				\
{									\
	do {								\
		body;							\
		asm volatile("" : : : "memory");			\
	} while (--left);						\
}

#endif /* _BENCH_LOOP_H */
