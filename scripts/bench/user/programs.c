// SPDX-License-Identifier: GPL-2.0
/*
 * programs ROUNDS [FILE]: what an event of a program costs, taking turns in each round.
 *
 * Where there is /dev/etch, the kernel has the rings; elsewhere they are in this program's own
 * memory, with all else as the library has it, and nobody reads. FILE is what ftrace's
 * trace_marker_raw is.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bench.h"
#include "programs.h"

#include <etch/mark.h>

ETCH_PROVIDER_DEFINE(ubench, BENCH_EVENTS);

#define MAX_ROUNDS	200
#define HITS		20000
/* A system call takes long in User-mode Linux. */
#define CALLS		2000
#define SITES		16
#define INSTANCE	ETCH "/instances/bench-user"
#define PIPE		INSTANCE "/per_cpu/cpu0/user_pipe_raw"

static bool real;
static int marker = -1;
static char memory[1 << 18] __attribute__((aligned(4096)));
static volatile unsigned long long seed;

/* ---- Where records go ---- */

/* Rings of the program's own, which look as the kernel's do. Overwriting, because nobody reads. */
static void make_rings(struct etch_provider *p)
{
	p->cpus = sysconf(_SC_NPROCESSORS_CONF);
	p->rings = NULL;
	etch__rows(p);
	for (unsigned int cpu = 0; cpu < p->cpus; cpu++) {
		struct etch_user_ring *ring = mmap(NULL, ETCH_USER_RING, PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
						   -1, 0);

		if (ring == MAP_FAILED)
			err(1, "mmap");
		ring->overwrite = 1;
		p->rings[cpu] = ring;
	}
}

static void set_overwrite(bool overwrite)
{
	struct etch_provider *p = &ubench__provider;

	if (real) {
		write_file(INSTANCE "/buffer_mode", overwrite ? "overwrite" : "discard");
		return;
	}
	for (unsigned int cpu = 0; cpu < p->cpus; cpu++)
		p->rings[cpu]->overwrite = overwrite;
}

static void set_up(void)
{
	struct etch_provider *p = &ubench__provider;

	real = !access("/dev/etch", F_OK);
	if (!etch_provider_error(ubench) != real)
		errx(1, "no events: %s", strerror(etch_provider_error(ubench)));
	if (real) {
		if (mkdir(INSTANCE, 0700) && errno != EEXIST)
			err(1, INSTANCE);
		write_file(INSTANCE "/events/ubench/step/enable", "1");
		write_file(INSTANCE "/events/programs/step/enable", "1");
		return;
	}
	make_rings(p);
	p->gates[0] = 1;
	ubench__tid = 1;
	make_rings(&etch__marks);
	etch__mark_tid = 1;
	/* The site that is on: it would be registered. */
	for (struct etch_mark_site *s = __start_etch_marks; s < __stop_etch_marks; s++) {
		s->index = s - __start_etch_marks;
		s->gate = &etch__mark_gates[s->index];
		etch__mark_gates[s->index] = !strcmp(s->name, "step");
	}
}

/* ---- Cases: each returns the ticks of its hits ---- */

static unsigned long long floor_(unsigned int hits)
{
	unsigned long long begin = ticks();

	for (unsigned int i = 0; i < hits; i++) {
		unsigned int at = i * 28 % (sizeof(memory) - 32);
		uint64_t now = __builtin_ia32_rdtsc() | 7ULL << 48;
		uint32_t tid = 1;
		uint64_t nr = i, value = 2;

		memcpy(memory + at, &now, 8);
		memcpy(memory + at + 8, &tid, 4);
		memcpy(memory + at + 12, &nr, 8);
		memcpy(memory + at + 20, &value, 8);
		__asm__ volatile("" : : : "memory");
	}
	return ticks() - begin;
}

static unsigned long long list(unsigned int hits)
{
	unsigned long long begin = ticks();

	for (unsigned int i = 0; i < hits; i++)
		ubench_step(i, 2);
	return ticks() - begin;
}

static unsigned long long mark(unsigned int hits)
{
	unsigned long long begin = ticks();
	uint64_t value = 2;

	for (uint64_t nr = 0; nr < hits; nr++)
		etch_mark("step", nr, value);
	return ticks() - begin;
}

static unsigned long long full(unsigned int hits)
{
	unsigned long long spent;

	set_overwrite(false);
	list(HITS);
	spent = list(hits);
	set_overwrite(true);
	return spent;
}

static unsigned long long call(unsigned int hits)
{
	uint64_t payload[2] = { 0, 2 };
	unsigned long long begin = ticks();

	for (unsigned int i = 0; i < hits; i++) {
		payload[0] = i;
		etch__call(&ubench__provider, 0, payload, sizeof(payload));
	}
	return ticks() - begin;
}

/* trace_marker_raw takes a number and the bytes behind it. */
static unsigned long long trace_marker_raw(unsigned int hits)
{
	uint32_t bytes[7] = { 1 };
	unsigned long long begin = ticks();

	for (unsigned int i = 0; i < hits; i++) {
		bytes[1] = i;
		if (write(marker, bytes, sizeof(bytes)) != sizeof(bytes))
			err(1, "trace_marker_raw");
	}
	return ticks() - begin;
}

/* Work that no compiler can leave out, and a site behind each bit of it. */
#define WORK(x)		((x) = (x) * 6364136223846793005ULL + 1442695040888963407ULL)
#define FOUR(SITE, x)	WORK(x); SITE(0, x); WORK(x); SITE(1, x); WORK(x); SITE(2, x); \
			WORK(x); SITE(3, x)
#define SIXTEEN(SITE, x) do {						\
	FOUR(SITE, x); FOUR(SITE, x); FOUR(SITE, x); FOUR(SITE, x);	\
} while (0)
#define NO_SITE(nr, x)	do { } while (0)
#define LIST_SITE(nr, x) ubench_off##nr(x)
#define MARK_SITE(nr, x) etch_mark("off" #nr, x)

#define OFF(name, SITE)							\
static unsigned long long name(unsigned int hits)			\
{									\
	uint64_t x = seed;						\
	unsigned long long begin = ticks();				\
									\
	for (unsigned int i = 0; i < hits; i += SITES)			\
		SIXTEEN(SITE, x);					\
	begin = ticks() - begin;					\
	seed = x;							\
	return begin;							\
}
OFF(off_none, NO_SITE)
OFF(off_list, LIST_SITE)
OFF(off_mark, MARK_SITE)

/* The records of a ring, taken out as packets; hits become how many there were. */
static unsigned long long reading(unsigned int hits)
{
	unsigned long long spent;
	int fd = open(PIPE, O_RDONLY | O_NONBLOCK);
	ssize_t len;

	if (fd < 0)
		err(1, PIPE);
	while (read(fd, memory, sizeof(memory)) > 0)
		;
	list(hits);
	write_file(INSTANCE "/tracing_on", "0");
	spent = ticks();
	while ((len = read(fd, memory, sizeof(memory))) > 0)
		;
	spent = ticks() - spent;
	close(fd);
	write_file(INSTANCE "/tracing_on", "1");
	return spent;
}

extern char **environ;

static unsigned long long start(const char *program)
{
	char *argv[] = { (char *)program, NULL };
	unsigned long long begin = ticks();
	int status;
	pid_t pid;

	if (posix_spawn(&pid, program, NULL, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid || status)
		errx(1, "%s does not run", program);
	return ticks() - begin;
}

static char bare[200], events[200];

static unsigned long long start_bare(unsigned int hits)
{
	return start(bare);
}

static unsigned long long start_events(unsigned int hits)
{
	return start(events);
}

static struct {
	const char *name, *how;
	unsigned int hits;
	unsigned long long (*run)(unsigned int hits);
	unsigned long long ticks[MAX_ROUNDS];
} cases[] = {
	{ "record", "floor", HITS, floor_ },
	{ "record", "list", HITS, list },
	{ "record", "mark", HITS, mark },
	{ "record", "full", HITS, full },
	{ "record", "call", CALLS, call },
	{ "record", "trace_marker_raw", CALLS, trace_marker_raw },
	{ "off", "none", HITS, off_none },
	{ "off", "list", HITS, off_list },
	{ "off", "mark", HITS, off_mark },
	/* As many as fit in a ring. */
	{ "reading", "packets", 8000, reading },
	{ "start", "none", 1, start_bare },
	{ "start", "list", 1, start_events },
};

static bool there(size_t i)
{
	if (cases[i].run == call || cases[i].run == reading)
		return real;
	return cases[i].run != trace_marker_raw || marker >= 0;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char *end = strrchr(argv[0], '/');
	cpu_set_t one;

	if (!rounds || rounds > MAX_ROUNDS || !end)
		errx(1, "usage: .../programs ROUNDS [FILE]");
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		err(1, "sched_setaffinity");
	snprintf(bare, sizeof(bare), "%.*s/start-bare", (int)(end - argv[0]), argv[0]);
	snprintf(events, sizeof(events), "%.*s/start-events", (int)(end - argv[0]), argv[0]);
	if (argc > 2) {
		marker = open(argv[2], O_WRONLY);
		if (marker < 0)
			err(1, "%s", argv[2]);
	}
	set_up();
	for (unsigned int round = 0; round < rounds; round++)
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
			if (there(i))
				cases[i].ticks[round] = cases[i].run(cases[i].hits);
	printf("bench: hz %llu\n", ticks_per_second());
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!there(i))
			continue;
		printf("bench: sample %s %s %u", cases[i].name, cases[i].how, cases[i].hits);
		for (unsigned int round = 0; round < rounds; round++)
			printf(" %llu", cases[i].ticks[round]);
		printf("\n");
	}
	return 0;
}
