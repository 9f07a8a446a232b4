// SPDX-License-Identifier: GPL-2.0
/*
 * Ways to ask "does anybody want to know?" that are no tracepoint.
 */

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/types.h>

#include "gate.h"

/* The way that needs no patched text. Nobody sets it. */
static bool bench_flag __read_mostly;

DEFINE_STATIC_KEY_FALSE(bench_key);

static noinline void bench_wanted(u64 count, u32 first, u32 second)
{
	asm volatile("" : : "r" (count), "r" (first), "r" (second));
}

BENCH_LOOP(empty, (void)0)

BENCH_LOOP(flag, if (unlikely(READ_ONCE(bench_flag))) bench_wanted(1, 2, 3))

/* A taken branch to an empty body; the asm keeps the body where it is. */
BENCH_LOOP(jump, if (static_branch_unlikely(&bench_key)) asm volatile(""))
