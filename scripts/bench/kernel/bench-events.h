/* SPDX-License-Identifier: GPL-2.0 */

/* Two equal events: one that nobody ever enables, and one that is on. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench

#if !defined(_BENCH_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _BENCH_EVENTS_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(bench,

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

DEFINE_EVENT(bench, bench_off,
	TP_PROTO(u64 count, u32 first, u32 second),
	TP_ARGS(count, first, second));

DEFINE_EVENT(bench, bench_on,
	TP_PROTO(u64 count, u32 first, u32 second),
	TP_ARGS(count, first, second));

#endif /* _BENCH_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE bench-events
#include <trace/define_trace.h>
