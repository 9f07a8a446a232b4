/* SPDX-License-Identifier: GPL-2.0 */

/*
 * The recorded events: four classes, each with an event for Etch and an equal one
 * for ftrace, so that both tracers can be on and take turns without a switch
 * being thrown.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bench_hits

#if !defined(_BENCH_HITS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _BENCH_HITS_H

#include <linux/sched.h>
#include <linux/tracepoint.h>

#ifndef _BENCH_HITS_TYPES
#define _BENCH_HITS_TYPES
struct bench_words {
	u64 word[8];
};
#endif

DECLARE_EVENT_CLASS(bench_small,

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

DECLARE_EVENT_CLASS(bench_large,

	TP_PROTO(const struct bench_words *words),

	TP_ARGS(words),

	TP_STRUCT__entry(
		__field_struct(struct bench_words, words)
	),

	TP_fast_assign(
		__entry->words = *words;
	),

	TP_printk("words=%llu...", __entry->words.word[0])
);

DECLARE_EVENT_CLASS(bench_string,

	TP_PROTO(const char *text),

	TP_ARGS(text),

	TP_STRUCT__entry(
		__string(text, text)
	),

	TP_fast_assign(
		__assign_str(text);
	),

	TP_printk("text=%s", __get_str(text))
);

/*
 * The fields of sched_switch, which modules cannot hit: same types, same order,
 * filled in from the same places.
 */
DECLARE_EVENT_CLASS(bench_switch,

	TP_PROTO(bool preempt, struct task_struct *prev,
		 struct task_struct *next, unsigned int prev_state),

	TP_ARGS(preempt, prev, next, prev_state),

	TP_STRUCT__entry(
		__array(char, prev_comm, TASK_COMM_LEN)
		__field(pid_t, prev_pid)
		__field(int, prev_prio)
		__field(long, prev_state)
		__array(char, next_comm, TASK_COMM_LEN)
		__field(pid_t, next_pid)
		__field(int, next_prio)
	),

	TP_fast_assign(
		memcpy(__entry->prev_comm, prev->comm, TASK_COMM_LEN);
		__entry->prev_pid = prev->pid;
		__entry->prev_prio = prev->prio;
		__entry->prev_state = bench_switch_state(preempt, prev_state,
							 prev);
		memcpy(__entry->next_comm, next->comm, TASK_COMM_LEN);
		__entry->next_pid = next->pid;
		__entry->next_prio = next->prio;
	),

	TP_printk("prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%lx next_comm=%s next_pid=%d next_prio=%d",
		  __entry->prev_comm, __entry->prev_pid, __entry->prev_prio,
		  __entry->prev_state, __entry->next_comm, __entry->next_pid,
		  __entry->next_prio)
);

#define BENCH_EVENTS(tracer)						\
DEFINE_EVENT(bench_small, tracer##_small,				\
	TP_PROTO(u64 count, u32 first, u32 second),			\
	TP_ARGS(count, first, second));					\
DEFINE_EVENT(bench_small, tracer##_done,				\
	TP_PROTO(u64 count, u32 first, u32 second),			\
	TP_ARGS(count, first, second));					\
DEFINE_EVENT(bench_large, tracer##_large,				\
	TP_PROTO(const struct bench_words *words),			\
	TP_ARGS(words));						\
DEFINE_EVENT(bench_string, tracer##_string,				\
	TP_PROTO(const char *text),					\
	TP_ARGS(text));							\
DEFINE_EVENT(bench_switch, tracer##_switch,				\
	TP_PROTO(bool preempt, struct task_struct *prev,		\
		 struct task_struct *next, unsigned int prev_state),	\
	TP_ARGS(preempt, prev, next, prev_state))

BENCH_EVENTS(etch);
BENCH_EVENTS(ftrace);

/* Nobody ever enables this one. */
DEFINE_EVENT(bench_small, bench_nobody,
	TP_PROTO(u64 count, u32 first, u32 second),
	TP_ARGS(count, first, second));

#endif /* _BENCH_HITS_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE bench-hits
#include <trace/define_trace.h>
