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
 * tasks that take turns inside the kernel (the module bench-pass), two processes that
 * pass a byte to and fro through pipes, as a shell runs commands (fork, exec, wait),
 * and files made, written, read, renamed and removed.
 */

#include <stdlib.h>
#include <sys/wait.h>

#include "bench.h"

#define MAX_ROUNDS	64
#define TURNS		"5000"		/* there and back, in the kernel */
#define PASSES		500		/* the same, between processes */
#define COMMANDS	10
#define FILES		40
#define BLOCK		4096
#define BLOCKS		16		/* in a file */

struct tracer {
	const char *name;
	const char *folder;		/* NULL: no tracer */
};

static const struct tracer tracers[] = {
	{ "nothing", NULL },
	{ "etch", ETCH },
	{ "ftrace", FTRACE },
};

static const char *self;
static char **systems;			/* ends with NULL */

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

static void wait_for(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || status)
		errx(1, "a child failed");
}

static void load_turns(void)
{
	write_file("/sys/module/bench_pass/parameters/passes", TURNS);
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
	{ .name = "turns", .run = load_turns },
	{ .name = "pipe", .run = load_pipe },
	{ .name = "fork", .run = load_fork },
	{ .name = "files", .run = load_files },
};

static void run(struct load *load, unsigned int i, int round)
{
	const struct tracer *tracer = &tracers[i];
	unsigned long long begin, took;

	if (tracer->folder)
		empty_buffer(tracer->folder);
	set_events(tracer, "1");
	begin = ticks();
	load->run();
	took = ticks() - begin;
	set_events(tracer, "0");
	if (round < 0)
		return;
	load->ticks[i][round] = took;
	if (tracer->folder)
		load->stored[i] += stored(tracer->folder);
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
