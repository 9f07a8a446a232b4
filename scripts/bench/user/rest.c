// SPDX-License-Identifier: GPL-2.0
/*
 * rest ROUNDS: what Etch's tree and ftrace's cost while nobody uses them, and what it takes to
 * make, remove, enable and disable. The trees take turns.
 *
 * Memory is what the kernel says in /proc/meminfo, before and after INSTANCES instances were
 * made, nobody's caches being in it: an instance's share of the difference.
 */

#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROUNDS	64
#define INSTANCES	8
#define TASKS		500	/* of each CPU, one after the other */

enum { MKDIR, RMDIR, ON, OFF, TASKS_OFF, TASKS_ON, SLAB, LOOKED, FORGOTTEN, PERCPU, ALL, FIGURES };

static const struct {
	const char *name;
	int share;		/* the figure is so small a part of a sample */
} figures[FIGURES] = {
	[MKDIR] = { "mkdir", 1 },
	[RMDIR] = { "rmdir", 1 },
	[ON] = { "on", 1 },
	[OFF] = { "off", 1 },
	[TASKS_OFF] = { "tasks-off", TASKS },
	[TASKS_ON] = { "tasks-on", TASKS },
	[SLAB] = { "slab", INSTANCES },
	[LOOKED] = { "slab-looked-into", INSTANCES },
	[FORGOTTEN] = { "slab-forgotten", INSTANCES },
	[PERCPU] = { "percpu", INSTANCES },
	[ALL] = { "all-memory", INSTANCES },
};

static struct tree {
	const char *name;
	const char *folder;
	long long values[FIGURES][MAX_ROUNDS];
} trees[] = {
	{ .name = "etch", .folder = "/sys/kernel/debug/etch" },
	{ .name = "ftrace", .folder = "/sys/kernel/tracing" },
};

#define NR_TREES	(sizeof(trees) / sizeof(trees[0]))

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void write_path(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "%s", path);
	close(fd);
}

/* ---- Memory ---- */

struct memory {
	long long slab, percpu, free;
};

/* When RCU has freed what it was given, and the caches what nobody uses. */
static struct memory memory(void)
{
	struct memory m = {};
	char line[128];
	long long kb;
	FILE *f;

	write_path("/proc/sys/vm/drop_caches", "3");
	usleep(200000);
	write_path("/proc/sys/vm/drop_caches", "3");
	f = fopen("/proc/meminfo", "r");
	if (!f)
		err(1, "/proc/meminfo");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Slab: %lld", &kb) == 1)
			m.slab = kb * 1024;
		else if (sscanf(line, "Percpu: %lld", &kb) == 1)
			m.percpu = kb * 1024;
		else if (sscanf(line, "MemFree: %lld", &kb) == 1)
			m.free = kb * 1024;
	}
	fclose(f);
	return m;
}

/* Slab as it is, with what a look into folders has left there. */
static long long slab_now(void)
{
	char line[128];
	long long kb = 0;
	FILE *f = fopen("/proc/meminfo", "r");

	if (!f)
		err(1, "/proc/meminfo");
	while (fgets(line, sizeof(line), f) && sscanf(line, "Slab: %lld", &kb) != 1)
		;
	fclose(f);
	return kb * 1024;
}

/* ---- Instances ---- */

static const char *instance(const struct tree *tree, int i)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/instances/bench-rest-%d", tree->folder, i);
	return path;
}

static void make_instances(const struct tree *tree)
{
	for (int i = 0; i < INSTANCES; i++)
		if (mkdir(instance(tree, i), 0700))
			err(1, "%s", instance(tree, i));
}

static void remove_instances(const struct tree *tree)
{
	for (int i = 0; i < INSTANCES; i++)
		if (rmdir(instance(tree, i)))
			err(1, "%s", instance(tree, i));
}

static int look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return 0;
}

static void measure_memory(struct tree *tree, int round)
{
	struct memory before, after;
	long long looked;

	before = memory();
	make_instances(tree);
	after = memory();
	for (int i = 0; i < INSTANCES; i++)
		nftw(instance(tree, i), look, 16, FTW_PHYS);
	looked = slab_now();
	tree->values[SLAB][round] = after.slab - before.slab;
	tree->values[PERCPU][round] = after.percpu - before.percpu;
	tree->values[ALL][round] = before.free - after.free;
	tree->values[LOOKED][round] = looked - before.slab;
	tree->values[FORGOTTEN][round] = memory().slab - before.slab;
	remove_instances(tree);
}

/* ---- Tasks ---- */

static void begin_and_end_tasks(void)
{
	for (int i = 0; i < TASKS; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			err(1, "a task");
	}
}

/* How long each CPU takes, all at once, for tasks that begin and end. */
static long long time_of_tasks(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long long begin = now();
	int status;

	for (long i = 0; i < cpus; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "a process");
		if (!pid) {
			begin_and_end_tasks();
			_exit(0);
		}
	}
	while (cpus--)
		if (wait(&status) < 0 || status)
			errx(1, "a process that makes tasks failed");
	return now() - begin;
}

/* ---- Times ---- */

/* Write to the file of an event, of a system or of all. */
static long long timed_enable(const struct tree *tree, const char *events, const char *value)
{
	char path[128];
	long long begin;

	snprintf(path, sizeof(path), "%s/events/%senable", tree->folder, events);
	begin = now();
	write_path(path, value);
	return now() - begin;
}

static void measure_times(struct tree *tree, int round)
{
	const char *path = instance(tree, 0);
	long long begin = now();

	if (mkdir(path, 0700))
		err(1, "%s", path);
	tree->values[MKDIR][round] = now() - begin;
	begin = now();
	if (rmdir(path))
		err(1, "%s", path);
	tree->values[RMDIR][round] = now() - begin;
	tree->values[ON][round] = timed_enable(tree, "", "1");
	tree->values[OFF][round] = timed_enable(tree, "", "0");
	tree->values[TASKS_OFF][round] = time_of_tasks();
	/* An event that none of these tasks hits. */
	timed_enable(tree, "printk/console/", "1");
	tree->values[TASKS_ON][round] = time_of_tasks();
	timed_enable(tree, "printk/console/", "0");
}

/* ---- All of it ---- */

/* The size of a CPU's buffer that the main tree has before it is used, in KiB. */
static void print_buffer(const struct tree *tree)
{
	char path[128];
	long long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/buffer_size_kb", tree->folder);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lld", &kb) != 1)
		err(1, "%s", path);
	fclose(f);
	printf("bench: sample buffer %s 1 %lld\n", tree->name, kb * 1024);
}

static void print_events(const struct tree *tree)
{
	int lines = 0, c;
	char path[128];
	FILE *events;

	snprintf(path, sizeof(path), "%s/available_events", tree->folder);
	events = fopen(path, "r");
	if (!events)
		err(1, "%s", path);
	while ((c = getc(events)) != EOF)
		lines += c == '\n';
	fclose(events);
	printf("bench: events %s %d\n", tree->name, lines);
}

static void print(const struct tree *tree, int figure, int rounds)
{
	printf("bench: sample %s %s %d", figures[figure].name, tree->name,
	       figures[figure].share);
	for (int i = 0; i < rounds; i++)
		printf(" %lld", tree->values[figure][i] < 0 ? 0 : tree->values[figure][i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		errx(1, "usage: rest ROUNDS, at most %d", MAX_ROUNDS);
	printf("bench: hz 1000000000\n");
	for (struct tree *t = trees; t < trees + NR_TREES; t++) {
		print_events(t);
		print_buffer(t);
		/* The first time fills caches, and makes buffers. */
		measure_memory(t, 0);
		measure_times(t, 0);
	}
	for (int i = 0; i < rounds; i++) {
		for (struct tree *t = trees; t < trees + NR_TREES; t++) {
			measure_memory(t, i);
			measure_times(t, i);
		}
	}
	for (struct tree *t = trees; t < trees + NR_TREES; t++)
		for (int figure = 0; figure < FIGURES; figure++)
			print(t, figure, rounds);
	return 0;
}
