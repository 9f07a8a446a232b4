// SPDX-License-Identifier: GPL-2.0
/*
 * No test, but a program to be recorded: three processes with events of their own.
 *
 *	user_load NUMBER [namespaces]	records so many in each, in namespaces of its own for
 *					pids and time; 0: only has the kernel know the events
 *
 * It prints how many it has tried in all, when it knows whether they are on.
 */
#include <sched.h>
#include <sys/wait.h>

#include <etch/user.h>

#include <stdio.h>
#include <stdlib.h>

#define LOAD_EVENTS(event)					\
	event(uload, step, (u32, process), (u64, nr))		\
	event(uload, text, (u64, nr), (string, words))
ETCH_PROVIDER(uload, LOAD_EVENTS);
ETCH_PROVIDER_DEFINE(uload, LOAD_EVENTS);

#define PROCESSES	3

static const char words[] = "the quick brown fox jumps over the lazy dog";

static void process(unsigned int which, unsigned long nr)
{
	for (unsigned long i = 0; i < nr; i++) {
		uload_step(which, i);
		if (i % 10 == 0)
			uload_text(i, words + i % sizeof(words));
		/* Others have their turn, too. */
		if (i % 500 == 499)
			usleep(5000);
	}
}

/*
 * From here on the program is the first one of a namespace, where CLOCK_MONOTONIC is 1000 s ahead.
 * Some kernels have no namespaces of time.
 */
static int enter_namespaces(void)
{
	static const char ahead[] = "monotonic 1000 0";
	int fd, status;

	if (unshare(CLONE_NEWPID))
		return -1;
	if (!unshare(CLONE_NEWTIME)) {
		fd = open("/proc/self/timens_offsets", O_WRONLY);
		if (write(fd, ahead, sizeof(ahead) - 1) < 0)
			return -1;
		close(fd);
	} else {
		fprintf(stderr, "user_load: NO namespace of time in this kernel\n");
	}
	if (!fork())
		return 0;
	_exit(wait(&status) > 0 && !status ? 0 : 1);
}

int main(int argc, char **argv)
{
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	int status, bad = 0;

	if (etch_provider_error(uload)) {
		fprintf(stderr, "user_load: no events: %s\n",
			strerror(etch_provider_error(uload)));
		return 1;
	}
	if (argc > 2 && !strcmp(argv[2], "namespaces") && enter_namespaces()) {
		perror("user_load: no namespaces");
		return 1;
	}
	for (unsigned int i = 0; nr && i < PROCESSES; i++) {
		if (!fork()) {
			process(i, nr);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		bad |= status;
	printf("%lu\n", uload_step_enabled() ? PROCESSES * (nr + (nr + 9) / 10) : 0);
	return bad ? 1 : 0;
}
