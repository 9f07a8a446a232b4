// SPDX-License-Identifier: GPL-2.0
/*
 * What a hit costs that mainline's consumers of tracepoints get: a function, as BPF and
 * modules register it, two functions, ftrace, a counter of perf's; a function beside ftrace; and
 * where there is Etch, one beside Etch. The events that the tracers record are for others to
 * turn on. Writing 1 to the parameter measures; prints what measure.h says, how many hits of one
 * event there were, and how many perf counted:
 *
 *	bench: hits HITS
 *	bench: counted perf HITS
 */

#define pr_fmt(fmt) "bench: " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/tracepoint.h>

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

BENCH_LOOP(both, trace_consumed_both(1, 2, 3))

BENCH_LOOP(etch, trace_consumed_etch(1, 2, 3))

BENCH_LOOP(shared, trace_consumed_shared(1, 2, 3))

static const struct bench_case bench_cases[] = {
	{ "empty", bench_loop_empty },
	{ "function", bench_loop_function },
	{ "functions", bench_loop_functions },
	{ "ftrace", bench_loop_ftrace },
	{ "perf", bench_loop_perf },
	{ "both", bench_loop_both },
	{ "etch", bench_loop_etch },
	{ "shared", bench_loop_shared },
};

/* Some hits have a function: an event, and the function. */
static const struct bench_function {
	int (*add)(void (*)(void *, u64, u32, u32), void *);
	int (*remove)(void (*)(void *, u64, u32, u32), void *);
	void (*function)(void *, u64, u32, u32);
} bench_functions[] = {
#define BENCH_FUNCTION(event, function)					\
	{ register_trace_consumed_##event, unregister_trace_consumed_##event, function }
	BENCH_FUNCTION(function, bench_first),
	BENCH_FUNCTION(functions, bench_first),
	BENCH_FUNCTION(functions, bench_second),
	BENCH_FUNCTION(both, bench_first),
	BENCH_FUNCTION(shared, bench_first),
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
	u64 enabled, running;
	int ret;

	if (IS_ERR(counter))
		return PTR_ERR(counter);
	ret = bench_warm(bench_cases, ARRAY_SIZE(bench_cases), iterations);
	pr_info("hits %llu\n", (u64)(BENCH_WARM_ROUNDS + 1) * iterations);
	pr_info("counted perf %llu\n", perf_event_read_value(counter, &enabled, &running));
	perf_event_release_kernel(counter);
	return ret;
}

static void bench_remove(int nr)
{
	while (nr--)
		bench_functions[nr].remove(bench_functions[nr].function, NULL);
	tracepoint_synchronize_unregister();
}

static int bench_run_set(const char *value, const struct kernel_param *kp)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(bench_functions); i++) {
		ret = bench_functions[i].add(bench_functions[i].function, NULL);
		if (ret) {
			bench_remove(i);
			return ret;
		}
	}
	ret = bench_measure();
	bench_remove(i);
	return ret;
}

static const struct kernel_param_ops bench_run_ops = {
	.set = bench_run_set,
};

module_param_cb(run, &bench_run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "measure");

static int __init bench_init(void)
{
	bench_trust_counter();
	return 0;
}

static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("What a hit costs mainline's consumers");
MODULE_LICENSE("GPL");
