// SPDX-License-Identifier: GPL-2.0
/*
 * recorders ROUNDS CHUNKS HITS: how much CPU time etch-record and trace-cmd take to record
 * CHUNKS times 2 * HITS equal events to a file, each started as a user starts it. This
 * program hits the events in its own time, and waits after each chunk until the recorder
 * has read it, so nothing is lost and no hit counts as the recorder's. Each round records
 * once with one chunk and once with all: what a recorder does at its start and at its end
 * falls out of the difference. Tools take turns. Prints for each round
 *
 *	bench: sample record TOOL RECORDS TICKS
 *
 * A run that loses a record, or that leaves a file too small for its records, is an error.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "bench.h"

#define MAX_ROUNDS	64
#define FOLDER		120		/* bytes of a folder's name */
#define LEAST		24		/* bytes: any tracer's record takes more */
#define PATIENCE	20000		/* ms */
#define RAN		"/sys/kernel/debug/bench-ran"

/**
 * struct tool - a recorder
 * @name: in the report
 * @event: the one it records
 * @folder: its files, or a pattern of their name
 * @file: what it writes, on CPU 0
 * @left: records that it may leave for later; trace-cmd leaves some 60 % of its buffer
 * @argv: how a user starts it
 */
struct tool {
	const char *name, *event, *folder, *file;
	long long left;
	char *argv[10];
};

static const struct tool tools[] = {
	{ "etch-record", "etch_small", ETCH "/instances/record-*", "/tmp/record/cpu0", 12000,
	  { "/usr/bin/etch-record", "-q", "-e", "bench_hits:etch_small", "-o", "/tmp/record" } },
	{ "trace-cmd", "ftrace_small", FTRACE, "/tmp/trace.dat", 27000,
	  { "/usr/bin/trace-cmd", "record", "-q", "--compression", "none", "-e",
	    "bench_hits:ftrace_small", "-o", "/tmp/trace.dat" } },
};

/* CPU time of the programs called @name from now on. */
static void ran_begin(const char *name)
{
	write_file(RAN, name);
}

static unsigned long long ran(void)
{
	FILE *file = fopen(RAN, "r");
	unsigned long long ticks;

	if (!file || fscanf(file, "%llu", &ticks) != 1)
		err(1, RAN);
	fclose(file);
	return ticks;
}

static void nap(void)
{
	poll(NULL, 0, 1);
}

/* The folder of a running recorder; false: not there yet. */
static bool find_folder(const struct tool *tool, char folder[FOLDER])
{
	DIR *dir = opendir(ETCH "/instances");
	const struct dirent *entry;
	bool found = !strchr(tool->folder, '*');

	snprintf(folder, FOLDER, "%s", tool->folder);
	while (!found && dir && (entry = readdir(dir))) {
		snprintf(folder, FOLDER, ETCH "/instances/%.60s", entry->d_name);
		found = !fnmatch(tool->folder, folder, 0);
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool says_one(const char *folder, const char *name)
{
	char path[280], text = '0';
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	if (read(fd, &text, 1) != 1)
		text = '0';
	close(fd);
	return text == '1';
}

/* Tracing is on, and so is the event. */
static void wait_until_begun(const struct tool *tool, char folder[FOLDER])
{
	char enable[80];
	int i;

	snprintf(enable, sizeof(enable), "events/bench_hits/%s/enable", tool->event);
	for (i = 0; i < PATIENCE; i++) {
		if (find_folder(tool, folder) && says_one(folder, enable) &&
		    says_one(folder, "tracing_on"))
			break;
		nap();
	}
	if (i == PATIENCE)
		errx(1, "%s does not begin", tool->name);
	/* trace-cmd turns its events on before its recorders wait. */
	poll(NULL, 0, 200);
}

static pid_t start(const struct tool *tool)
{
	pid_t child = fork();
	int null;

	if (child < 0)
		err(1, "fork");
	if (child)
		return child;
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	execv(tool->argv[0], tool->argv);
	err(1, "%s", tool->argv[0]);
}

static void wait_until_read(const struct tool *tool, const char *folder)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (figure(folder, 0, "entries") < tool->left)
			return;
		nap();
	}
	errx(1, "%s leaves %lld records, after %lld", tool->name,
	     figure(folder, 0, "entries"), figure(folder, 0, "read"));
}

static void hit(const struct tool *tool, const char *folder, long long chunks, const char *hits)
{
	char line[80];

	snprintf(line, sizeof(line), "fill 1 %s %s", hits, tool->event);
	while (chunks--) {
		write_file(RUN "/run", line);
		wait_until_read(tool, folder);
	}
}

/* Read or still there. A recorder that reads meanwhile has some counted as neither, or twice. */
static long long records_of(const char *folder)
{
	long long before = -1, now = -2;

	for (int i = 0; i < PATIENCE && now != before; i++) {
		before = now;
		now = figure(folder, 0, "read") + figure(folder, 0, "entries");
		nap();
	}
	return now;
}

static void must_have_all(const struct tool *tool, const char *folder, long long records)
{
	long long here = records_of(folder);

	if (here != records || figure(folder, 0, "lost") + figure(folder, 0, "over") +
	    figure(folder, 0, "dropped"))
		errx(1, "%s has %lld records of %lld", tool->name, here, records);
}

/* CPU time of the recorder, its threads and its children. */
static unsigned long long run(const struct tool *tool, long long chunks, const char *hits)
{
	long long records = chunks * 2 * atoll(hits);
	char folder[FOLDER];
	struct stat file;
	pid_t child;
	int status;

	if (system("rm -rf /tmp/record /tmp/trace.dat*"))
		errx(1, "/tmp cannot be emptied");
	if (!strchr(tool->folder, '*'))
		empty_buffer(tool->folder);
	ran_begin(tool->name);
	child = start(tool);
	wait_until_begun(tool, folder);
	hit(tool, folder, chunks, hits);
	must_have_all(tool, folder, records);
	kill(child, SIGINT);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "%s failed: %#x", tool->name, status);
	if (stat(tool->file, &file) || file.st_size < records * LEAST)
		errx(1, "%s has not written %lld records", tool->file, records);
	return ran();
}

static void measure(const struct tool *tool, long long chunks, const char *hits, bool show)
{
	unsigned long long one = run(tool, 1, hits), all = run(tool, chunks, hits);

	if (all <= one)
		errx(1, "%s: %llu ticks with one chunk, %llu with all", tool->name, one, all);
	if (show)
		printf("bench: sample record %s %lld %llu\n", tool->name,
		       (chunks - 1) * 2 * atoll(hits), all - one);
}

int main(int argc, char **argv)
{
	int rounds = argc == 4 ? atoi(argv[1]) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (rounds < 1 || rounds > MAX_ROUNDS || atoll(argv[2]) < 2)
		errx(1, "usage: recorders ROUNDS CHUNKS HITS");
	for (int round = -1; round < rounds; round++)
		for (unsigned int i = 0; i < ARRAY_SIZE(tools); i++)
			measure(&tools[i], atoll(argv[2]), argv[3], round >= 0);
	printf("bench: hz %llu\n", ticks_per_second());
	return 0;
}
