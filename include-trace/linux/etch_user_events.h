/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_ETCH_USER_EVENTS_H
#define _LINUX_ETCH_USER_EVENTS_H

/*
 * The events of user_events as events of Etch: what kernel/trace/trace_events_user.c, which
 * programs register them with and write them to, and kernel/etch/source/user_events.c know of
 * each other.
 *
 * LOCKS: event_mutex inside etch_mutex. Code that makes or removes an event holds event_mutex, so
 * it calls etch_ue_define() and etch_ue_forget(), which only note what happened, and
 * etch_ue_sync() when it holds neither lock.
 */

#include <linux/types.h>

struct etch_ue;
struct trace_event_call;

#ifdef CONFIG_ETCH_USER_EVENTS
struct etch_ue *etch_ue_define(struct trace_event_call *call, const struct list_head *fields);
void etch_ue_forget(struct etch_ue *ue);
void etch_ue_sync(void);

/* ---- trace_events_user.c ---- */

int user_event_add_probe(struct trace_event_call *call, void *probe, void *data);
void user_event_remove_probe(struct trace_event_call *call, void *probe, void *data);
#else
static inline struct etch_ue *etch_ue_define(struct trace_event_call *call,
					     const struct list_head *fields)
{
	return NULL;
}

static inline void etch_ue_forget(struct etch_ue *ue)
{
}

static inline void etch_ue_sync(void)
{
}
#endif

#endif /* _LINUX_ETCH_USER_EVENTS_H */
