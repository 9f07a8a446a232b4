/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of states.c know of each other.
 *
 * An event that matters has a handler, which gets its fields in the order in which the table
 * in states.c names them; NULL for one that the event does not have.
 */
#ifndef _ETCH_STATES_MACHINE_H
#define _ETCH_STATES_MACHINE_H

#include "states/states.h"

#define HANDLER_FIELDS	6
#define IRQS_NESTED	8

struct states;
typedef int handler_fn(struct states *s, const struct etch_record *rec,
		       const struct etch_field * const *fields);

enum thread_state { THREAD_UNKNOWN, THREAD_RUNS, THREAD_READY, THREAD_SLEEPS, THREAD_BLOCKED };

/**
 * struct thread - a thread that lives
 * @next: of its bucket
 * @tid: its number, not 0
 * @name: a label
 * @state: what it does, as far as is known
 * @woken: THREAD_READY: it had slept
 * @cpu: THREAD_RUNS: there
 * @since: since when
 * @call: the call that it is in, a label; 0: none
 * @call_nr: its number
 * @call_raw: raw_syscalls:sys_enter told of it
 * @call_named: syscalls:sys_enter_NAME did
 * @call_since: since when
 */
struct thread {
	struct thread *next;
	int tid;
	unsigned int name;
	enum thread_state state;
	bool woken;
	int cpu;
	uint64_t since;
	unsigned int call;
	long long call_nr;
	bool call_raw, call_named;
	uint64_t call_since;
};

/* An interrupt that is being handled. */
struct irq {
	enum span_kind kind;
	unsigned int label;
	long long number;
	uint64_t since;
	int tid;
	unsigned int task;
};

/**
 * struct cpu - a CPU
 * @cpu: its number
 * @gap: records are missing there now
 * @known: it runs @tid, whose name is @name, since @since
 * @tid: see @known
 * @name: see @known
 * @since: see @known
 * @irqs: those that are being handled, the innermost last
 * @nr_irqs: how many
 */
struct cpu {
	int cpu;
	bool gap, known;
	int tid;
	unsigned int name;
	uint64_t since;
	struct irq irqs[IRQS_NESTED];
	unsigned int nr_irqs;
};

/* A request that a driver has. */
struct request {
	struct request *next;
	uint32_t dev;
	bool empty;	/* no sectors: a flush */
	uint64_t sector;
	uint32_t left;	/* sectors that are not complete */
	uint64_t bytes, since;
	int tid;
	unsigned int task, label;
};

struct handler;

struct states {
	struct etch_source *source;
	span_fn *span;
	void *arg;
	struct labels *labels;
	/* By the event's index. */
	const struct handler **handlers;
	const struct etch_field *(*fields)[HANDLER_FIELDS];
	unsigned int nr_handlers;
	struct cpu *cpus;
	unsigned int nr_cpus;
	unsigned int gaps;	/* CPUs of which records are missing now */
	struct thread **threads;
	unsigned int nr_threads, nr_buckets;
	struct request **requests;	/* REQUEST_BUCKETS of them */
	unsigned int *call_names;	/* by number: labels, or 0 */
	unsigned int nr_call_names;
};

/* ---- states.c ---- */

static inline void emit(struct states *s, const struct span *span)
{
	s->span(s->arg, span);
}

struct cpu *cpu_of(struct states *s, int cpu);
unsigned int label_of_field(struct states *s, const struct etch_record *rec,
			    const struct etch_field *field);

/* ---- tasks.c ---- */

handler_fn on_switch, on_wakeup, on_fork, on_rename, on_free, on_statedump_task;

/* NULL: no memory, or, unless @make, no such thread. */
struct thread *thread_of(struct states *s, int tid, bool make);
/* Ends all that is open for threads and could end on @cpu; if that is NULL, on any. */
void tasks_drop(struct states *s, struct cpu *cpu, uint64_t ns, enum span_fate fate);
void tasks_close(struct states *s);

/* ---- calls.c ---- */

handler_fn on_raw_enter, on_named_enter, on_leave;

void call_drop(struct states *s, struct thread *thread, uint64_t ns, enum span_fate fate);

/* ---- irqs.c ---- */

handler_fn on_irq_entry, on_irq_exit, on_softirq_entry, on_softirq_exit, on_vector_entry,
	   on_vector_exit;

void irqs_drop(struct states *s, struct cpu *cpu, uint64_t ns, enum span_fate fate);

/* ---- io.c ---- */

handler_fn on_issue, on_complete, on_requeue;

void io_drop(struct states *s, uint64_t ns, enum span_fate fate);
void io_close(struct states *s);

#endif /* _ETCH_STATES_MACHINE_H */
