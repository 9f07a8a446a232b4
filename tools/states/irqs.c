// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts: of devices, of the processor's vectors, and softirqs. One may interrupt another,
 * so a CPU has a short stack of them. An interrupt's time has those in it that came meanwhile.
 */
#include "states/machine.h"

#include <stdio.h>

static int irq_begins(struct states *s, const struct etch_record *rec, enum span_kind kind,
		      const char *text, long long number)
{
	struct cpu *cpu = cpu_of(s, rec->cpu);
	const struct thread *thread = rec->pid ? thread_of(s, rec->pid, false) : NULL;

	if (!cpu)
		return -1;
	/* More than any machine nests: ends are missing. Forget the outermost. */
	if (cpu->nr_irqs == IRQS_NESTED)
		memmove(cpu->irqs, cpu->irqs + 1, --cpu->nr_irqs * sizeof(*cpu->irqs));
	cpu->irqs[cpu->nr_irqs++] = (struct irq){
		.kind = kind, .label = labels_add(s->labels, text, strlen(text)),
		.number = number, .since = rec->ns, .tid = rec->pid,
		.task = rec->pid ? thread ? thread->name : 0 :
				   labels_add(s->labels, "<idle>", 6) };
	return 0;
}

static void irq_emit(struct states *s, const struct cpu *cpu, const struct irq *irq, uint64_t ns,
		     enum span_fate fate)
{
	emit(s, &(struct span){
		.kind = irq->kind, .fate = fate, .start = irq->since, .end = ns,
		.cpu = cpu->cpu, .tid = irq->tid, .task = irq->task, .label = irq->label });
}

/* The innermost of that number ends, and those in it, if any, have no end. */
static int irq_ends(struct states *s, const struct etch_record *rec, enum span_kind kind,
		    long long number)
{
	struct cpu *cpu = cpu_of(s, rec->cpu);

	for (unsigned int i = cpu ? cpu->nr_irqs : 0; i--;) {
		const struct irq *irq = &cpu->irqs[i];

		if (irq->kind != kind || irq->number != number)
			continue;
		irq_emit(s, cpu, irq, rec->ns, SPAN_WHOLE);
		cpu->nr_irqs = i;
		return 0;
	}
	return cpu ? 0 : -1;
}

int on_irq_entry(struct states *s, const struct etch_record *rec,
		 const struct etch_field * const *fields)
{
	long long number = etch_number(rec, fields[0]);
	size_t len;
	const char *name = etch_text(rec, fields[1], &len);
	char text[96];

	snprintf(text, sizeof(text), "irq %lld %.*s", number, (int)(len < 64 ? len : 64), name);
	return irq_begins(s, rec, SPAN_IRQ, text, number);
}

int on_irq_exit(struct states *s, const struct etch_record *rec,
		const struct etch_field * const *fields)
{
	return irq_ends(s, rec, SPAN_IRQ, etch_number(rec, fields[0]));
}

/* Numbers are those of include/linux/interrupt.h. */
int on_softirq_entry(struct states *s, const struct etch_record *rec,
		     const struct etch_field * const *fields)
{
	static const char * const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU"
	};
	uint64_t vec = etch_number(rec, fields[0]);
	char text[48];

	if (vec < sizeof(names) / sizeof(*names))
		snprintf(text, sizeof(text), "softirq %s", names[vec]);
	else
		snprintf(text, sizeof(text), "softirq %llu", (unsigned long long)vec);
	return irq_begins(s, rec, SPAN_SOFTIRQ, text, vec);
}

int on_softirq_exit(struct states *s, const struct etch_record *rec,
		    const struct etch_field * const *fields)
{
	return irq_ends(s, rec, SPAN_SOFTIRQ, etch_number(rec, fields[0]));
}

/* Vectors have no number: the name without its end says which. */
static unsigned int vector_label(struct states *s, const struct etch_record *rec, const char *end,
				 char *text, size_t room)
{
	snprintf(text, room, "vector %.*s",
		 (int)(strlen(rec->event->name) - strlen(end)), rec->event->name);
	return labels_add(s->labels, text, strlen(text));
}

int on_vector_entry(struct states *s, const struct etch_record *rec,
		    const struct etch_field * const *fields)
{
	char text[96];
	unsigned int label = vector_label(s, rec, "_entry", text, sizeof(text));

	return irq_begins(s, rec, SPAN_IRQ, text, -1 - (long long)label);
}

int on_vector_exit(struct states *s, const struct etch_record *rec,
		   const struct etch_field * const *fields)
{
	char text[96];

	return irq_ends(s, rec, SPAN_IRQ,
			-1 - (long long)vector_label(s, rec, "_exit", text, sizeof(text)));
}

void irqs_drop(struct states *s, struct cpu *cpu, uint64_t ns, enum span_fate fate)
{
	while (cpu->nr_irqs)
		irq_emit(s, cpu, &cpu->irqs[--cpu->nr_irqs], ns, fate);
}
