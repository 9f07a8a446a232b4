// SPDX-License-Identifier: GPL-2.0
/*
 * rate ROUNDS TICKS PRODUCER CONSUMER: look for the highest rate of events at which
 * nothing is lost. TICKS times, each millisecond, a timer on the processor PRODUCER hits
 * an event; a process on the processor CONSUMER splices that one's buffer to a file, and
 * waits as the tracer has it wait. They can be the same. A full buffer keeps its records,
 * and later events are counted as lost.
 *
 * The rate is doubled until something is lost, and then bisected. A rate counts as what
 * it was: records by the time that they took. Tracers take turns. Prints, for each round,
 *
 *	bench: rate TRACER EVENTS-IN-A-SECOND WHY
 *
 * WHY is lost, or producer if the processor could not even hit that often. The next rate
 * that was tried is a thirtieth higher. A trial in which nothing was lost and some
 * records are neither read nor in the buffer is an error.
 */

#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "raw.h"

#define FIRST		64			/* hits in a millisecond */
#define LAST		(1 << 20)
#define NEAR		30			/* a part of the rate */
#define PLENTY		(1 << 20)		/* more than a pipe takes */
#define FILE_NAME	"/tmp/rate"
#define FILE_MOST	(64 << 20)		/* then it is written again */

static const char *duration;
static int producer, consumer;			/* processors */

enum end {
	KEPT,					/* nothing was lost */
	LOST,
	LATE,					/* nor could it be hit as often */
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "processor %d", cpu);
}

/* Until it is killed. */
static void consume(const struct tracer *tracer, int ready)
{
	int raw = open_raw(tracer, producer, 0), channel[2];
	int out = open(FILE_NAME, O_WRONLY | O_CREAT, 0600);
	struct pollfd more = { .fd = raw, .events = POLLIN };
	long long bytes = 0;

	if (out < 0 || pipe(channel))
		err(1, "%s", FILE_NAME);
	pin(consumer);
	if (write(ready, "", 1) != 1)
		err(1, "write");
	for (;;) {
		ssize_t in = splice(raw, NULL, channel[1], NULL, PLENTY, 0), len;

		/* Of the two tracers, only ftrace's splice() waits. */
		if (in < 0 && errno == EAGAIN && poll(&more, 1, -1) == 1)
			continue;
		if (in < 0)
			err(1, "splice in");
		bytes += in;
		for (; in; in -= len) {
			len = splice(channel[0], NULL, out, NULL, in, 0);
			if (len <= 0)
				err(1, "splice out");
		}
		if (bytes > FILE_MOST) {
			lseek(out, 0, SEEK_SET);
			bytes = 0;
		}
	}
}

static pid_t start(const struct tracer *tracer)
{
	int ready[2];
	pid_t child;
	char byte;

	if (pipe(ready))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child)
		consume(tracer, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		errx(1, "the consumer failed");
	close(ready[0]);
	return child;
}

static void stop(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
		errx(1, "the consumer ended by itself");
}

/* What the producer says of itself. */
static long long said(const char *name)
{
	long long number;
	char path[80];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", RUN, name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%lld", &number) != 1)
		errx(1, "%s", path);
	fclose(file);
	return number;
}

static long long lost(const struct tracer *tracer)
{
	return figure(tracer->folder, producer, "lost") + figure(tracer->folder, producer, "overwritten") +
		figure(tracer->folder, producer, "overrun") +
		figure(tracer->folder, producer, "dropped events") +
		figure(tracer->folder, producer, "commit overrun");
}

/* One run at @hits a millisecond; @rate gets what it was in a second. */
static enum end try(const struct tracer *tracer, long long hits, double *rate)
{
	long long all = hits * atoll(duration), read, there, gone;
	char line[80];
	pid_t child;

	empty_buffer(tracer->folder);
	read = figure(tracer->folder, producer, "read");
	child = start(tracer);
	snprintf(line, sizeof(line), "%lld %s %s", hits, duration, tracer->event);
	write_file(RUN "/pace", line);
	stop(child);
	gone = lost(tracer);
	read = figure(tracer->folder, producer, "read") - read;
	there = figure(tracer->folder, producer, "entries");
	if (read + there + gone != all)
		errx(1, "%s: %lld read, %lld there, %lld lost of %lld", tracer->name, read,
		     there, gone, all);
	*rate = all * 1e9 / said("paced");
	if (gone)
		return LOST;
	return said("long") > atoll(duration) / 2 ? LATE : KEPT;
}

/* Where it is lost, and where not. */
static void search(const struct tracer *tracer)
{
	long long good = 0, bad = 0, hits = FIRST;
	double rate, best = 0;
	enum end end = KEPT, why = KEPT;

	choose(tracer);
	while (!bad || bad - good > 1 + good / NEAR) {
		end = try(tracer, hits, &rate);
		if (end == KEPT) {
			good = hits;
			best = rate;
		} else {
			bad = hits;
			why = end;
		}
		if (hits >= LAST)
			errx(1, "%s keeps everything", tracer->name);
		hits = bad ? (good + bad) / 2 : hits * 2;
	}
	if (!good)
		errx(1, "%s loses at %d events in a millisecond", tracer->name, FIRST);
	printf("bench: rate %s %.0f %s\n", tracer->name, best,
	       why == LATE ? "producer" : "lost");
}

int main(int argc, char **argv)
{
	int rounds = argc == 5 ? atoi(argv[1]) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (rounds < 1)
		errx(1, "usage: rate ROUNDS TICKS PRODUCER CONSUMER");
	duration = argv[2];
	producer = atoi(argv[3]);
	consumer = atoi(argv[4]);
	pin(producer);
	for (int round = 0; round < rounds; round++)
		for (unsigned int i = 0; i < ARRAY_SIZE(tracers); i++)
			search(&tracers[i]);
	return 0;
}
