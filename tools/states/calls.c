// SPDX-License-Identifier: GPL-2.0
/*
 * System calls: from the first event of its begin to the first of its end.
 *
 * raw_syscalls:sys_enter tells a number, syscalls:sys_enter_NAME the name, too. If a trace has
 * both, both tell of one call, in any order, and the number has that name from then on.
 */
#include "states/machine.h"

#include <stdio.h>
#include <stdlib.h>

#define CALLS	4096	/* numbers that may have a name */

static unsigned int *name_of_call(struct states *s, long long nr)
{
	if (!s->call_names)
		s->call_names = calloc(CALLS, sizeof(*s->call_names));
	return s->call_names && nr >= 0 && nr < CALLS ? &s->call_names[nr] : NULL;
}

static void call_begins(struct states *s, struct thread *thread, uint64_t ns,
			unsigned int label, long long nr)
{
	thread->call = label;
	thread->call_nr = nr;
	thread->call_raw = thread->call_named = false;
	thread->call_since = ns;
}

int on_raw_enter(struct states *s, const struct etch_record *rec,
		 const struct etch_field * const *fields)
{
	struct thread *thread = rec->pid > 0 ? thread_of(s, rec->pid, true) : NULL;
	long long nr = etch_number(rec, fields[0]);
	unsigned int *name = name_of_call(s, nr), label;
	char text[32];

	if (!thread)
		return rec->pid > 0 ? -1 : 0;
	if (!thread->call || thread->call_raw || thread->call_nr != nr) {
		snprintf(text, sizeof(text), "call %lld", nr);
		label = name && *name ? *name : labels_add(s->labels, text, strlen(text));
		call_begins(s, thread, rec->ns, label, nr);
	}
	thread->call_raw = true;
	return 0;
}

int on_named_enter(struct states *s, const struct etch_record *rec,
		   const struct etch_field * const *fields)
{
	struct thread *thread = rec->pid > 0 ? thread_of(s, rec->pid, true) : NULL;
	const char *text = rec->event->name + strlen("sys_enter_");
	unsigned int label = labels_add(s->labels, text, strlen(text));
	long long nr = etch_number(rec, fields[0]);
	unsigned int *name = fields[0] ? name_of_call(s, nr) : NULL;

	if (name)
		*name = label;
	if (!thread)
		return rec->pid > 0 ? -1 : 0;
	if (!thread->call || thread->call_named || thread->call_nr != nr)
		call_begins(s, thread, rec->ns, label, nr);
	thread->call = label;
	thread->call_named = true;
	return 0;
}

int on_leave(struct states *s, const struct etch_record *rec,
	     const struct etch_field * const *fields)
{
	struct thread *thread = rec->pid > 0 ? thread_of(s, rec->pid, false) : NULL;

	if (!thread || !thread->call)
		return 0;
	/* Not of this call: rt_sigreturn() ends with the number of the call before the signal. */
	if (!fields[0] || thread->call_nr == (long long)etch_number(rec, fields[0]))
		emit(s, &(struct span){
			.kind = SPAN_CALL, .start = thread->call_since, .end = rec->ns,
			.cpu = rec->cpu, .tid = thread->tid, .task = thread->name,
			.label = thread->call });
	thread->call = 0;
	return 0;
}

void call_drop(struct states *s, struct thread *thread, uint64_t ns, enum span_fate fate)
{
	if (thread->call)
		emit(s, &(struct span){
			.kind = SPAN_CALL, .fate = fate, .start = thread->call_since, .end = ns,
			.cpu = -1, .tid = thread->tid, .task = thread->name,
			.label = thread->call });
	thread->call = 0;
}
