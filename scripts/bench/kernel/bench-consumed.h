/* SPDX-License-Identifier: GPL-2.0 */

/* Equal events, one for each kind of consumer. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench_consumed

#if !defined(_BENCH_CONSUMED_H) || defined(TRACE_HEADER_MULTI_READ)
#define _BENCH_CONSUMED_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(bench_consumed,

	TP_PROTO(u64 count, u32 first, u32 second),

	TP_ARGS(count, first, second),

	TP_STRUCT__entry(
		__field(u64, count)
		__field(u32, first)
		__field(u32, second)
	),

	TP_fast_assign(
		__entry->count = count;
		__entry->first = first;
		__entry->second = second;
	),

	TP_printk("count=%llu first=%u second=%u",
		  __entry->count, __entry->first, __entry->second)
);

#define BENCH_CONSUMED(name)						\
DEFINE_EVENT(bench_consumed, consumed_##name,				\
	TP_PROTO(u64 count, u32 first, u32 second),			\
	TP_ARGS(count, first, second))

BENCH_CONSUMED(function);
BENCH_CONSUMED(functions);
BENCH_CONSUMED(ftrace);
BENCH_CONSUMED(perf);
BENCH_CONSUMED(both);
BENCH_CONSUMED(etch);
BENCH_CONSUMED(shared);

#endif /* _BENCH_CONSUMED_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE bench-consumed
#include <trace/define_trace.h>
