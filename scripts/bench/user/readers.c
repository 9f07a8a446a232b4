// SPDX-License-Identifier: GPL-2.0
/*
 * readers ROUNDS HITS: fill each tracer's buffer with twice as many equal records,
 * and time reading them through trace, which leaves them there, and then through
 * trace_pipe. Tracers take turns. Prints
 *
 *	bench: sample FILE TRACER RECORDS TICKS...
 *
 * Every record must come as a line, or it is an error.
 */

#include <errno.h>
#include <stdlib.h>

#include "bench.h"

#define MAX_ROUNDS	64
#define BUFFER		65536

static const char * const files[] = { "trace", "trace_pipe" };

static struct tracer {
	const char *name;
	const char *folder;
	const char *event;
	long long records;
	unsigned long long ticks[ARRAY_SIZE(files)][MAX_ROUNDS];
} tracers[] = {
	{ .name = "etch", .folder = ETCH, .event = "etch_small" },
	{ .name = "ftrace", .folder = FTRACE, .event = "ftrace_small" },
};

static void fill(struct tracer *tracer, const char *hits)
{
	char line[80];

	empty_buffer(tracer->folder);
	snprintf(line, sizeof(line), "fill 1 %s %s", hits, tracer->event);
	write_file("/sys/kernel/debug/bench/run", line);
	tracer->records = stored(tracer->folder);
}

/* Lines, but for the comment at the head of trace. */
static long long lines(const char *text, ssize_t len, int *start)
{
	const char *end = text + len;
	long long found = 0;

	for (; text < end; text++) {
		if (*start)
			found += *text != '#';
		text = memchr(text, '\n', end - text);
		*start = !!text;
		if (!text)
			break;
	}
	return found;
}

static unsigned long long read_all(struct tracer *tracer, const char *name)
{
	static char buffer[BUFFER];
	unsigned long long begin;
	long long found = 0;
	char path[160];
	int start = 1, fd;
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%s", tracer->folder, name);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		err(1, "%s", path);
	begin = ticks();
	while ((len = read(fd, buffer, sizeof(buffer))) > 0)
		found += lines(buffer, len, &start);
	begin = ticks() - begin;
	if (len < 0 && errno != EAGAIN)
		err(1, "%s", path);
	close(fd);
	if (found != tracer->records)
		errx(1, "%s: %lld lines of %lld records", path, found,
		     tracer->records);
	return begin;
}

static void print(const struct tracer *tracer, unsigned int f, int rounds)
{
	printf("bench: sample %s %s %lld", files[f], tracer->name,
	       tracer->records);
	for (int round = 0; round < rounds; round++)
		printf(" %llu", tracer->ticks[f][round]);
	printf("\n");
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[1]) : 0;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		errx(1, "usage: readers ROUNDS HITS, at most %d", MAX_ROUNDS);
	for (int round = 0; round < rounds; round++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(tracers); i++) {
			fill(&tracers[i], argv[2]);
			for (unsigned int f = 0; f < ARRAY_SIZE(files); f++)
				tracers[i].ticks[f][round] =
					read_all(&tracers[i], files[f]);
		}
	}
	printf("bench: hz %llu\n", ticks_per_second());
	for (unsigned int i = 0; i < ARRAY_SIZE(tracers); i++)
		for (unsigned int f = 0; f < ARRAY_SIZE(files); f++)
			print(&tracers[i], f, rounds);
	return 0;
}
