/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spans of time, found from records that each tell of a moment: a thread runs, waits or
 * sleeps; an interrupt, a system call or a request to a disk takes its time.
 *
 *	struct states *s = states_open(source, got_span, arg);
 *
 *	while (etch_next(source, &rec) > 0)
 *		states_record(s, &rec);
 *	states_end(s, end);
 *	states_close(s);
 *
 * How it hangs together; each part knows those below it:
 *
 *	summary.c	sums, percentiles and worst cases of spans: what tables print
 *	states.c	which event is whose, losses, the end
 *	tasks.c		threads and what CPUs run
 *	calls.c		system calls
 *	irqs.c		interrupts, softirqs
 *	io.c		requests to disks
 *	machine.h	what these five know of each other
 *	labels.c	names, once each
 *	histogram.c	lengths of time, in bounded memory
 *
 * It needs one pass, and keeps what has begun and not ended, and a name for each different
 * name: nothing else.
 *
 * If records of a CPU were lost, each span that could have ended there has an unknown
 * length. Only threads that run on other CPUs are certain: one that sleeps may have been woken
 * and have slept again, a request may have been completed. Such spans come with the fate
 * SPAN_LOST. Until the CPU has records again, no span begins that could end there;
 * it never has if its file is cut off. A thing
 * that had begun before the first record has no beginning, and is no span.
 */
#ifndef _ETCH_STATES_H
#define _ETCH_STATES_H

#include "read/read.h"

enum span_kind {
	SPAN_RUN,	/* a thread, or none (tid 0), had a CPU */
	SPAN_READY,	/* it could run, and had no CPU */
	SPAN_SLEEP,	/* it slept */
	SPAN_BLOCKED,	/* it slept, and signals could not wake it */
	SPAN_IRQ,	/* an interrupt's handler, or a vector's */
	SPAN_SOFTIRQ,
	SPAN_CALL,	/* a system call */
	SPAN_IO,	/* a request, from when the driver got it until it was complete */
	SPAN_KINDS
};

enum span_fate {
	SPAN_WHOLE,
	SPAN_OPEN,	/* it had not ended with the last record */
	SPAN_LOST,	/* records were lost: it ended later, at an unknown time */
};

/**
 * struct span - what went on from one time to another
 * @kind: what
 * @fate: whether @end is its end
 * @start: in ns of the clock, and
 * @end: likewise
 * @cpu: where it ended; -1: unknown
 * @tid: the thread; of an interrupt or a request the one that ran when it began
 * @task: the thread's name: states_label()
 * @label: the interrupt's, the call's or the request's name; of SPAN_RUN the same as @task
 * @woken: of SPAN_READY: it had slept; otherwise it was preempted
 * @bytes: of SPAN_IO
 */
struct span {
	enum span_kind kind;
	enum span_fate fate;
	uint64_t start, end;
	int cpu, tid;
	unsigned int task, label;
	bool woken;
	uint64_t bytes;
};

/* Spans come in the order of their ends; those that a loss ends, when it has begun. */
typedef void span_fn(void *arg, const struct span *span);

/* NULL: no memory, said. */
struct states *states_open(struct etch_source *source, span_fn *span, void *arg);
/* The next record or loss. Returns -1 without memory: later spans are not complete. */
int states_record(struct states *s, const struct etch_record *rec);
/* All that is still open ends at @ns, with SPAN_OPEN. */
void states_end(struct states *s, uint64_t ns);
/* Gives what CPUs run as spans up to @ns, with SPAN_OPEN; it goes on. */
void states_running(const struct states *s, uint64_t ns);
void states_close(struct states *s);

/* A span's @task or @label. 0 is "?": no name is known. */
const char *states_label(const struct states *s, unsigned int label);
unsigned int states_labels(const struct states *s);
/* The label that a text has, or 0. */
unsigned int states_find(const struct states *s, const char *text);
/* The name of a thread that lives, as known so far. */
unsigned int states_task(const struct states *s, int tid);

/* ---- labels.c ---- */

struct labels;

struct labels *labels_open(void);
/* The number of a name, the same for the same bytes. 0: no memory. */
unsigned int labels_add(struct labels *labels, const char *text, size_t len);
/* The same of one that is there; 0: it is not. */
unsigned int labels_find(const struct labels *labels, const char *text);
const char *labels_text(const struct labels *labels, unsigned int label);
unsigned int labels_nr(const struct labels *labels);
void labels_close(struct labels *labels);

/* ---- histogram.c ---- */

#define HISTOGRAM_STEPS	32	/* in each power of two: a percentile is right to 1/32 */
#define HISTOGRAM_SIZE	((64 - 4) * HISTOGRAM_STEPS)

/**
 * struct histogram - lengths of time
 * @nr: how many
 * @sum: of all
 * @worst: the longest, exactly
 * @counts: how many there are of about one length
 */
struct histogram {
	unsigned long long nr, sum, worst;
	unsigned int counts[HISTOGRAM_SIZE];
};

void histogram_add(struct histogram *h, uint64_t ns);
/* Of @percent of all lengths, each is at most about that long. */
uint64_t histogram_percentile(const struct histogram *h, double percent);
/* How many are at least @from and shorter than @to; both powers of two, or 0. */
unsigned long long histogram_between(const struct histogram *h, uint64_t from, uint64_t to);

/* ---- summary.c ---- */

/**
 * struct summary_row - what spans of one name come to
 * @label: the name
 * @nr: spans that are whole
 * @sum: their lengths; of tasks: how long they ran, also if that had not ended yet
 * @worst: the longest; of tasks: how long one was ready without running
 * @worst_at: when that ended
 * @worst_tid: whose it was, and
 * @worst_task: its name
 * @bytes: of requests
 * @lengths: for percentiles; NULL for tasks
 */
struct summary_row {
	unsigned int label;
	unsigned long long nr, sum, worst, worst_at, bytes;
	int worst_tid;
	unsigned int worst_task;
	struct histogram *lengths;
};

/* Rows, by label; NULL where there is none. */
struct summary_table {
	struct summary_row **rows;
	unsigned int nr;
};

/**
 * struct summary_choice - of what; zeroes: of everything
 * @from: spans that end from this time on, and
 * @to: up to this: ns of the clock; 0: no limit. Of running the part between them counts
 * @from_first: @from counts from the first record
 * @to_first: @to does
 * @wants: whether a span counts; NULL: all do
 * @arg: for that
 */
struct summary_choice {
	uint64_t from, to;
	bool from_first, to_first;
	bool (*wants)(void *arg, const struct states *s, const struct span *span);
	void *arg;
};

/**
 * struct summary - what a trace comes to
 * @source: of what
 * @states: has the labels
 * @choice: of what
 * @tasks: by a thread's name
 * @calls: by the call's
 * @irqs: by the interrupt's
 * @io: by device and direction
 * @latency: from being woken to running
 * @latency_worst: the worst of these
 * @records: how many were looked at, between from and to
 * @lost: records that are missing there
 * @first: time of the first record there, in ns, and
 * @last: of the last
 * @unknown: spans of a kind that records lost have made unknown
 * @open: spans of a kind that had not ended
 * @begun: the first record has come
 * @trouble: there was no memory
 */
struct summary {
	const struct etch_source *source;
	struct states *states;
	struct summary_choice choice;
	struct summary_table tasks, calls, irqs, io;
	struct histogram latency;
	struct summary_row latency_worst;
	unsigned long long records, lost;
	uint64_t first, last;
	unsigned long long unknown[SPAN_KINDS], open[SPAN_KINDS];
	bool begun, trouble;
};

/* Reads the source to its end, or to choice->to. NULL: no memory, said. */
struct summary *summary_of(struct etch_source *source, const struct summary_choice *choice);
/* The same in steps, for a source that has no end. NULL: no memory, said. */
struct summary *summary_open(struct etch_source *source, const struct summary_choice *choice);
/* The next record. False: it is later than choice->to, or there is no memory. */
bool summary_record(struct summary *summary, const struct etch_record *rec);
/* There is no next record. */
void summary_end(struct summary *summary);
/* Makes it a summary of the time up to @until, in ns; records go on. */
void summary_until(struct summary *summary, uint64_t until);
/* Begins another summary, at the time where that one has ended. */
void summary_again(struct summary *summary);
void summary_close(struct summary *summary);
/* The row of that name, or NULL. */
const struct summary_row *summary_find(const struct summary *summary,
				       const struct summary_table *table, const char *name);
/* Rows by their sums, the largest first; @nr of them; to be freed. NULL: no memory. */
struct summary_row **summary_sorted(const struct summary_table *table, unsigned int *nr);

#endif /* _ETCH_STATES_H */
