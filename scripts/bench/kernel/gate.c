// SPDX-License-Identifier: GPL-2.0
/*
 * What a tracepoint's site costs, off and on, beside other ways to ask "does
 * anybody want to know?". Measures when loaded; prints what measure.h says.
 */

#define pr_fmt(fmt) "bench: " fmt

#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "bench-events.h"
#include "gate.h"
#include "measure.h"

static bool cold = true;
module_param(cold, bool, 0);
MODULE_PARM_DESC(cold, "measure with emptied caches, too");

static unsigned long iterations = 100000;
module_param(iterations, ulong, 0);
MODULE_PARM_DESC(iterations, "in each warm round");

static void bench_probe(void *data, u64 count, u32 first, u32 second)
{
}

BENCH_LOOP(off, trace_bench_off(1, 2, 3))

BENCH_LOOP(on, trace_bench_on(1, 2, 3))

static const struct bench_case bench_cases[] = {
	{ "empty", bench_loop_empty },
	{ "flag", bench_loop_flag },
	{ "off", bench_loop_off },
	{ "jump", bench_loop_jump },
	{ "on", bench_loop_on },
};

static int __init bench_init(void)
{
	int ret;

	ret = register_trace_bench_on(bench_probe, NULL);
	if (ret)
		return ret;
	static_branch_enable(&bench_key);
	bench_print_hz();
	ret = bench_warm(bench_cases, ARRAY_SIZE(bench_cases), iterations);
	if (!ret && cold)
		ret = bench_cold(bench_cases, ARRAY_SIZE(bench_cases));
	static_branch_disable(&bench_key);
	unregister_trace_bench_on(bench_probe, NULL);
	tracepoint_synchronize_unregister();
	return ret;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("What a tracepoint's site costs");
MODULE_LICENSE("GPL");
