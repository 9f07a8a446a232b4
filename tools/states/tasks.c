// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and what CPUs run.
 *
 * A thread is known from the first event that names it until it is freed, or leaves its CPU
 * for the last time.
 */
#include "states/machine.h"

#include <stdlib.h>

/* Of sched_switch's prev_state: bits of include/trace/events/sched.h. */
enum { STATE_BLOCKED = 0x2, STATE_DEAD = 0x30, STATE_PREEMPTED = 0x100 };

/* ---- Finding threads ---- */

static struct thread **thread_place(struct states *s, int tid)
{
	struct thread **at = &s->threads[(unsigned int)tid * 2654435761u & (s->nr_buckets - 1)];

	while (*at && (*at)->tid != tid)
		at = &(*at)->next;
	return at;
}

static bool threads_grow(struct states *s)
{
	struct thread **old = s->threads, *thread, *next, **at;
	unsigned int nr = s->nr_buckets, room = nr ? 2 * nr : 256;
	struct thread **more = calloc(room, sizeof(*more));

	if (!more)
		return false;
	s->threads = more;
	s->nr_buckets = room;
	for (unsigned int i = 0; i < nr; i++)
		for (thread = old[i]; thread; thread = next) {
			next = thread->next;
			at = thread_place(s, thread->tid);
			thread->next = NULL;
			*at = thread;
		}
	free(old);
	return true;
}

struct thread *thread_of(struct states *s, int tid, bool make)
{
	struct thread **at, *thread;

	if (s->nr_threads == s->nr_buckets && (!make || !threads_grow(s)) && !s->nr_buckets)
		return NULL;
	at = thread_place(s, tid);
	if (*at || !make)
		return *at;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	*at = thread;
	s->nr_threads++;
	return thread;
}

/* The thread of this number, which a record gives a name. NULL: none, or no memory. */
static struct thread *thread_numbered(struct states *s, const struct etch_record *rec, int number,
				      const struct etch_field *comm)
{
	struct thread *thread = number ? thread_of(s, number, true) : NULL;
	unsigned int name = thread && comm ? label_of_field(s, rec, comm) : 0;

	if (name)
		thread->name = name;
	return thread;
}

/* The thread that a record names. NULL: none, or no memory. */
static struct thread *thread_named(struct states *s, const struct etch_record *rec,
				   const struct etch_field *tid, const struct etch_field *comm)
{
	return thread_numbered(s, rec, (int)etch_number(rec, tid), comm);
}

/* ---- What threads do ---- */

/* Ends what a thread did, if that is known. */
static void thread_ends(struct states *s, struct thread *thread, uint64_t ns, int cpu,
			enum span_fate fate)
{
	static const enum span_kind kinds[] = {
		[THREAD_READY] = SPAN_READY,
		[THREAD_SLEEPS] = SPAN_SLEEP,
		[THREAD_BLOCKED] = SPAN_BLOCKED,
	};

	/* cpu_ends() tells of running. */
	if (thread->state >= THREAD_READY)
		emit(s, &(struct span){
			.kind = kinds[thread->state], .fate = fate, .start = thread->since,
			.end = ns, .cpu = cpu, .tid = thread->tid, .task = thread->name,
			.label = thread->name, .woken = thread->woken });
	thread->state = THREAD_UNKNOWN;
}

/* A CPU runs something else, or nobody knows what. */
static void cpu_ends(struct states *s, struct cpu *cpu, uint64_t ns, enum span_fate fate)
{
	if (cpu->known)
		emit(s, &(struct span){
			.kind = SPAN_RUN, .fate = fate, .start = cpu->since, .end = ns,
			.cpu = cpu->cpu, .tid = cpu->tid, .task = cpu->name,
			.label = cpu->name });
	cpu->known = false;
}

static void thread_gone(struct states *s, int tid)
{
	struct thread **at, *thread;

	if (!s->nr_buckets)
		return;
	at = thread_place(s, tid);
	thread = *at;
	if (!thread)
		return;
	/* If it runs, its last switch was not recorded. */
	for (unsigned int i = 0; i < s->nr_cpus; i++)
		if (s->cpus[i].known && s->cpus[i].tid == tid)
			cpu_ends(s, &s->cpus[i], s->cpus[i].since, SPAN_LOST);
	*at = thread->next;
	s->nr_threads--;
	free(thread);
}

static void thread_leaves(struct states *s, struct thread *thread, uint64_t ns, long long state)
{
	if (thread->state != THREAD_RUNS)
		thread->state = THREAD_UNKNOWN;
	thread->since = ns;
	thread->woken = false;
	if (s->gaps) {
		/* Where records are missing, it may run again. */
		thread->state = THREAD_UNKNOWN;
		call_drop(s, thread, ns, SPAN_LOST);
	} else if (state & STATE_BLOCKED) {
		thread->state = THREAD_BLOCKED;
	} else if (!state || state & STATE_PREEMPTED) {
		thread->state = THREAD_READY;
	} else {
		thread->state = THREAD_SLEEPS;
	}
}

int on_switch(struct states *s, const struct etch_record *rec,
	      const struct etch_field * const *fields)
{
	struct cpu *cpu = cpu_of(s, rec->cpu);
	struct thread *prev, *next;
	int prev_tid = (int)etch_number(rec, fields[0]);
	int next_tid = (int)etch_number(rec, fields[3]);
	long long state = etch_number(rec, fields[2]);

	if (!cpu)
		return -1;
	prev = thread_named(s, rec, fields[0], fields[1]);
	if (prev && cpu->tid == prev_tid)
		cpu->name = prev->name;
	/* If it runs another, a switch was not recorded. */
	if (cpu->tid == prev_tid)
		cpu_ends(s, cpu, rec->ns, SPAN_WHOLE);
	else
		cpu_ends(s, cpu, cpu->since, SPAN_LOST);
	if (prev && state & STATE_DEAD && !(state & STATE_PREEMPTED))
		thread_gone(s, prev_tid);
	else if (prev)
		thread_leaves(s, prev, rec->ns, state);
	next = thread_named(s, rec, fields[3], fields[4]);
	if (next) {
		thread_ends(s, next, rec->ns, rec->cpu, SPAN_WHOLE);
		next->state = THREAD_RUNS;
		next->cpu = rec->cpu;
	}
	cpu->known = !cpu->gap;
	cpu->tid = next_tid;
	cpu->name = next_tid ? next ? next->name : 0 : labels_add(s->labels, "<idle>", 6);
	cpu->since = rec->ns;
	return (prev || !prev_tid) && (next || !next_tid) ? 0 : -1;
}

int on_wakeup(struct states *s, const struct etch_record *rec,
	      const struct etch_field * const *fields)
{
	struct thread *thread = thread_named(s, rec, fields[0], fields[1]);

	if (!thread)
		return etch_number(rec, fields[0]) ? -1 : 0;
	if (thread->state == THREAD_RUNS || thread->state == THREAD_READY)
		return 0;
	thread_ends(s, thread, rec->ns, rec->cpu, SPAN_WHOLE);
	if (s->gaps)
		return 0;
	thread->state = THREAD_READY;
	thread->woken = true;
	thread->since = rec->ns;
	return 0;
}

/* ---- Names ---- */

int on_fork(struct states *s, const struct etch_record *rec,
	    const struct etch_field * const *fields)
{
	return thread_named(s, rec, fields[0], fields[1]) ? 0 : -1;
}

int on_rename(struct states *s, const struct etch_record *rec,
	      const struct etch_field * const *fields)
{
	/* Since Linux 6.18 the event does not tell the thread: see look_for() in names.c. */
	int number = fields[0] ? (int)etch_number(rec, fields[0]) : rec->pid;
	struct thread *thread = thread_numbered(s, rec, number, fields[1]);

	for (unsigned int i = 0; thread && i < s->nr_cpus; i++)
		if (s->cpus[i].known && s->cpus[i].tid == thread->tid)
			s->cpus[i].name = thread->name;
	return 0;
}

int on_statedump_task(struct states *s, const struct etch_record *rec,
		      const struct etch_field * const *fields)
{
	thread_named(s, rec, fields[0], fields[1]);
	return 0;
}

int on_free(struct states *s, const struct etch_record *rec,
	    const struct etch_field * const *fields)
{
	thread_gone(s, (int)etch_number(rec, fields[0]));
	return 0;
}

/* ---- All of them ---- */

void tasks_drop(struct states *s, struct cpu *cpu, uint64_t ns, enum span_fate fate)
{
	for (unsigned int i = 0; i < s->nr_cpus; i++)
		if (!cpu || cpu == &s->cpus[i])
			cpu_ends(s, &s->cpus[i], ns, fate);
	for (unsigned int i = 0; i < s->nr_buckets; i++)
		for (struct thread *thread = s->threads[i]; thread; thread = thread->next) {
			if (cpu && thread->state == THREAD_RUNS && thread->cpu != cpu->cpu)
				continue;
			thread_ends(s, thread, ns, -1, fate);
			call_drop(s, thread, ns, fate);
		}
}

void tasks_close(struct states *s)
{
	struct thread *thread, *next;

	for (unsigned int i = 0; i < s->nr_buckets; i++)
		for (thread = s->threads[i]; thread; thread = next) {
			next = thread->next;
			free(thread);
		}
	free(s->threads);
}
