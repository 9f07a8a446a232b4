/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_MEASURE_H
#define _BENCH_MEASURE_H

/*
 * Measuring loops by the processor's counter.
 *
 * A case is a function that does one thing so and so many times. Rounds go
 * through all cases in turn, so that whatever slows the machine down for a while
 * hits each of them alike. The log has every single round, in ticks; a script on
 * the host computes medians, nanoseconds and ratios:
 *
 *	bench: hz TICKS-PER-SECOND
 *	bench: sample NAME HOW ITERATIONS TICKS...
 *
 * HOW is warm, many iterations at a time, or cold, one iteration after the
 * caches were emptied. Nothing is subtracted: the empty loop is a case, too.
 */

#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#if defined(CONFIG_X86) && !defined(CONFIG_UML)
#include <asm/cpufeature.h>
#endif

#include "loop.h"

#define BENCH_WARM_ROUNDS	25
#define BENCH_COLD_ROUNDS	101

/* More than the cores of a processor share: with 16 MiB a cold hit depended on the boot. */
#define BENCH_CACHES		(96UL << 20)

struct bench_case {
	const char *name;
	void (*loop)(unsigned long iterations);
};

/* No instruction from before is still under way, and none from behind is. */
static inline u64 bench_ticks(void)
{
	u32 low, high;

	asm volatile("mfence; lfence; rdtsc; lfence"
		     : "=a" (low), "=d" (high) : : "memory");
	return ((u64)high << 32) | low;
}

/* One round, in ticks. */
static noinline u64 bench_run(const struct bench_case *c,
			      unsigned long iterations)
{
	void (*loop)(unsigned long iterations) = c->loop;
	unsigned long flags;
	u64 begin, end;

	local_irq_save(flags);
	begin = bench_ticks();
	loop(iterations);
	end = bench_ticks();
	local_irq_restore(flags);
	return end - begin;
}

/*
 * QEMU's processors do not say that their counter never stops. With one
 * processor, whose counter counts instructions, that is known.
 */
static inline void bench_trust_counter(void)
{
#if defined(CONFIG_X86) && !defined(CONFIG_UML)
	set_cpu_cap(&boot_cpu_data, X86_FEATURE_CONSTANT_TSC);
	set_cpu_cap(&boot_cpu_data, X86_FEATURE_NONSTOP_TSC);
#endif
}

/* How fast the counter is, by the kernel's clock, over a tenth of a second. */
static inline void bench_print_hz(void)
{
	u64 ticks = bench_ticks(), start = ktime_get_ns(), ns;

	do {
		cpu_relax();
		ns = ktime_get_ns() - start;
	} while (ns < NSEC_PER_SEC / 10);
	ticks = bench_ticks() - ticks;
	pr_info("hz %llu\n", mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, ns));
}

/* Sixteen rounds to a line: the log would cut longer ones off. */
static inline void bench_print(const char *name, const char *how,
			       unsigned long iterations, const u64 *ticks,
			       int rounds)
{
	char line[400];
	int i, len = 0;

	for (i = 0; i < rounds; i++) {
		len += scnprintf(line + len, sizeof(line) - len, " %llu",
				 ticks[i]);
		if (i % 16 != 15 && i != rounds - 1)
			continue;
		pr_info("sample %s %s %lu%s\n", name, how, iterations, line);
		len = 0;
	}
}

/**
 * bench_warm() - measure cases with warm caches, and print
 * @cases: at most eight
 * @nr: how many
 * @iterations: in each round
 *
 * Return: 0 or -ENOMEM.
 */
static inline int bench_warm(const struct bench_case *cases, int nr,
			     unsigned long iterations)
{
	u64 (*ticks)[BENCH_WARM_ROUNDS];
	int i, round;

	ticks = kcalloc(nr, sizeof(*ticks), GFP_KERNEL);
	if (!ticks)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		bench_run(&cases[i], iterations);
	for (round = 0; round < BENCH_WARM_ROUNDS; round++) {
		for (i = 0; i < nr; i++)
			ticks[i][round] = bench_run(&cases[i], iterations);
		cond_resched();
	}
	for (i = 0; i < nr; i++)
		bench_print(cases[i].name, "warm", iterations, ticks[i],
			    BENCH_WARM_ROUNDS);
	kfree(ticks);
	return 0;
}

/* Put something else into the caches, by reading and by writing. */
static inline void bench_empty_caches(u8 *memory)
{
	unsigned long at;

	for (at = 0; at < BENCH_CACHES; at += BENCH_LINE)
		WRITE_ONCE(memory[at], READ_ONCE(memory[at]) + 1);
	asm volatile("mfence; lfence" : : : "memory");
}

/**
 * bench_cold() - measure one hit at a time with empty caches, and print
 * @cases: what to measure
 * @nr: how many
 *
 * Return: 0 or -ENOMEM.
 */
static inline int bench_cold(const struct bench_case *cases, int nr)
{
	u64 (*ticks)[BENCH_COLD_ROUNDS];
	int i, round, ret = -ENOMEM;
	u8 *memory;

	ticks = kcalloc(nr, sizeof(*ticks), GFP_KERNEL);
	memory = vzalloc(BENCH_CACHES);
	if (!ticks || !memory)
		goto out;
	for (round = 0; round < BENCH_COLD_ROUNDS; round++) {
		for (i = 0; i < nr; i++) {
			bench_empty_caches(memory);
			ticks[i][round] = bench_run(&cases[i], 1);
		}
		cond_resched();
	}
	for (i = 0; i < nr; i++)
		bench_print(cases[i].name, "cold", 1, ticks[i],
			    BENCH_COLD_ROUNDS);
	ret = 0;
out:
	vfree(memory);
	kfree(ticks);
	return ret;
}

#endif /* _BENCH_MEASURE_H */
