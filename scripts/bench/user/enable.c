// SPDX-License-Identifier: GPL-2.0
/*
 * enable ROUNDS: switch all events on and off, in Etch's tree and in ftrace's,
 * taking turns, and print how long each write took.
 */

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROUNDS	64

enum { ON, OFF, WAYS };

struct tree {
	const char *name;
	const char *folder;
	int fd;			/* events/enable */
	long long ns[WAYS][MAX_ROUNDS];
};

static struct tree trees[] = {
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

static void prepare(struct tree *tree)
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

	snprintf(path, sizeof(path), "%s/events/enable", tree->folder);
	tree->fd = open(path, O_WRONLY);
	if (tree->fd < 0)
		err(1, "%s", path);
}

/* How long one write takes, in nanoseconds. */
static long long set(const struct tree *tree, const char *value)
{
	long long begin = now();

	if (write(tree->fd, value, 1) != 1)
		err(1, "%s: events/enable", tree->name);
	return now() - begin;
}

static void print(const struct tree *tree, const char *what, const long long *ns,
		  int rounds)
{
	printf("bench: sample %s %s 1", what, tree->name);
	for (int i = 0; i < rounds; i++)
		printf(" %lld", ns[i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	int rounds = argc == 2 ? atoi(argv[1]) : 0;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		errx(1, "usage: enable ROUNDS, at most %d", MAX_ROUNDS);
	for (struct tree *t = trees; t < trees + NR_TREES; t++)
		prepare(t);
	/* The first round makes buffers; it is not counted. */
	for (int i = -1; i < rounds; i++) {
		for (struct tree *t = trees; t < trees + NR_TREES; t++) {
			long long on = set(t, "1"), off = set(t, "0");

			if (i < 0)
				continue;
			t->ns[ON][i] = on;
			t->ns[OFF][i] = off;
		}
	}
	printf("bench: hz 1000000000\n");
	for (struct tree *t = trees; t < trees + NR_TREES; t++) {
		print(t, "on", t->ns[ON], rounds);
		print(t, "off", t->ns[OFF], rounds);
	}
	return 0;
}
