// SPDX-License-Identifier: GPL-2.0
/*
 * Which event is whose, and what a loss makes unknown.
 *
 * When a CPU's records end in front of a loss, the reader knows it (struct etch_cpu.gap),
 * before it gives other CPUs' records of that time. From then on until the loss itself comes,
 * the CPU is in a gap.
 */
#include "states/machine.h"

#include <stdlib.h>

/* An event that matters, and its fields that do. */
struct handler {
	const char *event;	/* with a * at the end: all that begin so */
	handler_fn *fn;
	const char *fields[HANDLER_FIELDS];
};

static const struct handler handlers[] = {
	{ "sched:sched_switch", on_switch, { "prev_pid", "prev_comm", "prev_state", "next_pid",
	  "next_comm" } },
	{ "sched:sched_waking", on_wakeup, { "pid", "comm" } },
	{ "sched:sched_wakeup", on_wakeup, { "pid", "comm" } },
	{ "sched:sched_wakeup_new", on_wakeup, { "pid", "comm" } },
	{ "sched:sched_process_fork", on_fork, { "child_pid", "child_comm" } },
	{ "sched:sched_process_free", on_free, { "pid" } },
	{ "task:task_rename", on_rename, { "pid", "newcomm" } },
	{ "statedump:statedump_task", on_statedump_task, { "tid", "comm" } },
	{ "raw_syscalls:sys_enter", on_raw_enter, { "id" } },
	{ "raw_syscalls:sys_exit", on_leave, { "id" } },
	{ "syscalls:sys_enter_*", on_named_enter, { "__syscall_nr" } },
	{ "syscalls:sys_exit_*", on_leave, { "__syscall_nr" } },
	{ "irq:irq_handler_entry", on_irq_entry, { "irq", "name" } },
	{ "irq:irq_handler_exit", on_irq_exit, { "irq" } },
	{ "irq:softirq_entry", on_softirq_entry, { "vec" } },
	{ "irq:softirq_exit", on_softirq_exit, { "vec" } },
	{ "irq_vectors:*_entry", on_vector_entry, { NULL } },
	{ "irq_vectors:*_exit", on_vector_exit, { NULL } },
	{ "block:block_rq_issue", on_issue, { "dev", "sector", "nr_sector", "bytes", "rwbs" } },
	{ "block:block_rq_complete", on_complete, { "dev", "sector", "nr_sector" } },
	{ "block:block_rq_requeue", on_requeue, { "dev", "sector", "nr_sector" } },
};

static const struct handler none;

/* Does @name match @pattern, which has at most one *? */
static bool matches(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');
	size_t before, behind, len = strlen(name);

	if (!star)
		return !strcmp(pattern, name);
	before = star - pattern;
	behind = strlen(star + 1);
	return len >= before + behind && !strncmp(pattern, name, before) &&
	       !strcmp(star + 1, name + len - behind);
}

/* Makes room for the events that there are now. */
static bool states_know(struct states *s)
{
	unsigned int nr = s->nr_handlers;
	void *more = etch_by_event(s->source, s->fields, &nr, sizeof(*s->fields));

	if (!more)
		return false;
	s->fields = more;
	more = etch_by_event(s->source, s->handlers, &s->nr_handlers, sizeof(*s->handlers));
	if (!more)
		return false;
	s->handlers = more;
	return true;
}

/* An event that comes for the first time. */
static void states_classify(struct states *s, const struct etch_event *event)
{
	const struct handler *handler = &none;

	for (size_t i = 0; i < sizeof(handlers) / sizeof(*handlers); i++)
		if (matches(handlers[i].event, event->full)) {
			handler = &handlers[i];
			break;
		}
	for (int i = 0; i < HANDLER_FIELDS; i++)
		s->fields[event->index][i] = handler->fields[i] ?
			etch_field(event, handler->fields[i]) : NULL;
	s->handlers[event->index] = handler;
}

struct cpu *cpu_of(struct states *s, int cpu)
{
	struct cpu *more;

	for (unsigned int i = 0; i < s->nr_cpus; i++) {
		/* Most often, CPUs are numbered from 0 on. */
		unsigned int at = (i + cpu) % s->nr_cpus;

		if (s->cpus[at].cpu == cpu)
			return &s->cpus[at];
	}
	more = realloc(s->cpus, (s->nr_cpus + 1) * sizeof(*more));
	if (!more)
		return NULL;
	s->cpus = more;
	more[s->nr_cpus] = (struct cpu){ .cpu = cpu };
	return &more[s->nr_cpus++];
}

unsigned int label_of_field(struct states *s, const struct etch_record *rec,
			    const struct etch_field *field)
{
	size_t len;
	const char *text = etch_text(rec, field, &len);

	return labels_add(s->labels, text, len);
}

/* ---- Losses ---- */

static void gap_begins(struct states *s, struct cpu *cpu, uint64_t ns)
{
	if (cpu->gap)
		return;
	cpu->gap = true;
	s->gaps++;
	tasks_drop(s, cpu, ns, SPAN_LOST);
	irqs_drop(s, cpu, ns, SPAN_LOST);
	io_drop(s, ns, SPAN_LOST);
}

static int gaps_begin(struct states *s, uint64_t now)
{
	for (unsigned int i = 0; i < s->source->nr_cpus; i++) {
		const struct etch_cpu *from = &s->source->cpus[i];
		uint64_t since = from->gap ? etch_clock_ns(&s->source->clock, from->gap_since) : 0;
		struct cpu *cpu;

		if (!from->gap || since > now)
			continue;
		cpu = cpu_of(s, from->cpu);
		if (!cpu)
			return -1;
		gap_begins(s, cpu, since);
	}
	return 0;
}

static int states_loss(struct states *s, const struct etch_record *rec)
{
	struct cpu *cpu = cpu_of(s, rec->cpu);

	if (!cpu)
		return -1;
	gap_begins(s, cpu, etch_clock_ns(&s->source->clock, rec->loss->since));
	cpu->gap = false;
	s->gaps--;
	return 0;
}

/* ---- The interface ---- */

int states_record(struct states *s, const struct etch_record *rec)
{
	const struct handler *handler;
	unsigned int index;

	if (s->source->gaps && gaps_begin(s, rec->ns))
		return -1;
	if (rec->loss)
		return states_loss(s, rec);
	index = rec->event->index;
	if (index >= s->nr_handlers && !states_know(s))
		return -1;
	if (!s->handlers[index])
		states_classify(s, rec->event);
	handler = s->handlers[index];
	return handler->fn ? handler->fn(s, rec, s->fields[index]) : 0;
}

void states_end(struct states *s, uint64_t ns)
{
	if (s->source->gaps)
		gaps_begin(s, ns);
	tasks_drop(s, NULL, ns, SPAN_OPEN);
	for (unsigned int i = 0; i < s->nr_cpus; i++)
		irqs_drop(s, &s->cpus[i], ns, SPAN_OPEN);
	io_drop(s, ns, SPAN_OPEN);
}

void states_running(const struct states *s, uint64_t ns)
{
	for (unsigned int i = 0; i < s->nr_cpus; i++) {
		const struct cpu *cpu = &s->cpus[i];

		if (cpu->known && cpu->since <= ns)
			s->span(s->arg, &(struct span){
				.kind = SPAN_RUN, .fate = SPAN_OPEN, .start = cpu->since,
				.end = ns, .cpu = cpu->cpu, .tid = cpu->tid,
				.task = cpu->name, .label = cpu->name });
	}
}

/* Threads that the recorder found. */
static void states_name_tasks(struct states *s)
{
	struct etch_tasks *tasks = etch_tasks_open(s->source->path);
	struct thread *thread;

	for (unsigned int i = 0; tasks && i < tasks->nr; i++) {
		const struct etch_task *task = &tasks->list[i];

		if (!task->at_start)
			continue;
		thread = thread_of(s, task->tid, true);
		if (thread)
			thread->name = labels_add(s->labels, task->comm, strlen(task->comm));
	}
	etch_tasks_close(tasks);
}

struct states *states_open(struct etch_source *source, span_fn *span, void *arg)
{
	struct states *s = calloc(1, sizeof(*s));

	if (s)
		s->labels = labels_open();
	if (!s || !s->labels) {
		etch_complaint("There is no memory for what the records tell");
		free(s);
		return NULL;
	}
	s->source = source;
	s->span = span;
	s->arg = arg;
	states_name_tasks(s);
	return s;
}

void states_close(struct states *s)
{
	if (!s)
		return;
	tasks_close(s);
	io_close(s);
	labels_close(s->labels);
	free(s->handlers);
	free(s->fields);
	free(s->cpus);
	free(s->call_names);
	free(s);
}

const char *states_label(const struct states *s, unsigned int label)
{
	return labels_text(s->labels, label);
}

unsigned int states_labels(const struct states *s)
{
	return labels_nr(s->labels);
}

unsigned int states_find(const struct states *s, const char *text)
{
	return labels_find(s->labels, text);
}

unsigned int states_task(const struct states *s, int tid)
{
	struct thread *thread = thread_of((struct states *)s, tid, false);

	return thread ? thread->name : 0;
}
