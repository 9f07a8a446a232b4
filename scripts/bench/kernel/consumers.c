// SPDX-License-Identifier: GPL-2.0
/*
 * What a hit costs that mainline's consumers of tracepoints get: a function, as BPF and
 * modules register it, two functions, ftrace, a counter of perf's. Measures when loaded;
 * prints what measure.h says, and how many hits perf counted and ftrace was given:
 *
 *	bench: hits NAME HITS COUNTED
 */

#define pr_fmt(fmt) "bench: " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/trace_events.h>

#define CREATE_TRACE_POINTS
#include "bench-consumed.h"
#include "measure.h"

static unsigned long iterations = 20000;
module_param(iterations, ulong, 0);
MODULE_PARM_DESC(iterations, "in each round");

static void bench_first(void *data, u64 count, u32 first, u32 second)
{
}

static void bench_second(void *data, u64 count, u32 first, u32 second)
{
}

BENCH_LOOP(empty, )

BENCH_LOOP(function, trace_consumed_function(1, 2, 3))

BENCH_LOOP(functions, trace_consumed_functions(1, 2, 3))

BENCH_LOOP(ftrace, trace_consumed_ftrace(1, 2, 3))

BENCH_LOOP(perf, trace_consumed_perf(1, 2, 3))

static const struct bench_case bench_cases[] = {
	{ "empty", bench_loop_empty },
	{ "function", bench_loop_function },
	{ "functions", bench_loop_functions },
	{ "ftrace", bench_loop_ftrace },
	{ "perf", bench_loop_perf },
};

static struct perf_event *bench_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = event_consumed_perf.event.type,
	};

	return perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
}

static int bench_measure(void)
{
	struct perf_event *counter = bench_counter();
	u64 hits, enabled, running;
	int ret;

	if (IS_ERR(counter))
		return PTR_ERR(counter);
	ret = bench_warm(bench_cases, ARRAY_SIZE(bench_cases), iterations);
	hits = (BENCH_WARM_ROUNDS + 1) * iterations;
	pr_info("hits perf %llu %llu\n", hits,
		perf_event_read_value(counter, &enabled, &running));
	pr_info("hits ftrace %llu\n", hits);
	perf_event_release_kernel(counter);
	return ret;
}

static int bench_with_functions(void)
{
	int ret;

	ret = register_trace_consumed_function(bench_first, NULL);
	if (ret)
		return ret;
	ret = register_trace_consumed_functions(bench_first, NULL);
	if (ret)
		goto no_first;
	ret = register_trace_consumed_functions(bench_second, NULL);
	if (ret)
		goto no_second;
	ret = bench_measure();
	unregister_trace_consumed_functions(bench_second, NULL);
no_second:
	unregister_trace_consumed_functions(bench_first, NULL);
no_first:
	unregister_trace_consumed_function(bench_first, NULL);
	tracepoint_synchronize_unregister();
	return ret;
}

static int __init bench_init(void)
{
	int ret;

	ret = trace_set_clr_event("bench_consumed", "consumed_ftrace", 1);
	if (ret)
		return ret;
	ret = bench_with_functions();
	trace_set_clr_event("bench_consumed", "consumed_ftrace", 0);
	return ret;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("What a hit costs mainline's consumers");
MODULE_LICENSE("GPL");
