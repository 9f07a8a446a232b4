// SPDX-License-Identifier: GPL-2.0
/*
 * workload ROUNDS SYSTEM...: time whole workloads with no event on, with all
 * events of the systems on in Etch's tree, and with the same in ftrace's, taking
 * turns. Prints, for each load and tracer,
 *
 *	bench: sample LOAD TRACER 1 TICKS...
 *	bench: stored LOAD TRACER RECORDS
 *
 * in ticks of the processor's counter, and how fast that is. The loads: two
 * processes that pass a byte to and fro through pipes, as a shell runs commands
 * (fork, exec, wait), and files made, written, read, renamed and removed.
 */

#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROUNDS	64
#define PASSES		5000		/* there and back */
#define COMMANDS	100
#define FILES		400
#define BLOCK		4096
#define BLOCKS		16		/* in a file */

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct tracer {
	const char *name;
	const char *folder;		/* NULL: no tracer */
};

static const struct tracer tracers[] = {
	{ "nothing", NULL },
	{ "etch", "/sys/kernel/debug/etch" },
	{ "ftrace", "/sys/kernel/tracing" },
};

static const char *self;
static char **systems;			/* ends with NULL */

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
static unsigned long long ticks_per_second(void)
{
	unsigned long long begin = ticks();
	long long start = nanoseconds(), ns;

	do {
		ns = nanoseconds() - start;
	} while (ns < 100000000);
	return (ticks() - begin) * 1e9 / ns;
}

static void write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, strlen(value)) != (ssize_t)strlen(value))
		err(1, "%s", path);
	close(fd);
}

static void set_events(const struct tracer *tracer, const char *value)
{
	char path[160];

	if (!tracer->folder)
		return;
	for (char **system = systems; *system; system++) {
		snprintf(path, sizeof(path), "%s/events/%s/enable",
			 tracer->folder, *system);
		write_file(path, value);
	}
}

/* Records that were stored on a CPU since its buffer was emptied; -1: no CPU. */
static long long stored_on(const struct tracer *tracer, int cpu)
{
	long long number, sum = 0;
	char path[160], key[80];
	FILE *stats;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/stats", tracer->folder,
		 cpu);
	stats = fopen(path, "r");
	if (!stats)
		return -1;
	while (fscanf(stats, "%79[^:]: %lld%*[^\n]\n", key, &number) >= 1) {
		if (!strcmp(key, "entries") || !strcmp(key, "overrun") ||
		    !strcmp(key, "overwritten"))
			sum += number;
	}
	fclose(stats);
	return sum;
}

static long long stored(const struct tracer *tracer)
{
	long long sum = 0, one;

	for (int cpu = 0; tracer->folder && (one = stored_on(tracer, cpu)) >= 0;
	     cpu++)
		sum += one;
	return sum;
}

static void empty_buffer(const struct tracer *tracer)
{
	char path[160];

	if (!tracer->folder)
		return;
	snprintf(path, sizeof(path), "%s/trace", tracer->folder);
	close(open(path, O_WRONLY | O_TRUNC));
	write_file(path, "\n");
}

static void wait_for(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || status)
		errx(1, "a child failed");
}

static void pass(int from, int to, int first)
{
	char byte = 0;

	for (int i = 0; i < PASSES; i++) {
		if (first && write(to, &byte, 1) != 1)
			err(1, "write");
		if (read(from, &byte, 1) != 1)
			err(1, "read");
		if (!first && write(to, &byte, 1) != 1)
			err(1, "write");
	}
}

static void load_pipe(void)
{
	int there[2], back[2];
	pid_t child;

	if (pipe(there) || pipe(back))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		pass(there[0], back[1], 0);
		_exit(0);
	}
	pass(back[0], there[1], 1);
	wait_for(child);
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
}

static void load_fork(void)
{
	for (int i = 0; i < COMMANDS; i++) {
		pid_t child = fork();

		if (child < 0)
			err(1, "fork");
		if (!child) {
			execl(self, self, (char *)NULL);
			_exit(127);
		}
		wait_for(child);
	}
}

static void one_file(const char *name, const char *other)
{
	static char block[BLOCK];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		err(1, "%s", name);
	for (int i = 0; i < BLOCKS; i++) {
		if (write(fd, block, BLOCK) != BLOCK)
			err(1, "%s", name);
	}
	lseek(fd, 0, SEEK_SET);
	while (read(fd, block, BLOCK) > 0)
		;
	close(fd);
	if (rename(name, other) || unlink(other))
		err(1, "%s", other);
}

static void load_files(void)
{
	for (int i = 0; i < FILES; i++)
		one_file("/tmp/workload.1", "/tmp/workload.2");
}

static struct load {
	const char *name;
	void (*run)(void);
	unsigned long long ticks[ARRAY_SIZE(tracers)][MAX_ROUNDS];
	long long stored[ARRAY_SIZE(tracers)];
} loads[] = {
	{ .name = "pipe", .run = load_pipe },
	{ .name = "fork", .run = load_fork },
	{ .name = "files", .run = load_files },
};

static void run(struct load *load, unsigned int i, int round)
{
	const struct tracer *tracer = &tracers[i];
	unsigned long long begin, took;

	empty_buffer(tracer);
	set_events(tracer, "1");
	begin = ticks();
	load->run();
	took = ticks() - begin;
	set_events(tracer, "0");
	if (round < 0)
		return;
	load->ticks[i][round] = took;
	load->stored[i] += stored(tracer);
}

static void print(const struct load *load, unsigned int i, int rounds)
{
	printf("bench: sample %s %s 1", load->name, tracers[i].name);
	for (int round = 0; round < rounds; round++)
		printf(" %llu", load->ticks[i][round]);
	printf("\nbench: stored %s %s %lld\n", load->name, tracers[i].name,
	       load->stored[i]);
}

int main(int argc, char **argv)
{
	int rounds;

	if (argc == 1)		/* a command that does nothing: see load_fork() */
		return 0;
	rounds = atoi(argv[1]);
	self = argv[0];
	systems = argv + 2;
	if (argc < 3 || rounds < 1 || rounds > MAX_ROUNDS)
		errx(1, "usage: workload ROUNDS SYSTEM..., at most %d rounds",
		     MAX_ROUNDS);
	/* The first round makes buffers and warms; it is not counted. */
	for (int round = -1; round < rounds; round++) {
		for (unsigned int l = 0; l < ARRAY_SIZE(loads); l++)
			for (unsigned int i = 0; i < ARRAY_SIZE(tracers); i++)
				run(&loads[l], i, round);
	}
	printf("bench: hz %llu\n", ticks_per_second());
	for (unsigned int l = 0; l < ARRAY_SIZE(loads); l++)
		for (unsigned int i = 0; i < ARRAY_SIZE(tracers); i++)
			print(&loads[l], i, rounds);
	return 0;
}
