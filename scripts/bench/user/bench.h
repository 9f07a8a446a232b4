/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_H
#define _BENCH_H

/* What programs share that measure in a guest: the counter, the tracers' files. */

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ETCH	"/sys/kernel/debug/etch"
#define FTRACE	"/sys/kernel/tracing"
#define RUN	"/sys/kernel/debug/bench"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static unsigned long long ticks(void)
{
	unsigned int low, high;

	asm volatile("mfence; lfence; rdtsc; lfence"
		     : "=a" (low), "=d" (high) : : "memory");
	return (unsigned long long)high << 32 | low;
}

static long long nanoseconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Over a tenth of a second. */
static inline unsigned long long ticks_per_second(void)
{
	unsigned long long begin = ticks();
	long long start = nanoseconds(), ns;

	do {
		ns = nanoseconds() - start;
	} while (ns < 100000000);
	return (ticks() - begin) * 1e9 / ns;
}

static inline void write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, strlen(value)) != (ssize_t)strlen(value))
		err(1, "%s", path);
	close(fd);
}

/*
 * A figure of a CPU's buffer, and the sum of all whose names begin with @key: none if
 * the tracer has other names. -1: no such CPU.
 */
static inline long long figure(const char *folder, int cpu, const char *key)
{
	long long number, sum = 0;
	char path[160], name[80];
	FILE *stats;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/stats", folder, cpu);
	stats = fopen(path, "r");
	if (!stats)
		return -1;
	/* The space takes the end of the line before, of which nothing may be left. */
	while (fscanf(stats, " %79[^:]: %lld%*[^\n]", name, &number) == 2)
		if (!strncmp(name, key, strlen(key)))
			sum += number;
	fclose(stats);
	return sum;
}

/* Records stored since the buffers were emptied. */
static inline long long stored(const char *folder)
{
	long long sum = 0, one;

	for (int cpu = 0; (one = figure(folder, cpu, "entries")) >= 0; cpu++)
		sum += one + figure(folder, cpu, "overrun") +
			figure(folder, cpu, "overwritten");
	return sum;
}

static inline void empty_buffer(const char *folder)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/trace", folder);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, "\n", 1) != 1)
		err(1, "%s", path);
	close(fd);
}

#endif /* _BENCH_H */
