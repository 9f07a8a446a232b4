/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_RAW_H
#define _BENCH_RAW_H

/* What programs share that read trace_pipe_raw: the tracers, and opening it. */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct tracer {
	const char *name;
	const char *folder;
	const char *event;
	bool packets;			/* Etch's; else there are pages of ftrace's */
	size_t subbuf;			/* bytes */
};

static void write_in(const char *folder, const char *name, const char *value)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	write_file(path, value);
}

static int open_raw(const struct tracer *tracer, int cpu, int flags)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw", tracer->folder,
		 cpu);
	fd = open(path, O_RDONLY | flags);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

#define FTRACE_WIDE	FTRACE "/instances/wide"

/* The same for both, and ftrace with sub-buffers as large as Etch's. */
static const struct tracer tracers[] = {
	{ "etch", ETCH, "etch_small", true, 16384 },
	{ "ftrace", FTRACE, "ftrace_small", false, 4096 },
	{ "ftrace-16K", FTRACE_WIDE, "ftrace_small", false, 16384 },
};

/*
 * Have this one's event on, and no other's. Both of ftrace's have the same event, which
 * would cost more to hit if it were on in two.
 */
static void choose(const struct tracer *tracer)
{
	static const struct tracer *now;
	char name[80];

	if (tracer == now)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(tracers); i++) {
		snprintf(name, sizeof(name), "events/bench_hits/%s/enable",
			 tracers[i].event);
		write_in(tracers[i].folder, name, tracer == &tracers[i] ? "1" : "0");
	}
	now = tracer;
}

#endif /* _BENCH_RAW_H */
