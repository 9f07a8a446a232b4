// SPDX-License-Identifier: GPL-2.0
/*
 * What a marker costs, off and on, and a line of trace_printk(). Each write to the
 * parameter "run" measures once before it returns:
 *
 *	HOW ROUNDS ITERATIONS
 *
 * The writer decides which markers are on. Prints the lines that measure.h describes, and
 * how often each case was hit, rounds included that are not counted:
 *
 *	bench: hits NAME HOW NUMBER
 */

#define pr_fmt(fmt) "bench: " fmt

#include <linux/etch_mark.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "measure.h"

#define BENCH_ROUNDS	16

/* The values that the events of event.c get, in fields of the same sizes. */
struct bench_values {
	u64 count;
	u32 first;
	u32 second;
};

static struct bench_values values = { 1, 2, 3 };
static char text[] = "sixteen letters.";
static char *string = text;

BENCH_LOOP(empty, )

BENCH_LOOP(mark_off, etch_mark("bench_off", values.count, values.first, values.second))

BENCH_LOOP(mark_three, etch_mark("bench_three", values.count, values.first, values.second))

BENCH_LOOP(mark_text, etch_mark("bench_text", string))

BENCH_LOOP(printk_three, trace_printk("count=%llu first=%u second=%u\n", values.count,
				      values.first, values.second))

BENCH_LOOP(printk_text, trace_printk("text=%s\n", string))

#define BENCH_CASE(name)	{ #name, bench_loop_##name }

static const struct bench_case bench_cases[] = {
	BENCH_CASE(empty),
	BENCH_CASE(mark_off),
	BENCH_CASE(mark_three),
	BENCH_CASE(mark_text),
	BENCH_CASE(printk_three),
	BENCH_CASE(printk_text),
};

static u64 bench_taken[ARRAY_SIZE(bench_cases)][BENCH_ROUNDS];

/* As bench_rows_warm() of event.c. */
static void bench_measure(const char *how, int rounds, unsigned long iterations)
{
	int i, round;

	for (i = 0; i < ARRAY_SIZE(bench_cases); i++)
		bench_run(&bench_cases[i], iterations);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < ARRAY_SIZE(bench_cases); i++)
			bench_taken[i][round] = bench_run(&bench_cases[i], iterations);
	}
	for (i = 0; i < ARRAY_SIZE(bench_cases); i++) {
		bench_print(bench_cases[i].name, how, iterations, bench_taken[i], rounds);
		pr_info("hits %s %s %lu\n", bench_cases[i].name, how, (rounds + 1) * iterations);
	}
}

static int bench_set_run(const char *line, const struct kernel_param *param)
{
	unsigned long iterations;
	char how[16];
	int rounds;

	if (sscanf(line, "%15s %d %lu", how, &rounds, &iterations) != 3 ||
	    rounds < 1 || rounds > BENCH_ROUNDS || !iterations)
		return -EINVAL;
	bench_measure(how, rounds, iterations);
	return 0;
}

static const struct kernel_param_ops bench_run_ops = {
	.set = bench_set_run,
};

module_param_cb(run, &bench_run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "HOW ROUNDS ITERATIONS: measure");

static int __init bench_init(void)
{
	bench_print_hz();
	return 0;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("What a marker costs");
MODULE_LICENSE("GPL");
