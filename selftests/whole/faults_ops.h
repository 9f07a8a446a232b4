/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FAULTS_OPS_H
#define _ETCH_FAULTS_OPS_H

/* The operations whose allocations fail. For faults.c alone. */

#include "faults_state.h"

struct op {
	const char *name;
	const char *file, *text;	/* the file to write or read, and the text to write */
	void (*before)(const struct op *op);
	int (*run)(const struct op *op);	/* 0, or an errno */
	void (*after)(const struct op *op);	/* undo it, whether it succeeded or failed */
	bool (*whole)(const struct op *op);	/* check the effect of a success */
	int err;		/* the result without a fault */
	bool forgoes;		/* it succeeds without the memory */
	unsigned int least;	/* the number of allocations is at least this */
};

/* Each ends with an operation that has no name. */
extern const struct op file_ops[], trigger_ops[];
extern const struct op group_ops[];	/* of kernels that have control groups */
extern const struct op hist_ops[];	/* of kernels that have histograms */
extern const struct op context_ops[];
extern const struct op counter_ops[];	/* of kernels that have perf's counters */
extern const struct op cpu_ops[], module_ops[], ring_ops[];

#define CPUS		"/sys/devices/system/cpu"

#define FIRST_CLOCK	32

/* As the test found it. */
extern char first_clock[FIRST_CLOCK];
extern unsigned int files_of_tree;

/* The modules' files. */
extern int sample_fd, ring_fd;

int do_write(const struct op *op);
int do_read(const struct op *op);
void write_it(const struct op *op, const char *text);
bool reads_as_written(const struct op *op);
void unload_ring(const struct op *op);

#endif /* _ETCH_FAULTS_OPS_H */
